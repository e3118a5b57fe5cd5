//! The rules that a pipeline has to keep, one function each. The rule stands above it.

use proc_macro2::{Ident, Span};
use syn::{ReturnType, Type};

use crate::duration::{Literal, spell};
use crate::errors::{Errors, SEVERAL_AGGREGATES, list};
use crate::facts::{Clock, Streams};
use crate::item::{Item, arguments_of, carried_by, referenced, returned, ungrouped};
use crate::model::{Flow, Model, Rest, Source, Stage};
use crate::spelling::type_text;
use crate::stages::{Carries, Kind, Lowering, Port, Shape};
use crate::values::{Emit, Value};

/// More windows for one event than this are refused, as by the runtime.
const MAX_WINDOWS_OF_AN_EVENT: i64 = 10_000;

/// Checks all rules, on as much as was understood.
pub(crate) fn check(streams: &Streams<'_>, errors: &mut Errors) {
    let (item, model) = (streams.item, streams.model);
    if errors.is_empty() {
        has_stages(model, errors);
    }
    let before = errors.count();
    names_are_unique(item, model, errors);
    let unique = errors.count() == before;
    splits_are_whole(model, errors);
    aggregates_make_something(streams, errors);
    let before = errors.count();
    stages_fit(streams, errors);
    let fit = errors.count() == before;
    durations_are_positive(model, errors);
    every_fits_size(model, errors);
    bounds_are_in_order(model, errors);
    returns_streams(item, errors);
    // What reads a stream may be what is not understood.
    let understood = model.is_understood();
    if understood && unique && !model.outputs().is_empty() {
        everything_is_read(streams, errors);
    }
    // What is missing may be in a stage that is not understood, or in the wrong place.
    if fit && understood {
        ttl_covers_windows(streams, errors);
        one_watermark(streams, errors);
        unions_fit(streams, errors);
        corrections_are_counted_once(streams, errors);
        late_events_go_somewhere(streams, errors);
        if model.one_line && errors.is_empty() {
            streams_of_a_line_are_returned(streams, errors);
        }
        outputs_fit_the_return_type(streams, errors);
        if errors.is_empty() {
            outputs_stand_in_order(streams, errors);
        }
    }
}

/// A pipeline has at least one stage: `source` alone does nothing.
fn has_stages(model: &Model, errors: &mut Errors) {
    let is_bare = model.flows.iter().all(|flow| flow.stages.is_empty() && !matches!(flow.source, Source::Union(..)));
    if let (true, Some(Source::Param(_, source))) = (is_bare, model.flows.first().map(|flow| &flow.source)) {
        errors.help(model.end, "a pipeline without stages does nothing", format!("`{source} -> filter(…)`"));
    }
}

/// A name stands for one stream or one stage: the state of a stage is found by it.
fn names_are_unique(item: &Item, model: &Model, errors: &mut Errors) {
    let mut known: Vec<&Ident> = Vec::new();
    for flow in &model.flows {
        let last = flow.stages.last().and_then(|stage| stage.name.as_ref());
        for name in flow.stages.iter().filter_map(|stage| stage.name.as_ref()) {
            if item.params.iter().any(|param| param.ident == *name) {
                let what = format!("`{name}` is a parameter of the function already");
                errors.help(name.span(), what, "give the stage another name");
            } else if known.contains(&name) {
                errors.help(name.span(), format!("two stages are named `{name}`"), "give each stage a name of its own");
            }
            known.push(name);
        }
        let Some(name) = &flow.name else { continue };
        if item.params.iter().any(|param| param.ident == *name) {
            // Of both names of one flow, once.
            if last != Some(name) {
                let what = format!("`{name}` is a parameter of the function already");
                errors.help(name.span(), what, "give the stream another name");
            }
        } else if known.contains(&name) && last != Some(name) {
            let what = format!("two streams or stages are named `{name}`");
            errors.help(name.span(), what, "give each a name of its own");
        }
        known.push(name);
    }
}

/// A `split` has branches, and says what becomes of what no branch takes.
fn splits_are_whole(model: &Model, errors: &mut Errors) {
    for (_, split) in model.stages().filter(|(_, stage)| stage.row.lowering == Lowering::Split) {
        let at = split.word.span();
        if split.branches.is_empty() {
            errors.help(at, "a `split` without branches", format!("`{}`", split.row.example));
        } else if split.rest == Rest::Unsaid {
            let help = "add `rest`, and read it as a port; or `rest = discard` to drop them on purpose";
            errors.help(at, "events that no branch takes have nowhere to go", help);
        }
    }
}

/// Aggregates with names make a struct: the one that the return type names, or one that is said.
fn aggregates_make_something(streams: &Streams<'_>, errors: &mut Errors) {
    for (place, stage) in streams.model.stages() {
        let Some(aggregates) = &stage.aggregates else { continue };
        let is_named = aggregates.entries.iter().all(|(name, _)| name.is_some());
        if is_named && aggregates.makes.is_none() && streams.struct_at(place).is_none() {
            let fields: Vec<_> = aggregates.entries.iter().filter_map(|(name, _)| name.as_ref()).collect();
            let fields: Vec<_> = fields.iter().map(|name| format!("{name}: …")).collect();
            errors.help(
                stage.word.span(),
                "aggregates with names make a struct, and nothing says which",
                format!(
                    "return `Stream<Pane<…, Totals>>`, or say it here: `aggregate(Totals {{ {} }})`",
                    fields.join(", ")
                ),
            );
        }
    }
}

/// `tumbling`, or `the second `tumbling`` where there is one before it.
fn shown(stage: &Stage, model: &Model) -> String {
    if stage.is_own() {
        return "the operator".to_owned();
    }
    let same: Vec<_> = model.stages().filter(|(_, other)| other.word == stage.word && other.row.is_window()).collect();
    let position = same.iter().position(|(_, other)| std::ptr::eq(*other, stage));
    match (same.len(), position) {
        (2.., Some(0)) => format!("the first `{}`", stage.word),
        (2.., Some(1)) => format!("the second `{}`", stage.word),
        (2.., Some(2)) => format!("the third `{}`", stage.word),
        _ => format!("`{}`", stage.word),
    }
}

/// Aggregates stand behind a window, windows behind a `key_by`, everything else behind a stream; and what goes out is a
/// stream.
fn stages_fit(streams: &Streams<'_>, errors: &mut Errors) {
    for (number, flow) in streams.model.flows.iter().enumerate() {
        let mut before: Option<&Stage> = None;
        // A stage in the wrong place does not end the flow as well.
        let mut is_misplaced = false;
        for (position, stage) in flow.stages.iter().enumerate() {
            let kind = streams.before((number, position)).kind;
            let behind = match (before, &flow.source) {
                (Some(before), _) => before.word.to_string(),
                (None, Source::Flow(_, name)) => name.to_string(),
                _ => String::new(),
            };
            let mistakes = errors.count();
            let results_of = before.filter(|before| before.row.takes == Kind::Windowed);
            match results_of {
                Some(aggregate) if kind == Kind::Stream && stage.row.takes == Kind::Windowed => {
                    errors.help(
                        stage.word.span(),
                        format!(
                            "`{}` has made a result of the window, so nothing is left for `{}`",
                            aggregate.word, stage.word
                        ),
                        SEVERAL_AGGREGATES,
                    );
                }
                _ => stage_fits(kind, &behind, stage, errors),
            }
            is_misplaced = errors.count() > mistakes;
            let passes_on = stage.row.takes == Kind::Stream && stage.row.gives == Kind::Stream;
            if kind == stage.row.takes || kind == Kind::Unknown || !passes_on {
                before = Some(stage);
            }
        }
        for (stage, source) in arguments(&flow.stages) {
            is_plain(streams, source, &format!("`{}` reads", stage.word), errors);
        }
        if let Source::Union(sources, word) = &flow.source {
            sources.iter().for_each(|source| is_plain(streams, source, &format!("`{word}` takes"), errors));
        }
        if flow.name.is_none() && !is_misplaced {
            ends_in_a_stream(streams, number, before, errors);
        }
    }
}

/// The streams that stages name.
fn arguments(stages: &[Stage]) -> impl Iterator<Item = (&Stage, &Source)> {
    stages.iter().flat_map(|stage| {
        stage.positional.iter().filter_map(move |value| match value {
            Value::Input(source) => Some((stage, source)),
            _ => None,
        })
    })
}

fn stage_fits(kind: Kind, behind: &str, stage: &Stage, errors: &mut Errors) {
    let word = if stage.is_own() { "the operator".to_owned() } else { format!("`{}`", stage.word) };
    let plain = &stage.word;
    let at = stage.word.span();
    let example = stage.row.example;
    match (kind, stage.row.takes) {
        (kind, takes) if kind == takes || kind == Kind::Unknown || takes == Kind::Unknown => {}
        (Kind::Parts, _) => errors.help(
            at,
            format!("{word} cannot follow `split`: a stream that is split is read by its parts"),
            format!("give it a name, `let parts = … -> split {{ … }};`, and read `parts.rest -> {example}`"),
        ),
        (Kind::Stream, Kind::Windowed) if plain == "distinct" => errors.help(
            at,
            "`distinct` counts the values in a window, and there is none in front of it",
            "to let each event pass once: `dedup(event_id)`; to count: `-> key_by(user) -> tumbling(10s, delay = 3s) -> distinct(page)`",
        ),
        (Kind::Stream, Kind::Windowed) => errors.help(
            at,
            format!("{word} needs a window in front of it"),
            format!("`-> key_by(user) -> tumbling(10s, delay = 3s) -> {example}`"),
        ),
        (Kind::Keyed, Kind::Windowed) => errors.help(
            at,
            format!("{word} needs a window between it and `{behind}`"),
            format!("`-> tumbling(10s, delay = 3s) -> {example}`"),
        ),
        (Kind::Stream, Kind::Keyed) => errors.help(
            at,
            format!("{word} needs a `key_by` in front of it"),
            format!("`-> key_by(user) -> {example}`"),
        ),
        (Kind::Windowed, _) if stage.is_own() => errors.help(
            at,
            format!("an operator cannot follow `{behind}`: a window waits for an aggregate"),
            "put an aggregate such as `sum(value)` between them",
        ),
        (Kind::Windowed, Kind::Keyed) => errors.help(
            at,
            format!("two windows in a row: `{behind}` has to give a result before {word} can take it"),
            format!("put an aggregate such as `sum(value)` and a `key_by` between them, or take `{behind}` out"),
        ),
        (Kind::Keyed, _) if plain == "key_by" => errors.help(
            at,
            "two keys in a row: the second takes the place of the first",
            "name all fields in one: `key_by(user, country)`",
        ),
        (Kind::Windowed, _) if plain == "key_by" => errors.help(
            at,
            format!("`key_by` cannot follow `{behind}`: a window waits for an aggregate"),
            "put an aggregate such as `sum(value)` between them",
        ),
        (Kind::Keyed, _) if stage.row.waits_for_watermark() => errors.help(
            at,
            format!("{word} has its key in `on`, and `{behind}` is in front of it"),
            format!("take `{behind}` out: `{example}`"),
        ),
        (Kind::Keyed, _) if stage.is_own() => errors.help(
            at,
            format!("{word} cannot follow `{behind}`: over keys it is a `KeyedOperator`"),
            "`-> process(my_ops::Alert::new())`",
        ),
        (Kind::Keyed, _) => errors.help(
            at,
            format!("{word} cannot follow `{behind}`: a keyed stream waits for a window"),
            format!("put {word} in front of `{behind}`, or a window and an aggregate between them"),
        ),
        (_, _) => errors.help(
            at,
            format!("{word} cannot follow `{behind}`: a window waits for an aggregate"),
            format!("put {word} in front of the `key_by`, or an aggregate such as `sum(value)` between them"),
        ),
    }
}

/// Reports a stream that is keyed, windowed or split where a plain one is needed.
fn is_plain(streams: &Streams<'_>, source: &Source, who: &str, errors: &mut Errors) {
    let (Source::Flow(_, name), kind) = (source, streams.at(source).kind) else { return };
    let (what, help) = match kind {
        Kind::Stream | Kind::Unknown => return,
        Kind::Keyed => ("keyed", format!("take the `key_by` out of `{name}`")),
        Kind::Windowed => ("cut into windows", format!("put an aggregate behind it: `let {name} = … -> count();`")),
        Kind::Parts => ("split", format!("name one of its parts: `{name}.rest`")),
    };
    errors.help(name.span(), format!("{who} a plain stream, and `{name}` is {what}"), help);
}

fn ends_in_a_stream(streams: &Streams<'_>, flow: usize, last: Option<&Stage>, errors: &mut Errors) {
    let Some(written) = streams.model.flows.get(flow) else { return };
    let (at, name) = match (last, &written.source) {
        (Some(last), _) => (last.word.span(), last.word.to_string()),
        (None, Source::Flow(_, name)) => (name.span(), name.to_string()),
        (None, _) => return,
    };
    let (what, help) = match streams.end(flow).kind {
        Kind::Stream | Kind::Unknown => return,
        Kind::Keyed => ("a keyed stream waits for a window", "add `-> tumbling(10s, delay = 3s) -> sum(value)`"),
        Kind::Windowed => ("a window waits for an aggregate", "add `-> sum(value)`"),
        Kind::Parts => (
            "a stream that is split is read by its parts",
            "`{ let parts = … -> split { … }; (parts.large, parts.rest) }`",
        ),
    };
    errors.help(at, format!("nothing follows `{name}`: {what}"), help);
}

/// Sizes, gaps, steps and ttl are greater than zero.
fn durations_are_positive(model: &Model, errors: &mut Errors) {
    for (_, stage) in model.stages() {
        let mut check = |what: &str, shape: Shape, literal: Option<&Literal>| {
            if let Some(literal) = literal.filter(|literal| literal.micros == 0 && shape == Shape::PositiveDuration) {
                errors.help(literal.span, format!("{what} must be greater than zero"), "such as `10s`");
            }
        };
        for (positional, value) in stage.row.positional.iter().zip(&stage.positional) {
            check(positional.what, positional.shape, value.literal());
        }
        for (name, value) in &stage.named {
            if let Some(named) = stage.row.named.iter().find(|named| name == named.name) {
                check(&format!("`{name}`"), named.shape, value.literal());
            }
            if let Value::Emit(Emit::Every(_, step)) = value {
                check("the step of `every`", Shape::PositiveDuration, step.literal());
            }
        }
    }
}

/// A sliding window starts at least once each size, and an event is in no more than 10,000 windows.
fn every_fits_size(model: &Model, errors: &mut Errors) {
    for (_, stage) in model.stages() {
        let size = stage.size().and_then(|size| size.literal());
        let every = stage.duration("every").and_then(|every| every.literal());
        let (Some(size), Some(every)) = (size, every) else { continue };
        if every.micros == 0 || size.micros == 0 {
            continue;
        }
        let windows = size.micros / every.micros + i64::from(size.micros % every.micros != 0);
        if size.micros < every.micros {
            errors.help(
                every.span,
                format!("`every` is longer than the window size `{}`: events between windows would be lost", size.text),
                format!("at most `every = {}`", size.text),
            );
        } else if windows > MAX_WINDOWS_OF_AN_EVENT {
            let least = size.micros / MAX_WINDOWS_OF_AN_EVENT + i64::from(size.micros % MAX_WINDOWS_OF_AN_EVENT != 0);
            errors.help(
                every.span,
                format!(
                    "each event would be in {windows} windows (size `{}`, every `{}`), and the limit is {MAX_WINDOWS_OF_AN_EVENT}",
                    size.text, every.text
                ),
                format!("at least `every = {}`", spell(least)),
            );
        }
    }
}

/// The bounds of a join leave room for a pair.
fn bounds_are_in_order(model: &Model, errors: &mut Errors) {
    for (_, stage) in model.stages() {
        let Some((name, Value::Within(lower, upper))) = stage.argument("within") else { continue };
        if let (Some(lower), Some(upper)) = (lower.micros(), upper.micros())
            && upper < lower
        {
            let [lower, upper] = [lower, upper].map(|micros| {
                let sign = if micros < 0 { "-" } else { "" };
                format!("{sign}{}", spell(micros.saturating_abs()))
            });
            let what = format!("no two rows lie from {lower} to {upper} apart");
            errors.help(name.span(), what, format!("the smaller bound first: `within = {upper}..={lower}`"));
        }
    }
}

/// The return type is made of streams, by value.
fn returns_streams(item: &Item, errors: &mut Errors) {
    let ReturnType::Type(_, output) = &item.sig.output else { return };
    let of = match ungrouped(output) {
        Type::Tuple(tuple) => tuple.elems.iter().collect(),
        ty => vec![ty],
    };
    for ty in of {
        if let Some(by_value) = referenced(ty).filter(|ty| carried_by(ty).is_some()) {
            errors.help_on(ty, "a pipeline gives its streams by value", format!("`{}`", type_text(by_value)));
        }
    }
}

/// Each stream is read: a parameter, what a `let` names, and each part of a `split`.
fn everything_is_read(streams: &Streams<'_>, errors: &mut Errors) {
    let model = streams.model;
    let is_empty = |source: &Source| matches!(source, Source::Union(sources, _) if sources.is_empty());
    if model.flows.iter().any(|flow| is_empty(&flow.source)) {
        return;
    }
    for (number, param) in streams.item.params.iter().enumerate().filter(|(_, param)| param.carries.is_some()) {
        if streams.reads(|source| matches!(source, Source::Param(read, _) if *read == number)) == 0 {
            let what = format!("nothing reads `{}`", param.ident);
            let help = if model.one_line {
                "take the parameter out, or read it: `union(a, b) -> …`, `-> join(b, …)`, or flows in braces"
            } else {
                "take the parameter out, or start a flow with it"
            };
            errors.help(param.ident.span(), what, help);
        }
    }
    for (number, flow) in model.flows.iter().enumerate() {
        let Some(name) = &flow.name else { continue };
        let kind = streams.end(number).kind;
        let reads = streams.reads(|source| matches!(source, Source::Flow(read, _) if *read == number));
        let of_ports = streams.reads(|source| matches!(source, Source::Port(port, _) if port.flow == number));
        if kind == Kind::Parts {
            parts_are_read(streams, number, name, errors);
        } else if reads == 0 && of_ports == 0 {
            errors.help(
                name.span(),
                format!("nothing reads `{name}`"),
                "let it go out, feed a flow with it, or take it out",
            );
        } else if reads == 0 {
            let what = format!("nothing reads `{name}` itself, only what leaves by its ports");
            let result = match kind {
                Kind::Keyed => format!("{name} -> tumbling(10s) -> count()"),
                Kind::Windowed => format!("{name} -> count()"),
                _ => name.to_string(),
            };
            errors.help(name.span(), what, format!("let it go out as well: `({result}, …)`"));
        }
    }
}

fn parts_are_read(streams: &Streams<'_>, flow: usize, name: &Ident, errors: &mut Errors) {
    let Some(stages) = streams.model.flows.get(flow).map(|flow| &flow.stages) else { return };
    let Some((position, split)) = stages.iter().enumerate().next_back() else { return };
    let is_mistaken =
        |part: &str| split.branches.iter().any(|(name, condition)| name == part && matches!(condition, Value::Mistake));
    for part in split.port_names() {
        if streams.reads_of_port((flow, position), &part) == 0 && !is_mistaken(&part) {
            let at = split.branches.iter().find(|(branch, _)| *branch == part).map(|(branch, _)| branch.span());
            let at = match &split.rest {
                Rest::Port(rest) if *rest == part => rest.span(),
                _ => at.unwrap_or_else(|| split.word.span()),
            };
            let help = match part.as_str() {
                "rest" => format!("read `{name}.rest`, or drop it on purpose: `rest = discard`"),
                _ => format!("read `{name}.{part}`, or take the branch out"),
            };
            errors.help(at, format!("nothing reads `{name}.{part}`"), help);
        }
    }
}

/// An id is remembered as long as what stands behind can take a copy: for a window that is its size plus lateness. Left
/// out, the ttl is that; where none follows it has to be stated. Only the first window on each way counts: behind its
/// aggregate there are no copies.
fn ttl_covers_windows(streams: &Streams<'_>, errors: &mut Errors) {
    for ((flow, position), stage) in streams.model.stages().filter(|(_, stage)| stage.word == "dedup") {
        let keepers = streams.keepers_behind((flow, position + 1));
        let goes_out = keepers.iter().any(Option::is_none);
        let windows: Vec<_> = keepers.iter().copied().flatten().filter(|keeper| keeper.row.is_window()).collect();
        let endless = windows.iter().find(|window| window.word == "session" || window.word == "global");
        let ttl = stage.argument("ttl").map(|(_, ttl)| ttl);
        let help = "`ttl = 1h`, for as long as copies may come";
        let Some(ttl) = ttl else {
            let what = match endless {
                None if keepers.iter().all(Option::is_none) => "no window behind it says for how long copies matter",
                None if goes_out => {
                    "some of its events go out without a window, where nothing says for how long copies matter"
                }
                None => continue,
                Some(window) if window.word == "global" => {
                    "a global window stays open for ever, so none follows from it"
                }
                Some(_) => "a session may stay open for ever, so none follows from it",
            };
            errors.help(stage.word.span(), format!("`dedup` needs a ttl here: {what}"), help);
            continue;
        };
        let needed = windows.iter().filter(|window| !(window.word == "session" || window.word == "global")).filter_map(
            |window| {
                let lateness =
                    window.argument("lateness").map_or(Some(0), |(_, late)| late.literal().map(|late| late.micros))?;
                let size = window.size()?.literal()?.micros;
                Some((size.saturating_add(lateness), *window))
            },
        );
        let (Some((needed, window)), Some(ttl)) = (needed.max_by_key(|(needed, _)| *needed), ttl.literal()) else {
            continue;
        };
        // That zero is none is said already.
        if ttl.micros != 0 && ttl.micros < needed {
            let needed = spell(needed);
            let window = shown(window, streams.model);
            errors.help(
                ttl.span,
                format!("ids are forgotten after `{}`, but {window} takes copies for {needed}", ttl.text),
                format!("`ttl = {needed}`, or leave it out"),
            );
        }
    }
}

/// A stream has one watermark: from a `watermark` stage, or from `delay` on the window, which is short for it. Results
/// bring theirs.
fn one_watermark(streams: &Streams<'_>, errors: &mut Errors) {
    for (place, stage) in streams.model.stages() {
        let clock = streams.before(place).clock;
        if stage.row.lowering == Lowering::Watermark {
            let is_upstream = matches!(stage.positional.first(), Some(Value::Word(_)));
            if let Clock::Made(first) = clock {
                let what = format!("the stream has a watermark already, from `{}`", first.word);
                errors.help(stage.word.span(), what, "take one of the two out");
            }
            if stage.positional.is_empty() && stage.argument("delay").is_none() {
                errors.help(stage.word.span(), "`watermark` needs `delay = …`", "`watermark(delay = 3s)`");
            }
            if let (true, Some((name, _))) = (is_upstream, stage.named.first()) {
                let what = format!("`{name}` does not go with `upstream`: the watermark is made by somebody else");
                errors.help(name.span(), what, "`watermark(upstream)`");
            }
        } else if stage.row.is_window() {
            delay_fits(streams, place, stage, clock, errors);
            let is_keyed_elsewhere = place.1 == 0
                && matches!(streams.model.flows.get(place.0).map(|flow| &flow.source), Some(Source::Flow(..)));
            window_has_watermark(stage, clock, is_keyed_elsewhere, errors);
        } else if let Some(Value::Input(other)) = stage.positional.first() {
            sides_have_watermarks(streams, stage, [clock, streams.at(other).clock], errors);
        } else if stage.row.waits_for_watermark() {
            delay_fits(streams, place, stage, clock, errors);
            if clock.is_none() && stage.argument("delay").is_none() {
                let word = shown(stage, streams.model);
                errors.help(
                    stage.word.span(),
                    format!("nothing would ever leave {word}: the stream in front of it has no watermark"),
                    "put `-> watermark(delay = 3s)` in front of the `key_by`: events come at most 3s behind the newest",
                );
            }
        }
    }
}

/// A join needs a watermark on each of its sides; `delay` makes one for those that have none.
fn sides_have_watermarks(streams: &Streams<'_>, stage: &Stage, sides: [Clock<'_>; 2], errors: &mut Errors) {
    let delay = stage.argument("delay");
    if let Some((name, Value::Duration(_))) = delay
        && !sides.iter().any(|side| side.is_none())
    {
        let what = "`delay` is short for a `watermark` stage in front, and both streams have one";
        errors.help(name.span(), what, "take `delay` out");
    }
    let which = match (sides, delay) {
        (_, Some(_)) => return,
        ([Clock::None, Clock::None], _) => "neither of its streams has a watermark",
        ([_, Clock::None], _) => "the stream that it reads has no watermark",
        ([Clock::None, _], _) => "the stream in front of it has no watermark",
        _ => return,
    };
    errors.help(
        stage.word.span(),
        format!("nothing would ever leave {}: {which}", shown(stage, streams.model)),
        format!(
            "`{}(…, delay = 3s)`: events come at most 3s behind the newest; or `-> watermark(delay = 3s)` in front",
            stage.word
        ),
    );
}

/// `delay` stands for a watermark in front of the `key_by`, where there is none yet.
fn delay_fits(
    streams: &Streams<'_>,
    (flow, position): (usize, usize),
    stage: &Stage,
    clock: Clock<'_>,
    errors: &mut Errors,
) {
    let Some((name, Value::Duration(_))) = stage.argument("delay") else { return };
    if let Clock::Made(first) = clock {
        let what = format!("`delay` is short for a `watermark` stage, and there is one, from `{}`", first.word);
        errors.help(name.span(), what, "take one of the two out");
    } else if position == 0 && matches!(streams.model.flows.get(flow).map(|flow| &flow.source), Some(Source::Flow(..)))
    {
        let what = "`delay` stands for a `watermark` in front of the `key_by`, and that is in another flow";
        errors.help(name.span(), what, "put `-> watermark(delay = …)` in front of the `key_by`");
    }
}

/// A window that no watermark reaches never fires.
fn window_has_watermark(stage: &Stage, clock: Clock<'_>, is_keyed_elsewhere: bool, errors: &mut Errors) {
    if !clock.is_none() || stage.argument("delay").is_some() {
        return;
    }
    let what =
        "no watermark reaches this window, so it would never fire: nothing says how far out of order events come";
    if is_keyed_elsewhere {
        let help = "put `-> watermark(delay = 3s)` in front of the `key_by`: events come at most 3s behind the newest";
        errors.help(stage.word.span(), what, help);
        return;
    }
    let size = stage.positional.first().map(|value| value.to_text());
    let every = stage.argument("every").map(|(_, every)| format!("every = {}", every.to_text()));
    let emit = stage.argument("emit").filter(|_| stage.word == "global").map(|_| "emit = …".to_owned());
    let arguments: Vec<_> = size.into_iter().chain(every).chain(emit).chain(["delay = 3s".to_owned()]).collect();
    let help = format!(
        "`{}({})`: events come at most 3s behind the newest; or `watermark(upstream)` in front, if the stream brings its own",
        stage.word,
        arguments.join(", ")
    );
    errors.help(stage.word.span(), what, help);
}

/// A union has two inputs or more, and either all of them have a watermark or none.
fn unions_fit(streams: &Streams<'_>, errors: &mut Errors) {
    let unions = streams
        .model
        .flows
        .iter()
        .flat_map(|flow| std::iter::once(&flow.source).chain(arguments(&flow.stages).map(|(_, source)| source)));
    for union in unions {
        let Source::Union(sources, word) = union else { continue };
        match sources.as_slice() {
            [] => errors.help(word.span(), "a `union` of nothing", "`union(a, b)`"),
            [one] => {
                let name = source_text(one);
                errors.help(word.span(), "a `union` of one stream is that stream", format!("`{name} -> …`"));
            }
            _ => {}
        }
        let without = sources.iter().find(|source| matches!(streams.at(source).clock, Clock::None));
        let with = sources.iter().find(|source| matches!(streams.at(source).clock, Clock::Made(_) | Clock::Brought));
        if let (Some(without), Some(with)) = (without, with) {
            let (without, with) = (without, source_text(with));
            let name = source_text(without);
            errors.help(
                source_span(without),
                format!("`{with}` has a watermark, and `{name}` has none"),
                format!("put `-> watermark(delay = 3s)` behind `{name}`; or behind the `union`, and nowhere before it"),
            );
        }
    }
}

/// A stream as its user wrote it.
fn source_text(source: &Source) -> String {
    match source {
        Source::Param(_, name) | Source::Flow(_, name) => name.to_string(),
        Source::Port(port, name) => format!("{name}.{}", port.port),
        Source::Union(..) => "union(…)".to_owned(),
        Source::Unknown => "…".to_owned(),
    }
}

fn source_span(source: &Source) -> Span {
    match source {
        Source::Param(_, name) | Source::Flow(_, name) | Source::Port(_, name) | Source::Union(_, name) => name.span(),
        Source::Unknown => Span::call_site(),
    }
}

/// A window, a join or an operator over keys does not count results that may still be corrected.
fn corrections_are_counted_once(streams: &Streams<'_>, errors: &mut Errors) {
    for (place, stage) in streams.model.stages() {
        if !stage.row.is_window() && !stage.row.waits_for_watermark() {
            continue;
        }
        let other = stage.positional.first().and_then(|value| match value {
            Value::Input(source) => streams.at(source).corrected,
            _ => None,
        });
        let Some(first) = streams.before(place).corrected.or(other) else { continue };
        let settings: Vec<_> = ["lateness", "emit"].into_iter().filter(|name| first.argument(name).is_some()).collect();
        let (first, second) = (shown(first, streams.model), shown(stage, streams.model));
        errors.help(
            stage.word.span(),
            format!("the results of {first} can be corrected, and {second} would count each correction beside what it corrects"),
            format!("leave {} out of {first}", list(settings)),
        );
    }
}

/// Late events leave by a stream of the return type, or are discarded on purpose.
fn late_events_go_somewhere(streams: &Streams<'_>, errors: &mut Errors) {
    let model = streams.model;
    let is_mistaken = |stage: &Stage| matches!(stage.argument("late"), Some((_, Value::Mistake)));
    if model.stages().next().is_none() || model.stages().any(|(_, stage)| is_mistaken(stage)) {
        return;
    }
    if model.one_line {
        return late_streams_are_returned(streams, errors);
    }
    for (place, stage) in model.stages() {
        let is_unread = |port: &&Port| streams.reads_of_port(place, port.name) == 0;
        let (if_said, late): (Vec<_>, Vec<_>) = stage
            .ports()
            .filter(|port| port.carries != Carries::Optional)
            .filter(is_unread)
            .partition(|port| port.carries == Carries::IfSaid);
        let flow = model.flows.get(place.0).and_then(|flow| flow.name.as_ref());
        let name = stage.name.as_ref().or(flow).map_or("w".to_owned(), ToString::to_string);
        let word = shown(stage, model);
        let mut report = |unread: &[&Port], what: String, drop: &str| {
            let ports = list(unread.iter().map(|port| format!("{name}.{}", port.name)));
            let read = match stage.name.as_ref().or(flow) {
                Some(_) => format!("read {ports}"),
                None => format!("give the stage a name with `as w`, and read {ports}"),
            };
            errors.help(stage.word.span(), what, format!("{read}, or drop them on purpose: {drop}"));
        };
        if !late.is_empty() {
            let what = format!("events that come too late for {word} have nowhere to go");
            report(&late, what, if stage.is_own() { "`process(…, late = discard)`" } else { "`late = discard`" });
        }
        if !if_said.is_empty() {
            let what = format!("events that {word} finds nothing for have nowhere to go");
            report(&if_said, what, "`missing = discard`");
        }
    }
}

fn late_streams_are_returned(streams: &Streams<'_>, errors: &mut Errors) {
    let (item, model) = (streams.item, streams.model);
    let ReturnType::Type(_, output) = &item.sig.output else { return };
    let Some(returned) = returned(output) else { return };
    let is_late = |ty: &&Type| carried_by(ty).is_some_and(|carried| arguments_of(carried, "Late").is_some());
    let late: Vec<_> = returned.iter().copied().filter(is_late).collect();
    let ports: Vec<_> = model
        .stages()
        .flat_map(|(place, stage)| stage.ports().filter(|port| port.is_late()).map(move |port| (place, stage, port)))
        .collect();
    // An alias may be a stream of late events under another name: that is for the compiler.
    let is_alias = |ty: &&&Type| matches!(ungrouped(ty), Type::Path(_)) && carried_by(ty).is_none();
    let aliases = returned.iter().skip(1).filter(is_alias).count();
    if late.len() + aliases < ports.len() {
        let Some((_, stage, port)) = ports.get(late.len()) else { return };
        let results = returned.first().map_or("Stream<…>".to_owned(), |ty| type_text(ungrouped(ty)));
        let carried = ports.iter().skip(late.len()).map(|(place, stage, port)| {
            let carried = match stage.positional.first() {
                Some(Value::Input(other)) if port.carries == Carries::LateOther => streams.at(other).carries,
                _ => streams.before(*place).carries,
            };
            format!(", Stream<Late<{}>>", carried.map_or("…".to_owned(), type_text))
        });
        let missing: String = carried.collect();
        let already: String = late.iter().map(|ty| format!(", {}", type_text(ty))).collect();
        let word = shown(stage, model);
        let (events, side) = match port.name {
            "late_left" => ("events", " on its left side"),
            "late_right" => ("events", " on its right side"),
            "late_versions" => ("versions of the table", ""),
            _ => ("events", ""),
        };
        let discard = match stage.is_own() {
            true => "`process(…, late = discard)`".to_owned(),
            false => format!("`late = discard` in {word}"),
        };
        errors.help_on(
            output,
            format!("{events} that come too late for {word}{side} have nowhere to go"),
            format!("return `({results}{already}{missing})`, or drop them on purpose: {discard}"),
        );
    } else if let Some(extra) = late.get(ports.len()) {
        let discards = model.stages().map(|(_, stage)| stage).find(|stage| stage.discards_late());
        let (what, help) = match discards {
            Some(stage) => (
                format!("no late events come out: `{}` discards them", stage.word),
                "take `late = discard` out, or this stream",
            ),
            None => ("no late events come out: there is no window for them".to_owned(), "take this stream out"),
        };
        errors.help_on(extra, what, help);
    }
}

/// The return type of a line has its results, and behind them what its stages wire to it.
fn streams_of_a_line_are_returned(streams: &Streams<'_>, errors: &mut Errors) {
    let ReturnType::Type(_, output) = &streams.item.sig.output else { return };
    let Some(returned) = returned(output) else { return };
    let count = 1 + streams.model.wired().count();
    if returned.len() < count
        && let Some((place, _)) = streams.model.wired().find(|(_, port)| port.carries == Carries::IfSaid)
        && let Some(stage) = streams.stage(place)
    {
        let carried = streams.before(place).carries.map_or("…".to_owned(), type_text);
        errors.help_on(
            output,
            format!("events that {} finds nothing for have nowhere to go", shown(stage, streams.model)),
            format!("return a `Stream<{carried}>` for them as well, or drop them on purpose: `missing = discard`"),
        );
    } else if returned.len() != count {
        let late = if count > 1 { ": its results, and what its stages could not use" } else { "" };
        errors.help_on(
            output,
            format!(
                "{} in the return type, and {} out of this line{late}",
                counted(returned.len(), "stream"),
                goes(count, "stream")
            ),
            "several flows go out in braces: `#[pipeline({ (a -> …, b -> …) })]`",
        );
    }
}

/// `1 stream`, `2 streams`
fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// `1 stream goes`, `2 streams go`
fn goes(count: usize, what: &str) -> String {
    format!("{} {}", counted(count, what), if count == 1 { "goes" } else { "go" })
}

/// As many streams go out as the return type has.
fn outputs_fit_the_return_type(streams: &Streams<'_>, errors: &mut Errors) {
    let (item, model) = (streams.item, streams.model);
    let ReturnType::Type(_, output) = &item.sig.output else { return };
    let Some(returned) = returned(output).filter(|_| !model.one_line && !model.outputs().is_empty()) else { return };
    if returned.len() != model.outputs().len() {
        errors.help_on(
            output,
            format!(
                "{} in the return type, and {} out",
                counted(returned.len(), "stream"),
                goes(model.outputs().len(), "flow")
            ),
            "the return type has one stream for each flow that goes out, in their order",
        );
    }
}

/// Results go out where the return type has `Stream<Pane<…>>`, late events where it has `Stream<Late<…>>`.
fn outputs_stand_in_order(streams: &Streams<'_>, errors: &mut Errors) {
    let ReturnType::Type(_, output) = &streams.item.sig.output else { return };
    let mut gives: Vec<_> = streams.model.outputs().iter().map(|flow| wrapper_of(streams.model, flow)).collect();
    gives.extend(streams.model.wired().map(|(_, port)| Some("Late").filter(|_| port.is_late())));
    let says = |ty: &Type| {
        let carried = carried_by(ty)?;
        ["Pane", "Late"].into_iter().find(|name| arguments_of(carried, name).is_some())
    };
    for (ty, gives) in returned(output).unwrap_or_default().into_iter().zip(gives) {
        let (what, help) = match (gives, says(ty)) {
            (Some("Late"), Some("Pane")) => ("late events go out here, and this is a stream of results", "Late"),
            (Some("Pane"), Some("Late")) => ("results go out here, and this is a stream of late events", "Pane"),
            _ => continue,
        };
        let help = format!("`Stream<{help}<…>>`: the types stand in the order of what goes out");
        return errors.help_on(ty, what, help);
    }
}

/// `Pane` for results, `Late` for late events.
fn wrapper_of(model: &Model, flow: &Flow) -> Option<&'static str> {
    match (flow.stages.last(), &flow.source) {
        (Some(last), _) => Some("Pane").filter(|_| last.row.takes == Kind::Windowed),
        (None, Source::Port(port, _)) => {
            let stage = model.flows.get(port.flow)?.stages.get(port.stage)?;
            Some("Late").filter(|_| stage.port(&port.port).is_some_and(|port| port.is_late()))
        }
        (None, Source::Flow(number, _)) => wrapper_of(model, model.flows.get(*number)?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::pipeline::tests::reported;

    const TOTALS: &str = "fn totals(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);";
    const RESULTS: &str = "fn totals(source: Stream<Click>) -> Stream<Pane<String, i64>>;";

    /// Each of these lines has one mistake, and this is the start of its message.
    fn check(item: &str, cases: &[(&str, &str)]) {
        for (line, expected) in cases {
            let messages = reported(line, item);
            assert_eq!(messages.len(), 1, "{line}: {messages:?}");
            assert!(messages[0].starts_with(expected), "{line}: {}", messages[0]);
        }
    }

    #[test]
    fn what_stands_between_stages_is_one_mistake() {
        let behind = "key_by(user) -> tumbling(10s, delay = 3s) -> sum(value)";
        for (front, expected) in [
            ("-> source ->", "nothing stands in front of this `->`"),
            ("source -> ->", "nothing stands behind this `->`"),
            ("source |", "expected `->`, found `|`"),
            ("source.late ->", "`source` is a parameter, and has no ports"),
            ("source -> filter(active) |", "expected `->`, found `|`"),
            ("source", "expected `->`, found `key_by`"),
        ] {
            check(TOTALS, &[(&format!("{front} {behind}"), expected)]);
        }
    }

    #[test]
    fn stages_fit() {
        check(
            TOTALS,
            &[
                ("source", "a pipeline without stages does nothing\nhelp: `source -> filter(…)`"),
                ("source -> sum(value)", "`sum` needs a window in front of it\nhelp: `-> key_by(user) -> tumbling("),
                ("source -> key_by(user) -> sum(value)", "`sum` needs a window between it and `key_by`"),
                ("source -> tumbling(10s, delay = 3s) -> sum(value)", "`tumbling` needs a `key_by` in front of it"),
                (
                    "source -> key_by(user) -> tumbling(10s, delay = 3s) -> session(5s) -> sum(value)",
                    "two windows in a row: `tumbling` has to give a result before `session` can take it",
                ),
                (
                    "source -> key_by(user) -> tumbling(10s, delay = 3s) -> filter(active) -> sum(value)",
                    "`filter` cannot follow `tumbling`: a window waits for an aggregate",
                ),
                (
                    "source -> key_by(user) -> tumbling(10s, delay = 3s)",
                    "nothing follows `tumbling`: a window waits for an aggregate",
                ),
                ("source -> key_by(user)", "nothing follows `key_by`: a keyed stream waits for a window"),
                (
                    "source -> key_by(user) -> map(value) -> tumbling(10s, delay = 3s) -> sum(value)",
                    "`map` cannot follow `key_by`: a keyed stream waits for a window",
                ),
                ("source -> key_by(a) -> key_by(b) -> tumbling(10s, delay = 3s) -> sum(value)", "two keys in a row"),
                (
                    "source -> filter(active) as a -> key_by(b) -> tumbling(10s, delay = 3s) as a -> sum(value)",
                    "two stages are named `a`",
                ),
            ],
        );
    }

    #[test]
    fn a_stage_in_the_wrong_place_is_one_mistake() {
        let front = "source -> key_by(user) -> tumbling(10s, delay = 3s) ->";
        for (stages, expected) in [
            ("filter(active)", "`filter` cannot follow `tumbling`: a window waits for an aggregate"),
            ("my::Op::new()", "an operator cannot follow `tumbling`: a window waits for an aggregate"),
            ("sum(value) -> count()", "`sum` has made a result of the window, so nothing is left for `count`"),
            ("aggregate(sum)", "an aggregate is written with its arguments"),
            ("sum(value) as source", "`source` is a parameter of the function already"),
        ] {
            check(TOTALS, &[(format!("{front} {stages}").as_str(), expected)]);
        }
        let item = "fn f(source: Stream<Click>) -> Stream<Click>;";
        check(
            item,
            &[
                (
                    "source -> distinct(id)",
                    "`distinct` counts the values in a window, and there is none in front of it",
                ),
                ("source -> key_by(id) -> operator(op)", "the operator cannot follow `key_by`: over keys it is a"),
                (
                    "{ let k = source -> key_by(id); k -> tumbling(1m, late = discard) -> count() }",
                    "no watermark reaches this window, so it would never fire: nothing says how far out of order events \
                     come\nhelp: put `-> watermark(delay = 3s)` in front of the `key_by`",
                ),
            ],
        );
    }

    #[test]
    fn splits_are_whole() {
        let item = "fn f(source: Stream<Click>) -> (Stream<Click>, Stream<Click>);";
        for (branches, expected) in [
            ("a: f", "events that no branch takes have nowhere to go"),
            ("a: f, rest = discard", "nothing leaves by `p.rest`: `split` discards what no branch takes"),
            ("a: f, rest: g", "`rest` is what no branch takes, and has no condition\nhelp: `rest`"),
            ("a: f, rest: discard", "`rest` is what no branch takes, and has no condition\nhelp: `rest = discard`"),
            ("a: f, _", "what no branch takes is `rest`"),
            ("a, rest", "a condition is missing behind `a`"),
        ] {
            let line = format!("{{ let p = source -> split {{ {branches} }}; (p.a, p.rest) }}");
            check(item, &[(line.as_str(), expected)]);
        }
    }

    #[test]
    fn parts_may_have_the_names_of_ports() {
        let item = "fn f(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Click>);";
        let line = |ttl: &str, part: &str| {
            format!(
                "{{ let p = source -> dedup(id, ttl = {ttl}) -> split {{ {part}: f, rest }}; \
                 (p.{part} -> key_by(user) -> tumbling(10s, delay = 1s, late = discard) -> sum(value), p.rest) }}"
            )
        };
        for part in ["late", "rejected", "duplicates", "missing"] {
            assert_eq!(reported(&line("10s", part), item), [] as [&str; 0], "{part}");
            check(item, &[(line("1s", part).as_str(), "ids are forgotten after `1s`")]);
        }
    }

    #[test]
    fn what_goes_out_is_in_the_return_type() {
        let results = "source -> key_by(user) -> tumbling(10s, delay = 3s) -> sum(value)";
        let swapped = "fn f(source: Stream<Click>) -> (Stream<Late<Click>>, Stream<Pane<String, i64>>);";
        check(swapped, &[(results, "results go out here, and this is a stream of late events")]);
        let named = format!("{{ let w = {results}; (w.late, w) }}");
        assert_eq!(reported(&named, swapped), [] as [&str; 0]);
        check(TOTALS, &[(named.as_str(), "late events go out here, and this is a stream of results")]);
        check(
            "fn f(source: Stream<Click>) -> (Stream<Click>, Stream<Click>);",
            &[("source -> filter(a)", "2 streams in the return type, and 1 stream goes out of this line")],
        );
        let line = "source -> enrich(users, on = user, missing = port, delay = 3s, late = discard)";
        let item =
            |more: &str| format!("fn f(source: Stream<Click>, users: Stream<User>) -> (Stream<(Click, User)>{more});");
        assert_eq!(reported(line, &item(", Stream<Click>")), [] as [&str; 0]);
        check(
            "fn f(source: Stream<Click>, users: Stream<User>) -> Stream<(Click, User)>;",
            &[(
                line,
                "events that `enrich` finds nothing for have nowhere to go\nhelp: return a `Stream<Click>` for them",
            )],
        );
    }

    #[test]
    fn durations_fit() {
        check(
            TOTALS,
            &[
                (
                    "source -> key_by(user) -> tumbling(0s, delay = 3s) -> sum(value)",
                    "window size must be greater than zero",
                ),
                (
                    "source -> key_by(user) -> session(0ms, delay = 3s) -> sum(value)",
                    "session gap must be greater than zero",
                ),
                (
                    "source -> key_by(user) -> sliding(10s, every = 0s, delay = 3s) -> sum(value)",
                    "`every` must be greater than zero",
                ),
                (
                    "source -> dedup(id, ttl = 0s) -> key_by(user) -> tumbling(10s, delay = 3s) -> sum(value)",
                    "`ttl` must be greater than zero",
                ),
                (
                    "source -> key_by(user) -> sliding(10s, every = 11s, delay = 3s) -> sum(value)",
                    "`every` is longer than the window size `10s`: events between windows would be lost\nhelp: at most `every = 10s`",
                ),
                (
                    "source -> key_by(user) -> sliding(1d, every = 8s, delay = 3s) -> sum(value)",
                    "each event would be in 10800 windows (size `1d`, every `8s`), and the limit is 10000\nhelp: at least `every = 8640ms`",
                ),
            ],
        );
        // At the limits there is nothing to say.
        for line in [
            "source -> key_by(user) -> sliding(10s, every = 10s, delay = 0s, lateness = 0s, offset = 0s) -> sum(value)",
            "source -> key_by(user) -> sliding(10s, every = 1ms, delay = 3s) -> sum(value)",
            "source -> dedup(id, ttl = 15s) -> key_by(user) -> tumbling(10s, delay = 3s, lateness = 5s) -> sum(value)",
            "source -> dedup(id, ttl = 1s) -> key_by(user) -> session(10s, delay = 3s) -> sum(value)",
        ] {
            assert_eq!(reported(line, TOTALS), [] as [&str; 0], "{line}");
        }
    }

    #[test]
    fn ttl_covers_windows() {
        check(
            TOTALS,
            &[
                (
                    "source -> dedup(id, ttl = 5s) -> key_by(user) -> tumbling(10s, delay = 3s, lateness = 5s) -> sum(value)",
                    "ids are forgotten after `5s`, but `tumbling` takes copies for 15s\nhelp: `ttl = 15s`, or leave it out",
                ),
                (
                    "source -> dedup(id) -> key_by(user) -> session(10s, delay = 3s) -> sum(value)",
                    "`dedup` needs a ttl here: a session may stay open for ever",
                ),
            ],
        );
        check(
            "fn firsts(source: Stream<Click>) -> Stream<Click>;",
            &[("source -> dedup(id)", "`dedup` needs a ttl here: no window behind it says for how long copies matter")],
        );
    }

    #[test]
    fn one_watermark() {
        check(
            TOTALS,
            &[
                (
                    "source -> key_by(user) -> tumbling(90s) -> sum(value)",
                    "no watermark reaches this window, so it would never fire: nothing says how far out of order events \
                     come\nhelp: `tumbling(90s, delay = 3s)`",
                ),
                (
                    "source -> watermark(delay = 1s) -> key_by(user) -> tumbling(10s, delay = 3s) -> sum(value)",
                    "`delay` is short for a `watermark` stage, and there is one",
                ),
                (
                    "source -> watermark(delay = 1s) -> watermark(delay = 2s) -> key_by(user) -> tumbling(10s) -> sum(value)",
                    "the stream has a watermark already",
                ),
                (
                    "source -> watermark(idle = 1s) -> key_by(user) -> tumbling(10s) -> sum(value)",
                    "`watermark` needs `delay = …`",
                ),
                (
                    "source -> watermark(upstream, idle = 1s) -> key_by(user) -> tumbling(10s) -> sum(value)",
                    "`idle` does not go with `upstream`",
                ),
            ],
        );
        // Results bring theirs.
        let nested =
            "fn f(panes: Stream<Pane<String, i64>>) -> (Stream<Pane<u8, i64>>, Stream<Late<Pane<String, i64>>>);";
        assert_eq!(reported("panes -> key_by(key) -> tumbling(1h) -> sum(value)", nested), [] as [&str; 0]);
    }

    #[test]
    fn corrections_are_counted_once() {
        let line = |lateness: &str| {
            format!(
                "source -> key_by(user) -> tumbling(10s, delay = 3s{lateness}) -> sum(value) \
                 -> key_by(key) -> tumbling(1h) -> max(value)"
            )
        };
        let item =
            "fn f(source: Stream<Click>) -> (Stream<Pane<u8, i64>>, Stream<Late<Click>>, Stream<Late<Pane<u8, i64>>>);";
        assert_eq!(reported(&line(""), item), [] as [&str; 0]);
        assert_eq!(reported(&line(", lateness = 0s"), item), [] as [&str; 0]);
        for lateness in [", lateness = 1s", ", lateness = LATENESS"] {
            let expected =
                "the results of the first `tumbling` can be corrected, and the second `tumbling` would count";
            check(item, &[(line(lateness).as_str(), expected)]);
        }
    }

    #[test]
    fn late_events_go_somewhere() {
        let line = "source -> key_by(user) -> tumbling(10s, delay = 3s) -> sum(value)";
        let discarding = "source -> key_by(user) -> tumbling(10s, delay = 3s, late = discard) -> sum(value)";
        check(
            RESULTS,
            &[(
                line,
                "events that come too late for `tumbling` have nowhere to go\nhelp: return `(Stream<Pane<String, i64>>, \
                 Stream<Late<Click>>)`, or drop them on purpose: `late = discard` in `tumbling`",
            )],
        );
        check(TOTALS, &[(discarding, "no late events come out: `tumbling` discards them")]);
        check(TOTALS, &[("source -> filter(active)", "no late events come out: there is no window for them")]);
        assert_eq!(reported(discarding, RESULTS), [] as [&str; 0]);
        // Aliases are for the compiler.
        for output in ["Totals", "(Stream<Pane<String, i64>>, LateClicks)"] {
            assert_eq!(
                reported(line, &format!("fn f(source: Stream<Click>) -> {output};")),
                [] as [&str; 0],
                "{output}"
            );
        }
    }
}
