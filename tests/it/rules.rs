//! The rules of `ministream/docs/semantics.md`, one after the other, as timelines.

use insta::assert_snapshot;
use ministream::prelude::*;

use crate::timeline::{Click, run, setup};

#[test]
fn rule_1_time_is_microseconds_and_negative_before_the_epoch() {
    assert_snapshot!(setup(Tumbling::new(secs(10)), 0, 0).run(
        "a -10s 1
         a -0.000001s 2
         a 0s 4
         a 9.999999s 8
         a 10s 16
         end"
    ));
}

#[test]
fn rule_2_the_watermark_is_the_largest_timestamp_minus_the_delay_and_never_goes_back() {
    let mut pipeline = Pipeline::new(setup(Tumbling::new(secs(10)), 3, 0).sums());
    assert_eq!(pipeline.watermark(), None);
    let mut watermarks = Vec::new();
    for (id, ts) in [(1, 5), (2, 4), (3, 9), (4, 1), (5, 9)] {
        let _ = pipeline.push(Click { id, user: "a".to_owned(), ts: ts * 1_000_000, value: 1 }).unwrap();
        watermarks.push(pipeline.watermark().unwrap().as_micros() / 1_000_000);
    }
    assert_eq!(watermarks, [2, 2, 6, 6, 6]);
}

#[test]
fn rule_2_one_key_moves_the_watermark_of_all() {
    assert_snapshot!(setup(Tumbling::new(secs(10)), 0, 0).run(
        "a 1s 1
         b 10s 2
         a 2s 4
         end"
    ));
}

#[test]
fn rule_2_the_smallest_of_the_active_partitions_counts() {
    use ministream::watermark::PartitionWatermarks;
    let mut partitions = PartitionWatermarks::new(["p0", "p1"]);
    // A delay that the stream's own watermark never gets out of: only the partitions move it.
    let mut pipeline = Pipeline::new(setup(Tumbling::new(secs(10)), 1_000, 0).sums());
    let _ = pipeline.push(Click { id: 1, user: "a".to_owned(), ts: 1_000_000, value: 1 }).unwrap();
    partitions.advance(&"p0", Timestamp::from_secs(20));
    assert_eq!(partitions.watermark(), None);
    partitions.advance(&"p1", Timestamp::from_secs(9));
    let (results, ..) = pipeline.advance_to(partitions.watermark().unwrap()).unwrap();
    assert_eq!(results.collect::<Vec<_>>(), [] as [&str; 0]);
    partitions.finish(&"p1");
    let (results, ..) = pipeline.advance_to(partitions.watermark().unwrap()).unwrap();
    assert_eq!(results.collect::<Vec<_>>(), ["[00:00:00, 00:00:10) a = 1"]);
}

#[test]
fn rule_3_an_event_is_judged_by_the_watermark_before_it() {
    // The event at 25s closes the window that it would have to join if it were not for rule 3; the copy behind it is held
    // back although its own time is past.
    assert_snapshot!(setup(Tumbling::new(secs(10)), 0, 0).run(
        "a 1s 1
         a 25s 2 #9
         a 25s 2 #9
         a 9s 4
         end"
    ));
}

#[test]
fn rule_4_a_window_fires_once_when_the_watermark_reaches_its_end() {
    assert_snapshot!(setup(Tumbling::new(secs(10)), 3, 5).run(
        "a 9.999999s 1
         a 10s 2
         a 12.999999s 4
         a 13s 8
         a 13.5s 16
         end"
    ));
}

#[test]
fn rule_4_late_events_correct_a_window_until_its_lateness_is_over() {
    assert_snapshot!(setup(Tumbling::new(secs(10)), 3, 5).run(
        "a 1s 1
         a 13s 2
         a 9s 4
         a 9s 0
         b 8s 8
         a 17.999999s 16
         a 2s 32
         a 18s 64
         a 3s 128
         b 4s 256
         end"
    ));
}

#[test]
fn rule_4_a_jump_past_the_lateness_still_fires_once() {
    assert_snapshot!(setup(Tumbling::new(secs(10)), 0, 5).run(
        "a 1s 1
         a 11s 2
         a 100s 4
         a 1s 8
         end"
    ));
}

#[test]
fn rule_4_windows_are_aligned_by_floor_division_behind_the_offset() {
    assert_snapshot!(setup(Tumbling::new(secs(10)).offset(secs(3)), 0, 0).run(
        "a -8s 1
         a -7s 2
         a 2.999999s 4
         a 3s 8
         a 13s 16
         end"
    ));
}

#[test]
fn rule_4_windows_without_events_never_fire() {
    assert_snapshot!(setup(Tumbling::new(secs(10)), 0, 0).run(
        "a 1s 0
         ~ 1000s
         a 2000s 1
         end"
    ));
}

#[test]
fn rule_5_an_event_counts_in_those_of_its_windows_that_live() {
    let mut pipeline = Pipeline::new(setup(Sliding::new(secs(10), secs(5)), 0, 0).sums());
    for (id, ts) in [(1, 2), (2, 11), (3, 8), (4, 4)] {
        let _ = pipeline.push(Click { id, user: "a".to_owned(), ts: ts * 1_000_000, value: 1 }).unwrap();
    }
    let counters = pipeline.counters();
    assert_eq!((counters.partly_late(), counters.late()), (1, 1));
    assert_snapshot!(setup(Sliding::new(secs(10), secs(5)), 0, 0).run(
        "a 2s 1
         a 11s 2
         a 8s 4
         a 4s 8
         end"
    ));
}

#[test]
fn rule_5_a_step_need_not_divide_the_size() {
    // Windows of 10s from …, -4s, 0s, 4s, 8s, …: the event at 8s is in three of them, that at 7s in two.
    assert_snapshot!(setup(Sliding::new(secs(10), secs(4)), 100, 0).run(
        "a 8s 1
         b 7s 2
         ~ 10s
         end"
    ));
}

#[test]
fn rule_5_corrections_of_several_windows_come_in_order() {
    assert_snapshot!(setup(Sliding::new(secs(10), secs(5)), 0, 10).run(
        "a 7s 1
         a 15s 2
         a 8s 4
         a 3s 8
         end"
    ));
}

#[test]
fn rule_6_the_first_copy_counts_and_others_do_nothing() {
    assert_snapshot!(setup(Tumbling::new(secs(10)), 0, 0).run(
        "a 1s 1 #7
         b 2s 2 #7
         a 1000s 4 #7
         a 9s 8
         end"
    ));
}

#[test]
fn rule_6_an_id_is_forgotten_at_the_first_copys_time_plus_ttl() {
    // Remembered until the watermark is 15s; copies at 14.999999s are held back, those at 15s are late.
    assert_snapshot!(setup(Tumbling::new(secs(10)), 0, 5).ttl(Some(secs(15))).run(
        "a 0s 1 #7
         a 14.999999s 2
         a 0s 1 #7
         a 15s 4
         a 0s 1 #7
         end"
    ));
}

#[test]
fn rule_6_a_copy_with_another_time_does_not_keep_its_id_longer() {
    assert_snapshot!(setup(Tumbling::new(secs(10)), 0, 5).ttl(Some(secs(15))).run(
        "a 0s 1 #7
         a 14s 2
         a 14s 4 #7
         a 15s 8
         a 16s 16 #7
         end"
    ));
}

#[test]
fn rule_6_without_a_ttl_a_copy_is_held_back_or_late() {
    // The window [0s, 10s) takes events until 15s. The id of the event at its last instant is remembered for almost 10s
    // longer than needed; that of the event at its first instant is forgotten with the window.
    assert_snapshot!(setup(Tumbling::new(secs(10)), 0, 5).ttl(None).run(
        "a 0s 1 #7
         a 9.999999s 2 #8
         a 14.999999s 4
         a 0s 1 #7
         a 9.999999s 2 #8
         a 15s 8
         a 0s 1 #7
         a 9.999999s 2 #8
         a 24.999999s 16
         a 9.999999s 2 #8
         end"
    ));
}

#[test]
fn rule_6_without_a_ttl_it_is_size_plus_lateness() {
    let text = Pipeline::new(setup(Tumbling::new(secs(10)), 3, 5).ttl(None).sums()).describe();
    assert_snapshot!(text);
    let text = Pipeline::new(setup(Sliding::new(minutes(1), secs(5)), 3, 60).ttl(None).sums()).describe();
    assert!(text.contains("dedup(ttl = 2m)"), "{text}");
}

#[test]
fn rule_6_the_ids_of_late_events_are_remembered() {
    assert_snapshot!(setup(Tumbling::new(secs(10)), 0, 0).ttl(Some(hours(1))).run(
        "a 100s 1
         a 5s 2 #7
         a 5s 2 #7
         end"
    ));
}

#[test]
fn rule_7_sessions_merge_when_they_overlap_and_stay_apart_when_they_touch() {
    assert_snapshot!(setup(Session::new(secs(5)), 20, 0).run(
        "a 0s 1
         a 5s 2
         b 3s 4
         a 12s 8
         a 8.5s 16
         end"
    ));
}

#[test]
fn rule_7_a_late_event_merges_sessions_that_fired_and_the_result_names_them() {
    assert_snapshot!(setup(Session::new(secs(5)), 0, 20).run(
        "a 0s 1
         a 7s 2
         a 14s 4
         a 3.5s 8
         a 3.6s 16
         a 30s 32
         end"
    ));
}

#[test]
fn rule_7_lateness_is_judged_on_the_merged_session() {
    // Alone, the event at 1s would be late at 8s; the session from 4s lives until 9s, and takes it.
    assert_snapshot!(setup(Session::new(secs(5)), 0, 1).run(
        "a 4s 1
         b 8s 2
         a 1s 4
         b 2s 8
         a 10s 16
         a 4s 32
         end"
    ));
}

#[test]
fn rule_7_a_fired_session_that_grows_waits_for_its_new_end() {
    assert_snapshot!(setup(Session::new(secs(5)), 0, 10).run(
        "a 0s 1
         b 6s 2
         a 4s 4
         b 8.9s 8
         b 9s 16
         end"
    ));
}

#[test]
fn rule_7_a_session_whose_lateness_is_over_is_forgotten() {
    // The first session of a is gone at 7s. The event at 3s opens one that overlaps its old span, and the event at 0s, which
    // would be late alone, is taken by it: the result has the old one's events no more, and is no update of it.
    assert_snapshot!(setup(Session::new(secs(5)), 0, 2).run(
        "a 0s 1
         b 7s 2
         a 3s 4
         a 0s 8
         end"
    ));
}

#[test]
fn rule_7_an_event_between_two_sessions_that_touches_both_joins_neither() {
    assert_snapshot!(setup(Session::new(secs(5)), 100, 0).run(
        "a 0s 1
         a 10s 2
         a 5s 4
         end"
    ));
}

#[test]
fn rule_8_results_come_in_the_order_of_end_start_and_key() {
    assert_snapshot!(setup(Tumbling::new(secs(10)), 100, 0).run(
        "b 25s 1
         a 25s 2
         B 1s 4
         a 1s 8
         aa 1s 16
         é 1s 32
         a 11s 64
         ~ 30s
         end"
    ));
}

#[test]
fn rule_8_sessions_that_end_together_come_in_the_order_of_their_starts() {
    assert_snapshot!(setup(Session::new(secs(5)), 100, 0).run(
        "b 3s 1
         b 5s 2
         a 5s 4
         c 1s 8
         c 5s 16
         end"
    ));
}

#[test]
fn rule_9_windows_over_results_nest() {
    let nested = |source: Stream<Click>| {
        let tens = source
            .watermark(Bounded::new(secs(0)))
            .key_by(|click| &click.user)
            .window(Tumbling::new(secs(10)))
            .sum(|click| click.value);
        let (minutes, late, late_panes) = tens
            .key_by(|pane| &pane.key)
            .window(Tumbling::new(minutes(1)))
            .max(|pane| pane.value)
            .map(|pane| pane.to_string())
            .into_streams();
        late_panes.discard();
        (minutes, late)
    };
    let mut pipeline = Pipeline::new(nested);
    let mut lines = Vec::new();
    for (ts, value) in [(5, 1), (15, 7), (59, 3), (60, 100), (61, 1)] {
        let (minutes, _) = pipeline.push(Click { id: 0, user: "a".to_owned(), ts: ts * 1_000_000, value }).unwrap();
        lines.extend(minutes);
    }
    lines.extend(pipeline.finish().unwrap().0);
    assert_eq!(lines, ["[00:00:00, 00:01:00) a = 7", "[00:01:00, 00:02:00) a = 101"]);
}

#[test]
fn rule_9_results_that_can_be_corrected_are_not_counted_again() {
    let nested = |source: Stream<Click>| {
        let tens = source.watermark(Bounded::new(secs(0))).key_by(|click| &click.user);
        let tens = tens.window(Tumbling::new(secs(10))).allowed_lateness(secs(1)).discard_late().count();
        tens.key_by(|pane| &pane.key).window(Tumbling::new(secs(60))).discard_late().count().into_streams()
    };
    let error = Pipeline::try_new(nested).unwrap_err();
    assert_snapshot!(error, @"the pipeline is refused: `tumbling`: the results in front of it can be corrected, and each correction would be counted beside what it corrects: leave `lateness` and `emit` out in front");
}

#[test]
fn rule_10_the_end_fires_what_has_not_fired_and_nothing_twice() {
    assert_snapshot!(setup(Tumbling::new(secs(10)), 0, 60).run(
        "a 1s 1
         a 12s 2
         a 2s 4
         b 3s 8
         end"
    ));
    assert_snapshot!(
        "rule_10_of_sessions",
        setup(Session::new(secs(5)), 0, 60).run(
            "a 0s 1
         b 6s 2
         a 4s 4
         end"
        )
    );
}

#[test]
fn rule_11_a_sum_that_does_not_fit_is_an_error_and_all_else_goes_on() {
    assert_snapshot!(setup(Tumbling::new(secs(10)), 0, 5).run(&format!(
        "a 1s {max}
         a 2s 1
         b 3s 7
         c 10s 1
         a 4s -1
         b 5s {max}
         end",
        max = i64::MAX
    )));
}

#[test]
fn rule_11_an_error_at_the_end_comes_with_all_other_results() {
    let mut pipeline = Pipeline::new(setup(Tumbling::new(secs(10)), 0, 0).sums());
    for (id, user, value) in [(1, "a", i64::MAX), (2, "a", 1), (3, "b", 7)] {
        let _ = pipeline.push(Click { id, user: user.to_owned(), ts: 0, value }).unwrap();
    }
    let error = pipeline.finish().unwrap_err();
    let failure = &error.error().failures()[0];
    assert_eq!(failure.key(), Some("\"a\""));
    assert_eq!(failure.window(), Some(Window::new(Timestamp::EPOCH, Timestamp::from_secs(10))));
    assert_snapshot!(error, @r#"sum of key "a" in window [00:00:00, 00:00:10): the sum 9223372036854775808 does not fit in i64"#);
    assert_eq!(error.into_results().0, ["[00:00:00, 00:00:10) b = 7"]);
}

#[test]
fn rule_11_sums_of_floats_are_exact_in_any_order() {
    let sums = |values: &[f64]| {
        let build = |source: Stream<f64>| {
            let keyed = source.watermark(Bounded::new(secs(0))).key_by_owned(|_| 0_u8);
            let windows = keyed.window(Tumbling::new(secs(10))).discard_late();
            windows.aggregate((Sum::of(|value: &f64| *value), Mean::of(|value: &f64| *value))).into_streams()
        };
        // The event time travels with the event, so a float can be one behind a `map`.
        let build = |source: Stream<Click>| build(source.map(|click| f64::from_bits(click.id)).into_streams());
        let mut pipeline = Pipeline::new(build);
        for value in values {
            let click = Click { id: value.to_bits(), user: String::new(), ts: 0, value: 0 };
            let _ = pipeline.push(click).unwrap();
        }
        pipeline.finish().unwrap().remove(0).value
    };
    // Added from left to right these give 0, 0, infinity and 0.9999999999999999.
    assert_eq!(sums(&[1e100, 1.0, -1e100]), (1.0, 1.0 / 3.0));
    assert_eq!(sums(&[1.0, 1e100, -1e100]), (1.0, 1.0 / 3.0));
    assert_eq!(sums(&[f64::MAX, f64::MAX, -f64::MAX]).0, f64::MAX);
    assert_eq!(sums(&[0.1; 10]), (1.0, 0.1));
}

#[test]
fn rule_11_a_late_event_that_mends_a_sum_gives_the_first_result() {
    // The sum of a that does not fit has given no result, so the one that fits is no update.
    assert_snapshot!(setup(Tumbling::new(secs(10)), 0, 5).run(&format!(
        "a 1s {max}
         a 2s 1
         a 10s 0
         a 3s -2
         a 4s -1
         end",
        max = i64::MAX
    )));
}

#[test]
fn rule_11_first_last_and_collect_go_by_event_time() {
    #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
    struct Shown(i64, i64, Vec<i64>);
    struct All;
    impl Aggregate<Click> for All {
        type Acc = Vec<(Timestamp, i64)>;
        type Out = String;

        fn create(&self) -> Self::Acc {
            Vec::new()
        }

        fn add(&self, acc: &mut Self::Acc, at: Timestamp, click: &Click) {
            acc.push((at, click.value));
        }

        fn merge(&self, acc: &mut Self::Acc, mut other: Self::Acc) {
            acc.append(&mut other);
        }

        fn finish(&self, acc: &Self::Acc) -> Result<String, AggregateError> {
            Ok(format!("{} events", acc.len()))
        }
    }
    let values = |order: &[(i64, i64)]| {
        let build = |source: Stream<Click>| {
            let values = source.map(|click| click.value).watermark(Bounded::new(secs(10))).key_by_owned(|_| 0_u8);
            let windows = values.window(Tumbling::new(secs(10))).discard_late();
            windows.aggregate((First::of(|v: &i64| *v), Last::of(|v: &i64| *v), Collect::default())).into_streams()
        };
        let mut pipeline = Pipeline::new(build);
        for &(ts, value) in order {
            let _ = pipeline.push(Click { id: 0, user: String::new(), ts, value }).unwrap();
        }
        let (first, last, all) = pipeline.finish().unwrap().remove(0).value;
        Shown(first, last, all)
    };
    let expected = Shown(5, 9, vec![5, 8, 1, 3, 9]);
    assert_eq!(values(&[(1, 5), (1, 8), (2, 1), (3, 3), (3, 9)]), expected);
    assert_eq!(values(&[(3, 9), (2, 1), (1, 8), (3, 3), (1, 5)]), expected);
    assert_snapshot!(run(setup(Tumbling::new(secs(10)), 0, 0).aggregates(All), "a 1s 1\na 2s 1\nend"));
}

#[test]
fn rule_12_an_event_without_a_window_is_rejected_and_moves_nothing() {
    assert_snapshot!(setup(Tumbling::new(secs(10)), 0, 0).run(
        "a 1s 1
         a max 2 #7
         a max 2 #7
         a min 4
         a 9s 8 #7
         end"
    ));
    assert_snapshot!(
        "rule_12_of_sessions",
        setup(Session::new(secs(10)), 0, 0).run(
            "a max-10000000 1
         a max-9999999 2
         a min 4
         end"
        )
    );
}

#[test]
fn rule_12_an_event_too_far_ahead_is_rejected() {
    assert_snapshot!(setup(Tumbling::new(secs(10)), 0, 0).max_ahead(secs(60)).run(
        "a 1000s 1
         a 1060.000001s 2
         a 1060s 4
         a 1061s 8
         a 1059s 16
         a 1121s 32
         end"
    ));
}

#[test]
fn rule_12_a_rejected_events_id_is_not_remembered() {
    assert_snapshot!(setup(Tumbling::new(secs(10)), 0, 0).max_ahead(secs(60)).run(
        "a 0s 1
         a 61s 2 #7
         a 1s 4 #7
         a 500s 8 #7
         end"
    ));
}

#[test]
fn rule_12_sliding_windows_all_have_to_fit() {
    // Windows of 10s every 5s, behind an offset that puts the last one at the last instant there is.
    let offset = std::time::Duration::from_micros((i64::MAX % 5_000_000).unsigned_abs());
    assert_snapshot!(setup(Sliding::new(secs(10), secs(5)).offset(offset), 0, 0).run(
        "a max-5000001 1
         a max-5000000 2
         a min 4
         end"
    ));
}

#[test]
fn rule_12_an_event_whose_result_has_no_window_behind_is_rejected_in_front() {
    fn nested<A, B>(inner: A, outer: B) -> impl FnOnce(Stream<Click>) -> crate::timeline::Outputs
    where
        A: ministream::window::WindowKind,
        B: ministream::window::WindowKind,
    {
        move |source| {
            let (unique, duplicates) = source.dedup(|click| &click.id).ttl(hours(1)).with_duplicates();
            let (events, rejected) = unique.watermark(Bounded::new(secs(0))).with_rejected();
            let (inner, late) = events.key_by(|click| &click.user).window(inner).with_late();
            let sums = inner.sum(|click| click.value);
            let outer = sums.key_by(|pane| &pane.key).window(outer).discard_late().sum(|pane| pane.value);
            (outer.map(|pane| pane.to_string()).into_streams(), late, duplicates, rejected)
        }
    }
    // The last second has a window of one, and no window of ten; so has the first.
    assert_snapshot!(run(
        nested(Tumbling::new(secs(1)), Tumbling::new(secs(10))),
        "a min+775808 1
         a min+4775807 2
         a min+4775808 4
         a max-4775808 8
         a max-4775807 16
         a max-1 32
         end"
    ));
    // A session of the last event that is taken ends with the last window of ten seconds.
    assert_snapshot!(
        "rule_12_of_nested_sessions",
        run(
            nested(Session::new(secs(2)), Tumbling::new(secs(10))),
            "a min+2775808 1
             a min+2775809 2
             a max-6775807 4
             a max-6775806 8
             end"
        )
    );
    assert_snapshot!(
        "rule_12_of_sliding_windows_over_sliding_windows",
        run(
            nested(Sliding::new(secs(4), secs(2)), Sliding::new(secs(10), secs(5))),
            "a 0s 1
             a max-12775808 2
             a max-12775807 4
             end"
        )
    );
}

#[test]
fn rule_13_the_watermark_is_moved_by_hand_where_a_stream_falls_quiet() {
    assert_snapshot!(setup(Tumbling::new(secs(10)), 3, 5).run(
        "~ 2s
         a 1s 1
         ~ 10s
         ~ 5s
         a 2s 2
         ~ 15s
         a 3s 4
         a 20s 8
         end"
    ));
}

#[test]
fn rule_13_max_ahead_looks_at_events_and_not_at_the_watermark_moved_by_hand() {
    assert_snapshot!(setup(Tumbling::new(secs(10)), 0, 0).max_ahead(secs(60)).run(
        "a 0s 1
         ~ 100s
         a 100s 2
         a 60s 4
         a 100s 8
         end"
    ));
}

#[test]
fn rule_14_what_cannot_work_is_refused_when_it_is_built() {
    let reasons = |build: &dyn Fn(Stream<Click>) -> (Stream<String>, Stream<Late<Click>>)| {
        let error = Pipeline::try_new(build).unwrap_err();
        assert!(error.is_refused());
        error.refusals().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let window = |size: std::time::Duration, ttl: Option<std::time::Duration>| {
        move |source: Stream<Click>| {
            let unique = source.dedup(|click| &click.id);
            let unique = match ttl {
                Some(ttl) => unique.ttl(ttl),
                None => unique,
            };
            let keyed = unique.watermark(Bounded::new(secs(3))).key_by(|click| &click.user);
            keyed
                .window(Tumbling::new(size))
                .allowed_lateness(secs(5))
                .count()
                .map(|pane| pane.to_string())
                .into_streams()
        }
    };
    assert_eq!(reasons(&window(secs(0), None)), ["`tumbling`: window size must be greater than zero"]);
    assert_eq!(
        reasons(&window(secs(0), Some(secs(0)))),
        ["`tumbling`: window size must be greater than zero", "`dedup`: ttl must be greater than zero"]
    );
    assert_eq!(
        reasons(&window(secs(10), Some(secs(14)))),
        [
            "`dedup`: ids are forgotten after 14s, but the windows behind take copies for 15s: use `ttl = 15s`, or leave it out"
        ]
    );
    assert_eq!(
        reasons(&|source| {
            let keyed = source.dedup(|click| &click.id).watermark(Bounded::new(secs(3))).key_by(|click| &click.user);
            keyed.window(Session::new(secs(10))).count().map(|pane| pane.to_string()).into_streams()
        }),
        [
            "`dedup`: a window behind it may stay open for ever, so no ttl follows from it: state one, as in `dedup(id, ttl = 1h)`"
        ]
    );
    assert_eq!(
        reasons(&|source| {
            let keyed = source.key_by(|click| &click.user).window(Sliding::new(secs(1), secs(2)));
            keyed.count().map(|pane| pane.to_string()).into_streams()
        }),
        [
            "`sliding`: no watermark reaches it, so it would never fire: say `delay = 3s`, or put a stage such as `watermark(delay = 3s)` in front",
            "`sliding`: `every` is 2s, longer than the window size 1s: events between windows would be lost",
        ]
    );
    let forgotten = Pipeline::try_new(|source: Stream<Click>| {
        let (unique, copies) = source.dedup(|click| &click.id).ttl(secs(1)).with_duplicates();
        drop(copies);
        unique.watermark(Bounded::new(secs(1))).watermark(Bounded::new(secs(2))).into_streams()
    });
    let refusals: Vec<_> = forgotten.unwrap_err().refusals().iter().map(ToString::to_string).collect();
    assert_eq!(
        refusals,
        [
            "`stream`: nothing reads this stream of `Click`: return it, feed it to another stage, or call `discard()` on it",
            "`watermark`: the stream has a watermark already: one of the two stages has to go",
        ]
    );
}

#[test]
fn rule_14_the_limits_themselves_are_taken() {
    use std::time::Duration;
    let refused = |windows: &dyn Fn(Stream<Click>) -> (Stream<u64>, Stream<Late<Click>>)| {
        let error = Pipeline::try_new(windows).err();
        error.map(|error| error.refusals().iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap_or_default()
    };
    let sliding = |size: Duration, every: Duration| {
        refused(&move |source| {
            let keyed = source.watermark(Bounded::new(secs(3))).key_by(|click| &click.user);
            keyed.window(Sliding::new(size, every)).count().map(|pane| pane.value).into_streams()
        })
    };
    assert_eq!(sliding(micros(10_000), micros(1)), [] as [&str; 0]);
    assert_eq!(
        sliding(micros(10_001), micros(1)),
        ["`sliding`: each event would be in 10001 windows (size 10001us, every 1us), and the limit is 10000"]
    );
    // An event is in 10,000 windows or in 10,001.
    assert_eq!(sliding(micros(20_001), micros(2)).len(), 1);
    assert_eq!(sliding(secs(10), secs(10)), [] as [&str; 0]);
    assert_eq!(
        sliding(secs(10), micros(10_000_001)),
        ["`sliding`: `every` is 10000001us, longer than the window size 10s: events between windows would be lost"]
    );
    assert_eq!(sliding(secs(10), secs(0)), ["`sliding`: `every` must be greater than zero"]);
    assert_eq!(sliding(secs(0), secs(0)), ["`sliding`: window size must be greater than zero"]);
    let session = |gap: Duration| {
        refused(&move |source| {
            let keyed = source.watermark(Bounded::new(secs(3))).key_by(|click| &click.user);
            keyed.window(Session::new(gap)).count().map(|pane| pane.value).into_streams()
        })
    };
    assert_eq!(session(micros(1)), [] as [&str; 0]);
    assert_eq!(session(secs(0)), ["`session`: session gap must be greater than zero"]);
    let ttl = |ttl: Option<Duration>| {
        let error = Pipeline::try_new(|source: Stream<Click>| {
            let unique = source.dedup(|click| &click.id);
            let unique = match ttl {
                Some(ttl) => unique.ttl(ttl),
                None => unique,
            };
            unique.watermark(Bounded::new(secs(3))).into_streams()
        });
        error.err().map(|error| error.refusals()[0].to_string())
    };
    assert_eq!(ttl(Some(micros(1))), None);
    assert_eq!(ttl(Some(secs(0))).unwrap(), "`dedup`: ttl must be greater than zero");
    assert_eq!(
        ttl(None).unwrap(),
        "`dedup`: no window behind it says for how long copies matter: state a ttl, as in `dedup(id, ttl = 1h)`"
    );
    // The smallest ttl, and one tick less.
    let before_a_window = |ttl: Duration| Pipeline::try_new(setup(Tumbling::new(secs(10)), 3, 5).ttl(Some(ttl)).sums());
    assert!(before_a_window(secs(15)).is_ok());
    assert!(before_a_window(micros(14_999_999)).is_err());
}

#[test]
fn rule_14_a_refused_pipeline_says_so_at_every_call() {
    let mut pipeline = Pipeline::new(setup(Tumbling::new(secs(0)), 3, 5).sums());
    let click = Click { id: 1, user: "a".to_owned(), ts: 0, value: 1 };
    assert!(pipeline.push(click.clone()).unwrap_err().is_refused());
    assert!(pipeline.push_batch([click]).unwrap_err().is_refused());
    assert!(pipeline.advance_to(Timestamp::EPOCH).unwrap_err().is_refused());
    let error = pipeline.finish().unwrap_err();
    assert_snapshot!(error, @"the pipeline is refused: `tumbling`: window size must be greater than zero");
}

#[test]
fn rule_14_durations_that_do_not_fit_in_64_bits_are_refused() {
    use std::time::Duration;
    fn reasons<W: ministream::window::WindowKind>(windows: W) -> Vec<String> {
        let error = Pipeline::try_new(setup(windows, 3, 0).ttl(Some(Duration::MAX)).sums()).err();
        error.map(|error| error.refusals().iter().map(ToString::to_string).collect()).unwrap_or_default()
    }
    let most = micros(i64::MAX as u64);
    let more = micros(i64::MAX as u64 + 1);
    assert_eq!(
        reasons(Tumbling::new(Duration::MAX)),
        ["`tumbling`: window size is 18446744073709551615.999999999s, which does not fit in 64 bits of microseconds"]
    );
    assert_eq!(
        reasons(Tumbling::new(secs(10)).offset(more)),
        ["`tumbling`: `offset` is 9223372036854.775808s, which does not fit in 64 bits of microseconds"]
    );
    assert_eq!(
        reasons(Sliding::new(secs(10), more)),
        ["`sliding`: `every` is 9223372036854.775808s, which does not fit in 64 bits of microseconds"]
    );
    assert_eq!(
        reasons(Session::new(Duration::MAX)),
        ["`session`: session gap is 18446744073709551615.999999999s, which does not fit in 64 bits of microseconds"]
    );
    assert_eq!(reasons(Tumbling::new(most).offset(most)), [] as [&str; 0]);
    assert_eq!(reasons(Session::new(most)), [] as [&str; 0]);
    assert_eq!(reasons(Sliding::new(most, most - micros(1)).offset(micros(1))), [] as [&str; 0]);
}

#[test]
fn rule_15_on_update_gives_a_result_after_each_event_that_joins_an_open_window() {
    assert_snapshot!(setup(Tumbling::new(secs(10)), 3, 5).emit(Emit::on_update()).run(
        "a 1s 1
         a 2s 0
         b 9s 2
         a 11s 4
         a 13s 8
         a 9s 16
         c 9s 32
         a 30s 64
         a 1s 128
         end"
    ));
}

#[test]
fn rule_15_on_update_reports_corrections_and_early_results_of_one_event_in_the_order_of_end() {
    assert_snapshot!(setup(Sliding::new(secs(10), secs(5)), 0, 10).emit(Emit::on_update()).run(
        "a 2s 1
         a 11s 2
         a 8s 4
         a 7s 8
         end"
    ));
}

#[test]
fn rule_15_every_step_gives_a_result_of_what_has_changed() {
    // The watermark starts at 7s: that passes nothing. 30s is passed together with 20s, and gives one result, of what has
    // changed. A window that has fired by then gives no early result.
    assert_snapshot!(setup(Tumbling::new(secs(60)), 3, 60).emit(Emit::every(secs(10))).run(
        "b 10s 1
         a 12.999999s 2
         a 13s 4
         b 33s 8
         c 70s 16
         a 1s 32
         ~ 79s
         a 61s 64
         ~ 80s
         end"
    ));
}

#[test]
fn rule_15_a_window_gives_its_result_on_time_whether_or_not_it_has_changed() {
    assert_snapshot!(setup(Tumbling::new(secs(10)), 0, 0).emit(Emit::every(secs(5))).run(
        "a 1s 1
         a 5s 2
         a 10s 4
         b 14s 8
         b 21s 16
         a 26s 32
         end"
    ));
}

#[test]
fn rule_15_steps_are_multiples_from_the_epoch_before_it_too() {
    assert_snapshot!(setup(Tumbling::new(secs(100)).offset(secs(50)), 0, 0).emit(Emit::every(secs(20))).run(
        "a -45s 1
         a -41s 2
         a -40s 4
         a -21s 8
         a -1s 16
         a 0s 32
         end"
    ));
}

#[test]
fn rule_15_an_early_result_of_a_session_names_those_it_replaces() {
    assert_snapshot!(setup(Session::new(secs(5)), 20, 0).emit(Emit::on_update()).run(
        "a 0s 1
         a 7s 2
         a 4s 4
         a 1s 8
         end"
    ));
    // The session of a fires at 5s, and is open again when it grows; that at 14s fires as it was.
    assert_snapshot!(
        "rule_15_of_sessions_that_have_fired",
        setup(Session::new(secs(5)), 0, 20).emit(Emit::on_update()).run(
            "a 0s 1
             b 6s 2
             a 3s 4
             b 14s 8
             a 2s 16
             end"
        )
    );
    assert_snapshot!(
        "rule_15_of_sessions_every_step",
        setup(Session::new(secs(5)), 0, 20).emit(Emit::every(secs(2))).run(
            "b 0s 1
             a 0s 2
             b 1s 4
             a 2s 8
             b 5s 16
             b 9.5s 32
             a 6.5s 64
             b 10s 128
             end"
        )
    );
}

#[test]
fn rule_15_a_session_that_outlives_many_others_still_gives_its_early_result() {
    let mut pipeline = Pipeline::new(setup(Session::new(secs(10)), 0, 0).emit(Emit::every(hours(1))).sums());
    let mut early = Vec::new();
    for second in (3_000..3_605).step_by(5) {
        for user in [format!("a{second}"), "b".to_owned()] {
            let click =
                Click { id: second as u64 * 2 + u64::from(user == "b"), user, ts: second * 1_000_000, value: 1 };
            let (results, ..) = pipeline.push(click).unwrap();
            early.extend(results.filter(|result| result.contains("early")));
        }
    }
    assert_eq!(
        early,
        [
            "[00:50:00, 01:00:05) b = 120 (early)",
            "[00:59:55, 01:00:05) a3595 = 1 (early)",
            "[01:00:00, 01:00:10) a3600 = 1 (early)"
        ]
    );
}

#[test]
fn rule_15_an_early_result_that_fails_is_an_error_and_no_result() {
    assert_snapshot!(setup(Tumbling::new(secs(10)), 0, 0).emit(Emit::on_update()).run(&format!(
        "a 1s {max}
         a 2s 1
         a 3s -1
         end",
        max = i64::MAX
    )));
}

#[test]
fn rule_15_timing_tells_when_a_result_came() {
    use ministream::Timing;
    let build = |source: Stream<Click>| {
        let keyed = source.watermark(Bounded::new(secs(0))).key_by(|click| &click.user);
        let windows = keyed.window(Tumbling::new(secs(10))).allowed_lateness(secs(100)).emit(Emit::on_update());
        windows.discard_late().sum(|click| click.value).into_streams()
    };
    let mut pipeline = Pipeline::new(build);
    let mut timings = Vec::new();
    for (user, ts) in [("a", 1), ("a", 2), ("b", 12), ("a", 3), ("c", 4), ("c", 5)] {
        let click = Click { id: 0, user: user.to_owned(), ts: ts * 1_000_000, value: 1 };
        timings.extend(pipeline.push(click).unwrap().map(|pane| (pane.timing(), pane.is_early(), pane.update())));
    }
    timings.extend(pipeline.finish().unwrap().iter().map(|pane| (pane.timing(), pane.is_early(), pane.update())));
    assert_eq!(
        timings,
        [
            (Timing::Early, true, 0),
            (Timing::Early, true, 1),
            (Timing::Early, true, 0),
            (Timing::OnTime, false, 2),
            (Timing::Late, false, 3),
            (Timing::Late, false, 0),
            (Timing::Late, false, 1),
            (Timing::OnTime, false, 1),
        ]
    );
}

#[test]
fn rule_15_what_cannot_work_is_refused() {
    use std::time::Duration;
    let reasons = |emit: Emit| {
        let error = Pipeline::try_new(setup(Tumbling::new(secs(10)), 3, 0).emit(emit).sums()).err();
        error.map(|error| error.refusals().iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap_or_default()
    };
    assert_eq!(
        reasons(Emit::every(secs(0))),
        ["`tumbling`: `emit` has a step of zero: say `every(1m)`, or `on_update` for a result after each event"]
    );
    assert_eq!(
        reasons(Emit::every(Duration::from_nanos(1_500))),
        ["`tumbling`: `emit` has a step of 1.5µs, and event time counts whole microseconds"]
    );
    assert_eq!(reasons(Emit::every(micros(1))), [] as [&str; 0]);
    assert_eq!(reasons(Emit::every(Duration::MAX)), [] as [&str; 0]);

    let nested = |source: Stream<Click>| {
        let tens = source.watermark(Bounded::new(secs(0))).key_by(|click| &click.user);
        let tens = tens.window(Tumbling::new(secs(10))).emit(Emit::on_update()).discard_late().count();
        tens.key_by(|pane| &pane.key).window(Tumbling::new(secs(60))).discard_late().count().into_streams()
    };
    let error = Pipeline::try_new(nested).unwrap_err();
    assert_snapshot!(error, @"the pipeline is refused: `tumbling`: the results in front of it can be corrected, and each correction would be counted beside what it corrects: leave `lateness` and `emit` out in front");
}

#[test]
fn rule_15_the_settings_are_described() {
    let description = |setup: crate::timeline::Setup<Tumbling>| {
        let text = Pipeline::new(setup.sums()).describe().to_string();
        text.lines().find_map(|line| Some(line[line.find("tumbling")?..].to_owned())).unwrap()
    };
    let tens = || setup(Tumbling::new(secs(10)).offset(secs(3)), 3, 5);
    let described = description(tens().emit(Emit::every(minutes(1))));
    assert!(described.starts_with("tumbling(10s, offset = 3s, lateness = 5s, emit = every(1m))"), "{described}");
    let described = description(tens().emit(Emit::on_update()));
    assert!(described.starts_with("tumbling(10s, offset = 3s, lateness = 5s, emit = on_update)"), "{described}");
}

#[test]
fn rule_16_the_global_window_holds_all_and_nothing_is_late() {
    assert_snapshot!(setup(Global::new(), 0, 0).emit(Emit::every(secs(10))).run(
        "b 1s 1
         a 9s 2
         b 10s 4
         a -1000s 8
         b 15s 16
         c 35s 32
         a min 64
         a max-1 128
         ~ max
         a max 256
         d 1s 512
         end"
    ));
}

#[test]
fn rule_16_on_update_gives_a_running_result() {
    assert_snapshot!(setup(Global::new(), 0, 0).emit(Emit::on_update()).run(
        "b 1s 1
         a 9s 2
         b 0s 4
         end"
    ));
}

#[test]
fn rule_16_it_has_to_be_said_when_results_are_wanted() {
    let reasons = |lateness: u64, emit: Option<Emit>| {
        let mut setup = setup(Global::new(), 3, lateness);
        setup.emit = emit;
        let error = Pipeline::try_new(setup.sums()).err();
        error.map(|error| error.refusals().iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap_or_default()
    };
    let silent = "`global`: `global` fires only at the end of the input: say when results are wanted, as in \
                  `global(emit = every(1m))`";
    let never_late = "`global`: nothing is ever late for `global`: leave `lateness` out";
    assert_eq!(reasons(0, None), [silent]);
    assert_eq!(reasons(5, None), [silent, never_late]);
    assert_eq!(reasons(0, Some(Emit::on_update())), [] as [&str; 0]);
    // A dedup has to be told how long copies matter.
    let error = Pipeline::try_new(setup(Global::new(), 0, 0).emit(Emit::on_update()).ttl(None).sums()).unwrap_err();
    assert_snapshot!(error, @"the pipeline is refused: `dedup`: a window behind it may stay open for ever, so no ttl follows from it: state one, as in `dedup(id, ttl = 1h)`");
}

#[test]
fn a_clone_of_windows_counts_and_sends_no_late_events() {
    let build = |source: Stream<Click>| {
        let source = source.watermark(Bounded::new(secs(0))).into_streams();
        let (windows, late) = source.key_by(|click| &click.user).window(Sliding::new(secs(10), secs(5))).with_late();
        let counts = windows.clone().count().into_streams();
        (windows.sum(|click| click.value).into_streams(), counts, late)
    };
    let mut pipeline = Pipeline::new(build);
    let mut late_events = 0;
    for ts in [2, 11, 8, 4, 3] {
        let click = Click { id: 0, user: "a".to_owned(), ts: ts * 1_000_000, value: 7 };
        let (sums, counts, late) = pipeline.push(click).unwrap();
        let (sums, counts): (Vec<_>, Vec<_>) = (sums.collect(), counts.collect());
        let windows = |window: &Window| (window.start, window.end);
        assert_eq!(
            sums.iter().map(|pane| (windows(&pane.window), pane.value)).collect::<Vec<_>>(),
            counts.iter().map(|pane| (windows(&pane.window), 7 * pane.value as i64)).collect::<Vec<_>>()
        );
        late_events += late.count();
    }
    assert_eq!(late_events, 2);
    let counters = pipeline.counters();
    assert_eq!((counters.late(), counters.partly_late()), (2, 1));
}

#[test]
fn memory_is_given_back_when_windows_and_ids_expire() {
    let mut pipeline = Pipeline::new(setup(Tumbling::new(secs(10)), 0, 5).ttl(None).sums());
    let mut most = (0, 0);
    for id in 0..5_000 {
        let click = Click { id, user: format!("u{id}"), ts: id as i64 * 100_000, value: 1 };
        let _ = pipeline.push(click).unwrap();
        let counters = pipeline.counters();
        most = (most.0.max(counters.open_windows()), most.1.max(counters.ids()));
    }
    // At ten events a second: windows of 10s are kept for 5s more, and so are ids, each for itself.
    assert_eq!(most, (150, 150));
    let _ = pipeline.advance_to(Timestamp::from_secs(10_000)).unwrap();
    assert_eq!((pipeline.counters().open_windows(), pipeline.counters().ids()), (0, 0));
}

#[test]
fn a_pipeline_is_send() {
    fn send<T: Send>(_: &T) {}
    send(&Pipeline::new(setup(Session::new(secs(10)), 3, 5).sums()));
}
