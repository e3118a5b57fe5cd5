//! The table of stages: one row a stage, the only place that knows their words.

/// Everything the macro knows of a stage.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) word: &'static str,
    pub(crate) takes: Kind,
    pub(crate) gives: Kind,
    /// What is written without a name.
    pub(crate) positional: Option<Positional>,
    /// What is written with a name.
    pub(crate) named: &'static [Named],
    pub(crate) lowering: Lowering,
    /// How it is written, for messages.
    pub(crate) example: &'static str,
}

/// What flows in front of and behind a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Stream,
    Keyed,
    Windowed,
    /// In front of or behind a stage that is not understood.
    Unknown,
}

/// The argument without a name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Positional {
    /// What it is, in messages: `window size`.
    pub(crate) what: &'static str,
    pub(crate) shape: Shape,
    pub(crate) optional: bool,
}

/// An argument with a name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    pub(crate) required: bool,
}

/// What an argument looks like, and what becomes of a field that stands in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `10s`, or an expression of type `Duration`.
    Duration,
    /// A duration greater than zero.
    PositiveDuration,
    /// A field, several, or a closure: what is compared and stored. Borrowed where it can be.
    Identity,
    /// A field or a closure: copied out of the event.
    Value,
    /// A field or a closure: moved out of the event, or a condition on it.
    Take,
    /// A closure or a function.
    Function,
    /// Any expression.
    Expression,
    /// One of these words.
    Word(&'static [&'static str]),
}

/// Which calls of the builder a stage becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lowering {
    /// `.word(argument)`
    Call,
    /// `.word(|event| &event.field)`, or `.word_owned(closure)`; named arguments as methods behind it.
    Select,
    /// `.watermark(Bounded::new(delay)…)`, or `.watermark(Upstream)`
    Watermark,
    /// `.window(Type::new(argument, required…)…)`, then lateness
    Window(&'static str),
}

const fn one(what: &'static str, shape: Shape) -> Option<Positional> {
    Some(Positional { what, shape, optional: false })
}

const fn setting(name: &'static str) -> Named {
    Named { name, shape: Shape::Duration, required: false }
}

const LATE: Named = Named { name: "late", shape: Shape::Word(&["discard"]), required: false };
const OFFSET: Named = setting("offset");
const DELAY: Named = setting("delay");
const LATENESS: Named = setting("lateness");
const EVERY: Named = Named { name: "every", shape: Shape::PositiveDuration, required: true };
const TTL: Named = Named { name: "ttl", shape: Shape::PositiveDuration, required: false };

const fn stage(
    word: &'static str,
    positional: Option<Positional>,
    named: &'static [Named],
    lowering: Lowering,
    example: &'static str,
) -> Row {
    Row { word, takes: Kind::Stream, gives: Kind::Stream, positional, named, lowering, example }
}

const fn window(
    word: &'static str,
    what: &'static str,
    named: &'static [Named],
    type_name: &'static str,
    example: &'static str,
) -> Row {
    let positional = one(what, Shape::PositiveDuration);
    let lowering = Lowering::Window(type_name);
    Row { word, takes: Kind::Keyed, gives: Kind::Windowed, positional, named, lowering, example }
}

const fn aggregate(word: &'static str, positional: Option<Positional>, example: &'static str) -> Row {
    let (takes, gives) = (Kind::Windowed, Kind::Stream);
    Row { word, takes, gives, positional, named: &[], lowering: Lowering::Call, example }
}

/// Stands for a stage that is not understood, which is an error already: it fits everywhere.
pub(crate) const UNKNOWN: Row = Row {
    word: "",
    takes: Kind::Unknown,
    gives: Kind::Unknown,
    positional: None,
    named: &[],
    lowering: Lowering::Call,
    example: "",
};

/// All stages.
pub(crate) const TABLE: &[Row] = &[
    stage("filter", one("condition", Shape::Take), &[], Lowering::Call, "filter(|event| event.value > 0)"),
    stage("map", one("function", Shape::Take), &[], Lowering::Call, "map(|event| …)"),
    stage("flat_map", one("function", Shape::Take), &[], Lowering::Call, "flat_map(|event| …)"),
    stage("inspect", one("function", Shape::Function), &[], Lowering::Call, "inspect(|event| …)"),
    stage("dedup", one("id", Shape::Identity), &[TTL], Lowering::Select, "dedup(event_id)"),
    stage(
        "watermark",
        Some(Positional { what: "source", shape: Shape::Word(&["upstream"]), optional: true }),
        &[DELAY, setting("idle"), setting("max_ahead")],
        Lowering::Watermark,
        "watermark(delay = 3s)",
    ),
    Row {
        word: "key_by",
        takes: Kind::Stream,
        gives: Kind::Keyed,
        positional: one("key", Shape::Identity),
        named: &[],
        lowering: Lowering::Select,
        example: "key_by(user)",
    },
    window("tumbling", "window size", &[OFFSET, DELAY, LATENESS, LATE], "Tumbling", "tumbling(10s, delay = 3s)"),
    window(
        "sliding",
        "window size",
        &[EVERY, OFFSET, DELAY, LATENESS, LATE],
        "Sliding",
        "sliding(60s, every = 5s, delay = 3s)",
    ),
    window("session", "session gap", &[DELAY, LATENESS, LATE], "Session", "session(30m, delay = 3s)"),
    aggregate("sum", one("value", Shape::Value), "sum(value)"),
    aggregate("count", None, "count()"),
    aggregate("min", one("value", Shape::Value), "min(value)"),
    aggregate("max", one("value", Shape::Value), "max(value)"),
    aggregate("mean", one("value", Shape::Value), "mean(value)"),
    aggregate("first", one("value", Shape::Value), "first(value)"),
    aggregate("last", one("value", Shape::Value), "last(value)"),
    aggregate("collect", None, "collect()"),
    aggregate("reduce", one("function", Shape::Function), "reduce(|a, b| …)"),
    aggregate("aggregate", one("aggregate", Shape::Expression), "aggregate(Spread)"),
];

impl Row {
    pub(crate) fn find(word: &str) -> Option<&'static Row> {
        TABLE.iter().find(|row| row.word == word)
    }

    pub(crate) fn is_window(&self) -> bool {
        matches!(self.lowering, Lowering::Window(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_unique_and_examples_start_with_them() {
        for (position, row) in TABLE.iter().enumerate() {
            assert!(TABLE[..position].iter().all(|other| other.word != row.word), "{}", row.word);
            assert!(row.example.starts_with(&format!("{}(", row.word)), "{}", row.word);
        }
    }
}
