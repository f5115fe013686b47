//! A query over an index beside one over every document.

use crate::measure::{Measured, in_turns};
use skillgate_search::{Document, Index, Query, Ranking};
use std::collections::{HashMap, HashSet};
use std::hint::black_box;

const SKILLS: usize = 10_000;

/// Parts of generated names and descriptions, from common to rare.
const WORDS: [&str; 40] = [
    "deploy",
    "test",
    "review",
    "release",
    "build",
    "write",
    "read",
    "check",
    "table",
    "index",
    "query",
    "cache",
    "token",
    "graph",
    "image",
    "report",
    "invoice",
    "notebook",
    "schema",
    "migration",
    "container",
    "cluster",
    "certificate",
    "pipeline",
    "changelog",
    "commit",
    "branch",
    "merge",
    "lint",
    "format",
    "profile",
    "memory",
    "latency",
    "dashboard",
    "alert",
    "backup",
    "queue",
    "worker",
    "translate",
    "summary",
];

struct Skill {
    name: String,
    description: String,
    when_to_use: String,
}

/// Text whose words follow from `at` alone: common ones often, and one that no other skill has.
fn skill(at: usize) -> Skill {
    let word = |step: usize| {
        let spread = (at + 1).wrapping_mul(2_654_435_761).wrapping_add(step.wrapping_mul(40_503)) >> 7;
        WORDS[(spread % WORDS.len()) * (spread / 64 % WORDS.len()) / WORDS.len()]
    };
    let text = |from: usize, count: usize| (from..from + count).map(word).collect::<Vec<_>>().join(" ");
    Skill {
        name: format!("{}-{}-{at}", word(0), word(1)),
        description: format!("{} number{at}", text(2, 24)),
        when_to_use: text(40, 12),
    }
}

/// Scores each document by itself: its weighted terms against the query's, as hash maps, and a search for its name.
struct Naive {
    documents: Vec<(String, HashMap<String, f32>)>,
    rarity: HashMap<String, f32>,
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

impl Naive {
    fn new(skills: &[Skill]) -> Self {
        let mut documents = Vec::with_capacity(skills.len());
        let mut having: HashMap<String, f32> = HashMap::new();
        for skill in skills {
            let mut terms: HashMap<String, f32> = HashMap::new();
            for (text, weight) in [(&skill.name, 3.0_f32), (&skill.when_to_use, 2.0), (&skill.description, 1.0)] {
                for word in words(text) {
                    let most = terms.entry(word).or_default();
                    *most = most.max(weight);
                }
            }
            for word in terms.keys() {
                *having.entry(word.clone()).or_default() += 1.0;
            }
            documents.push((skill.name.replace('-', " "), terms));
        }
        let all = skills.len() as f32;
        let rarity: HashMap<String, f32> =
            having.into_iter().map(|(word, count)| (word, (all / count).ln() + 1.0)).collect();
        for (_, terms) in &mut documents {
            for (word, weight) in terms.iter_mut() {
                *weight *= rarity[word];
            }
        }
        Self { documents, rarity }
    }

    fn best(&self, query: &str) -> Option<usize> {
        let asked: HashSet<String> = words(query).into_iter().collect();
        let weights: HashMap<&str, f32> =
            asked.iter().map(|word| (word.as_str(), self.rarity.get(word).copied().unwrap_or_default())).collect();
        let norm = |values: &mut dyn Iterator<Item = f32>| values.map(|value| value * value).sum::<f32>().sqrt();
        let own = norm(&mut weights.values().copied());
        let lower = query.to_lowercase().replace('-', " ");
        let score = |(name, terms): &(String, HashMap<String, f32>)| {
            let dot: f32 =
                weights.iter().map(|(word, weight)| weight * terms.get(*word).copied().unwrap_or_default()).sum();
            let cosine = dot / (own * norm(&mut terms.values().copied())).max(f32::MIN_POSITIVE);
            if lower.contains(name.as_str()) { cosine.max(0.75) } else { cosine }
        };
        let scores = self.documents.iter().map(score).enumerate();
        scores.max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(at, _)| at)
    }
}

/// The slowest of a hundred queries of ten words: common ones, whose documents are many, and one that is rare.
pub(crate) fn search(samples: usize) -> Result<Measured, String> {
    let skills: Vec<Skill> = (0..SKILLS).map(skill).collect();
    let mut index = Index::new(Ranking::default());
    for (at, skill) in skills.iter().enumerate() {
        let document = Document {
            name: &skill.name,
            description: &skill.description,
            when_to_use: &skill.when_to_use,
            ..Document::default()
        };
        index.insert(at, &document);
    }
    let naive = Naive::new(&skills);
    let asked = |at: usize| {
        let wanted = at * (SKILLS / 100);
        let words: Vec<&str> = skills[wanted].description.split(' ').take(9).collect();
        (wanted, format!("please {} number{wanted}", words.join(" ")))
    };
    let queries: Vec<(usize, String)> = (0..100).map(asked).collect();
    let slowest = queries
        .iter()
        .max_by_key(|(_, query)| {
            let started = std::time::Instant::now();
            black_box(index.search(&Query::new(query)).len());
            started.elapsed()
        })
        .ok_or("there are no queries")?;
    let expect = |found: Option<usize>| {
        if found == Some(slowest.0) { Ok(()) } else { Err(format!("`{}` finds {found:?}", slowest.1)) }
    };
    in_turns(
        samples,
        || expect(index.search(&Query::new(black_box(&slowest.1))).first().map(|hit| *hit.key)),
        || expect(naive.best(black_box(&slowest.1))),
    )
}
