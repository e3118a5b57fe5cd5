//! The body of the function: the calls of the fluent builder. Cannot fail.
//!
//! User tokens keep their spans, generated ones take the span of the user's token that they stand for, so that what
//! rustc finds wrong is underlined there. Names that are made here cannot meet the user's (mixed-site hygiene).

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ReturnType;
use syn::spanned::Spanned;

use crate::captures::rebinds;
use crate::duration::Duration;
use crate::item::{Item, Param};
use crate::model::{Model, Stage};
use crate::stages::{Lowering, Shape};
use crate::values::{FieldPath, Value, gives_reference};

/// The body of the pipeline.
pub(crate) fn body(item: &Item, source: &Param, model: &Model<'_>) -> TokenStream {
    let carried = source.carries.as_ref().map(|ty| {
        // Said once and at the type, rather than at each stage that stores it.
        let check = quote_spanned! { ty.span() => ::ministream::__private::is_data::<#ty>(); };
        quote! { #check }
    });
    let source = &source.ident;
    let mut calls = Vec::new();
    for (position, stage) in model.stages.iter().enumerate() {
        if stage.word == "key_by" {
            // `delay` on a window is a watermark in front of the `key_by` that feeds it.
            let window = model.stages.get(position + 1);
            calls.extend(
                window.and_then(|window| window.duration("delay")).map(|delay| bounded(delay, &[], stage.word.span())),
            );
        }
        calls.push(stage_calls(stage));
    }
    let at = match &item.sig.output {
        ReturnType::Type(_, ty) => ty.span(),
        ReturnType::Default => item.sig.ident.span(),
    };
    // A mismatch with the return type is underlined where the user wrote it.
    let streams = Ident::new("streams", generated(at));
    let close = quote_spanned! { model.end => .into_streams() };
    quote! {
        #carried
        let #streams = #source #(#calls)* #close;
        #streams
    }
}

/// The calls that one stage becomes.
fn stage_calls(stage: &Stage) -> TokenStream {
    let word = &stage.word;
    let at = word.span();
    let calls = match stage.row.lowering {
        Lowering::Call => {
            let argument = stage.positional.as_ref().map(|value| argument(stage, value));
            quote_spanned! { at => .#word(#argument) }
        }
        Lowering::Select => {
            let by_reference = match &stage.positional {
                Some(Value::Fields(fields)) => fields.len() == 1,
                Some(Value::Closure { closure, .. }) => gives_reference(closure),
                _ => false,
            };
            let method = if by_reference { word.clone() } else { format_ident!("{word}_owned", span = at) };
            let argument = stage.positional.as_ref().map(|value| argument(stage, value));
            let settings = stage.named.iter().map(|(name, value)| {
                let value = argument_of(value);
                quote_spanned! { name.span() => .#name(#value) }
            });
            quote_spanned! { at => .#method(#argument) #(#settings)* }
        }
        Lowering::Watermark => match stage.duration("delay") {
            Some(delay) => {
                let settings: Vec<_> = stage.named.iter().filter(|(name, _)| name != "delay").collect();
                bounded(delay, &settings, at)
            }
            None => quote_spanned! { at => .watermark(::ministream::__private::Upstream) },
        },
        Lowering::Window(type_name) => window_calls(stage, type_name),
    };
    let named = stage.name.as_ref().map(|name| {
        let text = Literal::string(&name.to_string());
        quote_spanned! { name.span() => .named(#text) }
    });
    quote! { #calls #named }
}

fn bounded(delay: &Duration, settings: &[&(Ident, Value)], at: Span) -> TokenStream {
    let delay = duration(delay);
    let settings = settings.iter().map(|(name, value)| {
        let value = argument_of(value);
        quote_spanned! { name.span() => .#name(#value) }
    });
    quote_spanned! { at => .watermark(::ministream::__private::Bounded::new(#delay) #(#settings)*) }
}

fn window_calls(stage: &Stage, type_name: &str) -> TokenStream {
    let at = stage.word.span();
    let type_name = Ident::new(type_name, at);
    let required = stage.row.named.iter().filter(|named| named.required).filter_map(|named| stage.argument(named.name));
    let sizes = stage.positional.iter().chain(required.map(|(_, value)| value)).map(argument_of);
    let offset = stage.argument("offset").map(|(name, value)| {
        let value = argument_of(value);
        quote_spanned! { name.span() => .#name(#value) }
    });
    let lateness = stage.argument("lateness").map(|(name, value)| {
        let value = argument_of(value);
        quote_spanned! { name.span() => .allowed_lateness(#value) }
    });
    let discard = stage.discards_late().then(|| quote_spanned! { at => .discard_late() });
    quote_spanned! { at =>
        .window(::ministream::__private::#type_name::new(#(#sizes),*) #offset) #lateness #discard
    }
}

/// The argument without a name, in the shape that the stage wants it.
fn argument(stage: &Stage, value: &Value) -> TokenStream {
    let shape = stage.row.positional.map(|positional| positional.shape);
    match value {
        Value::Fields(fields) => fields_closure(fields, shape == Some(Shape::Identity), shape == Some(Shape::Value)),
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
        Value::Fields(fields) => fields_closure(fields, false, false),
        // There is no expansion of a pipeline with mistakes.
        Value::Mistake => TokenStream::new(),
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
