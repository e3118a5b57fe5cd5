//! The table of stages: one row a stage, the only place that knows their words.

/// Everything the macro knows of a stage.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) word: &'static str,
    pub(crate) takes: Kind,
    pub(crate) gives: Kind,
    /// What is written without a name, in front.
    pub(crate) positional: &'static [Positional],
    /// What is written with a name.
    pub(crate) named: &'static [Named],
    pub(crate) lowering: Lowering,
    pub(crate) ports: &'static [Port],
    /// How it is written, for messages.
    pub(crate) example: &'static str,
}

/// What flows in front of and behind a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Stream,
    Keyed,
    Windowed,
    /// Nothing but ports.
    Parts,
    /// In front of or behind a stage that is not understood.
    Unknown,
}

/// An argument without a name.
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

/// A side output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Port {
    pub(crate) name: &'static str,
    /// The method that takes it.
    pub(crate) method: &'static str,
    pub(crate) carries: Carries,
}

/// What leaves by a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carries {
    /// Events of the stream in front that come too late: they have to go somewhere.
    Late,
    /// Those of the other input.
    LateOther,
    /// Events that have to go somewhere if the stage says so (`missing = port`).
    IfSaid,
    /// Events that may as well be counted only.
    Optional,
}

/// What an argument looks like, and what becomes of a field that stands in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `10s`, or an expression of type `Duration`.
    Duration,
    /// A duration greater than zero.
    PositiveDuration,
    /// `-5s..=10s`
    Within,
    /// `every(1s)`, or `on_update`
    Emit,
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
    /// A number of events: at least one.
    Count,
    /// A number from 0 to 1.
    Fraction,
    /// The name of another stream.
    Input,
    /// One of these words.
    Word(&'static [&'static str]),
}

/// Which calls of the builder a stage becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lowering {
    /// `.word(arguments…)`, those with a name that are required behind the others.
    Call,
    /// `.word(|event| &event.field)`, or `.word_owned(closure)`; named arguments as methods behind it.
    Select,
    /// `.watermark(Bounded::new(delay)…)`, or `.watermark(Upstream)`
    Watermark,
    /// `.window(Type::new(argument, required…)…)`, then lateness
    Window(&'static str),
    /// `.aggregate(expression)`, or `.aggregate_with(|of| (of.sum(…), …))`
    Aggregates,
    /// `.split_off(…)` for each branch
    Split,
    /// `.key_by(…).join(other.key_by(…), within)`
    Join,
    /// `.key_by(…).enrich(table.key_by(…))`
    Enrich,
    /// `.process(expression)`
    Process,
    /// `.operator(expression)`
    Operator,
}

const fn needs(what: &'static str, shape: Shape) -> Positional {
    Positional { what, shape, optional: false }
}

const fn setting(name: &'static str) -> Named {
    Named { name, shape: Shape::Duration, required: false }
}

const fn required(name: &'static str, shape: Shape) -> Named {
    Named { name, shape, required: true }
}

const fn optional(name: &'static str, shape: Shape) -> Named {
    Named { name, shape, required: false }
}

const VALUE: Positional = needs("value", Shape::Value);
const CONDITION: Positional = needs("condition", Shape::Take);
const TAKEN: Positional = needs("function", Shape::Take);
const FUNCTION: Positional = needs("function", Shape::Function);
const OPERATOR: Positional = needs("operator", Shape::Expression);

const DISCARD: Named = optional("late", Shape::Word(&["discard"]));
const OFFSET: Named = setting("offset");
const DELAY: Named = setting("delay");
const LATENESS: Named = setting("lateness");
const EMIT: Named = optional("emit", Shape::Emit);
const EVERY: Named = required("every", Shape::PositiveDuration);
const TTL: Named = optional("ttl", Shape::PositiveDuration);
const ON: Named = required("on", Shape::Identity);
const RIGHT_ON: Named = optional("right_on", Shape::Identity);
const WITHIN: Named = required("within", Shape::Within);
const MISSING: Named = required("missing", Shape::Word(&["keep", "discard", "port"]));

const fn port(name: &'static str, method: &'static str, carries: Carries) -> Port {
    Port { name, method, carries }
}

const LATE: Port = port("late", "with_late", Carries::Late);
const REJECTED: Port = port("rejected", "with_rejected", Carries::Optional);
const DUPLICATES: Port = port("duplicates", "with_duplicates", Carries::Optional);
const LATE_LEFT: Port = port("late_left", "with_late_left", Carries::Late);
const LATE_RIGHT: Port = port("late_right", "with_late_right", Carries::LateOther);
const LATE_VERSIONS: Port = port("late_versions", "with_late_versions", Carries::LateOther);
const MISSING_PORT: Port = port("missing", "with_missing", Carries::IfSaid);

const STREAM: Row = Row {
    word: "",
    takes: Kind::Stream,
    gives: Kind::Stream,
    positional: &[],
    named: &[],
    lowering: Lowering::Call,
    ports: &[],
    example: "",
};

const fn stage(word: &'static str, positional: &'static [Positional], example: &'static str) -> Row {
    Row { word, positional, example, ..STREAM }
}

const fn window(
    word: &'static str,
    positional: &'static [Positional],
    named: &'static [Named],
    type_name: &'static str,
    example: &'static str,
) -> Row {
    let ports = &[LATE, REJECTED];
    let lowering = Lowering::Window(type_name);
    Row { word, takes: Kind::Keyed, gives: Kind::Windowed, positional, named, lowering, ports, example }
}

const fn aggregate(word: &'static str, positional: &'static [Positional], example: &'static str) -> Row {
    Row { word, takes: Kind::Windowed, positional, example, ..STREAM }
}

/// Stands for a stage that is not understood, which is an error already: it fits everywhere.
pub(crate) const UNKNOWN: Row = Row { takes: Kind::Unknown, gives: Kind::Unknown, ..STREAM };

/// An operator of the user's own, written as a path, behind a `key_by`.
pub(crate) const OWN_KEYED: Row = Row {
    word: "process",
    takes: Kind::Keyed,
    positional: &[OPERATOR],
    lowering: Lowering::Process,
    ports: &[LATE],
    example: "my_ops::Alert::new()",
    ..STREAM
};

/// An operator of the user's own, written as a path, behind a stream.
pub(crate) const OWN: Row = Row {
    word: "operator",
    positional: &[OPERATOR],
    lowering: Lowering::Operator,
    example: "my_ops::Enrich::new()",
    ..STREAM
};

/// All stages.
pub(crate) const TABLE: &[Row] = &[
    stage("filter", &[CONDITION], "filter(|event| event.value > 0)"),
    stage("map", &[TAKEN], "map(|event| …)"),
    stage("flat_map", &[TAKEN], "flat_map(|event| …)"),
    stage("inspect", &[FUNCTION], "inspect(|event| …)"),
    Row {
        named: &[TTL],
        lowering: Lowering::Select,
        ports: &[DUPLICATES],
        ..stage("dedup", &[needs("id", Shape::Identity)], "dedup(event_id)")
    },
    Row {
        named: &[DELAY, setting("idle"), setting("max_ahead")],
        lowering: Lowering::Watermark,
        ports: &[REJECTED],
        ..stage(
            "watermark",
            &[Positional { what: "source", shape: Shape::Word(&["upstream"]), optional: true }],
            "watermark(delay = 3s)",
        )
    },
    Row {
        gives: Kind::Keyed,
        lowering: Lowering::Select,
        ..stage("key_by", &[needs("key", Shape::Identity)], "key_by(user)")
    },
    Row {
        gives: Kind::Parts,
        lowering: Lowering::Split,
        ..stage("split", &[], "split { large: |event| event.value > 100, rest }")
    },
    Row {
        named: &[ON, RIGHT_ON, WITHIN, DELAY, DISCARD],
        lowering: Lowering::Join,
        ports: &[LATE_LEFT, LATE_RIGHT],
        ..stage("join", &[needs("stream", Shape::Input)], "join(views, on = user, within = -5s..=10s)")
    },
    Row {
        named: &[ON, RIGHT_ON, WITHIN, DELAY, DISCARD],
        lowering: Lowering::Join,
        ports: &[LATE_LEFT, LATE_RIGHT],
        ..stage("left_join", &[needs("stream", Shape::Input)], "left_join(views, on = user, within = -5s..=10s)")
    },
    Row {
        named: &[ON, RIGHT_ON, MISSING, DELAY, DISCARD],
        lowering: Lowering::Enrich,
        ports: &[LATE, LATE_VERSIONS, MISSING_PORT],
        ..stage("enrich", &[needs("table", Shape::Input)], "enrich(users, on = user, missing = keep)")
    },
    Row { named: &[DELAY, DISCARD], example: "process(my_ops::Alert::new())", ..OWN_KEYED },
    Row { example: "operator(my_ops::Enrich::new())", ..OWN },
    window(
        "tumbling",
        &[needs("window size", Shape::PositiveDuration)],
        &[OFFSET, DELAY, LATENESS, EMIT, DISCARD],
        "Tumbling",
        "tumbling(10s, delay = 3s)",
    ),
    window(
        "sliding",
        &[needs("window size", Shape::PositiveDuration)],
        &[EVERY, OFFSET, DELAY, LATENESS, EMIT, DISCARD],
        "Sliding",
        "sliding(60s, every = 5s, delay = 3s)",
    ),
    window(
        "session",
        &[needs("session gap", Shape::PositiveDuration)],
        &[DELAY, LATENESS, EMIT, DISCARD],
        "Session",
        "session(30m, delay = 3s)",
    ),
    Row {
        ports: &[REJECTED],
        ..window(
            "global",
            &[],
            &[required("emit", Shape::Emit), DELAY],
            "Global",
            "global(emit = every(1m), delay = 3s)",
        )
    },
    aggregate("sum", &[VALUE], "sum(value)"),
    aggregate("count", &[], "count()"),
    aggregate("min", &[VALUE], "min(value)"),
    aggregate("max", &[VALUE], "max(value)"),
    aggregate("mean", &[VALUE], "mean(value)"),
    aggregate("first", &[VALUE], "first(value)"),
    aggregate("last", &[VALUE], "last(value)"),
    aggregate("collect", &[], "collect()"),
    aggregate("reduce", &[FUNCTION], "reduce(|a, b| …)"),
    Row {
        named: &[required("merge", Shape::Function)],
        ..aggregate(
            "fold",
            &[needs("initial value", Shape::Expression), FUNCTION],
            "fold(0, |sum, event| sum + event.value, merge = |a, b| a + b)",
        )
    },
    Row {
        named: &[required("by", Shape::Value)],
        ..aggregate("top", &[needs("number", Shape::Count)], "top(3, by = value)")
    },
    aggregate("distinct", &[VALUE], "distinct(user)"),
    aggregate("approx_distinct", &[VALUE], "approx_distinct(user)"),
    aggregate("quantile", &[VALUE, needs("share from 0 to 1", Shape::Fraction)], "quantile(latency, 0.99)"),
    Row {
        lowering: Lowering::Aggregates,
        ..aggregate("aggregate", &[needs("aggregate", Shape::Expression)], "aggregate(total = sum(value), n = count())")
    },
];

impl Port {
    /// Whether late events leave by it.
    pub(crate) fn is_late(&self) -> bool {
        matches!(self.carries, Carries::Late | Carries::LateOther)
    }
}

impl Row {
    pub(crate) fn find(word: &str) -> Option<&'static Row> {
        TABLE.iter().find(|row| row.word == word)
    }

    pub(crate) fn is_window(&self) -> bool {
        matches!(self.lowering, Lowering::Window(_))
    }

    /// Whether it makes one value of a window, and can stand among several.
    pub(crate) fn is_aggregate(&self) -> bool {
        self.takes == Kind::Windowed && self.lowering == Lowering::Call
    }

    /// Whether it sees events in the order of their times, and lets go of them once the watermark has passed.
    pub(crate) fn waits_for_watermark(&self) -> bool {
        matches!(self.lowering, Lowering::Join | Lowering::Enrich | Lowering::Process)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_unique_and_examples_start_with_them() {
        for (position, row) in TABLE.iter().enumerate() {
            assert!(TABLE[..position].iter().all(|other| other.word != row.word), "{}", row.word);
            assert!(row.example.starts_with(row.word), "{}", row.word);
        }
    }
}
