//! A small generator of random numbers.
//!
//! Not a dependency, because its sequence is part of what a seed names: an update of a
//! crate must not change the tables.

/// xoshiro256** of Blackman and Vigna (public domain), seeded by splitmix64.
#[derive(Clone, Debug)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// A generator that gives the same sequence for the same seed.
    #[must_use]
    pub fn new(seed: u64) -> Random {
        let mut word = seed;
        let state = [(); 4].map(|()| {
            word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = word;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        });
        Random { state }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let result = b.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// A number of `0..end`; the bias of the reduction is below one in 2**32.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(end)) >> 64) as u64
    }

    /// A number of `start..=end`.
    pub fn between(&mut self, start: u64, end: u64) -> u64 {
        start + self.below(end - start + 1)
    }

    /// True with that many chances in a thousand.
    pub fn chance(&mut self, per_mille: u64) -> bool {
        self.below(1000) < per_mille
    }

    /// One of some things, each as likely.
    ///
    /// # Panics
    /// If there is none.
    pub fn pick<'a, T: ?Sized>(&mut self, things: &[&'a T]) -> &'a T {
        things[self.below(things.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_seed_names_a_sequence() {
        let mut first = Random::new(7);
        let mut second = Random::new(7);
        let mut other = Random::new(8);
        let numbers: Vec<u64> = (0..100).map(|_| first.bits()).collect();
        assert_eq!(numbers, (0..100).map(|_| second.bits()).collect::<Vec<_>>());
        assert_ne!(numbers, (0..100).map(|_| other.bits()).collect::<Vec<_>>());
    }

    #[test]
    fn ranges_are_kept() {
        let mut random = Random::new(1);
        let mut seen = [false; 5];
        for _ in 0..1000 {
            seen[random.below(5) as usize] = true;
            assert!((3..=4).contains(&random.between(3, 4)));
        }
        assert_eq!(seen, [true; 5]);
    }
}
