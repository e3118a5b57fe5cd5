//! Events as bytes, for an order where their types have none.

use std::cmp::Ordering;

use crate::event::Data;

/// An order of events with the same time and key that does not depend on their arrival: that of their encoding.
///
/// The encoding is [postcard](https://docs.rs/postcard)'s, whose bytes depend on the value alone. Values that cannot be
/// encoded are equal.
pub(crate) fn canonical_order<T: Data>(a: &T, b: &T) -> Ordering {
    match (postcard::to_allocvec(a), postcard::to_allocvec(b)) {
        (Ok(a), Ok(b)) => a.cmp(&b),
        _ => Ordering::Equal,
    }
}

/// A value as bytes; none if it cannot be encoded.
#[cfg(feature = "sketches")]
pub(crate) fn encoded<T: Data>(value: &T) -> Option<Vec<u8>> {
    postcard::to_allocvec(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_values_are_never_equal() {
        assert_eq!(canonical_order(&('a', 1.5), &('a', 1.5)), Ordering::Equal);
        assert_ne!(canonical_order(&('a', 1.5), &('a', -1.5)), Ordering::Equal);
        assert_ne!(canonical_order(&Some(0_u8), &None), Ordering::Equal);
        let (small, large) = (vec![1_u32], vec![1_u32, 2]);
        assert_eq!(canonical_order(&small, &large), canonical_order(&large, &small).reverse());
    }
}
