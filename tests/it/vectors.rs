//! Test vectors from files, run through the public interface.
//!
//! `MINISTREAM_CONFORMANCE=DIR` and `MINISTREAM_CASES=DIR` run the files of other folders with the same schemas.

mod cases;
mod compile;
mod conformance;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::{env, fs};

use serde_json::Value;

/// What became of a case.
enum Outcome {
    Passed,
    /// With the first difference.
    Failed(String),
    /// What it needs is not part of this version; what can be checked of it was.
    NotYet,
}

/// The outcome of all cases of a folder.
#[derive(Default)]
struct Report {
    passed: usize,
    failed: Vec<String>,
    not_yet: Vec<String>,
}

impl Report {
    /// Runs one case. A panic is a failure of that case.
    fn run(&mut self, name: &str, case: impl FnOnce() -> Outcome) {
        let outcome = catch_unwind(AssertUnwindSafe(case)).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default();
            Outcome::Failed(format!("panicked: {text}"))
        });
        match outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::NotYet => self.not_yet.push(name.to_owned()),
            Outcome::Failed(difference) => {
                println!("FAILED {name}\n{difference}");
                self.failed.push(name.to_owned());
            }
        }
    }

    /// Prints the closing line and fails if a case failed, or if there was none.
    fn close(self, what: &str) {
        let mut line = format!("{what}: {} passed, {} failed", self.passed, self.failed.len());
        if !self.not_yet.is_empty() {
            line.push_str(&format!(", {} not yet ({})", self.not_yet.len(), self.not_yet.join(", ")));
        }
        println!("{line}");
        assert!(self.failed.is_empty(), "{line}: {}", self.failed.join(", "));
        assert!(self.passed > 0, "{line}: no case was run");
    }
}

/// The JSON files of the folder that a variable names, or else of our own.
fn files(variable: &str, own: &str) -> Vec<(PathBuf, Result<Value, String>)> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors").join(own);
    let folder = env::var_os(variable).map_or(own, PathBuf::from);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("the folder is readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    paths.sort();
    let read = |path: &Path| -> Result<Value, String> {
        let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
        serde_json::from_str(&text).map_err(|error| error.to_string())
    };
    paths.into_iter().map(|path| (path.clone(), read(&path))).collect()
}

/// The cases that a file lists: a list, or an object with one as `cases`. What is no such file is a failure.
fn listed(path: &Path, file: Result<Value, String>, report: &mut Report) -> Vec<Value> {
    let cases = file.and_then(|file| match file {
        Value::Array(cases) => Ok(cases),
        Value::Object(mut object) => match object.remove("cases") {
            Some(Value::Array(cases)) => Ok(cases),
            _ => Err("no list of cases".to_owned()),
        },
        _ => Err("no list of cases".to_owned()),
    });
    cases.unwrap_or_else(|error| {
        report.run(&path.display().to_string(), || Outcome::Failed(format!("  not readable: {error}")));
        Vec::new()
    })
}

/// The first place where two lists differ.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, got: &[T], expected: &[T]) -> Result<(), String> {
    if got == expected {
        return Ok(());
    }
    let place = got.iter().zip(expected).take_while(|(got, expected)| got == expected).count();
    let show = |list: &[T]| list.get(place).map_or("nothing".to_owned(), |item| format!("{item:?}"));
    Err(format!("  {what} {place}:\n    expected {}\n    got      {}", show(expected), show(got)))
}
