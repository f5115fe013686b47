use crate::mention::Mentions;
use crate::opening::{Openings, opening};
use crate::ranking::{FIELD_WEIGHTS, Ranking};
use crate::tokens::tokenize;
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

/// Hits of a query that asks for no number.
pub const DEFAULT_LIMIT: usize = 5;

/// The lowest score of a hit, if the query asks for no other.
pub const DEFAULT_THRESHOLD: f32 = 0.10;

/// A document whose name stands in the query has this score at least.
const MENTIONED: f32 = 0.75;

/// A document whose description begins with the query has this score: nothing fits better than its own words.
const QUOTED: f32 = 1.0;

/// Different terms of a query that count; the rest of a longer one is ignored.
const MAX_QUERY_TERMS: usize = 128;

/// What is searched of one skill.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Document<'a> {
    /// The name, as it is invoked.
    pub name: &'a str,
    /// The description.
    pub description: &'a str,
    /// When the author says it is to be used.
    pub when_to_use: &'a str,
    /// Its tools, separated by anything.
    pub allowed_tools: &'a str,
}

/// One question to an [`Index`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Query<'a> {
    text: &'a str,
    limit: usize,
    threshold: f32,
}

impl<'a> Query<'a> {
    /// Asks for the [`DEFAULT_LIMIT`] best documents for `text` with a score of [`DEFAULT_THRESHOLD`] or more.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Query { text, limit: DEFAULT_LIMIT, threshold: DEFAULT_THRESHOLD }
    }

    /// Asks for at most this many.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Query { limit, ..self }
    }

    /// Asks for this score or more, from 0 to 1.
    #[must_use]
    pub fn threshold(self, threshold: f32) -> Self {
        Query { threshold, ..self }
    }
}

/// One answer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Hit<'i, K> {
    /// The key the document was inserted under.
    pub key: &'i K,
    /// How well it fits, above 0 and at most 1.
    pub score: f32,
}

/// Documents under keys, found by their words.
///
/// Inserting or removing one document touches its own terms alone; nothing else is read again. An index can be searched from
/// many threads at once.
#[derive(Clone, Debug)]
pub struct Index<K> {
    ranking: Ranking,
    slots: BTreeMap<K, u32>,
    entries: Vec<Option<Entry<K>>>,
    free: Vec<u32>,
    terms: HashMap<Box<str>, u32>,
    /// For each term the documents that have it, in no order.
    postings: Vec<Vec<Posting>>,
    mentions: Mentions,
    openings: Openings,
    /// The sum of the lengths of all documents.
    length: f64,
    /// What depends on all documents together, for each slot: the length of its vector, or under BM25 what its length adds
    /// below the line. Made again by the first search after a change.
    norms: OnceLock<Vec<f32>>,
}

#[derive(Clone, Debug)]
struct Entry<K> {
    key: K,
    name: Box<str>,
    opening: Box<str>,
    terms: Box<[(u32, f32)]>,
    length: f32,
}

#[derive(Clone, Copy, Debug)]
struct Posting {
    slot: u32,
    weight: f32,
}

impl<K: Ord + Clone> Index<K> {
    /// An empty index.
    #[must_use]
    pub fn new(ranking: Ranking) -> Self {
        Index {
            ranking,
            slots: BTreeMap::new(),
            entries: Vec::new(),
            free: Vec::new(),
            terms: HashMap::new(),
            postings: Vec::new(),
            mentions: Mentions::default(),
            openings: Openings::default(),
            length: 0.0,
            norms: OnceLock::new(),
        }
    }

    /// How many documents there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The keys, in their order.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.slots.keys()
    }

    /// Puts a document under `key`, in place of the one that was there.
    pub fn insert(&mut self, key: K, document: &Document<'_>) {
        self.remove(&key);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            u32::try_from(self.entries.len() - 1).unwrap_or(u32::MAX)
        });
        let (terms, length) = self.weigh(document);
        for &(term, weight) in &terms {
            self.postings[term as usize].push(Posting { slot, weight });
        }
        self.mentions.insert(document.name, slot);
        let opening = opening(document.description).into_boxed_str();
        self.openings.insert(&opening, slot);
        self.length += f64::from(length);
        self.slots.insert(key.clone(), slot);
        self.entries[slot as usize] =
            Some(Entry { key, name: document.name.into(), opening, terms: terms.into_boxed_slice(), length });
        self.norms = OnceLock::new();
    }

    /// Takes the document under `key` out and says whether there was one.
    pub fn remove(&mut self, key: &K) -> bool {
        let Some(slot) = self.slots.remove(key) else { return false };
        if let Some(entry) = self.entries[slot as usize].take() {
            for &(term, _) in &entry.terms {
                let postings = &mut self.postings[term as usize];
                if let Some(at) = postings.iter().position(|posting| posting.slot == slot) {
                    postings.swap_remove(at);
                }
            }
            self.mentions.remove(&entry.name, slot);
            self.openings.remove(&entry.opening, slot);
            self.length -= f64::from(entry.length);
        }
        self.free.push(slot);
        self.norms = OnceLock::new();
        true
    }

    /// The best documents for the query, best first; those with the same score in the order of their keys.
    #[must_use]
    pub fn search(&self, query: &Query<'_>) -> Vec<Hit<'_, K>> {
        let mut scores = self.scores(query.text);
        self.mentions.find(query.text, |slot| {
            let score = &mut scores[slot as usize];
            *score = score.max(MENTIONED);
        });
        for slot in self.openings.find(query.text) {
            scores[slot as usize] = QUOTED;
        }
        self.best(&scores, query)
    }

    /// The best of the documents with these scores. Most documents have some word of most queries, so only those that can still
    /// be among the best are kept.
    fn best(&self, scores: &[f32], query: &Query<'_>) -> Vec<Hit<'_, K>> {
        let order = |a: &Hit<'_, K>, b: &Hit<'_, K>| b.score.total_cmp(&a.score).then_with(|| a.key.cmp(b.key));
        let mut hits: Vec<Hit<'_, K>> = Vec::new();
        if query.limit == 0 {
            return hits;
        }
        let room = query.limit.saturating_mul(2).max(64);
        let mut least = query.threshold.max(f32::MIN_POSITIVE);
        for (slot, &score) in scores.iter().enumerate() {
            if score >= least
                && let Some(entry) = &self.entries[slot]
            {
                hits.push(Hit { key: &entry.key, score });
                if hits.len() == room {
                    let (_, last, _) = hits.select_nth_unstable_by(query.limit - 1, order);
                    least = last.score;
                    hits.truncate(query.limit);
                }
            }
        }
        hits.sort_unstable_by(order);
        hits.truncate(query.limit);
        hits
    }

    /// The score of each slot.
    fn scores(&self, text: &str) -> Vec<f32> {
        let mut scores = vec![0.0; self.entries.len()];
        let query = self.query_terms(text);
        let all = self.len() as f32;
        let rarity = |known: Option<u32>| {
            let having = known.map_or(0, |term| self.postings[term as usize].len());
            self.ranking.rarity(all, having as f32)
        };
        match self.ranking {
            Ranking::Bm25 => {
                let best: f32 = query.iter().map(|&(term, _)| rarity(term)).sum();
                let norms = self.norms.get_or_init(|| self.length_norms());
                for (term, rarity) in query.iter().filter_map(|&(term, _)| Some((term?, rarity(term) / best))) {
                    for posting in &self.postings[term as usize] {
                        let slot = posting.slot as usize;
                        scores[slot] += rarity * Ranking::saturated(posting.weight, norms[slot]);
                    }
                }
            }
            Ranking::TfIdf => {
                let commonest = query.iter().map(|&(_, times)| times).fold(1.0, f32::max);
                let weight = |term, times: f32| times / commonest * rarity(term);
                let norm = query.iter().map(|&(term, times)| weight(term, times).powi(2)).sum::<f32>().sqrt();
                let norms = self.norms.get_or_init(|| self.vector_norms());
                for (term, weight, rarity) in
                    query.iter().filter_map(|&(term, times)| Some((term?, weight(term, times), rarity(term))))
                {
                    for posting in &self.postings[term as usize] {
                        let slot = posting.slot as usize;
                        scores[slot] += weight * posting.weight * rarity / (norm * norms[slot]);
                    }
                }
            }
        }
        scores
    }

    fn length_norms(&self) -> Vec<f32> {
        #[expect(clippy::cast_possible_truncation, reason = "an average needs no more digits")]
        let average = (self.length / (self.len() as f64).max(1.0)) as f32;
        let norm =
            |entry: &Option<Entry<K>>| entry.as_ref().map_or(1.0, |entry| Ranking::length_norm(entry.length, average));
        self.entries.iter().map(norm).collect()
    }

    fn vector_norms(&self) -> Vec<f32> {
        let all = self.len() as f32;
        let square = |&(term, weight): &(u32, f32)| {
            let rarity = self.ranking.rarity(all, self.postings[term as usize].len() as f32);
            (weight * rarity).powi(2)
        };
        self.entries
            .iter()
            .map(|entry| entry.as_ref().map_or(1.0, |entry| entry.terms.iter().map(square).sum::<f32>().sqrt()))
            .collect()
    }

    /// The different terms of a query and how often each stands in it. A term that no document has is `None`: it still counts
    /// against those that have only the others.
    fn query_terms(&self, text: &str) -> Vec<(Option<u32>, f32)> {
        let mut seen: HashMap<String, usize> = HashMap::new();
        let mut terms: Vec<(Option<u32>, f32)> = Vec::new();
        tokenize(text, |token| {
            if let Some(&at) = seen.get(token) {
                terms[at].1 += 1.0;
            } else if terms.len() < MAX_QUERY_TERMS {
                seen.insert(token.to_owned(), terms.len());
                terms.push((self.terms.get(token).copied(), 1.0));
            }
        });
        terms
    }

    /// The weight of each term of a document, and the document's length.
    fn weigh(&mut self, document: &Document<'_>) -> (Vec<(u32, f32)>, f32) {
        let mut times: BTreeMap<u32, [f32; 4]> = BTreeMap::new();
        let mut length = 0.0;
        let fields = [document.name, document.when_to_use, document.description, document.allowed_tools];
        for (field, text) in fields.into_iter().enumerate() {
            tokenize(text, |token| {
                let term = match self.terms.get(token) {
                    Some(&term) => term,
                    None => {
                        let term = u32::try_from(self.postings.len()).unwrap_or(u32::MAX);
                        self.postings.push(Vec::new());
                        self.terms.insert(token.into(), term);
                        term
                    }
                };
                times.entry(term).or_default()[field] += 1.0;
                length += FIELD_WEIGHTS[field];
            });
        }
        let mut commonest = [1.0_f32; 4];
        for counts in times.values() {
            for (most, count) in commonest.iter_mut().zip(counts) {
                *most = most.max(*count);
            }
        }
        let weigh =
            |counts: [f32; 4]| self.ranking.weight(std::array::from_fn(|field| (counts[field], commonest[field])));
        (times.into_iter().map(|(term, counts)| (term, weigh(counts))).collect(), length)
    }
}

#[cfg(test)]
mod tests {
    use super::{Document, Index, Query};
    use crate::Ranking;
    use proptest::prelude::*;

    const BOTH: [Ranking; 2] = [Ranking::TfIdf, Ranking::Bm25];

    fn described<'a>(name: &'a str, description: &'a str) -> Document<'a> {
        Document { name, description, ..Document::default() }
    }

    fn keys<'i>(index: &'i Index<String>, query: &str) -> Vec<&'i str> {
        index.search(&Query::new(query).limit(100)).into_iter().map(|hit| hit.key.as_str()).collect()
    }

    #[test]
    fn the_only_skill_of_a_catalogue_is_found() {
        for ranking in BOTH {
            let mut index = Index::new(ranking);
            index.insert("deploy".to_owned(), &described("ship", "Brings the site to production"));
            assert_eq!(keys(&index, "bring it to production"), ["deploy"], "{ranking:?}");
            assert_eq!(keys(&index, "painting"), Vec::<&str>::new(), "{ranking:?}");
        }
    }

    #[test]
    fn a_mentioned_name_is_found_whatever_else_is_said() {
        for ranking in BOTH {
            let mut index = Index::new(ranking);
            index.insert("x".to_owned(), &described("tidy-imports", "Sorts the lines at the top"));
            index.insert("y".to_owned(), &described("other", "long words in many sentences about weather"));
            let query = "long words in many sentences about weather, and then tidy imports";
            let hits = index.search(&Query::new(query));
            let x = hits.iter().find(|hit| hit.key == "x").expect("the mentioned one");
            assert!(x.score >= 0.75, "{ranking:?} gives {}", x.score);
        }
    }

    #[test]
    fn a_name_counts_more_than_a_description() {
        for ranking in BOTH {
            let mut index = Index::new(ranking);
            index.insert("a".to_owned(), &described("notes", "Writes about a migration of some kind"));
            index.insert("b".to_owned(), &described("migration", "Writes about notes of some kind"));
            assert_eq!(keys(&index, "migrations")[0], "b", "{ranking:?}");
        }
    }

    #[test]
    fn limits_and_thresholds_hold() {
        for ranking in BOTH {
            let mut index = Index::new(ranking);
            for n in 0..20 {
                index.insert(format!("{n:02}"), &described("twin", "the same words everywhere"));
            }
            let hits = index.search(&Query::new("same words").limit(3));
            assert_eq!(hits.iter().map(|hit| hit.key.as_str()).collect::<Vec<_>>(), ["00", "01", "02"], "{ranking:?}");
            assert!(index.search(&Query::new("same words").limit(0)).is_empty());
            assert!(index.search(&Query::new("same words").threshold(1.1)).is_empty());
        }
    }

    fn documents() -> impl Strategy<Value = Vec<(u8, String, String)>> {
        prop::collection::vec((any::<u8>(), "[ab]{1,2}(-[cd]{1,3})?", "([a-e]{1,3}|[部署测试]{1,3}| ){0,12}"), 0..40)
    }

    proptest! {
        #[test]
        fn an_index_that_grew_and_shrank_answers_like_a_fresh_one(documents in documents(), query in "[a-e部署测试 ]{0,20}") {
            for ranking in BOTH {
                let mut last = std::collections::BTreeMap::new();
                let mut grown = Index::new(ranking);
                for (at, (key, name, description)) in documents.iter().enumerate() {
                    if at % 5 == 4 {
                        grown.remove(key);
                        last.remove(key);
                    } else {
                        grown.insert(*key, &described(name, description));
                        last.insert(*key, (name, description));
                    }
                }
                let mut fresh = Index::new(ranking);
                for (key, (name, description)) in last.iter().rev() {
                    fresh.insert(*key, &described(name, description));
                }
                let ask = Query::new(&query).limit(1000).threshold(0.0);
                let answers = |index: &Index<u8>| {
                    let mut hits: Vec<(u8, f32)> =
                        index.search(&ask).into_iter().map(|hit| (*hit.key, hit.score)).collect();
                    hits.sort_by_key(|(key, _)| *key);
                    hits
                };
                prop_assert_eq!(answers(&grown).len(), answers(&fresh).len());
                for ((key, score), (other, expected)) in answers(&grown).into_iter().zip(answers(&fresh)) {
                    prop_assert_eq!(key, other);
                    prop_assert!((score - expected).abs() <= 0.0001);
                }
                prop_assert_eq!(grown.len(), last.len());
            }
        }

        #[test]
        fn scores_lie_between_0_and_1(documents in documents(), query in "[a-e部署测试 ]{0,20}") {
            for ranking in BOTH {
                let mut index = Index::new(ranking);
                for (key, name, description) in &documents {
                    index.insert(*key, &described(name, description));
                }
                for hit in index.search(&Query::new(&query).limit(1000).threshold(0.0)) {
                    prop_assert!(hit.score > 0.0 && hit.score <= 1.0001, "{} has {}", hit.key, hit.score);
                }
            }
        }
    }
}
