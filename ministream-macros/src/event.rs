//! `#[derive(Event)]`.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Field, Fields, LitStr, Member, Type, TypePath};

use crate::errors::{Errors, list, meant};
use crate::fallback;
use crate::item::ungrouped;

const UNITS: [(&str, &str); 4] =
    [("s", "Seconds"), ("ms", "Milliseconds"), ("us", "Microseconds"), ("ns", "Nanoseconds")];

/// The field that holds the time.
struct TimeField<'a> {
    member: Member,
    field: &'a Field,
    unit: Option<&'static str>,
}

/// What `#[event(…)]` says.
#[derive(Default)]
struct EventAttribute {
    time: Option<Span>,
    unit: Option<LitStr>,
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
        for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("event")) {
            let says = read(attribute, errors);
            let Some(time) = says.time else {
                if says.unit.is_some() {
                    errors.help(attribute.span(), "`unit` goes with `time`", "`#[event(time, unit = \"ms\")]`");
                }
                continue;
            };
            if found.is_some() {
                errors.help(
                    time,
                    "a second field for the event time",
                    "an event has one: take the other attribute out",
                );
                continue;
            }
            let member = match &field.ident {
                Some(ident) => Member::Named(ident.clone()),
                None => Member::from(index),
            };
            found = Some(TimeField { member, field, unit: unit_of(field, says.unit, errors) });
        }
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

fn read(attribute: &Attribute, errors: &mut Errors) -> EventAttribute {
    let mut says = EventAttribute::default();
    let (mut unknown, mut twice) = (Vec::new(), Vec::new());
    let parsed = attribute.parse_nested_meta(|meta: ParseNestedMeta<'_>| {
        if meta.path.is_ident("time") {
            twice.extend(says.time.replace(meta.path.span()).map(|_| meta.path.clone()));
        } else if meta.path.is_ident("unit") {
            twice.extend(says.unit.replace(meta.value()?.parse()?).map(|_| meta.path.clone()));
        } else {
            unknown.push(meta.path.clone());
            if meta.input.peek(syn::Token![=]) {
                meta.value()?.parse::<syn::Expr>()?;
            }
        }
        Ok(())
    });
    for path in twice {
        let word = path.get_ident().map(ToString::to_string).unwrap_or_default();
        errors.help(path.span(), format!("`{word}` is given twice"), "take one of the two out");
    }
    for path in unknown {
        let word = path.get_ident().map(ToString::to_string).unwrap_or_default();
        let help = match meant(&word, ["time", "unit"]) {
            Some(word) => format!("did you mean `{word}`?"),
            None => "`#[event(time)]`, or `#[event(time, unit = \"ms\")]`".to_owned(),
        };
        errors.help(path.span(), format!("`event` has no argument `{word}`"), help);
        says.time = says.time.or(Some(path.span()));
    }
    if let Err(error) = parsed {
        errors.help(error.span(), format!("{error}"), "`#[event(time)]`, or `#[event(time, unit = \"ms\")]`");
        says.time = says.time.or(Some(attribute.span()));
    }
    says
}

/// Integers need a unit, and only they have one; the second half is for the compiler, which knows the type.
fn unit_of(field: &Field, unit: Option<LitStr>, errors: &mut Errors) -> Option<&'static str> {
    let units = || list(UNITS.iter().map(|(unit, _)| *unit));
    let Some(unit) = unit else {
        if is_integer(&field.ty) {
            let what = "an integer does not say what it counts";
            errors.help(field.ty.span(), what, format!("`#[event(time, unit = \"ms\")]`; units are {}", units()));
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
    let attribute =
        |field: &Field| if is_integer(&field.ty) { "#[event(time, unit = \"ms\")]" } else { "#[event(time)]" };
    match field.and_then(|field| Some((field.ident.as_ref()?, attribute(field)))) {
        Some((ident, attribute)) => format!("put `{attribute}` on `{ident}`"),
        None => "put `#[event(time, unit = \"ms\")]` on the field that holds the time".to_owned(),
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
            ("struct A { #[event(unit = \"s\")] ts: i64 }", "`unit` goes with `time`"),
            ("struct A { #[event(time, time)] ts: SystemTime }", "`time` is given twice"),
            ("struct A { #[event(time, unit = \"s\", unit = \"ms\")] ts: i64 }", "`unit` is given twice"),
            ("struct A { #[event] ts: SystemTime }", "expected attribute arguments in parentheses"),
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
        let two = derived("struct A { #[event(time, unit = \"min\")] a: i64, #[event(tme)] b: i64 }");
        assert!(two.contains("unknown unit") && two.contains("no argument `tme`"), "{two}");
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
