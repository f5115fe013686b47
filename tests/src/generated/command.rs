//! Commands and what joins them.

use super::Text;
use super::{expansion, word};
use proptest::prelude::*;
use proptest::sample::select;

/// A list on one line, and the here-documents that have to follow its line.
#[derive(Clone, Debug)]
pub(super) struct List {
    line: String,
    documents: String,
}

impl List {
    fn of(line: impl Into<String>) -> Self {
        Self { line: line.into(), documents: String::new() }
    }

    /// The list with what ends it; a list with here-documents ends with their lines.
    pub(super) fn ended(&self, end: &str) -> String {
        if self.documents.is_empty() {
            format!("{}{end}", self.line)
        } else {
            format!("{}\n{}", self.line, self.documents)
        }
    }

    /// Whether here-documents belong to it that something else than their own lines follows.
    pub(super) fn has_documents_within(&self) -> bool {
        !self.documents.is_empty() && self.line.contains(['|', '(', '{', ';', '&'])
            || self.documents.is_empty() && self.line.contains("<<") && self.line.contains('\n')
    }

    fn joined(self, operator: &str, other: Self) -> Self {
        Self { line: self.line + operator + &other.line, documents: self.documents + &other.documents }
    }
}

type Lists = BoxedStrategy<List>;

/// Lists of commands, two levels deep.
pub(super) fn lists() -> Lists {
    let words = word::plain_words();
    let shallow = simple(&words, &Just(List::of("args s")).boxed());
    let words = word::words(&shallow);
    let middle = list(&simple(&words, &shallow), &shallow);
    let words = prop_oneof![3 => words, 1 => word::words(&middle)].boxed();
    list(&simple(&words, &middle), &middle)
}

/// One or more commands; `inner` are the lists of compound commands.
fn list(simple: &Lists, inner: &Lists) -> Lists {
    let command = prop_oneof![5 => simple.clone(), 4 => compound(inner)].boxed();
    let pipeline = prop_oneof![
        8 => command.clone(),
        1 => command.clone().prop_map(|list| List { line: format!("! {}", list.line), ..list }),
        2 => (command.clone(), select(
            &[
                " | ", "|",
            ][..],
        ), reader(inner)).prop_map(|(left, pipe, right)| left.joined(pipe, right)),
        1 => (command, reader(inner), reader(inner))
            .prop_map(|(first, second, third)| first.joined(" | ", second).joined(" | ", third)),
    ]
    .boxed();
    let operator = select(&[" && ", " || ", "; ", "&&", " ||\n"][..]);
    let joined = (pipeline.clone(), operator, pipeline.clone()).prop_map(|(left, operator, right)| {
        // A line end begins the here-documents of the line.
        let operator = if left.documents.is_empty() { operator } else { " && " };
        left.joined(operator, right)
    });
    prop_oneof![3 => pipeline, 2 => joined].boxed()
}

/// A stage that reads all of its input.
fn reader(inner: &Lists) -> Lists {
    prop_oneof![
        3 => Just(List::of("cat")),
        1 => Just(List::of("while IFS= read -r l; do args \"$l\"; done")),
        1 => Just(List::of("while read a b; do args \"$a\" \"$b\"; done")),
        1 => inner.clone().prop_map(|list| List::of(format!("{{ cat; {}}}", list.ended("; ")))),
        1 => inner.clone().prop_map(|list| List::of(format!("(cat; {})", list.ended("")))),
    ]
    .boxed()
}

fn simple(words: &Text, inner: &Lists) -> Lists {
    let arguments = |count| prop::collection::vec(words.clone(), count).prop_map(|words| words.join(" "));
    let line = prop_oneof![
        8 => arguments(0..4).prop_map(|words| format!("args {words}")),
        2 => arguments(1..3).prop_map(|words| format!("echo {words}")),
        1 => (select(&["-e", "-n", "-en", "-E"][..]), select(&["'a\\tb'", "'\\x41\\c'", "\"a\\\\nb\"", "'\\0101'"][..]))
            .prop_map(|(option, text)| format!("echo {option} {text}")),
        1 => arguments(1..3).prop_map(|words| format!("printf '%s\\n' {words}")),
        4 => assignment(words),
        2 => (assignment(words), arguments(0..3)).prop_map(|(assignment, words)| format!("{assignment} args {words}")),
        1 => environment(words),
        2 => test(words),
        2 => condition(words).prop_map(|test| format!("[[ {test} ]]")),
        1 => expansion::expression().prop_map(|text| format!("(( {text} ))")),
        2 => select(
            &[
                "true", "false", ":", "fail 3", "fail 1", "nosuch", "cat", "shift", "shift 2",
            ][..],
        )
        .prop_map(str::to_owned),
        1 => select(
            &[
                "cd sub", "cd sub/..", "cd ../8", "cd nosuch", "pwd", "cd sub && pwd", "cd sub; args *; cd ..",
                "cd -- sub; cd - ", "cd",
            ][..],
        )
        .prop_map(str::to_owned),
        1 => select(
            &[
                "exit 3", "exit", "break", "continue", "break 2", "return 4", "return",
            ][..],
        )
        .prop_map(str::to_owned),
        1 => arguments(0..3).prop_map(|words| format!("set -- {words}")),
        1 => read(words),
        1 => select(
            &[
                "eval 'args a; args b'", "eval \"args \\$x\"", "eval args '$y'", "command echo d",
                "command echo -n e",
            ][..],
        )
        .prop_map(str::to_owned),
    ];
    let redirected =
        (line.clone(), redirection(words)).prop_map(|(line, redirection)| List::of(format!("{line} {redirection}")));
    // Where standard error joins the output nothing but `fail` may complain: the shells' own messages are not compared.
    let joined = (
        select(&["fail 3", "args a", "{ f() { fail; args f; }; f; }", "{ fail 1; args b; }"][..]),
        select(
            &["2>&1", "2>&1 >/dev/null", "2>&1 | cat", "|& cat", ">&2 2>&1", "2>&1 1>&2 | cat", "2>/dev/null | cat"][..],
        ),
    );
    prop_oneof![
        16 => line.prop_map(List::of),
        4 => redirected,
        4 => here_document(words, inner),
        1 => joined.prop_map(|(line, redirection)| List::of(format!("{line} {redirection}"))),
    ]
    .boxed()
}

fn assignment(words: &Text) -> Text {
    (select(&["x", "y", "z", "u", "e"][..]), select(&["=", "=", "+="][..]), words.clone())
        .prop_map(|(name, operator, word)| format!("{name}{operator}{word}"))
        .boxed()
}

fn environment(words: &Text) -> Text {
    prop_oneof![
        words.clone().prop_map(|word| format!("z={word} envof z")),
        words.clone().prop_map(|word| format!("export z={word}; envof z")),
        Just("export x; envof x; envof y".to_owned()),
        Just("unset x; envof x; args \"${x-unset}\"".to_owned()),
        words.clone().prop_map(|word| format!("x={word} envof x; args \"$x\"")),
    ]
    .boxed()
}

/// Redirections that write nothing.
fn redirection(words: &Text) -> Text {
    prop_oneof![
        3 => select(
            &[
                ">/dev/null", "2>/dev/null", ">&2", "1>&2", "&>/dev/null", ">/dev/null 2>&1", "</dev/null", "< a.md",
                "<foo", ">>/dev/null", ">|/dev/null", "<&-", "0<a.md",
            ][..],
        )
            .prop_map(str::to_owned),
        1 => words.clone().prop_map(|word| format!("<<< {word}")),
        1 => words.clone().prop_map(|word| format!("<<<{word} 2>/dev/null")),
    ]
    .boxed()
}

fn here_document(words: &Text, inner: &Lists) -> Lists {
    let line = prop_oneof![
        4 => select(
            &[
                "a b", "$x", "${y}", "  \"quoted\" 'single'", "\\$x \\a \\\\", "$((1+2))", "`args q`", "a\\\nb", "*",
                "\ttab", "~", "{a,b}", "$", "",
            ][..],
        )
            .prop_map(str::to_owned),
        1 => words.clone(),
        1 => inner.clone().prop_map(|list| format!("$({})", list.ended(""))),
    ];
    let lines = prop::collection::vec(line, 0..3)
        .prop_map(|lines| lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    (
        select(&["<<E", "<<'E'", "<<-E", "<<\"E\"", "<<\\E", "<< E"][..]),
        lines,
        select(&["cat", "while read -r l; do args \"$l\"; done", "read a; args \"$a\""][..]),
    )
        .prop_map(|(operator, lines, command)| {
            let line = match command.strip_prefix("read a") {
                Some(rest) => format!("read a {operator}{rest}"),
                None => format!("{command} {operator}"),
            };
            List { line, documents: format!("{lines}E\n") }
        })
        .boxed()
}

fn test(words: &Text) -> Text {
    let word = prop_oneof![
        2 => words.clone(),
        3 => select(&["\"$x\"", "\"$e\"", "\"${u-}\"", "a", "\"$y\"", "foo", "a.md"][..]).prop_map(str::to_owned),
    ];
    let unary = select(&["-z", "-n", "-f", "-d", "-e", "-s", "-h", "!"][..]);
    let binary = select(&["=", "!=", "==", "-eq", "-lt", "-ge", "-ne"][..]);
    let number = select(&["1", "3", "$n", "\"$n\"", "-2", "' 2 '", "x"][..]);
    prop_oneof![
        2 => (unary.clone(), word.clone()).prop_map(|(operator, word)| format!("[ {operator} {word} ]")),
        2 => (word.clone(), binary, word.clone())
            .prop_map(|(left, operator, right)| format!("[ {left} {operator} {right} ]")),
        2 => (number.clone(), select(
            &[
                "-eq", "-ne", "-lt", "-le", "-gt", "-ge",
            ][..],
        ), number).prop_map(|(left, operator, right)| format!("[ {left} {operator} {right} ]")),
        1 => (word.clone(), select(
            &[
                "-a", "-o",
            ][..],
        ), word.clone()).prop_map(|(left, operator, right)| format!("test -n {left} {operator} -z {right}")),
        1 => word.clone().prop_map(|word| format!("[ {word} ]")),
        1 => select(
            &[
                "[ -f a.md ]", "[ -d sub -a ! -d foo ]", "[ ]", "[ ! ]", "test", "[ ! -e nosuch ]", "[ '(' a ')' ]",
                "[ -f ]", "[ = ]", "[ a = ]", "[ -s foo ]",
            ][..],
        )
            .prop_map(str::to_owned),
        1 => (unary, word).prop_map(|(operator, word)| format!("test ! {operator} {word}")),
    ]
    .boxed()
}

fn condition(words: &Text) -> Text {
    let one = prop_oneof![
        2 => (select(
            &[
                "-z", "-n", "-f", "-d", "-e",
            ][..],
        ), words.clone()).prop_map(|(operator, word)| format!("{operator} {word}")),
        3 => (words.clone(), select(
            &[
                "==", "=", "!=",
            ][..],
        ), expansion::pattern())
            .prop_map(|(word, operator, pattern)| format!("{word} {operator} {}", pattern.replace(' ', "\\ "))),
        1 => (words.clone(), select(
            &[
                "<", ">", "-eq", "-lt",
            ][..],
        ), select(&["a", "3", "n", "\"b c\""][..])).prop_map(|(left, operator, right)| {
            let left = if operator.starts_with('-') { "n+1".to_owned() } else { left };
            let right = if operator.starts_with('-') { "3" } else { right };
            format!("{left} {operator} {right}")
        }),
        1 => (words.clone(), select(
            &[
                "a", "^a", "b$", "a.*", "[ab]+", "(a|b)c*", "'.'", "a{1,2}", "$y", "\"*\"", "\\.", "^$", "o+",
            ][..],
        )).prop_map(|(word, expression)| format!("{word} =~ {expression}")),
        1 => words.clone(),
    ]
    .boxed();
    prop_oneof![
        4 => one.clone(),
        1 => one.clone().prop_map(|test| format!("! {test}")),
        1 => (one.clone(), select(
            &[
                "&&", "||",
            ][..],
        ), one.clone()).prop_map(|(left, operator, right)| format!("{left} {operator} {right}")),
        1 => (one.clone(), one).prop_map(|(left, right)| format!("( {left} || a == a ) && {right}")),
    ]
    .boxed()
}

fn read(words: &Text) -> Text {
    let separators = select(&["", "IFS= ", "IFS=, ", "IFS=' :' "][..]);
    let names = select(&["a", "a b", "-r a", "-r a b", "a b c", ""][..]);
    (separators, names, words.clone())
        .prop_map(|(separators, names, word)| {
            format!(
                "{separators}read {names} <<< {word}; args \"$?\" \"${{a-}}\" \"${{b-}}\" \"${{c-}}\" \"${{REPLY-}}\""
            )
        })
        .boxed()
}

fn compound(inner: &Lists) -> Lists {
    let words = word::plain_words();
    let arguments = prop::collection::vec(words.clone(), 0..4).prop_map(|words| words.join(" "));
    let line = prop_oneof![
        2 => inner.clone().prop_map(|list| format!("{{ {}}}", list.ended("; "))),
        2 => inner.clone().prop_map(|list| format!("( {})", list.ended(" "))),
        2 => (inner.clone(), inner.clone(), prop::option::of(inner.clone())).prop_map(|(test, then, otherwise)| {
            let otherwise = otherwise.map_or(String::new(), |list| format!("else {}", list.ended("; ")));
            format!("if {}then {}{otherwise}fi", test.ended("; "), then.ended("; "))
        }),
        2 => (arguments.clone(), inner.clone())
            .prop_map(|(words, body)| format!("for i in {words}; do args \"$i\"; {}done", body.ended("; "))),
        1 => inner.clone().prop_map(|body| format!("for i; do args $i; {}done", body.ended("; "))),
        2 => (words.clone(), case_arms(inner)).prop_map(|(word, arms)| format!("case {word} in {arms}esac")),
        1 => counted(inner, "while", "-lt"),
        1 => counted(inner, "until", "-ge"),
        2 => (inner.clone(), arguments, any::<bool>()).prop_map(|(body, words, local)| {
            let local = if local { "local x=in y; " } else { "" };
            // A function in the body is shorter, so it has another name.
            let name = format!("f{}", body.line.len());
            format!("{name}() {{ {local}args \"$@\"; {}}}; {name} {words}; args \"$?\" \"$x\"", body.ended("; "))
        }),
    ];
    let redirection = prop_oneof![
        6 => Just(""),
        1 => select(&[" >/dev/null", " 2>/dev/null", " < a.md", " <<< 'a b'", " >&2"][..]),
    ];
    // A redirection of a list that ends with a simple command would be that command's.
    (line, redirection)
        .prop_map(|(line, redirection)| {
            let ends =
                line.ends_with(['}', ')']) || line.ends_with("fi") || line.ends_with("done") || line.ends_with("esac");
            List::of(if ends { format!("{line}{redirection}") } else { line })
        })
        .boxed()
}

/// A loop whose condition counts, so that nothing in its body keeps it going.
fn counted(inner: &Lists, word: &'static str, test: &'static str) -> Text {
    inner
        .clone()
        .prop_map(move |body| {
            // A loop in the body is shorter, so it counts with another variable.
            let name = format!("c{}", body.line.len());
            format!("{name}=0; {word} [ $(({name} += 1)) {test} 3 ]; do args \"${name}\"; {}done", body.ended("; "))
        })
        .boxed()
}

fn case_arms(inner: &Lists) -> Text {
    let end = select(&[";; ", ";;\n", ";& ", ";;& "][..]);
    let arm = (expansion::pattern(), inner.clone(), end, any::<bool>()).prop_map(|(pattern, body, end, open)| {
        let open = if open { "(" } else { "" };
        format!("{open}{}) {}{end}", pattern.replace(' ', "\\ "), body.ended(" "))
    });
    (prop::collection::vec(arm, 0..3), any::<bool>())
        .prop_map(|(arms, default)| arms.concat() + if default { "*) args default;; " } else { "" })
        .boxed()
}
