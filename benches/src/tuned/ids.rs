//! Ids in a ring log in arrival order, expired from its head, found by an index whose buckets are one cache line: seven tags
//! and positions, and a count of the ids that found it full and went on.

use std::collections::VecDeque;
use std::hash::BuildHasher;

const WAYS: usize = 7;

#[derive(Clone, Default)]
#[repr(align(64))]
struct Bucket {
    /// Zero where there is nothing.
    tags: [u32; WAYS],
    passed: u32,
    positions: [u32; WAYS],
}

#[derive(Default)]
pub struct Ids {
    seed: foldhash::fast::RandomState,
    /// Id and the watermark that forgets it.
    log: VecDeque<(u64, i64)>,
    /// The position of the head, modulo 2^32.
    head: u32,
    buckets: Vec<Bucket>,
}

impl Ids {
    fn place(&self, id: u64) -> (usize, u32) {
        let hash = self.seed.hash_one(id);
        (hash as usize & (self.buckets.len() - 1), (hash >> 32) as u32 | 1)
    }

    /// Reads the lines that the ids of a batch, and the oldest in the log, will need.
    pub fn touch(&self, ids: impl Iterator<Item = u64>) {
        if self.buckets.is_empty() {
            return;
        }
        let mut read = 0;
        for (id, (oldest, _)) in
            ids.zip(self.log.iter().map(Some).chain(std::iter::repeat(None)).map(|id| *id.unwrap_or(&(0, 0))))
        {
            read |= self.buckets[self.place(id).0].passed | self.buckets[self.place(oldest).0].passed;
        }
        std::hint::black_box(read);
    }

    /// Whether the id is new; remembers it.
    pub fn insert(&mut self, id: u64, watermark: i64, forget_at: i64) -> bool {
        while self.log.front().is_some_and(|(_, forget_at)| *forget_at <= watermark) {
            if let Some((id, _)) = self.log.pop_front() {
                self.remove(id, self.head);
                self.head = self.head.wrapping_add(1);
            }
        }
        if self.log.len() * 3 >= self.buckets.len() * WAYS * 2 {
            self.grow();
        }
        let (mut at, tag) = self.place(id);
        let mut forgotten = None;
        loop {
            let bucket = &self.buckets[at];
            for way in 0..WAYS {
                if bucket.tags[way] == tag {
                    let position = bucket.positions[way];
                    let (other, forget_at) = self.log[position.wrapping_sub(self.head) as usize];
                    if other == id {
                        if watermark < forget_at {
                            return false;
                        }
                        forgotten = Some(position);
                    }
                }
            }
            if bucket.passed == 0 {
                break;
            }
            at = (at + 1) & (self.buckets.len() - 1);
        }
        // Behind a head that is remembered for longer: its log entry stays, its index entry goes.
        if let Some(position) = forgotten {
            self.remove(id, position);
        }
        let position = self.head.wrapping_add(self.log.len() as u32);
        self.log.push_back((id, forget_at));
        self.index(id, position);
        true
    }

    fn index(&mut self, id: u64, position: u32) {
        let (mut at, tag) = self.place(id);
        loop {
            let last = self.buckets.len() - 1;
            let bucket = &mut self.buckets[at];
            if let Some(way) = bucket.tags.iter().position(|tag| *tag == 0) {
                bucket.tags[way] = tag;
                bucket.positions[way] = position;
                return;
            }
            bucket.passed += 1;
            at = (at + 1) & last;
        }
    }

    fn find(&self, id: u64, position: u32) -> Option<(usize, usize)> {
        let (mut at, tag) = self.place(id);
        loop {
            let bucket = &self.buckets[at];
            if let Some(way) = (0..WAYS).find(|way| bucket.tags[*way] == tag && bucket.positions[*way] == position) {
                return Some((at, way));
            }
            if bucket.passed == 0 {
                return None;
            }
            at = (at + 1) & (self.buckets.len() - 1);
        }
    }

    fn remove(&mut self, id: u64, position: u32) {
        if let Some((found, way)) = self.find(id, position) {
            self.buckets[found].tags[way] = 0;
            let (mut at, _) = self.place(id);
            while at != found {
                self.buckets[at].passed -= 1;
                at = (at + 1) & (self.buckets.len() - 1);
            }
        }
    }

    fn grow(&mut self) {
        let old = std::mem::take(&mut self.buckets);
        self.buckets = vec![Bucket::default(); (old.len() * 2).max(16)];
        for bucket in old {
            for way in (0..WAYS).filter(|way| bucket.tags[*way] != 0) {
                let position = bucket.positions[way];
                self.index(self.log[position.wrapping_sub(self.head) as usize].0, position);
            }
        }
    }
}
