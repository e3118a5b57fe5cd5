//! The contract of aggregates: how the events of a window become one value.

use crate::error::AggregateError;
use crate::event::Data;
use crate::time::Timestamp;

/// Makes one value of the events of a window.
///
/// A window starts with [`create`](Aggregate::create), and each event is [`add`](Aggregate::add)ed when it arrives.
/// Sessions that grow together are [`merge`](Aggregate::merge)d. [`finish`](Aggregate::finish) is asked each time the
/// window fires, more than once if late events correct it.
///
/// For results that do not depend on the order of arrival, the accumulator must not depend on the order of `add` and
/// `merge`. The instant `at` is the event's time, for aggregates that go by time.
///
/// # Example
///
/// The spread between the smallest and the largest value:
///
/// ```
/// use ministream::prelude::*;
///
/// struct Spread;
///
/// impl Aggregate<i64> for Spread {
///     type Acc = Option<(i64, i64)>;
///     type Out = i64;
///
///     fn create(&self) -> Self::Acc {
///         None
///     }
///
///     fn add(&self, acc: &mut Self::Acc, _at: Timestamp, value: &i64) {
///         self.merge(acc, Some((*value, *value)));
///     }
///
///     fn merge(&self, acc: &mut Self::Acc, other: Self::Acc) {
///         *acc = match (*acc, other) {
///             (Some((low, high)), Some((l, h))) => Some((low.min(l), high.max(h))),
///             (one, None) | (None, one) => one,
///         };
///     }
///
///     fn finish(&self, acc: &Self::Acc) -> Result<i64, AggregateError> {
///         let (low, high) = acc.unwrap_or_default();
///         high.checked_sub(low).ok_or_else(|| AggregateError::new("the spread does not fit in 64 bits"))
///     }
/// }
///
/// let mut acc = Spread.create();
/// Spread.add(&mut acc, Timestamp::EPOCH, &3);
/// Spread.add(&mut acc, Timestamp::EPOCH, &10);
/// assert_eq!(Spread.finish(&acc), Ok(7));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not aggregate events of type `{T}`",
    label = "not an aggregate for this stream",
    note = "write `impl Aggregate<{T}> for {Self}`, or take one of `ministream::aggregates`"
)]
pub trait Aggregate<T>: Send + 'static {
    /// What a window keeps.
    type Acc: Data;
    /// What a window gives.
    type Out: Data;

    /// The accumulator of a window without events.
    fn create(&self) -> Self::Acc;

    /// Adds one event, whose event time is `at`.
    fn add(&self, acc: &mut Self::Acc, at: Timestamp, event: &T);

    /// Adds all that `other` holds.
    fn merge(&self, acc: &mut Self::Acc, other: Self::Acc);

    /// Takes out all that `other` holds, which was merged before: exactly, as if it had never been there. False, always,
    /// if the aggregate cannot do that; it is asked when the pipeline is built, with two accumulators without events.
    /// Sliding windows of one that can cost one `add` an event, however many of them the event is in.
    fn unmerge(&self, _acc: &mut Self::Acc, _other: &Self::Acc) -> bool {
        false
    }

    /// The value of the window.
    ///
    /// # Errors
    ///
    /// If the value cannot be given, like a sum that does not fit its type. The caller of the pipeline gets the error with
    /// the key and the window; the window stays as it is.
    fn finish(&self, acc: &Self::Acc) -> Result<Self::Out, AggregateError>;

    /// Everything that is wrong with the settings, in lower case and without a final period; the pipeline is refused then.
    fn refusals(&self) -> Vec<String> {
        Vec::new()
    }

    /// The name that [`describe`](crate::Pipeline::describe) and errors show.
    fn name(&self) -> &'static str {
        "aggregate"
    }
}

/// What is wrong with one of several aggregates, under its name.
fn refusals_of_part(name: &str, refusals: Vec<String>) -> Vec<String> {
    refusals.into_iter().map(|reason| format!("{name}: {reason}")).collect()
}

/// Several aggregates of the same windows at once give a tuple.
macro_rules! aggregate_tuples {
    ($(($($A:ident $acc:ident $other:ident),+))*) => {$(
        impl<T, $($A: Aggregate<T>),+> Aggregate<T> for ($($A,)+) {
            type Acc = ($($A::Acc,)+);
            type Out = ($($A::Out,)+);

            fn create(&self) -> Self::Acc {
                #[expect(non_snake_case, reason = "named after the type")]
                let ($($A,)+) = self;
                ($($A.create(),)+)
            }

            fn add(&self, acc: &mut Self::Acc, at: Timestamp, event: &T) {
                #[expect(non_snake_case, reason = "named after the type")]
                let ($($A,)+) = self;
                let ($($acc,)+) = acc;
                $($A.add($acc, at, event);)+
            }

            fn merge(&self, acc: &mut Self::Acc, other: Self::Acc) {
                #[expect(non_snake_case, reason = "named after the type")]
                let ($($A,)+) = self;
                let ($($acc,)+) = acc;
                let ($($other,)+) = other;
                $($A.merge($acc, $other);)+
            }

            fn unmerge(&self, acc: &mut Self::Acc, other: &Self::Acc) -> bool {
                #[expect(non_snake_case, reason = "named after the type")]
                let ($($A,)+) = self;
                let ($($acc,)+) = acc;
                let ($($other,)+) = other;
                $($A.unmerge($acc, $other))&&+
            }

            fn finish(&self, acc: &Self::Acc) -> Result<Self::Out, AggregateError> {
                #[expect(non_snake_case, reason = "named after the type")]
                let ($($A,)+) = self;
                let ($($acc,)+) = acc;
                Ok(($($A.finish($acc).map_err(|reason| reason.of_part($A.name()))?,)+))
            }

            fn refusals(&self) -> Vec<String> {
                #[expect(non_snake_case, reason = "named after the type")]
                let ($($A,)+) = self;
                [$(refusals_of_part($A.name(), $A.refusals())),+].concat()
            }
        }
    )*};
}

aggregate_tuples! {
    (A a o)
    (A a o, B b p)
    (A a o, B b p, C c q)
    (A a o, B b p, C c q, D d r)
    (A a o, B b p, C c q, D d r, E e s)
    (A a o, B b p, C c q, D d r, E e s, F f t)
    (A a o, B b p, C c q, D d r, E e s, F f t, G g u)
    (A a o, B b p, C c q, D d r, E e s, F f t, G g u, H h v)
}
