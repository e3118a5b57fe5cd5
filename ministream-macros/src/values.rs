//! Values of arguments, read in the shapes that the table of stages asks for.

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Block, Expr, ExprClosure, ExprField, ExprPath, ExprRange, Lit, Member, RangeLimits, Stmt, Type, UnOp};

use crate::captures::captures;
use crate::duration::{Duration, Literal};
use crate::errors::{Errors, list};
use crate::item::Item;
use crate::model::Source;
use crate::spelling::spelled;
use crate::stages::Shape;

/// An argument in its shape.
pub(crate) enum Value {
    Duration(Duration),
    /// One field, or several.
    Fields(Vec<FieldPath>),
    /// A closure, and the settings of the function that it uses.
    Closure {
        closure: ExprClosure,
        settings: Vec<Ident>,
    },
    /// A function, or any other expression.
    Expr(Expr),
    Word(Ident),
    /// Another stream.
    Input(Source),
    /// `-5s..=10s`
    Within(Bound, Bound),
    Emit(Emit),
    /// Not understood, which is an error already.
    Mistake,
}

/// How far one timestamp lies from another: `-5s`, `10s`.
pub(crate) struct Bound {
    pub(crate) before: bool,
    pub(crate) by: Duration,
}

impl Bound {
    /// Microseconds, negative before; None if it is no literal.
    pub(crate) fn micros(&self) -> Option<i64> {
        let micros = self.by.literal()?.micros;
        Some(if self.before { -micros } else { micros })
    }
}

/// When a window gives early results.
pub(crate) enum Emit {
    OnUpdate(Span),
    Every(Span, Duration),
}

/// `device.id`
pub(crate) struct FieldPath {
    pub(crate) members: Vec<Member>,
    pub(crate) span: Span,
}

impl Value {
    pub(crate) fn duration(&self) -> Option<&Duration> {
        match self {
            Value::Duration(duration) => Some(duration),
            _ => None,
        }
    }

    pub(crate) fn literal(&self) -> Option<&Literal> {
        self.duration().and_then(Duration::literal)
    }

    /// A duration as the user wrote it, for messages.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Value::Duration(Duration::Literal(literal)) => literal.text.clone(),
            Value::Duration(Duration::Expr(expr)) => expr.to_token_stream().to_string(),
            _ => "…".to_owned(),
        }
    }
}

/// Reads a value in the shape that the table asks for.
pub(crate) fn shaped(item: &Item, what: &str, shape: Shape, value: Expr, errors: &mut Errors) -> Value {
    match shape {
        Shape::Duration | Shape::PositiveDuration => {
            Duration::read(&value, errors).map_or(Value::Mistake, Value::Duration)
        }
        Shape::Word(words) => match lone_ident(&value).filter(|word| words.iter().any(|known| *word == known)) {
            Some(word) => Value::Word(word.clone()),
            None => {
                let help = match words {
                    [word] => format!("write `{word}`, or leave it out"),
                    [word, ..] => format!("one of these words: `{what} = {word}`"),
                    [] => String::new(),
                };
                let words = list(words.iter().copied()).replace(" and ", " or ");
                errors.help_on(&value, format!("`{what}` takes {words}"), help);
                Value::Mistake
            }
        },
        Shape::Expression => function_or_expr(item, value),
        Shape::Within => within(value, errors),
        Shape::Emit => emit(value, errors),
        Shape::Count => count(item, value, errors),
        Shape::Fraction => fraction(item, value, errors),
        // Names of streams are looked up where the names are known.
        Shape::Input => Value::Mistake,
        Shape::Function => match field_of(&value) {
            Some(field) if !is_setting(item, &value) => {
                errors.help(field.span, "a function is needed here, not a field", "a closure, such as `|a, b| …`");
                Value::Mistake
            }
            _ if is_no_function(&value, "a closure, such as `|event| …`", errors) => Value::Mistake,
            _ => function_or_expr(item, value),
        },
        Shape::Identity | Shape::Value | Shape::Take => selection(item, shape, value, errors),
    }
}

/// `-5s..=10s`
fn within(value: Expr, errors: &mut Errors) -> Value {
    let help = "both bounds, the earlier first: `within = -5s..=10s`";
    match ungrouped(value) {
        Expr::Range(ExprRange { start: Some(start), limits, end: Some(end), .. }) => {
            if let RangeLimits::HalfOpen(dots) = limits {
                errors.help_on(dots, "`within` takes both of its bounds in", "`..=`");
                return Value::Mistake;
            }
            match (bound(*start, errors), bound(*end, errors)) {
                (Some(start), Some(end)) => Value::Within(start, end),
                _ => Value::Mistake,
            }
        }
        range @ Expr::Range(_) => {
            errors.help_on(range, "a bound is missing, so rows would be kept for ever", help);
            Value::Mistake
        }
        single => {
            let text = spelled(&single).trim_start_matches("- ").trim_start_matches('-').to_owned();
            let help = format!("`within = -{text}..={text}` for both sides, or `0s..={text}` for what comes after");
            errors.help_on(single, "`within` has two bounds", help);
            Value::Mistake
        }
    }
}

fn bound(value: Expr, errors: &mut Errors) -> Option<Bound> {
    match ungrouped(value) {
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => {
            let by = Duration::read(&unary.expr, errors)?;
            Some(Bound { before: true, by })
        }
        value => Some(Bound { before: false, by: Duration::read(&value, errors)? }),
    }
}

/// `every(1s)`, or `on_update`
fn emit(value: Expr, errors: &mut Errors) -> Value {
    let value = ungrouped(value);
    if let Some(word) = lone_ident(&value).filter(|word| *word == "on_update") {
        return Value::Emit(Emit::OnUpdate(word.span()));
    }
    if let Expr::Call(call) = &value
        && let Some(word) = lone_ident(&call.func).filter(|word| *word == "every")
        && let (Some(step), 1) = (call.args.first(), call.args.len())
    {
        return match Duration::read(step, errors) {
            Some(step) => Value::Emit(Emit::Every(word.span(), step)),
            None => Value::Mistake,
        };
    }
    let help =
        "`emit = on_update` for a result after each event, or `emit = every(1s)` for one each second of event time";
    errors.help_on(value, "`emit` says when early results are wanted", help);
    Value::Mistake
}

/// `3`
fn count(item: &Item, value: Expr, errors: &mut Errors) -> Value {
    let is_count = match &value {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(int) => int.base10_parse::<u64>().is_ok_and(|count| count > 0),
            _ => false,
        },
        Expr::Unary(unary) => !matches!(unary.op, UnOp::Neg(_)),
        Expr::Closure(_) => false,
        _ => true,
    };
    if is_count {
        return function_or_expr(item, value);
    }
    errors.help_on(value, "this is no number of events", "a whole number from 1 on, such as `3`");
    Value::Mistake
}

/// `0.99`
fn fraction(item: &Item, value: Expr, errors: &mut Errors) -> Value {
    let number = match &value {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Float(float) => float.base10_parse::<f64>().ok(),
            Lit::Int(int) => int.base10_parse::<f64>().ok(),
            _ => None,
        },
        Expr::Unary(_) => None,
        _ => return function_or_expr(item, value),
    };
    if number.is_some_and(|number| (0.0..=1.0).contains(&number)) {
        // `1` is an integer to Rust.
        return Value::Expr(syn::parse_quote_spanned! { value.span() => (#value as f64) });
    }
    let help = match number {
        // In percent.
        Some(number) if (2.0..=100.0).contains(&number) => format!("`{}`", number / 100.0),
        _ => "such as `0.99`; the median is `0.5`".to_owned(),
    };
    errors.help_on(value, "a quantile lies between 0 and 1", help);
    Value::Mistake
}

fn ungrouped(value: Expr) -> Expr {
    match value {
        Expr::Group(group) => ungrouped(*group.expr),
        Expr::Paren(paren) => ungrouped(*paren.expr),
        value => value,
    }
}

/// A field, several fields, a closure, or a function.
fn selection(item: &Item, shape: Shape, value: Expr, errors: &mut Errors) -> Value {
    if is_setting(item, &value) {
        return if is_no_function_by_type(item, &value, errors) { Value::Mistake } else { Value::Expr(value) };
    }
    if is_stream(item, &value, errors) {
        return Value::Mistake;
    }
    if let Expr::Tuple(tuple) = &value
        && shape == Shape::Identity
    {
        if tuple.elems.is_empty() {
            errors.help_on(tuple, "no field is named here", "`(user, country)`");
            return Value::Mistake;
        }
        return fields(item, &tuple.elems.iter().collect::<Vec<_>>(), errors);
    }
    if let Some(field) = field_of(&value) {
        return Value::Fields(vec![field]);
    }
    if let Expr::Reference(reference) = &value
        && field_of(&reference.expr).is_some()
    {
        let name = spelled(&reference.expr);
        errors.help_on(&value, "a field is named as it is", format!("leave the `&` out: `{name}`"));
        return Value::Mistake;
    }
    if let Expr::MethodCall(call) = &value
        && innermost_receiver(&call.receiver).is_some_and(|ident| !item.settings().any(|setting| setting == ident))
    {
        let help = format!("a closure: `|event| event.{}`", spelled(&value));
        errors.help_on(&value, "this is worked out once, not for each event", help);
        return Value::Mistake;
    }
    let help = match leftmost(&value).and_then(field_of) {
        Some(_) => format!("a closure: `|event| event.{}`", spelled(&value)),
        None => "the name of a field, or a closure such as `|event| event.value`".to_owned(),
    };
    if is_no_function(&value, &help, errors) {
        return Value::Mistake;
    }
    function_or_expr(item, value)
}

/// Several fields.
pub(crate) fn fields(item: &Item, values: &[&Expr], errors: &mut Errors) -> Value {
    let fields: Vec<_> = values
        .iter()
        .map(|&value| {
            if is_stream(item, value, errors) {
                return None;
            }
            let field = field_of(value).filter(|_| !is_setting(item, value));
            if field.is_none() {
                let help = "name fields only, or use one closure: `|event| (event.a.clone(), event.b)`";
                errors.help_on(value, "this is no field", help);
            }
            field
        })
        .collect();
    fields.into_iter().collect::<Option<_>>().map_or(Value::Mistake, Value::Fields)
}

fn function_or_expr(item: &Item, value: Expr) -> Value {
    match value {
        Expr::Closure(closure) => {
            let settings = item.settings().filter(|setting| captures(&closure, setting));
            let settings = settings.cloned().collect();
            Value::Closure { closure, settings }
        }
        other => Value::Expr(other),
    }
}

/// Reports an expression that is worked out once, when the pipeline is built, and is no function of an event.
fn is_no_function(value: &Expr, help: &str, errors: &mut Errors) -> bool {
    match value {
        Expr::Lit(_) => errors.help_on(value, "a literal is the same for every event", help),
        Expr::Binary(_)
        | Expr::Unary(_)
        | Expr::Cast(_)
        | Expr::Index(_)
        | Expr::Range(_)
        | Expr::Tuple(_)
        | Expr::Reference(_) => {
            errors.help_on(value, "this is worked out once, not for each event", help);
        }
        _ => return false,
    }
    true
}

/// `value` of `value.abs()` and of `value.pair.max()`.
fn innermost_receiver(value: &Expr) -> Option<&Ident> {
    match value {
        Expr::MethodCall(call) => innermost_receiver(&call.receiver),
        Expr::Field(field) => innermost_receiver(&field.base),
        other => lone_ident(other).filter(|ident| !is_keyword(ident)),
    }
}

/// `value` of `value > 3`, if the expression starts with an operand.
fn leftmost(value: &Expr) -> Option<&Expr> {
    match value {
        Expr::Binary(binary) => leftmost(&binary.left),
        Expr::Cast(cast) => leftmost(&cast.expr),
        Expr::Unary(_) | Expr::Lit(_) => None,
        other => Some(other),
    }
}

/// Reports the name of a stream where a field belongs: a parameter's name is the parameter.
fn is_stream(item: &Item, value: &Expr, errors: &mut Errors) -> bool {
    let stream = lone_ident(value).filter(|ident| item.streams().any(|stream| stream.ident == **ident));
    if let Some(ident) = stream {
        let help = format!("for a field of that name, a closure: `|event| &event.{ident}`");
        errors.help(ident.span(), format!("`{ident}` is a stream here, not a field"), help);
    }
    stream.is_some()
}

/// Whether the value is the name of a parameter of the function: a function handed in as a setting.
fn is_setting(item: &Item, value: &Expr) -> bool {
    lone_ident(value).is_some_and(|ident| item.settings().any(|setting| setting == ident))
}

/// Reports a setting that stands where a field belongs, and by its type can be no function.
fn is_no_function_by_type(item: &Item, value: &Expr, errors: &mut Errors) -> bool {
    const PLAIN: [&str; 19] = [
        "i8",
        "i16",
        "i32",
        "i64",
        "i128",
        "isize",
        "u8",
        "u16",
        "u32",
        "u64",
        "u128",
        "usize",
        "f32",
        "f64",
        "bool",
        "char",
        "String",
        "Duration",
        "Timestamp",
    ];
    let Some(ident) = lone_ident(value) else { return false };
    let param = item.params.iter().find(|param| param.ident == *ident);
    let is_plain = param.is_some_and(|param| match &param.ty {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| PLAIN.iter().any(|plain| last.ident == plain)),
        _ => false,
    });
    if is_plain {
        let help = format!("for the field of that name, a closure: `|event| event.{ident}`");
        errors.help(ident.span(), format!("`{ident}` is a parameter of the function here, not a field"), help);
    }
    is_plain
}

pub(crate) fn lone_ident(value: &Expr) -> Option<&Ident> {
    match value {
        Expr::Path(ExprPath { qself: None, path, .. }) => path.get_ident(),
        Expr::Group(group) => lone_ident(&group.expr),
        _ => None,
    }
}

/// `user`, `device.id`, `pair.0`
fn field_of(value: &Expr) -> Option<FieldPath> {
    match value {
        Expr::Field(ExprField { base, member, .. }) => {
            let mut path = field_of(base)?;
            path.span = path.span.join(member.span()).unwrap_or(path.span);
            path.members.push(member.clone());
            Some(path)
        }
        Expr::Group(group) => field_of(&group.expr),
        Expr::Paren(paren) => field_of(&paren.expr),
        other => {
            let ident = lone_ident(other).filter(|ident| !is_keyword(ident))?;
            Some(FieldPath { members: vec![Member::Named(ident.clone())], span: ident.span() })
        }
    }
}

/// Paths that can be no field.
fn is_keyword(ident: &Ident) -> bool {
    ["self", "Self", "super", "crate"].iter().any(|keyword| ident == keyword)
}

/// Whether a closure gives a reference, as far as one can see: `|click| &click.user`.
pub(crate) fn gives_reference(closure: &ExprClosure) -> bool {
    fn is_reference(expr: &Expr) -> bool {
        match expr {
            Expr::Reference(_) => true,
            Expr::Paren(paren) => is_reference(&paren.expr),
            Expr::Group(group) => is_reference(&group.expr),
            Expr::Block(block) => last_of(&block.block).is_some_and(is_reference),
            _ => false,
        }
    }
    fn last_of(block: &Block) -> Option<&Expr> {
        match block.stmts.last() {
            Some(Stmt::Expr(expr, None)) => Some(expr),
            _ => None,
        }
    }
    is_reference(&closure.body)
}
