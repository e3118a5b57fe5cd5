//! The grammar of the DSL. Knows no stage.
//!
//! ```text
//! pipeline := input ('->' stage)*
//! stage    := word [ '(' args ')' ] [ 'as' name ]
//! arg      := [ name '=' ] value          value: any Rust expression; `10s` is one
//! ```

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Token, parenthesized, token};

use crate::errors::Errors;

/// A pipeline as written.
pub(crate) struct Flow {
    /// None if it could not be read; the reason is among the errors.
    pub(crate) input: Option<Ident>,
    /// None for each that could not be read.
    pub(crate) stages: Vec<Option<Stage>>,
    /// The last token, for what is missing behind it.
    pub(crate) end: Span,
}

/// One step as written.
pub(crate) struct Stage {
    pub(crate) word: Ident,
    pub(crate) args: Vec<Arg>,
    pub(crate) name: Option<Ident>,
}

/// `value`, or `name = value`.
pub(crate) struct Arg {
    pub(crate) name: Option<Ident>,
    pub(crate) value: Expr,
}

/// Parses the tokens of the attribute. Mistakes in one stage do not hide those of the others: what is left of the flow
/// comes with the errors.
pub(crate) fn parse(tokens: TokenStream, errors: &mut Errors) -> Option<Flow> {
    if tokens.is_empty() {
        let what = "an empty pipeline";
        errors.help(Span::call_site(), what, "`#[pipeline(source -> filter(|event| …))]`");
        return None;
    }
    let (segments, arrows) = split_at_arrows(tokens);
    let end = segments.last().and_then(|segment| segment.clone().into_iter().last());
    let end = end.map_or_else(Span::call_site, |token| token.span());
    let mut input = None;
    let mut stages = Vec::new();
    let mut arrow_in_front = false;
    for (position, segment) in segments.into_iter().enumerate() {
        if segment.is_empty() {
            let (arrow, side) = match position.checked_sub(1).and_then(|before| arrows.get(before)) {
                Some(arrow) => (arrow, "behind"),
                None => (arrows.first()?, "in front of"),
            };
            arrow_in_front |= position == 0;
            if !arrow_in_front || position > 0 {
                stages.push(None);
            }
            errors.help_on(
                arrow,
                format!("nothing stands {side} this `->`"),
                "add what is missing, or take the arrow out",
            );
            continue;
        }
        // Behind a stray arrow in front, the stream still comes first.
        let mut tokens = segment.clone().into_iter();
        let is_word = matches!((tokens.next(), tokens.next()), (Some(TokenTree::Ident(_)), None));
        if position == 0 || (position == 1 && arrow_in_front && is_word) {
            input = parse_input(segment, &mut stages, errors);
        } else {
            parse_stages(segment, &mut stages, errors);
        }
    }
    Some(Flow { input, stages, end })
}

/// Cuts at each `->` that is not inside of parentheses.
fn split_at_arrows(tokens: TokenStream) -> (Vec<TokenStream>, Vec<TokenStream>) {
    let mut segments = vec![TokenStream::new()];
    let mut arrows = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_char = |token: &TokenTree, c| matches!(token, TokenTree::Punct(punct) if punct.as_char() == c);
        if is_char(&token, '-')
            && let Some(head) = tokens.next_if(|next| is_char(next, '>'))
        {
            arrows.push(TokenStream::from_iter([token, head]));
            segments.push(TokenStream::new());
        } else if let Some(segment) = segments.last_mut() {
            segment.extend([token]);
        }
    }
    (segments, arrows)
}

/// The first segment: the name of a stream, and nothing behind it.
fn parse_input(segment: TokenStream, stages: &mut Vec<Option<Stage>>, errors: &mut Errors) -> Option<Ident> {
    if let Some(TokenTree::Group(group)) = segment.clone().into_iter().next() {
        not_yet_group(&group, errors);
        stages.push(None);
        return None;
    }
    let parse = |input: ParseStream<'_>| Ok((input.call(Ident::parse_any)?, input.parse::<TokenStream>()?));
    let (ident, rest) = match parse.parse2(segment) {
        Ok(parsed) => parsed,
        Err(error) => {
            let what = "a pipeline starts with the name of a stream";
            errors.help(error.span(), what, "`source -> …`, where `source` is a parameter of the function");
            return None;
        }
    };
    let mut rest_tokens = rest.clone().into_iter();
    match (rest_tokens.next(), rest_tokens.next()) {
        (None, _) => Some(ident),
        (Some(TokenTree::Group(group)), _) if group.delimiter() == Delimiter::Parenthesis && ident == "union" => {
            not_yet(ident.span(), "`union`", "run one pipeline for each stream", errors);
            None
        }
        (Some(TokenTree::Group(group)), _) if group.delimiter() == Delimiter::Parenthesis => {
            // It looks like a stage, and there is no stream in front of it.
            let what = format!("a pipeline starts with one of the function's streams, and `{ident}(…)` is a stage");
            errors.help(ident.span(), what, format!("`source -> {ident}(…)`"));
            stages.push(None);
            None
        }
        (Some(first), _) => {
            missing_arrow(&first, errors);
            if matches!(first, TokenTree::Ident(_)) {
                parse_stages(rest, stages, errors);
            } else {
                stages.push(None);
            }
            Some(ident)
        }
    }
}

/// One stage; or several where the arrows between them are missing.
fn parse_stages(segment: TokenStream, stages: &mut Vec<Option<Stage>>, errors: &mut Errors) {
    let mut rest = segment;
    while !rest.is_empty() {
        let parse = |input: ParseStream<'_>| Ok((input.parse::<Stage>()?, input.parse::<TokenStream>()?));
        match parse.parse2(rest) {
            Ok((stage, behind)) => {
                stages.push(Some(stage));
                if let Some(first) = behind.clone().into_iter().next() {
                    missing_arrow(&first, errors);
                    if !matches!(first, TokenTree::Ident(_)) {
                        stages.push(None);
                        return;
                    }
                }
                rest = behind;
            }
            Err(error) => {
                errors.add(error, "a stage is written `word(argument, name = value)`");
                stages.push(None);
                return;
            }
        }
    }
}

fn missing_arrow(found: &TokenTree, errors: &mut Errors) {
    match found {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => not_yet_group(group, errors),
        _ => errors.help(found.span(), format!("expected `->`, found `{found}`"), "stages are joined by `->`"),
    }
}

fn not_yet_group(group: &Group, errors: &mut Errors) {
    let (what, help) = match group.delimiter() {
        Delimiter::Brace => ("the form in braces", "write the pipeline in one line: `source -> …`"),
        _ => ("a flow that starts with a bracket", "start with a stream: `source -> …`"),
    };
    not_yet(group.span_open(), what, help, errors);
}

fn not_yet(at: Span, what: &str, help: &str, errors: &mut Errors) {
    errors.help(at, format!("{what} is not part of this version of ministream"), help);
}

impl Parse for Stage {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ahead = input.fork();
        if ahead.call(Ident::parse_any).is_ok() && ahead.peek(Token![::]) || input.peek(Token![::]) {
            return Err(help_at(
                input.span(),
                "an operator of your own in the line form is not part of this version of ministream",
                "use `map`, `flat_map`, `filter` or `inspect` with a closure",
            ));
        }
        let word = input.call(Ident::parse_any).map_err(|error| {
            help_at(
                error.span(),
                "expected the word of a stage",
                "stages are words such as `filter`, `key_by` and `sum`",
            )
        })?;
        if input.peek(token::Brace) {
            return Err(help_at(
                word.span(),
                &format!("`{word} {{ … }}` is not part of this version of ministream"),
                "run one pipeline with a `filter` for each part",
            ));
        }
        if input.peek(token::Bracket) {
            return Err(help_at(input.span(), "arguments stand in parentheses", &format!("`{word}(…)`")));
        }
        let mut args = Vec::new();
        if input.peek(token::Paren) {
            let content;
            parenthesized!(content in input);
            args = Punctuated::<Arg, Token![,]>::parse_terminated(&content)?.into_iter().collect();
        }
        let mut name = None;
        if input.peek(Token![as]) {
            let behind: Token![as] = input.parse()?;
            name = Some(input.call(Ident::parse_any).map_err(|_| {
                help_at(behind.span, "a name is missing behind `as`", &format!("`{word}(…) as totals`"))
            })?);
        }
        Ok(Stage { word, args, name })
    }
}

impl Parse for Arg {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let named = input.peek(syn::Ident::peek_any)
            && input.peek2(Token![=])
            && !input.peek2(Token![==])
            && !input.peek2(Token![=>]);
        let mut name = None;
        if named {
            name = Some(input.call(Ident::parse_any)?);
            input.parse::<Token![=]>()?;
            if input.is_empty() || input.peek(Token![,]) {
                let at = name.as_ref().map_or_else(|| input.span(), Ident::span);
                return Err(help_at(at, "a value is missing behind `=`", "such as `delay = 3s`"));
            }
        }
        let value: Expr = input.parse()?;
        if !input.is_empty() && !input.peek(Token![,]) {
            let found: TokenTree = input.parse()?;
            return Err(help_at(
                found.span(),
                &format!("expected `,`, found `{found}`"),
                "arguments are separated by `,`, and a duration is one word: `10s`",
            ));
        }
        Ok(Arg { name, value })
    }
}

fn help_at(at: Span, what: &str, help: &str) -> syn::Error {
    syn::Error::new(at, format!("{what}\nhelp: {help}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (Option<Flow>, Vec<String>) {
        let mut errors = Errors::default();
        let flow = parse(text.parse().unwrap(), &mut errors);
        (flow, errors.messages())
    }

    #[test]
    fn a_line_of_stages() {
        let (flow, errors) = parsed("source -> dedup(event_id, ttl = 20s) as d -> key_by((a, b.c)) -> count");
        let flow = flow.unwrap();
        assert_eq!(errors, [] as [&str; 0]);
        assert_eq!(flow.input.unwrap(), "source");
        let stages: Vec<_> = flow.stages.into_iter().map(Option::unwrap).collect();
        let words: Vec<_> = stages.iter().map(|stage| (stage.word.to_string(), stage.args.len())).collect();
        assert_eq!(words, [("dedup".to_owned(), 2), ("key_by".to_owned(), 1), ("count".to_owned(), 0)]);
        assert_eq!(stages[0].name.as_ref().unwrap(), "d");
        assert_eq!(stages[0].args[1].name.as_ref().unwrap(), "ttl");
    }

    #[test]
    fn closures_may_hold_arrows() {
        let (flow, errors) = parsed("source -> map(|e: Click| -> i64 { e.value }) -> filter(|v| *v > 1)");
        assert_eq!(errors, [] as [&str; 0]);
        assert_eq!(flow.unwrap().stages.len(), 2);
    }

    #[test]
    fn each_mistake_is_reported_and_the_rest_is_read() {
        let cases = [
            ("", "an empty pipeline"),
            ("source -> count() ->", "nothing stands behind this `->`"),
            ("-> count()", "nothing stands in front of this `->`"),
            ("source -> -> count()", "nothing stands behind this `->`"),
            ("source dedup(id) -> count()", "expected `->`, found `dedup`"),
            ("source.late -> count()", "expected `->`, found `.`"),
            ("source | count()", "expected `->`, found `|`"),
            (
                "key_by(user) -> count()",
                "a pipeline starts with one of the function's streams, and `key_by(…)` is a stage",
            ),
            ("union(a, b) -> count()", "`union` is not part of this version of ministream"),
            ("{ let a = b; a }", "the form in braces is not part of this version of ministream"),
            ("source -> split { a: f, rest }", "`split { … }` is not part of this version of ministream"),
            (
                "source -> my::Op::new(1)",
                "an operator of your own in the line form is not part of this version of ministream",
            ),
            ("source -> tumbling[10s]", "arguments stand in parentheses"),
            ("source -> tumbling(10 s)", "expected `,`, found `s`"),
            ("source -> tumbling(10s, delay =)", "a value is missing behind `=`"),
            ("source -> 5s", "expected the word of a stage"),
            ("source -> count() as", "a name is missing behind `as`"),
            ("source -> count() as \"totals\"", "a name is missing behind `as`"),
        ];
        for (text, expected) in cases {
            let (_, errors) = parsed(text);
            assert_eq!(errors.len(), 1, "{text}: {errors:?}");
            assert_eq!(errors[0].lines().next(), Some(expected), "{text}");
        }
    }
}
