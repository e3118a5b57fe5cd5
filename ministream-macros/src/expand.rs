//! The body of the function: the calls of the fluent builder. Cannot fail.
//!
//! Each flow becomes a statement, `let name = source.calls…;`, cut where a port is taken: `let (s, w_late) =
//! ….with_late();`. A stream that is read more than once is closed, and cloned for all reads but the last.
//!
//! User tokens keep their spans, generated ones take the span of the user's token that they stand for, so that what
//! rustc finds wrong is underlined there. Names that are made here cannot meet the user's (mixed-site hygiene).

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ReturnType;
use syn::spanned::Spanned;

use crate::captures::rebinds;
use crate::duration::Duration;
use crate::facts::Streams;
use crate::model::{Aggregates, Flow, PortOf, Rest, Source, Stage};
use crate::stages::{Carries, Kind, Lowering, Port, Shape};
use crate::values::{Bound, Emit, FieldPath, Value, gives_reference};

/// The body of the pipeline.
pub(crate) fn body(streams: &Streams<'_>) -> TokenStream {
    let mut body = Body { streams, read: Vec::new(), statements: TokenStream::new() };
    for param in streams.item.streams() {
        if let Some(ty) = &param.carries {
            // Said once and at the type, rather than at each stage that stores it.
            body.statements.extend(quote_spanned! { ty.span() => ::ministream::__private::is_data::<#ty>(); });
        }
    }
    let mut outputs = Vec::new();
    for (number, flow) in streams.model.flows.iter().enumerate() {
        let chain = body.flow(number, flow);
        if let Some(name) = &flow.name {
            let ident = made(&name.to_string(), name.span());
            if streams.end(number).kind != Kind::Parts {
                let chain = if body.is_closed(number) { close(&chain, last_of(flow)) } else { chain };
                body.statements.extend(quote! { let #ident = #chain; });
            }
        } else {
            let ident = made(&format!("output_{}", outputs.len()), streams.model.end);
            let chain = close(&chain, last_of(flow));
            body.statements.extend(quote! { let #ident = #chain; });
            outputs.push(quote! { #ident });
        }
    }
    outputs.extend(streams.model.wired().map(|(place, port)| {
        let ident = port_ident(place, port.name, streams.model.end);
        quote! { #ident }
    }));
    let at = match &streams.item.sig.output {
        ReturnType::Type(_, ty) => ty.span(),
        ReturnType::Default => streams.item.sig.ident.span(),
    };
    // A mismatch with the return type is underlined where the user wrote it.
    let result = Ident::new("streams", generated(at));
    let statements = body.statements;
    let all = match outputs.as_slice() {
        [one] => quote! { #one },
        all => quote! { (#(#all),*) },
    };
    quote! {
        #statements
        let #result = #all;
        #result
    }
}

/// The body under work.
struct Body<'a> {
    streams: &'a Streams<'a>,
    /// What was read so far.
    read: Vec<Read>,
    statements: TokenStream,
}

#[derive(PartialEq, Eq)]
enum Read {
    Param(usize),
    Flow(usize),
    Port(PortOf),
}

impl Body<'_> {
    /// The chain of a flow; what its ports need stands among the statements in front of it.
    fn flow(&mut self, number: usize, flow: &Flow) -> TokenStream {
        let mut chain = self.source(&flow.source);
        let last_key = flow.stages.iter().rposition(|stage| stage.row.gives == Kind::Keyed);
        for (position, stage) in flow.stages.iter().enumerate() {
            let place = (number, position);
            let mut at = stage.word.span();
            if stage.row.gives == Kind::Keyed {
                chain = self.watermark_of_delay(chain, place, stage);
                if last_key == Some(position) && self.is_cloned(number) {
                    chain = close(&chain, stage.word.span());
                }
            }
            chain = match stage.row.lowering {
                Lowering::Split => self.split(chain, place, stage),
                Lowering::Join | Lowering::Enrich => self.two_inputs(chain, place, stage),
                Lowering::Process | Lowering::Operator => self.own(chain, stage),
                _ if stage.row.takes == Kind::Windowed => {
                    let key = last_key.and_then(|key| flow.stages.get(key)).unwrap_or(stage);
                    let windows = self.step(chain, key.word.span());
                    if stage.row.lowering == Lowering::Aggregates
                        && let (None, Some(value)) = (&stage.aggregates, stage.positional.first())
                    {
                        at = first_of(value, at);
                        let aggregate = self.step_named("__aggregate", argument_of(value), at);
                        quote_spanned! { at => ::ministream::__private::aggregate(#windows, #aggregate) }
                    } else {
                        aggregate_call(self.streams, place, stage, &windows)
                    }
                }
                _ => {
                    let calls = stage_calls(stage);
                    quote! { #chain #calls }
                }
            };
            if stage.row.takes == Kind::Windowed || stage.row.waits_for_watermark() || stage.is_own() {
                chain = self.step(chain, at);
            }
            if stage.row.lowering != Lowering::Split {
                if let Some(name) = &stage.name {
                    let text = Literal::string(&name.to_string());
                    chain = quote_spanned! { name.span() => #chain.named(#text) };
                }
                chain = self.ports(chain, place, stage);
            }
        }
        chain
    }

    /// Gives what was made so far a name that stands where its stage does: what rustc finds wrong with it further on is what
    /// it has said of that place already, and it says it once.
    fn step(&mut self, chain: TokenStream, at: Span) -> TokenStream {
        self.step_named("__step", chain, at)
    }

    fn step_named(&mut self, name: &str, value: TokenStream, at: Span) -> TokenStream {
        let step = Ident::new(name, at);
        self.statements.extend(quote_spanned! { at => let #step = #value; });
        quote! { #step }
    }

    /// `delay` on a window is a watermark in front of the `key_by` that feeds it.
    fn watermark_of_delay(&mut self, chain: TokenStream, (flow, key): (usize, usize), key_by: &Stage) -> TokenStream {
        let place = (flow, key + 1);
        let Some((window, delay)) = self.streams.stage(place).and_then(|w| Some((w, w.duration("delay")?))) else {
            return chain;
        };
        let watermark = bounded(delay, &[], key_by.word.span());
        let chain = quote! { #chain #watermark };
        match window.ports().find(|port| port.name == "rejected") {
            Some(port) if self.streams.reads_of_port(place, port.name) > 0 => {
                self.port(chain, place, port, key_by.word.span())
            }
            _ => chain,
        }
    }

    /// Takes the ports of a stage that are read.
    fn ports(&mut self, mut chain: TokenStream, place: (usize, usize), stage: &Stage) -> TokenStream {
        let at = stage.word.span();
        for port in stage.ports() {
            let is_wired = self.streams.model.one_line && port.carries != Carries::Optional;
            let is_delay = stage.row.is_window() && port.name == "rejected";
            if !is_delay && (is_wired || self.streams.reads_of_port(place, port.name) > 0) {
                chain = self.port(chain, place, port, at);
            }
        }
        chain
    }

    fn port(&mut self, chain: TokenStream, place: (usize, usize), port: &Port, at: Span) -> TokenStream {
        let (rest, taken) = (Ident::new("__step", at), port_ident(place, port.name, at));
        let method = Ident::new(port.method, at);
        self.statements.extend(quote_spanned! { at => let (#rest, #taken) = #chain.#method(); });
        quote! { #rest }
    }

    fn split(&mut self, chain: TokenStream, place: (usize, usize), stage: &Stage) -> TokenStream {
        let mut chain = chain;
        for (name, condition) in &stage.branches {
            let at = name.span();
            let (rest, part) = (Ident::new("s", generated(at)), port_ident(place, &name.to_string(), at));
            let condition = argument(Shape::Take, condition);
            let text = Literal::string(&name.to_string());
            self.statements.extend(quote_spanned! { at => let (#rest, #part) = #chain.split_off(#condition); });
            chain = quote_spanned! { at => #rest.named(#text) };
        }
        let at = stage.word.span();
        match &stage.rest {
            Rest::Port(name) => {
                let rest = port_ident(place, &name.to_string(), at);
                let closed = close(&chain, at);
                self.statements.extend(quote_spanned! { at => let #rest = #closed; });
            }
            _ => {
                let closed = close(&chain, at);
                self.statements.extend(quote_spanned! { at => #closed.discard(); });
            }
        }
        TokenStream::new()
    }

    /// `.process(…)`, or `.operator(…)`
    fn own(&mut self, chain: TokenStream, stage: &Stage) -> TokenStream {
        let at = stage.word.span();
        let Some(value) = stage.positional.first() else { return chain };
        let operator = argument_of(value);
        let operator = self.step_named("__operator", operator, at);
        let method = Ident::new(stage.row.word, at);
        let discard = stage.discards_late().then(|| quote_spanned! { at => .discard_late() });
        quote_spanned! { at => #chain.#method(#operator) #discard }
    }

    /// `.key_by(…).join(other.key_by(…), …)`
    fn two_inputs(&mut self, chain: TokenStream, place: (usize, usize), stage: &Stage) -> TokenStream {
        let at = stage.word.span();
        let (Some((_, on)), Some(Value::Input(other))) = (stage.argument("on"), stage.positional.first()) else {
            return chain;
        };
        let key = Ident::new("key_by", at);
        let (left, right) = (select_call(&key, on), stage.argument("right_on").map_or(on, |(_, right)| right));
        let right = select_call(&key, right);
        // `delay` is a watermark for each side that has none.
        let sides = [self.streams.before(place).clock, self.streams.at(other).clock];
        let [watermark, other_watermark] = sides.map(|clock| match stage.duration("delay") {
            Some(delay) if clock.is_none() => bounded(delay, &[], at),
            _ => TokenStream::new(),
        });
        // The left side first: it may be a clone of what the other moves.
        let chain = self.step(quote_spanned! { at => #chain #watermark #left }, at);
        let other = self.source(other);
        let on = stage.argument("right_on").or(stage.argument("on")).map_or(at, |(name, _)| name.span());
        let other = self.step_named("__other", quote_spanned! { at => #other #other_watermark #right }, on);
        let discard = stage.discards_late().then(|| quote_spanned! { at => .discard_late() });
        if stage.row.lowering == Lowering::Enrich {
            let method = if stage.says("missing", "keep") { "enrich_or_none" } else { "enrich" };
            let method = Ident::new(method, at);
            let missing = stage.says("missing", "discard").then(|| quote_spanned! { at => .discard_missing() });
            return quote_spanned! { at => #chain.#method(#other) #missing #discard };
        }
        let within = match stage.argument("within") {
            Some((name, Value::Within(lower, upper))) => {
                let (lower, upper) = (bound(lower), bound(upper));
                quote_spanned! { name.span() => #lower..=#upper }
            }
            _ => TokenStream::new(),
        };
        let method = &stage.word;
        quote_spanned! { at => #chain.#method(#other, #within) #discard }
    }

    /// A stream, or a clone of it where it is read again.
    fn source(&mut self, source: &Source) -> TokenStream {
        let (read, ident, reads) = match source {
            Source::Param(number, name) => {
                let reads = self.streams.reads(|source| matches!(source, Source::Param(of, _) if of == number));
                (Read::Param(*number), name.clone(), reads)
            }
            Source::Flow(number, name) => {
                let reads = self.streams.reads(|source| matches!(source, Source::Flow(of, _) if of == number));
                (Read::Flow(*number), made(&name.to_string(), name.span()), reads)
            }
            Source::Port(port, name) => {
                let reads = self.streams.reads_of_port((port.flow, port.stage), &port.port);
                (Read::Port(port.clone()), port_ident((port.flow, port.stage), &port.port, name.span()), reads)
            }
            Source::Union(sources, word) => {
                let inputs: Vec<_> = sources.iter().map(|source| self.source(source)).collect();
                let Some((first, others)) = inputs.split_first() else { return TokenStream::new() };
                return quote_spanned! { word.span() => #first.union([#(#others),*]) };
            }
            Source::Unknown => return TokenStream::new(),
        };
        let before = self.read.iter().filter(|earlier| **earlier == read).count();
        self.read.push(read);
        if before + 1 < reads {
            let clone = quote_spanned! { generated(ident.span()) => ::ministream::__private::Clone::clone };
            quote! { #clone(&#ident) }
        } else {
            quote! { #ident }
        }
    }

    /// Whether a flow is put into the graph where it ends, rather than where it is read.
    fn is_closed(&self, flow: usize) -> bool {
        let is_it = |source: &Source| matches!(source, Source::Flow(of, _) if *of == flow);
        let in_union = |source: &Source| matches!(source, Source::Union(..)) && source.leaves().into_iter().any(is_it);
        let arguments = |flow: &Flow| {
            flow.stages
                .iter()
                .flat_map(|stage| &stage.positional)
                .any(|value| matches!(value, Value::Input(of) if in_union(of)))
        };
        let is_united = self.streams.model.flows.iter().any(|flow| in_union(&flow.source) || arguments(flow));
        self.streams.end(flow).kind == Kind::Stream && (is_united || self.streams.reads(is_it) > 1)
    }

    /// Whether a keyed or windowed stream is read more than once, or what is made of it is.
    fn is_cloned(&self, flow: usize) -> bool {
        if !matches!(self.streams.end(flow).kind, Kind::Keyed | Kind::Windowed) {
            return false;
        }
        let is_it = |source: &Source| matches!(source, Source::Flow(of, _) if *of == flow);
        let mut made_of_it = self.streams.model.flows.iter().enumerate().filter(|(_, other)| is_it(&other.source));
        self.streams.reads(is_it) > 1 || made_of_it.any(|(other, _)| self.is_cloned(other))
    }
}

/// Where a value starts.
fn first_of(value: &Value, otherwise: Span) -> Span {
    match value {
        Value::Expr(expr) => expr.span(),
        _ => otherwise,
    }
}

/// Where a flow ends.
fn last_of(flow: &Flow) -> Span {
    let source = match &flow.source {
        Source::Param(_, name) | Source::Flow(_, name) | Source::Port(_, name) | Source::Union(_, name) => name.span(),
        Source::Unknown => Span::call_site(),
    };
    flow.stages.last().map_or(source, |stage| stage.word.span())
}

/// Puts a chain into the graph. A function, and not the method `into_streams`: of a method whose conditions do not hold
/// rustc names the type of the whole chain, of a function the condition.
fn close(chain: &TokenStream, at: Span) -> TokenStream {
    quote_spanned! { at => ::ministream::__private::close(#chain) }
}

/// What a stream is called that leaves by a port.
fn port_ident((flow, stage): (usize, usize), port: &str, at: Span) -> Ident {
    Ident::new(&format!("port_{flow}_{stage}_{port}"), generated(at))
}

/// A name of the user's for a stream, which no closure can mean.
fn made(name: &str, at: Span) -> Ident {
    Ident::new(name, generated(at))
}

/// The calls that one stage becomes.
fn stage_calls(stage: &Stage) -> TokenStream {
    let word = &stage.word;
    let at = word.span();
    match stage.row.lowering {
        Lowering::Call => {
            let arguments = call_arguments(stage);
            quote_spanned! { at => .#word(#(#arguments),*) }
        }
        Lowering::Select => {
            let select = stage.positional.first().map(|value| select_call(word, value));
            let settings = stage.named.iter().map(|(name, value)| {
                let value = argument_of(value);
                quote_spanned! { name.span() => .#name(#value) }
            });
            quote! { #select #(#settings)* }
        }
        Lowering::Watermark => match stage.duration("delay") {
            Some(delay) => {
                let settings: Vec<_> = stage.named.iter().filter(|(name, _)| name != "delay").collect();
                bounded(delay, &settings, at)
            }
            None => quote_spanned! { at => .watermark(::ministream::__private::Upstream) },
        },
        Lowering::Window(type_name) => window_calls(stage, type_name),
        // These are more than calls behind a chain.
        Lowering::Aggregates
        | Lowering::Split
        | Lowering::Join
        | Lowering::Enrich
        | Lowering::Process
        | Lowering::Operator => TokenStream::new(),
    }
}

/// `.key_by(|event| &event.user)`, or `.key_by_owned(…)`.
fn select_call(method: &Ident, value: &Value) -> TokenStream {
    let at = method.span();
    let by_reference = match value {
        Value::Fields(fields) => fields.len() == 1,
        Value::Closure { closure, .. } => gives_reference(closure),
        _ => false,
    };
    let method = if by_reference { method.clone() } else { format_ident!("{method}_owned", span = at) };
    let argument = argument(Shape::Identity, value);
    quote_spanned! { at => .#method(#argument) }
}

/// The arguments without a name, and behind them those with one that are required.
fn call_arguments(stage: &Stage) -> Vec<TokenStream> {
    let positional = stage.row.positional.iter().zip(&stage.positional);
    let positional = positional.map(|(positional, value)| argument(positional.shape, value));
    let required = stage.row.named.iter().filter(|named| named.required);
    let required = required.filter_map(|named| Some(argument(named.shape, stage.argument(named.name)?.1)));
    positional.chain(required).collect()
}

/// `aggregate_with(windows, |of| of.sum(…))`: a function for the same reason as `close`.
fn aggregate_call(streams: &Streams<'_>, place: (usize, usize), stage: &Stage, windows: &TokenStream) -> TokenStream {
    let at = stage.word.span();
    let of = Ident::new("__of", at);
    let one = |stage: &Stage| {
        let (word, arguments) = (&stage.word, call_arguments(stage));
        quote_spanned! { word.span() => #of.#word(#(#arguments),*) }
    };
    let all = match &stage.aggregates {
        Some(aggregates) => several(aggregates, streams.struct_at(place), &of, one, at),
        None => one(stage),
    };
    quote_spanned! { at => ::ministream::__private::aggregate_with(#windows, |#of| #all) }
}

/// `(of.sum(…), of.count())`, and what is made of it.
fn several(
    aggregates: &Aggregates,
    makes: Option<&syn::Path>,
    of: &Ident,
    one: impl Fn(&Stage) -> TokenStream,
    at: Span,
) -> TokenStream {
    let calls: Vec<_> = aggregates.entries.iter().map(|(_, stage)| one(stage)).collect();
    let fields: Option<Vec<_>> = aggregates.entries.iter().map(|(name, _)| name.as_ref()).collect();
    match (calls.as_slice(), fields, aggregates.makes.as_ref().or(makes)) {
        (_, Some(fields), Some(path)) => {
            let values: Vec<_> = fields.iter().map(|name| made(&name.to_string(), name.span())).collect();
            quote_spanned! { at => #of.map((#(#calls,)*), |(#(#values,)*)| #path { #(#fields: #values),* }) }
        }
        ([one], _, _) => quote! { #one },
        (calls, _, _) => quote! { (#(#calls),*) },
    }
}

fn bounded(delay: &Duration, settings: &[&(Ident, Value)], at: Span) -> TokenStream {
    let delay = duration(delay);
    let settings = settings.iter().map(|(name, value)| {
        let value = argument_of(value);
        quote_spanned! { name.span() => .#name(#value) }
    });
    quote_spanned! { at => .watermark(::ministream::__private::Bounded::new(#delay) #(#settings)*) }
}

fn bound(bound: &Bound) -> TokenStream {
    let by = duration(&bound.by);
    if bound.before {
        quote! { ::ministream::__private::before(#by) }
    } else {
        quote! { ::ministream::__private::after(#by) }
    }
}

fn window_calls(stage: &Stage, type_name: &str) -> TokenStream {
    let at = stage.word.span();
    let type_name = Ident::new(type_name, at);
    let every = stage.argument("every").map(|(_, every)| every);
    let sizes = stage.positional.iter().chain(every).map(argument_of);
    let setting = |name: &str, method: &str| {
        stage.argument(name).map(|(name, value)| {
            let (method, value) = (Ident::new(method, name.span()), argument_of(value));
            quote_spanned! { name.span() => .#method(#value) }
        })
    };
    let (offset, lateness) = (setting("offset", "offset"), setting("lateness", "allowed_lateness"));
    let emit = setting("emit", "emit");
    // Nothing is ever late for a window that has no end.
    let discards = stage.discards_late() || stage.ports().all(|port| port.carries == Carries::Optional);
    let discard = discards.then(|| quote_spanned! { at => .discard_late() });
    quote_spanned! { at =>
        .window(::ministream::__private::#type_name::new(#(#sizes),*) #offset) #lateness #emit #discard
    }
}

/// An argument in the shape that the stage wants it.
fn argument(shape: Shape, value: &Value) -> TokenStream {
    match value {
        Value::Fields(fields) => fields_closure(fields, shape == Shape::Identity, shape == Shape::Value),
        value => argument_of(value),
    }
}

/// A closure that takes fields out of the event: a reference to one, clones of several, or the field itself.
fn fields_closure(fields: &[FieldPath], identity: bool, cloned: bool) -> TokenStream {
    let clone_of = |field: &FieldPath| {
        let (event, place) = place(field);
        let clone = quote_spanned! { generated(field.span) => ::ministream::__private::Clone::clone };
        (event, quote_spanned! { field.span => #clone(&#place) })
    };
    match fields {
        [field] if identity => {
            let (event, place) = place(field);
            quote_spanned! { field.span => |#event| &#place }
        }
        [field] if cloned => {
            let (event, clone) = clone_of(field);
            quote_spanned! { field.span => |#event| #clone }
        }
        [field] => {
            let (event, place) = place(field);
            quote_spanned! { field.span => |#event| #place }
        }
        fields => {
            let event = Ident::new("event", Span::mixed_site());
            let clones = fields.iter().map(|field| clone_of(field).1);
            quote! { |#event| (#(#clones,)*) }
        }
    }
}

/// `event.device.id`, and the `event` in it.
fn place(field: &FieldPath) -> (Ident, TokenStream) {
    let event = Ident::new("event", generated(field.span));
    let members = &field.members;
    let place = quote_spanned! { field.span => #event #(.#members)* };
    (event, place)
}

fn argument_of(value: &Value) -> TokenStream {
    match value {
        Value::Duration(value) => duration(value),
        Value::Closure { closure, settings } => {
            let mut closure = closure.clone();
            let at = closure.span();
            // The chain outlives the function, so its closures own the settings that they use.
            closure.capture.get_or_insert_with(|| syn::Token![move](at));
            if settings.is_empty() {
                return quote! { #closure };
            }
            // A clone that is not used after all is no warning.
            let unsure = settings.iter().filter(|setting| rebinds(&closure, setting));
            quote! {
                {
                    #(let #settings = ::ministream::__private::Clone::clone(&#settings);)*
                    #(let _ = &#unsure;)*
                    #closure
                }
            }
        }
        Value::Expr(expr) => quote! { #expr },
        Value::Word(word) => quote! { #word },
        Value::Emit(Emit::OnUpdate(at)) => quote_spanned! { *at => ::ministream::__private::Emit::on_update() },
        Value::Emit(Emit::Every(at, step)) => {
            let step = duration(step);
            quote_spanned! { *at => ::ministream::__private::Emit::every(#step) }
        }
        Value::Fields(fields) => fields_closure(fields, false, false),
        // There is no expansion of a pipeline with mistakes; and these are parts of calls of their own.
        Value::Mistake | Value::Input(_) | Value::Within(..) => TokenStream::new(),
    }
}

fn duration(duration: &Duration) -> TokenStream {
    match duration {
        Duration::Literal(literal) => {
            let micros = Literal::u64_suffixed(literal.micros.unsigned_abs());
            quote_spanned! { literal.span => ::ministream::__private::Duration::from_micros(#micros) }
        }
        Duration::Expr(expr) => quote! { #expr },
    }
}

/// The place of a user's token, for names that are made here.
fn generated(at: Span) -> Span {
    Span::mixed_site().located_at(at)
}
