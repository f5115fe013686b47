//! What users of other readers ran into, as far as it concerns reading and expanding text. The numbers are the rows of the
//! collection that the project was ordered with; rows about installers, catalogues and policies are tested where those are.

use skillgate_core::{Code, Guarded, HeaderState, HoleValue, Severity};
use skillgate_format::{
    Document, Fields, InjectionMode, ReadOptions, Template, TemplateOptions, Values, apply_fixes, export_standard, scan,
};

fn read(text: &str) -> Document {
    Document::read(text.as_bytes(), &ReadOptions::default())
}

/// A document with these header lines and the body `hi`.
fn header(lines: &str) -> Document {
    read(&format!("---\n{lines}\n---\nhi\n"))
}

fn field(document: &Document, key: &str) -> serde_json::Value {
    serde_json::to_value(Fields(document.frontmatter())).expect("fields are JSON")[key].clone()
}

fn codes(document: &Document) -> Vec<String> {
    document.diagnostics().iter().map(|found| found.code.to_string()).collect()
}

/// Codes above the level info.
fn loud(document: &Document) -> Vec<String> {
    let loud = document.diagnostics().iter().filter(|found| found.severity > Severity::Info);
    loud.map(|found| found.code.to_string()).collect()
}

fn expand(body: &str, arguments: &str) -> String {
    let filled = Template::parse(body, &TemplateOptions::default())
        .fill(&Values { arguments: Some(arguments), ..Values::default() });
    filled.assemble::<&str>(&[])
}

#[test]
fn complaint_01_a_colon_in_a_value_is_repaired_with_its_place_and_the_corrected_line() {
    let document = header("name: a\ndescription: Use for X: and Y");
    assert_eq!(field(&document, "description"), "Use for X: and Y");
    assert_eq!(document.diagnostics().len(), 1);
    let found = &document.diagnostics()[0];
    assert_eq!(found.code, Code::YamlRecovered("description".into()));
    let place = document.position(found.span.expect("a place").start);
    assert_eq!((place.line, place.column), (3, 1));
    assert!(found.message.contains("description: \"Use for X: and Y\""), "{}", found.message);
}

#[test]
fn complaint_03_a_repair_touches_only_the_line_that_fails() {
    let document = header("argument-hint: [next, @who]\ndescription: wait <time: 5d>");
    assert_eq!(field(&document, "argument-hint"), "[next, @who]");
    assert_eq!(field(&document, "description"), "wait <time: 5d>");
    assert_eq!(loud(&document), ["yaml-recovered:argument-hint", "yaml-recovered:description"]);
}

#[test]
fn complaint_04_a_valid_neighbour_is_not_rewritten() {
    let text = "---\nmetadata:\n  a: \"x: y\"   # kept\ndescription: p: q\n---\nhi\n";
    let document = read(text);
    assert_eq!(field(&document, "metadata"), serde_json::json!({"a": "x: y"}));
    let fixed = apply_fixes(text, document.diagnostics());
    assert_eq!(fixed, "---\nmetadata:\n  a: \"x: y\"   # kept\ndescription: \"p: q\"\n---\nhi\n");
    assert_eq!(read(&fixed).header_state(), HeaderState::Parsed);
}

#[test]
fn complaint_06_a_colon_in_the_description_does_not_remove_the_tool_list() {
    let document = header("description: a: b\nallowed-tools: Read");
    assert_eq!(field(&document, "allowed-tools"), serde_json::json!(["Read"]));
}

#[test]
fn complaint_07_bare_brackets_with_a_colon_are_a_hint() {
    for (written, expected) in [("[a] [b: c]", "[a] [b: c]"), ("[a] | --b", "[a] | --b"), ("<a> [b]", "<a> [b]")] {
        let document = header(&format!("description: x\nargument-hint: {written}"));
        assert_eq!(field(&document, "argument-hint"), expected);
    }
}

#[test]
fn complaint_08_a_list_as_hint_is_its_text() {
    for (written, expected) in [(" [topic: x | y]", "[topic: x | y]"), (" [a, b]", "[a, b]"), ("\n  - a\n  - b", "a b")]
    {
        let document = header(&format!("description: x\nargument-hint:{written}"));
        assert_eq!(field(&document, "argument-hint"), expected);
        assert_eq!(loud(&document), Vec::<String>::new(), "{written}");
    }
}

#[test]
fn complaint_09_a_number_is_text_and_null_is_absent() {
    assert_eq!(header("name: 2024").label(), "2024");
    for empty in ["name:", "name: null", "name: ~", "name: \"\""] {
        let document = header(&format!("{empty}\ndescription: x"));
        assert_eq!(document.frontmatter().name, None, "{empty}");
        assert_eq!(document.label(), "Skill", "{empty}");
    }
    assert_eq!(header("name: \"null\"").label(), "null");
}

#[test]
fn complaint_10_a_boolean_word_is_a_name() {
    for word in ["on", "true", "no", "1.10", "2024-01-01", "0x1f", "1e3"] {
        assert_eq!(header(&format!("name: {word}\nversion: {word}")).label(), word);
    }
}

#[test]
fn complaint_11_what_is_written_is_read_back_as_the_same_text() {
    for text in ["true", "1.0", "null", "a: b", "- x", "a #b", "\"q\" x", "it's", "*x", "{{x}}", "a\\b", "@x", "yes"] {
        let document = header(&format!("name: a\ndescription: {}", serde_json::Value::from(text)));
        assert_eq!(field(&document, "description"), text);
        let again = read(&export_standard(&document));
        assert_eq!(field(&again, "description"), text, "{}", export_standard(&document));
    }
}

#[test]
fn complaint_12_a_byte_order_mark_hides_nothing() {
    let document =
        Document::read(b"\xef\xbb\xbf---\nname: a\ndisable-model-invocation: true\n---\nhi", &ReadOptions::default());
    assert_eq!(document.frontmatter().disable_model_invocation.present(), Some(&true));
    assert!(codes(&document).contains(&"bom-stripped".to_owned()));
    assert_eq!(document.body(), "hi");
    let fixed = apply_fixes(document.source(), document.diagnostics());
    assert!(fixed.starts_with("---\n"), "one header, no mark: {fixed:?}");
    let guarded = |mark: &str| read(&format!("{mark}---\nname: a\nallowed-tools: {{}}\n---\nhi"));
    for mark in ["", "\u{feff}"] {
        assert!(guarded(mark).frontmatter().allowed_tools.is_unreadable(), "a gate that cannot be read stays shut");
    }
    let twice = Document::read(b"\xef\xbb\xbf\xef\xbb\xbf---\nname: a\n---\n", &ReadOptions::default());
    assert_ne!(twice.header_state(), HeaderState::Parsed, "only one mark is taken off");
}

#[test]
fn complaint_13_every_line_end_is_a_line_end() {
    for end in ["\n", "\r\n", "\r"] {
        let text = ["---", "name: a", "description: x", "allowed-tools: Read, Grep", "---", "one", "two", ""].join(end);
        let document = read(&text);
        assert_eq!(document.label(), "a", "{end:?}");
        assert_eq!(field(&document, "allowed-tools"), serde_json::json!(["Read", "Grep"]));
        assert_eq!(document.body(), ["one", "two", ""].join(end), "the body keeps its bytes");
        assert_eq!(loud(&document), Vec::<String>::new());
    }
    let mixed = read("---\r\nname: a\n---\rone\r\ntwo");
    assert_eq!((mixed.label(), &*mixed.body()), ("a", "one\r\ntwo"));
    let block = read("---\r\ndescription: |\r\n  one\r\n  two\r\n---\r\n");
    assert_eq!(field(&block, "description"), "one\ntwo");
}

#[test]
fn complaint_14_a_header_read_alone_is_the_same_header() {
    let text = "---\r\nname: a\r\ndescription: x: y\r\n---\r\nlong body";
    let whole = read(text);
    let head = Document::read_prefix(&text.as_bytes()[..42], &ReadOptions::default()).expect("the header is closed");
    assert_eq!(head.frontmatter(), whole.frontmatter());
    assert_eq!(head.diagnostics(), whole.diagnostics());
    for length in 0..36 {
        let head = Document::read_prefix(&text.as_bytes()[..length], &ReadOptions::default());
        assert!(head.is_none(), "{length}");
    }
}

#[test]
fn complaint_15_hyphens_inside_a_value_end_nothing() {
    let document = header("description: left --- right");
    assert_eq!(field(&document, "description"), "left --- right");
}

#[test]
fn complaint_16_only_the_first_rule_after_the_header_closes_it() {
    let document = read("---\nname: a\n---\none\n---\ntwo");
    assert_eq!((document.label(), &*document.body()), ("a", "one\n---\ntwo"));
}

#[test]
fn complaint_17_an_indented_rule_is_content() {
    let document = header("description: |\n  a\n  ---\n  b");
    assert_eq!(field(&document, "description"), "a\n---\nb");
}

#[test]
fn complaint_18_four_hyphens_close_nothing() {
    let document = read("---\nname: a\n----\nx\n---\nhi");
    assert_eq!(document.body(), "hi");
    assert!(document.failed_closed() || document.header_state() == HeaderState::Recovered);
}

#[test]
fn complaint_19_a_comment_before_the_header_is_reported_with_its_line() {
    let document = read("<!-- x -->\n---\nname: a\nallowed-tools: Read\n---\nhi");
    let found =
        document.diagnostics().iter().find(|found| found.code == Code::FrontmatterNotAtStart).expect("reported");
    assert!(found.message.contains("line 2"), "{}", found.message);
    assert_eq!(field(&document, "allowed-tools"), serde_json::json!(["Read"]), "its tool list narrows");
    assert_eq!(document.body(), "<!-- x -->\nhi");
    let strict = ReadOptions { profile: skillgate_core::Profile::Strict, ..ReadOptions::default() };
    let document = Document::read(document.source().as_bytes(), &strict);
    assert!(codes(&document).contains(&"not-standard".to_owned()), "where validity is asked for it is an error");
}

#[test]
fn complaint_20_block_texts_are_folded() {
    for (written, expected) in [
        (">-\n  one\n  two", "one two"),
        (">\n  one\n  two", "one two"),
        (">+\n  one\n  two\n", "one two"),
        ("|-\n  one\n  two", "one\ntwo"),
        ("|2\n   one\n   two", "one\n two"),
        (">-\n  one\n\n  two", "one\ntwo"),
    ] {
        let document = header(&format!("name: a\ndescription: {written}"));
        assert_eq!(field(&document, "description"), expected, "{written:?}");
    }
}

#[test]
fn complaint_21_a_broken_header_is_read_as_broken() {
    for (lines, state) in [
        ("name: a\n- b\n: [", HeaderState::Unparseable),
        ("just words", HeaderState::Unparseable),
        ("- a\n- b", HeaderState::Unparseable),
        ("x:\n  - a\ndescription: y", HeaderState::Parsed),
    ] {
        let document = header(lines);
        let seen = document.header_state();
        assert!(seen == state || state.is_lost() && seen == HeaderState::Recovered, "{lines:?}: {seen:?}");
        assert_eq!(document.body(), "hi\n", "the body can be read");
        if document.failed_closed() {
            assert!(document.frontmatter().allowed_tools.is_unreadable());
            assert!(document.frontmatter().disable_model_invocation.is_unreadable());
            assert_eq!(document.description(), None);
            assert!(document.diagnostics().iter().any(|found| found.severity == Severity::Error));
        }
    }
}

#[test]
fn complaint_22_names_of_other_scripts_are_names() {
    let document = Document::read(
        "---\nname: 技能\ndescription: x\n---\n".as_bytes(),
        &ReadOptions { directory_name: Some("技能".into()), ..ReadOptions::default() },
    );
    assert_eq!((document.label(), loud(&document)), ("技能", vec![]));
}

#[test]
fn complaint_22_a_name_is_the_directorys_however_its_letters_are_put_together() {
    let of = |directory: &str, name: &str| {
        let options = ReadOptions { directory_name: Some(directory.into()), ..ReadOptions::default() };
        let text = format!("---\nname: {name}\ndescription: x\n---\n");
        codes(&Document::read(text.as_bytes(), &options))
    };
    for (directory, name) in [("caf\u{e9}", "cafe\u{301}"), ("cafe\u{301}", "caf\u{e9}"), ("\u{ff41}b", "ab")] {
        assert_eq!(of(directory, name), Vec::<String>::new(), "{directory} {name}");
    }
    assert_eq!(of("caf\u{e9}", "cafe"), ["name-mismatch"]);
    let strict = ReadOptions {
        profile: skillgate_core::Profile::Strict,
        directory_name: Some("技能".into()),
        ..ReadOptions::default()
    };
    let document = Document::read("---\nname: 技能\ndescription: x\n---\n".as_bytes(), &strict);
    assert_eq!(codes(&document), ["not-standard"]);
}

#[test]
fn complaint_23_a_long_description_is_kept_and_reported() {
    let document = header(&format!("name: a\ndescription: {}", "a".repeat(1025)));
    assert_eq!(document.description().map(|found| found.text.len()), Some(1025));
    assert_eq!(loud(&document), ["description-too-long"]);
}

#[test]
fn complaint_24_tools_as_list_and_as_text_are_the_same_tools() {
    let expected = serde_json::json!(["Read", "Bash(git log *)"]);
    for written in [
        " Read Bash(git log *)",
        " Read, Bash(git log *)",
        "\n  - Read\n  - Bash(git log *)",
        " [Read, Bash(git log *)]",
    ] {
        let document = header(&format!("name: a\ndescription: x\nallowed-tools:{written}"));
        assert_eq!(field(&document, "allowed-tools"), expected, "{written:?}");
        assert!(export_standard(&document).contains("allowed-tools: Read Bash(git log *)\n"));
    }
}

#[test]
fn complaint_25_nested_braces_are_counted_and_match_nothing() {
    let pattern = "{a,b}".repeat(30);
    let document = header(&format!("name: a\ndescription: x\npaths: \"{pattern} src/*.{{rs,toml}}\""));
    assert_eq!(field(&document, "paths"), serde_json::json!([pattern, "src/*.{rs,toml}"]), "kept as it was written");
    assert_eq!(loud(&document), ["path-pattern-invalid"]);
    let found = &document.diagnostics()[0];
    assert!(found.message.contains("1000 patterns") && found.help.is_some(), "{found:?}");
    assert!(found.message.len() < 200, "{found:?}");
    assert_eq!(found.span.and_then(|span| span.slice(document.source())), Some(pattern.as_str()));
    // As many as a header can hold are counted in one pass.
    let header_of = |many: usize| header(&format!("name: a\ndescription: x\npaths: \"{}\"", "{a,b}".repeat(many)));
    assert_eq!(loud(&header_of(13_000)), ["path-pattern-invalid"]);
    assert_eq!(loud(&header_of(9)), Vec::<String>::new(), "the control: 512 patterns");
}

#[test]
fn complaint_26_a_bad_bracket_is_reported_and_spoils_no_other_pattern() {
    for (written, bad) in [("\"x [1/**\"", "[1/**"), ("[x, \"[1/**\"]", "[1/**"), ("\"x a[z-a]\"", "a[z-a]")] {
        let document = header(&format!("name: a\ndescription: x\npaths: {written}"));
        assert_eq!(field(&document, "paths"), serde_json::json!(["x", bad]));
        assert_eq!(loud(&document), ["path-pattern-invalid"], "{written}");
        let found = &document.diagnostics()[0];
        assert!(found.message.contains(bad) && found.message.contains("matches nothing"), "{found:?}");
        assert_eq!(
            found.span.and_then(|span| span.slice(document.source())).map(|text| text.trim_matches('"')),
            Some(bad)
        );
    }
    let good = header("name: a\ndescription: x\npaths: \"x [1]/** [!a-c]?\"");
    assert_eq!(loud(&good), Vec::<String>::new(), "the control");
}

#[test]
fn complaint_27_an_empty_header_is_a_header() {
    for text in ["---\n---\nhi", "---\n\n# note\n---\nhi", "---\n---"] {
        let document = read(text);
        assert_eq!(document.header_state(), HeaderState::Empty, "{text:?}");
        assert!(document.body().is_empty() || document.body() == "hi");
    }
}

#[test]
fn complaint_28a_a_description_goes_on_after_a_blank_line() {
    let document = header("description: A.\n\n  Keywords: b, c\nlicense: MIT");
    assert_eq!(field(&document, "description"), "A. Keywords: b, c");
    assert_eq!(field(&document, "license"), "MIT");
    assert_eq!(loud(&document), ["yaml-recovered:description"]);
}

#[test]
fn complaint_28b_a_value_opens_with_a_quoted_phrase() {
    let document = header("name: a\ndescription: \"Go\" — then do");
    assert_eq!(field(&document, "description"), "\"Go\" — then do");
    assert_eq!(loud(&document), ["yaml-recovered:description"]);
}

#[test]
fn complaint_28c_quoted_text_goes_on_at_the_margin() {
    let document = header("description: \"a \\\"b\\\",\nc\"\nlicense: MIT");
    assert_eq!(field(&document, "description"), "a \"b\", c");
    assert_eq!(field(&document, "license"), "MIT");
}

#[test]
fn complaint_28d_a_colon_in_a_flow_list_has_one_answer_and_a_portable_form() {
    // `skill` is no key of the format, which is another finding.
    let yaml =
        |document: &Document| loud(document).into_iter().filter(|code| code.starts_with("yaml")).collect::<Vec<_>>();
    let document = header("name: a\ndescription: x\nskill: [p:n, q]\nallowed-tools: [\"Bash(a:*)\", Bash(b:*)]");
    assert_eq!(field(&document, "skill"), serde_json::json!(["p:n", "q"]));
    assert_eq!(field(&document, "allowed-tools"), serde_json::json!(["Bash(a:*)", "Bash(b:*)"]));
    assert_eq!(yaml(&document), ["yaml-not-portable:skill", "yaml-not-portable:allowed-tools"]);
    let fixed = apply_fixes(document.source(), document.diagnostics());
    assert!(fixed.contains("skill: [\"p:n\", q]\nallowed-tools: [\"Bash(a:*)\", \"Bash(b:*)\"]\n"), "{fixed}");
    assert_eq!((yaml(&read(&fixed)), field(&read(&fixed), "skill")), (vec![], serde_json::json!(["p:n", "q"])));
    for portable in ["skill: [p, n]", "skill:\n  - p:n", "skill: p:n", "skill: [\"p:n\"]", "skill: {p: n}"] {
        assert_eq!(yaml(&header(&format!("name: a\ndescription: x\n{portable}"))), Vec::<String>::new(), "{portable}");
    }
}

#[test]
fn complaint_28e_keys_joined_into_one_line_are_split() {
    let document = header("name: a description: b: c allowed-tools: Read");
    assert_eq!((field(&document, "name"), field(&document, "description")), ("a".into(), "b: c".into()));
    assert_eq!(field(&document, "allowed-tools"), serde_json::json!(["Read"]));
    let fixed = apply_fixes(document.source(), document.diagnostics());
    assert_eq!(fixed, "---\nname: a\ndescription: \"b: c\"\nallowed-tools: Read\n---\nhi\n");
    let prose = header("description: Explains the name: field");
    assert_eq!(field(&prose, "description"), "Explains the name: field");
}

#[test]
fn complaint_28f_only_the_header_counts() {
    let document = read("# Title\n\nname: x\nallowed-tools: Read\n");
    assert_eq!(document.frontmatter().name, None);
    assert_eq!(document.header_state(), HeaderState::Absent);
}

#[test]
fn complaint_28_tab_indentation_is_named_and_fixed() {
    let document = header("description: x\nmetadata:\n\ta: b");
    assert_eq!(field(&document, "metadata"), serde_json::json!({"a": "b"}));
    assert!(document.diagnostics()[0].message.contains("tab"), "{:?}", document.diagnostics());
}

#[test]
fn complaint_59_positions_in_code_are_left_alone() {
    let body = "```bash\nawk '{print $1}' x\n```\nand `echo $0`\n";
    assert_eq!(expand(body, "foo"), format!("{body}\nARGUMENTS: foo\n"));
    let template = Template::parse(body, &TemplateOptions::default());
    assert!(template.diagnostics().iter().all(|found| found.code == Code::PlaceholderInFence));
    assert_eq!(template.diagnostics().len(), 2);
}

#[test]
fn complaint_60_prices_are_not_eaten() {
    assert_eq!(
        expand("costs $5 and $10, \\$1, $1.50 and $1,000", "x"),
        "costs $5 and $10, $1, $1.50 and $1,000\n\nARGUMENTS: x\n"
    );
}

#[test]
fn complaint_61_a_number_ends_where_a_word_ends() {
    assert_eq!(expand("$1st $10 ${1} $1_ $1", "a"), "$1st $10 a $1_ a");
}

#[test]
fn complaint_62_a_position_without_a_value_stays() {
    assert_eq!(expand("$1 $2", "a"), "a $2");
}

#[test]
fn complaint_63_a_value_is_never_expanded_again() {
    for value in ["$ARGUMENTS", "$1", "${CLAUDE_SKILL_DIR}", "!`id`", "\\$1"] {
        assert_eq!(expand("<$ARGUMENTS>", value), format!("<{value}>"));
    }
}

#[test]
fn complaint_64_examples_in_fences_do_not_run() {
    for body in ["```\nrun: !`id`\n```\n", "```markdown\n!`id`\n```\n", "`` !`id` ``\n", "````\n```!\nid\n```\n````\n"]
    {
        let template = Template::parse(body, &TemplateOptions::default());
        assert_eq!(template.injections(), [], "{body:?}");
        assert_eq!(template.fill(&Values::default()).assemble::<&str>(&[]), body);
    }
}

#[test]
fn complaint_65_an_exclamation_mark_in_prose_runs_nothing() {
    for body in ["Beware!`id` is a command", "`vec!` and `id`", "Use ` !` or `x`", "Stop!\n`id`"] {
        assert_eq!(Template::parse(body, &TemplateOptions::default()).injections(), [], "{body:?}");
    }
    // At the start of a line it does run, so a sentence that begins with it is reported.
    let document = read("---\nname: a\ndescription: x\n---\n!`id` is a command\n");
    assert_eq!(Template::parse(&document.body(), &TemplateOptions::default()).injections().len(), 1);
    let found: Vec<String> = scan(&document).iter().map(|found| found.code.to_string()).collect();
    assert_eq!(found, ["injection-in-prose"]);
    assert_eq!(scan(&read("---\nname: a\ndescription: x\n---\nUser: !`id` now\n")), [], "the control");
}

#[test]
fn complaint_67_arguments_of_commands_are_data() {
    let template = Template::parse("```!\nls \"$1\" $ARGUMENTS $2\n```\n", &TemplateOptions::default());
    let filled = template.fill(&Values { arguments: Some("'a; b'"), ..Values::default() });
    assert_eq!(filled.injections().len(), 1);
    let injection = &filled.injections()[0];
    assert_eq!(injection.source, "ls \"$1\" $ARGUMENTS $2", "the program is the author's");
    let values: Vec<&HoleValue> = injection.holes.iter().map(|hole| &hole.value).collect();
    let words = HoleValue::Words { words: vec!["a; b".into()], text: "'a; b'".into() };
    assert_eq!(values, [&HoleValue::Word("a; b".into()), &words, &HoleValue::Missing]);
    let literal: Vec<bool> = injection.holes.iter().map(|hole| hole.literal_in_single_quotes).collect();
    assert_eq!(literal, [true, false, true]);
}

#[test]
fn complaint_68_output_is_never_read_again() {
    let template = Template::parse("<!`a`> !`a`\n", &TemplateOptions::default());
    let filled = template.fill(&Values { arguments: Some("x"), ..Values::default() });
    assert_eq!(filled.assemble(&["!`id` $ARGUMENTS"]), "<!`a`> !`id` $ARGUMENTS\n\nARGUMENTS: x\n");
}

#[test]
fn injections_can_be_switched_off_and_are_text_from_a_server() {
    let template = Template::parse("a !`id $1` b\n```!\nx\n```\n", &TemplateOptions::default());
    let off = template.fill(&Values { injections: InjectionMode::DisabledByPolicy, ..Values::default() });
    let mark = "[shell command execution disabled by policy]";
    assert_eq!(off.assemble::<&str>(&[]), format!("a {mark} b\n{mark}\n"));
    assert_eq!(off.diagnostics().iter().filter(|found| found.code == Code::ShellDisabled).count(), 2);
    let server = template.fill(&Values { injections: InjectionMode::Literal, ..Values::default() });
    assert_eq!(server.assemble::<&str>(&[]), "a !`id $1` b\n```!\nx\n```\n");
    assert_eq!(server.diagnostics().iter().filter(|found| found.code == Code::ShellDisabled).count(), 2);
    assert_eq!((off.injections(), server.injections()), (&[][..], &[][..]));
}

#[test]
fn security_keys_that_cannot_be_read_fail_closed() {
    for lines in [
        "allowed-tools: {a: b}",
        "allowed-tools: Read\nallowed-tools: Write",
        "allowed-tools: Read\nallowed_tools: Write",
        "allowed-tools: [Read",
        "x: &t [Read]\nallowed-tools: *t",
        "allowed-tools:\n  - Read\n stray: [",
    ] {
        let document = header(&format!("name: a\ndescription: x\n{lines}"));
        assert!(
            document.frontmatter().allowed_tools.is_unreadable(),
            "{lines}: {:?}",
            document.frontmatter().allowed_tools
        );
        assert!(document.diagnostics().iter().any(|found| found.severity == Severity::Error), "{lines}");
    }
    let front = header(
        "disallowed-tools:\n  - [a]\ndisable-model-invocation: maybe\nuser-invocable: {}\nhooks: text\nshell: [x]\npaths: {a: b}",
    );
    let front = front.frontmatter();
    assert!(front.disallowed_tools.is_unreadable());
    assert!(front.disable_model_invocation.is_unreadable());
    assert!(front.user_invocable.is_unreadable());
    assert!(front.hooks.is_unreadable());
    assert!(front.shell.is_unreadable());
    assert!(front.paths.is_unreadable());
    let absent = header("allowed-tools:\nname: a");
    assert_eq!(absent.frontmatter().allowed_tools, Guarded::Absent, "null is absent");
    let empty = header("allowed-tools: []\nname: a");
    assert_eq!(empty.frontmatter().allowed_tools.present().map(Vec::len), Some(0), "empty is not absent");
}

#[test]
fn a_guard_that_is_overwritten_is_no_guard() {
    let document = header("name: a\ndescription: x\nhooks:\n  Stop: []\n  Stop: []\nmetadata: {a: 1, a: 2}");
    assert!(document.frontmatter().hooks.is_unreadable());
    assert_eq!(loud(&document), ["security-key-invalid:hooks", "duplicate-key:Stop", "duplicate-key:a"]);
}

#[test]
fn patterns_that_are_not_yaml_are_read_as_written() {
    for (written, expected) in [
        (" *.md", vec!["*.md"]),
        (" **/*.ts, *.md", vec!["**/*.ts", "*.md"]),
        (" [*.md, src/**]", vec!["*.md", "src/**"]),
        (" \"a\", \"b c\"", vec!["a", "b c"]),
        ("\n  - *.md\n  - src/**", vec!["*.md", "src/**"]),
        (" @scope/x", vec!["@scope/x"]),
        (" `x`", vec!["`x`"]),
        (" %x", vec!["%x"]),
    ] {
        let document = header(&format!("name: a\ndescription: x\npaths:{written}"));
        assert_eq!(field(&document, "paths"), serde_json::json!(expected), "{written:?} {:?}", document.diagnostics());
    }
    let tools = header("description: x\nallowed-tools:\n  - Bash(git log: *)\n  - Bash(a: b)\n  - Read");
    assert_eq!(field(&tools, "allowed-tools"), serde_json::json!(["Bash(git log: *)", "Bash(a: b)", "Read"]));
}

#[test]
fn template_leftovers_are_reported() {
    let document = header("name: {{NAME}}\ndescription: Does {{ what }} with ${{ github.x }}");
    assert_eq!(document.label(), "{{NAME}}");
    assert_eq!(
        codes(&document).iter().filter(|code| *code == "template-placeholder").count(),
        2,
        "{:?}",
        codes(&document)
    );
}

#[test]
fn files_beyond_the_limits_are_refused_whole() {
    let options = ReadOptions { max_file_bytes: 10, ..ReadOptions::default() };
    let document = Document::read(b"---\nname: a\n---\n", &options);
    assert_eq!((codes(&document), document.body()), (vec!["file-too-large".to_owned()], "".into()));
    assert!(document.failed_closed());
    let options = ReadOptions { max_header_bytes: 10, ..ReadOptions::default() };
    let document = Document::read(b"---\nname: a\n---\nhi", &options);
    assert_eq!((codes(&document), document.body()), (vec!["header-too-large".to_owned()], "hi".into()));
    assert!(document.failed_closed());
}
