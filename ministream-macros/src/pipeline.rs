//! `#[pipeline]`: the phases in order.

use proc_macro2::TokenStream;

use crate::errors::Errors;
use crate::item::Item;
use crate::{check, expand, fallback, model, parse};

/// The function with its body; with mistakes, the errors and the function with a body that stands in.
pub(crate) fn expand(attr: TokenStream, item_tokens: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Some(item) = Item::parse(item_tokens.clone(), &mut errors) else {
        return fallback::tokens(&item_tokens, errors.report());
    };
    item.check(&mut errors);
    let body = body(&item, attr, &mut errors);
    match (body, errors.report()) {
        (Some(body), None) => item.with_body(&body),
        (_, errors) => fallback::function(&item, errors),
    }
}

/// Each phase goes on with what the one before it understood, so that all mistakes are found in one run; only `expand`
/// needs a pipeline without any.
fn body(item: &Item, attr: TokenStream, errors: &mut Errors) -> Option<TokenStream> {
    let flow = parse::parse(attr, errors)?;
    let model = model::resolve(item, flow, errors);
    check::check(item, &model, errors);
    let source = model.source.filter(|_| errors.is_empty())?;
    Some(expand::body(item, source, &model))
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    const TOTALS: &str = "fn totals(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);";

    fn expanded(attr: &str, item: &str) -> String {
        expand(attr.parse().unwrap(), item.parse().unwrap()).to_string()
    }

    /// The calls between `let streams =` and the end, without spaces and private paths.
    fn calls(attr: &str, item: &str) -> String {
        let text = expanded(attr, item);
        assert!(!text.contains("compile_error"), "{text}");
        let calls = text.split_once("let streams =").unwrap().1.split_once(". into_streams").unwrap().0;
        calls.replace(":: ministream :: __private :: ", "").replace(' ', "")
    }

    /// All messages, with their help.
    pub(crate) fn reported(attr: &str, item: &str) -> Vec<String> {
        let mut errors = Errors::default();
        let item = Item::parse(item.parse().unwrap(), &mut errors).unwrap();
        item.check(&mut errors);
        body(&item, attr.parse().unwrap(), &mut errors);
        errors.messages()
    }

    fn messages(attr: &str, item: &str) -> Vec<String> {
        reported(attr, item).iter().map(|message| message.lines().next().unwrap().to_owned()).collect()
    }

    #[test]
    fn a_pipeline_is_the_calls_of_the_builder() {
        let line =
            "source -> dedup(event_id) -> key_by(user) -> tumbling(10s, delay = 3s, lateness = 5s) -> sum(value)";
        assert_eq!(
            calls(line, TOTALS),
            "source.dedup(|event|&event.event_id)\
             .watermark(Bounded::new(Duration::from_micros(3000000u64)))\
             .key_by(|event|&event.user)\
             .window(Tumbling::new(Duration::from_micros(10000000u64)))\
             .allowed_lateness(Duration::from_micros(5000000u64))\
             .sum(|event|Clone::clone(&event.value))"
        );
    }

    #[test]
    fn each_stage_is_its_method() {
        let cases = [
            ("filter(active)", ".filter(|event|event.active)"),
            ("filter(|e| e.a > 1)", ".filter(move|e|e.a>1)"),
            ("map(device.id)", ".map(|event|event.device.id)"),
            ("dedup(id, ttl = 1h)", ".dedup(|event|&event.id).ttl(Duration::from_micros(3600000000u64))"),
            (
                "dedup(a, b.c, ttl = TTL)",
                ".dedup_owned(|event|(Clone::clone(&event.a),Clone::clone(&event.b.c),)).ttl(TTL)",
            ),
            ("dedup(|e| &e.id, ttl = TTL)", ".dedup(move|e|&e.id).ttl(TTL)"),
            ("dedup(|e| { &e.id }, ttl = TTL)", ".dedup(move|e|{&e.id}).ttl(TTL)"),
            ("dedup(|e| e.id, ttl = TTL)", ".dedup_owned(move|e|e.id).ttl(TTL)"),
            (
                "watermark(delay = D, max_ahead = 1d) as w",
                ".watermark(Bounded::new(D).max_ahead(Duration::from_micros(86400000000u64))).named(\"w\")",
            ),
            ("watermark(upstream)", ".watermark(Upstream)"),
        ];
        for (stage, call) in cases {
            let item = "fn f(source: Stream<Click>) -> Stream<Click>;";
            assert_eq!(calls(&format!("source -> {stage}"), item), format!("source{call}"), "{stage}");
        }
        let windows = [
            (
                "sliding(60s, every = E, offset = O, late = discard)",
                "Sliding::new(Duration::from_micros(60000000u64),E).offset(O)).discard_late()",
            ),
            ("session(gap, lateness = L)", "Session::new(gap)).allowed_lateness(L)"),
        ];
        for (window, call) in windows {
            let line = format!("source -> watermark(upstream) -> key_by((a, b)) as k -> {window} -> count");
            let expected = format!(
                "source.watermark(Upstream).key_by_owned(|event|(Clone::clone(&event.a),Clone::clone(&event.b),)).named(\"k\").window({call}.count()"
            );
            assert_eq!(calls(&line, "fn f(source: Stream<Click>, gap: Duration) -> Aliased;"), expected, "{window}");
        }
    }

    #[test]
    fn closures_own_the_settings_that_they_use() {
        let item = "fn f(source: Stream<Click>, least: i64, other: String) -> Stream<Click>;";
        assert_eq!(
            calls("source -> filter(|c| g(c, [least]))", item),
            "source.filter({letleast=Clone::clone(&least);move|c|g(c,[least])})"
        );
        assert_eq!(calls("source -> filter(other)", item), "source.filter(other)");
        assert_eq!(
            calls("source -> filter(|c| { let least = 1; c.a > least })", item),
            "source.filter({letleast=Clone::clone(&least);let_=&least;move|c|{letleast=1;c.a>least}})"
        );
        assert_eq!(calls("source -> filter(|c| c.least > 1)", item), "source.filter(move|c|c.least>1)");
    }

    #[test]
    fn mistakes_of_one_run_are_reported_together() {
        let line = "source -> dedup(id) -> key_by(user) -> tumblng(10) -> smu(value, 3)";
        assert_eq!(
            messages(line, TOTALS),
            [
                "unknown stage `tumblng`",
                "`10` of what? a duration has a unit: `us`, `ms`, `s`, `m`, `h`, `d` and `w`",
                "unknown stage `smu`",
                "`sum` takes one argument without a name",
                "no watermark reaches this window, so it would never fire: nothing says how far out of order events come",
            ]
        );
        let line = "source -> filter(,) -> sum(value) -> frob(1) -> tumbling(0s, delay = 1.5s, late = drop)";
        assert_eq!(
            messages(line, TOTALS),
            [
                "expected an expression",
                "unknown stage `frob`",
                "a duration is a whole number",
                "`late` takes `discard`",
                "nothing follows `tumbling`: a window waits for an aggregate",
                "window size must be greater than zero",
            ]
        );
        let line = "source -> filter(value > least) -> map(!active)";
        assert_eq!(
            messages(line, "fn f(source: Stream<Click>, least: i64) -> Stream<Click>;"),
            ["this is worked out once, not for each event", "this is worked out once, not for each event"]
        );
        let line = "source -> key_by() -> tumbling(10, size = 1s, delay = 3sec) -> count(x)";
        assert_eq!(
            messages(line, "async fn f(source: Stream<Click>, more: Stream<Click>);"),
            [
                "a pipeline is not async: it does no I/O, and pushing an event never waits",
                "a pipeline says in its return type what it gives",
                "nothing reads `more`",
                "`key_by` needs a key",
                "`10` of what? a duration has a unit: `us`, `ms`, `s`, `m`, `h`, `d` and `w`",
                "`tumbling` has no argument `size`",
                "unknown unit of time `sec`",
                "`count` takes no such argument",
            ]
        );
    }

    #[test]
    fn one_misplaced_stage_is_one_mistake() {
        let line = "source -> key_by(user) -> filter(a) -> tumbling(10s, delay = 3s) -> map(f) -> sum(value)";
        assert_eq!(
            messages(line, TOTALS),
            [
                "`filter` cannot follow `key_by`: a keyed stream waits for a window",
                "`map` cannot follow `tumbling`: a window waits for an aggregate",
            ]
        );
    }

    #[test]
    fn the_function_is_always_emitted_again() {
        for (attr, item) in
            [("", TOTALS), ("source -> nothing", TOTALS), ("source ->", "pub(crate) fn f<T>(self) where T: Copy { 1 }")]
        {
            let text = expanded(attr, item);
            assert!(text.contains("compile_error") && text.contains("loop { }"), "{text}");
        }
        let text = expanded("source -> count()", "struct NoFunction;");
        assert!(text.contains("compile_error") && text.contains("struct NoFunction ;"), "{text}");
    }

    /// Words, punctuation and groups that the DSL knows, and some that it does not.
    fn any_tokens() -> impl Strategy<Value = String> {
        let words = [
            "source",
            "->",
            "->",
            "->",
            "filter",
            "map",
            "dedup",
            "watermark",
            "upstream",
            "key_by",
            "tumbling",
            "sliding",
            "session",
            "sum",
            "count",
            "collect",
            "union",
            "split",
            "let",
            "as",
            "name",
            "late",
            "discard",
            "delay",
            "every",
            "ttl",
            "=",
            "==",
            ",",
            ";",
            ".",
            "|",
            "||",
            "&",
            "-",
            ">",
            "::",
            "#",
            "?",
            "'a",
            "10s",
            "5ms",
            "10",
            "1.5s",
            "0s",
            "99999999999999999999999d",
            "1_0w",
            "\"s\"",
            "'c'",
            "user",
            "device.id",
            "|e| e.x",
            "|e| &e.x",
            "filter(|e| e.x > name)",
            "map(user)",
            "key_by(user)",
            "dedup((a, b.0), ttl = 1h)",
            "tumbling(10s, delay = 3s)",
            "sliding(10s, every = 5s, delay = 3s)",
            "sum(value)",
            "count()",
            "move",
            "self",
            "fn",
            "async",
            "pub",
            "Stream<Click>",
            "i64",
            "struct",
            "enum",
            "#[event(time)]",
            "unit",
            "ts: i64",
            "<T>",
            "where",
        ];
        let word = proptest::sample::select(words.to_vec()).prop_map(str::to_owned);
        word.prop_recursive(3, 24, 8, |inner| {
            (proptest::collection::vec(inner, 0..8), 0_usize..4).prop_map(|(words, group)| {
                let text = words.join(" ");
                [format!("({text})"), format!("{{{text}}}"), format!("[{text}]"), text][group].clone()
            })
        })
    }

    fn any_text() -> impl Strategy<Value = String> {
        proptest::collection::vec(any_tokens(), 0..12).prop_map(|words| words.join(" "))
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

        #[test]
        fn no_tokens_make_it_panic(attr in any_text(), item in any_text()) {
            let attr: TokenStream = attr.parse().unwrap();
            let item: TokenStream = item.parse().unwrap();
            expand(attr.clone(), item.clone());
            crate::event::derive(item.clone());
            let text = expand(attr, TOTALS.parse().unwrap()).to_string();
            prop_assert!(text.contains("fn totals"));
            expand("source -> filter(active)".parse().unwrap(), item);
        }

        /// What is no mistake to the macro has to be a function to the compiler.
        #[test]
        fn what_comes_out_is_a_function(stages in proptest::collection::vec(any_tokens(), 1..4)) {
            let line = format!("source -> {}", stages.join(" -> "));
            for item in [TOTALS, "fn totals(source: Stream<Click>, name: u8) -> Aliased;"] {
                let text = expand(line.parse().unwrap(), item.parse().unwrap()).to_string();
                if !text.contains("compile_error") {
                    prop_assert!(syn::parse_str::<syn::ItemFn>(&text).is_ok(), "{}", text);
                }
            }
        }
    }
}
