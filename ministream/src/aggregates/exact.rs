//! Exactly rounded sums of floats: the same bits in any order.
//!
//! A superaccumulator: the sum is kept as one big fixed-point number, in digits of 32 bits whose carries wait, so that an
//! addition touches three digits. The idea is that of R. M. Neal, "Fast exact summation using small and large
//! superaccumulators" (2015), here with only the run of digits that the values have touched. The result is that of
//! Python's `math.fsum`, but without its overflows on the way.

use serde::{Deserialize, Serialize};

/// What the lowest bit of digit 0 is worth: 2^-1074, the smallest float.
const LOWEST_EXPONENT: u64 = 1_074;
const DIGIT_BITS: u64 = 32;
/// Digits 0 to 65 hold any float; the rest is room for the carries of 2^63 of them.
const MOST_DIGITS: usize = 70;
/// Carries are passed on before this many additions, so that no digit leaves its 64 bits.
const MOST_PENDING: u32 = 1 << 29;

/// The exact sum of any number of floats.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "Parts")]
pub struct ExactSum {
    /// The number of the first digit that is kept.
    low: usize,
    /// Digits, each within `(pending + 1) * 2^32` of zero.
    digits: Vec<i64>,
    pending: u32,
    not_a_number: bool,
    infinite: bool,
    minus_infinite: bool,
}

impl ExactSum {
    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        const FRACTION_BITS: u32 = 52;
        if !value.is_finite() {
            self.not_a_number |= value.is_nan();
            self.infinite |= value == f64::INFINITY;
            self.minus_infinite |= value == f64::NEG_INFINITY;
            return;
        }
        let bits = value.to_bits();
        let (exponent, fraction) = ((bits >> FRACTION_BITS) & 0x7ff, bits & ((1 << FRACTION_BITS) - 1));
        let (position, mantissa) =
            if exponent == 0 { (0, fraction) } else { (exponent - 1, fraction | (1 << FRACTION_BITS)) };
        if mantissa == 0 {
            return;
        }
        // Without branches on the sign, which is as good as random: `-part` is `(part ^ -1) + 1`.
        let minus = i64::from(value.is_sign_negative());
        let shifted = u128::from(mantissa) << (position % DIGIT_BITS);
        let part = |place: u64| (i64::from((shifted >> (DIGIT_BITS * place)) as u32) ^ -minus) + minus;
        let first = usize::try_from(position / DIGIT_BITS).unwrap_or_default();
        if let [low, middle, high] = self.touch(first) {
            *low += part(0);
            *middle += part(1);
            *high += part(2);
        }
        self.pending += 1;
        if self.pending >= MOST_PENDING {
            self.carry();
        }
    }

    pub(crate) fn merge(&mut self, other: &ExactSum) {
        self.not_a_number |= other.not_a_number;
        self.infinite |= other.infinite;
        self.minus_infinite |= other.minus_infinite;
        if other.digits.is_empty() {
            return;
        }
        let mut carried = other.clone();
        carried.carry();
        self.carry();
        self.keep(carried.low, carried.digits.len());
        let start = carried.low - self.low;
        for (digit, other) in self.digits.iter_mut().skip(start).zip(&carried.digits) {
            *digit += other;
        }
        self.pending = 1;
    }

    /// The sum, rounded once to the nearest, ties to even.
    pub(crate) fn value(&self) -> f64 {
        const BITS: u64 = f64::MANTISSA_DIGITS as u64;
        self.special().unwrap_or_else(|| {
            let (negative, magnitude) = self.rounded(BITS, 0, f64::INFINITY.to_bits());
            let value = f64::from_bits(magnitude);
            if negative { -value } else { value }
        })
    }

    /// The sum as a 32-bit float, rounded once from the exact sum.
    pub(crate) fn value_f32(&self) -> f32 {
        const BITS: u64 = f32::MANTISSA_DIGITS as u64;
        const LOWEST_EXPONENT_F32: u64 = 149;
        if let Some(special) = self.special() {
            return special as f32;
        }
        let infinity = f32::INFINITY.to_bits();
        let (negative, magnitude) = self.rounded(BITS, LOWEST_EXPONENT - LOWEST_EXPONENT_F32, u64::from(infinity));
        let value = f32::from_bits(u32::try_from(magnitude).unwrap_or(infinity));
        if negative { -value } else { value }
    }

    fn special(&self) -> Option<f64> {
        match (self.not_a_number, self.infinite, self.minus_infinite) {
            (true, _, _) | (_, true, true) => Some(f64::NAN),
            (_, true, _) => Some(f64::INFINITY),
            (_, _, true) => Some(f64::NEG_INFINITY),
            _ => None,
        }
    }

    /// The three digits from `first` on, which are kept from now on.
    #[inline]
    fn touch(&mut self, first: usize) -> &mut [i64] {
        let kept = first.checked_sub(self.low).is_some_and(|start| start + 3 <= self.digits.len());
        if !kept {
            self.keep(first, 3);
        }
        let start = first.saturating_sub(self.low);
        self.digits.get_mut(start..start + 3).unwrap_or_default()
    }

    /// Makes room for `count` digits from `first` on.
    #[cold]
    fn keep(&mut self, first: usize, count: usize) {
        if self.digits.is_empty() {
            self.low = first;
        }
        if first < self.low {
            self.digits.splice(0..0, std::iter::repeat_n(0, self.low - first));
            self.low = first;
        }
        let end = first - self.low + count;
        if self.digits.len() < end {
            self.digits.resize(end, 0);
        }
    }

    /// Passes the carries on: then all digits but the last are from 0 to 2^32 - 1, and the last is within 2^32 of zero.
    fn carry(&mut self) {
        let mut carry = 0;
        let last = self.digits.len().saturating_sub(1);
        for digit in self.digits.iter_mut().take(last) {
            let sum = *digit + carry;
            carry = sum >> DIGIT_BITS;
            *digit = sum - (carry << DIGIT_BITS);
        }
        if let Some(digit) = self.digits.last_mut() {
            *digit += carry;
            let top = *digit >> DIGIT_BITS;
            if top != 0 && top != -1 {
                *digit -= top << DIGIT_BITS;
                self.digits.push(top);
            }
        }
        self.pending = 0;
    }

    /// The sign, and the bits of the nearest float with this many bits of mantissa, whose smallest unit is `lowest` bits
    /// above ours.
    fn rounded(&self, mantissa_bits: u64, lowest: u64, infinity: u64) -> (bool, u64) {
        let mut sum = self.clone();
        sum.carry();
        let negative = sum.digits.iter().rev().find(|digit| **digit != 0).is_some_and(|digit| *digit < 0);
        if negative {
            for digit in &mut sum.digits {
                *digit = -*digit;
            }
            sum.carry();
        }
        let bit = |position: u64| {
            let place = usize::try_from(position / DIGIT_BITS).ok().and_then(|digit| digit.checked_sub(sum.low));
            let digit = place.and_then(|place| sum.digits.get(place)).copied().unwrap_or_default();
            (digit >> (position % DIGIT_BITS)) & 1 == 1
        };
        let above = (sum.low as u64 + sum.digits.len() as u64) * DIGIT_BITS;
        let Some(highest) = (0..above).rev().find(|&position| bit(position)) else { return (false, 0) };
        let unit = (highest + 1).saturating_sub(mantissa_bits).max(lowest);
        let mut mantissa =
            (unit..=highest.max(unit)).rev().fold(0, |mantissa, position| mantissa << 1 | u64::from(bit(position)));
        let half = unit > 0 && bit(unit - 1);
        if half && (mantissa & 1 == 1 || (0..unit - 1).any(bit)) {
            mantissa += 1;
        }
        // With the implicit bit of the mantissa added, not set, the exponent is one less than it is written, and a mantissa
        // that was rounded up to the next power of two carries into it.
        let exponent = unit - lowest;
        let bits = exponent.checked_shl(u32::try_from(mantissa_bits - 1).unwrap_or_default());
        (
            negative,
            bits.filter(|bits| bits >> (mantissa_bits - 1) == exponent)
                .map_or(infinity, |bits| bits + mantissa)
                .min(infinity),
        )
    }
}

/// A sum as it comes out of a checkpoint.
#[derive(Deserialize)]
struct Parts {
    low: usize,
    digits: Vec<i64>,
    pending: u32,
    not_a_number: bool,
    infinite: bool,
    minus_infinite: bool,
}

impl TryFrom<Parts> for ExactSum {
    type Error = &'static str;

    fn try_from(parts: Parts) -> Result<Self, Self::Error> {
        let Parts { low, digits, pending, not_a_number, infinite, minus_infinite } = parts;
        let bound = (i64::from(pending) + 1) << DIGIT_BITS;
        let fits = low <= MOST_DIGITS
            && digits.len() <= MOST_DIGITS - low
            && pending < MOST_PENDING
            && digits.iter().all(|digit| (-bound..=bound).contains(digit));
        if !fits {
            return Err("not the state of an exact sum");
        }
        Ok(ExactSum { low, digits, pending, not_a_number, infinite, minus_infinite })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(values: &[f64]) -> f64 {
        let mut sum = ExactSum::default();
        values.iter().for_each(|&value| sum.add(value));
        sum.value()
    }

    #[test]
    fn known_sums() {
        let tiny = f64::from_bits(1);
        let cases: &[(&[f64], f64)] = &[
            (&[], 0.0),
            (&[-0.0, -0.0], 0.0),
            (&[0.1; 10], 1.0),
            (&[0.1, 0.2, 0.3], 0.6),
            (&[1e308, 1e308, -1e308], 1e308),
            (&[1e308, 1e308], f64::INFINITY),
            (&[-1e308, -1e308], f64::NEG_INFINITY),
            (&[1.0, 1e100, 1.0, -1e100], 2.0),
            (&[1e16, 1.0, 1e-16], 10_000_000_000_000_002.0),
            (&[1e16, 1.0], 1e16),
            (&[tiny, tiny, -tiny], tiny),
            (&[f64::MIN_POSITIVE, -tiny], f64::MIN_POSITIVE - tiny),
            (&[f64::MAX, f64::MAX, -f64::MAX], f64::MAX),
            (&[f64::MAX, 9.9e291], f64::MAX),
            (&[f64::MAX, 9.98e291], f64::INFINITY),
            (&[-1.5, -2.25], -3.75),
            (&[3.0, -3.0], 0.0),
            (&[1.0, f64::INFINITY], f64::INFINITY),
            (&[f64::NEG_INFINITY, 1.0], f64::NEG_INFINITY),
        ];
        for (values, expected) in cases {
            assert_eq!(sum(values).to_bits(), expected.to_bits(), "{values:?}");
        }
        assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
        assert!(sum(&[f64::NAN, 1.0]).is_nan());
    }

    #[test]
    fn thirty_two_bits_are_rounded_once() {
        // Through f64 the tie would be broken twice, and the wrong way.
        let mut sum = ExactSum::default();
        for value in [1.0, 2_f64.powi(-24), 2_f64.powi(-80)] {
            sum.add(value);
        }
        assert_eq!(sum.value_f32(), 1.0 + f32::EPSILON);
        for (value, expected) in [(f64::from(f32::MAX), f32::MAX), (1e39, f32::INFINITY), (1e-46, 0.0), (1e-45, 1e-45)]
        {
            let mut sum = ExactSum::default();
            sum.add(value);
            assert_eq!(sum.value_f32(), expected, "{value}");
            assert_eq!(sum.value_f32(), value as f32, "{value}");
        }
    }

    /// Floats of like magnitudes, or of all, that cancel in part.
    fn cancelling(count: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state
        };
        let position = next() >> 32;
        let width = 1 + (next() >> 32) % if seed.is_multiple_of(4) { 2_047 } else { 90 };
        let lowest = if seed.is_multiple_of(5) { 0 } else { position % (2_048 - width) };
        let mut values: Vec<f64> = Vec::new();
        for index in 0..count {
            let (fraction, random) = ((next() >> 11) & ((1 << 52) - 1), next() >> 33);
            if index % 3 == 2 {
                values.push(-values[usize::try_from(random).unwrap() % values.len()]);
            } else {
                let exponent = (lowest + random % width).min(2_046);
                values.push(f64::from_bits((random >> 20 & 1) << 63 | exponent << 52 | fraction));
            }
        }
        values
    }

    #[test]
    fn agrees_with_python() {
        // Of `math.fsum`, and of the sum as a `fractions.Fraction` rounded to 24 bits.
        let cases: &[(u64, usize, u64, u32)] = &[
            (26, 4, 0xbf63_1a47_4681_7c88, 0xbb18_d23a),
            (54, 9, 0xc7ce_56af_a558_c74a, 0xfe72_b57d),
            (58, 13, 0x39c4_08d3_6761_f851, 0x0e20_469b),
            (73, 5, 0xbeca_fabc_90e9_28a7, 0xb657_d5e5),
            (74, 6, 0xbd15_9b0e_7749_c505, 0xa8ac_d874),
            (97, 6, 0x44a3_5e15_5e1b_d9d7, 0x651a_f0ab),
            (141, 4, 0x3999_edd8_2cd8_eefc, 0x0ccf_6ec1),
            (146, 9, 0x4755_e6e1_9884_f4a9, 0x7aaf_370d),
            (4, 5, 0xbbed_2302_c08d_77ab, 0x9f69_1816),
            (16, 17, 0x464d_d8c7_03f7_d66f, 0x726e_c638),
            (20, 21, 0xbbb3_ed34_9909_6d47, 0x9d9f_69a5),
            (28, 6, 0xc6af_42ce_7270_7804, 0xf57a_1674),
            (5, 6, 0x8062_33fd_d115_9a03, 0x8000_0000),
            (35, 13, 0x8000_bd27_194a_6344, 0x8000_0000),
            (40, 18, 0x81f5_eb90_62d4_9fcd, 0x8000_0000),
            (55, 10, 0x812e_b733_aafb_76d1, 0x8000_0000),
        ];
        for &(seed, count, as_f64, as_f32) in cases {
            let mut sum = ExactSum::default();
            cancelling(count, seed).into_iter().for_each(|value| sum.add(value));
            assert_eq!(sum.value().to_bits(), as_f64, "{seed}");
            assert_eq!(sum.value_f32().to_bits(), as_f32, "{seed}");
        }
    }

    /// Random floats of all magnitudes, from a linear congruential generator.
    fn random(count: usize, mut seed: u64) -> Vec<f64> {
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            seed >> 11
        };
        let any = std::iter::from_fn(|| Some(f64::from_bits(next() << 11 ^ next()))).filter(|value| value.is_finite());
        any.take(count).collect()
    }

    /// The exact sum in units of 2^-1074 over big digits, by schoolbook addition.
    fn oracle(values: &[f64]) -> f64 {
        // Values of close magnitudes fit in 128 bits over their smallest unit.
        let unit = values.iter().map(|value| (value.to_bits() >> 52 & 0x7ff) as i32).min().unwrap_or(0) - 1_075;
        let total: i128 = values
            .iter()
            .map(|value| {
                let bits = value.to_bits();
                let mantissa = i128::from(bits & ((1 << 52) - 1) | 1 << 52);
                let shifted = mantissa << ((bits >> 52 & 0x7ff) as i32 - 1_075 - unit);
                if value.is_sign_negative() { -shifted } else { shifted }
            })
            .sum();
        total as f64 * 2_f64.powi(unit)
    }

    #[test]
    fn agrees_with_integers_where_they_are_wide_enough() {
        for seed in 0..500 {
            let values: Vec<f64> = random(40, seed)
                .into_iter()
                .map(|value| f64::from_bits(value.to_bits() & !(0x7ff << 52) | (1_000 + value.to_bits() % 60) << 52))
                .collect();
            assert_eq!(sum(&values).to_bits(), oracle(&values).to_bits(), "{seed}");
        }
    }

    #[test]
    fn neither_order_nor_merging_changes_a_bit() {
        for seed in 0..200 {
            let mut values = random(60, seed);
            let expected = sum(&values).to_bits();
            values.reverse();
            values.rotate_left(usize::try_from(seed).unwrap() % 60);
            assert_eq!(sum(&values).to_bits(), expected, "{seed}");
            let mut parts: Vec<ExactSum> = values
                .chunks(7)
                .map(|chunk| {
                    let mut part = ExactSum::default();
                    chunk.iter().for_each(|&value| part.add(value));
                    part
                })
                .collect();
            while parts.len() > 1 {
                let last = parts.pop().unwrap();
                let place = parts.len() / 2;
                parts[place].merge(&last);
            }
            assert_eq!(parts[0].value().to_bits(), expected, "{seed}");
        }
    }

    #[test]
    fn carries_that_wait_long_are_passed_on() {
        let mut sum = ExactSum { pending: MOST_PENDING - 2, ..ExactSum::default() };
        for _ in 0..5 {
            sum.add(-1.0);
        }
        assert_eq!(sum.value(), -5.0);
        assert!(sum.pending < 5);
    }
}
