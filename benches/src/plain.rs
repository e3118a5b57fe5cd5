//! The jobs as one writes them with the standard library, for events that are never late: a map a window, fired in order
//! when the watermark reaches its end.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::Digest;
use crate::workload::Click;

const DELAY: i64 = 3_000;
const TTL: i64 = 600_000;

/// Fires the windows that end here or before.
fn fire(windows: &mut BTreeMap<i64, HashMap<u64, i64>>, size: i64, watermark: i64, digest: &mut Digest) {
    while let Some(first) = windows.first_entry()
        && *first.key() <= watermark
    {
        let (end, sums) = first.remove_entry();
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_unstable();
        for (user, sum) in sums {
            digest.add(end - size, end, user, sum);
        }
    }
}

/// Jobs A and B.
pub fn tumbling(clicks: &[Click], dedup: bool) -> Digest {
    const SIZE: i64 = 10_000;
    let mut digest = Digest::default();
    let mut windows: BTreeMap<i64, HashMap<u64, i64>> = BTreeMap::new();
    let mut ids: HashMap<u64, i64> = HashMap::new();
    let (mut watermark, mut swept) = (i64::MIN, i64::MIN);
    for click in clicks {
        if dedup {
            if ids.get(&click.id).is_some_and(|forget_at| watermark < *forget_at) {
                continue;
            }
            ids.insert(click.id, click.ts + TTL);
            if watermark >= swept.saturating_add(TTL / 10) {
                swept = watermark;
                ids.retain(|_, forget_at| watermark < *forget_at);
            }
        }
        let end = click.ts.div_euclid(SIZE) * SIZE + SIZE;
        *windows.entry(end).or_default().entry(click.user).or_default() += click.value;
        if click.ts - DELAY > watermark {
            watermark = click.ts - DELAY;
            fire(&mut windows, SIZE, watermark, &mut digest);
        }
    }
    fire(&mut windows, SIZE, i64::MAX, &mut digest);
    digest
}

/// Job C.
pub fn sliding(clicks: &[Click]) -> Digest {
    const SIZE: i64 = 60_000;
    const EVERY: i64 = 5_000;
    let mut digest = Digest::default();
    let mut windows: BTreeMap<i64, HashMap<u64, i64>> = BTreeMap::new();
    let mut watermark = i64::MIN;
    for click in clicks {
        let mut start = click.ts.div_euclid(EVERY) * EVERY;
        while start + SIZE > click.ts {
            *windows.entry(start + SIZE).or_default().entry(click.user).or_default() += click.value;
            start -= EVERY;
        }
        if click.ts - DELAY > watermark {
            watermark = click.ts - DELAY;
            fire(&mut windows, SIZE, watermark, &mut digest);
        }
    }
    fire(&mut windows, SIZE, i64::MAX, &mut digest);
    digest
}

/// Job D.
pub fn sessions(clicks: &[Click]) -> Digest {
    const GAP: i64 = 30_000;
    let mut digest = Digest::default();
    // Of each user the open sessions: start, end, sum.
    let mut sessions: HashMap<u64, Vec<(i64, i64, i64)>> = HashMap::new();
    let mut due: BTreeSet<(i64, i64, u64)> = BTreeSet::new();
    let mut watermark = i64::MIN;
    let fire = |sessions: &mut HashMap<u64, Vec<(i64, i64, i64)>>,
                due: &mut BTreeSet<(i64, i64, u64)>,
                watermark: i64,
                digest: &mut Digest| {
        while let Some(&(end, start, user)) = due.first()
            && end <= watermark
        {
            due.pop_first();
            if let Some(open) = sessions.get_mut(&user)
                && let Some(position) = open.iter().position(|session| session.0 == start && session.1 == end)
            {
                let (_, _, sum) = open.swap_remove(position);
                if open.is_empty() {
                    sessions.remove(&user);
                }
                digest.add(start, end, user, sum);
            }
        }
    };
    for click in clicks {
        let (mut start, mut end, mut sum) = (click.ts, click.ts + GAP, click.value);
        let open = sessions.entry(click.user).or_default();
        open.retain(|&(other_start, other_end, other_sum)| {
            let overlaps = other_start < end && start < other_end;
            if overlaps {
                due.remove(&(other_end, other_start, click.user));
                start = start.min(other_start);
                end = end.max(other_end);
                sum += other_sum;
            }
            !overlaps
        });
        open.push((start, end, sum));
        due.insert((end, start, click.user));
        if click.ts - DELAY > watermark {
            watermark = click.ts - DELAY;
            fire(&mut sessions, &mut due, watermark, &mut digest);
        }
    }
    fire(&mut sessions, &mut due, i64::MAX, &mut digest);
    digest
}
