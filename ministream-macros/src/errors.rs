//! All mistakes of one run, each with what to type.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// The mistakes found so far. They have to be reported: dropping them panics in debug builds.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    found: Vec<syn::Error>,
}

impl Errors {
    /// Adds a mistake at a token: what is wrong, in lower case and without a final period.
    pub(crate) fn say(&mut self, at: Span, what: impl AsRef<str>) {
        self.found.push(syn::Error::new(at, what.as_ref()));
    }

    /// Adds a mistake, and what to do about it.
    pub(crate) fn help(&mut self, at: Span, what: impl AsRef<str>, help: impl AsRef<str>) {
        self.say(at, format!("{}\nhelp: {}", what.as_ref(), help.as_ref()));
    }

    /// Adds a mistake that is more than one token long.
    pub(crate) fn help_on(&mut self, tokens: impl ToTokens, what: impl AsRef<str>, help: impl AsRef<str>) {
        let text = format!("{}\nhelp: {}", what.as_ref(), help.as_ref());
        self.found.push(syn::Error::new_spanned(tokens, text));
    }

    /// Adds what syn found: with our text, which says what to do, or with this one.
    pub(crate) fn add(&mut self, error: syn::Error, help: &str) {
        for error in error {
            let text = error.to_string();
            if text.contains("\nhelp: ") { self.found.push(error) } else { self.help(error.span(), text, help) }
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.found.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// One `compile_error!` for each mistake; None if there is none.
    #[must_use]
    pub(crate) fn report(self) -> Option<TokenStream> {
        let found = self.take();
        (!found.is_empty()).then(|| found.iter().map(syn::Error::to_compile_error).collect())
    }

    #[cfg(test)]
    pub(crate) fn messages(self) -> Vec<String> {
        self.take().iter().map(ToString::to_string).collect()
    }

    fn take(mut self) -> Vec<syn::Error> {
        std::mem::take(&mut self.found)
    }
}

impl Drop for Errors {
    fn drop(&mut self) {
        let reported = self.found.is_empty() || std::thread::panicking();
        debug_assert!(reported, "these mistakes were found, and nobody reported them: {:?}", self.found);
    }
}

/// What to do instead of several aggregates behind a window.
pub(crate) const SEVERAL_AGGREGATES: &str = "several values of one window are `aggregate(sum(value), count())`";

/// The candidate that was probably meant: the nearest, if it is near enough.
pub(crate) fn meant<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near_enough = word.chars().count().div_ceil(3).min(3);
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= near_enough)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `` `a`, `b` and `c` ``
pub(crate) fn list(words: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let quoted: Vec<_> = words.into_iter().map(|word| format!("`{}`", word.as_ref())).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The least number of insertions, deletions, replacements and swaps of neighbours that make one word the other (optimal
/// string alignment).
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, &from) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, &to) in b.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX - 1);
            let mut best = (at(&row, j) + usize::from(from != to)).min(at(&row, j + 1) + 1).min(at(&next, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(&to) && b.get(j - 1) == Some(&from);
            if swapped {
                best = best.min(at(&before, j - 1) + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_meant() {
        let stages = ["tumbling", "sliding", "session", "sum", "max", "min", "mean"];
        assert_eq!(meant("tumblng", stages), Some("tumbling"));
        assert_eq!(meant("sesion", stages), Some("session"));
        assert_eq!(meant("smu", stages), Some("sum"));
        assert_eq!(meant("average", stages), None);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "nobody reported them")]
    fn mistakes_cannot_be_forgotten() {
        let mut errors = Errors::default();
        errors.say(Span::call_site(), "wrong");
    }

    #[test]
    fn distances() {
        for (a, b, expected) in [("", "abc", 3), ("abc", "abc", 0), ("abc", "acb", 1), ("kitten", "sitting", 3)] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn lists_read_as_english() {
        assert_eq!(list(["a"]), "`a`");
        assert_eq!(list(["a", "b", "c"]), "`a`, `b` and `c`");
    }
}
