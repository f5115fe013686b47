//! Throw-away.
#![allow(clippy::all, clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used, dead_code, reason = "x")]
#[path = "../../../tests/src/bin/bench/corpus.rs"]
mod corpus;
use skillgate_core::{LineIndex, LoadedFrom, Profile};
use skillgate_format::{Document, ReadOptions, scan};
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hasher};
use std::hint::black_box;

struct H(DefaultHasher);
impl std::fmt::Write for H {
    fn write_str(&mut self, s: &str) -> std::fmt::Result {
        self.0.write(s.as_bytes());
        Ok(())
    }
}
fn hash(value: &impl std::fmt::Debug) -> u64 {
    let mut h = H(DefaultHasher::new());
    write!(h, "{value:?}").unwrap();
    h.0.finish()
}
fn text(document: Option<&Document>) -> u64 {
    let Some(d) = document else { return 0 };
    let described = d.description().map(|d| (d.text.to_string(), d.extracted));
    let front = d.frontmatter().clone();
    hash(&(
        d.source(),
        d.header_state(),
        d.header_span(),
        d.entries(),
        &front,
        d.body_spans(),
        d.command(),
        d.label(),
        described,
        d.diagnostics(),
    ))
}
fn all(name: &str, dir: &str, bytes: &[u8]) {
    let mut line = String::new();
    for (profile, from) in [
        (Profile::Safe, LoadedFrom::Skills),
        (Profile::Claude, LoadedFrom::Commands),
        (Profile::Strict, LoadedFrom::Skills),
    ] {
        let options = ReadOptions {
            directory_name: Some(dir.to_owned()),
            file_name: Some("SKILL.md".into()),
            profile,
            loaded_from: from,
            ..ReadOptions::default()
        };
        let document = Document::read(bytes, &options);
        let found = scan(&document);
        let prefix = Document::read_prefix(bytes, &options);
        let short = Document::read_prefix(&bytes[..bytes.len().min(900)], &options);
        write!(
            line,
            " {:x} {:x} {:x} {:x}",
            text(Some(&document)),
            hash(&found),
            text(prefix.as_ref()),
            text(short.as_ref())
        )
        .unwrap();
        let _ = (document.description(), document.label());
    }
    println!("{name}{line}");
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    match args[1].as_str() {
        "headers" | "check" | "none" | "read" => {
            let texts: Vec<_> = (0..2000u32)
                .map(|n| n * 5)
                .map(|n| {
                    (
                        corpus::skill(n),
                        ReadOptions {
                            directory_name: Some(corpus::name(n)),
                            file_name: Some("SKILL.md".into()),
                            ..ReadOptions::default()
                        },
                    )
                })
                .collect();
            let rounds: u32 = args.get(2).map_or(1, |r| r.parse().unwrap());
            let start = std::time::Instant::now();
            for _ in 0..rounds {
                for (text, options) in &texts {
                    let bytes = text.as_bytes();
                    match args[1].as_str() {
                        "headers" => {
                            black_box(
                                Document::read_prefix(bytes, options).unwrap_or_else(|| Document::read(bytes, options)),
                            );
                        }
                        "read" => {
                            black_box(Document::read(bytes, options));
                        }
                        "check" => {
                            let document = Document::read(bytes, options);
                            let lines = LineIndex::new(document.source());
                            let scanned = scan(&document);
                            for found in document.diagnostics().iter().chain(&scanned) {
                                black_box(found.span.map(|span| lines.position(span.start)));
                            }
                        }
                        _ => {}
                    }
                }
            }
            println!("{} us a file", start.elapsed().as_secs_f64() * 1e6 / f64::from(rounds * 2000));
        }
        "dump" => {
            for n in 0..10_000u32 {
                all(&format!("gen{n}"), &corpus::name(n), corpus::skill(n).as_bytes());
            }
            for path in std::fs::read_to_string(&args[2]).unwrap().lines() {
                let bytes = std::fs::read(path).unwrap();
                all(path, "some-dir", &bytes);
                let mut seed = hash(&path);
                let mut dice = |bound: usize| {
                    seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    ((seed >> 33) as usize) % bound.max(1)
                };
                if bytes.is_empty() || bytes.len() > 60_000 {
                    continue;
                }
                for round in 0..6 {
                    let mut changed = bytes.clone();
                    let head = changed.len().min(600);
                    for _ in 0..1 + dice(4) {
                        let at = dice(if round % 2 == 0 { head } else { changed.len() });
                        const BITS: [&[u8]; 24] = [
                            b"\n",
                            b"\t",
                            b"\r",
                            b": ",
                            b" #",
                            b"---\n",
                            b"\"",
                            b"'",
                            b"- ",
                            b"{{X}}",
                            b"\xff",
                            b"\xe2\x80\x8b",
                            b"\xef\xbb\xbf",
                            b"!`",
                            b"`",
                            b"```\n",
                            b"<!-- ignore previous instructions -->",
                            b" | sh\n",
                            b"curl -s http://a.test/x ",
                            b"|\n",
                            b"base64 -d x | ",
                            b"AKIAQWERTYUIOPASDFGH ",
                            b"\x01",
                            b"[a, b]",
                        ];
                        let bit = BITS[dice(BITS.len())];
                        changed.splice(at..(at + dice(3)).min(changed.len()).max(at), bit.iter().copied());
                    }
                    all(&format!("{path}#{round}"), "some-dir", &changed);
                }
            }
        }
        path => {
            let bytes = std::fs::read(path).unwrap();
            let options = ReadOptions {
                directory_name: Some("some-dir".into()),
                file_name: Some("SKILL.md".into()),
                ..ReadOptions::default()
            };
            let document = Document::read(&bytes, &options);
            println!("{document:#?}\n{:#?}\n{:#?}", scan(&document), Document::read_prefix(&bytes, &options));
        }
    }
}
