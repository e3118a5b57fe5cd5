//! When windows give results before their ends.

use std::fmt;
use std::time::Duration;

use crate::span::{Span, whole_micros};
use crate::time::Timestamp;

/// When windows give results before their ends. See [`WindowedStream::emit`](crate::WindowedStream::emit).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emit {
    when: When,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    OnUpdate,
    Every(Duration),
}

impl Emit {
    /// A result of each window that an event joins, at once.
    pub const fn on_update() -> Self {
        Emit { when: When::OnUpdate }
    }

    /// Each time the watermark passes another multiple of `step`, counted from the epoch, a result of each open window
    /// that has changed since its last one. The step has to be greater than zero.
    ///
    /// The first watermark only says where counting starts. One that passes several multiples at once gives one result.
    pub const fn every(step: Duration) -> Self {
        Emit { when: When::Every(step) }
    }

    /// What is wrong with the setting.
    pub(crate) fn refusal(self) -> Option<String> {
        match self.when {
            When::Every(step) if step.is_zero() => Some(
                "`emit` has a step of zero: say `every(1m)`, or `on_update` for a result after each event".to_owned(),
            ),
            When::Every(step) if !whole_micros(step) && step != Duration::MAX => {
                Some(format!("`emit` has a step of {step:?}, and event time counts whole microseconds"))
            }
            When::Every(_) | When::OnUpdate => None,
        }
    }
}

/// In the spelling of the DSL: `on_update`, `every(1m)`.
impl fmt::Display for Emit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.when {
            When::OnUpdate => f.write_str("on_update"),
            When::Every(step) => write!(f, "every({})", Span::of(step)),
        }
    }
}

/// Tells when early results are due.
#[derive(Debug)]
pub(crate) struct Early {
    emit: Option<Emit>,
    /// The number of the last multiple of the step that the watermark has passed; None before the first watermark.
    passed: Option<i64>,
}

impl Early {
    pub(crate) fn new(emit: Option<Emit>) -> Self {
        Early { emit, passed: None }
    }

    /// Whether an event that has joined its windows makes them due.
    pub(crate) fn at_event(&self) -> bool {
        matches!(self.emit, Some(Emit { when: When::OnUpdate }))
    }

    /// Whether this move of the watermark makes them due.
    pub(crate) fn at_watermark(&mut self, to: Timestamp) -> bool {
        let Some(Emit { when: When::Every(step) }) = self.emit else { return false };
        let step = Span::of(step).as_micros();
        if step == i64::MAX {
            return false;
        }
        let passed = to.as_micros().checked_div_euclid(step);
        let before = std::mem::replace(&mut self.passed, passed);
        before.is_some() && before < passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::micros;

    #[test]
    fn steps_are_multiples_from_the_epoch_on_both_sides() {
        let mut early = Early::new(Some(Emit::every(micros(10))));
        let due: Vec<_> = [-25, -21, -20, -11, -1, 0, 9, 10, 19, 20, 55]
            .into_iter()
            .filter(|&to| early.at_watermark(Timestamp::from_micros(to)))
            .collect();
        assert_eq!(due, [-20, -1, 0, 10, 20, 55]);
    }

    #[test]
    fn a_step_for_ever_never_comes() {
        let mut early = Early::new(Some(Emit::every(Duration::MAX)));
        assert!(![i64::MIN, -1, 0, i64::MAX].into_iter().any(|to| early.at_watermark(Timestamp::from_micros(to))));
    }

    #[test]
    fn the_ends_of_time_are_no_exception() {
        let mut early = Early::new(Some(Emit::every(micros(1))));
        assert!(!early.at_watermark(Timestamp::MIN));
        assert!(early.at_watermark(Timestamp::MAX));
    }
}
