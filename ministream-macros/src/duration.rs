//! Durations as written: `10s`, `1_500ms`.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Expr, ExprLit, ExprUnary, Lit, LitFloat, LitInt, UnOp};

use crate::errors::Errors;

/// Unit and microseconds, smallest first.
const UNITS: [(&str, i64); 7] = [
    ("us", 1),
    ("ms", 1_000),
    ("s", 1_000_000),
    ("m", 60_000_000),
    ("h", 3_600_000_000),
    ("d", 86_400_000_000),
    ("w", 604_800_000_000),
];

/// Other spellings that people try, in lower case.
const OTHER_SPELLINGS: &[(&str, &str)] = &[
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("min", "m"),
    ("mins", "m"),
    ("minute", "m"),
    ("minutes", "m"),
    ("hr", "h"),
    ("hour", "h"),
    ("hours", "h"),
    ("day", "d"),
    ("days", "d"),
    ("week", "w"),
    ("weeks", "w"),
    ("msec", "ms"),
    ("millis", "ms"),
    ("millisecond", "ms"),
    ("milliseconds", "ms"),
    ("usec", "us"),
    ("micros", "us"),
    ("microseconds", "us"),
    ("µs", "us"),
    ("hrs", "h"),
];

const ALL_UNITS: &str = "`us`, `ms`, `s`, `m`, `h`, `d` and `w`";

/// A duration, worked out where it is a literal.
#[derive(Clone)]
pub(crate) enum Duration {
    Literal(Literal),
    Expr(Box<Expr>),
}

/// A literal duration.
#[derive(Clone)]
pub(crate) struct Literal {
    pub(crate) micros: i64,
    /// As the user wrote it.
    pub(crate) text: String,
    pub(crate) span: Span,
}

impl Duration {
    /// Reads a duration; None if it is none, with the reason among the errors.
    pub(crate) fn read(value: &Expr, errors: &mut Errors) -> Option<Duration> {
        match value {
            Expr::Lit(ExprLit { lit: Lit::Int(int), .. }) => Literal::read(int, errors).map(Duration::Literal),
            Expr::Lit(ExprLit { lit: Lit::Float(float), .. }) => {
                read_fraction(float, errors);
                None
            }
            Expr::Lit(literal) => {
                let what = "this is no duration";
                errors.help(
                    literal.span(),
                    what,
                    format!("a number with a unit, such as `10s`; units are {ALL_UNITS}"),
                );
                None
            }
            Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) if matches!(**expr, Expr::Lit(_)) => {
                errors.help_on(value, "a duration is not negative", "leave the `-` out");
                None
            }
            Expr::Group(group) => Duration::read(&group.expr, errors),
            Expr::Paren(paren) => Duration::read(&paren.expr, errors),
            other => {
                let before = errors.count();
                Parts { errors }.visit_expr(other);
                (errors.count() == before).then(|| Duration::Expr(Box::new(other.clone())))
            }
        }
    }

    pub(crate) fn literal(&self) -> Option<&Literal> {
        match self {
            Duration::Literal(literal) => Some(literal),
            Duration::Expr(_) => None,
        }
    }
}

/// Reports literals such as `10s` inside of an expression, where they mean nothing to Rust.
struct Parts<'a> {
    errors: &'a mut Errors,
}

impl<'ast> Visit<'ast> for Parts<'_> {
    fn visit_lit_int(&mut self, int: &'ast LitInt) {
        if UNITS.iter().any(|(unit, _)| *unit == int.suffix()) {
            let help = "work it out, such as `15s`, or write an expression of type `Duration`";
            self.errors.help(int.span(), format!("`{int}` cannot be part of an expression"), help);
        }
    }
}

impl Literal {
    fn read(int: &LitInt, errors: &mut Errors) -> Option<Literal> {
        let (digits, suffix) = (int.base10_digits(), int.suffix());
        if suffix.is_empty() {
            let what = format!("`{digits}` of what? a duration has a unit: {ALL_UNITS}");
            errors.help(int.span(), what, format!("`{digits}s`, or `{digits}ms`"));
            return None;
        }
        let Some((_, unit_micros)) = UNITS.iter().find(|(unit, _)| *unit == suffix) else {
            let help = match spelled(suffix) {
                Some(unit) => format!("`{digits}{unit}`; units are {ALL_UNITS}"),
                None if suffix.eq_ignore_ascii_case("ns") => format!("the finest unit is `us`; units are {ALL_UNITS}"),
                None => format!("units are {ALL_UNITS}"),
            };
            errors.help(int.span(), format!("unknown unit of time `{suffix}`"), help);
            return None;
        };
        let micros = digits.parse::<i64>().ok().and_then(|count| count.checked_mul(*unit_micros));
        let Some(micros) = micros else {
            let what = format!("`{int}` does not fit in 64 bits of microseconds");
            errors.help(int.span(), what, "write `std::time::Duration::MAX` for \"for ever\"");
            return None;
        };
        Some(Literal { micros, text: int.to_string(), span: int.span() })
    }
}

/// The unit that was meant. Nearness alone would mislead: `10y` is not nearly `10s`.
fn spelled(suffix: &str) -> Option<&'static str> {
    let suffix = suffix.to_lowercase();
    let units = UNITS.iter().map(|(unit, _)| (*unit, *unit));
    units.chain(OTHER_SPELLINGS.iter().copied()).find(|(other, _)| *other == suffix).map(|(_, unit)| unit)
}

fn read_fraction(float: &LitFloat, errors: &mut Errors) {
    let smaller = UNITS.iter().zip(UNITS.iter().skip(1)).find(|(_, (unit, _))| *unit == float.suffix());
    let whole = smaller.and_then(|((small, small_micros), (_, micros))| {
        let count = float.base10_digits().parse::<f64>().ok()? * (micros / small_micros) as f64;
        (count.fract() == 0.0 && count < 1e15).then(|| format!("`{count}{small}`"))
    });
    let help = whole.unwrap_or_else(|| format!("a whole number of a smaller unit; units are {ALL_UNITS}"));
    errors.help(float.span(), "a duration is a whole number", help);
}

/// Microseconds in the largest unit that needs no fraction: `15s`.
pub(crate) fn spell(micros: i64) -> String {
    match UNITS.iter().rev().find(|(_, unit)| micros % unit == 0) {
        Some((unit, unit_micros)) if micros != 0 => format!("{}{unit}", micros / unit_micros),
        _ => "0s".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<i64>, String> {
        let mut errors = Errors::default();
        let duration = Duration::read(&syn::parse_str(text).unwrap(), &mut errors);
        let messages = errors.messages();
        match (duration, messages.as_slice()) {
            (Some(duration), []) => Ok(duration.literal().map(|literal| literal.micros)),
            (None, [message]) => Err(message.clone()),
            (_, messages) => panic!("{text}: {messages:?}"),
        }
    }

    #[test]
    fn literals_with_a_unit() {
        let cases = [
            ("10s", 10_000_000),
            ("1_500ms", 1_500_000),
            ("7us", 7),
            ("2m", 120_000_000),
            ("1h", 3_600_000_000),
            ("1d", 86_400_000_000),
            ("2w", 1_209_600_000_000),
            ("0x10s", 16_000_000),
            ("0s", 0),
            ("(10s)", 10_000_000),
        ];
        for (text, micros) in cases {
            assert_eq!(read(text), Ok(Some(micros)), "{text}");
        }
    }

    #[test]
    fn anything_else_is_an_expression() {
        for text in ["SIZE", "secs(10)", "self::SIZE * 2", "size"] {
            assert_eq!(read(text), Ok(None), "{text}");
        }
    }

    #[test]
    fn mistakes_say_what_to_type() {
        let cases = [
            (
                "10",
                "`10` of what? a duration has a unit: `us`, `ms`, `s`, `m`, `h`, `d` and `w`\nhelp: `10s`, or `10ms`",
            ),
            ("10sec", "unknown unit of time `sec`\nhelp: `10s`; units are `us`, `ms`, `s`, `m`, `h`, `d` and `w`"),
            ("10min", "unknown unit of time `min`\nhelp: `10m`; units are `us`, `ms`, `s`, `m`, `h`, `d` and `w`"),
            ("10parsecs", "unknown unit of time `parsecs`\nhelp: units are `us`, `ms`, `s`, `m`, `h`, `d` and `w`"),
            ("10S", "unknown unit of time `S`\nhelp: `10s`; units are `us`, `ms`, `s`, `m`, `h`, `d` and `w`"),
            ("10M", "unknown unit of time `M`\nhelp: `10m`; units are `us`, `ms`, `s`, `m`, `h`, `d` and `w`"),
            ("10y", "unknown unit of time `y`\nhelp: units are `us`, `ms`, `s`, `m`, `h`, `d` and `w`"),
            (
                "10ns",
                "unknown unit of time `ns`\nhelp: the finest unit is `us`; units are `us`, `ms`, `s`, `m`, `h`, `d` and `w`",
            ),
            (
                "SIZE + 5s",
                "`5s` cannot be part of an expression\nhelp: work it out, such as `15s`, or write an expression of type `Duration`",
            ),
            ("1.5s", "a duration is a whole number\nhelp: `1500ms`"),
            ("-5s", "a duration is not negative\nhelp: leave the `-` out"),
            (
                "\"10s\"",
                "this is no duration\nhelp: a number with a unit, such as `10s`; units are `us`, `ms`, `s`, `m`, `h`, `d` and `w`",
            ),
            (
                "9223372036854775807ms",
                "`9223372036854775807ms` does not fit in 64 bits of microseconds\nhelp: write `std::time::Duration::MAX` for \"for ever\"",
            ),
        ];
        for (text, message) in cases {
            assert_eq!(read(text), Err(message.to_owned()), "{text}");
        }
    }

    #[test]
    fn durations_are_spelled_in_the_largest_whole_unit() {
        assert_eq!(spell(15_000_000), "15s");
        assert_eq!(spell(1_500_000), "1500ms");
        assert_eq!(spell(0), "0s");
    }
}
