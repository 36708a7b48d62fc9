//! Randomness that can be repeated.

/// Chance from a seed, the same on every machine.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn one_in(&mut self, cases: usize) -> bool {
        self.below(cases) == 0
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// The seeds a randomized rule runs with: the one in `MAILROOM_TEST_SEED`, or a few fixed ones.
pub fn seeds() -> Vec<u64> {
    match std::env::var("MAILROOM_TEST_SEED") {
        Ok(seed) => vec![seed.parse().expect("MAILROOM_TEST_SEED is a number")],
        Err(_) => vec![1, 20, 300],
    }
}
