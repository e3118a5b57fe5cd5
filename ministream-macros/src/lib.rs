//! The macros of ministream: `#[pipeline]` and `#[derive(Event)]`. Use them through the crate `ministream`, which
//! re-exports them.
//!
//! A token's way: `parse` (grammar only) → `model` (words resolved against the table in `stages`) → `check` (one function
//! a rule) → `expand` (cannot fail). Each phase collects all of its mistakes, and the next goes on with what was
//! understood; next to errors `fallback` emits the item with a body that stands in.

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
/// pipeline := parameter ('->' stage)*
/// stage    := word [ '(' args ')' ] [ 'as' name ]
/// arg      := [ name '=' ] value          one without a name, in front
/// value    := duration | field | (field, …) | closure | Rust expression
/// field    := ident ('.' ident)*          a field of the event at this point: `user`, `device.id`
/// duration := integer with us ms s m h d w: `10s`, `1_500ms`; or an expression of type `Duration`
/// ```
///
/// A lone identifier that names a parameter of the function is that parameter; otherwise it is a field. Parameters that
/// are no streams are settings, and can be used in arguments and closures; what closures use is cloned.
///
/// # Stages
///
/// | stage | arguments | gives |
/// | --- | --- | --- |
/// | `filter(e)` | a closure, or a `bool` field | a stream |
/// | `map(e)` `flat_map(e)` | a closure, or a field | a stream |
/// | `inspect(e)` | a closure | the stream |
/// | `dedup(id, ttl = …)` | a field, several, or a closure; without `ttl` the smallest that is exact | the stream without copies |
/// | `watermark(delay = …, idle = …, max_ahead = …)` | or `watermark(upstream)` | the stream with a watermark |
/// | `key_by(key)` | a field, `(a, b)`, or a closure | a keyed stream |
/// | `tumbling(size, offset = …)` | and for all windows: `delay = …` (short for a `watermark` stage in front of the `key_by`), `lateness = …`, `late = discard` | windows |
/// | `sliding(size, every = …, offset = …)` | | windows |
/// | `session(gap)` | | windows |
/// | `sum(v)` `min(v)` `max(v)` `mean(v)` `first(v)` `last(v)` | a field or a closure | results |
/// | `count()` `collect()` | | results |
/// | `reduce(f)` `aggregate(a)` | a closure; an `Aggregate` | results |
///
/// The function returns the results and behind them the late events of the window: `(Stream<Pane<K, V>>,
/// Stream<Late<E>>)`, or the results alone with `late = discard` or without a window.
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
