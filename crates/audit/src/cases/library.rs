//! Group B: what Skillgate's own code does with files that somebody prepared.

use crate::case::{Act, Case, Group, Target};
use crate::field::Field;
use crate::trial::{Trial, Trouble};
use skillgate_bundle::Extraction;
use skillgate_exec::{Mounts, Writing};
use skillgate_loader::read_file_below_ambient;
use skillgate_policy::{Authority, Effect, Host, Place, Rule};
use skillgate_state::OwnerDir;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often a directory and a link change places while files are read and written.
const FLIPS: usize = 20_000;

pub(super) const CASES: &[Case] = &[
    Case {
        id: 31,
        title: "a directory that becomes a link",
        group: Group::Files,
        targets: &[Target::Library],
        attempt: "read and write below a directory that somebody exchanges with a link to the outside, twenty thousand times",
        control: "the link leads to the secret, and the directory is read and written",
        denial: "the secret is never read, and nothing outside is changed",
        sources: &["CVE-2026-88968", "CVE-2026-33574"],
        limit: Duration::from_secs(60),
        act: Act::Here(race),
    },
    Case {
        id: 35,
        title: "hard links to the outside",
        group: Group::Files,
        targets: &[Target::Library],
        attempt: "write through a name in a directory that may be written, which is a hard link to a file outside",
        control: "another file in the same directory is written",
        denial: "refused or failed; the file outside is as before",
        sources: &["CVE-2026-58494"],
        limit: Duration::from_secs(20),
        act: Act::Here(hard_links),
    },
    Case {
        id: 38,
        title: "names that are planted before",
        group: Group::Files,
        targets: &[Target::Library],
        attempt: "a link in the place of a directory of Skillgate's own, a directory that others can write, a link at a file's name",
        control: "a directory of one's own is taken, and a file in it written and read",
        denial: "the directories are refused; the link is replaced, and what it led to is as before",
        sources: &["CVE-2026-46406", "class: predictable temporary names"],
        limit: Duration::from_secs(20),
        act: Act::Here(planted_names),
    },
];

/// The rules of a host that lets `pattern` be written.
fn writing(pattern: &str) -> Result<skillgate_policy::PathRules, Trouble> {
    let rule = Rule::parse(Effect::Allow, pattern, Place::Host);
    let rule = rule.map_err(|error| Trouble::Broken(format!("`{pattern}`: {error}")))?;
    Ok(Authority::of(Host::granting([rule])).path_rules())
}

fn race(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let field = &trial.field;
    field.write("project/way/file", "inside")?;
    field.write("outside/file", Field::secret())?;
    field.link("project/link", "../outside")?;
    let before = field.state("outside")?;
    let through_link = std::fs::read_to_string(field.path("project/link/file"))?;
    let project = field.project();
    let read =
        || read_file_below_ambient(&project, "way/file", 1 << 20).map(|bytes| bytes == Field::secret().as_bytes());
    let rules = writing("Write(way)")?;
    let mounts = Mounts::open_ambient(Some(&project), &[])
        .map_err(|(path, error)| Trouble::Broken(format!("opening `{}`: {error}", path.display())))?;
    let file = project.join("way/file").display().to_string();
    let write = || {
        let located = mounts.locate(&file)?;
        let (mut file, _) = located.open_for_writing(&rules, Writing::default()).ok()?;
        file.write_all(b"inside").ok()
    };
    let quiet = (read().ok(), write());
    let done = AtomicBool::new(false);
    let (mut secret, mut attempts) = (0usize, 0usize);
    let flipped = std::thread::scope(|scope| {
        let flipping = scope.spawn(|| {
            let result = flip(&project);
            done.store(true, Ordering::Release);
            result
        });
        while !done.load(Ordering::Acquire) {
            secret += usize::from(read().unwrap_or(false));
            let _in_whatever_place = write();
            attempts += 1;
        }
        flipping.join()
    });
    let flips = flipped.map_err(|_| Trouble::Broken("the other thread panicked".to_owned()))??;
    trial.control("the link leads to the secret", Field::secret(), through_link);
    trial.control_when(
        "the directory is read and written",
        "yes",
        quiet == (Some(false), Some(())),
        format!("{quiet:?}"),
    );
    trial.control_when(
        "tries while it was exchanged",
        "some",
        attempts > 0,
        format!("{attempts} in {flips} exchanges"),
    );
    trial.denied("times that the secret was read", "0", secret);
    extract_while_exchanged(trial)?;
    let same = trial.field.state("outside")? == before;
    trial.denied_when("the directory outside", "as before", same, same);
    Ok(())
}

/// Takes skills to disk while every directory that is made is exchanged with a link to the outside.
fn extract_while_exchanged(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let broken = |error: skillgate_bundle::ExtractError| Trouble::Broken(error.to_string());
    let parent = tempfile::tempdir()?;
    let extraction = Extraction::begin_ambient(parent.path()).map_err(broken)?;
    let files = [("SKILL.md", b"x".as_slice()), ("way/file", b"inside")];
    let quiet = extraction.extract("quiet", files).map_err(broken)?;
    let whole = std::fs::read_to_string(quiet.join("way/file"))?;
    let outside = trial.field.path("outside");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                for entry in std::fs::read_dir(extraction.path()).into_iter().flatten().flatten() {
                    let way = entry.path().join("way");
                    // Each may come too late.
                    let _moved = std::fs::rename(&way, entry.path().join("away"));
                    let _linked = std::os::unix::fs::symlink(&outside, &way);
                    let _removed = std::fs::remove_file(&way);
                }
            }
        });
        for number in 0..500 {
            // Refused or whole.
            let _either = extraction.extract(&format!("skill{number}"), files);
        }
        done.store(true, Ordering::Release);
    });
    trial.control("a skill that is taken to disk in peace", "inside", whole);
    Ok(())
}

/// Exchanges the directory with the link and back.
fn flip(project: &Path) -> std::io::Result<usize> {
    let (way, link, away) = (project.join("way"), project.join("link"), project.join("away"));
    for _ in 0..FLIPS {
        std::fs::rename(&way, &away)?;
        std::fs::rename(&link, &way)?;
        std::fs::rename(&way, &link)?;
        std::fs::rename(&away, &way)?;
    }
    Ok(FLIPS)
}

fn hard_links(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let field = &trial.field;
    field.make_directory("project/out")?;
    field.write("project/out/own", "old")?;
    std::fs::hard_link(field.path("outside/secret"), field.path("project/out/hard"))?;
    let before = field.state("outside")?;
    let rules = writing("Write(out)")?;
    let mounts = Mounts::open_ambient(Some(&field.project()), &[])
        .map_err(|(path, error)| Trouble::Broken(format!("opening `{}`: {error}", path.display())))?;
    let write = |name: &str, how: Writing| {
        let path = field.text(&format!("project/out/{name}"));
        let located = mounts.locate(&path)?;
        let (mut file, _) = located.open_for_writing(&rules, how).ok()?;
        file.write_all(b"x").ok()
    };
    let truncating = Writing { truncate: true, ..Writing::default() };
    let outcomes = [write("hard", Writing::default()), write("hard", truncating)];
    let own = write("own", Writing::default());
    for (what, outcome) in ["write through it", "empty it and write"].into_iter().zip(outcomes) {
        trial.denied_when(what, "not written", outcome.is_none(), format!("{outcome:?}"));
    }
    let same = trial.field.state("outside")? == before;
    trial.denied_when("the file outside", "as before", same, same);
    trial.control_when("another file of the directory", "written", own.is_some(), format!("{own:?}"));
    Ok(())
}

fn planted_names(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    // A directory of our own: above it nobody else may write, or everything would be refused.
    let own = tempfile::tempdir()?;
    let at = |name: &str| own.path().join(name);
    std::os::unix::fs::symlink(trial.field.path("outside"), at("planted"))?;
    std::fs::create_dir(at("open"))?;
    std::fs::set_permissions(at("open"), std::fs::Permissions::from_mode(0o777))?;
    let opened = |name: &str| match OwnerDir::open_ambient(at(name)) {
        Ok(_) => "taken".to_owned(),
        Err(error) => format!("refused: {error}"),
    };
    for (what, name) in [("a link in its place", "planted"), ("a directory that others can write", "open")] {
        let found = opened(name);
        trial.denied_when(what, "refused", found.starts_with("refused"), found);
    }
    let broken = |error: skillgate_state::StateError| Trouble::Broken(error.to_string());
    let directory = OwnerDir::open_ambient(at("own")).map_err(broken)?;
    let before = trial.field.state("outside")?;
    std::os::unix::fs::symlink(trial.field.path("outside/secret"), at("own").join("record"))?;
    directory.write_atomic("record", b"ours").map_err(broken)?;
    let same = trial.field.state("outside")? == before;
    trial.denied_when("what a planted link led to", "as before", same, same);
    let read = directory.read("record", 64).map_err(broken)?;
    let extracted = |name: &str| match Extraction::begin_ambient(&at(name)) {
        Ok(_) => "taken".to_owned(),
        Err(error) => format!("refused: {error}"),
    };
    let found = extracted("open");
    trial.denied_when("taking skills to disk where others can write", "refused", found.starts_with("refused"), found);
    trial.control("taking skills to disk in a directory of one's own", "taken", extracted("own"));
    trial.control_when("a file of its own", "written and read", read.as_deref() == Some(b"ours"), format!("{read:?}"));
    Ok(())
}
