//! `#[derive(Event)]`.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Field, Fields, LitStr, Member, Meta, Token, Type, TypePath, token};

use crate::errors::{Errors, list, meant};
use crate::fallback;
use crate::item::ungrouped;

const UNITS: [(&str, &str); 4] =
    [("s", "Seconds"), ("ms", "Milliseconds"), ("us", "Microseconds"), ("ns", "Nanoseconds")];

/// What messages show.
const USUAL_UNIT: &str = "ms";

/// The field that holds the time.
struct TimeField<'a> {
    member: Member,
    field: &'a Field,
    unit: Option<&'static str>,
}

/// What `#[event(…)]` says of a field.
#[derive(Default)]
struct EventAttribute {
    time: Option<Span>,
    unit: Option<LitStr>,
    /// Whether there is a mistake in it. That has been reported, and nothing that may follow from it is.
    wrong: bool,
}

/// The implementation of `Event`; with mistakes, the errors and an implementation that stands in.
pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let mut errors = Errors::default();
    let timestamp = time_field(&input, &mut errors).map(|time| timestamp_of(&time));
    match (timestamp, errors.report()) {
        (Some(timestamp), None) => implementation(&input, &timestamp),
        (_, errors) => fallback::event(&input, errors),
    }
}

/// The implementation with this body.
pub(crate) fn implementation(input: &DeriveInput, timestamp: &TokenStream) -> TokenStream {
    let name = &input.ident;
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #impl_generics ::ministream::__private::Event for #name #type_generics #where_clause {
            #[inline]
            fn timestamp(&self) -> ::ministream::__private::Timestamp {
                #timestamp
            }
        }
    }
}

fn timestamp_of(TimeField { member, field, unit }: &TimeField<'_>) -> TokenStream {
    let at = field.ty.span();
    match unit {
        Some(unit) => {
            let unit = syn::Ident::new(unit, Span::mixed_site());
            let unit = quote! { ::ministream::__private::Unit::#unit };
            quote_spanned! { at => ::ministream::__private::timestamp_from_integer(self.#member, #unit) }
        }
        None => quote_spanned! { at => ::ministream::__private::EventTime::to_timestamp(&self.#member) },
    }
}

/// The one field marked with `#[event(time)]`.
fn time_field<'a>(input: &'a DeriveInput, errors: &mut Errors) -> Option<TimeField<'a>> {
    let fields = match &input.data {
        Data::Struct(data) => &data.fields,
        Data::Enum(data) => {
            let help = "put it into a struct that has a field for the time";
            errors.help(data.enum_token.span, "an enum has no field for the event time", help);
            return None;
        }
        Data::Union(data) => {
            errors.help(data.union_token.span, "a union cannot be an event", "use a struct");
            return None;
        }
    };
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("event")) {
        errors.help(attribute.span(), "`#[event(…)]` belongs on a field", "put it on the field that holds the time");
    }
    let mut found: Option<TimeField<'a>> = None;
    for (index, field) in fields.iter().enumerate() {
        let EventAttribute { time, unit, wrong } = read(field, errors);
        let Some(time) = time else {
            if let (Some(unit), false) = (unit, wrong) {
                errors.help(unit.span(), "`unit` goes with `time`", format!("`{}`", with_unit(&unit.value())));
            }
            continue;
        };
        if found.is_some() {
            if !wrong {
                let help = "an event has one: take the other attribute out";
                errors.help(time, "a second field for the event time", help);
            }
            continue;
        }
        let member = match &field.ident {
            Some(ident) => Member::Named(ident.clone()),
            None => Member::from(index),
        };
        let unit = if wrong { None } else { unit_of(field, unit, errors) };
        found = Some(TimeField { member, field, unit });
    }
    if found.is_none() && errors.is_empty() {
        errors.help(
            input.ident.span(),
            format!("`{}` has no field for the event time", input.ident),
            missing_help(fields),
        );
    }
    found
}

/// Reads the attributes of a field; each mistake in them is reported.
fn read(field: &Field, errors: &mut Errors) -> EventAttribute {
    let mut says = EventAttribute::default();
    let before = errors.count();
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("event")) {
        let arguments = match &attribute.meta {
            Meta::List(list) => list.tokens.clone(),
            Meta::Path(_) | Meta::NameValue(_) => TokenStream::new(),
        };
        if arguments.is_empty() {
            let what = "this does not say that the field holds the event time";
            errors.help_on(attribute, what, format!("`{}`", attribute_of(field)));
            continue;
        }
        let parser = |input: ParseStream<'_>| {
            while !input.is_empty() {
                read_argument(input, &mut says, errors)?;
            }
            Ok(())
        };
        if let Err(error) = parser.parse2(arguments) {
            errors.add(error, &format!("`{}`", attribute_of(field)));
        }
    }
    says.wrong = errors.count() > before;
    says
}

/// Reads one argument and the comma behind it. A mistake in it does not hide those in the next.
fn read_argument(input: ParseStream<'_>, says: &mut EventAttribute, errors: &mut Errors) -> syn::Result<()> {
    let start = input.span();
    let before = errors.count();
    match input.call(Ident::parse_any) {
        Ok(word) if word == "time" => {
            if says.time.replace(word.span()).is_some() {
                twice(&word, errors);
            }
            if input.peek(Token![=]) || input.peek(token::Paren) {
                errors.help(word.span(), "`time` takes no value", format!("`{}`", with_unit(&unit_in(&rest(input)?))));
            }
        }
        Ok(word) if word == "unit" => {
            let assigned = input.parse::<Option<Token![=]>>()?.is_some();
            if assigned && input.peek(LitStr) {
                if says.unit.replace(input.parse()?).is_some() {
                    twice(&word, errors);
                }
            } else {
                let value = rest(input)?;
                let at = if value.is_empty() { word.to_token_stream() } else { value.clone() };
                errors.help_on(at, "a unit is text in quotes", format!("`unit = \"{}\"`", unit_in(&value)));
            }
        }
        Ok(word) => {
            let help = match (UNITS.iter().find(|(unit, _)| word == unit), meant(&word.to_string(), ["time", "unit"])) {
                (Some((unit, _)), _) => format!("`{}`", with_unit(unit)),
                (None, Some(meant)) => format!("did you mean `{meant}`?"),
                (None, None) => format!("`#[event(time)]`, or `{}`", with_unit(USUAL_UNIT)),
            };
            errors.help(word.span(), format!("`event` has no argument `{word}`"), help);
            rest(input)?;
        }
        Err(_) => {
            let value = rest(input)?;
            let at = if value.is_empty() {
                quote_spanned! { start => , }
            } else {
                value.clone()
            };
            errors.help_on(at, "this is no argument of `event`", format!("`{}`", with_unit(&unit_in(&value))));
        }
    }
    let next = input.span();
    if !rest(input)?.is_empty() && errors.count() == before {
        errors.help(next, "a comma is missing in front of this", format!("`{}`", with_unit(USUAL_UNIT)));
    }
    input.parse::<Option<Token![,]>>()?;
    Ok(())
}

/// What is left of an argument.
fn rest(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut rest = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![,]) {
        rest.extend([input.parse::<TokenTree>()?]);
    }
    Ok(rest)
}

fn twice(word: &Ident, errors: &mut Errors) {
    errors.help(word.span(), format!("`{word}` is given twice"), "take one of the two out");
}

/// The unit that somebody meant who wrote this in its place: `ms`, `= "ms"`, `(ms)`.
fn unit_in(value: &TokenStream) -> String {
    let text = value.to_string();
    let mut words = text.split(|character: char| !character.is_alphanumeric());
    let unit = words.find(|word| UNITS.iter().any(|(unit, _)| unit == word));
    unit.unwrap_or(USUAL_UNIT).to_owned()
}

fn with_unit(unit: &str) -> String {
    format!("#[event(time, unit = \"{unit}\")]")
}

/// The attribute that belongs on a field with the event time.
fn attribute_of(field: &Field) -> String {
    if is_integer(&field.ty) { with_unit(USUAL_UNIT) } else { "#[event(time)]".to_owned() }
}

/// Integers need a unit, and only they have one; the second half is for the compiler, which knows the type.
fn unit_of(field: &Field, unit: Option<LitStr>, errors: &mut Errors) -> Option<&'static str> {
    let units = || list(UNITS.iter().map(|(unit, _)| *unit));
    let Some(unit) = unit else {
        if is_integer(&field.ty) {
            let what = "an integer does not say what it counts";
            errors.help(field.ty.span(), what, format!("`{}`; units are {}", with_unit(USUAL_UNIT), units()));
        }
        return None;
    };
    let found = UNITS.iter().find(|(name, _)| *name == unit.value()).map(|(_, variant)| *variant);
    if found.is_none() {
        errors.help(unit.span(), format!("unknown unit \"{}\"", unit.value()), format!("units are {}", units()));
    }
    found
}

fn is_integer(ty: &Type) -> bool {
    const INTEGERS: [&str; 12] =
        ["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize"];
    let Type::Path(TypePath { qself: None, path, .. }) = ungrouped(ty) else { return false };
    path.get_ident().is_some_and(|ident| INTEGERS.iter().any(|integer| ident == integer))
}

/// Points at the field that looks like a time.
fn missing_help(fields: &Fields) -> String {
    const USUAL: [&str; 8] = ["ts", "time", "timestamp", "event_time", "at", "created_at", "occurred_at", "datetime"];
    let field = USUAL
        .iter()
        .find_map(|name| fields.iter().find(|field| field.ident.as_ref().is_some_and(|ident| ident == name)));
    match field.and_then(|field| Some((field.ident.as_ref()?, attribute_of(field)))) {
        Some((ident, attribute)) => format!("put `{attribute}` on `{ident}`"),
        None => format!("put `{}` on the field that holds the time", with_unit(USUAL_UNIT)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn derived(text: &str) -> String {
        derive(text.parse().unwrap()).to_string()
    }

    #[test]
    fn the_time_is_read_from_the_field() {
        let text = derived("struct Click<T: Copy> where T: Clone { id: T, #[event(time, unit = \"ms\")] ts: i64 }");
        let path = ":: ministream :: __private";
        assert!(text.contains(&format!("impl < T : Copy > {path} :: Event for Click < T > where T : Clone")), "{text}");
        assert!(
            text.contains(&format!("timestamp_from_integer (self . ts , {path} :: Unit :: Milliseconds)")),
            "{text}"
        );
        let text = derived("struct Click(u8, #[event(time)] SystemTime);");
        assert!(text.contains("EventTime :: to_timestamp (& self . 1)"), "{text}");
    }

    #[test]
    fn each_mistake_is_reported_once() {
        let cases = [
            (
                "struct A { ts: i64 }",
                "`A` has no field for the event time\\nhelp: put `#[event(time, unit = \\\"ms\\\")]` on `ts`",
            ),
            ("struct A { at: Instant }", "put `#[event(time)]` on `at`"),
            ("struct A { #[event(time)] ts: u128 }", "an integer does not say what it counts"),
            ("struct A { #[event(time, unit = \"min\")] ts: i64 }", "unknown unit \\\"min\\\""),
            ("struct A { #[event(tim)] ts: SystemTime }", "`event` has no argument `tim`\\nhelp: did you mean `time`?"),
            (
                "struct A { #[event(unit = \"s\")] ts: i64 }",
                "`unit` goes with `time`\\nhelp: `#[event(time, unit = \\\"s\\\")]`",
            ),
            ("struct A { #[event(time, time)] ts: SystemTime }", "`time` is given twice"),
            ("struct A { #[event(time)] #[event(time)] ts: SystemTime }", "`time` is given twice"),
            ("struct A { #[event(time, unit = \"s\", unit = \"ms\")] ts: i64 }", "`unit` is given twice"),
            ("struct A { #[event(time, unit = us)] ts: i64 }", "a unit is text in quotes\\nhelp: `unit = \\\"us\\\"`"),
            ("struct A { #[event(time, unit = ms)] ts: Time }", "`unit = \\\"ms\\\"`"),
            ("struct A { #[event(time, unit = 5)] ts: i64 }", "a unit is text in quotes"),
            ("struct A { #[event(time, unit)] ts: i64 }", "a unit is text in quotes"),
            ("struct A { #[event(time, unit(\"s\"))] ts: i64 }", "help: `unit = \\\"s\\\"`"),
            ("struct A { #[event(unit = ms)] ts: i64 }", "a unit is text in quotes"),
            (
                "struct A { #[event(time = \"ns\")] ts: i64 }",
                "`time` takes no value\\nhelp: `#[event(time, unit = \\\"ns\\\")]`",
            ),
            ("struct A { #[event(time(ms))] ts: i64 }", "`time` takes no value"),
            ("struct A { #[event(time unit = \"ms\")] ts: i64 }", "a comma is missing in front of this"),
            ("struct A { #[event(unit = \"ms\" time)] ts: i64 }", "a comma is missing in front of this"),
            (
                "struct A { #[event(s)] ts: i64 }",
                "`event` has no argument `s`\\nhelp: `#[event(time, unit = \\\"s\\\")]`",
            ),
            ("struct A { #[event(tme, unit = \"ms\")] ts: i64 }", "did you mean `time`?"),
            ("struct A { #[event(time, zone = \"UTC\")] ts: i64 }", "`event` has no argument `zone`"),
            (
                "struct A { #[event(time, \"s\")] ts: i64 }",
                "this is no argument of `event`\\nhelp: `#[event(time, unit = \\\"s\\\")]`",
            ),
            ("struct A { #[event(time,, unit = \"s\")] ts: i64 }", "this is no argument of `event`"),
            (
                "struct A { #[event] ts: SystemTime }",
                "this does not say that the field holds the event time\\nhelp: `#[event(time)]`",
            ),
            ("struct A { #[event] ts: i64 }", "help: `#[event(time, unit = \\\"ms\\\")]`"),
            ("struct A { #[event()] ts: i64 }", "this does not say that the field holds the event time"),
            ("struct A { #[event = \"ms\"] ts: i64 }", "this does not say that the field holds the event time"),
            ("struct A { #[event(time)] a: T, #[event(tme)] b: T }", "did you mean `time`?"),
            ("struct A { #[event(tme)] a: T, #[event(time)] b: T }", "did you mean `time`?"),
            ("struct A { #[event(time)] a: T, #[event] b: T }", "this does not say"),
            ("struct A { #[event(time)] a: T, #[event(time)] b: T }", "a second field for the event time"),
            ("#[event(time)] struct A { ts: i64 }", "`#[event(…)]` belongs on a field"),
            ("enum A { B }", "an enum has no field for the event time"),
            ("union A { b: u8 }", "a union cannot be an event"),
        ];
        for (text, expected) in cases {
            let text = derived(text);
            assert_eq!(text.matches("compile_error").count(), 1, "{text}");
            assert!(text.contains(expected), "{expected}: {text}");
        }
    }

    #[test]
    fn two_mistakes_are_two() {
        let cases = [
            (
                "struct A { #[event(time, unit = \"min\")] a: i64, #[event(tme)] b: i64 }",
                ["unknown unit", "no argument `tme`"],
            ),
            ("struct A { #[event(tme, unit = ms)] a: i64 }", ["no argument `tme`", "a unit is text in quotes"]),
            (
                "struct A { #[event(time)] a: i64, #[event(time)] b: T }",
                ["an integer does not say", "a second field for the event time"],
            ),
        ];
        for (text, expected) in cases {
            let text = derived(text);
            assert_eq!(text.matches("compile_error").count(), 2, "{text}");
            assert!(expected.iter().all(|expected| text.contains(expected)), "{expected:?}: {text}");
        }
    }

    #[test]
    fn the_attribute_may_be_written_in_parts() {
        let whole = derived("struct A { #[event(time, unit = \"ms\")] ts: i64 }");
        for text in ["#[event(time)] #[event(unit = \"ms\")]", "#[event(unit = \"ms\", time,)]"] {
            assert_eq!(derived(&format!("struct A {{ {text} ts: i64 }}")), whole);
        }
    }

    #[test]
    fn with_mistakes_an_implementation_stands_in() {
        for text in ["struct A { ts: i64 }", "enum A { B }", "struct A { #[event(time)] ts: u64 }", "struct A;"] {
            let text = derived(text);
            assert!(
                text.contains("compile_error") && text.contains("Event for A") && text.contains("loop { }"),
                "{text}"
            );
        }
    }
}
