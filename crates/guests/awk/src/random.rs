//! Random numbers: the sequence that the C library's `random` gives for a seed, which is what mawk uses.

/// Numbers that the generator remembers.
const REMEMBERED: usize = 31;
/// How far back the second one lies that is added.
const APART: usize = 3;
/// Numbers that are thrown away after seeding.
const WARM_UP: usize = 310;

#[derive(Debug)]
pub(crate) struct Random {
    state: [u32; REMEMBERED],
    at: usize,
}

impl Random {
    pub(crate) fn seeded(seed: u32) -> Self {
        let mut state = [0; REMEMBERED];
        let mut word = i64::from(if seed == 0 { 1 } else { seed.cast_signed() });
        for place in &mut state {
            *place = u32::try_from(word.rem_euclid(1 << 32)).unwrap_or_default();
            // 16807 * word % (2^31 - 1), as the library computes it.
            let (high, low) = (word / 127_773, word % 127_773);
            word = 16_807 * low - 2_836 * high;
            if word < 0 {
                word += 2_147_483_647;
            }
        }
        let mut random = Self { state, at: 0 };
        for _ in 0..WARM_UP {
            random.next();
        }
        random
    }

    /// The next number, from 0 up to 2^31 - 1.
    fn next(&mut self) -> u32 {
        let front = (self.at + APART) % REMEMBERED;
        let sum = self.state[front].wrapping_add(self.state[self.at]);
        self.state[front] = sum;
        self.at = (self.at + 1) % REMEMBERED;
        sum >> 1
    }

    /// A number from 0 to 1.
    pub(crate) fn fraction(&mut self) -> f64 {
        f64::from(self.next()) / 2_147_483_647.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What glibc's `random` gives after `srandom`.
    #[test]
    fn numbers_are_those_of_the_c_library() {
        let mut random = Random::seeded(1);
        assert_eq!([random.next(), random.next(), random.next()], [1_804_289_383, 846_930_886, 1_681_692_777]);
        assert_eq!(Random::seeded(42).next(), 71_876_166);
    }
}
