//! Letters that most fonts show as a letter of ASCII, so that two names are taken for one.
//!
//! The letters are those of UTS #39 that are nearly the same in upright fonts; forms of compatibility (full width, mathematical) are
//! not among them, because NFKC makes plain letters of them before.

use std::fmt;

/// Letters of other scripts, by the letter or digit of ASCII that they look like.
const OTHER_SCRIPTS: &[(char, &str)] = &[
    // Cyrillic, Greek, Cherokee and Lisu capitals.
    ('A', "\u{410}\u{391}\u{13aa}\u{a4ee}"),
    ('B', "\u{412}\u{392}\u{13f4}\u{a4d0}"),
    ('C', "\u{421}\u{3f9}\u{13df}\u{2ca4}\u{a4da}"),
    ('D', "\u{13a0}\u{a4d3}"),
    ('E', "\u{415}\u{395}\u{13ac}\u{a4f0}"),
    ('F', "\u{3dc}\u{a4dd}"),
    ('G', "\u{50c}\u{13c0}\u{a4d6}"),
    ('H', "\u{41d}\u{397}\u{13bb}\u{2c8e}\u{a4e7}"),
    ('I', "\u{406}\u{4c0}\u{399}\u{2c92}\u{a4f2}"),
    ('J', "\u{408}\u{37f}\u{13ab}\u{a4d9}"),
    ('K', "\u{41a}\u{39a}\u{13e6}\u{2c94}\u{a4d7}"),
    ('L', "\u{13de}\u{a4e1}"),
    ('M', "\u{41c}\u{39c}\u{3fa}\u{13b7}\u{2c98}\u{a4df}"),
    ('N', "\u{39d}\u{2c9a}\u{a4e0}"),
    ('O', "\u{41e}\u{39f}\u{555}\u{2c9e}\u{a4f3}"),
    ('P', "\u{420}\u{3a1}\u{13e2}\u{2ca2}\u{a4d1}"),
    ('Q', "\u{51a}"),
    ('R', "\u{13a1}\u{13d2}\u{a4e3}"),
    ('S', "\u{405}\u{54f}\u{13da}\u{a4e2}"),
    ('T', "\u{422}\u{3a4}\u{13a2}\u{2ca6}\u{a4d4}"),
    ('U', "\u{54d}\u{a4f4}"),
    ('V', "\u{474}\u{13d9}\u{a4e6}"),
    ('W', "\u{51c}\u{13b3}\u{a4ea}"),
    ('X', "\u{425}\u{3a7}\u{2cac}\u{a4eb}"),
    ('Y', "\u{423}\u{4ae}\u{3a5}\u{2ca8}\u{a4ec}"),
    ('Z', "\u{396}\u{13c3}\u{a4dc}"),
    // Cyrillic, Greek, Armenian and Coptic small letters.
    ('a', "\u{430}\u{3b1}"),
    ('c', "\u{441}\u{3f2}\u{2ca5}"),
    ('d', "\u{501}"),
    ('e', "\u{435}\u{4bd}"),
    ('g', "\u{581}"),
    ('h', "\u{4bb}\u{570}"),
    ('i', "\u{456}\u{3b9}"),
    ('j', "\u{458}\u{3f3}"),
    ('k', "\u{43a}\u{3ba}"),
    ('l', "\u{4cf}"),
    ('n', "\u{578}\u{57c}"),
    ('o', "\u{43e}\u{3bf}\u{3c3}\u{585}\u{2c9f}"),
    ('p', "\u{440}\u{3c1}\u{2ca3}"),
    ('q', "\u{51b}\u{566}"),
    ('r', "\u{433}"),
    ('s', "\u{455}"),
    ('u', "\u{3c5}\u{57d}"),
    ('v', "\u{475}\u{3bd}"),
    ('w', "\u{51d}\u{461}"),
    ('x', "\u{445}\u{3c7}\u{2cad}"),
    ('y', "\u{443}\u{4af}\u{3b3}"),
    ('3', "\u{417}\u{4e0}"),
    ('6', "\u{431}"),
];

/// Letters of the Latin script itself: words of some languages have them beside ASCII.
const LATIN: &[(char, &str)] = &[
    ('a', "\u{251}"),
    ('b', "\u{185}"),
    ('c', "\u{1d04}"),
    ('g', "\u{261}"),
    ('i', "\u{131}\u{269}\u{26a}"),
    ('o', "\u{1d0f}"),
    ('s', "\u{1bd}\u{a731}"),
    ('u', "\u{28b}\u{1d1c}"),
    ('v', "\u{1d20}"),
    ('w', "\u{1d21}"),
    ('y', "\u{28f}"),
    ('z', "\u{1d22}"),
];

/// The letter or digit of ASCII that this letter looks like. Names are compared by these, each after NFKC and before case is taken
/// away, so that capitals are taken for what they look like.
#[must_use]
pub fn ascii_lookalike(c: char) -> Option<char> {
    if c.is_ascii() { None } else { find(OTHER_SCRIPTS, c).or_else(|| find(LATIN, c)) }
}

fn find(table: &[(char, &str)], c: char) -> Option<char> {
    table.iter().find(|(_, letters)| letters.contains(c)).map(|(ascii, _)| *ascii)
}

/// A letter of another script in the middle of a word of ASCII letters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lookalike {
    /// Which character of the text it is, from 1.
    pub place: usize,
    /// The letter.
    pub found: char,
    /// What it looks like.
    pub like: char,
}

impl fmt::Display for Lookalike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "U+{:04X} as character {}, which looks like `{}`", u32::from(self.found), self.place, self.like)
    }
}

/// The first letter that looks like one of ASCII and stands in one word with ASCII letters: nobody writes so who does not want to be
/// taken for something else. Words of one script are what they look like, and a name may have words of several.
#[must_use]
pub fn mixed_lookalike(text: &str) -> Option<Lookalike> {
    if text.is_ascii() {
        return None;
    }
    let mut before = 0;
    text.split(|c: char| !c.is_alphanumeric()).find_map(|word| {
        let start = before;
        before += word.chars().count() + 1;
        if !word.bytes().any(|byte| byte.is_ascii_alphabetic()) {
            return None;
        }
        let letter = word.chars().enumerate().find_map(|(at, c)| Some((at, c, find(OTHER_SCRIPTS, c)?)));
        letter.map(|(at, found, like)| Lookalike { place: start + at + 1, found, like })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_letter_looks_like_one_and_is_none_of_ascii() {
        let mut seen = BTreeSet::new();
        for (ascii, letters) in OTHER_SCRIPTS.iter().chain(LATIN) {
            assert!(ascii.is_ascii_alphanumeric());
            for letter in letters.chars() {
                assert!(letter.is_alphabetic() && seen.insert(letter), "{letter:?}");
                assert_eq!(ascii_lookalike(letter), Some(*ascii));
                // A small letter is taken for a small one.
                assert_eq!(letter.is_lowercase(), ascii.is_ascii_lowercase() || *ascii == '6', "{letter:?}");
            }
        }
        assert_eq!((ascii_lookalike('a'), ascii_lookalike('ж'), ascii_lookalike('ü')), (None, None, None));
    }

    #[test]
    fn a_word_of_two_scripts_is_found_with_its_place() {
        let of = |text| mixed_lookalike(text).map(|found| found.to_string());
        assert_eq!(of("p\u{430}ypal").as_deref(), Some("U+0430 as character 2, which looks like `a`"));
        assert_eq!(of("git-c\u{43e}mmit").as_deref(), Some("U+043E as character 6, which looks like `o`"));
        assert_eq!(of("über-gi\u{3c4}-\u{410}bc").as_deref(), Some("U+0410 as character 10, which looks like `A`"));
        for text in ["paypal", "отчет-PDF", "β-release", "yazılım", "日本語skill", "werkzeug-ü", "µs", "2к"]
        {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
