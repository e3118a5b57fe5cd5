//! What is known of the streams of a pipeline: what they are, which watermark they have, who reads them.

use syn::Type;

use crate::item::{Item, arguments_of, carried_by, returned, ungrouped};
use crate::model::{Model, PortOf, Source, Stage};
use crate::stages::{Carries, Kind, Lowering};
use crate::values::Value;

/// What is known of a stream at one place.
#[derive(Clone)]
pub(crate) struct Facts<'a> {
    pub(crate) kind: Kind,
    pub(crate) clock: Clock<'a>,
    /// The window whose results can be corrected by later ones.
    pub(crate) corrected: Option<&'a Stage>,
    /// The type of its events, where it is written somewhere.
    pub(crate) carries: Option<&'a Type>,
}

/// Where a stream has its watermark from.
#[derive(Clone, Copy)]
pub(crate) enum Clock<'a> {
    None,
    /// Made by this stage.
    Made(&'a Stage),
    /// It brings one of its own: results do.
    Brought,
    /// Not understood.
    Unknown,
}

impl Clock<'_> {
    pub(crate) fn is_none(self) -> bool {
        matches!(self, Clock::None)
    }
}

/// The streams of a model.
pub(crate) struct Streams<'a> {
    pub(crate) item: &'a Item,
    pub(crate) model: &'a Model,
    /// Of each flow, what stands in front of each of its stages, and at its end.
    facts: Vec<Vec<Facts<'a>>>,
}

impl<'a> Streams<'a> {
    pub(crate) fn of(item: &'a Item, model: &'a Model) -> Self {
        let mut streams = Streams { item, model, facts: Vec::new() };
        for flow in &model.flows {
            let mut facts = vec![streams.at(&flow.source)];
            for stage in &flow.stages {
                let before = facts.last().cloned().unwrap_or_else(unknown);
                facts.push(behind(before, stage));
            }
            streams.facts.push(facts);
        }
        streams
    }

    /// What stands in front of a stage.
    pub(crate) fn before(&self, (flow, stage): (usize, usize)) -> Facts<'a> {
        self.facts.get(flow).and_then(|facts| facts.get(stage)).cloned().unwrap_or_else(unknown)
    }

    /// What a flow ends in.
    pub(crate) fn end(&self, flow: usize) -> Facts<'a> {
        self.facts.get(flow).and_then(|facts| facts.last()).cloned().unwrap_or_else(unknown)
    }

    /// What a source is.
    pub(crate) fn at(&self, source: &'a Source) -> Facts<'a> {
        match source {
            Source::Param(number, _) => {
                let carries = self.item.params.get(*number).and_then(|param| param.carries.as_ref());
                let is_pane = carries.is_some_and(|ty| arguments_of(ty, "Pane").is_some());
                let clock = if is_pane { Clock::Brought } else { Clock::None };
                Facts { kind: Kind::Stream, clock, corrected: None, carries }
            }
            Source::Flow(flow, _) => self.end(*flow),
            Source::Port(port, _) => self.at_port(port),
            Source::Union(sources, _) => self.at_union(sources),
            Source::Unknown => unknown(),
        }
    }

    fn at_port(&self, port: &PortOf) -> Facts<'a> {
        let place = (port.flow, port.stage);
        let Some(stage) = self.stage(place) else { return unknown() };
        let front = self.before(place);
        let Some(port) = stage.port(&port.port) else { return Facts { kind: Kind::Stream, ..front } };
        let facts = match (port.carries, stage.positional.first()) {
            (Carries::LateOther, Some(Value::Input(source))) => self.at(source),
            _ => front,
        };
        let makes_clock = port.name == "rejected" || stage.argument("delay").is_some();
        let clock = if makes_clock { Clock::Made(stage) } else { facts.clock };
        // What is late is wrapped.
        let carries = facts.carries.filter(|_| !port.is_late());
        Facts { kind: Kind::Stream, clock, carries, ..facts }
    }

    fn at_union(&self, sources: &'a [Source]) -> Facts<'a> {
        let inputs: Vec<_> = sources.iter().map(|source| self.at(source)).collect();
        let clock = inputs.iter().map(|facts| facts.clock).find(|clock| !clock.is_none()).unwrap_or(Clock::None);
        Facts {
            kind: Kind::Stream,
            clock,
            corrected: inputs.iter().find_map(|facts| facts.corrected),
            carries: inputs.first().and_then(|facts| facts.carries),
        }
    }

    pub(crate) fn stage(&self, (flow, stage): (usize, usize)) -> Option<&'a Stage> {
        self.model.flows.get(flow)?.stages.get(stage)
    }

    /// How often something is read.
    pub(crate) fn reads(&self, is_it: impl Fn(&Source) -> bool) -> usize {
        self.model.flows.iter().flat_map(|flow| flow.reads()).filter(|source| is_it(source)).count()
    }

    pub(crate) fn reads_of_port(&self, (flow, stage): (usize, usize), port: &str) -> usize {
        self.reads(
            |source| matches!(source, Source::Port(of, _) if (of.flow, of.stage) == (flow, stage) && of.port == port),
        )
    }

    /// The struct that the results of a stage are returned as: `Totals` of `Stream<Pane<String, Totals>>`.
    pub(crate) fn struct_at(&self, (flow, stage): (usize, usize)) -> Option<&'a syn::Path> {
        let syn::ReturnType::Type(_, output) = &self.item.sig.output else { return None };
        let written = self.model.flows.get(flow)?;
        // What stands behind must leave the results as they are.
        let keeps = |stage: &Stage| matches!(stage.word.to_string().as_str(), "filter" | "inspect");
        if !written.stages.iter().skip(stage + 1).all(keeps) {
            return None;
        }
        let is_it = |source: &Source| matches!(source, Source::Flow(of, _) if *of == flow);
        let goes_out = |(number, output): (usize, &crate::model::Flow)| {
            number == flow || (is_it(&output.source) && output.stages.iter().all(keeps))
        };
        let numbered = (self.model.lets..).zip(self.model.outputs());
        let position = numbered.into_iter().position(goes_out)?;
        let ty = returned(output)?.into_iter().nth(position)?;
        let value = arguments_of(carried_by(ty)?, "Pane")?.nth(1)?;
        match ungrouped(value) {
            // `i64` is none, and structs are written large.
            Type::Path(path) if path.qself.is_none() => Some(&path.path).filter(|path| {
                let last = path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
                last.starts_with(char::is_uppercase) && last != "String" && last != "Vec" && last != "Option"
            }),
            _ => None,
        }
    }

    /// The first stages on each way behind a place that keep events for some time: windows, joins, and the like; None for a
    /// way that goes out without one.
    pub(crate) fn keepers_behind(&self, (flow, stage): (usize, usize)) -> Vec<Option<&'a Stage>> {
        let stages = self.model.flows.get(flow).map(|flow| flow.stages.as_slice()).unwrap_or_default();
        let mut found = Vec::new();
        for (position, stage) in stages.iter().enumerate().skip(stage) {
            for port in stage.port_names() {
                // Copies and rejected events do not go on; and late events that go out are no results.
                if stage.port(&port).is_some_and(|port| port.carries == Carries::Optional) {
                    continue;
                }
                let is_it = |source: &Source| {
                    matches!(source, Source::Port(of, _)
                        if (of.flow, of.stage) == (flow, position) && of.port == port)
                };
                let mut behind = Vec::new();
                self.keepers_that_read(is_it, &mut behind);
                let is_result = stage.row.lowering == Lowering::Split;
                found.extend(behind.into_iter().filter(|keeper| is_result || keeper.is_some()));
            }
            if stage.row.is_window() || stage.row.waits_for_watermark() {
                found.push(Some(stage));
                return found;
            }
        }
        if flow >= self.model.lets {
            found.push(None);
        }
        self.keepers_that_read(|source| matches!(source, Source::Flow(of, _) if *of == flow), &mut found);
        found
    }

    fn keepers_that_read(&self, is_it: impl Fn(&Source) -> bool, found: &mut Vec<Option<&'a Stage>>) {
        for (number, flow) in self.model.flows.iter().enumerate() {
            if flow.source.leaves().iter().any(|source| is_it(source)) {
                found.extend(self.keepers_behind((number, 0)));
            }
            for (position, stage) in flow.stages.iter().enumerate() {
                let inputs = stage.positional.iter().filter_map(|value| match value {
                    Value::Input(source) => Some(source),
                    _ => None,
                });
                if inputs.flat_map(Source::leaves).any(&is_it) {
                    found.extend(self.keepers_behind((number, position)));
                }
            }
        }
    }
}

fn unknown<'a>() -> Facts<'a> {
    Facts { kind: Kind::Unknown, clock: Clock::Unknown, corrected: None, carries: None }
}

/// What stands behind a stage.
fn behind<'a>(front: Facts<'a>, stage: &'a Stage) -> Facts<'a> {
    let row = stage.row;
    let makes_clock = row.lowering == Lowering::Watermark || stage.argument("delay").is_some();
    // A stage that only sits in the wrong place does not hide what was there.
    let passes_on = row.takes == Kind::Stream && row.gives == Kind::Stream && !row.waits_for_watermark();
    let fits = front.kind == row.takes || front.kind == Kind::Unknown;
    let keeps_type = matches!(stage.word.to_string().as_str(), "filter" | "inspect" | "dedup" | "watermark" | "key_by")
        || row.is_window();
    Facts {
        kind: if fits || !passes_on { row.gives } else { front.kind },
        clock: match row.gives {
            Kind::Unknown => Clock::Unknown,
            _ if makes_clock => Clock::Made(stage),
            _ => front.clock,
        },
        corrected: if row.is_window() { Some(stage).filter(|window| window.corrects()) } else { front.corrected },
        carries: front.carries.filter(|_| keeps_type),
    }
}
