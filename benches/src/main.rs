//! Four jobs, each as a pipeline and as loops written by hand, run in turns on the same events. See the README beside.

mod pipelines;
mod plain;
mod results;
mod timely_host;
mod tuned;
mod workload;

use std::time::Duration;

use cpu_time::ThreadTime;
use ministream::prelude::*;
use peak_alloc::PeakAlloc;

use crate::pipelines::Panes;
use crate::plain::Plain;
use crate::results::Digest;
use crate::timely_host::Host;
use crate::tuned::Tuned;
use crate::workload::{Click, Skew, User, Workload};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

struct Contender {
    name: &'static str,
    run: Box<dyn Fn() -> Digest>,
    nanos: Vec<f64>,
    peak: usize,
}

fn plain<U: User>(clicks: &[Click<U>], mut job: impl Plain<U>) -> Digest {
    let mut digest = Digest::default();
    clicks.iter().for_each(|click| job.push(click, &mut digest));
    job.finish(&mut digest);
    digest
}

fn tuned<U: User>(clicks: &[Click<U>], mut job: impl Tuned<U>) -> Digest {
    let mut digest = Digest::default();
    clicks.chunks(256).for_each(|chunk| job.push_batch(chunk, &mut digest));
    job.finish(&mut digest);
    digest
}

/// What is asked for on the command line: a job, a part of a contender's name, a variant.
struct Only {
    job: Option<String>,
    contender: Option<String>,
    variant: Option<String>,
    rounds: usize,
}

fn compare<U: User>(variant: &str, workload: Workload, batch: usize, only: &Only) {
    if only.variant.as_deref().unwrap_or("base") != variant && only.variant.as_deref() != Some("all") {
        return;
    }
    // They live as long as the program.
    let clicks: &'static [Click<U>] = Vec::leak(workload.clicks::<U>());
    let ms = workload.delay;
    let delay = Duration::from_millis(ms.unsigned_abs());
    for job in ["A", "B", "C", "D"] {
        if only.job.as_ref().is_some_and(|only| only != job) {
            continue;
        }
        let pipeline = move |source: Stream<Click<U>>| -> Panes<U> {
            match job {
                "A" => pipelines::a(source, delay),
                "B" => pipelines::b(source, delay),
                "C" => pipelines::c(source, delay),
                _ => pipelines::d(source, delay),
            }
        };
        let (size, every) = if job == "C" { (60_000, 5_000) } else { (10_000, 10_000) };
        let dedup = job == "A";
        let mut contenders: Vec<Contender> = Vec::new();
        let mut add = |name: &'static str, run: Box<dyn Fn() -> Digest>| {
            if only.contender.as_ref().is_none_or(|only| name == only || name.starts_with(&format!("{only}-"))) {
                contenders.push(Contender { name, run, nanos: Vec::new(), peak: 0 });
            }
        };
        if job == "D" {
            add("tuned", Box::new(move || tuned(clicks, tuned::Sessions::new(30_000, ms))));
        } else {
            add("tuned", Box::new(move || tuned(clicks, tuned::Windows::new(dedup, size, every, ms))));
        }
        // The plain loops know nothing of late events.
        if workload.straggle == 0 {
            let host = move || -> Box<dyn Host<U>> {
                if job == "D" {
                    Box::new(plain::Sessions::new(30_000, ms))
                } else {
                    Box::new(plain::Windows::new(dedup, size, every, ms))
                }
            };
            if job == "D" {
                add("plain", Box::new(move || plain(clicks, plain::Sessions::new(30_000, ms))));
            } else {
                add("plain", Box::new(move || plain(clicks, plain::Windows::new(dedup, size, every, ms))));
            }
            add("timely", Box::new(move || timely_host::run(clicks, host)));
        }
        add(
            "ministream-batches",
            Box::new(move || pipelines::run(pipeline, clicks, batch).expect("the pipeline runs")),
        );
        add("ministream-one-by-one", Box::new(move || pipelines::run(pipeline, clicks, 1).expect("the pipeline runs")));
        rounds(variant, job, clicks.len(), &mut contenders, only.rounds);
    }
}

fn rounds(variant: &str, job: &str, events: usize, contenders: &mut [Contender], rounds: usize) {
    let mut digest = None;
    for _ in 0..rounds {
        for contender in contenders.iter_mut() {
            let before = MEMORY.current_usage();
            MEMORY.reset_peak_usage();
            let start = ThreadTime::now();
            let found = (contender.run)();
            contender.nanos.push(start.elapsed().as_nanos() as f64 / events as f64);
            contender.peak = contender.peak.max(MEMORY.peak_usage().saturating_sub(before));
            let expected = *digest.get_or_insert(found);
            assert_eq!(found, expected, "{variant} {job}: {} gives other results", contender.name);
        }
    }
    // What is late for a session that has ended is not for one that goes on.
    if let Some(digest) = digest.filter(|_| job != "D") {
        assert!(variant != "corrected" || digest.has_updates(), "{job}: nothing was corrected");
        assert!(variant != "late" || digest.has_late(), "{job}: nothing was late");
    }
    let median = |contender: &mut Contender| {
        contender.nanos.sort_by(f64::total_cmp);
        contender.nanos[rounds / 2]
    };
    let nanos: Vec<_> =
        contenders.iter_mut().map(|contender| (contender.name, median(contender), contender.peak)).collect();
    let ratio = |to: &str, of: f64| {
        nanos.iter().find(|(name, ..)| *name == to).map_or("-".to_owned(), |(_, nanos, _)| format!("{:.2}", of / nanos))
    };
    for (name, ns, peak) in &nanos {
        let (to_tuned, to_plain) = (ratio("tuned", *ns), ratio("plain", *ns));
        println!("| {variant:<10} | {job:<3} | {name:<21} | {ns:>7.1} | {to_tuned:>8} | {to_plain:>8} | {peak:>10} |");
    }
}

fn main() {
    // `cargo bench` says so.
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let events: usize = args.next().map_or(1_000_000, |events| events.parse().expect("a number of events"));
    let mut word = || args.next().filter(|word| word != "-");
    let (job, contender, variant) = (word(), word(), word());
    let rounds = word().map_or(5, |rounds| rounds.parse().expect("a number of rounds"));
    assert!(rounds > 0, "at least one round");
    let only = Only { job, contender, variant, rounds };
    println!("{events} events without copies, median of {rounds} rounds\n");
    println!("| variant    | job | contender             | CPU ns  | to tuned | to plain | peak bytes |");
    println!("| ---------- | --- | --------------------- | ------: | -------: | -------: | ---------: |");
    let base = Workload::new(events);
    compare::<u64>("base", base, 256, &only);
    compare::<String>("strings", base, 256, &only);
    compare::<u64>("million", Workload { users: 1_000_000, ..base }, 256, &only);
    compare::<u64>("zipf", Workload { skew: Skew::Zipf, ..base }, 256, &only);
    compare::<u64>("corrected", Workload { straggle: 4_000, ..base }, 256, &only);
    compare::<u64>("late", Workload { straggle: 100_000, ..base }, 256, &only);
    compare::<u64>("one-batch", base, 1_000_000, &only);
}
