//! The macros of ministream: `#[pipeline]` and `#[derive(Event)]`. Use them through the crate `ministream`, which
//! re-exports them.
//!
//! A token's way: `parse` (grammar only) → `model` (words resolved against the table in `stages`) → `facts` (what each stream
//! is) → `check` (one function a rule) → `expand` and `document` (cannot fail). Each phase collects all of its mistakes, and
//! the next goes on with what was understood; next to errors `fallback` emits the item with a body that stands in.

use proc_macro::TokenStream;

mod captures;
mod check;
mod document;
mod duration;
mod errors;
mod event;
mod expand;
mod facts;
mod fallback;
mod item;
mod model;
mod parse;
mod pipeline;
mod spelling;
mod stages;
mod values;

/// Writes the body of a function from streams to streams.
///
/// ```text
/// #[pipeline(source -> dedup(event_id) -> key_by(user) -> tumbling(10s, delay = 3s, lateness = 5s) -> sum(value))]
/// fn spend_per_user(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);
/// ```
///
/// The body is the calls of the fluent builder: each stage is the method of the same name. What the stages mean is said
/// there.
///
/// # Grammar
///
/// ```text
/// pipeline := flow | '{' ('let' name '=' flow ';')* outputs '}'        outputs := flow | '(' flow, … ')'
/// flow     := input ('->' stage)*
/// input    := parameter | name | name '.' port | 'union' '(' input, … ')'
/// stage    := word [ '(' args ')' ] [ 'as' name ] | 'split' '{' name ':' condition, …, 'rest' '}' | path-expression [ 'as' name ]
/// arg      := [ name '=' ] value          one without a name, in front
/// value    := duration | field | (field, …) | closure | Rust expression
/// field    := ident ('.' ident)*          a field of the event at this point: `user`, `device.id`
/// duration := integer with us ms s m h d w: `10s`, `1_500ms`; or an expression of type `Duration`
/// ```
///
/// A lone identifier that names a parameter of the function is that parameter; otherwise it is a field. Parameters that
/// are no streams are settings, and can be used in arguments and closures; what closures use is cloned.
///
/// `let name = flow;` names a stream, also a keyed one or windows; reading it twice is a tee. Ports are what a stage puts
/// aside, read by the stage's name behind `as`, or by that of the flow. A path is an operator of the user's own:
/// `KeyedOperator` behind a `key_by`, else `Operator`.
///
/// # Stages
///
/// | stage | arguments | gives | ports |
/// | --- | --- | --- | --- |
/// | `filter(e)` | a closure, or a `bool` field | a stream | |
/// | `map(e)` `flat_map(e)` | a closure, or a field | a stream | |
/// | `inspect(e)` | a closure | the stream | |
/// | `dedup(id, ttl = …)` | a field, several, or a closure; without `ttl` the smallest that is exact | the stream without copies | `duplicates` |
/// | `watermark(delay = …, idle = …, max_ahead = …)` | or `watermark(upstream)` | the stream with a watermark | `rejected` |
/// | `split { name: condition, …, rest }` | the first that holds; `rest = discard` drops the others | | its names |
/// | `key_by(key)` | a field, `(a, b)`, or a closure | a keyed stream | |
/// | `tumbling(size, offset = …)` | and for all windows: `delay = …` (short for a `watermark` stage in front of the `key_by`), `lateness = …`, `emit = …`, `late = discard` | windows | `late` |
/// | `sliding(size, every = …, offset = …)` | | windows | `late` |
/// | `session(gap)` | | windows | `late` |
/// | `global(emit = …)` | `emit = every(1s)`, or `emit = on_update` | one window over all time | |
/// | `sum(v)` `min(v)` `max(v)` `mean(v)` `first(v)` `last(v)` `distinct(v)` `approx_distinct(v)` | a field or a closure | results | |
/// | `count()` `collect()` | | results | |
/// | `reduce(f)` `fold(init, f, merge = g)` | closures | results | |
/// | `top(n, by = v)` `quantile(v, q)` | | results | |
/// | `aggregate(a)` | an `Aggregate`; several of those above, `aggregate(sum(v), count())`; with names (`total = sum(v)`) the struct of the return type, or one that is said: `aggregate(Totals { total: sum(v) })` | results | |
/// | `join(b, on = key, within = -5s..=10s)` `left_join(…)` | `right_on = …`, `delay = …`, `late = discard` | pairs | `late_left`, `late_right` |
/// | `enrich(table, on = key, missing = …)` | `missing = keep`, `discard` or `port`; `right_on`, `delay`, `late` | pairs | `late`, `late_versions`, `missing` |
/// | `process(op)` | a `KeyedOperator`; `delay`, `late` | what it puts out | `late` |
/// | `operator(op)` | an `Operator` | what it puts out | |
///
/// In one line the function returns the results, and behind them the late events of each stage in order (and behind those of
/// an `enrich` what `missing = port` puts aside): `(Stream<Pane<K, V>>, Stream<Late<E>>)`, or the results alone with
/// `late = discard` or without a window. In braces it returns what is named.
#[proc_macro_attribute]
pub fn pipeline(attr: TokenStream, item: TokenStream) -> TokenStream {
    pipeline::expand(attr.into(), item.into()).into()
}

/// Implements `Event` for a struct: the field marked `#[event(time)]` is its event time.
///
/// Integers need a unit: `#[event(time, unit = "ms")]`, with `"s"`, `"ms"`, `"us"` or `"ns"`. Fields of type `Timestamp` and
/// `SystemTime`, and with the features `jiff` and `chrono` of ministream the instants of those crates, need none.
#[proc_macro_derive(Event, attributes(event))]
pub fn derive_event(input: TokenStream) -> TokenStream {
    event::derive(input.into()).into()
}
