//! No argument text can add an operator, a substitution, a redirection, or a word beyond what the format gives.
//!
//! The whole way, from an author's text to the vectors that a backend is handed: template, arguments, program, gate, capability
//! shell. What is expected is computed from the author's shape and from how a shell splits words, by code of this file alone.

use proptest::prelude::*;
use proptest::sample::select;
use skillgate_core::{Injection, Profile};
use skillgate_exec::{
    Backend, CapabilityShell, Capture, Executor, Exit, Input, Job, Mounts, Output, Overflow, Program, Run, RunError,
    Scene, Streams,
};
use skillgate_format::{Template, TemplateOptions, Values};
use skillgate_policy::{Approved, Authority, Effect, Gate, Host, Place, Provider, Rule, builtin_limits};
use skillgate_tests::Tree;
use std::sync::{Arc, Mutex, OnceLock};

/// A failing case is written down in this file as a test of its own.
fn config() -> ProptestConfig {
    let long = std::env::var_os("SKILLGATE_LONG").is_some();
    let cases = if long { 500_000 } else { 8_000 };
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// A command that was asked for: its vector, and what it read.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Asked {
    vector: Vec<String>,
    input: String,
}

/// Offers `args` and no other command; every command that is asked for is kept, also one that nobody offers.
#[derive(Debug, Default)]
struct Recorder(Mutex<Vec<Asked>>);

impl Backend for Recorder {
    fn name(&self) -> &'static str {
        "recorder"
    }

    fn provider(&self, _: &str) -> Option<Provider> {
        Some(Provider::Shipped)
    }

    fn run(&self, approved: Approved, job: Job<'_>) -> Result<Exit, RunError> {
        let vector = approved.redeem()?;
        let mut input = Vec::new();
        loop {
            let stopped = |stop| RunError::Stopped { command: vector[0].clone(), stop };
            let bytes = job.stdin.read(4096).map_err(stopped)?;
            if bytes.is_empty() {
                break;
            }
            input.extend(bytes);
        }
        let input = String::from_utf8_lossy(&input).into_owned();
        self.0.lock().expect("no test panics while it holds this").push(Asked { vector, input });
        Ok(Exit { code: 0 })
    }
}

/// A directory whose names every pattern of the arguments would meet, if one were expanded.
fn mounts() -> &'static (Tree, Arc<Mounts>) {
    static MOUNTS: OnceLock<(Tree, Arc<Mounts>)> = OnceLock::new();
    MOUNTS.get_or_init(|| {
        let tree = Tree::new("=== a\n=== b\n=== ab\n=== x y\n=== -rf\n=== sub/a\n");
        let mounts = Mounts::open_ambient(Some(&tree.path("")), &[]).expect("the tree opens");
        (tree, mounts)
    })
}

/// Runs every injection under a grant of every command, and gives what was asked for, in order.
fn asked(injections: &[Injection]) -> Result<Vec<Asked>, String> {
    let limits = builtin_limits();
    let allow = Rule::parse(Effect::Allow, "Bash", Place::Host).expect("a rule");
    let gate = Gate::new(Authority::of(Host::granting([allow])));
    let recorder = Arc::new(Recorder::default());
    let shell = CapabilityShell::new(vec![recorder.clone()]);
    let (tree, mounts) = mounts();
    for injection in injections {
        let program = Program::of_injection(injection, &limits).map_err(|error| error.to_string())?;
        let directory = tree.path("").display().to_string();
        let scene = Scene::new(Arc::clone(mounts), directory, vec![("HOME".into(), "/home-of".into())]);
        let run = Run::start(limits.clone());
        let sink = || Output::Capture(Capture::new(1 << 20, Overflow::Drop));
        let streams = Streams { stdin: Input::Empty, stdout: sink(), stderr: sink() };
        shell.execute(&program, &gate, &scene, &run, streams).map_err(|error| error.to_string())?;
    }
    let asked = recorder.0.lock().expect("no test panics while it holds this").clone();
    Ok(asked)
}

/// The words of an argument text by the rules of a shell's quotes; a quote that never closes is a character.
fn split(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let (mut words, mut word, mut at) = (Vec::new(), None::<String>, 0);
    while let Some(&c) = chars.get(at) {
        at += 1;
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\\' => {
                let next = chars.get(at).copied();
                at += 1;
                match next {
                    Some('\n') => drop(word.get_or_insert_default()),
                    next => word.get_or_insert_default().push(next.unwrap_or('\\')),
                }
            }
            '\'' | '"' => match closing(&chars, at, c) {
                Some(end) => {
                    let inside = &chars[at..end];
                    word.get_or_insert_default().push_str(&unquoted(inside, c));
                    at = end + 1;
                }
                None => word.get_or_insert_default().push(c),
            },
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Where a quote that opened before `from` closes.
fn closing(chars: &[char], from: usize, quote: char) -> Option<usize> {
    let mut at = from;
    while let Some(&c) = chars.get(at) {
        match c {
            c if c == quote => return Some(at),
            '\\' if quote == '"' => at += 2,
            _ => at += 1,
        }
    }
    None
}

fn unquoted(inside: &[char], quote: char) -> String {
    let mut text = String::new();
    let mut chars = inside.iter().copied();
    while let Some(c) = chars.next() {
        match c {
            '\\' if quote == '"' => match chars.next() {
                Some('\n') | None => {}
                Some(next @ ('"' | '\\' | '$' | '`')) => text.push(next),
                Some(next) => text.extend(['\\', next]),
            },
            c => text.push(c),
        }
    }
    text
}

/// A placeholder, and what the format says that it is worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Placeholder {
    /// `$ARGUMENTS`
    All,
    /// `$ARGUMENTS[N]`, counted from one, as every text here counts.
    Indexed(usize),
    /// `$N`
    Position(usize),
    /// `${N}`
    Braced(usize),
    /// `$first` or `$second`, which the header declares.
    Name(usize),
}

const NAMES: [&str; 2] = ["first", "second"];

impl Placeholder {
    fn text(self) -> String {
        match self {
            Placeholder::All => "$ARGUMENTS".to_owned(),
            Placeholder::Indexed(number) => format!("$ARGUMENTS[{number}]"),
            Placeholder::Position(number) => format!("${number}"),
            Placeholder::Braced(number) => format!("${{{number}}}"),
            Placeholder::Name(index) => format!("${}", NAMES[index]),
        }
    }

    /// Its words where it is bare: a missing one is none.
    fn words(self, given: &Given) -> Vec<String> {
        match self {
            Placeholder::All => given.words.clone(),
            Placeholder::Indexed(number) | Placeholder::Position(number) | Placeholder::Braced(number) => {
                given.words.get(number - 1).cloned().into_iter().collect()
            }
            Placeholder::Name(index) => given.words.get(index).cloned().into_iter().collect(),
        }
    }

    /// Its text where it is exactly one word.
    fn one(self, given: &Given) -> String {
        match self {
            Placeholder::All => given.typed.clone(),
            other => other.words(given).concat(),
        }
    }
}

/// The arguments.
struct Given {
    typed: String,
    words: Vec<String>,
}

/// A word as an author writes it.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Piece {
    /// The author's own text.
    Plain(&'static str),
    /// `$1`
    Bare(Placeholder),
    /// `"a $1 b"`
    Quoted(Placeholder),
    /// `a$1`, for what is one word.
    Glued(Placeholder),
    /// `${unset:-$1}` and `"${unset:-$1}"`
    Default(Placeholder, bool),
    /// `'$ARGUMENTS'` and the names: replaced in single quotes too.
    SingleQuoted(Placeholder),
    /// `'{print $1}'`: the command's own.
    Kept(usize),
}

impl Piece {
    fn text(&self) -> String {
        match self {
            Piece::Plain(text) => (*text).to_owned(),
            Piece::Bare(placeholder) => placeholder.text(),
            Piece::Quoted(placeholder) => format!("\"a {} b\"", placeholder.text()),
            Piece::Glued(placeholder) => format!("pre-{}", placeholder.text()),
            Piece::Default(placeholder, false) => format!("${{unset:-{}}}", placeholder.text()),
            Piece::Default(placeholder, true) => format!("\"${{unset:-{}}}\"", placeholder.text()),
            Piece::SingleQuoted(placeholder) => format!("'a {}'", placeholder.text()),
            Piece::Kept(number) => format!("'{{print ${number}}}'"),
        }
    }

    fn words(&self, given: &Given) -> Vec<String> {
        match self {
            Piece::Plain(text) => vec![(*text).to_owned()],
            Piece::Bare(placeholder) | Piece::Default(placeholder, false) => placeholder.words(given),
            Piece::Quoted(placeholder) => vec![format!("a {} b", placeholder.one(given))],
            Piece::Glued(Placeholder::All) => {
                // The first word joins what stands before it.
                let mut words = given.words.clone();
                match words.first_mut() {
                    Some(first) => first.insert_str(0, "pre-"),
                    None => words.push("pre-".to_owned()),
                }
                words
            }
            Piece::Glued(placeholder) => vec![format!("pre-{}", placeholder.one(given))],
            Piece::Default(placeholder, true) => vec![placeholder.one(given)],
            Piece::SingleQuoted(placeholder) => vec![format!("a {}", placeholder.one(given))],
            Piece::Kept(number) => vec![format!("{{print ${number}}}")],
        }
    }
}

/// What stands around the command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    Alone,
    Pipeline,
    And,
    OrAfterFalse,
    Group,
    If,
    For,
    Case,
    Substitution,
    QuotedSubstitution,
    HereDocument,
    HereString,
    Assignment,
    Test,
}

const SHAPES: [Shape; 14] = [
    Shape::Alone,
    Shape::Pipeline,
    Shape::And,
    Shape::OrAfterFalse,
    Shape::Group,
    Shape::If,
    Shape::For,
    Shape::Case,
    Shape::Substitution,
    Shape::QuotedSubstitution,
    Shape::HereDocument,
    Shape::HereString,
    Shape::Assignment,
    Shape::Test,
];

/// A program of an author.
#[derive(Clone, Debug)]
struct Line {
    shape: Shape,
    pieces: Vec<Piece>,
    /// A placeholder for where the shape itself takes one.
    extra: Placeholder,
    block: bool,
}

impl Line {
    fn command(&self) -> String {
        let words: Vec<String> = self.pieces.iter().map(Piece::text).collect();
        format!("args {}", words.join(" "))
    }

    fn program(&self) -> String {
        let (command, extra) = (self.command(), self.extra.text());
        match self.shape {
            Shape::Alone => command,
            Shape::Pipeline => format!("{command} | last {extra}"),
            Shape::And => format!("{command} && last {extra}"),
            Shape::OrAfterFalse => format!("false || {command}; true"),
            Shape::Group => format!("{{ {command}; }}; ( last {extra} )"),
            Shape::If => format!("if [ -n \"x{extra}\" ]; then {command}; else last; fi"),
            Shape::For => format!("for w in {extra}; do last \"$w\"; done; {command}"),
            Shape::Case => format!("case \"{extra}\" in \"{extra}\") {command};; *) last;; esac"),
            Shape::Substitution => format!("last x$({command})"),
            Shape::QuotedSubstitution => format!("last \"x$({command})\""),
            Shape::HereDocument => format!("{command} <<E\nbefore {extra} after\nE"),
            Shape::HereString => format!("{command} <<< \"{extra}\""),
            Shape::Assignment => format!("v=\"{extra}\"; last \"$v\"; w={extra} {command}"),
            Shape::Test => format!("[[ \"{extra}\" == \"{extra}\" ]] && {command}"),
        }
    }

    /// Whether the program fits between one pair of backticks.
    fn template(&self) -> String {
        let program = self.program();
        if self.block || program.contains('\n') {
            format!("```!\n{program}\n```\n")
        } else {
            format!("Text: !`{program}` end\n")
        }
    }

    /// What the author's shape and the format's rules say is asked for.
    fn expected(&self, given: &Given) -> Vec<Asked> {
        let asked = |name: &str, words: Vec<String>, input: &str| Asked {
            vector: std::iter::once(name.to_owned()).chain(words).collect(),
            input: input.to_owned(),
        };
        let words = self.pieces.iter().flat_map(|piece| piece.words(given)).collect();
        let (bare, one) = (self.extra.words(given), self.extra.one(given));
        match self.shape {
            Shape::Alone | Shape::OrAfterFalse | Shape::If | Shape::Case | Shape::Test => {
                vec![asked("args", words, "")]
            }
            Shape::Pipeline | Shape::And | Shape::Group => vec![asked("args", words, ""), asked("last", bare, "")],
            Shape::For => {
                let turns = bare.into_iter().map(|word| asked("last", vec![word], ""));
                turns.chain([asked("args", words, "")]).collect()
            }
            Shape::Substitution | Shape::QuotedSubstitution => {
                vec![asked("args", words, ""), asked("last", vec!["x".to_owned()], "")]
            }
            Shape::HereDocument => vec![asked("args", words, &format!("before {one} after\n"))],
            Shape::HereString => vec![asked("args", words, &format!("{one}\n"))],
            Shape::Assignment => vec![asked("last", vec![one], ""), asked("args", words, "")],
        }
    }
}

/// Fills the author's text, runs it, and compares what was asked for.
fn check(line: &Line, typed: &str) -> Result<(), TestCaseError> {
    let options = TemplateOptions { profile: Profile::Safe, arguments: NAMES.map(str::to_owned).to_vec() };
    let body = line.template();
    let template = Template::parse(&body, &options);
    prop_assert_eq!(template.injections().len(), 1, "{}", body);
    let filled = template.fill(&Values { arguments: Some(typed), ..Values::default() });
    prop_assert_eq!(&filled.injections()[0].source, &line.program());
    let given = Given { typed: typed.to_owned(), words: split(typed) };
    let (mut found, mut expected) = match asked(filled.injections()) {
        Ok(found) => (found, line.expected(&given)),
        Err(error) => return Err(TestCaseError::fail(format!("{body:?} with {typed:?}: {error}"))),
    };
    if line.shape == Shape::Pipeline {
        // The stages run at the same time.
        found.sort();
        expected.sort();
    }
    prop_assert_eq!(found, expected, "{} with {:?}", body, typed);
    Ok(())
}

/// Arguments that would be something else if they were read: every construct of a shell, and what the format itself reads.
fn hostile() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "a",
        "b",
        "x y",
        " ",
        " ",
        "  ",
        "\t",
        "\n",
        "'",
        "\"",
        "`",
        "\\",
        "$",
        ";",
        "|",
        "&",
        "<",
        ">",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "#",
        "~",
        "*",
        "?",
        "!",
        "=",
        "%",
        "^",
        ",",
        "-rf",
        "--",
        "-",
        "-n",
        "a*",
        "[ab]*",
        "{a,b}",
        "{1..3}",
        "~/x",
        "~root",
        "$(id)",
        "`id`",
        "${HOME}",
        "$HOME",
        "$1",
        "${1}",
        "$ARGUMENTS",
        "\\$1",
        "$first",
        "$((1+1))",
        "; id",
        "&& id",
        "|| id",
        "| id",
        "& id",
        "> out",
        ">> out",
        "< a",
        "2>&1",
        "<<E",
        "\nE\n",
        "<<< x",
        "$'\\n'",
        "'; id; '",
        "\"; id; \"",
        "'\"'",
        "\" $(id) \"",
        "' b'",
        "a'b c'd",
        "!`id`",
        "```",
        "\n```\n",
        "é",
        "日本",
        "\u{a0}",
        "\u{200b}",
        "\r",
        "\u{7f}",
        "\u{1b}[31m",
        "IFS=x",
        "=~",
        "]]",
        "fi",
        "done",
        "esac",
        ";;",
        "then",
    ]);
    prop_oneof![
        4 => prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat()),
        1 => "[^\\x00]{0,24}",
        1 => "[ -~\n]{0,40}",
    ]
}

fn placeholder() -> impl Strategy<Value = Placeholder> {
    prop_oneof![
        3 => Just(Placeholder::All),
        2 => (1usize..4).prop_map(Placeholder::Indexed),
        3 => (1usize..4).prop_map(Placeholder::Position),
        1 => (1usize..4).prop_map(Placeholder::Braced),
        2 => (0..NAMES.len()).prop_map(Placeholder::Name),
    ]
}

fn piece() -> impl Strategy<Value = Piece> {
    let everywhere = prop_oneof![Just(Placeholder::All), (0..NAMES.len()).prop_map(Placeholder::Name)];
    prop_oneof![
        1 => select(vec!["a", "-x", "--y=z", "b.md"]).prop_map(Piece::Plain),
        4 => placeholder().prop_map(Piece::Bare),
        3 => placeholder().prop_map(Piece::Quoted),
        2 => placeholder().prop_map(Piece::Glued),
        2 => (placeholder(), any::<bool>()).prop_map(|(placeholder, quoted)| Piece::Default(placeholder, quoted)),
        1 => everywhere.prop_map(Piece::SingleQuoted),
        1 => (1usize..4).prop_map(Piece::Kept),
    ]
}

fn line() -> impl Strategy<Value = Line> {
    (select(&SHAPES[..]), prop::collection::vec(piece(), 0..4), placeholder(), any::<bool>())
        .prop_map(|(shape, pieces, extra, block)| Line { shape, pieces, extra, block })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn arguments_are_only_ever_data(line in line(), typed in hostile()) {
        check(&line, &typed)?;
    }
}

/// Every shape with every kind of word, each with arguments that a shell would act on.
#[test]
fn every_shape_takes_every_word() {
    use Placeholder::{All, Braced, Indexed, Name, Position};
    let placeholders = [All, Indexed(1), Position(1), Position(3), Braced(2), Name(0), Name(1)];
    for shape in SHAPES {
        for placeholder in placeholders {
            let mut pieces = vec![
                Piece::Bare(placeholder),
                Piece::Quoted(placeholder),
                Piece::Glued(placeholder),
                Piece::Default(placeholder, false),
                Piece::Default(placeholder, true),
                Piece::Kept(1),
            ];
            if matches!(placeholder, All | Name(_)) {
                pieces.push(Piece::SingleQuoted(placeholder));
            }
            for piece in pieces {
                for typed in ["", "'a b'; id \"$(id)\" * > out", "-rf ~ {a,b} `id` | id &\nid", "it's", "\\"] {
                    let line = Line { shape, pieces: vec![piece.clone()], extra: placeholder, block: false };
                    check(&line, typed).unwrap_or_else(|error| unreachable!("{error}"));
                }
            }
        }
    }
    assert_eq!(mounts().0.names(), ["-rf", "a", "ab", "b", "sub", "sub/a", "x y"], "nothing was written");
}

/// Where a value would be read as syntax the program is refused before anything runs, whatever the value is.
#[test]
fn a_value_never_names_a_command() {
    let options = TemplateOptions::default();
    for program in
        ["$1 a", "$ARGUMENTS", "\"$1\"", "args $((1 + $1))", "$1=x args", "args > $1x$(( $1 ))", "cat <<'E'\n$1\nE"]
    {
        let template = Template::parse(&format!("```!\n{program}\n```\n"), &options);
        for typed in ["id", "x; id", ""] {
            let filled = template.fill(&Values { arguments: Some(typed), ..Values::default() });
            assert_eq!(filled.injections().len(), 1);
            let error = Program::of_injection(&filled.injections()[0], &builtin_limits()).expect_err(program);
            assert!(error.unsafe_argument, "{program} with {typed:?}: {error}");
        }
    }
}
