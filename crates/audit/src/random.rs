//! Numbers that look like chance and are the same in every run, so that a case that failed fails again.

/// A generator of them (xorshift).
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The numbers of one case.
    pub(crate) fn new(seed: u64) -> Self {
        // Any state but zero is one.
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below a bound, which is above zero.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // Both are far below what a `u64` holds, and the remainder is below the bound.
        usize::try_from(self.0 % (bound.max(1) as u64)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_the_same_again_and_below_their_bound_and_reach_all_of_it() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            (0..200).map(|_| random.below(7)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
        assert!((0..7).all(|wanted| numbers(1).contains(&wanted)) && numbers(1).iter().all(|number| *number < 7));
    }
}
