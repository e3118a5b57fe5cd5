//! What the user wrote, as text.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::{Expr, Type};

/// An expression about as its user wrote it.
pub(crate) fn spelled(value: &Expr) -> String {
    if let Expr::Closure(closure) = value {
        let inputs: Vec<_> = closure.inputs.iter().map(|input| tidied(&input.to_token_stream())).collect();
        return format!("|{}| {}", inputs.join(", "), spelled(&closure.body));
    }
    tidied(&value.to_token_stream())
}

fn tidied(tokens: &TokenStream) -> String {
    let text = tokens.to_string();
    text.replace(" . ", ".")
        .replace(" (", "(")
        .replace("( ", "(")
        .replace(" )", ")")
        .replace(" :: ", "::")
        .replace(" ,", ",")
}

/// A type as its user would write it.
pub(crate) fn type_text(ty: &Type) -> String {
    let text = ty.to_token_stream().to_string();
    text.replace(" <", "<")
        .replace("< ", "<")
        .replace(" >", ">")
        .replace(" ,", ",")
        .replace(" ;", ";")
        .replace("& ", "&")
        .replace(" ::", "::")
        .replace(":: ", "::")
}

/// What stands at a place, on one line and not too long; None if it stands in no file.
pub(crate) fn source_text(at: Span) -> Option<String> {
    const LONGEST: usize = 100;
    let text = at.source_text()?;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    })
}
