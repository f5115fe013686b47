use crate::tokens::{is_unspaced, narrow};
use std::collections::{BTreeSet, HashMap};

/// Names shorter than this are words of their own too often.
const SHORTEST: usize = 4;

/// The names of all documents, found in a query in time that does not grow with their number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mentions {
    by_name: HashMap<String, BTreeSet<u32>>,
    /// How many names have this many words, to look no further than the longest.
    by_words: Vec<u32>,
}

impl Mentions {
    pub(crate) fn insert(&mut self, name: &str, slot: u32) {
        let name = normalize(name);
        if name.chars().count() < SHORTEST {
            return;
        }
        let words = units(&name).len();
        let slots = self.by_name.entry(name).or_default();
        if slots.is_empty() {
            if self.by_words.len() <= words {
                self.by_words.resize(words + 1, 0);
            }
            self.by_words[words] += 1;
        }
        slots.insert(slot);
    }

    pub(crate) fn remove(&mut self, name: &str, slot: u32) {
        let name = normalize(name);
        let Some(slots) = self.by_name.get_mut(&name) else { return };
        slots.remove(&slot);
        if slots.is_empty() {
            let words = units(&name).len();
            self.by_words[words] -= 1;
            self.by_name.remove(&name);
        }
    }

    /// Calls `each` with every document whose name stands in `query`, at word borders.
    pub(crate) fn find(&self, query: &str, mut each: impl FnMut(u32)) {
        let query = normalize(query);
        let units = units(&query);
        let lengths: Vec<usize> =
            self.by_words.iter().enumerate().filter(|(_, names)| **names > 0).map(|(words, _)| words).collect();
        for (at, &(start, _)) in units.iter().enumerate() {
            for &words in &lengths {
                let Some(&(_, end)) = units.get(at + words - 1) else { break };
                for &slot in self.by_name.get(&query[start..end]).into_iter().flatten() {
                    each(slot);
                }
            }
        }
    }
}

/// Lower case, with `-`, `_` and `:` as spaces, one space between words.
pub(crate) fn normalize(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    for c in text.chars().map(narrow).flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            normal.push(c);
        } else if !normal.is_empty() && !normal.ends_with(' ') {
            normal.push(' ');
        }
    }
    normal.truncate(normal.trim_end().len());
    normal
}

/// The places of words; of a script without spaces, of each character.
pub(crate) fn units(text: &str) -> Vec<(usize, usize)> {
    let mut units: Vec<(usize, usize)> = Vec::new();
    let mut open = false;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        if c == ' ' {
            open = false;
        } else if is_unspaced(c) {
            units.push((at, end));
            open = false;
        } else if let (true, Some(last)) = (open, units.last_mut()) {
            last.1 = end;
        } else {
            units.push((at, end));
            open = true;
        }
    }
    units
}

#[cfg(test)]
mod tests {
    use super::Mentions;

    fn found(names: &[&str], query: &str) -> Vec<u32> {
        let mut mentions = Mentions::default();
        for (slot, name) in (0..).zip(names) {
            mentions.insert(name, slot);
        }
        let mut found = Vec::new();
        mentions.find(query, |slot| found.push(slot));
        found
    }

    #[test]
    fn a_name_is_found_with_its_joints_as_spaces() {
        assert_eq!(found(&["deploy-site", "review"], "please Deploy Site now"), [0]);
        assert_eq!(found(&["deploy-site", "review"], "/deploy_site, then review"), [0, 1]);
        assert_eq!(found(&["git:deploy"], "run git:deploy"), [0]);
    }

    #[test]
    fn a_name_inside_a_word_is_not_mentioned() {
        assert_eq!(found(&["test"], "the latest one"), Vec::<u32>::new());
        assert_eq!(found(&["test"], "the test"), [0]);
    }

    #[test]
    fn short_names_are_not_mentioned() {
        assert_eq!(found(&["pdf", "a", ""], "a pdf"), Vec::<u32>::new());
    }

    #[test]
    fn a_chinese_name_needs_no_spaces_around_it() {
        assert_eq!(found(&["部署网站"], "请帮我部署网站吧"), [0]);
    }

    #[test]
    fn a_removed_name_is_not_found() {
        let mut mentions = Mentions::default();
        mentions.insert("deploy", 1);
        mentions.insert("deploy", 2);
        mentions.remove("deploy", 1);
        let mut found = Vec::new();
        mentions.find("deploy", |slot| found.push(slot));
        assert_eq!(found, [2]);
        mentions.remove("deploy", 2);
        mentions.remove("deploy", 2);
        mentions.find("deploy", |slot| panic!("{slot} was removed"));
    }
}
