//! What the user wrote, as text.

use proc_macro2::Span;
use quote::ToTokens;
use syn::{Expr, Type};

/// An expression about as its user wrote it.
pub(crate) fn spelled(value: &Expr) -> String {
    let text = value.to_token_stream().to_string();
    text.replace(" . ", ".").replace(" (", "(").replace("( ", "(").replace(" )", ")").replace(" :: ", "::")
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
