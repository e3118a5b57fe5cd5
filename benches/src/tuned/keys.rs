//! Keys as dense numbers in order of first arrival, and their ranks in the order of `Ord`.

use hashbrown::HashMap;

use crate::workload::User;

pub struct Keys<U> {
    numbers: HashMap<U, u32, foldhash::fast::RandomState>,
    keys: Vec<U>,
    /// Numbers in the order of keys, of the keys that were there when it was last asked for.
    order: Vec<u32>,
    ranks: Vec<u32>,
    marks: Vec<u64>,
}

impl<U> Default for Keys<U> {
    fn default() -> Self {
        let (numbers, keys) = (HashMap::default(), Vec::new());
        Self { numbers, keys, order: Vec::new(), ranks: Vec::new(), marks: Vec::new() }
    }
}

impl<U: User> Keys<U> {
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn key(&self, number: u32) -> &U {
        &self.keys[number as usize]
    }

    pub fn number(&mut self, key: &U) -> u32 {
        if let Some(number) = self.numbers.get(key) {
            return *number;
        }
        let number = self.keys.len() as u32;
        self.keys.push(key.clone());
        self.numbers.insert(key.clone(), number);
        number
    }

    /// Visits the numbers in a set in the order of their keys: marks their ranks, then walks the marks.
    pub fn in_order(&mut self, numbers: &[u64], mut visit: impl FnMut(&U, u32)) {
        self.rank_new_keys();
        for number in ones(numbers) {
            let rank = self.ranks[number as usize];
            self.marks[rank as usize / 64] |= 1 << (rank % 64);
        }
        for rank in ones(&self.marks) {
            let number = self.order[rank as usize];
            visit(&self.keys[number as usize], number);
        }
        self.marks.fill(0);
    }

    fn rank_new_keys(&mut self) {
        let ranked = self.order.len();
        if ranked == self.keys.len() {
            return;
        }
        self.order.extend(ranked as u32..self.keys.len() as u32);
        // A merge sort, quick on what is sorted already.
        self.order.sort_by(|a, b| self.keys[*a as usize].cmp(&self.keys[*b as usize]));
        self.ranks.resize(self.keys.len(), 0);
        self.marks.resize(self.keys.len().div_ceil(64), 0);
        for (rank, number) in self.order.iter().enumerate() {
            self.ranks[*number as usize] = rank as u32;
        }
    }
}

/// The members of a set of bits, ascending.
pub fn ones(words: &[u64]) -> impl Iterator<Item = u32> + '_ {
    words.iter().enumerate().flat_map(|(at, word)| {
        let mut rest = *word;
        std::iter::from_fn(move || {
            (rest != 0).then(|| {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                at as u32 * 64 + bit
            })
        })
    })
}
