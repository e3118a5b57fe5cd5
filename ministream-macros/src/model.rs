//! The pipeline with its words resolved: stages against the table, arguments against their shapes, fields against
//! parameters. Knows names, arity and units; whether the stages fit together is for `check`.

use proc_macro2::{Ident, Span};
use syn::Expr;

use crate::duration::Duration;
use crate::errors::{Errors, list, meant};
use crate::item::{Item, Param};
use crate::parse::{self, Arg, Flow};
use crate::stages::{Kind, Named, Row, Shape, TABLE, UNKNOWN};
use crate::values::{Value, fields, shaped, spelled};

/// A resolved pipeline. With mistakes in it, which are among the errors, as much as was understood.
pub(crate) struct Model<'a> {
    pub(crate) source: Option<&'a Param>,
    pub(crate) stages: Vec<Stage>,
    pub(crate) end: Span,
}

/// A resolved stage.
pub(crate) struct Stage {
    pub(crate) row: &'static Row,
    pub(crate) word: Ident,
    pub(crate) positional: Option<Value>,
    pub(crate) named: Vec<(Ident, Value)>,
    pub(crate) name: Option<Ident>,
}

/// Resolves all words. What is not understood is among the errors.
pub(crate) fn resolve<'a>(item: &'a Item, flow: Flow, errors: &mut Errors) -> Model<'a> {
    let source = flow.input.and_then(|input| resolve_source(item, &input, errors));
    let stages = flow.stages.into_iter().map(|stage| match stage {
        Some(stage) => resolve_stage(item, stage, errors),
        None => Stage::unknown(Ident::new("stage", Span::call_site())),
    });
    Model { source, stages: stages.collect(), end: flow.end }
}

fn resolve_source<'a>(item: &'a Item, input: &Ident, errors: &mut Errors) -> Option<&'a Param> {
    let source = item.params.iter().find(|param| param.ident == *input);
    let reads_a_stream = source.is_some_and(|param| param.carries.is_some());
    for unread in item.streams().filter(|param| param.ident != *input && reads_a_stream) {
        let what = format!("nothing reads `{}`", unread.ident);
        errors.help(unread.ident.span(), what, "take the parameter out: a pipeline in one line reads one stream");
    }
    match source {
        Some(param) if param.carries.is_some() => source,
        Some(param) => {
            let what = format!("`{}` is a setting, not a stream", param.ident);
            errors.help(input.span(), what, "a pipeline starts with a parameter of type `Stream<…>`");
            None
        }
        // That it has none at all is said where the function is looked at.
        None if item.streams().next().is_none() => None,
        None => {
            let streams: Vec<String> = item.streams().map(|param| param.ident.to_string()).collect();
            let names = || streams.iter().map(String::as_str);
            let word = input.to_string();
            let help = match (meant(&word, names()), names().next()) {
                (Some(name), _) => format!("did you mean `{name}`?"),
                (None, Some(name)) => format!("`{name} -> …`"),
                (None, None) => "`source -> …`".to_owned(),
            };
            let what = if Row::find(&word).is_some() {
                format!("a pipeline starts with one of the function's streams, and `{word}` is a stage")
            } else {
                format!("the function has no parameter `{word}`")
            };
            errors.help(input.span(), what, help);
            None
        }
    }
}

fn resolve_stage(item: &Item, stage: parse::Stage, errors: &mut Errors) -> Stage {
    let word = stage.word;
    // A word that is nearly one is taken for it, so that its arguments are looked at, too.
    let Some(row) = Row::find(&word.to_string()).or_else(|| unknown_stage(&word, errors)) else {
        return Stage::unknown(word);
    };
    let word = Ident::new(row.word, word.span());
    let is_named = |arg: &Arg| arg.name.is_some();
    let first_named = stage.args.iter().position(is_named).unwrap_or(stage.args.len());
    for arg in stage.args.iter().skip(first_named).filter(|arg| !is_named(arg)) {
        let names = list(row.named.iter().map(|named| named.name));
        let help = format!("put it first, or name it: {names}");
        errors.help_on(&arg.value, "an argument without a name stands behind one with a name", help);
    }
    let (with_name, without_name): (Vec<_>, Vec<_>) = stage.args.into_iter().partition(is_named);
    let without_name: Vec<_> = without_name.into_iter().map(|arg| arg.value).collect();
    let names: Vec<_> = with_name.iter().filter_map(|arg| arg.name.clone()).collect();
    let meant = Meant::by_all(row, &names, without_name.len());
    let positional = resolve_positional(item, row, &word, without_name, &meant, errors);
    let mut named = resolve_named(item, row, &word, with_name, &meant, errors);
    for argument in row.named.iter().filter(|argument| argument.required && !names.iter().any(|n| n == argument.name)) {
        // What stands there under another name, or without one, is not missing as well.
        if !meant.contains(&Meant::Named(argument.name)) {
            let what = format!("`{word}` needs `{} = …`", argument.name);
            errors.help(word.span(), what, format!("`{}`", row.example));
        }
        named.push((Ident::new(argument.name, word.span()), Value::Mistake));
    }
    for meant in meant {
        if let Meant::Named(name) = meant
            && !named.iter().any(|(known, _)| known == name)
        {
            named.push((Ident::new(name, word.span()), Value::Mistake));
        }
    }
    Stage { row, word, positional, named, name: stage.name }
}

/// What an argument was meant to be that stands under a wrong name, or without the name that it needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meant {
    Named(&'static str),
    /// The one that is written without a name.
    Positional,
    Nothing,
}

impl Meant {
    /// What all the arguments in the wrong place were meant to be.
    fn by_all(row: &'static Row, names: &[Ident], positionals: usize) -> Vec<Meant> {
        let is_known = |name: &Ident| row.named.iter().any(|named| name == named.name);
        let unknown = names.iter().filter(|name| !is_known(name));
        let mut meant: Vec<_> = unknown.map(|name| Meant::by(row, name, positionals == 0)).collect();
        // Of those that may be meant by one without a name: what the stage needs.
        let is_surplus = positionals > 1 && row.positional.is_some_and(|first| first.shape != Shape::Identity);
        let is_needed = |named: &&Named| named.required || (row.is_window() && named.name == "delay");
        let missing = row.named.iter().filter(is_needed).find(|named| !names.iter().any(|name| name == named.name));
        if let Some(missing) = missing.filter(|_| is_surplus) {
            meant.push(Meant::Named(missing.name));
        }
        meant
    }

    /// What an unknown name was meant to be.
    fn by(row: &'static Row, name: &Ident, lacks_positional: bool) -> Meant {
        let name = name.to_string();
        let names = || row.named.iter().map(|named| named.name);
        // What other systems call it.
        let foreign = match name.as_str() {
            "grace" | "allowed_lateness" => Some("lateness"),
            "slide" | "step" | "hop" | "advance" => Some("every"),
            "retention" | "expire" => Some("ttl"),
            _ => None,
        };
        let foreign = || names().find(|name| foreign == Some(*name));
        match meant(&name, names()).or_else(foreign) {
            Some(named) => Meant::Named(named),
            None if lacks_positional && row.positional.is_some_and(|positional| !positional.optional) => {
                Meant::Positional
            }
            None => Meant::Nothing,
        }
    }
}

fn resolve_named(
    item: &Item,
    row: &'static Row,
    word: &Ident,
    args: Vec<Arg>,
    meant: &[Meant],
    errors: &mut Errors,
) -> Vec<(Ident, Value)> {
    let mut named = Vec::new();
    let mut seen: Vec<Ident> = Vec::new();
    for Arg { name, value } in args {
        let Some(name) = name else { continue };
        if seen.contains(&name) {
            errors.help(name.span(), format!("`{name}` is given twice"), "take one of the two out");
            continue;
        }
        seen.push(name.clone());
        match row.named.iter().find(|argument| name == argument.name) {
            Some(argument) => {
                let value = shaped(item, &name.to_string(), argument.shape, value, errors);
                named.push((name, value));
            }
            None => {
                let lacks_positional = meant.contains(&Meant::Positional);
                unknown_argument(row, word, &name, &value, Meant::by(row, &name, lacks_positional), errors);
            }
        }
    }
    named
}

fn resolve_positional(
    item: &Item,
    row: &'static Row,
    word: &Ident,
    values: Vec<Expr>,
    meant: &[Meant],
    errors: &mut Errors,
) -> Option<Value> {
    let Some(positional) = row.positional else {
        if let Some(first) = values.first() {
            errors.help_on(first, format!("`{word}` takes no such argument"), format!("`{}`", row.example));
        }
        return None;
    };
    if positional.shape == Shape::Identity && values.len() > 1 {
        return Some(fields(item, &values.iter().collect::<Vec<_>>(), errors));
    }
    let mut values = values.into_iter();
    let Some(first) = values.next() else {
        if positional.optional {
            return None;
        }
        if !meant.contains(&Meant::Positional) {
            let article = if positional.what.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
            let what = format!("`{word}` needs {article} {}", positional.what);
            errors.help(word.span(), what, format!("`{}`", row.example));
        }
        return Some(Value::Mistake);
    };
    if let Some(second) = values.next() {
        let help = match (row.named, meant.last()) {
            ([], _) => format!("`{}`", row.example),
            (named, Some(Meant::Named(name))) if named.iter().any(|n| n.required && n.name == *name) => {
                format!("name it: `{name} = {}`", spelled(&second))
            }
            (named, _) => format!("name it: {}", list(named.iter().map(|named| named.name))),
        };
        errors.help_on(&second, format!("`{word}` takes one argument without a name"), help);
    }
    if let (Shape::Word(_), Expr::Lit(_), Some(named)) = (positional.shape, &first, row.named.first()) {
        let help = format!("`{word}({} = {})`", named.name, spelled(&first));
        errors.help_on(&first, format!("`{word}` takes its settings by name"), help);
        return Some(Value::Mistake);
    }
    Some(shaped(item, positional.what, positional.shape, first, errors))
}

/// Reports an unknown stage, and gives the one that was probably meant.
fn unknown_stage(word: &Ident, errors: &mut Errors) -> Option<&'static Row> {
    let words = || TABLE.iter().map(|row| row.word);
    let meant = meant(&word.to_string(), words()).or_else(|| foreign(&word.to_string()));
    let help = match meant {
        Some(stage) => format!("did you mean `{stage}`?"),
        None => format!("stages are {}", list(words())),
    };
    errors.help(word.span(), format!("unknown stage `{word}`"), help);
    meant.and_then(Row::find)
}

/// What other systems and `Iterator` call it.
fn foreign(word: &str) -> Option<&'static str> {
    Some(match word {
        "distinct" | "unique" | "deduplicate" | "distinct_by" => "dedup",
        "group_by" | "partition_by" | "keyBy" | "groupBy" => "key_by",
        "hopping" | "hop" => "sliding",
        "fixed" | "tumble" | "bucket" => "tumbling",
        "avg" | "average" => "mean",
        "len" | "size" => "count",
        "select" => "map",
        "where" | "retain" => "filter",
        "tap" | "peek" | "for_each" => "inspect",
        "fold" => "aggregate",
        "to_vec" | "list" => "collect",
        _ => return None,
    })
}

fn unknown_argument(row: &Row, word: &Ident, name: &Ident, value: &Expr, meant: Meant, errors: &mut Errors) {
    let help = match (meant, row.positional) {
        (Meant::Named(meant), _) => format!("did you mean `{meant}`?"),
        (Meant::Positional, Some(positional)) => {
            format!("the {} stands in front, without a name: `{word}({}, …)`", positional.what, spelled(value))
        }
        _ if row.named.is_empty() => format!("it takes no named arguments: `{}`", row.example),
        _ => format!("it takes {}", list(row.named.iter().map(|named| named.name))),
    };
    errors.help(name.span(), format!("`{word}` has no argument `{name}`"), help);
}

impl Stage {
    fn unknown(word: Ident) -> Self {
        Stage { row: &UNKNOWN, word, positional: None, named: Vec::new(), name: None }
    }

    /// Whether it is understood.
    pub(crate) fn is_known(&self) -> bool {
        self.row.gives != Kind::Unknown
    }

    /// The named argument, and where its name stands.
    pub(crate) fn argument(&self, name: &str) -> Option<(&Ident, &Value)> {
        self.named.iter().find(|(ident, _)| ident == name).map(|(ident, value)| (ident, value))
    }

    /// The named argument as a duration.
    pub(crate) fn duration(&self, name: &str) -> Option<&Duration> {
        self.argument(name).and_then(|(_, value)| value.duration())
    }

    /// The size of a window, or the gap of a session.
    pub(crate) fn size(&self) -> Option<&Duration> {
        self.positional.as_ref().and_then(Value::duration)
    }

    /// Whether late events are dropped on purpose.
    pub(crate) fn discards_late(&self) -> bool {
        self.argument("late").is_some()
    }
}

#[cfg(test)]
mod tests {
    use crate::pipeline::tests::reported;

    const TOTALS: &str =
        "fn totals(source: Stream<Click>, size: Duration) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);";

    #[test]
    fn one_mistake_of_a_window_is_one_message() {
        let cases = [
            ("tumblng(10s, delay = 3s)", "unknown stage `tumblng`\nhelp: did you mean `tumbling`?"),
            ("hopping(10s, every = 5s, delay = 3s)", "unknown stage `hopping`\nhelp: did you mean `sliding`?"),
            ("tumbling(delay = 3s)", "`tumbling` needs a window size\nhelp: `tumbling(10s, delay = 3s)`"),
            (
                "tumbling(size = 10s, delay = 3s)",
                "`tumbling` has no argument `size`\nhelp: the window size stands in front, without a name: `tumbling(10s, …)`",
            ),
            ("tumbling(10s, dely = 3s, delay = 3s)", "`tumbling` has no argument `dely`\nhelp: did you mean `delay`?"),
            (
                "tumbling(10s, delay = 3s, speed = 1)",
                "`tumbling` has no argument `speed`\nhelp: it takes `offset`, `delay`, `lateness` and `late`",
            ),
            ("tumbling(10s, delay = 3s, delay = 4s)", "`delay` is given twice\nhelp: take one of the two out"),
            (
                "tumbling(delay = 3s, 10s)",
                "an argument without a name stands behind one with a name\nhelp: put it first, or name it: `offset`, `delay`, `lateness` and `late`",
            ),
            ("tumbling(10s, delay = 3s, late = drop)", "`late` takes `discard`"),
            ("sliding(10s, delay = 3s)", "`sliding` needs `every = …`"),
            (
                "sliding(10s, 5s, delay = 3s)",
                "`sliding` takes one argument without a name\nhelp: name it: `every = 5s`",
            ),
            ("sliding(10s, evry = 5s, delay = 3s)", "`sliding` has no argument `evry`\nhelp: did you mean `every`?"),
            ("session(10s, delay = 3s, offset = 1s)", "`session` has no argument `offset`"),
            // The delay is there, if not in its place.
            (
                "tumbling(10s, 3s)",
                "`tumbling` takes one argument without a name\nhelp: name it: `offset`, `delay`, `lateness` and `late`",
            ),
            ("tumbling(10s, dely = 3s)", "`tumbling` has no argument `dely`\nhelp: did you mean `delay`?"),
        ];
        for (window, expected) in cases {
            let messages = reported(&format!("source -> key_by(user) -> {window} -> sum(value)"), TOTALS);
            assert_eq!(messages.len(), 1, "{window}: {messages:?}");
            assert!(messages[0].starts_with(expected), "{window}: {}", messages[0]);
        }
    }

    #[test]
    fn one_mistake_of_another_stage_is_one_message() {
        let cases = [
            ("filter(source)", "`source` is a stream here, not a field"),
            ("filter(3)", "a literal is the same for every event"),
            ("inspect(device.id)", "a function is needed here, not a field"),
            ("dedup((), ttl = 1h)", "no field is named here"),
            ("dedup(a, 3, ttl = 1h)", "this is no field"),
            ("dedup((a, size), ttl = 1h)", "this is no field"),
            ("dedup((a, source), ttl = 1h)", "`source` is a stream here, not a field"),
            ("dedup(ttl = 1h)", "`dedup` needs an id"),
            ("watermark(3s)", "`watermark` takes its settings by name\nhelp: `watermark(delay = 3s)`"),
            ("watermark(3s, idle = 1m)", "`watermark` takes its settings by name"),
            ("watermark(dely = 3s)", "`watermark` has no argument `dely`"),
            ("dedup(id, tll = 1h)", "`dedup` has no argument `tll`"),
            ("map(|e| e.a, |e| e.b)", "`map` takes one argument without a name"),
        ];
        for (stage, expected) in cases {
            let item = "fn f(source: Stream<Click>, size: u8) -> Stream<Click>;";
            let messages = reported(&format!("source -> {stage}"), item);
            assert_eq!(messages.len(), 1, "{stage}: {messages:?}");
            assert!(messages[0].starts_with(expected), "{stage}: {}", messages[0]);
        }
    }

    #[test]
    fn the_input_is_a_stream_of_the_function() {
        let cases = [
            ("sorce -> filter(a)", "the function has no parameter `sorce`\nhelp: did you mean `source`?"),
            (
                "size -> filter(a)",
                "`size` is a setting, not a stream\nhelp: a pipeline starts with a parameter of type `Stream<…>`",
            ),
            (
                "filter -> map(a)",
                "a pipeline starts with one of the function's streams, and `filter` is a stage\nhelp: `source -> …`",
            ),
            (
                "filter(a) -> map(b)",
                "a pipeline starts with one of the function's streams, and `filter(…)` is a stage\nhelp: `source -> filter(…)`",
            ),
        ];
        for (line, expected) in cases {
            let messages = reported(line, "fn f(source: Stream<Click>, size: u8) -> Stream<Click>;");
            assert_eq!(messages.len(), 1, "{line}: {messages:?}");
            assert_eq!(messages[0], expected);
        }
        let item = "fn f(source: Stream<Click>, more: Stream<Click>) -> Stream<Click>;";
        assert_eq!(reported("source -> filter(a)", item).len(), 1);
    }
}
