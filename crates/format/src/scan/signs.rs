//! What stands in a text that gives a rule any chance, found in one fast pass and a very fast one. Most texts hold next to none
//! of it, and the rules then have nothing to read.

use super::secret;
use aho_corasick::packed::Searcher;
use memchr::{memchr_iter, memmem};
use skillgate_core::Span;
use std::sync::LazyLock;

/// Three bytes of every word without which no command is found, in small letters: `curl`, `wget`, `iwr`, `irm`, `invoke-…`,
/// `base64` and `base32`, `xxd`, `openssl`, `uudecode`, `.downloadstring`, `powershell`, `pwsh`.
const WORDS: [&str; 13] = ["url", "wge", "iwr", "irm", "nvo", "e64", "e32", "xxd", "ssl", "uud", ".do", "rsh", "pws"];

/// With `-c` behind it a command too; only in small letters.
const PYTHON: &str = "python";

/// What reference comments hold.
const REFERENCE_COMMENT: &str = "]: ";

/// What HTML comments begin with.
const HTML_COMMENT: &str = "<!--";

/// The places of the signs in one text.
#[derive(Debug, Default)]
pub(super) struct Signs {
    /// Where words stand that bring in or hide a program, in order.
    commands: Vec<Place>,
    /// Whether there may be a comment.
    pub(super) comments: bool,
    /// Which credentials may be there.
    pub(super) secrets: secret::Present,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    at: usize,
    python: bool,
}

/// Makes small letters of capital ones; other characters become one another too, so that what is found is looked at again.
fn folded(byte: u8) -> u8 {
    byte | 0x20
}

/// What is searched for in folded text: three bytes or a little more of everything that is looked for, each row of things that
/// are alike. The searcher puts every eighth pattern together and takes a place into account where the pieces of the patterns
/// in one group fit, so this decides how often it stops for nothing: in ordinary text seven times as often when the patterns
/// stand in the order of the alphabet.
const GROUPS: [[&str; 4]; 8] = [
    ["hf_", "aiza", "pm_", "xox"],
    ["iwr", "irm", "ghr_", "sk-"],
    ["rsh", "url", "k_live_", "ssl"],
    ["--begin ", "asia", "e32", "akia"],
    ["ghs_", "ghp_", "ghu_", "glpat-"],
    ["xxd", "]: ", "wge", "pws"],
    ["pypi-a", "uud", "e64", "python"],
    ["gho_", "b_pat_", ".do", "nvo"],
];

fn patterns() -> impl Iterator<Item = Vec<u8>> {
    (0..4).flat_map(|row| GROUPS.map(|group| group[row].bytes().map(folded).collect()))
}

/// Searches for the patterns. `None` on processors without the instructions for it; then every place is looked at.
static SEARCHER: LazyLock<Option<Searcher>> = LazyLock::new(|| Searcher::new(patterns()));

/// Bytes that are folded and searched together; they stay close to the processor.
const WINDOW: usize = 2048;

/// How far a pattern may reach into the next window; no pattern is longer than this and a byte.
const REACH: usize = 7;

/// Every place at which the searcher finds something; one may begin inside another.
fn places<'t>(searcher: Option<&'t Searcher>, text: &'t [u8]) -> impl Iterator<Item = usize> + 't {
    let mut at = 0;
    std::iter::from_fn(move || {
        let place = match searcher {
            Some(searcher) => searcher.find_in(text, (at..text.len()).into())?.start(),
            None => Some(at).filter(|at| *at < text.len())?,
        };
        at = place + 1;
        Some(place)
    })
}

impl Signs {
    /// Finds the signs of `text`.
    pub(super) fn find(text: &str) -> Self {
        let bytes = text.as_bytes();
        let comment = |at: usize| bytes[at..].starts_with(HTML_COMMENT.as_bytes());
        let mut found = Self { comments: memchr_iter(b'<', bytes).any(comment), ..Self::default() };
        let mut buffer = [0; WINDOW];
        let mut start = 0;
        while start < bytes.len() {
            let window = &bytes[start..bytes.len().min(start + WINDOW)];
            let folded = &mut buffer[..window.len()];
            folded.iter_mut().zip(window).for_each(|(to, byte)| *to = self::folded(*byte));
            // What begins behind it is found whole in the next one.
            let own = if start + window.len() == bytes.len() { window.len() } else { WINDOW - REACH };
            places(SEARCHER.as_ref(), folded).take_while(|at| *at < own).for_each(|at| found.add(bytes, start + at));
            start += own;
        }
        found
    }

    /// Takes what stands at `at`, if it is a sign.
    fn add(&mut self, bytes: &[u8], at: usize) {
        let rest = &bytes[at..];
        let is_word = |three: &[u8; 3]| {
            let three = three.map(folded);
            WORDS.iter().any(|word| word.as_bytes() == three)
        };
        let python = rest.starts_with(PYTHON.as_bytes());
        if python || rest.first_chunk().is_some_and(is_word) {
            self.commands.push(Place { at, python });
        } else {
            self.secrets.add(bytes, at);
            self.comments |= rest.starts_with(REFERENCE_COMMENT.as_bytes());
        }
    }

    /// The signs of the part of the text that begins at `start`.
    pub(super) fn from(mut self, start: usize) -> Self {
        let before = self.commands.partition_point(|place| place.at < start);
        self.commands.drain(..before);
        self.commands.iter_mut().for_each(|place| place.at -= start);
        self
    }

    /// The places in `span` of words that bring in or hide a program.
    pub(super) fn commands(&self, span: Span) -> impl Iterator<Item = usize> + '_ {
        let from = self.commands.partition_point(|place| place.at < span.start);
        self.commands[from..].iter().map(|place| place.at).take_while(move |at| *at < span.end)
    }

    /// Whether `text[span]` holds a word that brings in or hides a program, in any case; `text` is what the signs were found
    /// in. Most texts do not, and are not read.
    pub(super) fn may_run(&self, text: &str, span: Span) -> bool {
        let from = self.commands.partition_point(|place| place.at < span.start);
        let mut places = self.commands[from..].iter().take_while(|place| place.at < span.end);
        let mut seen_python = false;
        places.any(|place| {
            if !place.python {
                return place.at + 3 <= span.end;
            }
            // What is not behind the first is behind no other.
            !std::mem::replace(&mut seen_python, true)
                && memmem::find(&text.as_bytes()[place.at..span.end], b"-c").is_some()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may_run(text: &str) -> bool {
        Signs::find(text).may_run(text, Span::new(0, text.len()))
    }

    #[test]
    fn a_text_is_passed_over_only_if_it_holds_none_of_the_words() {
        let words = [
            "curl",
            "wget",
            "iwr",
            "irm",
            "invoke-webrequest",
            "invoke-restmethod",
            "base64",
            "gbase64",
            "base32",
            "xxd",
            "openssl",
            "uudecode",
            "x.downloadstring",
            "x::frombase64string",
            "powershell",
            "pwsh",
            "python3 -c",
        ];
        for word in words {
            for length in 0..70 {
                assert!(may_run(&format!("{}{word}", ".".repeat(length))), "{word} behind {length}");
                let word = if word.starts_with("python") { word.to_owned() } else { word.to_uppercase() };
                assert!(may_run(&format!("{}{word}{}", " ".repeat(length), ".".repeat(40))), "{word} behind {length}");
            }
        }
        for text in ["", "a", "git log | head -n 3", "python3 run.py", "-c python", &"many words ".repeat(20)] {
            assert!(!may_run(text), "{text}");
        }
    }

    #[test]
    fn signs_are_found_inside_one_another_and_belong_to_their_part() {
        let text = "xoxxd curl [//]: # (x) python python -c";
        let signs = Signs::find(text);
        assert_eq!(signs.commands(Span::new(0, text.len())).collect::<Vec<_>>(), [2, 7, 23, 30]);
        assert!(signs.comments && !signs.may_run(text, Span::new(0, 4)) && !signs.may_run(text, Span::new(10, 37)));
        assert!(signs.may_run(text, Span::new(0, 5)) && signs.may_run(text, Span::new(10, 39)));
        assert_eq!(signs.from(6).commands(Span::new(0, 10)).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn every_place_or_only_the_likely_ones_come_to_the_same() {
        let line = "Invoke-WebRequest <!-- a --> base64 \u{e4} ghp_ sk-live -----BEGIN ]: cURL xoxa- npm_ AKIA ";
        for length in [0, WINDOW - 40, WINDOW - REACH, WINDOW, 2 * WINDOW - 30] {
            for shift in 0..line.len() {
                let text = format!("{}{}{line}", ".".repeat(shift), " ".repeat(length));
                let found = Signs::find(&text);
                let mut every = Signs { comments: true, ..Signs::default() };
                places(None, text.as_bytes()).for_each(|at| every.add(text.as_bytes(), at));
                assert_eq!(format!("{found:?}"), format!("{every:?}"), "{length} {shift}");
            }
        }
    }

    #[test]
    fn the_patterns_are_the_signs_and_short_enough_for_the_windows() {
        let words = WORDS.into_iter().chain([PYTHON, REFERENCE_COMMENT]).map(str::as_bytes);
        let signs: Vec<Vec<u8>> =
            words.chain(secret::signs()).map(|sign| sign.iter().copied().map(folded).collect()).collect();
        let patterns: Vec<Vec<u8>> = patterns().collect();
        assert!(signs.iter().all(|sign| patterns.contains(sign)), "one of {signs:?} is not searched for");
        assert!(
            patterns.iter().all(|pattern| signs.contains(pattern)),
            "one of {patterns:?} is nothing that is looked for"
        );
        assert!(patterns.iter().all(|pattern| (3..=REACH + 1).contains(&pattern.len())), "{patterns:?}");
    }
}
