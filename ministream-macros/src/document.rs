//! What the function's documentation says of its pipeline: the flows, what comes out and when, and a diagram.

use std::fmt::Write as _;

use syn::ReturnType;

use crate::duration::{Duration, spell};
use crate::facts::{Clock, Streams};
use crate::item::returned;
use crate::model::{Flow, PortOf, Rest, Source, Stage};
use crate::spelling::{spelled, type_text};
use crate::stages::Lowering;
use crate::values::{Bound, Value};

/// The text behind the user's own.
pub(crate) fn text(streams: &Streams<'_>) -> String {
    let mut text = "# Pipeline\n\n```text\n".to_owned();
    for flow in &streams.model.flows {
        flow_as_text(flow, &mut text);
    }
    text.push_str("```\n\n");
    for line in outputs(streams).into_iter().chain(promises(streams)) {
        let _ = writeln!(text, "* {line}");
    }
    let _ = write!(text, "\n```mermaid\n{}```", diagram(streams));
    text
}

fn flow_as_text(flow: &Flow, text: &mut String) {
    let name = flow.name.as_ref().map(|name| format!("{name} = ")).unwrap_or_default();
    let _ = write!(text, "{name}{}", source_text(&flow.source));
    for stage in &flow.stages {
        let _ = write!(text, "\n  -> {}", stage_text(stage));
    }
    text.push('\n');
}

/// A stage as it is written.
fn stage_text(stage: &Stage) -> String {
    let name = stage.name.as_ref().map(|name| format!(" as {name}")).unwrap_or_default();
    format!("{}{name}", stage.written)
}

/// A source as it is written.
fn source_text(source: &Source) -> String {
    match source {
        Source::Param(_, name) | Source::Flow(_, name) => name.to_string(),
        Source::Port(port, name) => format!("{name}.{}", port.port),
        Source::Union(sources, _) => {
            let sources: Vec<_> = sources.iter().map(source_text).collect();
            format!("union({})", sources.join(", "))
        }
        Source::Unknown => String::new(),
    }
}

/// What each stream of the return type carries.
fn outputs(streams: &Streams<'_>) -> Vec<String> {
    let ReturnType::Type(_, output) = &streams.item.sig.output else { return Vec::new() };
    let types = returned(output).unwrap_or_default();
    let mut carries: Vec<String> = Vec::new();
    for flow in streams.model.outputs() {
        carries.push(match (&flow.source, flow.stages.last(), flow.stages.as_slice()) {
            (_, Some(last), _) => format!("what `{}` gives", shown(last)),
            (Source::Port(port, _), None, _) => of_port(port, streams),
            (source, None, _) => format!("`{}`", source_text(source)),
        });
    }
    for ((flow, stage), port) in streams.model.wired() {
        carries.push(of_port(&PortOf { flow, stage, port: port.name.to_owned() }, streams));
    }
    let line = |(number, carries): (usize, &String)| match types.get(number) {
        Some(ty) => format!("`{}`: {carries}", type_text(ty)),
        None => format!("stream {number}: {carries}"),
    };
    carries.iter().enumerate().map(line).collect()
}

fn of_port(port: &PortOf, streams: &Streams<'_>) -> String {
    let Some(stage) = streams.stage((port.flow, port.stage)) else { return String::new() };
    let word = shown(stage);
    let Some(side) = stage.port(&port.port) else {
        return match &stage.rest {
            Rest::Port(rest) if *rest == port.port => format!("what no branch of `{word}` takes"),
            _ => format!("the part `{}` of `{word}`", port.port),
        };
    };
    match side.name {
        "late" => format!("events that come too late for `{word}`"),
        "late_left" => format!("events of the left side that come too late for `{word}`"),
        "late_right" => format!("events of the right side that come too late for `{word}`"),
        "late_versions" => format!("versions of the table that come too late for `{word}`"),
        "missing" => format!("events whose key the table of `{word}` does not have"),
        "duplicates" => format!("the copies that `{word}` holds back"),
        "rejected" => format!("the events that `{word}` rejects"),
        name => format!("what leaves `{word}` by `{name}`"),
    }
}

/// The word of a stage, or the name that it has.
fn shown(stage: &Stage) -> String {
    match &stage.name {
        Some(name) => name.to_string(),
        None if stage.is_own() => stage.written.split(['(', ' ']).next().unwrap_or_default().to_owned(),
        None => stage.word.to_string(),
    }
}

/// When results come, and what is kept for how long.
fn promises(streams: &Streams<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for (place, stage) in streams.model.stages() {
        let word = shown(stage);
        if stage.row.is_window() {
            lines.extend(of_window(streams, place, stage, &word));
        } else if stage.row.lowering == Lowering::Join {
            if let Some((_, Value::Within(lower, upper))) = stage.argument("within") {
                let left = kept(upper);
                let right = kept(&Bound { before: !lower.before, by: lower.by.clone() });
                lines.push(format!(
                    "`{word}`: a pair comes {} after its later row; rows of the left side are kept for {left}, those of the \
                     right side for {right}, behind the watermark",
                    at_most(&[delay_of(streams.before(place).clock)])
                ));
            }
        } else if stage.row.waits_for_watermark() {
            let delay = at_most(&[delay_of(streams.before(place).clock)]);
            lines.push(format!("`{word}`: events are taken in the order of their times, {delay} after them"));
        } else if stage.word == "dedup" {
            lines.extend(of_dedup(streams, place, stage, &word));
        }
    }
    lines
}

fn of_window(streams: &Streams<'_>, place: (usize, usize), stage: &Stage, word: &str) -> Option<String> {
    let delay = match stage.duration("delay") {
        Some(delay) => Some(delay),
        None => delay_of(streams.before(place).clock),
    };
    let early = if stage.argument("emit").is_some() { "; before that, early results" } else { "" };
    if stage.word == "global" {
        return Some(format!("`{word}`: results come as `emit` says, and at the end of the input"));
    }
    let (size, lateness) = (stage.size(), stage.duration("lateness"));
    let start =
        if stage.word == "session" { "after the last event of a session" } else { "after the start of a window" };
    let first = format!("`{word}`: the first result comes {} {start}{early}", at_most(&[size, delay]));
    Some(match lateness {
        Some(lateness) => format!("{first}; corrections until {} {start}", total(&[size, delay, Some(lateness)])),
        None => format!("{first}; no corrections"),
    })
}

fn of_dedup(streams: &Streams<'_>, (flow, position): (usize, usize), stage: &Stage, word: &str) -> Option<String> {
    let kept = match stage.duration("ttl") {
        Some(ttl) => total(&[Some(ttl)]),
        None => {
            let behind = streams.keepers_behind((flow, position + 1));
            let needed: Option<Vec<i64>> = behind
                .iter()
                .flatten()
                .filter(|keeper| keeper.row.is_window())
                .map(|window| {
                    let lateness =
                        window.argument("lateness").map_or(Some(0), |(_, late)| Some(late.literal()?.micros));
                    Some(window.size()?.literal()?.micros.saturating_add(lateness?))
                })
                .collect();
            match needed.and_then(|needed| needed.into_iter().max()) {
                Some(micros) => spell(micros),
                None => return Some(format!("`{word}`: ids are kept for as long as a copy can count")),
            }
        }
    };
    Some(format!("`{word}`: ids are kept for {kept} of event time"))
}

fn kept(bound: &Bound) -> String {
    if bound.before { "0s".to_owned() } else { total(&[Some(&bound.by)]) }
}

fn delay_of<'a>(clock: Clock<'a>) -> Option<&'a Duration> {
    match clock {
        Clock::Made(stage) => stage.duration("delay"),
        _ => None,
    }
}

/// `at most 13s of event time`
fn at_most(durations: &[Option<&Duration>]) -> String {
    match durations.iter().all(Option::is_none) {
        true => "when the watermark gets there".to_owned(),
        false => format!("at most {} of event time", total(durations)),
    }
}

/// The sum of literals; of others, how it is written.
fn total(durations: &[Option<&Duration>]) -> String {
    let known = durations.iter().flatten();
    let literals: Option<Vec<i64>> = known.clone().map(|duration| Some(duration.literal()?.micros)).collect();
    match literals {
        Some(literals) => spell(literals.iter().fold(0_i64, |sum, micros| sum.saturating_add(*micros))),
        None => {
            let parts: Vec<_> = known
                .map(|duration| match duration {
                    Duration::Literal(literal) => literal.text.clone(),
                    Duration::Expr(expr) => format!("`{}`", spelled(expr)),
                })
                .collect();
            parts.join(" + ")
        }
    }
}

/// A flowchart: parameters and what goes out are rounded, stages are boxes.
fn diagram(streams: &Streams<'_>) -> String {
    let mut text = "flowchart TD\n".to_owned();
    for (number, param) in streams.item.params.iter().enumerate().filter(|(_, param)| param.carries.is_some()) {
        let _ = writeln!(text, "    p{number}([\"{}\"])", param.ident);
    }
    for ((flow, position), stage) in streams.model.stages() {
        let _ = writeln!(text, "    f{flow}s{position}[\"{}\"]", escaped(&stage_text(stage)));
    }
    for (number, flow) in streams.model.flows.iter().enumerate() {
        for (position, stage) in flow.stages.iter().enumerate() {
            let to = format!("f{number}s{position}");
            if position == 0 {
                arrows(streams, &flow.source, &to, &mut text);
            } else {
                let _ = writeln!(text, "    f{number}s{} --> {to}", position - 1);
            }
            for value in &stage.positional {
                if let Value::Input(source) = value {
                    arrows(streams, source, &to, &mut text);
                }
            }
        }
        if flow.name.is_none() {
            let output = number - streams.model.lets;
            let _ = writeln!(text, "    o{output}([\"output {output}\"])");
            match flow.stages.len().checked_sub(1) {
                Some(last) => {
                    let _ = writeln!(text, "    f{number}s{last} --> o{output}");
                }
                None => arrows(streams, &flow.source, &format!("o{output}"), &mut text),
            }
        }
    }
    for (output, ((flow, stage), port)) in (1..).zip(streams.model.wired()) {
        let _ =
            writeln!(text, "    o{output}([\"output {output}\"])\n    f{flow}s{stage} -- {} --> o{output}", port.name);
    }
    text
}

/// The arrows from a source.
fn arrows(streams: &Streams<'_>, source: &Source, to: &str, text: &mut String) {
    for leaf in source.leaves() {
        let _ = match leaf {
            Source::Param(number, _) => writeln!(text, "    p{number} --> {to}"),
            Source::Flow(flow, _) => match streams.model.flows.get(*flow) {
                Some(Flow { stages, .. }) if !stages.is_empty() => {
                    writeln!(text, "    f{flow}s{} --> {to}", stages.len() - 1)
                }
                Some(flow) => {
                    arrows(streams, &flow.source, to, text);
                    Ok(())
                }
                None => Ok(()),
            },
            Source::Port(port, _) => writeln!(text, "    f{}s{} -- {} --> {to}", port.flow, port.stage, port.port),
            Source::Union(..) | Source::Unknown => Ok(()),
        };
    }
}

/// Mermaid reads `<…>` as tags, and its entities start with `#`.
fn escaped(text: &str) -> String {
    text.replace('#', "#35;").replace('<', "#lt;").replace('>', "#gt;").replace('"', "#quot;")
}

#[cfg(test)]
mod tests {
    use crate::pipeline::tests::documented;

    #[test]
    fn the_docs_say_what_comes_out_and_when() {
        let text = documented(
            "source -> dedup(event_id) -> key_by(user) -> tumbling(10s, delay = 3s, lateness = 5s) -> sum(value)",
            "fn f(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);",
        );
        assert_eq!(
            text,
            "# Pipeline\n\n```text\n\
             source\n  \
             -> dedup(event_id)\n  \
             -> key_by(user)\n  \
             -> tumbling(10s, delay = 3s, lateness = 5s)\n  \
             -> sum(value)\n\
             ```\n\n\
             * `Stream<Pane<String, i64>>`: what `sum` gives\n\
             * `Stream<Late<Click>>`: events that come too late for `tumbling`\n\
             * `dedup`: ids are kept for 15s of event time\n\
             * `tumbling`: the first result comes at most 13s of event time after the start of a window; corrections until \
             18s after the start of a window\n\
             \n```mermaid\n\
             flowchart TD\n    \
             p0([\"source\"])\n    \
             f0s0[\"dedup(event_id)\"]\n    \
             f0s1[\"key_by(user)\"]\n    \
             f0s2[\"tumbling(10s, delay = 3s, lateness = 5s)\"]\n    \
             f0s3[\"sum(value)\"]\n    \
             p0 --> f0s0\n    \
             f0s0 --> f0s1\n    \
             f0s1 --> f0s2\n    \
             f0s2 --> f0s3\n    \
             o0([\"output 0\"])\n    \
             f0s3 --> o0\n    \
             o1([\"output 1\"])\n    \
             f0s2 -- late --> o1\n\
             ```"
        );
    }

    #[test]
    fn flows_in_braces_are_all_there() {
        let text = documented(
            "{
                let parts = union(clicks, more) -> split { big: |e| e.value > 10 && e.active, rest = discard };
                let timed = parts.big -> watermark(delay = d);
                let j = timed -> join(views, on = user, within = -5s..=1m) as pairs;
                (j, j.late_left, j.late_right)
            }",
            "fn f(clicks: Stream<Click>, more: Stream<Click>, views: Stream<Pane<A, B>>, d: Duration) -> Aliased;",
        );
        let (list, diagram) = text.split_once("\n\n```mermaid\n").unwrap();
        assert_eq!(
            list,
            "# Pipeline\n\n```text\n\
             parts = union(clicks, more)\n  \
             -> split { big: |e| e.value > 10 && e.active, rest = discard }\n\
             timed = parts.big\n  \
             -> watermark(delay = d)\n\
             j = timed\n  \
             -> join(views, on = user, within = -5s..=1m) as pairs\n\
             j\nj.late_left\nj.late_right\n\
             ```\n\n\
             * stream 0: `j`\n\
             * stream 1: events of the left side that come too late for `pairs`\n\
             * stream 2: events of the right side that come too late for `pairs`\n\
             * `pairs`: a pair comes at most `d` of event time after its later row; rows of the left side are kept for 1m, \
             those of the right side for 5s, behind the watermark"
        );
        for arrow in ["p0 --> f0s0", "p1 --> f0s0", "f0s0 -- big --> f1s0", "f1s0 --> f2s0", "p2 --> f2s0"] {
            assert!(diagram.contains(arrow), "{diagram}");
        }
        for arrow in ["f2s0 --> o0", "f2s0 -- late_left --> o1", "f2s0 -- late_right --> o2"] {
            assert!(diagram.contains(arrow), "{diagram}");
        }
    }
}
