//! Patterns against vectors through the public way: a host with one rule, a gate, and its answer.

use skillgate_policy::{
    Authority, CommandRequest, Defaults, Effect, Gate, Host, Place, Provenance, Provider, Refusal, RefusalReason, Rule,
    Sight, Word,
};

fn gate(rules: &[(Effect, &str)]) -> Gate {
    let rules = rules.iter().map(|(effect, text)| Rule::parse(*effect, text, Place::Host).expect(text));
    Gate::new(Authority::of(Host::granting(rules)))
}

fn ask(gate: &Gate, words: &[&str]) -> Result<Sight, Box<Refusal>> {
    let approved = gate.approve(CommandRequest::from_author(words, Provider::Shipped)).map_err(Box::new)?;
    Ok(approved.sight())
}

/// What a grant of one pattern says to a vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    Granted,
    /// Not covered, and a filter: standard streams only.
    Streams,
    Refused,
    /// Covered by a prefix, and refused because it runs other programs.
    Carrier,
}
use Answer::{Carrier, Granted, Refused, Streams};

fn check(pattern: &str, line: &str, expected: Answer) {
    // Words are separated by one blank; `␠` is a blank inside a word.
    let words: Vec<String> = line.split(' ').map(|word| word.replace('␠', " ")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let answer = match ask(&gate(&[(Effect::Allow, pattern)]), &words).map_err(|refusal| *refusal) {
        Ok(Sight::Granted) => Granted,
        Ok(Sight::StreamsOnly) => Streams,
        Err(Refusal { reason: RefusalReason::Carrier { .. }, remedy, .. }) => {
            let remedy = remedy.expect("an exact pattern allows it");
            assert_eq!(ask(&gate(&[(Effect::Allow, &remedy)]), &words), Ok(Sight::Granted), "{remedy} for {line}");
            Carrier
        }
        Err(Refusal { reason: RefusalReason::NotGranted, remedy, .. }) => {
            let remedy = remedy.expect("a pattern allows it");
            let helps = ask(&gate(&[(Effect::Allow, &remedy)]), &words);
            let carries = matches!(&helps, Err(refusal) if matches!(refusal.reason, RefusalReason::Carrier { .. }));
            assert!(helps == Ok(Sight::Granted) || carries, "{remedy} for {line}: {helps:?}");
            Refused
        }
        Err(other) => unreachable!("{pattern} on {line}: {other}"),
    };
    assert_eq!(answer, expected, "{pattern} on {line}");
}

#[test]
fn a_pattern_grants_the_vectors_that_it_names() {
    for (pattern, line, expected) in [
        ("Bash", "anything at all", Granted),
        ("Bash(*)", "anything", Granted),
        ("Bash(:*)", "anything", Granted),
        ("Bash()", "anything", Granted),
        ("Bash(ls)", "ls", Granted),
        ("Bash(ls)", "ls -l", Refused),
        ("Bash(ls:*)", "ls", Granted),
        ("Bash(ls:*)", "ls -l /", Granted),
        ("Bash(ls *)", "ls", Granted),
        ("Bash(ls *)", "ls -l", Granted),
        ("Bash(ls -l:*)", "ls -la", Refused),
        ("Bash(ls -l*)", "ls -la x", Granted),
        ("Bash(ls -l*)", "ls", Refused),
        ("Bash(npm run test*)", "npm run test:unit -- -x", Granted),
        ("Bash(npm run test*)", "npm run tes", Refused),
        ("Bash(git log -m 'a b')", "git log -m a␠b", Granted),
        ("Bash(git log -m 'a b')", "git log -m a b", Refused),
        ("Bash(git log -m \"a b\")", "git log -m a␠b", Granted),
        ("Bash(git log -m a\\ b)", "git log -m a␠b", Granted),
        ("Bash(printf '*')", "printf *", Granted),
        ("Bash(printf '*')", "printf x", Refused),
        ("Bash(printf '%s' :*)", "printf %s x", Granted),
        (" Bash( ls:* ) ", "ls x", Granted),
        // The name is the vector's first word, whole.
        ("Bash(ls:*)", "LS", Refused),
        ("Bash(ls:*)", "lsx", Refused),
        ("Bash(ls:*)", "/bin/ls", Refused),
        ("Bash(ls:*)", "./ls", Refused),
        ("Bash(ls:*)", "ls␠x", Refused),
        ("Bash(ls:*)", "X=1 ls", Refused),
        // What an unlisted filter may do: transform its input.
        ("Bash(ls:*)", "cat x", Streams),
        ("Bash(ls:*)", "sort -n", Streams),
        ("Bash(ls:*)", "grep -c x", Streams),
        ("Bash(ls:*)", "sed -n 1,5p", Streams),
        ("Bash(ls:*)", "grep -f x", Refused),
        ("Bash(ls:*)", "sed -n 1w␠x", Refused),
        ("Bash(ls:*)", "/bin/cat x", Refused),
        ("Bash(cat:*)", "cat x", Granted),
        // Other tools say nothing about commands: such a host runs none.
        ("Read", "cat x", Refused),
        ("WebFetch(domain:x)", "ls", Refused),
    ] {
        check(pattern, line, expected);
    }
}

#[test]
fn a_prefix_ends_at_a_word() {
    for (line, expected) in [
        ("git status", Granted),
        ("git status -s", Granted),
        ("git status -- statusx", Granted),
        ("git statusx", Refused),
        ("git status-x", Refused),
        ("git-status", Refused),
        ("gitstatus", Refused),
        ("git status␠-s", Refused),
        ("git␠status", Refused),
        ("git", Refused),
        ("git -C x status", Refused),
        ("/tmp/git status", Refused),
        ("./git status", Refused),
        ("GIT status", Refused),
        ("git STATUS", Refused),
        ("git  status", Refused),
    ] {
        for pattern in ["Bash(git status:*)", "Bash(git status *)"] {
            check(pattern, line, expected);
        }
    }
}

#[test]
fn a_prefix_never_covers_a_carrier_and_its_exact_vector_does() {
    for line in [
        "env touch x",
        "env -S touch␠x",
        "sudo ls",
        "timeout 5 ls",
        "xargs rm",
        "nice ls",
        "nohup ls",
        "watch ls",
        "flock x ls",
        "setsid ls",
        "busybox ls",
        "sh -ec ls",
        "bash x.sh",
        "python3 -c x",
        "python3.13 -c x",
        "/usr/bin/env ls",
        "find . -exec ls ;",
        "find . -ok ls ;",
        "find . -delete",
        "find . -fprintf x %p",
        "awk BEGIN{system(\"ls\")}",
        "awk {print␠>␠\"x\"}",
        "awk -f x.awk",
        "sed s/a/b/w␠x",
        "sed 1e",
        "sed -i s/a/b/ x",
        "sed -f x.sed",
        "sort --compress-program=sh",
        "sort --comp=sh",
        "sort -o x",
        "tar --checkpoint-action=exec=ls -cf x y",
        "tar --checkpoint-act=exec=ls -cf x y",
        "tar -I sh -cf x y",
        "git -c alias.x=!ls x",
        "git -p log",
        "git log --output=x",
        "git grep -Oless x",
        "git difftool",
        "git rebase -x ls",
        "git submodule foreach ls",
        "man -P ls x",
        "rg --pre=sh x",
        "split --filter=sh x",
        "make",
        "ssh host",
        "npx x",
    ] {
        let name = line.split(' ').next().expect("a name");
        check(&format!("Bash({name}:*)"), line, Carrier);
        check("Bash", line, Granted);
    }
    for line in ["find . -name x", "awk {print$1} x", "sed -n 1p x", "sort -u x", "tar -tf x", "git log -p", "rg x"] {
        let name = line.split(' ').next().expect("a name");
        check(&format!("Bash({name}:*)"), line, Granted);
    }
}

#[test]
fn deny_goes_before_ask_and_ask_before_allow() {
    use Effect::{Allow, Ask, Deny};
    let everything = [(Allow, "Bash"), (Ask, "Bash(git:*)"), (Deny, "Bash(git push:*)")];
    for rotation in 0..everything.len() {
        let mut rules = everything;
        rules.rotate_left(rotation);
        let gate = gate(&rules);
        assert_eq!(ask(&gate, &["ls"]), Ok(Sight::Granted));
        let reason = |words: &[&str]| ask(&gate, words).expect_err("refused").reason;
        assert!(matches!(reason(&["git", "status"]), RefusalReason::Unanswered(rule) if rule.effect() == Ask));
        assert!(matches!(reason(&["git", "push", "-f"]), RefusalReason::Denied(rule) if rule.effect() == Deny));
    }
    // A denying pattern matches a carrier as well, and an exact grant does not win against it.
    let gate = gate(&[(Allow, "Bash(env ls)"), (Deny, "Bash(env:*)")]);
    assert!(matches!(ask(&gate, &["env", "ls"]).map_err(|refusal| refusal.reason), Err(RefusalReason::Denied(_))));
}

#[test]
fn a_filter_that_a_rule_takes_away_does_not_run_on_streams_either() {
    for effect in [Effect::Ask, Effect::Deny] {
        let gate = gate(&[(Effect::Allow, "Bash(ls:*)"), (effect, "Bash(cat:*)")]);
        assert_eq!(ask(&gate, &["cat"]).expect_err("taken away").reason.effect(), effect);
        assert_eq!(ask(&gate, &["head"]), Ok(Sight::StreamsOnly));
    }
}

#[test]
fn no_remedy_is_offered_that_is_no_pattern() {
    // Shown to a person such a word is escaped, and a pattern has no escapes.
    for (pattern, words) in
        [("Bash(ls)", &["a\nb"][..]), ("Bash(ls)", &["git", "\u{1b}[1m"]), ("Bash(env:*)", &["env", "a\tb"])]
    {
        let refusal = ask(&gate(&[(Effect::Allow, pattern)]), words).expect_err("refused");
        assert_eq!(refusal.remedy, None, "{words:?}");
    }
}

#[test]
fn the_built_in_default_covers_what_ships_and_nothing_else() {
    let gate = Gate::new(Authority::of(Host::new([], Defaults::BuiltIn)));
    let sight = |words: &[&str], provider| {
        gate.approve(CommandRequest::from_author(words, provider)).map(|approved| approved.sight()).ok()
    };
    assert_eq!(sight(&["ls", "-l"], Provider::Shipped), Some(Sight::Granted));
    assert_eq!(sight(&["echo"], Provider::BuiltIn), Some(Sight::Granted));
    assert_eq!(sight(&["gh", "pr"], Provider::Native), None);
    assert_eq!(sight(&["mytool"], Provider::ThirdParty), None);
    // A native program that bears a filter's name is not shown a file.
    assert_eq!(sight(&["jq", "."], Provider::Native), Some(Sight::StreamsOnly));
}

#[test]
fn a_word_that_nobody_wrote_is_no_option_unless_every_command_is_granted() {
    let request = |provenance| CommandRequest {
        words: [("ls", Provenance::Author), ("-delete", provenance)]
            .map(|(text, provenance)| Word { text: text.to_owned(), provenance })
            .into(),
        provider: Provider::Shipped,
    };
    for (pattern, provenance, approved) in [
        ("Bash(ls:*)", Provenance::Author, true),
        ("Bash(ls:*)", Provenance::Argument, true),
        ("Bash(ls:*)", Provenance::Expansion, false),
        ("Bash(ls -delete)", Provenance::Expansion, false),
        ("Bash", Provenance::Expansion, true),
    ] {
        let answer = gate(&[(Effect::Allow, pattern)]).approve(request(provenance));
        assert_eq!(answer.is_ok(), approved, "{pattern} {provenance:?}: {answer:?}");
        if let Err(refusal) = answer {
            assert_eq!(refusal.reason, RefusalReason::ProducedOption { word: "-delete".to_owned() });
        }
    }
}

#[test]
fn the_effective_list_holds_what_survives_of_the_hosts_patterns_and_no_more() {
    use skillgate_core::{CommandName, Digest, SkillId, Source};
    use skillgate_policy::{Caveat, CaveatKind, ToolPattern};
    let skill = SkillId::new(Source::User, CommandName::new("s").expect("a name"));
    let parse = |texts: &[&str]| texts.iter().map(|text| ToolPattern::parse(text).expect("a pattern")).collect();
    let caveat = |kind| Caveat { skill: skill.clone(), digest: Digest::of(b""), kind };
    let host = || {
        let allow = ["Bash(ls:*)", "Bash(cat:*)", "Bash(git status:*)", "Write(out/**)", "Read(src/**)"];
        let rule = |text: &&str| Rule::parse(Effect::Allow, text, Place::Host).expect("a rule");
        Host::granting(allow.iter().map(rule))
    };
    let listed = |authority: &Authority| -> Vec<(String, Vec<Vec<String>>)> {
        authority.effective().into_iter().map(|entry| (entry.pattern, entry.narrowed_by)).collect()
    };
    let only = Authority::of(host()).with(caveat(CaveatKind::Only {
        patterns: parse(&["Bash(ls -l:*)", "Bash(git push:*)", "Bash(cat:*)"]),
        unreadable: Vec::new(),
    }));
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        listed(&only),
        [
            ("Bash(ls:*)".to_owned(), vec![texts(&["Bash(ls -l:*)"])]),
            ("Bash(cat:*)".to_owned(), vec![texts(&["Bash(cat:*)"])]),
            ("Read(src/**)".to_owned(), vec![]),
        ]
    );
    let without = Authority::of(host()).with(caveat(CaveatKind::Without(parse(&["Bash(git push:*)", "Write"]))));
    let names: Vec<String> = listed(&without).into_iter().map(|(pattern, _)| pattern).collect();
    assert_eq!(names, ["Bash(ls:*)", "Bash(cat:*)", "Bash(git status:*)", "Write(out/**)", "Read(src/**)"]);
    let nothing = Authority::of(host()).with(caveat(CaveatKind::Nothing { reason: "x".to_owned() }));
    assert_eq!(listed(&nothing), []);
}
