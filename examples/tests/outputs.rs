//! Runs every example and compares what it prints.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

use std::env;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

/// The digest of the packaged log's results, worked out without the library: group by minute and user, add, sort, print.
const DIGEST: &str = "0957ee809275f346";

macro_rules! prints {
    ($($name:ident),*) => {$(
        #[test]
        fn $name() {
            let output = command(stringify!($name)).output().unwrap();
            assert!(output.status.success());
            assert_eq!(stderr(&output), "");
            insta::assert_snapshot!(stringify!($name), stdout(&output));
        }
    )*};
}

prints!(quickstart, builder, late_data, sessions, dedup, custom_aggregate, alerts, shop);

mod clickstream {
    use super::*;

    #[test]
    fn packaged_log() {
        let output = clickstream(&[]);
        assert!(output.status.success());
        assert_eq!(value_of("digest", &output), DIGEST);
        let (results, summary) = parts_of(&output);
        assert_eq!(digest_of(&results), DIGEST);
        let results: Vec<_> = results.lines().collect();
        assert_eq!(results.len(), 3_052);
        let [first, .., last] = &results[..] else { panic!("no results") };
        insta::assert_snapshot!(format!("{first}\n…\n{last}\n\n{summary}"), @r"
        [2015-05-17 10:05:00, 10:06:00) u0001 = 4379454
        …
        [2015-05-20 21:05:00, 21:06:00) u1753 = 0

        events:     10000
        duplicates: 0
        late:       0
        rejected:   0
        bad lines:  0
        results:    3052
        updates:    0
        digest:     0957ee809275f346
        ");
    }

    #[test]
    fn quiet_is_the_summary_alone() {
        let output = clickstream(&["--quiet"]);
        insta::assert_snapshot!(stdout(&output), @r"
        events:     10000
        duplicates: 0
        late:       0
        rejected:   0
        bad lines:  0
        results:    3052
        updates:    0
        digest:     0957ee809275f346
        ");
        let names: Vec<_> = stderr(&output).lines().map(|line| line.split(':').next().unwrap().to_owned()).collect();
        assert_eq!(names, ["elapsed", "events/s"]);
    }

    #[test]
    fn shuffled_and_duplicated_delivery_gives_the_same_results() {
        let plain = clickstream(&[]);
        for (seed, percent) in [("7", "5"), ("0", "0"), ("1", "100"), ("18446744073709551615", "30")] {
            let output = clickstream(&["--shuffle", seed, "--duplicate", percent]);
            assert_eq!(value_of("digest", &output), DIGEST);
            assert_eq!(value_of("late", &output), "0");
            assert_eq!(value_of("updates", &output), "0");
            assert_eq!(parts_of(&output).0, parts_of(&plain).0);
            let (events, duplicates) = (number_of("events", &output), number_of("duplicates", &output));
            assert_eq!(events, 10_000 + duplicates);
            let expected = 100 * percent.parse::<u64>().unwrap();
            assert!(expected.abs_diff(duplicates) < 200, "{duplicates} copies, expected about {expected}");
        }
    }

    #[test]
    fn a_seed_always_gives_the_same_delivery() {
        let run = |seed| stdout(&clickstream(&["--quiet", "--shuffle", seed, "--duplicate", "5"]));
        assert_eq!(run("7"), run("7"));
        assert_ne!(run("7"), run("8")); // another number of copies
    }

    #[test]
    fn corrections_are_marked_and_late_requests_counted() {
        let log = lines(&[
            r#"{"event_id":1,"user":"ann","ts":10000,"bytes":5}"#,
            r#"{"event_id":2,"user":"bob","ts":120000,"bytes":1}"#, // watermark 1 min: ann's first minute fires
            r#"{"event_id":3,"user":"ann","ts":59999,"bytes":6}"#,
            r#"{"event_id":3,"user":"ann","ts":59999,"bytes":6}"#,
            r#"{"event_id":4,"user":"bob","ts":240000,"bytes":2}"#, // watermark 3 min: it is gone
            r#"{"event_id":5,"user":"ann","ts":30000,"bytes":7}"#,
        ]);
        let output = with_input(&["-", "--late"], &log);
        assert!(output.status.success());
        insta::assert_snapshot!(stdout(&output), @r"
        [00:00:00, 00:01:00) ann = 5
        [00:00:00, 00:01:00) ann = 11 (update 1)
        [00:02:00, 00:03:00) bob = 1
        [00:04:00, 00:05:00) bob = 2

        events:     6
        duplicates: 1
        late:       1
        rejected:   0
        bad lines:  0
        results:    4
        updates:    1
        digest:     7294d48c2034c952
        ");
        insta::assert_snapshot!(stderr(&output).lines().next().unwrap(), @r#"late at 00:03:00 (event time 00:00:30): Request { event_id: 5, user: "ann", ts: 30000, bytes: 7 }"#);
    }

    #[test]
    fn bad_lines_are_reported_and_skipped() {
        let mut log = lines(&[
            r#"{"event_id":1,"user":"ann","ts":10000,"bytes":5}"#,
            "no request",
            "",
            r#"{"event_id":2,"user":"ann","ts":20000,"bytes":-5}"#,
            r#"{"event_id":3,"user":"ann","ts":"20000","bytes":5}"#,
            r#"{"event_id":4,"ts":20000,"bytes":5}"#,
        ]);
        log.extend(b"{\"event_id\":5,\"user\":\"\xff\",\"ts\":20000,\"bytes\":5}\n");
        log.extend(br#"{"event_id":6,"user":"ann","ts":20000,"bytes":7}"#); // no line end
        let output = with_input(&["-"], &log);
        assert!(output.status.success());
        assert_eq!(value_of("events", &output), "2");
        assert_eq!(value_of("bad lines", &output), "5");
        assert_eq!(parts_of(&output).0, "[00:00:00, 00:01:00) ann = 12\n");
        let reported: Vec<_> = stderr(&output).lines().map(str::to_owned).collect();
        insta::assert_snapshot!(reported[..reported.len() - 2].join("\n"), @r#"
        line 2: expected ident at column 2
        line 4: invalid value: integer `-5`, expected u64 at column 48
        line 5: invalid type: string "20000", expected i64 at column 39
        line 6: missing field `user` at column 35
        line 7: not UTF-8 at byte 23
        "#);

        let strict = with_input(&["-", "--strict"], &log);
        assert_eq!(strict.status.code(), Some(1));
        assert_eq!(stdout(&strict), stdout(&output));
    }

    #[test]
    fn strict_is_content_with_a_good_log() {
        assert!(clickstream(&["--quiet", "--strict"]).status.success());
    }

    #[test]
    fn input_may_come_from_a_file_or_from_standard_input() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/clickstream.jsonl");
        let named = clickstream(&[path.to_str().unwrap(), "--quiet"]);
        assert_eq!(value_of("digest", &named), DIGEST);
        let piped = with_input(&["-", "--quiet"], &std::fs::read(&path).unwrap());
        assert_eq!(stdout(&piped), stdout(&named));
    }

    #[test]
    fn empty_input_has_no_results() {
        for args in [&["-"][..], &["-", "--shuffle", "1", "--duplicate", "50"]] {
            let output = with_input(args, b"");
            assert!(output.status.success());
            assert_eq!(value_of("events", &output), "0");
            assert_eq!(value_of("results", &output), "0");
            assert_eq!(value_of("digest", &output), "cbf29ce484222325"); // of nothing
        }
    }

    #[test]
    fn times_out_of_range_are_rejected() {
        let log = lines(&[
            r#"{"event_id":1,"user":"ann","ts":9223372036854775807,"bytes":5}"#,
            r#"{"event_id":2,"user":"ann","ts":-9223372036854775808,"bytes":5}"#,
            r#"{"event_id":3,"user":"ann","ts":-1,"bytes":5}"#,
        ]);
        for args in [&["-"][..], &["-", "--shuffle", "1"]] {
            let output = with_input(args, &log);
            assert!(output.status.success());
            assert_eq!(value_of("rejected", &output), "2");
            assert!(stdout(&output).starts_with("[1969-12-31 23:59:00, 1970-01-01 00:00:00) ann = 5\n"));
        }
    }

    #[test]
    fn a_sum_that_does_not_fit_is_an_error() {
        let log = lines(&[
            r#"{"event_id":1,"user":"ann","ts":0,"bytes":18446744073709551615}"#,
            r#"{"event_id":2,"user":"ann","ts":0,"bytes":1}"#,
        ]);
        let output = with_input(&["-"], &log);
        assert_eq!(output.status.code(), Some(1));
        insta::assert_snapshot!(stderr(&output), @r#"clickstream: sum of key "ann" in window [00:00:00, 00:01:00): the sum 18446744073709551616 does not fit in u64"#);
    }

    #[test]
    fn files_that_cannot_be_read_are_one_line() {
        for path in ["no/such/file.jsonl", env!("CARGO_MANIFEST_DIR")] {
            let output = clickstream(&[path]);
            assert_eq!(output.status.code(), Some(1));
            assert_eq!(stdout(&output), "");
            assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
            assert!(stderr(&output).starts_with(&format!("clickstream: {path}: ")), "{}", stderr(&output));
        }
    }

    #[test]
    fn a_reader_that_goes_away_ends_the_run_quietly() {
        let mut child = command("clickstream").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        assert_eq!(stderr(&output), "");
    }

    #[test]
    fn mistakes_on_the_command_line_are_explained() {
        let percent = clickstream(&["--shuffle", "1", "--duplicate", "101"]);
        assert_eq!(percent.status.code(), Some(2));
        assert!(stderr(&percent).contains("101 is not in 0..=100"), "{}", stderr(&percent));
        let alone = clickstream(&["--duplicate", "5"]);
        assert_eq!(alone.status.code(), Some(2));
        assert!(stderr(&alone).contains("--shuffle <SEED>"), "{}", stderr(&alone));
        insta::assert_snapshot!("clickstream_help", stdout(&clickstream(&["--help"])));
    }

    fn clickstream(args: &[&str]) -> Output {
        command("clickstream").args(args).output().unwrap()
    }

    fn with_input(args: &[&str], input: &[u8]) -> Output {
        let mut child = command("clickstream");
        child.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        thread::scope(|scope| {
            scope.spawn(move || stdin.write_all(input).unwrap());
            child.wait_with_output().unwrap()
        })
    }

    fn lines(lines: &[&str]) -> Vec<u8> {
        lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
    }

    /// The results, and the summary.
    fn parts_of(output: &Output) -> (String, String) {
        let stdout = stdout(output);
        let (results, summary) = stdout.split_once("\n\n").unwrap();
        (format!("{results}\n"), summary.to_owned())
    }

    /// FNV-1a with 64 bits, in hexadecimal.
    fn digest_of(text: &str) -> String {
        let mix = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, mix))
    }

    /// A value of the summary.
    fn value_of(name: &str, output: &Output) -> String {
        let stdout = stdout(output);
        let value = stdout.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        value.unwrap_or_else(|| panic!("no {name} in:\n{stdout}")).trim().to_owned()
    }

    fn number_of(name: &str, output: &Output) -> u64 {
        value_of(name, output).parse().unwrap()
    }
}

/// An example as Cargo has built it: `cargo test` builds those of the package, beside the tests.
fn command(name: &str) -> Command {
    let test = env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    let path: PathBuf = profile.join("examples").join(format!("{name}{}", env::consts::EXE_SUFFIX));
    assert!(path.exists(), "{} is missing: run `cargo build --examples`", path.display());
    Command::new(path)
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
