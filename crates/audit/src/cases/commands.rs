//! Group G: what a command line hides. Every program is run by the capability shell over a backend that only records; what must
//! hold is that the canary is never among what ran, and that nothing else ran before it was refused.

use crate::case::{Act, Case, Group, Target};
use crate::record::RecordingBackend;
use crate::trial::{Setting, Trial, Trouble};
use skillgate_policy::Effect;
use std::sync::Arc;
use std::time::Duration;

const LIBRARY: &[Target] = &[Target::Library];
const LIMIT: Duration = Duration::from_secs(20);

pub(super) const CASES: &[Case] = &[
    Case {
        id: 70,
        title: "separators, substitutions, redirections",
        group: Group::Commands,
        targets: LIBRARY,
        attempt: "a granted command, and a second one behind every separator, in every substitution and beside every redirection",
        control: "the same programs under a grant of everything: the second command runs, or the construct does not exist",
        denial: "refused before anything runs, or the construct does not exist",
        sources: &["CVE-2025-54795", "CVE-2026-28463", "CVE-2026-109560", "GHSA-g8r9-g2v8-jv6f"],
        limit: LIMIT,
        act: Act::Here(separators),
    },
    Case {
        id: 71,
        title: "assignments and built-ins that change later commands",
        group: Group::Commands,
        targets: LIBRARY,
        attempt: "assignments before commands, and export, cd, alias, trap, exec, source, eval",
        control: "the same programs under a grant of everything",
        denial: "the canary never runs: refused, or the built-in does not exist",
        sources: &["CVE-2026-22708", "CVE-2026-25722"],
        limit: LIMIT,
        act: Act::Here(built_ins),
    },
    Case {
        id: 72,
        title: "commands that run other commands",
        group: Group::Commands,
        targets: LIBRARY,
        attempt: "a prefix pattern for env, sudo, timeout, xargs, find, awk, sed, sort, tar, git and their like, and a command within",
        control: "the same vectors under a grant of everything",
        denial: "refused before anything runs: a prefix pattern never covers what a command runs",
        sources: &[
            "CVE-2026-27566",
            "CVE-2026-31992",
            "CVE-2026-53861",
            "CVE-2025-58764",
            "CVE-2025-64755",
            "CVE-2026-26268",
        ],
        limit: LIMIT,
        act: Act::Here(carriers),
    },
    Case {
        id: 74,
        title: "where a prefix ends",
        group: Group::Commands,
        targets: LIBRARY,
        attempt: "`Bash(git status:*)`, and commands whose beginning only looks like it",
        control: "git status, and git status with an option",
        denial: "refused, or a name that nobody offers; nothing runs",
        sources: &["CVE-2025-66032", "class: prefix without a boundary"],
        limit: LIMIT,
        act: Act::Here(prefixes),
    },
];

/// What a program has to give under a narrow grant.
pub(super) const REFUSED: &str = "refused: no rule grants it";
pub(super) const UNSUPPORTED: &str = "unsupported";
pub(super) const UNWRITTEN: &str = "refused: writing needs a grant";

impl Trial<'_> {
    /// Runs a program over a fresh recorder: how it ended, and the vectors that ran.
    pub(super) fn recorded(&self, source: &str, setting: &Setting) -> Result<(String, Vec<Vec<String>>), Trouble> {
        let recorder = Arc::new(RecordingBackend::default());
        let ran = self.shell_on(recorder.clone(), source, setting)?;
        Ok((ran.ended.to_string(), recorder.ran()))
    }

    /// A program that must be denied under `grant` as `expected` says, before anything ran, and whose canary runs under a grant of
    /// everything; `expected` may say that the construct does not exist, and then it exists under no grant.
    pub(super) fn hides(&mut self, source: &str, grant: &str, expected: &str) -> Result<(), Trouble> {
        let (ended, ran) = self.recorded(source, &Setting::granting(&[grant]))?;
        self.denied(shown(source), expected, with_ran(&ended, &ran));
        let everything = Setting::granting(&["Bash", "Write"]);
        let (ended, ran) = self.recorded(source, &everything)?;
        let found = match reaches_canary(&ran) {
            true => "the canary runs".to_owned(),
            false => with_ran(&ended, &ran),
        };
        let control = if expected == UNSUPPORTED { UNSUPPORTED } else { "the canary runs" };
        self.control(format!("{} under a grant of everything", shown(source)), control, found);
        Ok(())
    }
}

/// Whether a vector is the canary or carries it.
fn reaches_canary(ran: &[Vec<String>]) -> bool {
    ran.iter().flatten().any(|word| word.contains("canary"))
}

fn with_ran(ended: &str, ran: &[Vec<String>]) -> String {
    if ran.is_empty() {
        return ended.to_owned();
    }
    let vectors: Vec<String> = ran.iter().map(|vector| vector.join(" ")).collect();
    format!("{ended}, after {}", vectors.join("; "))
}

pub(super) fn shown(source: &str) -> String {
    format!("`{}`", source.escape_debug())
}

/// The names of the commands that ran.
fn names(ran: &[Vec<String>]) -> String {
    ran.iter().filter_map(|vector| vector.first()).map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// That the canary runs at all, so that it cannot be denied because it is missing.
fn canary_runs(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let (ended, ran) = trial.recorded("canary", &Setting::granting(&["Bash(canary)"]))?;
    trial.control("canary with its own grant", "exit 0, after canary", with_ran(&ended, &ran));
    Ok(())
}

fn separators(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    canary_runs(trial)?;
    let grant = "Bash(args:*)";
    for source in [
        "canary",
        "args a\ncanary",
        "args a\r\ncanary",
        "args a;canary",
        "args a && canary",
        "args a | canary",
        "args a |& canary",
        "( canary )",
        "{ canary; }",
        "! canary",
        "if args; then canary; fi",
        "for x in a; do canary; done",
        "case a in a) canary;; esac",
        "f() { canary; }; f",
        "args $(canary)",
        "args `canary`",
        "args \"$(canary)\"",
        "args \"`canary`\"",
        "args ${x:-$(canary)}",
        "args \"${x:-`canary`}\"",
        "args $(args $(canary))",
        "args <<E\n$(canary)\nE",
        "args <<< $(canary)",
        "args a # comment\ncanary",
        "x=$(canary)",
        "[[ $(canary) ]]",
    ] {
        trial.hides(source, grant, REFUSED)?;
    }
    // The second of an or-list is refused too, although it would not have run.
    let (ended, ran) = trial.recorded("args a || canary", &Setting::granting(&[grant]))?;
    trial.denied("`args a || canary`", REFUSED, with_ran(&ended, &ran));
    for source in [
        "args a & canary",
        "args <(canary)",
        "args >(canary)",
        "args {fd}> canary",
        "args 3> canary",
        "args <> canary",
        "coproc canary",
        "args a\0;canary",
    ] {
        let (ended, ran) = trial.recorded(source, &Setting::granting(&[grant]))?;
        let denied = ran.iter().flatten().all(|word| !word.contains("canary"))
            && (ended == UNSUPPORTED || ended.starts_with("refused: "));
        trial.denied_when(shown(source), "unsupported or refused", denied, with_ran(&ended, &ran));
    }
    for operator in [">", ">>", ">|", "&>", "&>>", "2>", "1>"] {
        let source = format!("args x {operator} canary");
        let (ended, ran) = trial.recorded(&source, &Setting::granting(&[grant]))?;
        trial.denied(shown(&source), UNWRITTEN, with_ran(&ended, &ran));
        let made = trial.field.path("project/canary").exists();
        trial.denied_when(format!("the file of {}", shown(&source)), "is not made", !made, made);
        let granted = Setting::granting(&[grant]).rule(Effect::Allow, "Write(canary)");
        let (ended, ran) = trial.recorded(&source, &granted)?;
        trial.control(
            format!("{} with a grant for the file", shown(&source)),
            "exit 0, after args x",
            with_ran(&ended, &ran),
        );
        let made = trial.field.path("project/canary").exists();
        trial.control_when(format!("the granted file of {}", shown(&source)), "is made", made, made);
        std::fs::remove_file(trial.field.path("project/canary"))?;
    }
    Ok(())
}

fn built_ins(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    canary_runs(trial)?;
    trial.field.make_directory("project/inner")?;
    let grant = "Bash(args:*)";
    for source in [
        "X=$(canary) args a",
        "X=1 canary",
        "PATH=.:$PATH canary",
        "export X=$(canary)",
        "export PATH=.; canary",
        "cd inner && canary",
        "set -e; canary",
        "command canary",
        "unset PATH; canary",
    ] {
        trial.hides(source, grant, REFUSED)?;
    }
    for source in [
        "alias args=canary\nargs",
        "trap canary EXIT",
        "exec canary",
        "builtin canary",
        "enable -n echo; canary",
        "declare -f x; canary",
        "shopt -s expand_aliases; canary",
        "hash -p ./canary args; args",
    ] {
        trial.hides(source, grant, UNSUPPORTED)?;
    }
    // With the built-ins granted, what they are given is decided all the same.
    trial.field.write("project/script", "canary\n")?;
    for source in [
        ". ./script",
        "source ./script",
        "eval canary",
        "eval \"$(args canary)\"",
        "x=canary; $x",
        "x='a;canary'; args $x; $(args canary)",
    ] {
        let (ended, ran) = trial.recorded(source, &Setting::granting(&[grant, "Bash(eval:*)"]))?;
        let denied = ended.starts_with("refused: ")
            && !ran.iter().any(|vector| vector.first().is_some_and(|name| name == "canary"));
        trial.denied_when(shown(source), "refused, without the canary", denied, with_ran(&ended, &ran));
    }
    let (_, ran) = trial.recorded(". ./script; eval canary", &Setting::granting(&["Bash"]))?;
    trial.control("a script and `eval` under a grant of everything", "canary canary", names(&ran));
    Ok(())
}

fn carriers(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    canary_runs(trial)?;
    for (grant, source) in [
        ("Bash(env:*)", "env canary"),
        ("Bash(env:*)", "env -S 'canary x'"),
        ("Bash(env:*)", "env -i X=1 canary"),
        ("Bash(sudo:*)", "sudo canary"),
        ("Bash(doas:*)", "doas canary"),
        ("Bash(timeout:*)", "timeout 1 canary"),
        ("Bash(xargs:*)", "xargs canary"),
        ("Bash(nice:*)", "nice canary"),
        ("Bash(nohup:*)", "nohup canary"),
        ("Bash(watch:*)", "watch canary"),
        ("Bash(flock:*)", "flock lock canary"),
        ("Bash(setsid:*)", "setsid canary"),
        ("Bash(stdbuf:*)", "stdbuf -o0 canary"),
        ("Bash(busybox:*)", "busybox canary"),
        ("Bash(find:*)", "find . -exec canary ';'"),
        ("Bash(find:*)", "find . -delete -name canary"),
        ("Bash(awk:*)", "awk 'BEGIN { system(\"canary\") }'"),
        ("Bash(sed:*)", "sed 's/x/canary/e' f"),
        ("Bash(sed:*)", "sed 'w canary' f"),
        ("Bash(sort:*)", "sort --compress-program=canary f"),
        ("Bash(sort:*)", "sort --compress-prog canary f"),
        ("Bash(tar:*)", "tar cf x --checkpoint=1 --checkpoint-action=exec=canary ."),
        ("Bash(git:*)", "git -c core.pager=canary log"),
        ("Bash(git:*)", "git -c alias.x='!canary' x"),
        ("Bash(git:*)", "git grep --open-files-in-pager=canary x"),
        ("Bash(man:*)", "man -P canary ls"),
        ("Bash(less:*)", "less '+!canary' f"),
        ("Bash(vim:*)", "vim -c '!canary' f"),
        ("Bash(rg:*)", "rg --pre canary x"),
        ("Bash(ssh:*)", "ssh -o ProxyCommand=canary host"),
        ("Bash(python3:*)", "python3 -c 'canary'"),
        ("Bash(perl:*)", "perl -e 'canary'"),
        ("Bash(make:*)", "make canary"),
    ] {
        trial.hides(source, grant, REFUSED)?;
    }
    // A shell that the capability shell is itself: what it is given is decided like everything.
    for source in ["sh -c canary", "sh -ec canary", "bash -c 'args; canary'"] {
        trial.hides(source, "Bash(sh:*)", REFUSED)?;
    }
    Ok(())
}

fn prefixes(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let grant = Setting::granting(&["Bash(git status:*)"]);
    for (source, expected) in [
        ("git statusx", REFUSED),
        ("git status-x", REFUSED),
        ("git 'status x'", REFUSED),
        ("git stat", REFUSED),
        ("git -C / status", REFUSED),
        ("git", REFUSED),
        ("git-status", "exit 127"),
        ("gitstatus", "exit 127"),
        ("./git status", "exit 127"),
        ("GIT status", "exit 127"),
    ] {
        let (ended, ran) = trial.recorded(source, &grant)?;
        trial.denied(shown(source), expected, with_ran(&ended, &ran));
    }
    for (source, expected) in [
        ("git status", "exit 0, after git status"),
        ("git  status\t--short", "exit 0, after git status --short"),
        ("'git' sta\"tus\"", "exit 0, after git status"),
    ] {
        let (ended, ran) = trial.recorded(source, &grant)?;
        trial.control(shown(source), expected, with_ran(&ended, &ran));
    }
    Ok(())
}
