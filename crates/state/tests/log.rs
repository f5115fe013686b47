//! A chained log under writers that run at once or are stopped, and under every change of one line.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "the tests change logs as nobody should")]

use proptest::prelude::*;
use skillgate_state::{ChainedLog, Durability, Expectation, FaultKind, StateError, Verdict};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("temporary directory"))
    }

    fn log(&self) -> std::path::PathBuf {
        self.0.path().join("log.jsonl")
    }

    /// A log with this many lines, and its text.
    fn with_lines(count: usize) -> (Self, String) {
        let home = Self::new();
        let log = open(&home.log());
        for index in 0..count {
            log.append(&format!(r#"{{"event":"test","index":{index}}}"#)).expect("append");
        }
        let text = std::fs::read_to_string(home.log()).unwrap_or_default();
        (home, text)
    }
}

fn open(path: &Path) -> ChainedLog {
    ChainedLog::open_ambient(path, Durability::Process).expect("open")
}

fn verify(text: impl AsRef<[u8]>, expected: Option<Expectation>) -> Verdict {
    skillgate_state::verify(&mut text.as_ref(), expected, &mut |_| Ok(())).expect("memory can be read")
}

#[test]
fn lines_are_numbered_chained_and_kept_for_the_owner() {
    let (home, text) = Home::with_lines(3);
    let mode = std::fs::metadata(home.log()).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with(r#"{"seq":1,"time":"2"#), "{}", lines[0]);
    assert!(lines[0].contains(&format!(r#""previous":"{}""#, "0".repeat(64))));
    let hash = |line: &str| line[line.len() - 66..line.len() - 2].to_owned();
    assert!(lines[2].contains(&format!(r#""previous":"{}","event":"test","index":2,"hash":"#, hash(lines[1]))));
    let verdict = verify(&text, None);
    assert_eq!((verdict.fault, verdict.cut), (None, Vec::new()));
    assert_eq!(verdict.head.map(|head| head.to_string()), Some(format!("3:{}", hash(lines[2]))));
}

#[test]
fn a_log_goes_on_where_another_process_left_it() {
    let (home, _) = Home::with_lines(2);
    let (first, second) = (open(&home.log()), open(&home.log()));
    for log in [&second, &first, &first, &second] {
        log.append(r#"{"event":"test"}"#).expect("append");
    }
    let verdict = verify(std::fs::read(home.log()).expect("read"), None);
    assert_eq!((verdict.fault, verdict.head.map(|head| head.seq)), (None, Some(6)));
}

#[test]
fn writers_at_once_give_one_chain() {
    let home = Home::new();
    let shared = open(&home.log());
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (shared, path) = (&shared, home.log());
            scope.spawn(move || {
                // Two threads share one handle; the others open the file as another process would.
                let own = (writer % 2 == 0).then(|| open(&path));
                for index in 0..50 {
                    let line = format!(r#"{{"writer":{writer},"index":{index}}}"#);
                    own.as_ref().unwrap_or(shared).append(&line).expect("append");
                }
            });
        }
    });
    let text = std::fs::read_to_string(home.log()).expect("read");
    let verdict = verify(&text, None);
    assert_eq!((verdict.fault, verdict.head.map(|head| head.seq)), (None, Some(200)));
    for writer in 0..4 {
        let own: Vec<&str> = text.lines().filter(|line| line.contains(&format!(r#""writer":{writer},"#))).collect();
        assert_eq!(own.len(), 50);
        for (index, line) in own.iter().enumerate() {
            assert!(line.contains(&format!(r#""index":{index},"#)), "each writer's lines are in its order: {line}");
        }
    }
}

#[test]
fn a_writer_stopped_at_any_byte_is_recovered_from_and_reported() {
    let (_, text) = Home::with_lines(3);
    let last = text.lines().last().expect("a line").len() + 1;
    for missing in 0..last {
        let home = Home::new();
        let rest = &text[..text.len() - missing];
        std::fs::write(home.log(), rest).expect("write");
        std::fs::set_permissions(home.log(), std::fs::Permissions::from_mode(0o600)).expect("mode");
        let before = verify(rest, None);
        let log = open(&home.log());
        log.append(r#"{"event":"after"}"#).expect("append");
        let after = verify(std::fs::read(home.log()).expect("read"), None);
        assert_eq!(after.fault, None, "{missing} bytes are missing");
        let kind = before.fault.map(|fault| (fault.line, fault.kind));
        match missing {
            0 => assert_eq!((kind, after.cut.len()), (None, 0)),
            // Only the line end is missing, so nothing was lost.
            1 => assert_eq!((kind, after.cut.len()), (Some((3, FaultKind::NotClosed)), 0)),
            _ => {
                assert_eq!(kind, Some((3, FaultKind::CutOff)), "{missing} bytes are missing");
                assert_eq!(
                    after.cut.iter().map(|cut| (cut.line, cut.bytes)).collect::<Vec<_>>(),
                    [(3, last - missing)]
                );
            }
        }
    }
}

#[test]
fn a_writer_stopped_while_it_recovers_is_recovered_from() {
    let (home, text) = Home::with_lines(2);
    let cut = |missing: usize| {
        let bytes = std::fs::read(home.log()).expect("read");
        std::fs::write(home.log(), &bytes[..bytes.len() - missing]).expect("write");
    };
    cut(10);
    let second = text.lines().nth(1).expect("a line").len() + 1 - 10;
    open(&home.log()).append(r#"{"event":"after"}"#).expect("append");
    let whole = std::fs::read_to_string(home.log()).expect("read");
    // In the middle of the recovery line, and right after the line end that closes the cut line.
    for keep in [text.len() - 10 + 40, text.len() - 10 + 1] {
        std::fs::write(home.log(), &whole[..keep]).expect("write");
        open(&home.log()).append(r#"{"event":"after"}"#).expect("append");
        let verdict = verify(std::fs::read(home.log()).expect("read"), None);
        assert_eq!(verdict.fault, None);
        assert_eq!((verdict.cut.len(), verdict.cut[0].line), (1, 2));
        assert!(verdict.cut[0].bytes >= second);
    }
}

#[test]
fn a_mark_without_its_cut_line_is_found() {
    let (home, text) = Home::with_lines(2);
    std::fs::write(home.log(), &text[..text.len() - 10]).expect("write");
    open(&home.log()).append(r#"{"event":"after"}"#).expect("append");
    let text = std::fs::read_to_string(home.log()).expect("read");
    let mut lines: Vec<&str> = text.lines().collect();
    let edited = lines[1].replacen("test", "tost", 1);
    let cut = lines.remove(1);
    let kind = |text: String| verify(text, None).fault.map(|fault| (fault.line, fault.kind));
    assert_eq!(kind(lines.join("\n") + "\n"), Some((2, FaultKind::NothingCut)));
    for other in [edited.as_str(), &cut[1..], &cut[..cut.len() - 1]] {
        lines.insert(1, other);
        assert_eq!(kind(lines.join("\n") + "\n"), Some((2, FaultKind::NotALine)), "{other}");
        lines.remove(1);
    }
}

#[test]
fn what_is_no_log_is_not_written_to() {
    for text in ["hello\n", "\n", "{}\n", "{\"seq\":1}\nexport PATH=x\n", "hello"] {
        let home = Home::new();
        std::fs::write(home.log(), text).expect("write");
        std::fs::set_permissions(home.log(), std::fs::Permissions::from_mode(0o600)).expect("mode");
        let error = ChainedLog::open_ambient(home.log(), Durability::Process).expect_err(text);
        assert!(matches!(error, StateError::DamagedLog { .. }), "{text:?}: {error}");
        assert_eq!(std::fs::read_to_string(home.log()).expect("read"), text);
    }
    let (home, text) = Home::with_lines(2);
    std::fs::write(home.log(), text.replacen(r#""index":1"#, r#""index":7"#, 1)).expect("write");
    let error = ChainedLog::open_ambient(home.log(), Durability::Process).expect_err("its last line was edited");
    assert!(matches!(error, StateError::DamagedLog { .. }), "{error}");
}

#[test]
fn files_of_others_links_and_devices_are_refused() {
    let (home, _) = Home::with_lines(1);
    std::fs::set_permissions(home.log(), std::fs::Permissions::from_mode(0o620)).expect("mode");
    let refused = |path: &Path| ChainedLog::open_ambient(path, Durability::Process).expect_err("it is refused");
    assert!(matches!(refused(&home.log()), StateError::Accessible { mode: 0o620, .. }));
    std::fs::set_permissions(home.log(), std::fs::Permissions::from_mode(0o644)).expect("mode");
    open(&home.log());
    let link = home.0.path().join("link");
    std::os::unix::fs::symlink(home.log(), &link).expect("link");
    assert!(matches!(refused(&link), StateError::Symlink { .. }));
    assert!(matches!(refused(home.0.path()), StateError::NotRegular { .. }));
    assert!(matches!(refused(Path::new("/dev/null")), StateError::NotRegular { .. }));
    assert!(matches!(refused(&home.0.path().join("no/log")), StateError::Io { action: "open", .. }));
}

#[test]
fn a_line_is_one_bounded_object() {
    let (home, before) = Home::with_lines(1);
    let log = open(&home.log());
    let long = format!(r#"{{"x":"{}"}}"#, "x".repeat(skillgate_state::MAX_LINE_BYTES));
    for object in ["", "{}", "[1]", "{\"a\":1}\n{\"b\":2}", "{\"a\":\"\x1b[2J\"}", &long] {
        let error = log.append(object).expect_err("it is refused");
        assert!(matches!(error, StateError::InvalidLine { .. }), "{error}");
    }
    assert_eq!(std::fs::read_to_string(home.log()).expect("read"), before);
    log.append(r#"{"a":1}"#).expect("the log still works");
}

#[test]
fn what_the_chain_cannot_show_is_found_with_an_expectation() {
    let (home, text) = Home::with_lines(4);
    let head = verify(&text, None).head.expect("it has lines");
    let shorter: String = text.split_inclusive('\n').take(3).collect();
    assert_eq!(verify(&shorter, None).fault, None, "a chain cannot show that its end is missing");
    let count = Some(Expectation { seq: 4, hash: None });
    let whole: Option<Expectation> = Some(head.to_string().parse().expect("a head"));
    for expected in [count, whole] {
        let fault = verify(&shorter, expected).fault.expect("the end is missing");
        assert_eq!((fault.line, fault.kind), (4, FaultKind::Shorter { expected: 4 }));
        assert_eq!(verify(&text, expected).fault, None);
    }
    // A log that was made anew from some line on holds, and is not the log that was there.
    std::fs::write(home.log(), &shorter).expect("write");
    open(&home.log()).append(r#"{"event":"forged"}"#).expect("append");
    let forged = std::fs::read_to_string(home.log()).expect("read");
    assert_eq!(verify(&forged, count).fault, None);
    let fault = verify(&forged, whole).fault.expect("its last line is another");
    assert_eq!((fault.line, fault.kind), (4, FaultKind::Unexpected { expected: head.hash }));
    // Later lines do not matter.
    std::fs::write(home.log(), &text).expect("write");
    open(&home.log()).append(r#"{"event":"later"}"#).expect("append");
    assert_eq!(verify(std::fs::read(home.log()).expect("read"), whole).fault, None);
}

#[test]
fn contents_are_looked_at_line_by_line() {
    let (_, text) = Home::with_lines(3);
    let mut seen = Vec::new();
    let verdict = skillgate_state::verify(&mut text.as_bytes(), None, &mut |line| {
        seen.push(line.text.to_owned());
        if line.head.seq == 2 { Err("it says nothing".to_owned()) } else { Ok(()) }
    });
    let fault = verdict.expect("memory can be read").fault.expect("the second is refused");
    assert_eq!((fault.line, fault.kind), (2, FaultKind::Contents("it says nothing".to_owned())));
    assert_eq!(seen, text.lines().take(2).collect::<Vec<_>>());
}

/// One change of a log.
#[derive(Clone, Debug)]
enum Change {
    Edit { line: usize, at: usize, to: u8 },
    Delete { line: usize },
    Swap { line: usize, other: usize },
    Duplicate { line: usize, to: usize },
    Insert { to: usize, text: String },
    CutTail { lines: usize },
}

fn change() -> impl Strategy<Value = Change> {
    let index = 0..1000_usize;
    prop_oneof![
        4 => (index.clone(), index.clone(), any::<u8>()).prop_map(|(line, at, to)| Change::Edit { line, at, to }),
        1 => index.clone().prop_map(|line| Change::Delete { line }),
        1 => (index.clone(), index.clone()).prop_map(|(line, other)| Change::Swap { line, other }),
        1 => (index.clone(), index.clone()).prop_map(|(line, to)| Change::Duplicate { line, to }),
        1 => (index.clone(), "[ -~]{0,40}|\\{\"seq\":[0-9],.{0,20}").prop_map(|(to, text)| Change::Insert { to, text }),
        1 => (1..8_usize).prop_map(|lines| Change::CutTail { lines }),
    ]
}

/// The changed log as bytes, and the kinds of fault that fit; `None` when nothing is changed.
fn changed(text: &str, change: &Change) -> Option<(Vec<u8>, &'static [&'static str], bool)> {
    let mut lines: Vec<Vec<u8>> = text.lines().map(|line| line.as_bytes().to_vec()).collect();
    let count = lines.len();
    let (kinds, tail): (&[&str], bool) = match change {
        Change::Edit { line, at, to } => {
            let line = &mut lines[line % count];
            let at = at % line.len();
            if line[at] == *to {
                return None;
            }
            line[at] = *to;
            (&["edited", "not-a-line"], false)
        }
        Change::Delete { line } => {
            lines.remove(line % count);
            (&["removed"], line % count == count - 1)
        }
        Change::Swap { line, other } => {
            let (line, other) = (line % count, other % count);
            if line == other {
                return None;
            }
            lines.swap(line, other);
            (&["reordered"], false)
        }
        Change::Duplicate { line, to } => {
            let line = line % count;
            let to = to % (count + 1);
            let copy = lines[line].clone();
            lines.insert(to, copy);
            (&["repeated", "reordered"], false)
        }
        Change::Insert { to, text } => {
            lines.insert(to % (count + 1), text.clone().into_bytes());
            (&["not-a-line"], false)
        }
        Change::CutTail { lines: cut } => {
            lines.truncate(count.saturating_sub(*cut));
            (&["shorter"], true)
        }
    };
    let bytes = lines.iter().flat_map(|line| line.iter().copied().chain([b'\n'])).collect();
    Some((bytes, kinds, tail))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_one_change_is_found(count in 1..8_usize, change in change()) {
        let (_, text) = Home::with_lines(count);
        let head = verify(&text, None).head.expect("it has lines");
        let expected = Some(Expectation { seq: head.seq, hash: Some(head.hash) });
        prop_assert_eq!(verify(&text, expected).fault, None);
        if let Some((bytes, kinds, tail)) = changed(&text, &change) {
            let with = verify(&bytes, expected).fault;
            prop_assert!(with.is_some(), "{:?}", change);
            let without = verify(&bytes, None).fault;
            if tail {
                prop_assert_eq!(without, None, "only the tail is missing");
                prop_assert_eq!(with.map(|fault| fault.kind.code()), Some("shorter"));
            } else {
                let code = without.map(|fault| fault.kind.code());
                prop_assert!(code.is_some_and(|code| kinds.contains(&code)), "{:?} {:?}", change, code);
            }
        }
    }
}
