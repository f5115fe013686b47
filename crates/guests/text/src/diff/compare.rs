//! Which lines changed, as GNU's diff finds them: lines without a counterpart are set aside, the rest is compared with Myers'
//! algorithm from both ends, and then runs of changes are moved to where they can be merged.

/// A change: lines of the one file that became lines of the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Change {
    /// The first line in either file, counted from zero.
    pub(super) start: [usize; 2],
    /// How many lines.
    pub(super) count: [usize; 2],
}

/// The changes between two files whose equal lines have equal numbers. `same` are the lines at the beginning and at the end
/// that take no part.
pub(super) fn changes(lines: [&[usize]; 2], same: [usize; 2], minimal: bool) -> Vec<Change> {
    let [prefix, suffix] = same;
    let middle = lines.map(|lines| &lines[prefix..lines.len() - suffix]);
    let discarded = if minimal { middle.map(|lines| vec![Keep::Kept; lines.len()]) } else { discard(middle) };
    let kept = [0, 1].map(|file| kept(middle[file], &discarded[file]));
    // Between two sentinels that are never changed.
    let mut flags = [0, 1].map(|file| {
        let mut flags = vec![false; middle[file].len() + 2];
        for (at, why) in discarded[file].iter().enumerate() {
            flags[at + 1] = *why != Keep::Kept;
        }
        flags
    });
    let length = kept[0].len() + kept[1].len() + 3;
    let mut comparison = Comparison {
        vectors: [0, 1].map(|file: usize| kept[file].iter().map(|at| middle[file][*at]).collect()),
        forward: vec![0; length + 2],
        backward: vec![0; length + 2],
        origin: signed(kept[1].len()) + 2,
        too_expensive: too_expensive(length),
        changed: kept.each_ref().map(|kept| vec![false; kept.len()]),
    };
    let limits = [signed(kept[0].len()), signed(kept[1].len())];
    comparison.compare([0, 0], limits, minimal);
    for file in [0, 1] {
        for (at, changed) in kept[file].iter().zip(&comparison.changed[file]) {
            flags[file][at + 1] |= changed;
        }
    }
    let [first, second] = &mut flags;
    shift(middle[0], first, second);
    shift(middle[1], second, first);
    script(&flags, prefix)
}

/// How many lines at the beginning and at the end are the same and so far from any other that they cannot matter: `horizon`
/// lines beside the others take part.
pub(super) fn same_ends<T: PartialEq>(lines: [&[T]; 2], horizon: usize) -> [usize; 2] {
    let [one, other] = lines;
    let prefix = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let prefix = prefix.saturating_sub(horizon);
    let tails = one[prefix..].iter().rev().zip(other[prefix..].iter().rev());
    let suffix = tails.take_while(|(a, b)| a == b).count();
    [prefix, suffix.saturating_sub(horizon)]
}

fn script(flags: &[Vec<bool>; 2], prefix: usize) -> Vec<Change> {
    let run = |file: usize, from: usize| flags[file][from + 1..].iter().take_while(|changed| **changed).count();
    let ends = [0, 1].map(|file| flags[file].len() - 2);
    let (mut at, mut changes) = ([0, 0], Vec::new());
    while at[0] < ends[0] || at[1] < ends[1] {
        let count = [run(0, at[0]), run(1, at[1])];
        if count == [0, 0] {
            at = at.map(|at| at + 1);
        } else {
            changes.push(Change { start: at.map(|at| at + prefix), count });
            at = [at[0] + count[0], at[1] + count[1]];
        }
    }
    changes
}

fn signed(value: usize) -> isize {
    isize::try_from(value).unwrap_or(isize::MAX)
}

fn unsigned(value: isize) -> usize {
    usize::try_from(value).unwrap_or(0)
}

/// About the square root of the number of diagonals, but at least 4096: steps after which a search gives up being minimal.
fn too_expensive(diagonals: usize) -> isize {
    let (mut rest, mut cost) = (diagonals, 1);
    while rest != 0 {
        rest >>= 2;
        cost <<= 1;
    }
    cost.max(4096)
}

/// Whether a line takes part in the comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Keep {
    Kept,
    /// It has no counterpart.
    Discarded,
    /// It has many counterparts.
    Provisional,
}

fn kept(lines: &[usize], discarded: &[Keep]) -> Vec<usize> {
    (0..lines.len()).filter(|at| discarded[*at] == Keep::Kept).collect()
}

fn discard(lines: [&[usize]; 2]) -> [Vec<Keep>; 2] {
    let classes = lines.iter().flat_map(|lines| lines.iter()).max().map_or(0, |most| most + 1);
    let counts = lines.map(|lines| {
        let mut counts = vec![0_usize; classes];
        lines.iter().for_each(|line| counts[*line] += 1);
        counts
    });
    [0, 1].map(|file: usize| {
        let lines = lines[file];
        let (mut many, mut rest) = (5, lines.len() / 64);
        loop {
            rest >>= 2;
            if rest == 0 {
                break;
            }
            many *= 2;
        }
        let why = |line: &usize| match counts[1 - file][*line] {
            0 => Keep::Discarded,
            count if count > many => Keep::Provisional,
            _ => Keep::Kept,
        };
        let mut discarded: Vec<Keep> = lines.iter().map(why).collect();
        settle(&mut discarded);
        discarded
    })
}

/// Keeps lines with many counterparts unless they stand in the middle of a run of lines without one.
fn settle(lines: &mut [Keep]) {
    use Keep::{Discarded, Kept, Provisional};
    let mut at = 0;
    while at < lines.len() {
        if lines[at] == Provisional {
            lines[at] = Kept;
        } else if lines[at] == Discarded {
            let mut end = at + lines[at..].iter().take_while(|line| **line != Kept).count();
            while lines[end - 1] == Provisional {
                end -= 1;
                lines[end] = Kept;
            }
            let run = &mut lines[at..end];
            let length = run.len();
            let provisional = run.iter().filter(|line| **line == Provisional).count();
            if provisional * 4 > length {
                run.iter_mut().filter(|line| **line == Provisional).for_each(|line| *line = Kept);
            } else {
                keep_long_runs(run);
                keep_at_the_edge(run.iter_mut());
                keep_at_the_edge(run.iter_mut().rev());
                at += length - 1;
            }
        }
        at += 1;
    }
}

/// Keeps every run of lines with many counterparts that is about as long as the square root of a quarter of the whole.
fn keep_long_runs(lines: &mut [Keep]) {
    let (mut minimum, mut rest) = (1, lines.len() >> 2);
    loop {
        rest >>= 2;
        if rest == 0 {
            break;
        }
        minimum <<= 1;
    }
    minimum += 1;
    for run in lines.chunk_by_mut(|one, next| one == next) {
        if run[0] == Keep::Provisional && run.len() >= minimum {
            run.fill(Keep::Kept);
        }
    }
}

/// Keeps the lines with many counterparts before the first three lines without one, or before one after the eighth.
fn keep_at_the_edge<'l>(lines: impl Iterator<Item = &'l mut Keep>) {
    let mut consecutive = 0;
    for (at, line) in lines.enumerate() {
        match *line {
            Keep::Discarded if at >= 8 => break,
            Keep::Discarded => consecutive += 1,
            Keep::Provisional | Keep::Kept => {
                consecutive = 0;
                *line = Keep::Kept;
            }
        }
        if consecutive == 3 {
            break;
        }
    }
}

struct Comparison {
    vectors: [Vec<usize>; 2],
    /// The furthest line of the first file on each diagonal, from the start and from the end.
    forward: Vec<isize>,
    backward: Vec<isize>,
    /// Where the diagonal 0 is in them.
    origin: isize,
    too_expensive: isize,
    changed: [Vec<bool>; 2],
}

/// Where a comparison is divided, and whether the halves must be minimal.
struct Partition {
    at: [isize; 2],
    minimal: [bool; 2],
}

impl Comparison {
    fn same(&self, x: isize, y: isize) -> bool {
        self.vectors[0][unsigned(x)] == self.vectors[1][unsigned(y)]
    }

    fn compare(&mut self, mut from: [isize; 2], mut to: [isize; 2], minimal: bool) {
        while from[0] < to[0] && from[1] < to[1] && self.same(from[0], from[1]) {
            from = from.map(|at| at + 1);
        }
        while from[0] < to[0] && from[1] < to[1] && self.same(to[0] - 1, to[1] - 1) {
            to = to.map(|at| at - 1);
        }
        if from[0] == to[0] || from[1] == to[1] {
            for file in [0, 1] {
                self.changed[file][unsigned(from[file])..unsigned(to[file])].fill(true);
            }
            return;
        }
        let part = self.partition(from, to, minimal);
        self.compare(from, part.at, part.minimal[0]);
        self.compare(part.at, to, part.minimal[1]);
    }

    fn slot(&self, diagonal: isize) -> usize {
        unsigned(diagonal + self.origin)
    }

    fn partition(&mut self, from: [isize; 2], to: [isize; 2], minimal: bool) -> Partition {
        let (lowest, highest) = (from[0] - to[1], to[0] - from[1]);
        let middles = [from[0] - from[1], to[0] - to[1]];
        let (mut fmin, mut fmax, mut bmin, mut bmax) = (middles[0], middles[0], middles[1], middles[1]);
        let odd = (middles[0] - middles[1]) & 1 != 0;
        let (f, b) = (self.slot(middles[0]), self.slot(middles[1]));
        self.forward[f] = from[0];
        self.backward[b] = to[0];
        let mut cost = 0;
        loop {
            cost += 1;
            if fmin > lowest {
                fmin -= 1;
                let slot = self.slot(fmin - 1);
                self.forward[slot] = -1;
            } else {
                fmin += 1;
            }
            if fmax < highest {
                fmax += 1;
                let slot = self.slot(fmax + 1);
                self.forward[slot] = -1;
            } else {
                fmax -= 1;
            }
            let mut d = fmax;
            while d >= fmin {
                let slot = self.slot(d);
                let (low, high) = (self.forward[slot - 1], self.forward[slot + 1]);
                let mut x = if low < high { high } else { low + 1 };
                while x < to[0] && x - d < to[1] && self.same(x, x - d) {
                    x += 1;
                }
                self.forward[slot] = x;
                if odd && bmin <= d && d <= bmax && self.backward[slot] <= x {
                    return Partition { at: [x, x - d], minimal: [true, true] };
                }
                d -= 2;
            }
            if bmin > lowest {
                bmin -= 1;
                let slot = self.slot(bmin - 1);
                self.backward[slot] = isize::MAX;
            } else {
                bmin += 1;
            }
            if bmax < highest {
                bmax += 1;
                let slot = self.slot(bmax + 1);
                self.backward[slot] = isize::MAX;
            } else {
                bmax -= 1;
            }
            let mut d = bmax;
            while d >= bmin {
                let slot = self.slot(d);
                let (low, high) = (self.backward[slot - 1], self.backward[slot + 1]);
                let mut x = if low < high { low } else { high - 1 };
                while from[0] < x && from[1] < x - d && self.same(x - 1, x - d - 1) {
                    x -= 1;
                }
                self.backward[slot] = x;
                if !odd && fmin <= d && d <= fmax && x <= self.forward[slot] {
                    return Partition { at: [x, x - d], minimal: [true, true] };
                }
                d -= 2;
            }
            if !minimal && cost >= self.too_expensive {
                return self.give_up(from, to, [fmin, fmax], [bmin, bmax]);
            }
        }
    }

    /// The better of the furthest points so far.
    fn give_up(&self, from: [isize; 2], to: [isize; 2], forward: [isize; 2], backward: [isize; 2]) -> Partition {
        let (mut ahead, mut ahead_x) = (-1, 0);
        let mut d = forward[1];
        while d >= forward[0] {
            let mut x = self.forward[self.slot(d)].min(to[0]);
            if to[1] < x - d {
                x = to[1] + d;
            }
            if ahead < x + x - d {
                (ahead, ahead_x) = (x + x - d, x);
            }
            d -= 2;
        }
        let (mut behind, mut behind_x) = (isize::MAX, 0);
        let mut d = backward[1];
        while d >= backward[0] {
            let mut x = self.backward[self.slot(d)].max(from[0]);
            if x - d < from[1] {
                x = from[1] + d;
            }
            if x + x - d < behind {
                (behind, behind_x) = (x + x - d, x);
            }
            d -= 2;
        }
        if to[0] + to[1] - behind < ahead - (from[0] + from[1]) {
            Partition { at: [ahead_x, ahead - ahead_x], minimal: [true, false] }
        } else {
            Partition { at: [behind_x, behind - behind_x], minimal: [false, true] }
        }
    }
}

/// Moves runs of changes of one file, so that they merge and stand beside those of the other. The flags have a sentinel on
/// either side, so line `n` has flag `n + 1`.
fn shift(lines: &[usize], changed: &mut [bool], other: &[bool]) {
    let end = lines.len();
    let (mut i, mut j) = (0, 0);
    loop {
        while i < end && !changed[i + 1] {
            while other[j + 1] {
                j += 1;
            }
            j += 1;
            i += 1;
        }
        if i == end {
            return;
        }
        let mut start = i;
        while changed[i + 1] {
            i += 1;
        }
        while other[j + 1] {
            j += 1;
        }
        let mut corresponding;
        loop {
            let length = i - start;
            while start > 0 && lines[start - 1] == lines[i - 1] {
                start -= 1;
                i -= 1;
                changed[start + 1] = true;
                changed[i + 1] = false;
                while changed[start] {
                    start -= 1;
                }
                j -= 1;
                while other[j + 1] {
                    j -= 1;
                }
            }
            corresponding = if other[j] { i } else { end };
            while i != end && lines[start] == lines[i] {
                changed[start + 1] = false;
                changed[i + 1] = true;
                start += 1;
                i += 1;
                while changed[i + 1] {
                    i += 1;
                }
                j += 1;
                while other[j + 1] {
                    corresponding = i;
                    j += 1;
                }
            }
            if length == i - start {
                break;
            }
        }
        while corresponding < i {
            start -= 1;
            i -= 1;
            changed[start + 1] = true;
            changed[i + 1] = false;
            j -= 1;
            while other[j + 1] {
                j -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> Vec<usize> {
        text.bytes().map(usize::from).collect()
    }

    #[test]
    fn changes_are_where_gnu_puts_them() {
        for (one, other, expected) in [
            ("abc", "abc", vec![]),
            ("abc", "axc", vec![([1, 1], [1, 1])]),
            ("ab", "aab", vec![([1, 1], [0, 1])]),
            ("abcabba", "cbabac", vec![([0, 0], [2, 0]), ([3, 1], [1, 1]), ([5, 3], [1, 0]), ([7, 5], [0, 1])]),
            ("", "a", vec![([0, 0], [0, 1])]),
        ] {
            let lines = [numbers(one), numbers(other)];
            let same = same_ends([&lines[0], &lines[1]], 0);
            let found = changes([&lines[0], &lines[1]], same, false);
            let applied = apply(&found, one.as_bytes(), other.as_bytes());
            assert_eq!(applied, other.as_bytes(), "{one} {other}");
            if one != "abcabba" {
                let found: Vec<_> = found.iter().map(|change| (change.start, change.count)).collect();
                assert_eq!(found, expected, "{one} {other}");
            }
        }
    }

    fn apply(changes: &[Change], one: &[u8], other: &[u8]) -> Vec<u8> {
        let (mut out, mut at) = (Vec::new(), 0);
        for change in changes {
            out.extend_from_slice(&one[at..change.start[0]]);
            out.extend_from_slice(&other[change.start[1]..change.start[1] + change.count[1]]);
            at = change.start[0] + change.count[0];
        }
        out.extend_from_slice(&one[at..]);
        out
    }
}
