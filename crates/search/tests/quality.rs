//! How well the rankings find skills: labelled queries over a catalogue written for the purpose. `docs/search.md` gives the
//! numbers, and the tests hold them.
#![expect(clippy::panic, reason = "a labelled set that cannot be read ends the test")]

use skillgate_search::{Document, Index, Query, Ranking};
use std::collections::HashSet;

const SKILLS: &str = include_str!("labelled/skills.txt");
const QUERIES: &str = include_str!("labelled/queries.txt");

struct Labelled {
    unlike: bool,
    expected: &'static str,
    text: &'static str,
}

fn fields(text: &'static str) -> impl Iterator<Item = [&'static str; 3]> {
    text.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let mut fields = line.splitn(3, '|').map(str::trim);
        std::array::from_fn(|_| fields.next().unwrap_or_else(|| panic!("three fields are wanted: {line}")))
    })
}

fn skills() -> Vec<Document<'static>> {
    fields(SKILLS)
        .map(|[name, description, when_to_use]| Document { name, description, when_to_use, allowed_tools: "" })
        .collect()
}

fn queries() -> Vec<Labelled> {
    fields(QUERIES).map(|[kind, expected, text]| Labelled { unlike: kind == "unlike", expected, text }).collect()
}

fn index(ranking: Ranking) -> Index<&'static str> {
    let mut index = Index::new(ranking);
    for skill in skills() {
        index.insert(skill.name, &skill);
    }
    index
}

/// The places, from 0, at which the expected skills were found.
fn places<'q>(index: &Index<&'static str>, queries: impl Iterator<Item = &'q Labelled>) -> Vec<Option<usize>> {
    queries
        .map(|query| {
            let hits = index.search(&Query::new(query.text).limit(10).threshold(0.0));
            hits.iter().position(|hit| *hit.key == query.expected)
        })
        .collect()
}

fn recall(places: &[Option<usize>], within: usize) -> f64 {
    let found = places.iter().filter(|place| place.is_some_and(|place| place < within)).count();
    found as f64 / places.len() as f64
}

fn reciprocal(places: &[Option<usize>]) -> f64 {
    places.iter().map(|place| place.map_or(0.0, |place| 1.0 / (place as f64 + 1.0))).sum::<f64>() / places.len() as f64
}

/// The table of `docs/search.md`.
fn table() -> String {
    use std::fmt::Write;
    let queries = queries();
    let halves: [(&str, Vec<&Labelled>); 2] =
        [("tuning", queries.iter().step_by(2).collect()), ("test", queries.iter().skip(1).step_by(2).collect())];
    let mut table = String::from(
        "| half | queries | ranking | recall@1 | recall@5 | recall@10 | reciprocal rank |\n|---|---|---|---|---|---|---|\n",
    );
    for (half, queries) in &halves {
        for (kind, unlike) in [("shares words", false), ("shares none", true)] {
            for (name, ranking) in [("TF-IDF", Ranking::TfIdf), ("BM25", Ranking::Bm25)] {
                let places = places(&index(ranking), queries.iter().filter(|query| query.unlike == unlike).copied());
                let (first, five, ten) = (recall(&places, 1), recall(&places, 5), recall(&places, 10));
                let reciprocal = reciprocal(&places);
                let count = places.len();
                let _ = writeln!(
                    table,
                    "| {half} | {count}, {kind} | {name} | {first:.3} | {five:.3} | {ten:.3} | {reciprocal:.3} |"
                );
            }
        }
    }
    table
}

#[test]
fn the_labelled_set_is_what_it_says() {
    let skills = skills();
    let names: HashSet<&str> = skills.iter().map(|skill| skill.name).collect();
    assert_eq!(names.len(), skills.len(), "a name stands twice");
    let queries = queries();
    assert!(skills.len() >= 300 && queries.len() >= 150, "{} skills, {} queries", skills.len(), queries.len());
    let unlike = queries.iter().filter(|query| query.unlike).count();
    assert_eq!(unlike * 2, queries.len(), "half of the queries have no word of the description");
    let mut wrong = Vec::new();
    for query in &queries {
        let skill = skills.iter().find(|skill| skill.name == query.expected);
        let skill = skill.unwrap_or_else(|| panic!("`{}` is no skill", query.expected));
        let mut described = Index::new(Ranking::Bm25);
        described.insert((), &Document { description: skill.description, ..Document::default() });
        let shares = !described.search(&Query::new(query.text).threshold(0.0)).is_empty();
        if shares == query.unlike {
            wrong.push(format!("`{}` and the description `{}`", query.text, skill.description));
        }
    }
    assert!(wrong.is_empty(), "labelled wrongly: {wrong:#?}");
}

/// FNV-1a over the text, however its lines end.
fn digest(text: &str) -> u64 {
    let bytes = text.bytes().filter(|byte| *byte != b'\r');
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The documented numbers say something while the queries are those of before the ranking was tuned. Who adds queries measures
/// both rankings anew and says so in `docs/search.md`.
#[test]
fn the_queries_are_those_that_were_frozen() {
    const FROZEN: u64 = 0x6a57_f81a_38f7_e2ee;
    assert_eq!(digest(QUERIES), FROZEN, "queries.txt has changed: {:#x}", digest(QUERIES));
}

#[test]
fn the_default_finds_at_least_as_much_as_the_other() {
    let queries = queries();
    let measure = |ranking| {
        let places = places(&index(ranking), queries.iter());
        (recall(&places, 5), reciprocal(&places))
    };
    assert_eq!(Ranking::default(), Ranking::Bm25);
    let (bm25, tf_idf) = (measure(Ranking::Bm25), measure(Ranking::TfIdf));
    assert!(bm25.0 >= tf_idf.0 && bm25.1 >= tf_idf.1, "BM25 {bm25:?}, TF-IDF {tf_idf:?}");
}

#[test]
fn the_documented_numbers_are_the_measured_ones() {
    let documented = include_str!("../../../docs/search.md");
    let table = table();
    assert!(documented.contains(&table), "docs/search.md does not have this table:\n{table}");
}

/// A third of these was not among the first ten while words alone counted: each has the words of all others, and names of them.
#[test]
fn the_beginning_of_a_description_finds_it_among_descriptions_of_the_same_words() {
    const WORDS: usize = 40;
    let mut seed = 7_u64;
    let mut word = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("topic{}", (seed >> 33) % WORDS as u64)
    };
    let mut texts: Vec<(String, String)> = Vec::new();
    for number in 0..60 {
        let name = if number < WORDS { format!("topic{number}") } else { format!("{}-{number}", word()) };
        texts.push((name, (0..WORDS).map(|_| word()).collect::<Vec<_>>().join(" ")));
    }
    for ranking in [Ranking::TfIdf, Ranking::Bm25] {
        let mut index = Index::new(ranking);
        for (name, description) in &texts {
            index.insert(name, &Document { name, description, ..Document::default() });
        }
        for (name, description) in &texts {
            let first: Vec<&str> = description.split_whitespace().take(8).collect();
            let hits = index.search(&Query::new(&first.join(" ")).limit(10));
            assert_eq!(hits.first().map(|hit| *hit.key), Some(name), "{ranking:?}: {first:?}");
        }
    }
}

#[test]
fn every_skill_is_found_by_its_name_and_by_the_beginning_of_its_description() {
    for ranking in [Ranking::TfIdf, Ranking::Bm25] {
        let index = index(ranking);
        for skill in skills() {
            let words: Vec<&str> = skill.description.split_whitespace().take(8).collect();
            for query in [skill.name.to_owned(), words.join(" ")] {
                let hits = index.search(&Query::new(&query).limit(10));
                assert!(
                    hits.iter().any(|hit| *hit.key == skill.name),
                    "{ranking:?}: `{query}` does not find {}",
                    skill.name
                );
            }
        }
    }
}
