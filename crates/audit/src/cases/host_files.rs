//! Group B: what a program reaches of the machine's files.

use crate::case::{Act, Case, Group, Target};
use crate::field::Field;
use crate::trial::{Setting, Trial, Trouble};
use std::time::Duration;

const HOST: &[Target] = &[Target::Host];
const LIMIT: Duration = Duration::from_secs(20);
/// What is not mounted is not there; what is above a mount may be entered and nothing else.
const NOT_THERE: &[&str] = &["ENOENT", "EACCES"];
const UNCHANGED: &str = "as before";

pub(super) const CASES: &[Case] = &[
    Case {
        id: 26,
        title: "reading outside the grant",
        group: Group::Files,
        targets: HOST,
        attempt: "read /etc/shadow, the user's home, and a file in the machine's temporary directory",
        control: "without a sandbox they are there, and in it the project is readable",
        denial: "ENOENT or EACCES",
        sources: &["CVE-2025-54794", "class: secrets of the machine"],
        limit: LIMIT,
        act: Act::Here(reading),
    },
    Case {
        id: 27,
        title: "changing names outside the grant",
        group: Group::Files,
        targets: HOST,
        attempt: "write, append, create, rename, remove, link and make directories outside",
        control: "without a sandbox each of them works, in a copy",
        denial: "ENOENT or EACCES each; the directory outside is as before",
        sources: &["CVE-2025-54794", "CVE-2026-25724"],
        limit: LIMIT,
        act: Act::Here(changing_names),
    },
    Case {
        id: 28,
        title: "changing attributes outside the grant",
        group: Group::Files,
        targets: HOST,
        attempt: "chmod, chown, utimensat, setxattr and truncate outside",
        control: "without a sandbox each of them works, in a copy",
        denial: "ENOENT or EACCES each; the attributes outside are as before",
        sources: &["class: attributes that Landlock does not cover"],
        limit: LIMIT,
        act: Act::Here(changing_attributes),
    },
    Case {
        id: 29,
        title: "seeing names outside the grant",
        group: Group::Files,
        targets: HOST,
        attempt: "stat, access, chdir and list what lies outside, and list what lies beside the project",
        control: "without a sandbox the names are there",
        denial: "ENOENT or EACCES; beside the project there is nothing",
        sources: &["class: names that Landlock does not cover"],
        limit: LIMIT,
        act: Act::Here(seeing_names),
    },
    Case {
        id: 30,
        title: "links to the outside",
        group: Group::Files,
        targets: HOST,
        attempt: "read through absolute, relative and chained symbolic links of the project",
        control: "without a sandbox they lead to the secret; in it a link within the project works",
        denial: "ENOENT or EACCES",
        sources: &["CVE-2026-25724", "CVE-2026-39861", "CVE-2026-50549"],
        limit: LIMIT,
        act: Act::Here(links),
    },
    Case {
        id: 32,
        title: "ways through /proc and /dev",
        group: Group::Files,
        targets: HOST,
        attempt: "read and list through /proc/self/root, /proc/self/cwd, /proc/1/root and /dev/fd",
        control: "without a sandbox they lead to the secret",
        denial: "ENOENT or EACCES; what is there is the sandbox's own",
        sources: &["CVE-2024-21626", "CVE-2025-31133", "CVE-2025-52565", "CVE-2025-52881"],
        limit: LIMIT,
        act: Act::Here(through_proc),
    },
    Case {
        id: 33,
        title: "names that other programs act on",
        group: Group::Files,
        targets: HOST,
        attempt: "in a directory that may be written, make .claude/settings.json, .git/hooks/x, .mcp.json and .envrc",
        control: "under the same grant another file is made, and arrives in the project",
        denial: "none of them is in the project afterwards",
        sources: &["CVE-2026-25725", "CVE-2026-48124"],
        limit: LIMIT,
        act: Act::Here(protected_names),
    },
    Case {
        id: 34,
        title: "a protected directory renamed away",
        group: Group::Files,
        targets: HOST,
        attempt: "in a directory that may be written, rename .git, and a directory above it, and put others in their place",
        control: "under the same grant another file is made, and arrives in the project",
        denial: "the protected directory is where it was, with what was in it",
        sources: &["CVE-2026-25725", "class: rename of a parent"],
        limit: LIMIT,
        act: Act::Here(protected_parents),
    },
    Case {
        id: 36,
        title: "writing in a project that is read-only",
        group: Group::Files,
        targets: HOST,
        attempt: "write, create, remove, rename and make directories in the project, without a grant to write",
        control: "without a sandbox each of them works, in a copy",
        denial: "EROFS each; the project is as before",
        sources: &["class: read-only by permission bits"],
        limit: LIMIT,
        act: Act::Here(read_only_project),
    },
    Case {
        id: 37,
        title: "devices, set-user-id bits and mounts",
        group: Group::Files,
        targets: HOST,
        attempt: "make device nodes and a set-user-id file in a private directory; mount, umount, pivot_root, chroot",
        control: "without a sandbox the kernel answers otherwise, or the calls are seen to arrive",
        denial: "EPERM each",
        sources: &["CVE-2026-41163", "class: mounts made from within"],
        limit: LIMIT,
        act: Act::Here(devices_and_mounts),
    },
];

impl Trial<'_> {
    /// Notes that a part of the field is as it was.
    fn unchanged<T: PartialEq>(&mut self, what: &str, before: &T, after: &T) {
        self.denied(what, UNCHANGED, if before == after { UNCHANGED } else { "changed" });
    }
}

fn reading(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let secret = format!("read={}", trial.field.text("outside/secret"));
    let home = std::env::home_dir().unwrap_or_else(|| "/root".into());
    // A program below the home is shown at its own path, with the names of the directories that lead to it; then another
    // directory of the machine stands for the home.
    let shows_home = trial.probes()?.starts_with(&home);
    let home = if shows_home { "list=/var".to_owned() } else { format!("list={}", home.display()) };
    trial.answered(&["acts", "read=/etc/shadow", "access=/etc/shadow", &home, &secret], NOT_THERE)?;
    trial.succeeds_outside(&["acts", "access=/etc/shadow", &home, &secret])?;
    let readable = format!("read={}", trial.field.text("project/README.md"));
    let inside = trial.inside(&["acts", &readable])?;
    trial.control("the project is readable in the sandbox", "ok:# Field", inside.answers.of(&readable));
    Ok(())
}

/// The acts of a case on files of a directory, which is the one outside or a copy of it.
fn acts_on(field: &Field, directory: &str, acts: &[&str]) -> Vec<String> {
    let base = field.text(directory);
    let act = |act: &&str| act.replace('@', &base);
    std::iter::once("acts".to_owned()).chain(acts.iter().map(act)).collect()
}

fn words(acts: &[String]) -> Vec<&str> {
    acts.iter().map(String::as_str).collect()
}

/// A copy of what is outside, on which controls act.
fn copy(field: &Field, directory: &str) -> Result<(), Trouble> {
    field.make_directory(&format!("{directory}/empty"))?;
    for name in ["secret", "other", "third"] {
        field.write(&format!("{directory}/{name}"), Field::secret())?;
    }
    Ok(())
}

fn changing_names(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    const ACTS: &[&str] = &[
        "write=@/secret",
        "append=@/secret",
        "open-truncate=@/secret",
        "create=@/new",
        "mkdir=@/directory",
        "symlink=@/secret,@/symlink",
        "link=@/secret,@/hard",
        "rename=@/other,@/renamed",
        "unlink=@/third",
        "rmdir=@/empty",
    ];
    outside_is_untouched(trial, ACTS)
}

fn changing_attributes(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    const ACTS: &[&str] = &["chmod=@/secret", "chown=@/secret", "utime=@/secret", "truncate=@/other"];
    outside_is_untouched(trial, ACTS)?;
    // Not every file system keeps such attributes, so the control only has to reach the file.
    let attribute = acts_on(&trial.field, "outside", &["setxattr=@/secret"]);
    trial.answered(&words(&attribute), NOT_THERE)?;
    let outside = trial.outside(&words(&attribute))?;
    let answer = attribute.get(1).map_or("", |act| outside.of(act)).to_owned();
    let reached = answer == "ok" || answer == "EOPNOTSUPP";
    trial.control_when("setxattr without a sandbox", "ok or EOPNOTSUPP", reached, answer);
    Ok(())
}

fn outside_is_untouched(trial: &mut Trial<'_>, acts: &[&str]) -> Result<(), Trouble> {
    copy(&trial.field, "outside")?;
    copy(&trial.field, "copy")?;
    let before = trial.field.state("outside")?;
    let attempts = acts_on(&trial.field, "outside", acts);
    trial.answered(&words(&attempts), NOT_THERE)?;
    let after = trial.field.state("outside")?;
    trial.unchanged("the directory outside", &before, &after);
    let controls = acts_on(&trial.field, "copy", acts);
    trial.succeeds_outside(&words(&controls))
}

fn seeing_names(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    const ACTS: &[&str] = &["stat=@/secret", "access=@/secret", "chdir=@", "list=@", "directory=@"];
    let acts = acts_on(&trial.field, "outside", ACTS);
    trial.answered(&words(&acts), NOT_THERE)?;
    trial.succeeds_outside(&words(&acts))?;
    let beside = format!("list={}", trial.field.text(""));
    let inside = trial.inside(&["acts", &beside])?;
    trial.denied("what lies beside the project", "ok:project", inside.answers.of(&beside));
    let outside = trial.outside(&["acts", &beside])?;
    trial.control("the same without a sandbox", "ok:outside project", outside.of(&beside));
    Ok(())
}

fn links(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let field = &trial.field;
    field.link("project/absolute", field.path("outside/secret"))?;
    field.link("project/relative", "../outside/secret")?;
    field.link("project/chain", "relative")?;
    field.link("project/way", "../outside")?;
    field.link("project/near", "README.md")?;
    let acts = acts_on(field, "project", &["read=@/absolute", "read=@/relative", "read=@/chain", "read=@/way/secret"]);
    let near = format!("read={}", field.text("project/near"));
    trial.answered(&words(&acts), NOT_THERE)?;
    trial.succeeds_outside(&words(&acts))?;
    let inside = trial.inside(&["acts", &near])?;
    trial.control("a link within the project", "ok:# Field", inside.answers.of(&near));
    Ok(())
}

fn through_proc(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let secret = trial.field.text("outside/secret");
    let through = |way: &str| format!("read={way}{secret}");
    let same: Vec<String> = ["/proc/self/root", "/proc/thread-self/root"].map(through).to_vec();
    let beside = "read=/proc/self/cwd/../outside/secret".to_owned();
    let acts: Vec<String> = std::iter::once("acts".to_owned()).chain(same).chain([beside]).collect();
    trial.answered(&words(&acts), NOT_THERE)?;
    trial.succeeds_outside(&words(&acts))?;
    let first = through("/proc/1/root");
    trial.answered(
        &["acts", &first, "list=/proc/1/root", "list=/proc/1/fd", "read=/dev/fd/3"],
        &["ENOENT", "EACCES", "EPERM"],
    )?;
    Ok(())
}

/// A grant for one directory of the project.
fn writing(trial: &Trial<'_>) -> Result<Setting, Trouble> {
    trial.field.make_directory("project/work")?;
    Ok(trial.with_probes()?.writing("work"))
}

/// That something else can be written under the same grant.
fn written_control(trial: &mut Trial<'_>, setting: &Setting) -> Result<(), Trouble> {
    let act = format!("create={}", trial.field.text("project/work/made"));
    let inside = trial.inside_with(&["acts", &act], setting)?;
    trial.control("another file under the same grant", "ok", inside.answers.of(&act));
    let arrived = trial.field.path("project/work/made").is_file();
    trial.control_when("that file", "is in the project", arrived, arrived);
    Ok(())
}

fn protected_names(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let setting = writing(trial)?;
    let names = [".mcp.json", ".envrc", ".claude/settings.json", ".git/hooks/x", ".vscode/tasks.json", ".bashrc"];
    let before = trial.field.state("project")?;
    for name in names {
        let mut acts = vec!["acts".to_owned()];
        let mut above = String::new();
        for part in name.split('/').rev().skip(1).collect::<Vec<_>>().into_iter().rev() {
            above = if above.is_empty() { part.to_owned() } else { format!("{above}/{part}") };
            acts.push(format!("mkdir={}", trial.field.text(&format!("project/work/{above}"))));
        }
        acts.push(format!("create={}", trial.field.text(&format!("project/work/{name}"))));
        let inside = trial.inside_with(&words(&acts), &setting)?;
        let made = trial.field.path(&format!("project/work/{name}")).exists();
        let found = format!("{} ({})", if made { "is there" } else { "is not there" }, inside.ran.ended);
        trial.denied_when(format!("{name} after the run"), "is not there", !made, found);
    }
    let after = trial.field.state("project")?;
    let same = before.keys().eq(after.keys());
    trial.denied("the names of the project", UNCHANGED, if same { UNCHANGED } else { "changed" });
    written_control(trial, &setting)
}

fn protected_parents(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    trial.field.write("project/work/.git/config", "[core]\n")?;
    trial.field.write("project/work/sub/.claude/settings.json", "{}\n")?;
    let setting = writing(trial)?;
    let before = (trial.field.state("project/work/.git")?, trial.field.state("project/work/sub/.claude")?);
    let acts = acts_on(
        &trial.field,
        "project/work",
        &[
            "rename=@/.git,@/moved",
            "mkdir=@/.git",
            "create=@/.git/config",
            "rename=@/sub,@/elsewhere",
            "mkdir=@/sub",
            "mkdir=@/sub/.claude",
            "create=@/sub/.claude/settings.json",
        ],
    );
    let inside = trial.inside_with(&words(&acts), &setting)?;
    for (name, before) in [("project/work/.git", &before.0), ("project/work/sub/.claude", &before.1)] {
        let after = trial.field.state(name).unwrap_or_default();
        trial.denied_when(name, UNCHANGED, after == *before, &inside.ran.ended);
    }
    written_control(trial, &setting)
}

fn read_only_project(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    const ACTS: &[&str] = &[
        "write=@/secret",
        "open-truncate=@/secret",
        "truncate=@/other",
        "create=@/new",
        "mkdir=@/directory",
        "symlink=@/secret,@/symlink",
        "rename=@/other,@/renamed",
        "unlink=@/third",
        "rmdir=@/empty",
        "chmod=@/secret",
        "utime=@/secret",
    ];
    copy(&trial.field, "project/part")?;
    copy(&trial.field, "copy")?;
    let before = trial.field.state("project")?;
    let attempts = acts_on(&trial.field, "project/part", ACTS);
    trial.answered(&words(&attempts), &["EROFS"])?;
    let after = trial.field.state("project")?;
    trial.unchanged("the project", &before, &after);
    let controls = acts_on(&trial.field, "copy", ACTS);
    trial.succeeds_outside(&words(&controls))
}

fn devices_and_mounts(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    trial.answered(&["acts", "device=/tmp/device", "block-device=/tmp/block"], &["EPERM"])?;
    let made = trial.inside(&["acts", "create=/tmp/file", "setuid-bit=/tmp/file"])?;
    trial.control("a file in the private directory", "ok", made.answers.of("create=/tmp/file"));
    trial.denied("a set-user-id bit", "EPERM", made.answers.of("setuid-bit=/tmp/file"));
    let file = trial.field.text("outside/file");
    trial.succeeds_outside(&["acts", &format!("create={file}"), &format!("setuid-bit={file}")])?;
    trial.calls(
        &["mount", "umount", "pivot-root", "chroot", "open-tree", "fsopen", "fsmount", "move-mount", "mount-setattr"],
        "EPERM",
    )
}
