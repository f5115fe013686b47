use crate::mention::{normalize, units};
use std::collections::{BTreeMap, BTreeSet};

/// Characters of a description by which it is found.
const CHARS: usize = 160;

/// A query of fewer words is how a sentence begins and not how a description does, unless it is the whole description.
const FEWEST_WORDS: usize = 4;

/// Words with which more descriptions than this begin single none of them out.
const MOST: usize = 10;

/// How the descriptions of all documents begin, found by a query in time that does not grow with their number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Openings {
    by_text: BTreeMap<Box<str>, BTreeSet<u32>>,
}

impl Openings {
    pub(crate) fn insert(&mut self, opening: &str, slot: u32) {
        if !opening.is_empty() {
            self.by_text.entry(opening.into()).or_default().insert(slot);
        }
    }

    pub(crate) fn remove(&mut self, opening: &str, slot: u32) {
        let Some(slots) = self.by_text.get_mut(opening) else { return };
        slots.remove(&slot);
        if slots.is_empty() {
            self.by_text.remove(opening);
        }
    }

    /// The documents whose description begins with `query`: none of them when there are more than a few.
    pub(crate) fn find(&self, query: &str) -> Vec<u32> {
        let query = opening(query);
        let mut found: Vec<u32> = Vec::new();
        if query.is_empty() {
            return found;
        }
        let whole = self.by_text.get(query.as_str());
        found.extend(whole.into_iter().flatten().take(MOST + 1));
        if units(&query).len() >= FEWEST_WORDS {
            let having_whole = found.len();
            let longer =
                self.by_text.range::<str, _>((std::ops::Bound::Excluded(query.as_str()), std::ops::Bound::Unbounded));
            let longer = longer.take_while(|(text, _)| text.starts_with(&query)).flat_map(|(_, slots)| slots);
            found.extend(longer.take(MOST + 1));
            if found.len() > MOST {
                found.truncate(having_whole);
            }
        }
        if found.len() > MOST {
            found.clear();
        }
        found
    }
}

/// What a description, or a query that is the beginning of one, begins with.
pub(crate) fn opening(text: &str) -> String {
    let mut normal = normalize(text);
    if let Some((end, _)) = normal.char_indices().nth(CHARS) {
        normal.truncate(end);
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::{CHARS, MOST, Openings, opening};

    fn of(descriptions: &[&str]) -> Openings {
        let mut openings = Openings::default();
        for (slot, description) in (0..).zip(descriptions) {
            openings.insert(&opening(description), slot);
        }
        openings
    }

    #[test]
    fn a_description_is_found_by_its_beginning_however_it_is_written() {
        let openings =
            of(&["Reads a diff \u{2014} and comments on it.", "Reads a diff and prints it", "部署网站到生产环境"]);
        assert_eq!(openings.find("reads a  diff, and comments"), [0]);
        assert_eq!(openings.find("Reads a diff and"), [0, 1]);
        assert_eq!(openings.find("部署网站"), [2]);
        assert_eq!(openings.find("a diff and comments on it"), Vec::<u32>::new(), "not its beginning");
        assert_eq!(openings.find(" - "), Vec::<u32>::new());
    }

    #[test]
    fn a_short_query_is_no_beginning_but_the_whole_of_a_short_description() {
        let openings = of(&["Writes notes", "Writes notes about a migration"]);
        assert_eq!(openings.find("Writes"), Vec::<u32>::new());
        assert_eq!(openings.find("writes notes."), [0]);
        assert_eq!(openings.find("writes notes about"), Vec::<u32>::new());
        assert_eq!(openings.find("writes notes about a"), [1]);
    }

    #[test]
    fn what_many_begin_with_singles_out_none_but_those_that_it_is_all_of() {
        let mut texts: Vec<String> = (0..=MOST).map(|number| format!("use when the user asks {number}")).collect();
        texts.push("Use when the user asks".to_owned());
        let refs: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert_eq!(of(&refs).find("use when the user asks"), [u32::try_from(MOST + 1).expect("small")]);
        assert_eq!(of(&refs).find("use when the user"), Vec::<u32>::new());
        assert_eq!(of(&refs).find("use when the user asks 3"), [3]);
        assert_eq!(of(&refs[..MOST]).find("use when the user").len(), MOST, "the control: a few");
        assert_eq!(of(&[refs[0]; MOST + 1]).find(refs[0]), Vec::<u32>::new());
    }

    #[test]
    fn a_long_query_is_compared_as_far_as_descriptions_are_kept() {
        let long = "word ".repeat(CHARS);
        assert_eq!(of(&[&long]).find(&long[..CHARS * 2]), [0]);
        assert_eq!(of(&[&long]).find(&format!("other {long}")), Vec::<u32>::new());
    }

    #[test]
    fn a_removed_description_is_not_found() {
        let mut openings = of(&["the same words everywhere", "the same words everywhere"]);
        let opening = opening("the same words everywhere");
        openings.remove(&opening, 0);
        assert_eq!(openings.find("the same words everywhere"), [1]);
        openings.remove(&opening, 1);
        openings.remove(&opening, 1);
        assert!(openings.find("the same words everywhere").is_empty() && openings.by_text.is_empty());
    }
}
