//! Compiles texts of pipelines, to see where the compiler finds them wrong.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// A program with one pipeline.
pub(super) struct Program {
    name: String,
    text: String,
}

/// What stands in front of the text, on its line.
const BEFORE: &str = "#[pipeline(";

const EVENT: &str = "\
use ministream::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, Event)]
pub struct Row {
    pub event_id: String,
    pub user: String,
    #[event(time, unit = \"ms\")]
    pub ts: i64,
    pub value: i64,
    pub temperature: f64,
}
";

impl Program {
    pub(super) fn new(name: String, text: &str) -> Self {
        Program { name, text: spelled(text) }
    }

    fn source(&self) -> String {
        let key = if self.text.contains("key_by(temperature)") { "f64" } else { "String" };
        format!(
            "{EVENT}\n{BEFORE}{})]\npub fn totals(source: Stream<Row>) -> (Stream<Pane<{key}, i64>>, Stream<Late<Row>>);\n\nfn main() {{}}\n",
            self.text
        )
    }
}

/// The text in our spelling.
pub(super) fn spelled(text: &str) -> String {
    text.replace("slide=", "every=")
}

/// The column, from 1 on the text's line, of a token such as `0s` or `delay (the second)`.
pub(super) fn column_of(text: &str, points_at: &str) -> Option<usize> {
    let (token, occurrence) = match points_at.split_once(" (the ") {
        Some((token, which)) => {
            let ordinals = ["first", "second", "third", "fourth"];
            (token, ordinals.iter().position(|ordinal| which.starts_with(ordinal))?)
        }
        None => (points_at, 0),
    };
    let token = spelled(token);
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let found = text.match_indices(&token).filter(|(start, token)| {
        let joins_before = is_word(text[..*start].chars().next_back()) && is_word(token.chars().next());
        let joins_behind = is_word(text[start + token.len()..].chars().next()) && is_word(token.chars().next_back());
        !joins_before && !joins_behind
    });
    let (start, _) = found.into_iter().nth(occurrence)?;
    Some(BEFORE.len() + text[..start].chars().count() + 1)
}

/// The errors of each program: column on the pipeline's line (0 for one that is elsewhere) and message. Empty for one that
/// compiles.
pub(super) fn compile(programs: &[Program]) -> BTreeMap<String, Vec<(usize, String)>> {
    let mut errors = BTreeMap::new();
    if programs.is_empty() {
        return errors;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("pipelines-{}", std::process::id()));
    let programs_folder = folder.join("src/bin");
    fs::create_dir_all(&programs_folder).expect("the target folder can be written");
    let manifest = format!(
        "[package]\nname = \"pipelines\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\nministream = {{ path = {:?} }}\n\
         serde = {{ version = \"1\", features = [\"derive\"] }}\n\n[workspace]\n",
        root.join("ministream")
    );
    fs::write(folder.join("Cargo.toml"), manifest).expect("the target folder can be written");
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("the workspace has a lock file");
    for program in programs {
        errors.insert(program.name.clone(), Vec::new());
        fs::write(programs_folder.join(format!("{}.rs", program.name)), program.source()).expect("as above");
    }
    let output = Command::new(env!("CARGO"))
        .args(["check", "--bins", "--keep-going", "--offline", "--message-format=json", "--target-dir"])
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("pipelines-target"))
        .current_dir(&folder)
        .output()
        .expect("cargo runs");
    let mut compiled_any = false;
    for line in output.stdout.split(|&byte| byte == b'\n') {
        let Ok(message) = serde_json::from_slice::<Value>(line) else { continue };
        compiled_any |= message["reason"] == "compiler-artifact" || message["reason"] == "compiler-message";
        let Some(found) = errors.get_mut(message["target"]["name"].as_str().unwrap_or_default()) else { continue };
        let message = &message["message"];
        if message["level"] != "error" {
            continue;
        }
        let text = message["message"].as_str().unwrap_or_default();
        let spans = message["spans"].as_array().map_or(&[][..], Vec::as_slice);
        let line = EVENT.lines().count() as u64 + 2;
        let here = spans.iter().filter(|span| span["is_primary"] == true && span["line_start"] == line);
        found.extend(here.map(|span| (span["column_start"].as_u64().unwrap_or_default() as usize, text.to_owned())));
        let elsewhere = !spans.iter().any(|span| span["is_primary"] == true && span["line_start"] == line);
        if elsewhere && !text.starts_with("aborting") {
            found.push((0, text.to_owned()));
        }
    }
    assert!(compiled_any, "cargo did not run: {}", String::from_utf8_lossy(&output.stderr));
    fs::remove_dir_all(&folder).ok();
    errors
}
