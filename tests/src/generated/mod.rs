//! Generated shell programs, for comparing the capability shell with another shell.
//!
//! The programs use the commands of [`crate::memory`], read the files of [`FILES`], and write none. What two runs of one shell
//! could answer differently does not occur: no pipeline has a stage that stops reading, and loops are counted.

mod command;
mod expansion;
mod word;

use command::lists;
use proptest::prelude::*;
use proptest::sample::select;

/// A strategy of texts.
type Text = BoxedStrategy<String>;

/// Where programs start, in the tree that they see.
pub const DIRECTORY: &str = "7/8";

/// The files that programs see where they start: names that patterns meet and that could be taken for something else.
pub const FILES: &[(&str, &str)] = &[
    ("-delete", ""),
    ("*", ""),
    (".hidden.md", ""),
    ("[x]", ""),
    ("a b", ""),
    ("a.md", "one\ntwo words\n  blanks  \n"),
    ("b.md", "no line end"),
    ("foo", "back\\slash a\\ b\nx,y,z\n"),
    ("sub/c.md", ""),
    ("sub/d.txt", ""),
    ("é.md", ""),
];

/// A program. Its lines end with LF.
pub fn program() -> impl Strategy<Value = String> {
    let commands = prop::collection::vec((lists(), any::<bool>()), 1..4);
    (options(), variables(), positional(), commands, end()).prop_map(
        |(options, variables, positional, commands, end)| {
            let mut text = format!("{options}{variables}{positional}");
            for (list, on_one_line) in commands {
                text.push_str(&list.ended(if on_one_line { "; " } else { "\n" }));
            }
            text.push_str(end);
            text
        },
    )
}

fn options() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        6 => Just(""),
        1 => select(&["set -e\n", "set -o pipefail\n", "set -eu -o pipefail\n", "set -u\n", "set -e; set +e\n"][..]),
    ]
}

fn variables() -> impl Strategy<Value = String> {
    let value =
        select(&["'a b'", "foo", "'*.md'", "' a  b '", "a:b::c", "-n", "'$x'", "\"a\nb\"", "'~'", "a.tar.gz"][..]);
    let ifs =
        prop_oneof![8 => Just(""), 1 => select(&["IFS=:\n", "IFS=' :'\n", "IFS=\n", "IFS=,o\n", "unset IFS\n"][..])];
    (value.clone(), value, ifs).prop_map(|(x, y, ifs)| format!("x={x} y={y} e= n=3\n{ifs}"))
}

fn positional() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        2 => Just(""),
        2 => Just("set -- p 'q r' '' s\n"),
        1 => Just("set -- '*.md' -n\n"),
        1 => Just("set -- 1 2 3 4 5 6 7 8 9 ten 11\n"),
    ]
}

fn end() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        6 => Just("\n"),
        1 => Just("# a comment with ' \" $( ` {\n"),
        1 => Just("args \"$?\" # status"),
    ]
}
