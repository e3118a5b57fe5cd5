//! What can go wrong: a pipeline that is refused, and results that cannot be given.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use crate::window::Window;

/// An error of a pipeline.
///
/// There are two kinds, told apart by [`is_refused`](Error::is_refused):
///
/// * The pipeline was **refused** when it was built (a window of size zero, say). It takes no events; every call gives
///   this error.
/// * Some **results could not be given** ([`failures`](Error::failures)): a sum that does not fit its type, with the key
///   and the window it belongs to. Everything else went on as usual, and the pipeline stays usable: the other results
///   of the call come with the next one.
#[derive(Clone, Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Kind>);

#[derive(Clone, Debug, thiserror::Error)]
enum Kind {
    #[error("the pipeline is refused: {}", List(.0))]
    Refused(Vec<Refusal>),
    #[error("{}", List(.0))]
    Failed(Vec<Failure>),
}

impl Error {
    pub(crate) fn refused(refusals: Vec<Refusal>) -> Self {
        Error(Box::new(Kind::Refused(refusals)))
    }

    pub(crate) fn failed(failures: Vec<Failure>) -> Self {
        Error(Box::new(Kind::Failed(failures)))
    }

    /// Whether the pipeline was refused when it was built, and takes no events.
    pub fn is_refused(&self) -> bool {
        matches!(*self.0, Kind::Refused(_))
    }

    /// The results that could not be given, in the order in which they were due.
    pub fn failures(&self) -> &[Failure] {
        match &*self.0 {
            Kind::Failed(failures) => failures,
            Kind::Refused(_) => &[],
        }
    }

    /// Why the pipeline was refused: each mistake found.
    pub fn refusals(&self) -> &[Refusal] {
        match &*self.0 {
            Kind::Refused(refusals) => refusals,
            Kind::Failed(_) => &[],
        }
    }
}

/// One result that an operator could not give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    operator: String,
    key: Option<String>,
    window: Option<Window>,
    reason: String,
}

impl Failure {
    pub(crate) fn of_window(operator: &str, key: &impl fmt::Debug, window: Window, reason: impl fmt::Display) -> Self {
        Failure {
            operator: operator.to_owned(),
            key: Some(format!("{key:?}")),
            window: Some(window),
            reason: reason.to_string(),
        }
    }

    pub(crate) fn of_operator(operator: &str, reason: impl fmt::Display) -> Self {
        Failure { operator: operator.to_owned(), key: None, window: None, reason: reason.to_string() }
    }

    /// A state that cannot happen, or a bug of this crate.
    pub(crate) fn internal(reason: &str) -> Self {
        Failure::of_operator("pipeline", format_args!("internal error, please report it: {reason}"))
    }

    /// The operator, by the name that [`describe`](crate::Pipeline::describe) shows.
    pub fn operator(&self) -> &str {
        &self.operator
    }

    /// The key of the result, as its `Debug` writes it.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// The window of the result.
    pub fn window(&self) -> Option<Window> {
        self.window
    }

    /// What is wrong.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.operator)?;
        if let Some(key) = &self.key {
            write!(f, " of key {key}")?;
        }
        if let Some(window) = &self.window {
            write!(f, " in window {window}")?;
        }
        write!(f, ": {}", self.reason)
    }
}

/// One reason why a pipeline was not built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    stage: String,
    reason: String,
}

impl Refusal {
    pub(crate) fn new(stage: impl Into<String>, reason: impl Into<String>) -> Self {
        Refusal { stage: stage.into(), reason: reason.into() }
    }

    /// The stage that is wrong, by its name in the DSL.
    pub fn stage(&self) -> &str {
        &self.stage
    }

    /// What is wrong with it, and what to do.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.stage, self.reason)
    }
}

/// Why an aggregate cannot give its result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct AggregateError {
    reason: String,
}

impl AggregateError {
    /// An error with this text: what is wrong, in lower case, without a final period.
    pub fn new(reason: impl Into<String>) -> Self {
        AggregateError { reason: reason.into() }
    }

    /// The same, of one of several aggregates.
    pub(crate) fn of_part(self, name: &str) -> Self {
        AggregateError { reason: format!("{name}: {}", self.reason) }
    }
}

/// The error of [`Pipeline::finish`](crate::Pipeline::finish): what went wrong, and the results that came all the same.
///
/// `?` turns it into an [`Error`] where that is what the function returns; the results are lost then.
pub struct FinishError<R> {
    error: Error,
    /// Never locked: a `Mutex` is `Sync` where its content is only `Send`, and error boxes ask for `Sync`.
    results: Mutex<R>,
}

impl<R> FinishError<R> {
    pub(crate) fn new(error: Error, results: R) -> Self {
        FinishError { error, results: Mutex::new(results) }
    }

    /// What went wrong.
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// What [`finish`](crate::Pipeline::finish) would have given, without the results that failed.
    pub fn into_results(self) -> R {
        self.results.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R> fmt::Debug for FinishError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FinishError").field("error", &self.error).finish_non_exhaustive()
    }
}

impl<R> fmt::Display for FinishError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<R> std::error::Error for FinishError<R> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}

impl<R> From<FinishError<R>> for Error {
    fn from(finish: FinishError<R>) -> Error {
        finish.error
    }
}

/// Writes the first, and how many more there are.
struct List<'a, T>(&'a [T]);

impl<T: fmt::Display> fmt::Display for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => f.write_str("no reason given"),
            [one] => one.fmt(f),
            [first, rest @ ..] => write!(f, "{first} (and {} more)", rest.len()),
        }
    }
}
