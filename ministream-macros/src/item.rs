//! The function that `#[pipeline]` stands on.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, GenericArgument, Pat, PathArguments, ReturnType, Signature, Type, Visibility};

use crate::errors::Errors;
use crate::spelling::type_text;

/// A function without a body, as the user wrote it.
pub(crate) struct Item {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) params: Vec<Param>,
    /// The user wrote a body; it is emitted again with the errors.
    has_body: Option<Span>,
}

/// A parameter with a name.
#[derive(Clone)]
pub(crate) struct Param {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    /// What the stream carries, if it is a `Stream<…>`.
    pub(crate) carries: Option<Type>,
}

impl Item {
    /// Parses the item; None if it is no function at all.
    pub(crate) fn parse(tokens: TokenStream, errors: &mut Errors) -> Option<Item> {
        let at = tokens.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span());
        let is_function =
            tokens.clone().into_iter().any(|token| matches!(token, TokenTree::Ident(word) if word == "fn"));
        let parse = |input: ParseStream<'_>| {
            let attrs = input.call(Attribute::parse_outer)?;
            let vis = input.parse()?;
            let sig: Signature = input.parse()?;
            let body: TokenStream = input.parse()?;
            Ok((attrs, vis, sig, body))
        };
        match parse.parse2(tokens) {
            Ok((attrs, vis, sig, body)) => {
                let params = params_of(&sig);
                let body = body.into_iter().find(|token| !matches!(token, TokenTree::Punct(p) if p.as_char() == ';'));
                Some(Item { attrs, vis, sig, params, has_body: body.map(|token| token.span()) })
            }
            Err(error) => {
                let is_function = is_function.then(|| error.span());
                errors.help(
                    is_function.unwrap_or(at),
                    format!("`#[pipeline]` stands on a function without a body: {error}"),
                    "`fn totals(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);`",
                );
                None
            }
        }
    }

    /// The parameters that are streams.
    pub(crate) fn streams(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(|param| param.carries.is_some())
    }

    /// The parameters that are settings.
    pub(crate) fn settings(&self) -> impl Iterator<Item = &Ident> {
        self.params.iter().filter(|param| param.carries.is_none()).map(|param| &param.ident)
    }

    /// Rule: a pipeline is a plain function from streams to streams, and the attribute writes its body.
    pub(crate) fn check(&self, errors: &mut Errors) {
        if let Some(body) = self.has_body {
            errors.help(body, "the attribute writes the body of a pipeline", "end the function with `;`");
        }
        if let Some(token) = &self.sig.asyncness {
            let what = "a pipeline is not async: it does no I/O, and pushing an event never waits";
            errors.help(token.span(), what, "leave `async` out");
        }
        if let Some(token) = &self.sig.constness {
            errors.help(token.span(), "a pipeline cannot be a const function", "leave `const` out");
        }
        let safety = self.sig.safety.to_token_stream();
        if !safety.is_empty() {
            errors.help(safety.span(), "a pipeline is a safe function", "leave the word out");
        }
        if let Some(abi) = &self.sig.abi {
            errors.help(abi.span(), "a pipeline cannot be an extern function", "leave `extern` out");
        }
        if let Some(receiver) = self.sig.receiver() {
            let what = "a pipeline is a free function, not a method";
            errors.help_on(receiver, what, "move it out of the `impl`, and hand settings in as parameters");
        } else if self.streams().next().is_none() {
            let at = self.sig.paren_token.span.join();
            let what = "a pipeline reads at least one stream, and this function has none";
            errors.help(at, what, "add a parameter such as `source: Stream<Click>`");
        }
        for param in self.streams() {
            if let Some(by_value) = referenced(&param.ty) {
                let ident = &param.ident;
                let help = format!("`{ident}: {}`", type_text(by_value));
                errors.help_on(
                    &param.ty,
                    format!("a pipeline takes its streams by value, and `{ident}` is a reference"),
                    help,
                );
            }
        }
        if let Some(variadic) = &self.sig.variadic {
            errors.help(variadic.span(), "a pipeline cannot be variadic", "name each stream and each setting");
        }
        if matches!(self.sig.output, ReturnType::Default) {
            let what = "a pipeline says in its return type what it gives";
            errors.help(self.sig.paren_token.span.close(), what, "add `-> Stream<…>`, or a tuple of streams");
        }
    }

    /// The function with this body, and these docs behind the user's own.
    pub(crate) fn with_body(&self, body: &TokenStream, docs: &str) -> TokenStream {
        let Item { attrs, vis, sig, .. } = self;
        let is_doc = |attr: &Attribute| attr.path().is_ident("doc");
        // A paragraph of its own.
        let gap = attrs.iter().any(is_doc).then(|| quote! { #[doc = ""] });
        // A type for each stream is what a pipeline has to say.
        quote! { #(#attrs)* #gap #[doc = #docs] #[allow(clippy::type_complexity)] #vis #sig { #body } }
    }
}

fn params_of(sig: &Signature) -> Vec<Param> {
    let typed = sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => Some(typed),
        FnArg::Receiver(_) => None,
    });
    typed
        .filter_map(|typed| match &*typed.pat {
            Pat::Ident(pat) => {
                // One by reference is a mistake of its own, and a stream to all other rules.
                let by_value = referenced(&typed.ty).unwrap_or(&typed.ty);
                let carries = carried_by(by_value).cloned();
                Some(Param { ident: pat.ident.clone(), ty: (*typed.ty).clone(), carries })
            }
            _ => None,
        })
        .collect()
}

/// The `T` of `&T` and `&mut T`.
pub(crate) fn referenced(ty: &Type) -> Option<&Type> {
    match ungrouped(ty) {
        Type::Reference(reference) => Some(&reference.elem),
        _ => None,
    }
}

/// The `T` of a `Stream<T>`, by its name.
pub(crate) fn carried_by(ty: &Type) -> Option<&Type> {
    arguments_of(ty, "Stream")?.next()
}

/// The type arguments of a type with this name.
pub(crate) fn arguments_of<'a>(ty: &'a Type, name: &str) -> Option<impl Iterator<Item = &'a Type>> {
    let Type::Path(path) = ungrouped(ty) else { return None };
    let last = path.path.segments.last().filter(|segment| segment.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    Some(arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    }))
}

/// The type without the invisible groups that other macros leave.
pub(crate) fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungrouped(&group.elem),
        Type::Paren(paren) => ungrouped(&paren.elem),
        _ => ty,
    }
}

/// The streams of the return type, if it is written out: `Stream<A>` or `(Stream<A>, …)`.
pub(crate) fn returned(output: &Type) -> Option<Vec<&Type>> {
    match ungrouped(output) {
        Type::Tuple(tuple) => Some(tuple.elems.iter().collect()),
        ty => carried_by(ty).map(|_| vec![ty]),
    }
}
