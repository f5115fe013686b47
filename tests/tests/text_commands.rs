//! `sed`, `diff` and `jq` in the sandbox: the outputs are those of GNU sed 4.9, GNU diffutils 3.8 and jq 1.7, recorded once, and what
//! they do not do is refused by its name.
#![expect(clippy::disallowed_methods, reason = "tests make the files that commands see")]

use skillgate_exec::RunError;
use skillgate_policy::{Effect, RefusalReason, builtin_limits};
use skillgate_tests::{Sandboxed, sandboxed};
use std::path::Path;

const FILES: &[(&str, &str)] = &[
    ("notes.txt", "# Garden\n\nTomatoes and beans\nPeas\n"),
    (
        "beds.json",
        "{\"beds\":[{\"name\":\"north\",\"plants\":12,\"tags\":[\"sun\"]},{\"name\":\"south\",\"plants\":7,\"tags\":[]}],\"owner\":\"Ana\",\"area\":10.50}\n",
    ),
    ("lines.txt", "a\nb\nc\nd\ne\n"),
    ("moved.txt", "b\nx\nc\nd\ne\ne\n"),
    ("short.txt", "a\nb"),
    ("old/same", "1\n"),
    ("new/same", "1\n"),
    ("old/one", "a\n"),
    ("old/sub/f", "x\ny\n"),
    ("new/sub/f", "x\nz\n"),
    ("new/two", "b\n"),
    ("edit.sed", "# a comment\n/^$/d\ns/and/&&/\n"),
];

/// Lines, what they print, and their status.
const SED: &[(&str, &str, u8)] = &[
    ("sed -n '/^# /,/^$/p' notes.txt", "# Garden\n\n", 0),
    (
        "sed 's/\\(To\\)\\(m\\)/\\2\\1/;s/[aeiou]/<&>/2g' notes.txt",
        "# Gard<e>n\n\nmTo<a>t<o><e>s <a>nd b<e><a>ns\nPe<a>s\n",
        0,
    ),
    (
        "sed -E 's/(^|[^a-z])([a-z])/\\1\\u\\2/g;s/Peas/\\L&\\E!/' notes.txt",
        "# GArden\n\nTOmatoes And Beans\nPEas\n",
        0,
    ),
    ("sed ':a;N;$!ba;s/\\n/,/g' lines.txt", "a,b,c,d,e\n", 0),
    ("sed '1!G;h;$!d' lines.txt", "e\nd\nc\nb\na\n", 0),
    ("sed '$!N;P;D' lines.txt", "a\nb\nc\nd\ne\n", 0),
    ("sed -n '2{p;q}' lines.txt", "b\n", 0),
    ("sed '2q5' lines.txt", "a\nb\n", 5),
    ("sed '1~2d' lines.txt", "b\nd\n", 0),
    ("sed -n '2,+1p;0~4p;$=' lines.txt", "b\nc\nd\n5\n", 0),
    ("sed '0,/b/s/./X/;4,5c changed' lines.txt", "X\nX\nc\nchanged\n", 0),
    ("sed -e '2i\\' -e '  before' -e '2a after' lines.txt", "a\n  before\nb\nafter\nc\nd\ne\n", 0),
    ("sed 'y/abc/xyz/;3r short.txt' lines.txt", "x\ny\nz\na\nbd\ne\n", 0),
    ("sed -n '$p;1F' lines.txt notes.txt", "lines.txt\nPeas\n", 0),
    ("sed -s -n '$=' lines.txt notes.txt", "5\n4\n", 0),
    ("sed -f edit.sed notes.txt", "# Garden\nTomatoes andand beans\nPeas\n", 0),
    ("sed -z 's/\\n/;/g' lines.txt", "a;b;c;d;e;", 0),
    ("sed -n l short.txt", "a$\nb$\n", 0),
    ("sed 's/x*/-/g' short.txt", "-a-\n-b-", 0),
    ("sed -E 's/(.)(.)?/[\\1|\\2]/' lines.txt", "[a|]\n[b|]\n[c|]\n[d|]\n[e|]\n", 0),
    ("sed 's/\\(.\\)\\1/<&>/' moved.txt", "b\nx\nc\nd\ne\ne\n", 0),
    ("sed -E '/a|c/!d;s/$/ end/' lines.txt", "a end\nc end\n", 0),
    ("sed '/b/,/d/{//!s/^/  /}' lines.txt", "a\nb\n  c\nd\ne\n", 0),
    ("sed 's|a|/|;s/b/x\\ty/;s/c/\\x41\\o102/' lines.txt", "/\nx\ty\nAB\nd\ne\n", 0),
    ("sed 's/é/e/;s/./&&/' lines.txt", "aa\nbb\ncc\ndd\nee\n", 0),
    ("sed --expression='s/a/b/;ta;s/$/!/;:a' lines.txt", "b\nb!\nc!\nd!\ne!\n", 0),
    ("sed -n 's/b/&&/gpw /dev/stdout' lines.txt", "bb\nbb\n", 0),
    ("sed 's/a/b' lines.txt", "", 1),
    ("sed 'k' lines.txt", "", 1),
    ("sed -n p nofile lines.txt", "a\nb\nc\nd\ne\n", 2),
];

/// The same for `diff`.
const DIFF: &[(&str, &str, u8)] = &[
    ("diff lines.txt lines.txt", "", 0),
    ("diff lines.txt moved.txt", "1d0\n< a\n2a2\n> x\n4a5\n> e\n", 1),
    (
        "diff -u --label a --label b lines.txt moved.txt",
        "--- a\n+++ b\n@@ -1,5 +1,6 @@\n-a\n b\n+x\n c\n d\n e\n+e\n",
        1,
    ),
    (
        "diff -U0 --label a --label b lines.txt moved.txt",
        "--- a\n+++ b\n@@ -1 +0,0 @@\n-a\n@@ -2,0 +2 @@\n+x\n@@ -4,0 +5 @@\n+e\n",
        1,
    ),
    (
        "diff -c --label a --label b lines.txt moved.txt",
        "*** a\n--- b\n***************\n*** 1,5 ****\n- a\n  b\n  c\n  d\n  e\n--- 1,6 ----\n  b\n+ x\n  c\n  d\n  e\n+ e\n",
        1,
    ),
    ("diff short.txt lines.txt", "2c2,5\n< b\n\\ No newline at end of file\n---\n> b\n> c\n> d\n> e\n", 1),
    ("diff -q lines.txt moved.txt", "Files lines.txt and moved.txt differ\n", 1),
    ("diff -s old/same new/same", "Files old/same and new/same are identical\n", 0),
    ("diff old new", "Only in old: one\nCommon subdirectories: old/sub and new/sub\nOnly in new: two\n", 1),
    ("diff -r old new", "Only in old: one\ndiff -r old/sub/f new/sub/f\n2c2\n< y\n---\n> z\nOnly in new: two\n", 1),
    ("diff -rq old new", "Only in old: one\nFiles old/sub/f and new/sub/f differ\nOnly in new: two\n", 1),
    ("diff -x sub old new", "Only in old: one\nOnly in new: two\n", 1),
    ("diff -N --label a --label b -u old/one new/one", "--- a\n+++ b\n@@ -1 +0,0 @@\n-a\n", 1),
    ("printf 'A\\n\\nb \\n' | diff -iwB - short.txt", "", 0),
    ("printf 'a\\0b' | diff - short.txt", "Binary files - and short.txt differ\n", 1),
    ("diff lines.txt nofile", "", 2),
    ("diff -u lines.txt old/one --label x --label y -p", "--- x\n+++ y\n@@ -1,5 +1 @@\n a\n-b\n-c\n-d\n-e\n", 1),
];

/// The same for `jq`.
const JQ: &[(&str, &str, u8)] = &[
    (
        "jq . beds.json",
        "{\n  \"beds\": [\n    {\n      \"name\": \"north\",\n      \"plants\": 12,\n      \"tags\": [\n        \"sun\"\n      ]\n    },\n    {\n      \"name\": \"south\",\n      \"plants\": 7,\n      \"tags\": []\n    }\n  ],\n  \"owner\": \"Ana\",\n  \"area\": 10.50\n}\n",
        0,
    ),
    (
        "jq -c '.beds[]|{name,many:(.plants>10)}' beds.json",
        "{\"name\":\"north\",\"many\":true}\n{\"name\":\"south\",\"many\":false}\n",
        0,
    ),
    (
        "jq -r '.beds[]|[.name,.plants]|@csv,@tsv,@sh' beds.json",
        "\"north\",12\nnorth\t12\n'north' 12\n\"south\",7\nsouth\t7\n'south' 7\n",
        0,
    ),
    (
        "jq -S -c . beds.json",
        "{\"area\":10.50,\"beds\":[{\"name\":\"north\",\"plants\":12,\"tags\":[\"sun\"]},{\"name\":\"south\",\"plants\":7,\"tags\":[]}],\"owner\":\"Ana\"}\n",
        0,
    ),
    (
        "jq -c '.area,(.area+1),([1.10,100000000000000000001]|.[])' beds.json",
        "10.50\n11.5\n1.10\n100000000000000000001\n",
        0,
    ),
    ("jq -c '.beds|map(.plants)|add,min,max,length' beds.json", "19\n7\n12\n2\n", 0),
    ("jq -c '[paths]|length' beds.json", "12\n", 0),
    (
        "jq -c '.beds|=map(select(.plants>10))|.new.x=1|del(.owner)' beds.json",
        "{\"beds\":[{\"name\":\"north\",\"plants\":12,\"tags\":[\"sun\"]}],\"area\":10.50,\"new\":{\"x\":1}}\n",
        0,
    ),
    (
        "jq -c '(.beds[]|select(.name==\"south\")|.plants)+=1|.beds|group_by(.tags|length)' beds.json",
        "[[{\"name\":\"south\",\"plants\":8,\"tags\":[]}],[{\"name\":\"north\",\"plants\":12,\"tags\":[\"sun\"]}]]\n",
        0,
    ),
    ("jq -c 'to_entries|map(.key)|sort' beds.json", "[\"area\",\"beds\",\"owner\"]\n", 0),
    ("jq -r '\"\\(.owner): \\(.beds|length) @ \\(.area)\"' beds.json", "Ana: 2 @ 10.50\n", 0),
    (
        "jq -nc '[(1,2)+(10,20)],[{a:(1,2),b:(3,4)}],[limit(3;range(10))]'",
        "[11,12,21,22]\n[{\"a\":1,\"b\":3},{\"a\":1,\"b\":4},{\"a\":2,\"b\":3},{\"a\":2,\"b\":4}]\n[0,1,2]\n",
        0,
    ),
    (
        "jq -nc 'reduce range(5) as $i (0;.+$i),[foreach range(4) as $i (0;.+$i)],[1|until(.>100;.*2)]'",
        "10\n[0,1,3,6]\n[128]\n",
        0,
    ),
    ("jq -nc '[.[]?],(try error(\"x\") catch .),(null//\"d\"),[label $f|1,break $f,2]'", "[]\n\"x\"\n\"d\"\n[1]\n", 0),
    ("jq -nr '\"a1b22\"|[match(\"\\\\d+\";\"g\").string]|join(\",\")'", "1,22\n", 0),
    ("jq -nr '\"2024-05-06\"|capture(\"(?<y>\\\\d+)-(?<m>\\\\d+)\")|.y,.m'", "2024\n05\n", 0),
    (
        "jq -nr '\"foo bar\"|gsub(\"(?<l>[a-z])\";\"\\(.l|ascii_upcase)\"),sub(\"o\";\"0\"),test(\"FOO\";\"i\")'",
        "FOO BAR\nf0o bar\ntrue\n",
        0,
    ),
    ("jq -nr '0|todate,strftime(\"%A %j %U\")'", "1970-01-01T00:00:00Z\nThursday 001 00\n", 0),
    (
        "jq -nc '\"2015-03-05T23:51:47Z\"|fromdate,strptime(\"%Y-%m-%dT%H:%M:%SZ\")'",
        "1425599507\n[2015,2,5,23,51,47,4,63]\n",
        0,
    ),
    (
        "jq -nc '[[1,[2]],[3]]|flatten,flatten(1),tojson,([..]|length),[tostream]'",
        "[1,2,3]\n[1,[2],3]\n\"[[1,[2]],[3]]\"\n7\n[[[0,0],1],[[0,1,0],2],[[0,1,0]],[[0,1]],[[1,0],3],[[1,0]],[[1]]]\n",
        0,
    ),
    ("jq -nc '{\"a\":1} as {a:$x}|[$x,$__loc__.line]'", "[1,1]\n", 0),
    ("jq -nc --arg v 1 --argjson w '{\"b\":2}' '[$v,$w.b,$ARGS.named.v]'", "[\"1\",2,\"1\"]\n", 0),
    ("jq -nc '$ARGS.positional' --args a b", "[\"a\",\"b\"]\n", 0),
    ("jq -c . short.txt", "", 5),
    ("jq -R -s -c 'split(\"\\n\")' lines.txt", "[\"a\",\"b\",\"c\",\"d\",\"e\",\"\"]\n", 0),
    ("jq -Rn '[inputs]|length' lines.txt", "5\n", 0),
    ("jq -e .nope beds.json", "null\n", 1),
    ("jq .beds.x beds.json", "", 5),
    ("jq -n '\"x\\n\"|halt_error(3)'", "", 3),
    ("jq '.[' beds.json", "", 3),
    ("jq -n 'nosuch(1)'", "", 3),
    ("jq --tab -c .owner beds.json", "\"Ana\"\n", 0),
    (
        "jq --indent 1 '.beds[0]' beds.json",
        "{\n \"name\": \"north\",\n \"plants\": 12,\n \"tags\": [\n  \"sun\"\n ]\n}\n",
        0,
    ),
    ("jq -j '.beds[].name' beds.json", "northsouth", 0),
    ("jq -a -n '\"é😀\"'", "\"\\u00e9\\ud83d\\ude00\"\n", 0),
    ("jq -n 'def f: if . > 20000 then . else .+1|f end; 0|f'", "20001\n", 0),
    (
        "jq -nc '[\"a\",\"b\"]|@html \"<\\(.)>\",@uri \"\\(.[0]+\" \")\",@base64 \"\\(.[1])\"'",
        "\"<[&quot;a&quot;,&quot;b&quot;]>\"\n\"a%20\"\n\"Yg==\"\n",
        0,
    ),
];

fn project() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a directory");
    for (name, text) in FILES {
        let path = root.path().join(name);
        std::fs::create_dir_all(path.parent().expect("below the root")).expect("a directory");
        std::fs::write(path, text).expect("a file");
    }
    root
}

fn run_in(root: &Path, source: &str, rules: &[(Effect, &str)]) -> Sandboxed {
    sandboxed(env!("CARGO_TARGET_TMPDIR"), root, source, rules, builtin_limits())
}

fn check(table: &[(&str, &str, u8)]) {
    let root = project();
    for (source, stdout, status) in table {
        let ran = run_in(root.path(), source, &[(Effect::Allow, "Bash")]);
        let status_ran = ran.result.as_ref().map(|completion| completion.status);
        assert_eq!((ran.stdout.as_str(), status_ran), (*stdout, Ok(*status)), "{source}\n{}", ran.stderr);
    }
}

#[test]
fn sed_prints_what_gnu_prints() {
    check(SED);
}

#[test]
fn diff_prints_what_gnu_prints() {
    check(DIFF);
}

#[test]
fn jq_prints_what_jq_prints() {
    check(JQ);
}

#[test]
fn what_is_not_supported_is_refused_by_its_name() {
    let root = project();
    for (source, message) in [
        ("sed --posix p lines.txt", "skillgate: sed: --posix is not supported\n"),
        ("sed --debug p lines.txt", "skillgate: sed: --debug is not supported\n"),
        (
            "sed 's/[[.a.]]/x/' lines.txt",
            "skillgate: sed: a collating element in a bracket expression is not supported\n",
        ),
        ("diff -y lines.txt moved.txt", "skillgate: diff: --side-by-side is not supported\n"),
        ("diff --color=always lines.txt moved.txt", "skillgate: diff: --color=always is not supported\n"),
        ("diff -3 lines.txt moved.txt", "skillgate: diff: -NUM is not supported\n"),
        ("jq --stream . beds.json", "skillgate: jq: --stream is not supported\n"),
        ("jq -C . beds.json", "skillgate: jq: --color-output is not supported\n"),
        ("jq -n 'import \"a\" as a; .'", "skillgate: jq: import, which is for modules, is not supported\n"),
        ("jq -n '1|gamma'", "skillgate: jq: the function gamma is not supported\n"),
        ("jq -n '\"a\"|test(\"\\\\X\")'", "skillgate: jq: \\X in a pattern is not supported\n"),
    ] {
        let ran = run_in(root.path(), source, &[(Effect::Allow, "Bash")]);
        let status = ran.result.as_ref().map(|completion| completion.status);
        assert_eq!((ran.stderr.as_str(), ran.stdout.as_str(), status), (message, "", Ok(2)), "{source}");
    }
}

#[test]
fn a_script_that_would_run_or_write_something_does_not() {
    let root = project();
    let before = std::fs::read_to_string(root.path().join("lines.txt")).expect("it is there");
    for source in ["sed 's/a/touch made/e' lines.txt", "sed '1e touch made' lines.txt"] {
        let ran = run_in(root.path(), source, &[(Effect::Allow, "Bash")]);
        assert!(ran.stderr.contains("which runs programs, is not supported"), "{source}: {}", ran.stderr);
        assert_eq!(ran.result.map(|completion| completion.status), Ok(2), "{source}");
    }
    for source in ["sed -i s/a/b/ lines.txt", "sed 'w made' lines.txt", "sed -n 's/a/b/w made' lines.txt"] {
        match run_in(root.path(), source, &[(Effect::Allow, "Bash")]).result {
            Err(RunError::Refused(refusal)) => {
                assert!(matches!(refusal.reason, RefusalReason::Write { .. }), "{source}: {refusal}");
            }
            other => unreachable!("{source}: {other:?}"),
        }
    }
    assert_eq!(std::fs::read_to_string(root.path().join("lines.txt")).expect("it is there"), before);
    assert!(!root.path().join("made").exists());
}

#[test]
fn files_are_edited_where_a_grant_names_them() {
    let rules = [(Effect::Allow, "Bash"), (Effect::Allow, "Write(lines.txt)"), (Effect::Allow, "Write(made)")];
    let root = project();
    let ran = run_in(root.path(), "sed -i -e '2,4d' -e 's/e/E/w made' lines.txt", &rules);
    assert_eq!(ran.result.map(|completion| completion.status), Ok(0), "{}", ran.stderr);
    let text = |name: &str| std::fs::read_to_string(root.path().join(name)).expect("it is there");
    assert_eq!((text("lines.txt").as_str(), text("made").as_str()), ("a\nE\n", "E\n"));
}
