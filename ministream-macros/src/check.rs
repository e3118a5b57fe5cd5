//! The rules that a pipeline has to keep, one function each. The rule stands above it.

use quote::ToTokens;
use syn::{ReturnType, Type};

use crate::duration::{Literal, spell};
use crate::errors::Errors;
use crate::item::{Item, arguments_of, carried_by, returned, ungrouped};
use crate::model::{Model, Stage};
use crate::stages::{Kind, Shape};
use crate::values::Value;

/// More windows for one event than this are refused, as by the runtime.
const MAX_WINDOWS_OF_AN_EVENT: i64 = 10_000;

/// Checks all rules, on as much as was understood.
pub(crate) fn check(item: &Item, model: &Model<'_>, errors: &mut Errors) {
    has_stages(model, errors);
    names_are_unique(model, errors);
    let before = errors.count();
    stages_fit(model, errors);
    let fit = errors.count() == before;
    durations_are_positive(model, errors);
    every_fits_size(model, errors);
    // What is missing may be in a stage that is not understood, or in the wrong place.
    if fit && model.stages.iter().all(Stage::is_known) {
        ttl_covers_windows(model, errors);
        one_watermark(model, errors);
        corrections_are_counted_once(model, errors);
        late_events_go_somewhere(item, model, errors);
    }
}

/// A pipeline has at least one stage: `source` alone does nothing.
fn has_stages(model: &Model<'_>, errors: &mut Errors) {
    if let (true, Some(source)) = (model.stages.is_empty(), model.source) {
        let source = &source.ident;
        errors.help(model.end, "a pipeline without stages does nothing", format!("`{source} -> filter(…)`"));
    }
}

/// A name stands for one stage: the state of a stage is found by it.
fn names_are_unique(model: &Model<'_>, errors: &mut Errors) {
    let names: Vec<_> = model.stages.iter().filter_map(|stage| stage.name.as_ref()).collect();
    for (position, name) in names.iter().enumerate() {
        if names.iter().take(position).any(|earlier| earlier == name) {
            errors.help(name.span(), format!("two stages are named `{name}`"), "give each stage a name of its own");
        }
    }
}

/// Aggregates stand behind a window, windows behind a `key_by`, everything else behind a stream; and a pipeline ends in a
/// stream.
fn stages_fit(model: &Model<'_>, errors: &mut Errors) {
    let mut kind = Kind::Stream;
    let mut before: Option<&Stage> = None;
    for stage in &model.stages {
        let word = &stage.word;
        let at = word.span();
        let behind = before.map_or(String::new(), |before| before.word.to_string());
        let example = stage.row.example;
        match (kind, stage.row.takes) {
            (kind, takes) if kind == takes || kind == Kind::Unknown || takes == Kind::Unknown => {}
            (Kind::Stream, Kind::Windowed) => errors.help(
                at,
                format!("`{word}` needs a window in front of it"),
                format!("`-> key_by(user) -> tumbling(10s, delay = 3s) -> {example}`"),
            ),
            (Kind::Keyed, Kind::Windowed) => errors.help(
                at,
                format!("`{word}` needs a window between it and `{behind}`"),
                format!("`-> tumbling(10s, delay = 3s) -> {example}`"),
            ),
            (Kind::Stream, Kind::Keyed) => errors.help(
                at,
                format!("`{word}` needs a `key_by` in front of it"),
                format!("`-> key_by(user) -> {example}`"),
            ),
            (Kind::Windowed, Kind::Keyed) => errors.help(
                at,
                format!("two windows in a row: `{behind}` has to give a result before `{word}` can take it"),
                format!("put an aggregate such as `sum(value)` and a `key_by` between them, or take `{behind}` out"),
            ),
            (Kind::Keyed, _) if word == "key_by" => errors.help(
                at,
                "two keys in a row: the second takes the place of the first",
                "name all fields in one: `key_by(user, country)`",
            ),
            (Kind::Windowed, _) if word == "key_by" => errors.help(
                at,
                format!("`key_by` cannot follow `{behind}`: a window waits for an aggregate"),
                "put an aggregate such as `sum(value)` between them",
            ),
            (Kind::Keyed, _) => errors.help(
                at,
                format!("`{word}` cannot follow `{behind}`: a keyed stream waits for a window"),
                format!("put `{word}` in front of `{behind}`, or a window and an aggregate between them"),
            ),
            (_, _) => errors.help(
                at,
                format!("`{word}` cannot follow `{behind}`: a window waits for an aggregate"),
                format!("put `{word}` in front of the `key_by`, or an aggregate such as `sum(value)` between them"),
            ),
        }
        // A stage that only sits in the wrong place does not hide what was there.
        let passes_on = stage.row.takes == Kind::Stream && stage.row.gives == Kind::Stream;
        if kind == stage.row.takes || kind == Kind::Unknown || !passes_on {
            kind = stage.row.gives;
            before = Some(stage);
        }
    }
    if let Some(last) = before {
        let word = &last.word;
        match kind {
            Kind::Stream | Kind::Unknown => {}
            Kind::Keyed => errors.help(
                word.span(),
                format!("nothing follows `{word}`: a keyed stream waits for a window"),
                "add `-> tumbling(10s, delay = 3s) -> sum(value)`",
            ),
            Kind::Windowed => errors.help(
                word.span(),
                format!("nothing follows `{word}`: a window waits for an aggregate"),
                "add `-> sum(value)`",
            ),
        }
    }
}

/// Sizes, gaps, steps and ttl are greater than zero.
fn durations_are_positive(model: &Model<'_>, errors: &mut Errors) {
    for stage in &model.stages {
        let mut check = |what: &str, shape: Shape, literal: Option<&Literal>| {
            if let Some(literal) = literal.filter(|literal| literal.micros == 0 && shape == Shape::PositiveDuration) {
                errors.help(literal.span, format!("{what} must be greater than zero"), "such as `10s`");
            }
        };
        if let (Some(positional), Some(value)) = (stage.row.positional, &stage.positional) {
            check(positional.what, positional.shape, value.literal());
        }
        for (name, value) in &stage.named {
            if let Some(named) = stage.row.named.iter().find(|named| name == named.name) {
                check(&format!("`{name}`"), named.shape, value.literal());
            }
        }
    }
}

/// A sliding window starts at least once each size, and an event is in no more than 10,000 windows.
fn every_fits_size(model: &Model<'_>, errors: &mut Errors) {
    for stage in &model.stages {
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

/// An id is remembered as long as the windows behind can take a copy: window size plus lateness. Left out, the ttl is that;
/// where none follows it has to be stated. Only the first window counts: behind its aggregate there are no copies.
fn ttl_covers_windows(model: &Model<'_>, errors: &mut Errors) {
    for (position, stage) in model.stages.iter().enumerate().filter(|(_, stage)| stage.word == "dedup") {
        let window = model.stages.iter().skip(position).find(|stage| stage.row.is_window());
        let ttl = stage.argument("ttl").map(|(_, ttl)| ttl);
        match (window, ttl) {
            (None, None) => errors.help(
                stage.word.span(),
                "`dedup` needs a ttl here: no window behind it says for how long copies matter",
                "`ttl = 1h`, for as long as copies may come",
            ),
            (Some(window), None) if window.word == "session" => errors.help(
                stage.word.span(),
                "`dedup` needs a ttl here: a session may stay open for ever, so none follows from it",
                "`ttl = 1h`, for as long as copies may come",
            ),
            (Some(window), Some(ttl)) if window.word != "session" => {
                let lateness =
                    window.argument("lateness").map_or(Some(0), |(_, late)| late.literal().map(|late| late.micros));
                let size = window.size().and_then(|size| size.literal()).map(|size| size.micros);
                let (Some(size), Some(lateness), Some(ttl)) = (size, lateness, ttl.literal()) else { continue };
                let needed = size.saturating_add(lateness);
                // That zero is none is said already.
                if ttl.micros != 0 && ttl.micros < needed {
                    let needed = spell(needed);
                    errors.help(
                        ttl.span,
                        format!(
                            "ids are forgotten after `{}`, but `{}` takes copies for {needed}",
                            ttl.text, window.word
                        ),
                        format!("`ttl = {needed}`, or leave it out"),
                    );
                }
            }
            _ => {}
        }
    }
}

/// A stream has one watermark: from a `watermark` stage, or from `delay` on the window, which is short for it. Results
/// bring theirs.
fn one_watermark(model: &Model<'_>, errors: &mut Errors) {
    let carries = model.source.and_then(|source| source.carries.as_ref());
    let mut has_watermark = carries.is_some_and(|ty| arguments_of(ty, "Pane").is_some());
    let mut stated: Option<&Stage> = None;
    for stage in &model.stages {
        if stage.word == "watermark" {
            if let Some(first) = stated {
                let what = format!("the stream has a watermark already, from `{}`", first.word);
                errors.help(stage.word.span(), what, "take one of the two out");
            }
            if stage.positional.is_none() && stage.argument("delay").is_none() {
                errors.help(stage.word.span(), "`watermark` needs `delay = …`", "`watermark(delay = 3s)`");
            }
            if let (Some(Value::Word(_)), Some((name, _))) = (&stage.positional, stage.named.first()) {
                let what = format!("`{name}` does not go with `upstream`: the watermark is made by somebody else");
                errors.help(name.span(), what, "`watermark(upstream)`");
            }
            stated = Some(stage);
            has_watermark = true;
        }
        if !stage.row.is_window() {
            continue;
        }
        match stage.argument("delay") {
            Some((name, value)) => {
                if let Some(first) = stated.filter(|_| !matches!(value, Value::Mistake)) {
                    let what =
                        format!("`delay` is short for a `watermark` stage, and there is one, from `{}`", first.word);
                    errors.help(name.span(), what, "take one of the two out");
                }
                stated = Some(stage);
            }
            None if !has_watermark => {
                let size = stage.positional.as_ref().map(|value| value.to_text()).unwrap_or_default();
                let every = stage.argument("every").map(|(_, every)| format!(", every = {}", every.to_text()));
                let example = format!("{}({size}{}, delay = 3s)", stage.word, every.unwrap_or_default());
                let help = format!(
                    "`{example}`: events come at most 3s behind the newest; or `watermark(upstream)` in front, if the \
                     stream brings its own"
                );
                errors.help(
                    stage.word.span(),
                    "no watermark reaches this window, so it would never fire: nothing says how far out of order events come",
                    help,
                );
            }
            None => {}
        }
        has_watermark = true;
    }
}

/// A window does not count results that may still be corrected.
fn corrections_are_counted_once(model: &Model<'_>, errors: &mut Errors) {
    let mut corrected: Option<&Stage> = None;
    for stage in model.stages.iter().filter(|stage| stage.row.is_window()) {
        if let Some(first) = corrected {
            errors.help(
                stage.word.span(),
                format!(
                    "the results of `{}` can be corrected, and `{}` would count each correction beside what it corrects",
                    first.word, stage.word
                ),
                format!("leave `lateness` out of `{}`", first.word),
            );
        }
        let lateness = stage.argument("lateness");
        if lateness.is_some_and(|(_, lateness)| lateness.literal().is_none_or(|literal| literal.micros != 0)) {
            corrected = Some(stage);
        }
    }
}

/// Late events leave by a stream of the return type, or are discarded on purpose.
fn late_events_go_somewhere(item: &Item, model: &Model<'_>, errors: &mut Errors) {
    let ReturnType::Type(_, output) = &item.sig.output else { return };
    let is_mistaken = |stage: &Stage| matches!(stage.argument("late"), Some((_, Value::Mistake)));
    if model.stages.is_empty() || model.stages.iter().any(is_mistaken) {
        return;
    }
    let Some(streams) = returned(output) else { return };
    let is_late = |ty: &&Type| carried_by(ty).is_some_and(|carried| arguments_of(carried, "Late").is_some());
    let late: Vec<_> = streams.iter().copied().filter(is_late).collect();
    let windows: Vec<_> = model.stages.iter().filter(|stage| stage.row.is_window() && !stage.discards_late()).collect();
    // An alias may be a stream of late events under another name: that is for the compiler.
    let is_alias = |ty: &&&Type| matches!(ungrouped(ty), Type::Path(_)) && carried_by(ty).is_none();
    let aliases = streams.iter().skip(1).filter(is_alias).count();
    if late.len() + aliases < windows.len() {
        let Some(window) = windows.get(late.len()) else { return };
        let results = streams.first().map_or("Stream<…>".to_owned(), |ty| text(ungrouped(ty)));
        let carries = match (late.len(), model.source.and_then(|source| source.carries.as_ref())) {
            (0, Some(carries)) => text(carries),
            _ => "…".to_owned(),
        };
        let already: String = late.iter().map(|ty| format!(", {}", text(ty))).collect();
        errors.help_on(
            output,
            format!("events that come too late for `{}` have nowhere to go", window.word),
            format!(
                "return `({results}{already}, Stream<Late<{carries}>>)`, or drop them on purpose: `late = discard` in `{}`",
                window.word
            ),
        );
    } else if let Some(extra) = late.get(windows.len()) {
        let discards = model.stages.iter().find(|stage| stage.row.is_window() && stage.discards_late());
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

/// A type as its user would write it.
fn text(ty: &Type) -> String {
    let text = ty.to_token_stream().to_string();
    text.replace(" <", "<")
        .replace("< ", "<")
        .replace(" >", ">")
        .replace(" ,", ",")
        .replace(" ;", ";")
        .replace("& ", "&")
        .replace(" ::", "::")
        .replace(":: ", "::")
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
            ("source.late ->", "expected `->`, found `.`"),
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
            let expected = "the results of `tumbling` can be corrected, and `tumbling` would count each correction";
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
