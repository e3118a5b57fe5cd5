//! Which settings a closure uses. Those are cloned for it, and a clone that nobody uses would be a warning in the user's
//! code: so this goes by paths, not by tokens, and `event.least` is no use of a setting `least`.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::visit::{Visit, visit_expr};
use syn::{Expr, ExprClosure, ExprPath, Macro, PatIdent};

/// Whether a closure uses a variable of the function around it.
pub(crate) fn captures(closure: &ExprClosure, ident: &Ident) -> bool {
    let mut bound = Bound { ident, found: false };
    closure.inputs.iter().for_each(|input| bound.visit_pat(input));
    let mut used = Used { ident, found: false };
    used.visit_expr(&closure.body);
    used.found && !bound.found
}

/// Whether a closure binds the identifier to something else somewhere inside: then its use may be that other one.
pub(crate) fn rebinds(closure: &ExprClosure, ident: &Ident) -> bool {
    let mut bound = Bound { ident, found: false };
    bound.visit_expr_closure(closure);
    bound.found
}

/// Looks for a pattern that binds the identifier.
struct Bound<'a> {
    ident: &'a Ident,
    found: bool,
}

impl<'ast> Visit<'ast> for Bound<'_> {
    fn visit_pat_ident(&mut self, pat: &'ast PatIdent) {
        self.found |= pat.ident == *self.ident;
    }
}

/// Looks for an expression that names the identifier.
struct Used<'a> {
    ident: &'a Ident,
    found: bool,
}

impl<'ast> Visit<'ast> for Used<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Verbatim(tokens) => self.found |= mentions(tokens.clone(), self.ident),
            expr => visit_expr(self, expr),
        }
    }

    fn visit_expr_path(&mut self, path: &'ast ExprPath) {
        let mut segments = path.path.segments.iter();
        let is_it = segments.next().is_some_and(|first| first.ident == *self.ident) && segments.next().is_none();
        self.found |= is_it && path.qself.is_none();
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.found |= mentions(call.tokens.clone(), self.ident);
    }
}

/// Whether the arguments of a macro name the identifier: as a word that is no field, or inside of a format string.
fn mentions(tokens: TokenStream, ident: &Ident) -> bool {
    let is_dot = |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == '.');
    let tokens: Vec<_> = tokens.into_iter().collect();
    tokens.iter().enumerate().any(|(position, token)| match token {
        TokenTree::Ident(found) => {
            let before = |steps| position.checked_sub(steps).and_then(|position| tokens.get(position));
            // Behind `..` it is the end of a range.
            let is_field = is_dot(before(1)) && !is_dot(before(2));
            found == ident && !is_field
        }
        TokenTree::Group(group) => mentions(group.stream(), ident),
        TokenTree::Literal(literal) => {
            let text = literal.to_string();
            [format!("{{{ident}}}"), format!("{{{ident}:")].iter().any(|named| text.contains(named.as_str()))
        }
        TokenTree::Punct(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_are_told_from_names_that_only_look_like_it() {
        let ident: Ident = syn::parse_str("least").unwrap();
        let cases = [
            ("|e| e.value > least", true),
            ("|e| { let a = [least]; a[0] < e.value }", true),
            ("|e| least(e)", true),
            ("|e| least.contains(e)", true),
            ("|e| Found { least }", true),
            ("|e| println!(\"{}\", f(least))", true),
            ("|e| println!(\"{least}\")", true),
            ("|e| println!(\"{least:?}\")", true),
            ("|e| matches!(e.value, 0..least)", true),
            ("|e| e.least > 1", false),
            ("|e| e.least()", false),
            ("|e| println!(\"{}\", e.least)", false),
            ("|e| Found { least: 1 }", false),
            ("|e| limits::least", false),
            ("|least| least > 1", false),
            ("|(least, e)| least > e", false),
        ];
        for (closure, expected) in cases {
            assert_eq!(captures(&syn::parse_str(closure).unwrap(), &ident), expected, "{closure}");
        }
    }
}
