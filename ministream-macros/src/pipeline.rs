//! `#[pipeline]`: the phases in order.

use proc_macro2::TokenStream;

use crate::errors::Errors;
use crate::item::Item;
use crate::{check, expand, model, parse};

/// The function with its body; with mistakes, the errors and the function with a body that stands in.
pub(crate) fn expand(attr: TokenStream, item_tokens: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Some(item) = Item::parse(item_tokens.clone(), &mut errors) else {
        let errors = errors.to_compile_errors();
        return quote::quote! { #errors #item_tokens };
    };
    item.check(&mut errors);
    match body(&item, attr, &mut errors) {
        Some(body) if errors.is_empty() => item.with_body(&body),
        _ => {
            let errors = errors.to_compile_errors();
            let stub = item.with_stub();
            quote::quote! { #errors #stub }
        }
    }
}

/// A phase with mistakes stops the next one.
fn body(item: &Item, attr: TokenStream, errors: &mut Errors) -> Option<TokenStream> {
    let flow = parse::parse(attr, errors);
    let parsed = errors.is_empty();
    let model = model::resolve(item, flow, errors)?;
    if parsed && errors.is_empty() {
        check::check(item, &model, errors);
    }
    errors.is_empty().then(|| expand::body(item, &model))
}
