//! What is emitted next to errors: the item with a body that stands in, so that one mistake does not turn all that uses
//! the item red.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{DeriveInput, ReturnType};

use crate::item::{Item, carried_by, referenced};

/// The function of a pipeline with a body that never returns.
pub(crate) fn function(item: &Item, errors: Option<TokenStream>) -> TokenStream {
    let errors = said(errors);
    let Item { attrs, vis, sig, .. } = item;
    let mut sig = sig.clone();
    // A stream by reference is among the errors, and a lifetime that is missing would be one more.
    if let ReturnType::Type(_, output) = &mut sig.output
        && let Some(by_value) = referenced(output).filter(|ty| carried_by(ty).is_some()).cloned()
    {
        **output = by_value;
    }
    quote! {
        #errors
        #(#attrs)*
        #[allow(unused, clippy::all)]
        #vis #sig {
            loop {}
        }
    }
}

/// What is no function is emitted as it was written.
pub(crate) fn tokens(item: &TokenStream, errors: Option<TokenStream>) -> TokenStream {
    let errors = said(errors);
    quote! { #errors #item }
}

/// An implementation of `Event` whose method never returns.
pub(crate) fn event(input: &DeriveInput, errors: Option<TokenStream>) -> TokenStream {
    let errors = said(errors);
    let implementation = crate::event::implementation(input, &quote! { loop {} });
    quote! { #errors #implementation }
}

/// A stand-in never comes without an error: it would compile, and never return.
fn said(errors: Option<TokenStream>) -> TokenStream {
    let forgotten = "this could not be read, and no phase of the macro says why: please report it";
    errors.unwrap_or_else(|| syn::Error::new(Span::call_site(), forgotten).to_compile_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stand_in_never_comes_without_an_error() {
        for errors in [None, Some(quote! { compile_error! { "wrong" } })] {
            let text = tokens(&quote! { struct A; }, errors).to_string();
            assert!(text.contains("compile_error") && text.ends_with("struct A ;"), "{text}");
        }
    }
}
