//! `#[pipeline]`: the phases in order.

use proc_macro2::TokenStream;

use crate::errors::Errors;
use crate::facts::Streams;
use crate::item::Item;
use crate::{check, document, expand, fallback, model, parse};

/// The function with its body; with mistakes, the errors and the function with a body that stands in.
pub(crate) fn expand(attr: TokenStream, item_tokens: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Some(item) = Item::parse(item_tokens.clone(), &mut errors) else {
        return fallback::tokens(&item_tokens, errors.report());
    };
    item.check(&mut errors);
    let body = body(&item, attr, &mut errors);
    match (body, errors.report()) {
        (Some((body, docs)), None) => item.with_body(&body, &docs),
        (_, errors) => fallback::function(&item, errors),
    }
}

/// Each phase goes on with what the one before it understood, so that all mistakes are found in one run; only `expand`
/// needs a pipeline without any.
fn body(item: &Item, attr: TokenStream, errors: &mut Errors) -> Option<(TokenStream, String)> {
    let pipeline = parse::parse(attr, errors)?;
    let model = model::resolve(item, pipeline, errors);
    let streams = Streams::of(item, &model);
    check::check(&streams, errors);
    errors.is_empty().then(|| (expand::body(&streams), document::text(&streams)))
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    const TOTALS: &str = "fn totals(source: Stream<Click>) -> (Stream<Pane<String, i64>>, Stream<Late<Click>>);";

    fn expanded(attr: &str, item: &str) -> String {
        expand(attr.parse().unwrap(), item.parse().unwrap()).to_string()
    }

    /// The docs that are added.
    pub(crate) fn documented(attr: &str, item: &str) -> String {
        let mut errors = Errors::default();
        let item = Item::parse(item.parse().unwrap(), &mut errors).unwrap();
        let (_, docs) = body(&item, attr.parse().unwrap(), &mut errors).unwrap_or_default();
        assert_eq!(errors.messages(), [] as [&str; 0]);
        docs
    }

    /// The statements of the body, without spaces, private paths, and the check of the event's type.
    fn statements(attr: &str, item: &str) -> String {
        let text = expanded(attr, item);
        assert!(!text.contains("compile_error"), "{text}");
        let body = text.rsplit_once("is_data :: <").unwrap().1.split_once(';').unwrap().1;
        let body = body.trim().strip_suffix("streams }").unwrap();
        body.replace(":: ministream :: __private :: ", "").replace(' ', "")
    }

    /// The calls of a line without a window.
    fn calls(attr: &str, item: &str) -> String {
        let statements = statements(attr, item);
        let calls =
            statements.strip_prefix("letoutput_0=close(").unwrap().strip_suffix(");letstreams=output_0;").unwrap();
        calls.to_owned()
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
            statements(line, TOTALS),
            "let(__step,port_0_2_late)=source.dedup(|event|&event.event_id)\
             .watermark(Bounded::new(Duration::from_micros(3000000u64)))\
             .key_by(|event|&event.user)\
             .window(Tumbling::new(Duration::from_micros(10000000u64)))\
             .allowed_lateness(Duration::from_micros(5000000u64)).with_late();\
             let__step=__step;\
             let__step=aggregate_with(__step,|__of|__of.sum(|event|Clone::clone(&event.value)));\
             letoutput_0=close(__step);\
             letstreams=(output_0,port_0_2_late);"
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
                "let__step=",
                "Sliding::new(Duration::from_micros(60000000u64),E).offset(O)).discard_late();",
                "output_0",
            ),
            (
                "session(gap, lateness = L, emit = every(1s))",
                "let(__step,port_0_2_late)=",
                "Session::new(gap)).allowed_lateness(L).emit(Emit::every(Duration::from_micros(1000000u64))).with_late();let__step=__step;",
                "(output_0,port_0_2_late)",
            ),
            (
                "global(emit = on_update)",
                "let__step=",
                "Global::new()).emit(Emit::on_update()).discard_late();",
                "output_0",
            ),
        ];
        for (window, front, call, streams) in windows {
            let line = format!("source -> watermark(upstream) -> key_by((a, b)) as k -> {window} -> count");
            let expected = format!(
                "{front}source.watermark(Upstream).key_by_owned(|event|(Clone::clone(&event.a),Clone::clone(&event.b),)).named(\"k\").window({call}let__step=aggregate_with(__step,|__of|__of.count());letoutput_0=close(__step);letstreams={streams};"
            );
            assert_eq!(
                statements(&line, "fn f(source: Stream<Click>, gap: Duration) -> Aliased;"),
                expected,
                "{window}"
            );
        }
    }

    #[test]
    fn flows_in_braces_are_statements() {
        // Results bring a watermark.
        let item = "fn f(clicks: Stream<Pane<A, B>>, more: Stream<Pane<A, B>>) -> Aliased;";
        let cases = [
            // Read once, a stream goes on as it is; read twice, it is closed and cloned.
            (
                "{ let big = clicks -> filter(a); let both = union(big, more); (both -> map(b), both -> map(c)) }",
                "letbig=close(clicks.filter(|event|event.a));\
                 letboth=close(big.union([more]));\
                 letoutput_0=close(Clone::clone(&both).map(|event|event.b));\
                 letoutput_1=close(both.map(|event|event.c));\
                 letstreams=(output_0,output_1);",
            ),
            (
                "{ let d = clicks -> dedup(id, ttl = T) as d; (d -> join(more, on = id, within = -5s..=G, late = discard), d.duplicates) }",
                "let(__step,port_0_0_duplicates)=clicks.dedup(|event|&event.id).ttl(T).named(\"d\").with_duplicates();\
                 letd=__step;\
                 let__step=d.key_by(|event|&event.id);\
                 let__other=more.key_by(|event|&event.id);\
                 let__step=__step.join(__other,before(Duration::from_micros(5000000u64))..=after(G)).discard_late();\
                 letoutput_0=close(__step);\
                 letoutput_1=close(port_0_0_duplicates);\
                 letstreams=(output_0,output_1);",
            ),
            (
                "{ let parts = clicks -> split { a: f, b: |e| e.b, rest }; (parts.a, union(parts.b, parts.rest, more)) }",
                "let(s,port_0_0_a)=clicks.split_off(|event|event.f);\
                 let(s,port_0_0_b)=s.named(\"a\").split_off(move|e|e.b);\
                 letport_0_0_rest=close(s.named(\"b\"));\
                 letoutput_0=close(port_0_0_a);\
                 letoutput_1=close(port_0_0_b.union([port_0_0_rest,more]));\
                 letstreams=(output_0,output_1);",
            ),
            (
                "{ let w = clicks -> key_by(u) -> tumbling(T, delay = D); \
                 (w -> sum(v), w -> count(), w.late, w.rejected, more -> my::Op::new(1) as own) }",
                "let(__step,port_0_1_rejected)=clicks.watermark(Bounded::new(D)).with_rejected();\
                 let(__step,port_0_1_late)=close(__step).key_by(|event|&event.u).window(Tumbling::new(T)).with_late();\
                 letw=__step;\
                 let__step=Clone::clone(&w);\
                 let__step=aggregate_with(__step,|__of|__of.sum(|event|Clone::clone(&event.v)));\
                 letoutput_0=close(__step);\
                 let__step=w;\
                 let__step=aggregate_with(__step,|__of|__of.count());\
                 letoutput_1=close(__step);\
                 letoutput_2=close(port_0_1_late);\
                 letoutput_3=close(port_0_1_rejected);\
                 let__operator=my::Op::new(1);\
                 let__step=more.operator(__operator);\
                 letoutput_4=close(__step.named(\"own\"));\
                 letstreams=(output_0,output_1,output_2,output_3,output_4);",
            ),
        ];
        for (braces, expected) in cases {
            let item = if braces.contains("more") { item } else { "fn f(clicks: Stream<Click>) -> Aliased;" };
            assert_eq!(statements(braces, item), expected, "{braces}");
        }
    }

    #[test]
    fn several_aggregates_are_a_tuple_or_a_struct() {
        let item = "fn f(clicks: Stream<Click>) -> Stream<Pane<String, Totals>>;";
        let aggregates = |aggregates: &str| {
            let line = format!("clicks -> key_by(u) -> tumbling(T, delay = D, late = discard) -> {aggregates}");
            let statements = statements(&line, item);
            let calls = statements.split_once(".discard_late();").unwrap().1;
            calls.split_once(";letstreams").unwrap().0.replace("__step", "w").replace("__of", "of")
        };
        assert_eq!(
            aggregates("aggregate(Spread)"),
            "let__aggregate=Spread;letw=aggregate(w,__aggregate);letoutput_0=close(w)"
        );
        assert_eq!(
            aggregates("aggregate(spread(3))"),
            "let__aggregate=spread(3);letw=aggregate(w,__aggregate);letoutput_0=close(w)"
        );
        assert_eq!(
            aggregates("aggregate(sum(v), count(), top(3, by = v), fold(0, f::g, merge = f::h))"),
            "letw=aggregate_with(w,|of|(of.sum(|event|Clone::clone(&event.v)),of.count(),\
             of.top(3,|event|Clone::clone(&event.v)),of.fold(0,f::g,f::h)));letoutput_0=close(w)"
        );
        let total = "letw=aggregate_with(w,|of|of.map((of.sum(|event|Clone::clone(&event.v)),of.count(),),|(total,n,)|";
        assert_eq!(
            aggregates("aggregate(total = sum(v), n = count())"),
            format!("{total}Totals{{total:total,n:n}}));letoutput_0=close(w)")
        );
        assert_eq!(
            aggregates("aggregate(my::Sums { total: sum(v), n: count() }) -> filter(|p| p.value.n > 1)"),
            format!("{total}my::Sums{{total:total,n:n}}));letoutput_0=close(w.filter(move|p|p.value.n>1))")
        );
    }

    #[test]
    fn closures_own_the_settings_that_they_use() {
        let item = "fn f<F: Fn(&Click) -> bool>(source: Stream<Click>, least: i64, other: F) -> Stream<Click>;";
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
                "`key_by` needs a key",
                "`10` of what? a duration has a unit: `us`, `ms`, `s`, `m`, `h`, `d` and `w`",
                "`tumbling` has no argument `size`",
                "unknown unit of time `sec`",
                "`count` takes no such argument",
                "nothing reads `more`",
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
            "let a = source -> filter(active);",
            "let (a, b) = source;",
            "a.late",
            "union(source, a)",
            "split { a: active, rest }",
            "join(a, on = user, within = -5s..=5s, delay = 1s)",
            "enrich(a, on = user, missing = port)",
            "aggregate(total = sum(value), n = count())",
            "my::op::<A, B>(1)",
            "return",
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

    fn any_input() -> impl Strategy<Value = &'static str> {
        let inputs = ["source", "other", "a", "b", "c", "a.late", "b.late", "a.x", "b.rest", "union(source, a)"];
        proptest::sample::select(inputs.to_vec())
    }

    fn any_stage() -> impl Strategy<Value = &'static str> {
        let stages = [
            "filter(active)",
            "dedup(id, ttl = 1h)",
            "watermark(delay = 1s)",
            "key_by(user)",
            "tumbling(10s)",
            "tumbling(10s, delay = 1s, late = discard)",
            "session(10s, delay = 1s) as s",
            "sum(value)",
            "aggregate(sum(value), count())",
            "split { x: active, late: f, rest }",
            "split { x: active, rest = discard }",
            "join(a, on = user, within = 0s..=1s, delay = 1s)",
            "enrich(union(a, other), on = user, missing = port, delay = 1s)",
            "process(op, late = discard)",
            "my::Op::new(1) as own",
        ];
        proptest::sample::select(stages.to_vec())
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

        /// Flows that read each other in all ways.
        #[test]
        fn what_comes_out_of_braces_is_a_function(
            flows in proptest::collection::vec((any_input(), proptest::collection::vec(any_stage(), 0..4)), 1..5),
        ) {
            let names = ["a", "b", "c", "d", "e"];
            let flow = |(input, stages): &(&str, Vec<&str>)| [&[*input], stages.as_slice()].concat().join(" -> ");
            let lets: String = flows.iter().zip(names).map(|(one, name)| format!("let {name} = {};", flow(one))).collect();
            let outputs = format!("({}, a.late, b.rest, source)", names[..flows.len()].join(", "));
            for outputs in [outputs.as_str(), "a", "source -> filter(active)"] {
                let text = expand(format!("{{ {lets} {outputs} }}").parse().unwrap(), quote::quote! {
                    fn totals(source: Stream<Click>, other: Stream<Pane<A, B>>) -> Aliased;
                }).to_string();
                prop_assert!(text.contains("fn totals"));
                if !text.contains("compile_error") {
                    prop_assert!(syn::parse_str::<syn::ItemFn>(&text).is_ok(), "{}", text);
                }
            }
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
