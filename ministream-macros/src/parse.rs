//! The grammar of the DSL. Knows no stage.
//!
//! ```text
//! pipeline := flow | '{' ('let' name '=' flow ';')* outputs '}'
//! outputs  := flow | '(' flow, … ')'
//! flow     := input ('->' stage)*
//! input    := name | name '.' port | 'union' '(' input, … ')'
//! stage    := word [ '(' args ')' ] [ 'as' name ] | word '{' branches '}' [ 'as' name ] | path-expression [ 'as' name ]
//! arg      := [ name '=' ] value          value: any Rust expression; `10s` is one
//! branch   := name ':' value | 'rest' [ '=' 'discard' ]
//! ```

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Member, Token, braced, parenthesized, token};

use crate::errors::{Errors, SEVERAL_AGGREGATES};
use crate::spelling::{source_text, spelled};

/// A pipeline as written: flows that have a name, and those that go out.
pub(crate) struct Pipeline {
    pub(crate) lets: Vec<Let>,
    pub(crate) outputs: Vec<Flow>,
    /// In one line, the late events are wired by themselves.
    pub(crate) one_line: bool,
    /// The last token, for what is missing behind it.
    pub(crate) end: Span,
}

/// `let name = flow;`
pub(crate) struct Let {
    pub(crate) name: Ident,
    pub(crate) flow: Flow,
}

/// A stream, and the stages that it goes through.
pub(crate) struct Flow {
    /// None if it could not be read; the reason is among the errors.
    pub(crate) input: Option<Input>,
    /// None for each that could not be read.
    pub(crate) stages: Vec<Option<Stage>>,
    /// The last token, for what is missing behind it.
    pub(crate) end: Span,
}

/// Where a flow starts.
pub(crate) enum Input {
    Name(Ident),
    Port(Ident, Ident),
    Union(Ident, Vec<Option<Input>>),
}

/// One step as written.
pub(crate) struct Stage {
    pub(crate) what: What,
    pub(crate) name: Option<Ident>,
    /// As it is written, for the docs.
    pub(crate) written: String,
}

/// What a step is written as.
pub(crate) enum What {
    Word(Ident, Vec<Arg>),
    Branches(Ident, Vec<Branch>),
    /// An operator of the user's own.
    Path(Expr),
}

/// `value`, or `name = value`.
pub(crate) struct Arg {
    pub(crate) name: Option<Ident>,
    pub(crate) value: Expr,
}

/// `name: value`, or `rest`.
pub(crate) struct Branch {
    pub(crate) name: Ident,
    pub(crate) value: Option<Expr>,
    /// `= discard`
    pub(crate) discarded: bool,
}

/// Parses the tokens of the attribute. Mistakes in one stage do not hide those of the others: what is left of the pipeline
/// comes with the errors.
pub(crate) fn parse(tokens: TokenStream, errors: &mut Errors) -> Option<Pipeline> {
    if tokens.is_empty() {
        let what = "an empty pipeline";
        errors.help(Span::call_site(), what, "`#[pipeline(source -> filter(|event| …))]`");
        return None;
    }
    let mut trees = tokens.clone().into_iter();
    if let (Some(TokenTree::Group(group)), rest) = (trees.next(), trees.next())
        && group.delimiter() == Delimiter::Brace
    {
        if let Some(token) = rest {
            let shown = if is_char(&token, '-') { "->".to_owned() } else { token.to_string() };
            let what = format!("nothing stands behind the braces, and there is `{shown}`");
            errors.help(token.span(), what, "give it a name inside: `let totals = …;`");
        }
        return parse_braces(&group, errors);
    }
    let tokens = without_more_stages(tokens, errors);
    if let Some(at) = wants_braces(&tokens) {
        let what = "a pipeline of several flows stands in braces";
        let example = match is_let(&tokens) {
            true => "`#[pipeline({ let big = …; big -> … })]`",
            false => "`#[pipeline({ (a -> …, b -> …) })]`",
        };
        errors.help(at, what, example);
        let group = |delimiter: Delimiter, tokens: TokenStream| {
            let mut group = Group::new(delimiter, tokens);
            group.set_span(at);
            group
        };
        let is_whole = is_let(&tokens) || lone_parentheses(&tokens).is_some();
        let tokens = if is_whole { tokens } else { TokenTree::from(group(Delimiter::Parenthesis, tokens)).into() };
        return parse_braces(&group(Delimiter::Brace, tokens), errors);
    }
    let flow = parse_flow(without_semicolon(tokens, errors), Span::call_site(), errors)?;
    let end = flow.end;
    Some(Pipeline { lets: Vec::new(), outputs: vec![flow], one_line: true, end })
}

/// A line without what stands behind a comma that should be an arrow: `a -> sum(b), count()`.
fn without_more_stages(tokens: TokenStream, errors: &mut Errors) -> TokenStream {
    let (mut flows, commas) = split_at_char(tokens.clone(), ',');
    let is_call = |flow: &TokenStream| {
        let mut tokens = flow.clone().into_iter();
        let (word, arguments, behind) = (tokens.next(), tokens.next(), tokens.next());
        let is_word = matches!(word, Some(TokenTree::Ident(word)) if word != "union");
        is_word && matches!(arguments, Some(TokenTree::Group(_))) && behind.is_none()
    };
    match commas.first() {
        Some(comma) if flows.iter().skip(1).all(is_call) => {
            errors.help(*comma, "stages are joined by `->`, and there is `,`", SEVERAL_AGGREGATES);
            flows.swap_remove(0)
        }
        _ => tokens,
    }
}

/// Where a line shows that it is more than one flow: `let a = …; a`, `(a -> b, c)`, or `a -> b, c`.
fn wants_braces(tokens: &TokenStream) -> Option<Span> {
    if is_let(tokens) {
        return tokens.clone().into_iter().next().map(|token| token.span());
    }
    if let Some(group) = lone_parentheses(tokens) {
        return Some(group.span_open()).filter(|_| split_at_char(group.stream(), ',').0.len() > 1);
    }
    split_at_char(tokens.clone(), ',').1.first().copied()
}

/// The parentheses around everything.
fn lone_parentheses(tokens: &TokenStream) -> Option<Group> {
    let mut trees = tokens.clone().into_iter();
    match (trees.next(), trees.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::Parenthesis => Some(group),
        _ => None,
    }
}

/// A line is no statement.
fn without_semicolon(tokens: TokenStream, errors: &mut Errors) -> TokenStream {
    let mut trees: Vec<TokenTree> = tokens.into_iter().collect();
    if let Some(semicolon) = trees.pop_if(|last| is_char(last, ';')) {
        errors.help(semicolon.span(), "nothing stands behind a pipeline, and there is `;`", "take it out");
    }
    trees.into_iter().collect()
}

/// `{ let a = …; (a -> …, …) }`
fn parse_braces(group: &Group, errors: &mut Errors) -> Option<Pipeline> {
    let end = group.span_close();
    if group.stream().is_empty() {
        errors.help(group.span_open(), "an empty pipeline", "`{ let big = source -> filter(…); big -> … }`");
        return None;
    }
    let (statements, semicolons) = split_at_char(group.stream(), ';');
    let mut semicolons = semicolons.into_iter();
    let mut parts: Vec<(TokenStream, Option<Span>)> = Vec::new();
    for statement in statements {
        let mut rest = statement;
        while let Some((front, behind)) = missing_semicolon(&rest, errors) {
            parts.push((front, Some(group.span())));
            rest = behind;
        }
        parts.push((rest, semicolons.next()));
    }
    let (mut last, _) = parts.pop()?;
    if last.is_empty()
        && let Some((outputs, Some(semicolon))) = parts.pop_if(|(statement, _)| is_output(statement))
    {
        errors.help(semicolon, "the last flow goes out, and a `;` stands behind it", "take the `;` out");
        last = outputs;
    }
    let mut lets = Vec::new();
    for (statement, semicolon) in parts {
        if statement.is_empty() {
            let at = semicolon.unwrap_or(end);
            errors.help(at, "nothing stands in front of this `;`", "take it out");
        } else if is_let(&statement) {
            lets.extend(parse_let(statement, errors));
        } else if let Some((front, name, behind)) = name_of_assignment(&statement) {
            let help = format!("`let {name} = …;`");
            match front {
                Some(word) => errors.help(word.span(), "a flow gets its name by `let`", help),
                None => errors.help(name.span(), "`let` is missing in front of the name", help),
            }
            let keyword = Ident::new("let", name.span());
            let statement = [TokenTree::from(keyword), TokenTree::from(name)].into_iter().chain(behind);
            lets.extend(parse_let(statement.collect(), errors));
        } else {
            let what = "a flow without a name goes out, and only the last can";
            let help = "give it a name: `let name = …;`; or put all that goes out in parentheses at the end";
            errors.help_on(statement, what, help);
        }
    }
    if last.is_empty() {
        let names: Vec<String> = lets.iter().map(|statement: &Let| statement.name.to_string()).collect();
        let help = match names.as_slice() {
            [] => "end with a flow without `;`: `source -> …`".to_owned(),
            [name] => format!("end with what goes out, without `;`: `{name}`"),
            names => format!("end with what goes out, without `;`: `({})`", names.join(", ")),
        };
        errors.help(end, "nothing goes out of this pipeline", help);
        return Some(Pipeline { lets, outputs: Vec::new(), one_line: false, end });
    }
    if is_let(&last) {
        let what = "the last of the braces is what goes out, and this is a `let`";
        errors.help_on(&last, what, "end it with `;`, and name what goes out behind it");
        lets.extend(parse_let(last, errors));
        return Some(Pipeline { lets, outputs: Vec::new(), one_line: false, end });
    }
    let outputs = parse_outputs(last, errors);
    Some(Pipeline { lets, outputs, one_line: false, end })
}

/// Where a `let` goes on as if the next statement had begun: `let a = b -> c(d) a -> e`.
fn missing_semicolon(statement: &TokenStream, errors: &mut Errors) -> Option<(TokenStream, TokenStream)> {
    let tokens: Vec<TokenTree> = statement.clone().into_iter().collect();
    let is_word = |token: &TokenTree, word: &str| matches!(token, TokenTree::Ident(ident) if ident == word);
    let equals = tokens.iter().position(|token| is_char(token, '='))?;
    if !is_let(statement) {
        return None;
    }
    let starts = |position: usize| {
        let (before, token) = (tokens.get(position - 1)?, tokens.get(position)?);
        let ends = match before {
            TokenTree::Group(_) => true,
            TokenTree::Ident(ident) => ident != "as" && ident != "let" && ident != "split",
            _ => false,
        };
        let begins = match token {
            TokenTree::Ident(ident) => ident != "as",
            TokenTree::Group(group) => {
                group.delimiter() == Delimiter::Parenthesis && matches!(before, TokenTree::Group(_))
            }
            _ => false,
        };
        (ends && begins || is_word(token, "let")).then_some(position)
    };
    let position = (equals + 2..tokens.len()).find_map(starts)?;
    // In one line an arrow is as likely missing as a semicolon.
    let (before, found) = (tokens.get(position - 1)?, tokens.get(position)?);
    let is_next_line = before.span().end().line < found.span().start().line;
    if !is_next_line && !is_word(found, "let") {
        return None;
    }
    let shown = match found {
        TokenTree::Group(_) => "(".to_owned(),
        token => token.to_string(),
    };
    errors.help(found.span(), format!("`;` is missing in front of `{shown}`"), "end each `let` with `;`");
    Some((tokens.iter().take(position).cloned().collect(), tokens.iter().skip(position).cloned().collect()))
}

/// The `a` of `a = b -> …`, `a := b -> …` and `const a = b -> …`: the word in front, the name, and what stands behind it.
fn name_of_assignment(statement: &TokenStream) -> Option<(Option<Ident>, Ident, TokenStream)> {
    let tokens: Vec<TokenTree> = statement.clone().into_iter().take(4).collect();
    let (front, name, behind) = match tokens.as_slice() {
        [TokenTree::Ident(word), TokenTree::Ident(name), equals, ..] if is_char(equals, '=') => (Some(word), name, 2),
        [TokenTree::Ident(name), equals, ..] if is_char(equals, '=') => (None, name, 1),
        [TokenTree::Ident(name), colon, equals, ..] if is_char(colon, ':') && is_char(equals, '=') => (None, name, 2),
        _ => return None,
    };
    Some((front.cloned(), name.clone(), trees_behind(statement.clone(), behind)))
}

/// Whether a statement is neither a `let`, nor meant to be one.
fn is_output(statement: &TokenStream) -> bool {
    !statement.is_empty() && !is_let(statement) && name_of_assignment(statement).is_none()
}

fn is_let(statement: &TokenStream) -> bool {
    matches!(statement.clone().into_iter().next(), Some(TokenTree::Ident(ident)) if ident == "let")
}

/// One flow with its name. Of patterns, each name is known, so that what reads them is no mistake as well.
fn parse_let(statement: TokenStream, errors: &mut Errors) -> Vec<Let> {
    let mut tokens: Vec<TokenTree> = statement.into_iter().collect();
    if let (Some(TokenTree::Ident(mutable)), Some(TokenTree::Ident(name))) = (tokens.get(1), tokens.get(2))
        && mutable == "mut"
    {
        errors.help(mutable.span(), "a stream never changes", format!("`let {name} = …;`"));
        tokens.remove(1);
    }
    let name = match tokens.get(1) {
        Some(TokenTree::Ident(name)) => Some(name.clone()),
        _ => None,
    };
    let unread = |at: Span| Flow { input: None, stages: vec![None], end: at };
    if let Some(TokenTree::Group(pattern)) = tokens.get(1) {
        let what = "a `let` names one stream";
        let help = "`let w = …;`: what leaves by its ports is `w.late`, the parts of a `split` are `parts.rest`";
        errors.help(pattern.span_open(), what, help);
        let names = pattern.stream().into_iter().filter_map(|token| match token {
            TokenTree::Ident(name) => Some(Let { flow: unread(name.span()), name }),
            _ => None,
        });
        return names.collect();
    }
    let parse = |input: ParseStream<'_>| {
        let keyword: Token![let] = input.parse()?;
        let name = input
            .call(Ident::parse_any)
            .map_err(|_| help_at(keyword.span, "a name is missing behind `let`", "`let big = source -> filter(…);`"))?;
        if input.peek(Token![:]) {
            return Err(help_at(input.span(), "a stream's type is not written here", &format!("`let {name} = …;`")));
        }
        if !input.peek(Token![=]) {
            return Err(help_at(name.span(), "`=` is missing behind the name", &format!("`let {name} = …;`")));
        }
        let equals: Token![=] = input.parse()?;
        Ok((name, equals, input.parse::<TokenStream>()?))
    };
    let found = match parse.parse2(tokens.into_iter().collect()) {
        Ok((name, equals, flow)) => {
            if flow.is_empty() {
                errors.help(equals.span, "nothing stands behind this `=`", format!("`let {name} = source -> …;`"));
                return vec![Let { flow: unread(name.span()), name }];
            }
            let flow = parse_flow(flow, equals.span, errors).unwrap_or_else(|| unread(name.span()));
            Let { name, flow }
        }
        Err(error) => {
            let at = error.span();
            errors.add(error, "`let name = source -> …;`");
            // Its name is known all the same, where it has one.
            Let { name: name.unwrap_or_else(|| Ident::new("unnamed", at)), flow: unread(at) }
        }
    };
    vec![found]
}

/// One flow, or several in parentheses.
fn parse_outputs(tokens: TokenStream, errors: &mut Errors) -> Vec<Flow> {
    let mut trees = tokens.clone().into_iter();
    let (first, second) = (trees.next(), trees.next());
    if let (Some(TokenTree::Ident(word)), Some(_)) = (&first, &second)
        && word == "return"
    {
        errors.help(word.span(), "the last of the braces goes out as it is", "leave `return` out");
        return parse_outputs(trees_behind(tokens, 1), errors);
    }
    let (Some(TokenTree::Group(group)), None) = (&first, &second) else {
        let (flows, commas) = split_at_char(tokens, ',');
        if let Some(comma) = commas.first() {
            errors.help(*comma, "several flows that go out stand in parentheses", "`(a -> …, b)`");
        }
        return flows.into_iter().filter_map(|flow| parse_flow(flow, Span::call_site(), errors)).collect();
    };
    if group.delimiter() != Delimiter::Parenthesis {
        let what = "what goes out is a flow, or several in parentheses";
        errors.help(group.span_open(), what, "`(totals, w.late)`");
        return Vec::new();
    }
    if group.stream().is_empty() {
        errors.help(group.span_open(), "nothing goes out of this pipeline", "`(totals, w.late)`");
        return Vec::new();
    }
    let (mut outputs, _) = split_at_char(group.stream(), ',');
    // A comma may stand behind the last.
    if outputs.last().is_some_and(TokenStream::is_empty) && outputs.len() > 1 {
        outputs.pop();
    }
    let mut flows = Vec::new();
    for output in outputs {
        if output.is_empty() {
            errors.help(group.span_open(), "one of the outputs is empty", "`(totals, w.late)`");
        } else {
            flows.extend(parse_flow(output, group.span_open(), errors));
        }
    }
    flows
}

/// All but the first tokens.
fn trees_behind(tokens: TokenStream, count: usize) -> TokenStream {
    tokens.into_iter().skip(count).collect()
}

fn parse_flow(tokens: TokenStream, at: Span, errors: &mut Errors) -> Option<Flow> {
    let (segments, arrows) = split_at_arrows(tokens);
    let end = segments.last().and_then(|segment| segment.clone().into_iter().last());
    let end = end.map_or(at, |token| token.span());
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

fn is_char(token: &TokenTree, c: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == c)
}

/// Cuts at each `->` that is not inside of parentheses.
fn split_at_arrows(tokens: TokenStream) -> (Vec<TokenStream>, Vec<TokenStream>) {
    let mut segments = vec![TokenStream::new()];
    let mut arrows = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
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

/// Cuts at each character that is neither inside of parentheses nor of `::<…>`.
fn split_at_char(tokens: TokenStream, c: char) -> (Vec<TokenStream>, Vec<Span>) {
    let mut segments = vec![TokenStream::new()];
    let mut cuts = Vec::new();
    let (mut depth, mut before) = (0_usize, [' '; 2]);
    for token in tokens {
        let now = match &token {
            TokenTree::Punct(punct) => punct.as_char(),
            _ => ' ',
        };
        match (before, now) {
            ([':', ':'], '<') => depth += 1,
            (_, '<') if depth > 0 => depth += 1,
            ([_, '-'], '>') => {}
            (_, '>') => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = [before[1], now];
        if depth == 0 && is_char(&token, c) {
            cuts.push(token.span());
            segments.push(TokenStream::new());
        } else if let Some(segment) = segments.last_mut() {
            segment.extend([token]);
        }
    }
    (segments, cuts)
}

/// The first segment: a stream, and nothing behind it.
fn parse_input(segment: TokenStream, stages: &mut Vec<Option<Stage>>, errors: &mut Errors) -> Option<Input> {
    let mut tokens = segment.clone().into_iter();
    let first = tokens.next();
    if let Some(TokenTree::Group(group)) = &first {
        let what = "a flow starts with the name of a stream";
        let help = match group.delimiter() {
            Delimiter::Brace => "the form in braces has them around everything: `#[pipeline({ let a = …; a -> … })]`",
            _ if first_word(group.stream()).is_some() && tokens.next().is_none() => "leave the parentheses out",
            _ => "`source -> …`; several streams as one are `union(a, b)`",
        };
        errors.help(group.span_open(), what, help);
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
        (None, _) => Some(Input::Name(ident)),
        (Some(TokenTree::Group(group)), behind) if group.delimiter() == Delimiter::Parenthesis && ident == "union" => {
            if let Some(token) = behind {
                missing_arrow(&token, errors);
                stages.push(None);
            }
            Some(parse_union(ident, group.stream(), errors))
        }
        (Some(TokenTree::Group(group)), None) if ident == "union" => {
            errors.help(group.span_open(), "the inputs of a `union` stand in parentheses", "`union(a, b)`");
            Some(parse_union(ident, group.stream(), errors))
        }
        (Some(TokenTree::Group(group)), _)
            if group.delimiter() == Delimiter::Parenthesis && PUT_TOGETHER.iter().any(|word| ident == word) =>
        {
            errors.help(ident.span(), "streams are put together by `union`", "`union(a, b) -> …`");
            Some(parse_union(ident, group.stream(), errors))
        }
        (Some(TokenTree::Group(group)), _) if group.delimiter() == Delimiter::Parenthesis => {
            // It looks like a stage, and there is no stream in front of it.
            let what = format!("a pipeline starts with one of the function's streams, and `{ident}(…)` is a stage");
            errors.help(ident.span(), what, format!("`source -> {ident}(…)`"));
            stages.push(None);
            None
        }
        (Some(dot), Some(TokenTree::Ident(port))) if is_char(&dot, '.') => {
            let behind = rest_tokens.next();
            if matches!(behind, Some(TokenTree::Group(_))) {
                // The calls of the builder, rather than stages.
                missing_arrow(&dot, errors);
                parse_stages(rest.into_iter().skip(1).collect(), stages, errors);
                return Some(Input::Name(ident));
            }
            if let Some(token) = behind {
                missing_arrow(&token, errors);
                stages.push(None);
            }
            Some(Input::Port(ident, port))
        }
        (Some(first), _) => {
            missing_arrow(&first, errors);
            if looks_like_a_stage(&rest) {
                parse_stages(rest, stages, errors);
            } else {
                stages.push(None);
            }
            Some(Input::Name(ident))
        }
    }
}

/// What other systems call a union.
pub(crate) const PUT_TOGETHER: [&str; 6] = ["merge", "concat", "chain", "connect", "combine", "zip"];

/// The first token, if it is a word.
fn first_word(tokens: TokenStream) -> Option<Ident> {
    match tokens.into_iter().next() {
        Some(TokenTree::Ident(word)) => Some(word),
        _ => None,
    }
}

/// `union(a, b.late)`
fn parse_union(word: Ident, inputs: TokenStream, errors: &mut Errors) -> Input {
    match Punctuated::<Expr, Token![,]>::parse_terminated.parse2(inputs) {
        Ok(inputs) => Input::Union(word, inputs.iter().map(|input| Input::read(input, errors)).collect()),
        Err(error) => {
            errors.add(error, "`union(a, b.late)`; a stream with stages gets a name first: `let big = …;`");
            Input::Union(word, vec![None])
        }
    }
}

impl Input {
    /// A stream where an argument names one; None if it is none, with the reason among the errors.
    pub(crate) fn read(value: &Expr, errors: &mut Errors) -> Option<Input> {
        let lone = |value: &Expr| match value {
            Expr::Path(path) if path.qself.is_none() => path.path.get_ident().cloned(),
            _ => None,
        };
        match value {
            Expr::Group(group) => return Input::read(&group.expr, errors),
            Expr::Paren(paren) => return Input::read(&paren.expr, errors),
            Expr::Path(_) => {
                if let Some(ident) = lone(value) {
                    return Some(Input::Name(ident));
                }
            }
            Expr::Field(field) => {
                if let (Some(name), Member::Named(port)) = (lone(&field.base), &field.member) {
                    return Some(Input::Port(name, port.clone()));
                }
            }
            Expr::Call(call) => {
                if let Some(word) = lone(&call.func).filter(|word| word == "union") {
                    return Some(Input::Union(word, call.args.iter().map(|arg| Input::read(arg, errors)).collect()));
                }
            }
            _ => {}
        }
        let help = "the name of a stream (`views`), a port (`w.late`) or `union(a, b)`; with stages, give it a name: \
                    `let name = …;`";
        errors.help_on(value, "this is no stream", help);
        None
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
                    if !looks_like_a_stage(&behind) {
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

/// Whether these tokens are a word with arguments, or a path.
fn looks_like_a_stage(tokens: &TokenStream) -> bool {
    let mut tokens = tokens.clone().into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Ident(_)), Some(TokenTree::Group(_))) => true,
        (Some(TokenTree::Ident(_)), Some(colon)) => is_char(&colon, ':'),
        _ => false,
    }
}

fn missing_arrow(found: &TokenTree, errors: &mut Errors) {
    match found {
        TokenTree::Group(group) => {
            let shown = match group.delimiter() {
                Delimiter::Brace => "{",
                Delimiter::Bracket => "[",
                _ => "(",
            };
            errors.help(group.span_open(), format!("expected `->`, found `{shown}`"), "stages are joined by `->`");
        }
        _ => errors.help(found.span(), format!("expected `->`, found `{found}`"), "stages are joined by `->`"),
    }
}

impl Parse for Stage {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ahead = input.fork();
        if ahead.call(Ident::parse_any).is_ok() && ahead.peek(Token![::]) || input.peek(Token![::]) {
            return parse_path_stage(input);
        }
        if input.peek(token::Paren) {
            return Err(help_at(input.span(), "expected the word of a stage, found `(`", SEVERAL_AGGREGATES));
        }
        let word = input.call(Ident::parse_any).map_err(|error| {
            help_at(
                error.span(),
                "expected the word of a stage",
                "stages are words such as `filter`, `key_by` and `sum`",
            )
        })?;
        if input.peek(token::Bracket) {
            return Err(help_at(input.span(), "arguments stand in parentheses", &format!("`{word}(…)`")));
        }
        let mut what = What::Word(word.clone(), Vec::new());
        let mut written = format!("{word}()");
        if input.peek(token::Brace) {
            let is_split = |word: &Ident| crate::errors::meant(&word.to_string(), ["split"]).is_some();
            if !is_split(&word) {
                let help = format!("`{word}(…)`; only `split` has braces");
                return Err(help_at(input.span(), "arguments stand in parentheses", &help));
            }
            let content;
            let braces = braced!(content in input);
            written = format!("{word} {}", source_text(braces.span.join()).unwrap_or("{ … }".to_owned()));
            let branches = Punctuated::<Branch, Token![,]>::parse_terminated(&content)?;
            what = What::Branches(word.clone(), branches.into_iter().collect());
        } else if input.peek(token::Paren) {
            let content;
            let parentheses = parenthesized!(content in input);
            written = format!("{word}{}", source_text(parentheses.span.join()).unwrap_or("(…)".to_owned()));
            let args = Punctuated::<Arg, Token![,]>::parse_terminated(&content)?;
            what = What::Word(word.clone(), args.into_iter().collect());
        }
        let mut name = None;
        if input.peek(Token![as]) {
            let behind: Token![as] = input.parse()?;
            name = Some(input.call(Ident::parse_any).map_err(|_| {
                help_at(behind.span, "a name is missing behind `as`", &format!("`{word}(…) as totals`"))
            })?);
        }
        Ok(Stage { what, name, written })
    }
}

/// `my_ops::Enrich::new(min) as enriched`, of which Rust would make a cast.
fn parse_path_stage(input: ParseStream<'_>) -> syn::Result<Stage> {
    let mut path = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![as]) {
        path.extend([input.parse::<TokenTree>()?]);
    }
    let path: Expr = syn::parse2(path)?;
    let written = spelled(&path);
    let what = What::Path(path);
    let mut name = None;
    if input.peek(Token![as]) {
        let behind: Token![as] = input.parse()?;
        let missing = |_| help_at(behind.span, "a name is missing behind `as`", "`my_ops::Enrich::new(…) as enriched`");
        name = Some(input.call(Ident::parse_any).map_err(missing)?);
    }
    Ok(Stage { what, name, written })
}

impl Parse for Branch {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let example = "`split { large: |event| event.value > 100, rest }`";
        let name = input
            .call(Ident::parse_any)
            .map_err(|error| help_at(error.span(), "a branch is written `name: condition`", example))?;
        if input.peek(Token![:]) {
            input.parse::<Token![:]>()?;
            if input.is_empty() || input.peek(Token![,]) {
                let what = format!("a condition is missing behind `{name}:`");
                return Err(help_at(name.span(), &what, &format!("`{name}: |event| event.value > 100`")));
            }
            return Ok(Branch { name, value: Some(input.parse()?), discarded: false });
        }
        let mut discarded = false;
        if input.peek(Token![=]) {
            let equals = input.span();
            if name != "rest" || input.peek(Token![=>]) || input.peek(Token![==]) {
                let help = format!("`{name}: |event| …`; only `rest` can be discarded: `rest = discard`");
                return Err(help_at(equals, "a branch is written `name: condition`", &help));
            }
            input.parse::<Token![=]>()?;
            let word = input.call(Ident::parse_any).map_err(|_| {
                help_at(equals, "a word is missing behind `rest =`", "`rest = discard`, or `rest` alone")
            })?;
            if word != "discard" {
                return Err(help_at(word.span(), "`rest` takes `discard`", "`rest = discard`"));
            }
            discarded = true;
        }
        if !input.is_empty() && !input.peek(Token![,]) {
            let help = "branches are separated by `,`, and what no branch takes is `rest`";
            return Err(help_at(input.span(), &format!("expected `,` behind `{name}`"), help));
        }
        Ok(Branch { name, value: None, discarded })
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
        let names_a_stream = matches!(value, Expr::Path(_) | Expr::Field(_) | Expr::Call(_));
        if names_a_stream && input.peek(Token![->]) {
            let what = "an argument is the name of a stream, and these are stages";
            return Err(help_at(input.span(), what, "give them a name in braces: `let big = views -> …;`"));
        }
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

    fn parsed(text: &str) -> (Option<Pipeline>, Vec<String>) {
        let mut errors = Errors::default();
        let pipeline = parse(text.parse().unwrap(), &mut errors);
        (pipeline, errors.messages())
    }

    fn word(stage: &Stage) -> (String, usize) {
        match &stage.what {
            What::Word(word, args) => (word.to_string(), args.len()),
            What::Branches(word, branches) => (word.to_string(), branches.len()),
            What::Path(_) => ("::".to_owned(), 0),
        }
    }

    /// `a`, `a.late`, `union(a, b)`
    fn spelled(input: &Input) -> String {
        match input {
            Input::Name(name) => name.to_string(),
            Input::Port(name, port) => format!("{name}.{port}"),
            Input::Union(_, inputs) => {
                let inputs: Vec<_> = inputs.iter().map(|input| spelled(input.as_ref().unwrap())).collect();
                format!("union({})", inputs.join(", "))
            }
        }
    }

    #[test]
    fn a_line_of_stages() {
        let (pipeline, errors) = parsed("source -> dedup(event_id, ttl = 20s) as d -> key_by((a, b.c)) -> count");
        let [flow] = pipeline.unwrap().outputs.try_into().ok().unwrap();
        assert_eq!(errors, [] as [&str; 0]);
        assert_eq!(spelled(&flow.input.unwrap()), "source");
        let stages: Vec<_> = flow.stages.into_iter().map(Option::unwrap).collect();
        let words: Vec<_> = stages.iter().map(word).collect();
        assert_eq!(words, [("dedup".to_owned(), 2), ("key_by".to_owned(), 1), ("count".to_owned(), 0)]);
        assert_eq!(stages[0].name.as_ref().unwrap(), "d");
    }

    #[test]
    fn closures_may_hold_arrows() {
        let (pipeline, errors) = parsed("source -> map(|e: Click| -> i64 { e.value }) -> filter(|v| *v > 1)");
        assert_eq!(errors, [] as [&str; 0]);
        assert_eq!(pipeline.unwrap().outputs[0].stages.len(), 2);
    }

    #[test]
    fn braces_hold_flows_with_names_and_what_goes_out() {
        let text = "{
            let parts = union(a, b.late, union(c, d)) -> split { vip: |e| e.vip, cheap: |e| e.price < 10, rest = discard };
            let own = parts.vip -> my::Op::<u8, i64>::new(1) as mine -> filter(x);
            (own -> key_by(user), parts.cheap,)
        }";
        let (pipeline, errors) = parsed(text);
        assert_eq!(errors, [] as [&str; 0]);
        let pipeline = pipeline.unwrap();
        let inputs = pipeline.lets.iter().map(|statement| &statement.flow).chain(&pipeline.outputs);
        let inputs: Vec<_> = inputs.map(|flow| spelled(flow.input.as_ref().unwrap())).collect();
        assert_eq!(inputs, ["union(a, b.late, union(c, d))", "parts.vip", "own", "parts.cheap"]);
        let stages = pipeline.lets.iter().flat_map(|statement| &statement.flow.stages);
        let words: Vec<_> = stages.map(|stage| word(stage.as_ref().unwrap())).collect();
        assert_eq!(words, [("split".to_owned(), 3), ("::".to_owned(), 0), ("filter".to_owned(), 1)]);
        assert_eq!(pipeline.lets[1].flow.stages[0].as_ref().unwrap().name.as_ref().unwrap(), "mine");
        let What::Branches(_, branches) = &pipeline.lets[0].flow.stages[0].as_ref().unwrap().what else { panic!() };
        assert!(branches[2].discarded && branches[2].value.is_none() && branches[0].value.is_some());
    }

    #[test]
    fn each_mistake_is_reported_and_the_rest_is_read() {
        let cases = [
            ("", "an empty pipeline"),
            ("source -> count() ->", "nothing stands behind this `->`"),
            ("-> count()", "nothing stands in front of this `->`"),
            ("source -> -> count()", "nothing stands behind this `->`"),
            ("source dedup(id) -> count()", "expected `->`, found `dedup`"),
            ("source.late.more -> count()", "expected `->`, found `.`"),
            ("source.dedup(id) -> count()", "expected `->`, found `.`"),
            ("source | count()", "expected `->`, found `|`"),
            (
                "key_by(user) -> count()",
                "a pipeline starts with one of the function's streams, and `key_by(…)` is a stage",
            ),
            ("union(a, 3) -> count()", "this is no stream"),
            ("union(a, b -> map(x)) -> count()", "expected `,`"),
            ("union(a, b) | count()", "expected `->`, found `|`"),
            ("(a, b) -> count()", "a flow starts with the name of a stream"),
            ("source -> split { a: f b: g, rest }", "expected `,`"),
            ("source -> split { a:, rest }", "a condition is missing behind `a:`"),
            ("source -> split { a: f, rest = drop }", "`rest` takes `discard`"),
            ("source -> split { 3 }", "a branch is written `name: condition`"),
            ("source -> my::Op::new(1) as (a, b)", "a name is missing behind `as`"),
            ("{}", "an empty pipeline"),
            ("{ let a = b -> c; }", "nothing goes out of this pipeline"),
            ("{ let a = b -> c }", "the last of the braces is what goes out, and this is a `let`"),
            ("{ let = b; a }", "a name is missing behind `let`"),
            ("{ let a = b -> c(d)\n a -> e }", "`;` is missing in front of `a`"),
            ("{ let a = b -> c(d)\n (a, b) }", "`;` is missing in front of `(`"),
            ("{ let a = b -> c let d = a; d }", "`;` is missing in front of `let`"),
            ("{ let a = b -> c d -> e; a }", "expected `->`, found `d`"),
            ("{ a = b -> c; a }", "`let` is missing in front of the name"),
            ("source -> filter { f }", "arguments stand in parentheses"),
            ("{ let a b; a }", "`=` is missing behind the name"),
            ("{ let a: Stream<u8> = b; a }", "a stream's type is not written here"),
            ("{ let a = ; a }", "nothing stands behind this `=`"),
            ("{ a -> b; c }", "a flow without a name goes out, and only the last can"),
            ("{ let a = b;; a }", "nothing stands in front of this `;`"),
            ("{ (a, , b) }", "one of the outputs is empty"),
            ("{ [a, b] }", "what goes out is a flow, or several in parentheses"),
            ("{ a } -> count()", "nothing stands behind the braces, and there is `->`"),
            ("source -> tumbling[10s]", "arguments stand in parentheses"),
            ("source -> tumbling(10 s)", "expected `,`, found `s`"),
            ("source -> tumbling(10s, delay =)", "a value is missing behind `=`"),
            ("source -> 5s", "expected the word of a stage"),
            ("source -> count() as", "a name is missing behind `as`"),
            ("source -> count();", "nothing stands behind a pipeline, and there is `;`"),
            ("source -> count() source", "expected `->`, found `source`"),
            ("source -> sum(a), count()", "stages are joined by `->`, and there is `,`"),
            ("source -> (sum(a), count())", "expected the word of a stage, found `(`"),
            ("(source -> count())", "a flow starts with the name of a stream"),
            ("a -> b, c -> d", "a pipeline of several flows stands in braces"),
            ("(a -> b, c -> d)", "a pipeline of several flows stands in braces"),
            ("let a = b -> c; a", "a pipeline of several flows stands in braces"),
            ("merge(a, b) -> c", "streams are put together by `union`"),
            ("union[a, b] -> c", "the inputs of a `union` stand in parentheses"),
            ("a -> join(b -> c, on = d)", "an argument is the name of a stream, and these are stages"),
            ("source -> split { a => f, rest }", "a branch is written `name: condition`"),
            ("source -> split { a = discard, rest }", "a branch is written `name: condition`"),
            ("source -> split { a: f, rest = }", "a word is missing behind `rest =`"),
            ("{ let a = b; a -> c; }", "the last flow goes out, and a `;` stands behind it"),
            ("{ let mut a = b; a }", "a stream never changes"),
            ("{ let (a, b) = c; a }", "a `let` names one stream"),
            ("{ const a = b; a }", "a flow gets its name by `let`"),
            ("{ a := b; a }", "`let` is missing in front of the name"),
            ("{ let a = b; return a }", "the last of the braces goes out as it is"),
            ("{ let a = b; a, b }", "several flows that go out stand in parentheses"),
            ("{ () }", "nothing goes out of this pipeline"),
            ("source -> count() as \"totals\"", "a name is missing behind `as`"),
        ];
        for (text, expected) in cases {
            let (_, errors) = parsed(text);
            assert_eq!(errors.len(), 1, "{text}: {errors:?}");
            assert_eq!(errors[0].lines().next(), Some(expected), "{text}");
        }
    }
}
