//! What a guest reaches of the machine's files, and what files make it run.

use crate::case::{Act, Case, Group, Target};
use crate::field::Field;
use crate::trial::{Setting, Trial, Trouble};
use skillgate_policy::Effect;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

const WASM: &[Target] = &[Target::Wasm];

pub(super) const CASES: &[Case] = &[
    Case {
        id: 25,
        title: "ways out of the mounts",
        group: Group::Guests,
        targets: WASM,
        attempt: "commands name files outside by .., absolute paths, links, trailing slashes, devices and drives, and try to change \
              what is read-only by writing, truncating, renaming over a link and linking",
        control: "the same commands on files of the project, and on a directory that may be written",
        denial: "what is outside is not there; every change refuses the run; nothing outside is changed",
        sources: &[
            "GHSA-vqjp-4c8c-hfgg",
            "GHSA-m9f7-9w4p-gv38",
            "GHSA-f2pq-268w-886c",
            "CVE-2026-47261",
            "CVE-2026-58494",
            "CVE-2024-51745",
            "CVE-2025-54794",
        ],
        // The commands may have to be compiled first.
        limit: Duration::from_secs(180),
        act: Act::Here(ways_out),
    },
    Case {
        id: 69,
        title: "a repository that names programs",
        group: Group::Environment,
        targets: WASM,
        attempt: "run git in a repository whose configuration, hooks and attributes name a program for everything that git can run",
        control: "git reads the repository and its configuration; the program, run by sh, leaves a file",
        denial: "the program never runs: its file is not there",
        sources: &["CVE-2026-26268", "CVE-2026-19592", "CVE-2026-19593", "GHSA-j425-whc4-4jgc", "CVE-2026-40068"],
        limit: Duration::from_secs(180),
        act: Act::Here(hostile_repository),
    },
];

/// What refuses a run that would change a file.
const WRITE_REFUSED: &str = "refused: writing needs a grant";

fn ways_out(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    prepare(&trial.field)?;
    let outside = trial.field.text("outside/secret");
    let before = trial.field.state("outside")?;
    let reading = Setting::new();
    let named: Vec<String> = vec![
        outside.clone(),
        "../outside/secret".to_owned(),
        "inner/../../outside/secret".to_owned(),
        "link".to_owned(),
        "chain".to_owned(),
        "way/secret".to_owned(),
        "way/".to_owned(),
        "README.md/".to_owned(),
        "README.md/.".to_owned(),
        "/proc/self/root/etc/passwd".to_owned(),
        format!("/proc/self/cwd/../outside{}", "/secret"),
        "/dev/fd/0".to_owned(),
        "NUL".to_owned(),
        "CON".to_owned(),
        "COM1".to_owned(),
        "'C:/secret'".to_owned(),
        r"'..\outside\secret'".to_owned(),
        r"'\\?\C:\secret'".to_owned(),
    ];
    for path in &named {
        let ran = trial.shell(&format!("cat {path}"), &reading)?;
        trial.denied(format!("read {path}"), "exit 1", &ran.ended);
        let text = format!("{}{}", ran.text(), ran.messages());
        let clean = !text.contains(Field::secret());
        trial.denied_when(format!("output of reading {path}"), "nothing of the secret", clean, text);
    }
    let names = trial.shell("ls ..", &reading)?;
    let hidden = !names.text().contains("outside");
    trial.denied_when("names beside the project", "`outside` is not among them", hidden, names.text());
    // A grant to write is for the names it names.
    let writing = Setting::new().rule(Effect::Allow, "Write(out)");
    for (setting, line) in [
        (&reading, "echo x > README.md"),
        (&reading, "truncate -s 0 README.md"),
        (&reading, "rm README.md"),
        (&reading, "mv README.md other"),
        (&reading, "ln README.md other"),
        (&reading, "ln -s ../outside/secret other"),
        (&reading, "touch README.md"),
        (&reading, "mkdir other"),
        (&writing, "echo x > out/../README.md"),
        (&writing, "ln -s ../../outside/secret out/other"),
        (&writing, "mv out/new hard"),
        (&writing, "echo x > hard"),
    ] {
        let ran = trial.shell(line, setting)?;
        trial.denied(line, WRITE_REFUSED, ran.ended);
    }
    // What lies beside the project is refused, or not there at all, where the run has a `/tmp` of its own.
    let beside = trial.shell("echo x > ../outside/secret", &writing)?.ended.to_string();
    let denied = beside == WRITE_REFUSED || beside == "exit 1";
    trial.denied_when("echo x > ../outside/secret", "refused, or exit 1", denied, beside);
    // Below a directory that may be written a link is still not followed out of it.
    for line in ["echo x > out/escape", "cp README.md way/new", "truncate -s 0 out/escape", "mv out/new out/escape"] {
        let ran = trial.shell(line, &writing)?;
        let through = trial.field.state("outside")? != before;
        trial.denied_when(line, "nothing outside is changed", !through, ran.ended);
    }
    let same = trial.field.state("outside")? == before;
    trial.denied_when("the directory outside", "as before", same, if same { "as before" } else { "changed" });
    controls(trial, &reading, &writing)
}

/// Everything by which a repository can have git run a program.
const HOSTILE_CONFIG: &str = "\
[core]
\trepositoryformatversion = 0
\tfsmonitor = ./canary.sh
\tpager = ./canary.sh
\teditor = ./canary.sh
\tsshCommand = ./canary.sh
\thooksPath = .
\taskPass = ./canary.sh
\tattributesFile = .gitattributes
[alias]
\tstatus = !./canary.sh
\towned = !./canary.sh
[diff]
\texternal = ./canary.sh
[diff \"owned\"]
\ttextconv = ./canary.sh
\tcommand = ./canary.sh
[filter \"owned\"]
\tclean = ./canary.sh
\tsmudge = ./canary.sh
\tprocess = ./canary.sh
[credential]
\thelper = !./canary.sh
[gpg]
\tprogram = ./canary.sh
[pager]
\tlog = ./canary.sh
\tstatus = ./canary.sh
";

fn hostile_repository(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let field = &trial.field;
    for directory in ["objects/info", "objects/pack", "refs/heads", "refs/tags", "hooks"] {
        field.make_directory(&format!("project/.git/{directory}"))?;
    }
    field.write("project/.git/HEAD", "ref: refs/heads/main\n")?;
    field.write("project/.git/config", HOSTILE_CONFIG)?;
    field.write("project/.gitattributes", "* filter=owned diff=owned\n")?;
    let canary = format!("#!/bin/sh\n: > '{}'\n", field.text("outside/owned"));
    for place in ["canary.sh", ".git/hooks/fsmonitor-watchman", ".git/hooks/post-index-change", "post-index-change"] {
        let path = format!("project/{place}");
        field.write(&path, &canary)?;
        std::fs::set_permissions(field.path(&path), std::fs::Permissions::from_mode(0o755))?;
    }
    let owned = field.path("outside/owned");
    for line in [
        "git status",
        "git status --short",
        "git log",
        "git diff",
        "git diff HEAD",
        "git owned",
        "git -c core.fsmonitor=./canary.sh status",
        "git ls-files",
        "git branch",
    ] {
        let ran = trial.shell(line, &Setting::new())?;
        trial.denied_when(line, "the program does not run", !owned.exists(), ran.ended);
    }
    let ran = trial.shell("git config --get core.pager", &Setting::new())?;
    trial.control("the configuration is read", "./canary.sh\n", ran.text());
    let ran = trial.shell("git status --short", &Setting::new())?;
    trial.control("the repository is read", "exit 0", ran.ended);
    #[expect(clippy::disallowed_methods, reason = "shows that the program would leave its file")]
    let status = Command::new("/bin/sh").arg(trial.field.path("project/canary.sh")).stdin(Stdio::null()).status()?;
    let left = status.success() && owned.exists();
    trial.control_when("the program, run by sh", "leaves its file", left, status);
    Ok(())
}

fn prepare(field: &Field) -> Result<(), Trouble> {
    field.make_directory("project/inner")?;
    field.make_directory("project/out")?;
    field.write("project/out/new", "new\n")?;
    field.link("project/link", "../outside/secret")?;
    field.link("project/chain", "link")?;
    field.link("project/way", "../outside")?;
    field.link("project/near", "README.md")?;
    field.link("project/out/escape", "../../outside/secret")?;
    std::fs::hard_link(field.path("outside/secret"), field.path("project/hard"))?;
    Ok(())
}

fn controls(trial: &mut Trial<'_>, reading: &Setting, writing: &Setting) -> Result<(), Trouble> {
    let readable = std::fs::read_to_string(trial.field.path("project/chain"))?;
    trial.control("without the sandbox the chain of links leads to the secret", Field::secret(), readable);
    for line in ["cat README.md", "cat inner/../README.md", "cat near", "ls ."] {
        let ran = trial.shell(line, reading)?;
        trial.control(line, "exit 0", ran.ended);
    }
    for line in ["echo x > out/made", "truncate -s 0 out/made", "mv out/made out/moved", "rm out/moved"] {
        let ran = trial.shell(line, writing)?;
        trial.control(format!("{line} (granted)"), "exit 0", ran.ended);
    }
    Ok(())
}
