//! The invariants of `ministream/docs/architecture.md`: what is deliberately absent from the source code.

use std::fs;
use std::path::{Path, PathBuf};

/// The Rust files below a folder of the workspace, with their code: without comments and tests.
fn sources(folder: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(folder);
    let mut files = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]").next().unwrap().lines();
                let code: Vec<_> = code.filter(|line| !line.trim_start().starts_with("//")).collect();
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                files.push((name, code.join("\n")));
            }
        }
    }
    files.sort();
    assert!(!files.is_empty(), "{folder}");
    files
}

/// The files in which one of the words stands, among those that are chosen.
fn with_words(files: &[(String, String)], chosen: impl Fn(&str) -> bool, words: &[&str]) -> Vec<String> {
    let chosen = files.iter().filter(|(name, _)| chosen(name));
    chosen
        .flat_map(|(name, code)| {
            let found = words.iter().filter(|word| code.contains(*word));
            found.map(move |word| format!("{name}: {word}"))
        })
        .collect()
}

const CATALOGUES: [&str; 5] = ["operators", "windows", "aggregates", "watermarks", "connectors"];

#[test]
fn no_contract_names_an_entry() {
    let files = sources("ministream/src");
    let contracts =
        ["operator.rs", "window.rs", "aggregate.rs", "watermark.rs", "connector.rs", "select.rs", "state.rs"];
    let entries: Vec<_> = CATALOGUES.iter().map(|catalogue| format!("crate::{catalogue}")).collect();
    let entries: Vec<_> = entries.iter().map(String::as_str).collect();
    assert_eq!(with_words(&files, |name| contracts.contains(&name), &entries), [] as [&str; 0]);
}

#[test]
fn entries_of_a_catalogue_do_not_import_each_other() {
    let files = sources("ministream/src");
    // What several aggregates share, and what operators with two inputs do.
    let shared = ["kept", "mapped", "methods", "order", "summable", "sides"];
    for catalogue in CATALOGUES {
        let exported: Vec<_> = files
            .iter()
            .filter(|(name, _)| *name == format!("{catalogue}/mod.rs"))
            .flat_map(|(_, code)| code.lines())
            .filter_map(|line| line.strip_prefix("pub use self::")?.split("::").next())
            .filter(|entry| !shared.contains(entry))
            .map(|entry| format!("super::{entry}::"))
            .collect();
        let exported: Vec<_> = exported.iter().map(String::as_str).collect();
        let found = with_words(&files, |name| name.starts_with(&format!("{catalogue}/")), &exported);
        assert_eq!(found, [] as [&str; 0], "{catalogue}");
    }
}

#[test]
fn the_core_reads_no_clock_does_no_io_and_spawns_nothing() {
    let files = sources("ministream/src");
    let is_core = |name: &str| !name.starts_with("connector") && !name.starts_with("event");
    let words = ["std::io", "std::fs", "std::net", "std::thread::", "Instant", "SystemTime", "println!", "spawn("];
    assert_eq!(with_words(&files, is_core, &words), [] as [&str; 0]);
}

#[test]
fn the_macros_emit_no_path_outside_of_private() {
    let files = sources("ministream-macros/src");
    let emitted =
        files.iter().flat_map(|(name, code)| code.match_indices("::ministream").map(move |found| (name, code, found)));
    let mut paths = 0;
    for (name, code, (start, word)) in emitted {
        let behind = &code[start + word.len()..];
        assert!(behind.starts_with("::__private::"), "{name}: {}", &behind[..behind.len().min(40)]);
        paths += 1;
    }
    assert!(paths > 5);
    let other = ["::core::", "::std::", "::alloc::", "::serde::"];
    let files: Vec<_> = files
        .into_iter()
        .filter(|(name, _)| ["expand.rs", "event.rs", "fallback.rs"].contains(&name.as_str()))
        .collect();
    let generated: Vec<(String, String)> = files
        .into_iter()
        .map(|(name, code)| {
            // The crate's own use of the standard library, which is no output.
            let code =
                code.lines().filter(|line| !line.starts_with("use ") && !line.contains("std::mem")).collect::<Vec<_>>();
            (name, code.join("\n"))
        })
        .collect();
    assert_eq!(with_words(&generated, |_| true, &other), [] as [&str; 0]);
}

#[test]
fn state_knows_nothing_of_windows() {
    let files = sources("ministream/src");
    assert_eq!(with_words(&files, |name| name == "state.rs", &["window", "Window", "pane", "Pane"]), [] as [&str; 0]);
}
