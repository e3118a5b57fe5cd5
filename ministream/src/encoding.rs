//! Events as bytes, for an order where their types have none.

use std::cmp::Ordering;
use std::fmt::Display;

use serde::ser::{self, Serialize, Serializer};

use crate::event::Data;

/// An order of events with the same time and key that does not depend on their arrival: that of their encoding.
///
/// Values whose own `Serialize` fails come first, and are equal.
pub(crate) fn canonical_order<T: Data>(a: &T, b: &T) -> Ordering {
    encoded(a).cmp(&encoded(b))
}

/// A value as bytes that depend on nothing else; none if its own `Serialize` fails.
///
/// Different values have different bytes. No format that is at hand does: the compact ones, such as postcard, refuse maps
/// whose length is not known in advance, which `#[serde(flatten)]` makes, and write the entries of a `HashMap` in an order
/// that each map has for itself. Here they are sorted. A `HashSet` cannot be told from a list, and stays as it is.
///
/// The bytes are compared and hashed, and never read again.
pub(crate) fn encoded<T: Data>(value: &T) -> Option<Vec<u8>> {
    bytes_of(value).ok()
}

fn bytes_of<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, NotEncoded> {
    let mut encoder = Encoder { bytes: Vec::new() };
    value.serialize(&mut encoder)?;
    Ok(encoder.bytes)
}

/// Each value starts with what it is, so that two values of which one is the beginning of the other differ, too.
#[derive(Clone, Copy)]
enum Tag {
    End,
    None,
    Some,
    Unit,
    Bool,
    Signed,
    Unsigned,
    Float,
    Char,
    Text,
    Bytes,
    List,
    Struct,
    Map,
    Variant,
}

struct Encoder {
    bytes: Vec<u8>,
}

impl Encoder {
    fn put(&mut self, tag: Tag, bytes: &[u8]) {
        self.bytes.push(tag as u8);
        self.bytes.extend_from_slice(bytes);
    }

    /// Bytes of any number.
    fn put_long(&mut self, tag: Tag, bytes: &[u8]) {
        self.put(tag, &length(bytes));
        self.bytes.extend_from_slice(bytes);
    }

    fn put_signed(&mut self, value: i128) {
        // Negative ones first.
        self.put(Tag::Signed, &(value ^ i128::MIN).to_be_bytes());
    }

    fn put_unsigned(&mut self, value: u128) {
        self.put(Tag::Unsigned, &value.to_be_bytes());
    }
}

/// The same on every machine.
fn length(bytes: &[u8]) -> [u8; 8] {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes()
}

/// What an `impl Serialize` of the user's own says.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct NotEncoded(String);

impl ser::Error for NotEncoded {
    fn custom<T: Display>(reason: T) -> Self {
        NotEncoded(reason.to_string())
    }
}

macro_rules! put {
    ($($method:ident($value:ident: $ty:ty) => $put:ident($($argument:expr),+);)*) => {$(
        fn $method(self, $value: $ty) -> Result<(), NotEncoded> {
            self.$put($($argument),+);
            Ok(())
        }
    )*};
}

impl<'a> Serializer for &'a mut Encoder {
    type Ok = ();
    type Error = NotEncoded;
    type SerializeSeq = Items<'a>;
    type SerializeTuple = Items<'a>;
    type SerializeTupleStruct = Items<'a>;
    type SerializeTupleVariant = Items<'a>;
    type SerializeMap = Entries<'a>;
    type SerializeStruct = Items<'a>;
    type SerializeStructVariant = Items<'a>;

    put! {
        serialize_bool(value: bool) => put(Tag::Bool, &[u8::from(value)]);
        serialize_i8(value: i8) => put_signed(value.into());
        serialize_i16(value: i16) => put_signed(value.into());
        serialize_i32(value: i32) => put_signed(value.into());
        serialize_i64(value: i64) => put_signed(value.into());
        serialize_i128(value: i128) => put_signed(value);
        serialize_u8(value: u8) => put_unsigned(value.into());
        serialize_u16(value: u16) => put_unsigned(value.into());
        serialize_u32(value: u32) => put_unsigned(value.into());
        serialize_u64(value: u64) => put_unsigned(value.into());
        serialize_u128(value: u128) => put_unsigned(value);
        serialize_f32(value: f32) => put(Tag::Float, &value.to_bits().to_be_bytes());
        serialize_f64(value: f64) => put(Tag::Float, &value.to_bits().to_be_bytes());
        serialize_char(value: char) => put(Tag::Char, &u32::from(value).to_be_bytes());
        serialize_str(value: &str) => put_long(Tag::Text, value.as_bytes());
        serialize_bytes(value: &[u8]) => put_long(Tag::Bytes, value);
        serialize_unit_struct(_name: &'static str) => put(Tag::Unit, &[]);
    }

    fn serialize_none(self) -> Result<(), NotEncoded> {
        self.put(Tag::None, &[]);
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NotEncoded> {
        self.put(Tag::Some, &[]);
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), NotEncoded> {
        self.put(Tag::Unit, &[]);
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, index: u32, _: &'static str) -> Result<(), NotEncoded> {
        self.put(Tag::Variant, &index.to_be_bytes());
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), NotEncoded> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), NotEncoded> {
        self.put(Tag::Variant, &index.to_be_bytes());
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'a>, NotEncoded> {
        self.put(Tag::List, &[]);
        Ok(Items { encoder: self })
    }

    fn serialize_tuple(self, _: usize) -> Result<Items<'a>, NotEncoded> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'a>, NotEncoded> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Items<'a>, NotEncoded> {
        self.put(Tag::Variant, &index.to_be_bytes());
        self.serialize_seq(None)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Entries<'a>, NotEncoded> {
        Ok(Entries { encoder: self, key: Vec::new(), entries: Vec::new() })
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Items<'a>, NotEncoded> {
        self.put(Tag::Struct, &[]);
        Ok(Items { encoder: self })
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        _: &'static str,
        fields: usize,
    ) -> Result<Items<'a>, NotEncoded> {
        self.put(Tag::Variant, &index.to_be_bytes());
        self.serialize_struct(name, fields)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// A list, or the fields of a struct with their names, in their order.
struct Items<'a> {
    encoder: &'a mut Encoder,
}

macro_rules! items {
    ($($contract:ident::$method:ident($($name:ident)?);)*) => {$(
        impl ser::$contract for Items<'_> {
            type Ok = ();
            type Error = NotEncoded;

            fn $method<T: Serialize + ?Sized>(
                &mut self,
                $($name: &'static str,)?
                value: &T,
            ) -> Result<(), NotEncoded> {
                $(self.encoder.put_long(Tag::Text, $name.as_bytes());)?
                value.serialize(&mut *self.encoder)
            }

            fn end(self) -> Result<(), NotEncoded> {
                self.encoder.put(Tag::End, &[]);
                Ok(())
            }
        }
    )*};
}

items! {
    SerializeSeq::serialize_element();
    SerializeTuple::serialize_element();
    SerializeTupleStruct::serialize_field();
    SerializeTupleVariant::serialize_field();
    SerializeStruct::serialize_field(name);
    SerializeStructVariant::serialize_field(name);
}

/// A map, by its keys and not as it comes.
struct Entries<'a> {
    encoder: &'a mut Encoder,
    key: Vec<u8>,
    entries: Vec<(Vec<u8>, Vec<u8>)>,
}

impl ser::SerializeMap for Entries<'_> {
    type Ok = ();
    type Error = NotEncoded;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NotEncoded> {
        self.key = bytes_of(key)?;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotEncoded> {
        self.entries.push((std::mem::take(&mut self.key), bytes_of(value)?));
        Ok(())
    }

    fn end(mut self) -> Result<(), NotEncoded> {
        self.entries.sort_unstable();
        self.encoder.put(Tag::Map, &[]);
        for (key, value) in self.entries {
            self.encoder.bytes.extend(key);
            self.encoder.bytes.extend(value);
        }
        self.encoder.put(Tag::End, &[]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashMap};

    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Clone, Default, Serialize, Deserialize)]
    struct Event {
        #[serde(skip_serializing_if = "Option::is_none")]
        a: Option<u8>,
        #[serde(skip_serializing_if = "Option::is_none")]
        b: Option<u8>,
        #[serde(flatten)]
        more: HashMap<String, i64>,
    }

    #[derive(Clone, Serialize, Deserialize)]
    #[serde(untagged)]
    enum Any {
        Number(u64),
        Text(String),
        List(Vec<Any>),
        A { a: u64 },
        B { b: u64 },
    }

    #[derive(Clone, Serialize, Deserialize)]
    enum Shape {
        Point,
        Circle(u32),
        Box(u32, u32),
        Line { length: u32 },
    }

    fn all_differ<T: Data>(values: &[T]) {
        for (n, a) in values.iter().enumerate() {
            for (m, b) in values.iter().enumerate() {
                assert_eq!(canonical_order(a, b) == Ordering::Equal, n == m, "{n} {m}");
                assert_eq!(canonical_order(a, b), canonical_order(b, a).reverse(), "{n} {m}");
            }
        }
    }

    #[test]
    fn different_values_are_never_equal() {
        all_differ(&[('a', 1.5), ('a', -1.5), ('b', 1.5), ('a', f64::NAN), ('a', f64::INFINITY)]);
        all_differ(&[None, Some(None), Some(Some(0_u8)), Some(Some(1))]);
        all_differ(
            &[vec![], vec![""], vec!["", ""], vec!["a"], vec!["a", "b"], vec!["ab"]]
                .map(|texts| texts.into_iter().map(str::to_owned).collect::<Vec<_>>()),
        );
        all_differ(&[(vec![1_u8], vec![]), (vec![], vec![1]), (vec![], vec![])]);
        all_differ(&[
            Any::Number(0),
            Any::Text(String::new()),
            Any::List(vec![]),
            Any::List(vec![Any::Number(0)]),
            Any::List(vec![Any::List(vec![])]),
            Any::A { a: 0 },
            Any::B { b: 0 },
        ]);
        all_differ(&[
            Shape::Point,
            Shape::Circle(0),
            Shape::Circle(1),
            Shape::Box(0, 1),
            Shape::Box(1, 0),
            Shape::Line { length: 0 },
        ]);
        let event = |a, b| Event { a, b, ..Event::default() };
        all_differ(&[event(None, None), event(Some(1), None), event(None, Some(1)), event(Some(1), Some(1))]);
    }

    #[test]
    fn whole_numbers_keep_their_order() {
        let signed = [i64::MIN, -300, -1, 0, 1, 300, i64::MAX];
        assert!(signed.is_sorted_by(|a, b| canonical_order(a, b).is_lt()));
        let unsigned = [0, 1, 255, 256, u64::MAX];
        assert!(unsigned.is_sorted_by(|a, b| canonical_order(a, b).is_lt()));
    }

    #[test]
    fn the_entries_of_a_map_have_no_order() {
        let entries: Vec<(String, i64)> = (0..50).map(|n| (format!("key{n}"), n)).collect();
        let forwards: HashMap<_, _> = entries.iter().cloned().collect();
        let backwards: HashMap<_, _> = entries.iter().rev().cloned().collect();
        let sorted: BTreeMap<_, _> = entries.into_iter().collect();
        assert_eq!(encoded(&forwards), encoded(&backwards));
        assert_eq!(encoded(&forwards), encoded(&sorted));
        let event = |more| Event { more, ..Event::default() };
        assert!(encoded(&event(forwards.clone())).is_some());
        assert_eq!(encoded(&event(forwards)), encoded(&event(backwards)));
    }

    #[test]
    fn the_bytes_are_the_same_on_every_machine() {
        let bytes = encoded(&(-1_i8, "é".to_owned(), Some(2_u64))).unwrap();
        let list = [Tag::List as u8];
        let minus_one = [&[Tag::Signed as u8, 0x7f][..], &[0xff; 15]].concat();
        let text = [&[Tag::Text as u8, 0, 0, 0, 0, 0, 0, 0, 2][..], "é".as_bytes()].concat();
        let two = [&[Tag::Some as u8, Tag::Unsigned as u8][..], &[0; 15], &[2]].concat();
        assert_eq!(bytes, [&list[..], &minus_one, &text, &two, &[Tag::End as u8]].concat());
    }
}
