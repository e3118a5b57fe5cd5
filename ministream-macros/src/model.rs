//! The pipeline with its words resolved: stages against the table, arguments against their shapes, fields against
//! parameters, names against the `let`s before. Knows names, arity and units; whether it all fits together is for
//! `check`.

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::{Expr, Path};

use crate::duration::Duration;
use crate::errors::{Errors, list, meant};
use crate::item::Item;
use crate::parse::{self, Arg, Branch, Input, PUT_TOGETHER, Pipeline, What};
use crate::spelling::spelled;
use crate::stages::{Carries, Kind, Lowering, Named, OWN, OWN_KEYED, Port, Positional, Row, Shape, TABLE, UNKNOWN};
use crate::values::{Value, fields, lone_ident, shaped};

/// A resolved pipeline. With mistakes in it, which are among the errors, as much as was understood.
pub(crate) struct Model {
    /// Those with a name first, in the order of their `let`s; behind them those that go out.
    pub(crate) flows: Vec<Flow>,
    /// How many have a name.
    pub(crate) lets: usize,
    /// In one line, the late events are wired by themselves.
    pub(crate) one_line: bool,
    pub(crate) end: Span,
}

/// A stream, and the stages that it goes through.
pub(crate) struct Flow {
    pub(crate) name: Option<Ident>,
    pub(crate) source: Source,
    pub(crate) stages: Vec<Stage>,
}

/// Where a flow starts, or what an argument reads.
pub(crate) enum Source {
    /// A parameter of the function, by its number.
    Param(usize, Ident),
    /// What an earlier flow gives.
    Flow(usize, Ident),
    Port(PortOf, Ident),
    Union(Vec<Source>, Ident),
    /// Not understood, which is an error already.
    Unknown,
}

/// A port of a stage.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct PortOf {
    pub(crate) flow: usize,
    pub(crate) stage: usize,
    pub(crate) port: String,
}

/// A resolved stage.
pub(crate) struct Stage {
    pub(crate) row: &'static Row,
    pub(crate) word: Ident,
    /// As it is written, for the docs.
    pub(crate) written: String,
    pub(crate) positional: Vec<Value>,
    pub(crate) named: Vec<(Ident, Value)>,
    pub(crate) name: Option<Ident>,
    /// Of a `split`.
    pub(crate) branches: Vec<(Ident, Value)>,
    pub(crate) rest: Rest,
    /// Of an `aggregate`.
    pub(crate) aggregates: Option<Aggregates>,
}

/// What becomes of the events that no branch of a `split` takes.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Rest {
    Unsaid,
    Port(Ident),
    Discarded,
    /// Not understood, which is an error already.
    Mistake,
}

/// Several aggregates of the same windows.
pub(crate) struct Aggregates {
    pub(crate) entries: Vec<(Option<Ident>, Stage)>,
    /// The struct they make, if it is said.
    pub(crate) makes: Option<Path>,
}

/// Resolves all words. What is not understood is among the errors.
pub(crate) fn resolve(item: &Item, pipeline: Pipeline, errors: &mut Errors) -> Model {
    let lets = pipeline.lets.len();
    let names: Vec<Ident> = pipeline.lets.iter().map(|statement| statement.name.clone()).collect();
    let mut model = Model { flows: Vec::new(), lets, one_line: pipeline.one_line, end: pipeline.end };
    let lets = pipeline.lets.into_iter().map(|statement| (Some(statement.name), statement.flow));
    for (name, flow) in lets.chain(pipeline.outputs.into_iter().map(|flow| (None, flow))) {
        let scope = Scope { item, known: &model.flows, names: &names, one_line: model.one_line };
        let source = match &flow.input {
            Some(input) => scope.source(input, errors),
            None => Source::Unknown,
        };
        let mut stages: Vec<Stage> = Vec::new();
        for stage in flow.stages {
            let is_keyed = stages.last().map_or_else(|| scope.kind(&source), |before| before.row.gives) == Kind::Keyed;
            stages.push(match stage {
                Some(stage) => resolve_stage(&scope, stage, is_keyed, errors),
                None => Stage::unknown(Ident::new("stage", Span::call_site())),
            });
        }
        model.flows.push(Flow { name, source, stages });
    }
    model
}

/// What names stand for at one place.
struct Scope<'a> {
    item: &'a Item,
    /// The flows before.
    known: &'a [Flow],
    /// The names of all `let`s.
    names: &'a [Ident],
    one_line: bool,
}

impl Scope<'_> {
    /// What flows at the end of a source.
    fn kind(&self, source: &Source) -> Kind {
        match source {
            Source::Flow(flow, _) => self.known.get(*flow).map_or(Kind::Unknown, |flow| self.kind_of(flow)),
            _ => Kind::Stream,
        }
    }

    fn kind_of(&self, flow: &Flow) -> Kind {
        flow.stages.last().map_or_else(|| self.kind(&flow.source), |stage| stage.row.gives)
    }

    fn source(&self, input: &Input, errors: &mut Errors) -> Source {
        match input {
            Input::Name(name) => self.named(name, errors),
            Input::Port(name, port) => self.port(name, port, errors),
            Input::Union(word, inputs) => {
                let sources = inputs.iter().map(|input| match input {
                    Some(input) => self.source(input, errors),
                    None => Source::Unknown,
                });
                Source::Union(sources.collect(), word.clone())
            }
        }
    }

    fn named(&self, name: &Ident, errors: &mut Errors) -> Source {
        let params = &self.item.params;
        if let Some(number) = params.iter().position(|param| param.ident == *name) {
            if params.get(number).is_some_and(|param| param.carries.is_some()) {
                return Source::Param(number, name.clone());
            }
            // That a `let` takes the name of a setting is said there.
            if !self.names.contains(name) {
                let what = format!("`{name}` is a setting, not a stream");
                errors.help(name.span(), what, "a pipeline starts with a parameter of type `Stream<…>`");
            }
            return Source::Unknown;
        }
        if let Some(number) = self.known.iter().position(|flow| flow.name.as_ref() == Some(name)) {
            return Source::Flow(number, name.clone());
        }
        if let Some((_, stage)) = self.stage_named(name) {
            let ports = stage.port_names();
            let help = match ports.as_slice() {
                [] => "give the flow a name with `let`, and read that".to_owned(),
                ports => format!("its ports can be read: {}", list(ports.iter().map(|port| format!("{name}.{port}")))),
            };
            errors.help(name.span(), format!("`{name}` is the name of a stage, not of a stream"), help);
            return Source::Unknown;
        }
        self.unknown(name, errors);
        Source::Unknown
    }

    /// The stage with this name behind `as`; of an aggregate's the window.
    fn stage_named(&self, name: &Ident) -> Option<((usize, usize), &Stage)> {
        self.known.iter().enumerate().find_map(|(number, flow)| {
            let position = flow.stages.iter().position(|stage| stage.name.as_ref() == Some(name))?;
            let has_ports = |stage: &Stage| !stage.port_names().is_empty();
            let is_result = |stage: &Stage| stage.row.takes == Kind::Windowed;
            let behind = flow.stages.get(position).filter(|stage| is_result(stage) && !has_ports(stage));
            let position = match behind.and(position.checked_sub(1)) {
                Some(window) => window,
                None => position,
            };
            Some(((number, position), flow.stages.get(position)?))
        })
    }

    fn port(&self, name: &Ident, port: &Ident, errors: &mut Errors) -> Source {
        if self.item.params.iter().any(|param| param.ident == *name) {
            let what = format!("`{name}` is a parameter, and has no ports");
            errors.help(
                port.span(),
                what,
                format!("ports are those of stages: `let w = {name} -> …;`, then `w.{port}`"),
            );
            return Source::Unknown;
        }
        let of = |flow: usize, stage: usize| {
            let port = PortOf { flow, stage, port: port.to_string() };
            Source::Port(port, name.clone())
        };
        let mut stages: Vec<((usize, usize), &Stage)> = Vec::new();
        if let Some(number) = self.known.iter().position(|flow| flow.name.as_ref() == Some(name)) {
            let flow = self.known.get(number);
            let all = flow.map(|flow| flow.stages.as_slice()).unwrap_or_default();
            stages.extend(all.iter().enumerate().rev().map(|(position, stage)| ((number, position), stage)));
        } else if let Some(found) = self.stage_named(name) {
            stages.push(found);
        } else {
            self.unknown_with_ports(name, errors);
            return Source::Unknown;
        }
        if let Some(((flow, stage), _)) = stages.iter().find(|(_, stage)| stage.port_names().iter().any(|p| port == p))
        {
            return of(*flow, *stage);
        }
        // That a `split` is not whole is said there.
        let is_unfinished = |stage: &Stage| {
            stage.row.lowering == Lowering::Split
                && (stage.branches.is_empty() || port == "rest" && matches!(stage.rest, Rest::Unsaid | Rest::Mistake))
        };
        if stages.iter().any(|(_, stage)| !stage.is_known() || is_unfinished(stage)) {
            return Source::Unknown;
        }
        if port == "rest" && stages.iter().any(|(_, stage)| stage.rest == Rest::Discarded) {
            let what = format!("nothing leaves by `{name}.rest`: `split` discards what no branch takes");
            errors.help(port.span(), what, "write `rest` in place of `rest = discard`");
            return Source::Unknown;
        }
        let discards = stages.iter().find(|(_, stage)| stage.discards_late() && stage.offers(&port.to_string()));
        if let Some((_, stage)) = discards {
            let what = format!("nothing leaves by `{name}.{port}`: `{}` discards its late events", stage.word);
            errors.help(port.span(), what, "take `late = discard` out");
            return Source::Unknown;
        }
        let mut ports: Vec<String> = stages.iter().flat_map(|(_, stage)| stage.port_names()).collect();
        ports.dedup();
        let help = match (meant(&port.to_string(), ports.iter().map(String::as_str)), ports.is_empty()) {
            (Some(meant), _) => format!("did you mean `{name}.{meant}`?"),
            (None, true) => "its stages have no ports".to_owned(),
            (None, false) => format!("it has {}", list(ports.iter().map(String::as_str))),
        };
        errors.help(port.span(), format!("`{name}` has no port `{port}`"), help);
        Source::Unknown
    }

    fn unknown(&self, name: &Ident, errors: &mut Errors) {
        self.unknown_among(name, &[], errors);
    }

    /// Of the name in front of a port: stages have ports, too.
    fn unknown_with_ports(&self, name: &Ident, errors: &mut Errors) {
        let stages = self.known.iter().flat_map(|flow| &flow.stages);
        let stages: Vec<_> = stages.filter_map(|stage| stage.name.as_ref()).map(ToString::to_string).collect();
        self.unknown_among(name, &stages, errors);
    }

    fn unknown_among(&self, name: &Ident, stages: &[String], errors: &mut Errors) {
        let item = self.item;
        // That it has no stream at all is said where the function is looked at.
        if item.streams().next().is_none() {
            return;
        }
        let word = name.to_string();
        let is_later = self.names.iter().skip(self.known.len()).position(|later| later == name);
        if let Some(distance) = is_later {
            let (what, help) = match distance {
                0 => (format!("`{name}` reads itself"), "a flow starts with a parameter, or with a `let` before it"),
                _ => (format!("`{name}` is used before its `let`"), "move its `let` up"),
            };
            errors.help(name.span(), what, help);
            return;
        }
        let mut names: Vec<String> = item.streams().map(|param| param.ident.to_string()).collect();
        names.extend(self.known.iter().filter_map(|flow| flow.name.as_ref()).map(ToString::to_string));
        // Parameters have no ports.
        if !stages.is_empty() {
            names.rotate_left(item.streams().count());
            names.splice(0..0, stages.iter().cloned());
        }
        let help = match (meant(&word, names.iter().map(String::as_str)), names.first()) {
            (Some(name), _) => format!("did you mean `{name}`?"),
            (None, Some(name)) if self.one_line => format!("`{name} -> …`"),
            (None, _) => format!("there is {}", list(names.iter().map(String::as_str))),
        };
        let what = if Row::find(&word).is_some() {
            format!("a pipeline starts with one of the function's streams, and `{word}` is a stage")
        } else if self.one_line {
            format!("the function has no parameter `{word}`")
        } else {
            format!("unknown stream `{word}`")
        };
        errors.help(name.span(), what, help);
    }
}

fn resolve_stage(scope: &Scope<'_>, stage: parse::Stage, is_keyed: bool, errors: &mut Errors) -> Stage {
    let written = stage.written;
    let name = stage.name;
    let resolved = match stage.what {
        What::Word(word, args) => {
            // A word that is nearly one is taken for it, so that its arguments are looked at, too.
            let Some(row) = Row::find(&word.to_string()).or_else(|| unknown_stage(&word, errors)) else {
                return Stage { name, ..Stage::unknown(word) };
            };
            let word = Ident::new(row.word, word.span());
            let stage = match row.lowering {
                Lowering::Split => {
                    errors.help(word.span(), "`split` has its branches in braces", format!("`{}`", row.example));
                    Stage::unknown(word)
                }
                Lowering::Aggregates => resolve_aggregates(scope, row, word, args, errors),
                _ => resolve_word(scope, row, word, args, errors),
            };
            Stage { name, ..stage }
        }
        What::Branches(word, branches) => {
            if word != "split" {
                errors.help(word.span(), format!("`{word}` has no branches"), "did you mean `split`?");
            }
            let word = Ident::new("split", word.span());
            Stage { name, ..resolve_split(scope, word, branches, errors) }
        }
        What::Path(value) => {
            let row = if is_keyed { &OWN_KEYED } else { &OWN };
            let word = Ident::new(row.word, syn::spanned::Spanned::span(&value));
            Stage { positional: vec![Value::Expr(value)], name, ..Stage::of(row, word) }
        }
    };
    Stage { written, ..resolved }
}

fn resolve_word(scope: &Scope<'_>, row: &'static Row, word: Ident, args: Vec<Arg>, errors: &mut Errors) -> Stage {
    let is_named = |arg: &Arg| arg.name.is_some();
    let first_named = args.iter().position(is_named).unwrap_or(args.len());
    for arg in args.iter().skip(first_named).filter(|arg| !is_named(arg)) {
        let names = list(row.named.iter().map(|named| named.name));
        let help = format!("put it first, or name it: {names}");
        errors.help_on(&arg.value, "an argument without a name stands behind one with a name", help);
    }
    let (with_name, without_name): (Vec<_>, Vec<_>) = args.into_iter().partition(is_named);
    let without_name: Vec<_> = without_name.into_iter().map(|arg| arg.value).collect();
    let names: Vec<_> = with_name.iter().filter_map(|arg| arg.name.clone()).collect();
    let mut meant = Meant::by_all(row, &names, without_name.len());
    if let (Some(_), Some(named)) = (setting_among_fields(row, &without_name), row.named.first()) {
        meant.push(Meant::Named(named.name));
    }
    let given = without_name.len();
    let positional = resolve_positional(scope, row, &word, without_name, &meant, errors);
    let mut named = resolve_named(scope.item, row, &word, with_name, &meant, given, errors);
    for argument in row.named.iter().filter(|argument| argument.required && !names.iter().any(|n| n == argument.name)) {
        // What stands there under another name, or without one, is not missing as well.
        if !meant.contains(&Meant::Named(argument.name)) {
            let (what, help) = missing(row, &word, argument);
            errors.help(word.span(), what, help);
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
    Stage { positional, named, ..Stage::of(row, word) }
}

/// What to say of a required argument that is not there.
fn missing(row: &Row, word: &Ident, argument: &Named) -> (String, String) {
    let example = format!("`{}`", row.example);
    match (row.lowering, argument.name) {
        (Lowering::Join, "within") => (
            format!("`{word}` needs `within = …`: without it, each row would be kept for ever"),
            "how far the timestamps of two rows that belong together lie apart: `within = -5s..=10s`".to_owned(),
        ),
        (Lowering::Enrich, "missing") => (
            format!("`{word}` needs `missing = …`: what becomes of events whose key the table does not have?"),
            "`missing = keep` gives `(event, None)`, `missing = discard` drops them, `missing = port` lets them leave by \
             `.missing`"
                .to_owned(),
        ),
        (Lowering::Window(_), "emit") => (
            format!("`{word}` needs `emit = …`: the window never ends, so nothing else says when results are wanted"),
            example,
        ),
        (_, "merge") => (
            format!("`{word}` needs `merge = …`: how two parts of a window become one"),
            example,
        ),
        (_, name) => (format!("`{word}` needs `{name} = …`"), example),
    }
}

/// `split { large: |event| event.value > 100, rest }`
fn resolve_split(scope: &Scope<'_>, word: Ident, branches: Vec<Branch>, errors: &mut Errors) -> Stage {
    let row = Row::find("split").unwrap_or(&UNKNOWN);
    let mut stage = Stage::of(row, word);
    let mut seen: Vec<Ident> = Vec::new();
    for Branch { name, value, discarded } in branches {
        if seen.contains(&name) {
            errors.help(name.span(), format!("two branches are named `{name}`"), "give each branch a name of its own");
            continue;
        }
        seen.push(name.clone());
        match value {
            None if name == "rest" => stage.rest = if discarded { Rest::Discarded } else { Rest::Port(name) },
            None if name == "_" || name == "otherwise" || name == "else" => {
                errors.help(name.span(), "what no branch takes is `rest`", "`rest`, or `rest = discard`");
                stage.rest = Rest::Mistake;
            }
            None => {
                let help = format!("`{name}: |event| …`; what no branch takes is `rest`");
                errors.help(name.span(), format!("a condition is missing behind `{name}`"), help);
                stage.branches.push((name, Value::Mistake));
            }
            Some(value) if name == "rest" => {
                let is_discarded = lone_ident(&value).is_some_and(|word| word == "discard");
                let help = if is_discarded { "`rest = discard`" } else { "`rest`" };
                errors.help_on(value, "`rest` is what no branch takes, and has no condition", help);
                stage.rest = Rest::Mistake;
            }
            Some(value) => {
                if stage.rest != Rest::Unsaid {
                    errors.help(name.span(), "a branch stands behind `rest`", "put `rest` last");
                }
                let value = shaped(scope.item, "condition", Shape::Take, value, errors);
                stage.branches.push((name, value));
            }
        }
    }
    stage
}

/// `aggregate(Spread)`, `aggregate(sum(value), count())`, `aggregate(total = sum(value), n = count())`, or
/// `aggregate(Totals { total: sum(value), n: count() })`
fn resolve_aggregates(scope: &Scope<'_>, row: &'static Row, word: Ident, args: Vec<Arg>, errors: &mut Errors) -> Stage {
    let single = match args.as_slice() {
        [Arg { name: None, value }] => Some(value),
        _ => None,
    };
    if let Some(Expr::Struct(literal)) = single
        && literal.fields.iter().any(|field| aggregate_row(&field.expr).is_some())
    {
        if let Some(rest) = &literal.rest {
            errors.help_on(rest, "each field of the struct is an aggregate", "name all of its fields");
        }
        let entries = literal.fields.iter().map(|field| {
            let name = match &field.member {
                syn::Member::Named(name) => name.clone(),
                syn::Member::Unnamed(_) => Ident::new("field", word.span()),
            };
            (Some(name), one_aggregate(scope, &field.expr, errors))
        });
        let aggregates = Aggregates { entries: entries.collect(), makes: Some(literal.path.clone()) };
        return Stage { aggregates: Some(aggregates), ..Stage::of(row, word) };
    }
    if let Some(value) = single
        && let Some(meant) = lone_ident(value).and_then(|word| Row::find(&word.to_string()))
        && meant.is_aggregate()
    {
        let what = "an aggregate is written with its arguments";
        errors.help_on(value, what, format!("`{}`, without `aggregate` around it", meant.example));
        return Stage { positional: vec![Value::Mistake], ..Stage::of(row, word) };
    }
    if args.is_empty() || single.is_some_and(|value| aggregate_row(value).is_none()) {
        return resolve_word(scope, row, word, args, errors);
    }
    let with_names = args.iter().filter(|arg| arg.name.is_some()).count();
    if with_names > 0
        && with_names < args.len()
        && let Some(without) = args.iter().find(|arg| arg.name.is_none())
    {
        let help = "`aggregate(total = sum(value), n = count())`, or `aggregate(sum(value), count())`";
        errors.help_on(&without.value, "some of the aggregates have a name, and this one has none", help);
    }
    let mut entries: Vec<(Option<Ident>, Stage)> = Vec::new();
    for Arg { name, value } in args {
        if let Some(name) = &name
            && entries.iter().any(|(known, _)| known.as_ref() == Some(name))
        {
            errors.help(name.span(), format!("`{name}` is given twice"), "take one of the two out");
            continue;
        }
        let aggregate = one_aggregate(scope, &value, errors);
        entries.push((name, aggregate));
    }
    const MOST: usize = 8;
    if let Some((_, ninth)) = entries.get(MOST) {
        let what = format!("at most {MOST} aggregates stand in one `aggregate`");
        errors.help(ninth.word.span(), what, "use a second window, or an aggregate of your own");
    }
    Stage { aggregates: Some(Aggregates { entries, makes: None }), ..Stage::of(row, word) }
}

/// The row of `sum(value)`.
fn aggregate_row(value: &Expr) -> Option<&'static Row> {
    let Expr::Call(call) = value else { return None };
    Row::find(&lone_ident(&call.func)?.to_string()).filter(|row| row.is_aggregate())
}

/// `sum(value)` among others.
fn one_aggregate(scope: &Scope<'_>, value: &Expr, errors: &mut Errors) -> Stage {
    let words = || TABLE.iter().filter(|row| row.is_aggregate()).map(|row| row.word);
    let call = match value {
        Expr::Call(call) => lone_ident(&call.func).map(|word| (word, call)),
        _ => None,
    };
    let Some((word, call)) = call else {
        let help = match lone_ident(value).filter(|word| words().any(|known| *word == known)) {
            Some(word) => format!("`{word}()`"),
            None => format!("aggregates are {}", list(words())),
        };
        errors.help_on(value, "an aggregate such as `sum(value)` is needed here", help);
        return Stage::unknown(Ident::new("aggregate", Span::call_site()));
    };
    let row = Row::find(&word.to_string()).filter(|row| row.is_aggregate()).or_else(|| {
        let text = word.to_string();
        let meant = meant(&text, words()).or_else(|| foreign(&text).filter(|word| words().any(|known| known == *word)));
        let help = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("aggregates are {}", list(words())),
        };
        errors.help(word.span(), format!("unknown aggregate `{word}`"), help);
        meant.and_then(Row::find)
    });
    let Some(row) = row else { return Stage::unknown(word.clone()) };
    let args = call.args.iter().map(|arg| match arg {
        // `by = value`, which Rust reads as an assignment.
        Expr::Assign(assign) => match lone_ident(&assign.left) {
            Some(name) => Arg { name: Some(name.clone()), value: (*assign.right).clone() },
            None => Arg { name: None, value: arg.clone() },
        },
        arg => Arg { name: None, value: arg.clone() },
    });
    resolve_word(scope, row, Ident::new(row.word, word.span()), args.collect(), errors)
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
        let needed = row.positional.iter().filter(|positional| !positional.optional).count();
        let mut meant: Vec<_> = unknown.map(|name| Meant::by(row, name, positionals < needed)).collect();
        // Of those that may be meant by one without a name: what the stage needs.
        let takes_fields = row.positional.first().is_some_and(|first| first.shape == Shape::Identity);
        let is_surplus = positionals > row.positional.len() && !row.positional.is_empty() && !takes_fields;
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
            "trigger" | "early" => Some("emit"),
            "key" | "using" => Some("on"),
            "between" | "window" => Some("within"),
            _ => None,
        };
        let foreign = || names().find(|name| foreign == Some(*name));
        match meant(&name, names()).or_else(foreign) {
            Some(named) => Meant::Named(named),
            None if lacks_positional => Meant::Positional,
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
    given: usize,
    errors: &mut Errors,
) -> Vec<(Ident, Value)> {
    let mut without_name = row.positional.iter().skip(given);
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
                let meant = Meant::by(row, &name, lacks_positional);
                let positional = if meant == Meant::Positional { without_name.next() } else { None };
                unknown_argument(row, word, &name, &value, (meant, positional), errors);
            }
        }
    }
    named
}

/// The `3s` of `dedup(event_id, 3s)`.
fn setting_among_fields<'a>(row: &Row, values: &'a [Expr]) -> Option<&'a syn::ExprLit> {
    let takes_fields = row.positional.first().is_some_and(|first| first.shape == Shape::Identity);
    match values.last() {
        Some(Expr::Lit(literal)) if takes_fields && values.len() > 1 => {
            Some(literal).filter(|literal| matches!(&literal.lit, syn::Lit::Int(int) if !int.suffix().is_empty()))
        }
        _ => None,
    }
}

fn resolve_positional(
    scope: &Scope<'_>,
    row: &'static Row,
    word: &Ident,
    values: Vec<Expr>,
    meant: &[Meant],
    errors: &mut Errors,
) -> Vec<Value> {
    let item = scope.item;
    let Some(first) = row.positional.first() else {
        if let Some(first) = values.first() {
            errors.help_on(first, format!("`{word}` takes no such argument"), format!("`{}`", row.example));
        }
        return Vec::new();
    };
    if first.shape == Shape::Identity && values.len() > 1 {
        if let (Some(literal), Some(named)) = (setting_among_fields(row, &values), row.named.first()) {
            let help = format!("name it: `{} = {}`", named.name, literal.to_token_stream());
            errors.help_on(literal, format!("`{word}` takes its settings by name"), help);
            return vec![Value::Mistake];
        }
        return vec![fields(item, &values.iter().collect::<Vec<_>>(), errors)];
    }
    let given = values.len();
    let mut values = values.into_iter();
    let mut resolved = Vec::new();
    for positional in row.positional {
        let Some(value) = values.next() else {
            if positional.optional {
                continue;
            }
            let under_a_name = meant.iter().filter(|meant| **meant == Meant::Positional).count();
            if resolved.len() >= given + under_a_name {
                let article = if positional.what.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
                let what = format!("`{word}` needs {article} {}", positional.what);
                errors.help(word.span(), what, format!("`{}`", row.example));
            }
            let is_input = positional.shape == Shape::Input;
            resolved.push(if is_input { Value::Input(Source::Unknown) } else { Value::Mistake });
            continue;
        };
        if let (Shape::Word(_), Expr::Lit(_), Some(named)) = (positional.shape, &value, row.named.first()) {
            let help = format!("`{word}({} = {})`", named.name, spelled(&value));
            errors.help_on(&value, format!("`{word}` takes its settings by name"), help);
            resolved.push(Value::Mistake);
            continue;
        }
        resolved.push(match positional.shape {
            Shape::Input => {
                let input = Input::read(&value, errors);
                Value::Input(input.map_or(Source::Unknown, |input| scope.source(&input, errors)))
            }
            shape => shaped(item, positional.what, shape, value, errors),
        });
    }
    if let Some(surplus) = values.next() {
        let help = match (row.named, meant.last()) {
            ([], _) => format!("`{}`", row.example),
            (named, Some(Meant::Named(name))) if named.iter().any(|n| n.required && n.name == *name) => {
                format!("name it: `{name} = {}`", spelled(&surplus))
            }
            (named, _) => format!("name it: {}", list(named.iter().map(|named| named.name))),
        };
        let number = match row.positional.len() {
            1 => "one argument".to_owned(),
            number => format!("{number} arguments"),
        };
        errors.help_on(&surplus, format!("`{word}` takes {number} without a name"), help);
    }
    resolved
}

/// Reports an unknown stage, and gives the one that was probably meant.
fn unknown_stage(word: &Ident, errors: &mut Errors) -> Option<&'static Row> {
    let words = || TABLE.iter().map(|row| row.word);
    let text = word.to_string();
    // A type without its path is an operator of the user's own.
    let is_type = text.starts_with(char::is_uppercase);
    let meant = if is_type { None } else { meant(&text, words()).or_else(|| foreign(&text)) };
    let help = match meant {
        Some(stage) => format!("did you mean `{stage}`?"),
        None if word == "union" || PUT_TOGETHER.iter().any(|put_together| word == put_together) => {
            "streams are put together in front: `union(a, b) -> …`".to_owned()
        }
        None if is_type => match words().find(|known| text.eq_ignore_ascii_case(known)) {
            Some(known) => {
                format!("`{known}` is the stage; an operator of your own is written with its path: `self::{word}`")
            }
            None => format!("an operator of your own is written with its path: `self::{word}`"),
        },
        None => format!("stages are {}", list(words())),
    };
    errors.help(word.span(), format!("unknown stage `{word}`"), help);
    meant.and_then(Row::find)
}

/// What other systems and `Iterator` call it.
fn foreign(word: &str) -> Option<&'static str> {
    Some(match word {
        "unique" | "deduplicate" | "distinct_by" => "dedup",
        "group_by" | "partition_by" | "keyBy" | "groupBy" => "key_by",
        "hopping" | "hop" => "sliding",
        "fixed" | "tumble" | "bucket" => "tumbling",
        "avg" | "average" => "mean",
        "len" | "size" => "count",
        "select" => "map",
        "where" | "retain" => "filter",
        "tap" | "peek" | "for_each" => "inspect",
        "interval_join" | "inner_join" => "join",
        "left_outer_join" | "outer_join" => "left_join",
        "lookup" | "temporal_join" | "lookup_join" => "enrich",
        "percentile" | "p99" | "median" => "quantile",
        "count_distinct" | "nunique" => "distinct",
        "top_n" | "top_k" | "max_by" => "top",
        "branch" | "partition" => "split",
        "to_vec" | "list" => "collect",
        _ => return None,
    })
}

fn unknown_argument(
    row: &Row,
    word: &Ident,
    name: &Ident,
    value: &Expr,
    meant: (Meant, Option<&Positional>),
    errors: &mut Errors,
) {
    let help = match meant {
        (Meant::Named(meant), _) => format!("did you mean `{meant}`?"),
        (Meant::Positional, Some(positional))
            if row.positional.first().is_some_and(|first| first.what == positional.what) =>
        {
            format!("the {} stands in front, without a name: `{word}({}, …)`", positional.what, spelled(value))
        }
        (Meant::Positional, Some(positional)) => {
            format!("the {} has no name: `{word}(…, {})`", positional.what, spelled(value))
        }
        _ if row.word == "join" && ["kind", "how", "outer", "left", "type"].iter().any(|kind| name == kind) => {
            "`left_join(…)` gives the rows of the left side that find no partner, too".to_owned()
        }
        _ if row.named.is_empty() => format!("it takes no named arguments: `{}`", row.example),
        _ => format!("it takes {}", list(row.named.iter().map(|named| named.name))),
    };
    errors.help(name.span(), format!("`{word}` has no argument `{name}`"), help);
}

impl Stage {
    fn of(row: &'static Row, word: Ident) -> Self {
        Stage {
            row,
            written: word.to_string(),
            word,
            positional: Vec::new(),
            named: Vec::new(),
            name: None,
            branches: Vec::new(),
            rest: Rest::Unsaid,
            aggregates: None,
        }
    }

    fn unknown(word: Ident) -> Self {
        Stage::of(&UNKNOWN, word)
    }

    /// Whether it is understood.
    pub(crate) fn is_known(&self) -> bool {
        self.row.gives != Kind::Unknown
    }

    /// Whether it is an operator of the user's own.
    pub(crate) fn is_own(&self) -> bool {
        matches!(self.row.lowering, Lowering::Process | Lowering::Operator)
    }

    /// The named argument, and where its name stands.
    pub(crate) fn argument(&self, name: &str) -> Option<(&Ident, &Value)> {
        self.named.iter().find(|(ident, _)| ident == name).map(|(ident, value)| (ident, value))
    }

    /// The named argument as a duration.
    pub(crate) fn duration(&self, name: &str) -> Option<&Duration> {
        self.argument(name).and_then(|(_, value)| value.duration())
    }

    /// The named argument as one of its words.
    pub(crate) fn says(&self, name: &str, word: &str) -> bool {
        matches!(self.argument(name), Some((_, Value::Word(said))) if said == word)
    }

    /// The size of a window, or the gap of a session.
    pub(crate) fn size(&self) -> Option<&Duration> {
        self.positional.first().and_then(Value::duration)
    }

    /// Whether late events are dropped on purpose.
    pub(crate) fn discards_late(&self) -> bool {
        self.argument("late").is_some()
    }

    /// Whether results of this window can be corrected by later ones.
    pub(crate) fn corrects(&self) -> bool {
        let lateness = self.argument("lateness");
        let is_late =
            lateness.is_some_and(|(_, lateness)| lateness.literal().is_none_or(|literal| literal.micros != 0));
        is_late || self.argument("emit").is_some()
    }

    /// The ports that events leave by, and that can be read.
    pub(crate) fn ports(&self) -> impl Iterator<Item = &'static Port> {
        self.row.ports.iter().filter(|port| match port.name {
            "late" | "late_left" | "late_right" | "late_versions" => !self.discards_late(),
            "missing" => self.says("missing", "port"),
            // Of a window: of the `watermark` that its `delay` stands for.
            "rejected" => !self.row.is_window() || self.argument("delay").is_some(),
            _ => true,
        })
    }

    /// The port with this name; None for a part of a `split`, which may have any name.
    pub(crate) fn port(&self, name: &str) -> Option<&'static Port> {
        self.ports().find(|port| port.name == name)
    }

    /// The names of its ports, those of a `split` among them.
    pub(crate) fn port_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.ports().map(|port| port.name.to_owned()).collect();
        names.extend(self.branches.iter().map(|(name, _)| name.to_string()));
        if let Rest::Port(rest) = &self.rest {
            names.push(rest.to_string());
        }
        names
    }

    /// Whether it would have this port, if it did not discard what leaves by it.
    fn offers(&self, name: &str) -> bool {
        self.row.ports.iter().any(|port| port.name == name)
    }
}

impl Source {
    /// The streams that it is made of.
    pub(crate) fn leaves(&self) -> Vec<&Source> {
        match self {
            Source::Union(sources, _) => sources.iter().flat_map(Source::leaves).collect(),
            source => vec![source],
        }
    }
}

impl Flow {
    /// All that it reads: where it starts, and what its stages name.
    pub(crate) fn reads(&self) -> Vec<&Source> {
        let arguments = self.stages.iter().flat_map(|stage| &stage.positional).filter_map(|value| match value {
            Value::Input(source) => Some(source),
            _ => None,
        });
        std::iter::once(&self.source).chain(arguments).flat_map(Source::leaves).collect()
    }
}

impl Model {
    /// Whether every stage and every stream is understood.
    pub(crate) fn is_understood(&self) -> bool {
        self.flows.iter().all(|flow| {
            flow.stages.iter().all(Stage::is_known)
                && flow.reads().iter().all(|source| !matches!(source, Source::Unknown))
        })
    }

    /// The flows that go out.
    pub(crate) fn outputs(&self) -> &[Flow] {
        self.flows.get(self.lets..).unwrap_or_default()
    }

    /// In one line: the ports whose events go out behind the results, in the order of the stages.
    pub(crate) fn wired(&self) -> impl Iterator<Item = ((usize, usize), &'static Port)> {
        let stages = self.stages().filter(|_| self.one_line);
        stages.flat_map(|(place, stage)| {
            stage.ports().filter(|port| port.carries != Carries::Optional).map(move |port| (place, port))
        })
    }

    /// All stages, with the place of each.
    pub(crate) fn stages(&self) -> impl Iterator<Item = ((usize, usize), &Stage)> {
        self.flows.iter().enumerate().flat_map(|(number, flow)| {
            flow.stages.iter().enumerate().map(move |(position, stage)| ((number, position), stage))
        })
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
                "`tumbling` has no argument `speed`\nhelp: it takes `offset`, `delay`, `lateness`, `emit` and `late`",
            ),
            ("tumbling(10s, delay = 3s, delay = 4s)", "`delay` is given twice\nhelp: take one of the two out"),
            (
                "tumbling(delay = 3s, 10s)",
                "an argument without a name stands behind one with a name\nhelp: put it first, or name it: `offset`, `delay`, `lateness`, `emit` and `late`",
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
                "`tumbling` takes one argument without a name\nhelp: name it: `offset`, `delay`, `lateness`, `emit` and `late`",
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
            (
                "Enrich",
                "unknown stage `Enrich`\nhelp: `enrich` is the stage; an operator of your own is written with its path",
            ),
            ("Alert", "unknown stage `Alert`\nhelp: an operator of your own is written with its path: `self::Alert`"),
        ];
        for (stage, expected) in cases {
            let item = "fn f(source: Stream<Click>, size: u8) -> Stream<Click>;";
            let messages = reported(&format!("source -> {stage}"), item);
            assert_eq!(messages.len(), 1, "{stage}: {messages:?}");
            assert!(messages[0].starts_with(expected), "{stage}: {}", messages[0]);
        }
    }

    #[test]
    fn one_mistake_of_an_aggregate_is_one_message() {
        let cases = [
            (
                "quantile(v, q = 0.5)",
                "`quantile` has no argument `q`\nhelp: the share from 0 to 1 has no name: `quantile(…, 0.5)`",
            ),
            ("quantile(v, 99)", "a quantile lies between 0 and 1\nhelp: `0.99`"),
            ("quantile(v, 1.5)", "a quantile lies between 0 and 1\nhelp: such as `0.99`; the median is `0.5`"),
            ("top(0, by = v)", "this is no number of events"),
            (
                "top(n = 3, by = v)",
                "`top` has no argument `n`\nhelp: the number stands in front, without a name: `top(3, …)`",
            ),
            ("top(3, v)", "`top` takes one argument without a name\nhelp: name it: `by = v`"),
            (
                "fold(0, |a, e| a + e.v, |a, b| a + b)",
                "`fold` takes 2 arguments without a name\nhelp: name it: `merge = |a, b| a + b`",
            ),
        ];
        for (aggregate, expected) in cases {
            let line = format!("source -> key_by(user) -> tumbling(10s, delay = 3s) -> {aggregate}");
            let messages = reported(&line, TOTALS);
            assert_eq!(messages.len(), 1, "{aggregate}: {messages:?}");
            assert!(messages[0].starts_with(expected), "{aggregate}: {}", messages[0]);
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
