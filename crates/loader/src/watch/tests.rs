#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    reason = "a fixture is made with `std::fs`, not through the code under test, and its helpers fail the test"
)]

use super::*;
use crate::RootKind;
use interest::Interest;
use proptest::prelude::*;
use rustix::fs::{CWD, RenameFlags};
use skillgate_core::Source;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use tempfile::TempDir;

/// How long a test waits for what has to come. It passes as soon as it is there.
const PATIENCE: Duration = Duration::from_secs(60);

/// A home with places for skills and commands, some of which are there.
struct Place {
    tree: TempDir,
}

impl Place {
    fn new(files: &[&str]) -> Self {
        let place = Self { tree: tempfile::tempdir().expect("temporary directory") };
        for file in files {
            place.write(file, "Text.");
        }
        place
    }

    fn path(&self, below: &str) -> PathBuf {
        self.tree.path().canonicalize().expect("the tree").join(below)
    }

    /// Puts a file there with its text, so that nobody sees it half written.
    fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().expect("below the tree")).expect("directories");
        fs::write(self.path("unfinished"), text).expect("file");
        fs::rename(self.path("unfinished"), path).expect("rename");
    }

    /// Makes so many empty files, as a compiler does.
    fn build(&self, directory: &std::path::Path, files: usize) {
        fs::create_dir_all(directory).expect("directory");
        for number in 0..files {
            fs::write(directory.join(format!("{number}.o")), "").expect("file");
        }
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).expect("rename");
    }

    fn remove(&self, path: &str) {
        let path = self.path(path);
        if path.is_symlink() || path.is_file() { fs::remove_file(path) } else { fs::remove_dir_all(path) }
            .expect("remove");
    }

    fn roots(&self) -> Vec<SkillRoot> {
        let root = |source, kind, path: &str| SkillRoot {
            link_roots: vec![self.path("")],
            ..SkillRoot::new(source, kind, self.path(path))
        };
        vec![
            root(Source::User, RootKind::Skills, "home/.claude/skills"),
            root(Source::User, RootKind::Commands, "home/.claude/commands"),
            root(Source::Project, RootKind::Skills, "project/.agents/skills"),
        ]
    }

    fn look(&self) -> Look {
        Look::ambient(self.roots(), &[])
    }

    fn lines(&self, changes: &[SkillChange]) -> Vec<String> {
        let line = |change: &SkillChange| {
            let path = change.path.strip_prefix(self.path("")).expect("below the tree").display();
            format!("{} {} {}:{path}", change.kind.as_str(), change.source, change.name)
        };
        changes.iter().map(line).collect()
    }
}

const A: &str = "home/.claude/skills/a/SKILL.md";
const B: &str = "home/.claude/skills/b/SKILL.md";

/// What a look finds after `change` that it did not find before.
#[track_caller]
fn check(before: &[&str], change: impl FnOnce(&Place), expected: &[&str]) {
    let place = Place::new(before);
    let known = place.look();
    change(&place);
    let changes = changes::between(&known.files, &place.look().files);
    assert_eq!(place.lines(&changes), expected);
}

#[test]
fn two_looks_tell_what_happened() {
    check(&[A], |_| {}, &[]);
    check(&[A], |place| place.write(B, "New."), &[&format!("added user b:{B}")]);
    check(&[A], |place| place.write(A, "Longer than before."), &[&format!("changed user a:{A}")]);
    check(&[A, B], |place| place.remove("home/.claude/skills/a"), &[&format!("removed user a:{A}")]);
    check(&[A], |place| place.remove(A), &[&format!("removed user a:{A}")]);
    check(
        &[A],
        |place| place.rename("home/.claude/skills/a", "home/.claude/skills/b"),
        &[&format!("removed user a:{A}"), &format!("added user b:{B}")],
    );
    check(&[A], |place| place.write("home/.claude/skills/a/notes.txt", "No skill."), &[]);
    check(&[A], |place| place.write("home/.claude/skills/a/deep/SKILL.md", "Too deep."), &[]);
    check(
        &[],
        |place| place.write("project/.agents/skills/p/SKILL.md", "x"),
        &["added project p:project/.agents/skills/p/SKILL.md"],
    );
}

#[test]
fn a_replacement_is_a_change_also_when_size_and_time_are_kept() {
    check(
        &[A],
        |place| {
            let time = place.path(A).metadata().and_then(|metadata| metadata.modified()).expect("time");
            place.write("new", "Txet.");
            let new = fs::File::options().write(true).open(place.path("new"));
            new.and_then(|file| file.set_modified(time)).expect("time");
            place.rename("new", A);
        },
        &[&format!("changed user a:{A}")],
    );
}

#[test]
fn commands_at_any_depth_and_the_names_that_they_get() {
    let commands = "home/.claude/commands";
    check(
        &["home/.claude/commands/git/commit.md"],
        |place| {
            place.write(&format!("{commands}/git/deep/log.md"), "x");
            place.write(&format!("{commands}/tool/SKILL.md"), "x");
            place.write(&format!("{commands}/note.txt"), "x");
        },
        &[
            "added user log:home/.claude/commands/git/deep/log.md",
            "added user tool:home/.claude/commands/tool/SKILL.md",
        ],
    );
}

#[test]
fn links_are_followed_where_loading_follows_them() {
    check(
        &["store/a/SKILL.md", "store/b/SKILL.md"],
        |place| {
            place.write(B, "x");
            symlink(place.path("store/a"), place.path("home/.claude/skills/a")).expect("link");
        },
        &[&format!("added user a:{A}"), &format!("added user b:{B}")],
    );
    let place = Place::new(&["store/a/SKILL.md", B]);
    symlink(place.path("store/a"), place.path("home/.claude/skills/a")).expect("link");
    let known = place.look();
    assert!(known.directories.contains_key(&place.path("store/a")), "the place that is written");
    place.write("store/a/SKILL.md", "Another text.");
    let changes = changes::between(&known.files, &place.look().files);
    assert_eq!(place.lines(&changes), [format!("changed user a:{A}")]);
}

#[test]
fn what_cannot_be_read_is_there_and_changes_when_it_can() {
    let dangling = "home/.claude/skills/a";
    let place = Place::new(&[B]);
    symlink(place.path("store/a"), place.path(dangling)).expect("link");
    let known = place.look();
    assert_eq!(known.files.len(), 2);
    place.write("store/a/SKILL.md", "There.");
    let changes = changes::between(&known.files, &place.look().files);
    assert_eq!(place.lines(&changes), [format!("changed user a:{A}")]);
}

#[test]
fn directories_are_watched_and_missing_roots_from_above() {
    let place = Place::new(&[A, "home/.claude/skills/a/deep/er/x", "project/src/x"]);
    let look = place.look();
    let watched: Vec<String> = look
        .directories
        .keys()
        .filter_map(|path| Some(path.strip_prefix(place.path("")).ok()?.display().to_string()))
        .collect();
    assert_eq!(watched, ["", "home", "home/.claude", "home/.claude/skills", "home/.claude/skills/a", "project"]);
    let wakes = |directory: &str, name: &str| look.directories[&place.path(directory)].concerns(name.as_ref());
    assert!(wakes("project", ".agents") && wakes("home/.claude", "commands") && wakes("home/.claude/skills", "new"));
    assert!(!wakes("project", "src") && !wakes("home", "x") && !wakes("home/.claude/skills/a", "x"));
}

#[test]
fn skills_in_groups_are_seen_and_their_groups_watched() {
    const IN_GROUP: &str = "home/.claude/skills/team/b/SKILL.md";
    let place = Place::new(&[A, "home/.claude/skills/team/x"]);
    let look = |depth| Look::ambient(place.roots().into_iter().map(|root| SkillRoot { depth, ..root }).collect(), &[]);
    let (flat, known) = (look(1), look(2));
    place.write(IN_GROUP, "New.");
    let changes = changes::between(&known.files, &look(2).files);
    assert_eq!(place.lines(&changes), [format!("added user b:{IN_GROUP}")]);
    assert_eq!(place.lines(&changes::between(&flat.files, &look(1).files)), Vec::<String>::new(), "control");
    let group = place.path("home/.claude/skills/team");
    assert!(known.directories[&group].concerns("new".as_ref()) && !flat.directories[&group].concerns("new".as_ref()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    /// Whatever is done to a directory of skills, the difference of two looks is the difference of what is in it.
    #[test]
    fn the_difference_of_two_looks_is_that_of_the_texts(
        before in proptest::collection::btree_map("[a-c]", 0..3_usize, 0..4),
        after in proptest::collection::btree_map("[a-c]", 0..3_usize, 0..4),
    ) {
        let place = Place::new(&["home/.claude/skills/x"]);
        let file = |name: &str| format!("home/.claude/skills/{name}/SKILL.md");
        let text = |length: usize| "x".repeat(length + 1);
        for (name, length) in &before {
            place.write(&file(name), &text(*length));
        }
        let known = place.look();
        let mut expected = Vec::new();
        for name in ["a", "b", "c"] {
            let kind = match (before.get(name), after.get(name)) {
                (None, None) => continue,
                (Some(was), Some(is)) if was == is => continue,
                (Some(_), Some(length)) => {
                    place.write(&file(name), &text(*length));
                    "changed"
                }
                (None, Some(length)) => {
                    place.write(&file(name), &text(*length));
                    "added"
                }
                (Some(_), None) => {
                    place.remove(&file(name));
                    "removed"
                }
            };
            expected.push(format!("{kind} user {name}:{}", file(name)));
        }
        let changes = changes::between(&known.files, &place.look().files);
        prop_assert_eq!(place.lines(&changes), expected);
    }
}

#[test]
fn a_storm_of_events_is_one_look() {
    let bell = Bell::default();
    let storm = bell.clone();
    thread::spawn(move || (0..20_000).for_each(|_| storm.ring())).join().expect("the storm");
    assert_eq!(bell.wait(None), Waited::Rung);
    assert_eq!(bell.wait(Some(Duration::ZERO)), Waited::Elapsed);
}

#[test]
fn quiet_is_not_waited_for_without_end() {
    let bell = Bell::default();
    let (end, storm) = (Arc::new(AtomicUsize::new(0)), bell.clone());
    let ringing = thread::spawn({
        let end = Arc::clone(&end);
        move || {
            while end.load(Ordering::Relaxed) == 0 {
                storm.ring();
                thread::yield_now();
            }
        }
    });
    // It never is quiet for an hour, so what ends the wait is its bound.
    assert_eq!(bell.wait_for_quiet(Duration::from_secs(3_600), Duration::from_millis(10)), Waited::Rung);
    end.store(1, Ordering::Relaxed);
    ringing.join().expect("the storm");
    bell.stop();
    assert_eq!(bell.wait_for_quiet(Duration::from_secs(3_600), Duration::from_secs(3_600)), Waited::Stopped);
    assert_eq!(bell.wait(None), Waited::Stopped);
}

/// A watch of a place on a thread of its own, whose changes come through a channel.
struct Watched {
    place: Arc<Place>,
    stop: WatchStop,
    changes: mpsc::Receiver<SkillChange>,
    looks: Arc<AtomicUsize>,
    diagnostics: Vec<PathDiagnostic>,
    thread: Option<thread::JoinHandle<()>>,
}

const FAST: WatchOptions = WatchOptions {
    quiet: Duration::from_millis(20),
    at_most: Duration::from_millis(500),
    poll: Duration::from_millis(20),
};

impl Watched {
    fn new(files: &[&str]) -> Self {
        let bell = Bell::default();
        let wake = Box::new(SystemWake::new(bell.clone()));
        Self::with(files, bell, wake)
    }

    fn with(files: &[&str], bell: Bell, wake: Box<dyn Wake>) -> Self {
        let place = Arc::new(Place::new(files));
        let looks = Arc::new(AtomicUsize::new(0));
        let roots = {
            let (place, looks) = (Arc::clone(&place), Arc::clone(&looks));
            move || {
                looks.fetch_add(1, Ordering::Relaxed);
                (place.roots(), Vec::new())
            }
        };
        let mut watch = SkillWatch::start_with(Box::new(roots), FAST, bell, wake);
        let diagnostics = watch.take_diagnostics();
        let (sender, changes) = mpsc::channel();
        let stop = watch.stopper();
        let thread = thread::spawn(move || {
            while let Some(found) = watch.next_changes() {
                for change in found {
                    // The test may have ended.
                    let _nobody = sender.send(change);
                }
            }
        });
        Self { place, stop, changes, looks, diagnostics, thread: Some(thread) }
    }

    /// Waits for these changes, in this order; a change of one file may come more than once, if it was seen half done.
    #[track_caller]
    fn expect(&self, expected: &[String]) {
        let mut found: Vec<String> = Vec::new();
        while found != expected {
            let change = self.changes.recv_timeout(PATIENCE);
            let change = change.unwrap_or_else(|_| panic!("{found:?} is all that came of {expected:?}"));
            let line = self.place.lines(&[change]).remove(0);
            if found.last() != Some(&line) {
                found.push(line);
            }
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
            && !thread::panicking()
        {
            panic!("the watch panicked");
        }
    }
}

#[test]
fn the_systems_events_bring_what_happened() {
    let watched = Watched::new(&[A]);
    watched.place.write(B, "New.");
    watched.expect(&[format!("added user b:{B}")]);
    // The directory is new, and what is in it is watched as well.
    watched.place.write(B, "Longer than before.");
    watched.expect(&[format!("changed user b:{B}")]);
    watched.place.write("new", "Replaced as a whole, as editors do.");
    watched.place.rename("new", A);
    watched.expect(&[format!("changed user a:{A}")]);
    watched.place.rename("home/.claude/skills/a", "home/.claude/skills/c");
    let c = "home/.claude/skills/c/SKILL.md";
    watched.expect(&[format!("removed user a:{A}"), format!("added user c:{c}")]);
    watched.place.write(c, "Changed after the rename.");
    watched.expect(&[format!("changed user c:{c}")]);
    watched.place.remove("home/.claude/skills/c");
    watched.expect(&[format!("removed user c:{c}")]);
}

#[test]
fn a_missing_root_is_seen_when_it_appears_and_when_it_goes_and_comes_back() {
    let watched = Watched::new(&["home/x", "project/x"]);
    watched.place.write(A, "The first.");
    watched.expect(&[format!("added user a:{A}")]);
    watched.place.rename("home/.claude", "home/away");
    watched.expect(&[format!("removed user a:{A}")]);
    watched.place.rename("home/away", "home/.claude");
    watched.expect(&[format!("added user a:{A}")]);
    watched.place.write(A, "Changed after it came back.");
    watched.expect(&[format!("changed user a:{A}")]);
    watched.place.remove("home");
    watched.expect(&[format!("removed user a:{A}")]);
    watched.place.write(A, "All of it is new.");
    watched.expect(&[format!("added user a:{A}")]);
}

#[test]
fn a_directory_that_takes_anothers_place_is_watched() {
    let watched = Watched::new(&[A, "other/SKILL.md"]);
    let (own, other) = (watched.place.path("home/.claude/skills/a"), watched.place.path("other"));
    rustix::fs::renameat_with(CWD, own, CWD, other, RenameFlags::EXCHANGE).expect("exchange");
    watched.expect(&[format!("changed user a:{A}")]);
    watched.place.write(A, "In the other one.");
    watched.expect(&[format!("changed user a:{A}")]);
}

#[test]
fn complaint_77_twenty_thousand_files_in_a_skill_wake_nobody() {
    let watched = Watched::new(&[A]);
    let before = watched.looks.load(Ordering::Relaxed);
    let skill = watched.place.path("home/.claude/skills/a");
    watched.place.build(&skill, 10_000);
    watched.place.build(&skill.join("build"), 10_000);
    watched.place.write(A, "Built.");
    watched.expect(&[format!("changed user a:{A}")]);
    // Bursts of lost events may make it look; once for each file it must not.
    let looks = watched.looks.load(Ordering::Relaxed) - before;
    assert!(looks < 200, "{looks} looks");
}

/// A system that watches so many directories and no more.
#[derive(Debug)]
struct Limited(usize);

impl Wake for Limited {
    fn watch(&mut self, directories: &BTreeMap<PathBuf, Interest>) -> Result<bool, WakeFault> {
        if directories.len() > self.0 { Err(WakeFault::Limit(self.0)) } else { Ok(false) }
    }
}

#[test]
fn where_the_system_watches_no_more_directories_the_skills_are_looked_at_from_time_to_time() {
    let bell = Bell::default();
    let watched = Watched::with(&[A], bell, Box::new(Limited(3)));
    let [found] = watched.diagnostics.as_slice() else { panic!("one finding: {:?}", watched.diagnostics) };
    assert_eq!(found.diagnostic.code, Code::LimitExceeded);
    assert!(found.diagnostic.message.contains("no more than 3 of 6 directories"), "{}", found.diagnostic.message);
    watched.place.write(B, "Found without an event.");
    watched.expect(&[format!("added user b:{B}")]);
}

/// A system on which another directory appears whenever one is watched.
#[derive(Debug)]
struct Racing {
    place: PathBuf,
    left: usize,
}

impl Wake for Racing {
    fn watch(&mut self, _: &BTreeMap<PathBuf, Interest>) -> Result<bool, WakeFault> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(false) };
        self.left = left;
        let directory = self.place.join(format!("home/.claude/skills/raced-{left}"));
        fs::create_dir_all(&directory).expect("directory");
        fs::write(directory.join("SKILL.md"), "x").expect("file");
        Ok(true)
    }
}

#[test]
fn what_comes_before_its_directory_is_watched_is_seen() {
    let place = Arc::new(Place::new(&[A]));
    let wake = Box::new(Racing { place: place.path(""), left: 3 });
    let roots = place.roots();
    let watch = SkillWatch::start_with(Box::new(move || (roots.clone(), Vec::new())), FAST, Bell::default(), wake);
    assert_eq!(watch.files(), 4);
}

#[test]
fn a_plugin_that_comes_brings_its_skills() {
    let place = Arc::new(Place::new(&["home/.claude/x"]));
    let discovery = Discovery { home: Some(place.path("home")), ..Discovery::default() };
    let mut watch = SkillWatch::discover_ambient(discovery, Vec::new(), FAST).expect("nothing was named");
    let stop = watch.stopper();
    thread::scope(|scope| {
        let watching = scope.spawn(|| watch.next_changes());
        place.write("home/.claude/plugins/p/skills/a/SKILL.md", "Not one yet.");
        place.write("home/.claude/plugins/p/.claude-plugin/plugin.json", r#"{"name":"p"}"#);
        let (sender, done) = mpsc::channel();
        scope.spawn(move || {
            if done.recv_timeout(PATIENCE).is_err() {
                stop.stop();
            }
        });
        let changes = watching.join().expect("the watch").expect("a change");
        sender.send(()).expect("the patience");
        assert_eq!(place.lines(&changes), ["added plugin p:a:home/.claude/plugins/p/skills/a/SKILL.md"]);
    });
}

#[test]
fn what_makes_a_directory_a_plugin_may_come_after_it() {
    let place = Place::new(&["home/.claude/plugins/p/skills/a/SKILL.md", "home/.claude/plugins/marketplaces/m/x"]);
    let discovery = Discovery { home: Some(place.path("home")), ..Discovery::default() };
    let found = discover_sources_ambient(&discovery, &[]).expect("nothing was named");
    let look = Look::ambient(found.roots, &found.deciding);
    let wakes = |directory: &str| {
        let interest = look.directories.get(&place.path(directory));
        interest.is_some_and(|interest| interest.concerns(".claude-plugin".as_ref()))
    };
    assert!(wakes("home/.claude/plugins/p") && wakes("home/.claude/plugins/marketplaces/m"));
    assert!(!wakes("home/.claude/plugins/p/skills"), "control");
}

#[test]
fn the_system_is_asked_for_every_directory_once() {
    let place = Place::new(&[A, B]);
    let bell = Bell::default();
    let mut wake = SystemWake::new(bell.clone());
    let look = place.look();
    assert_eq!(wake.watch(&look.directories), Ok(true));
    assert_eq!(wake.watch(&look.directories), Ok(false));
    bell.touched(&place.path("home/.claude"), true);
    assert_eq!(wake.watch(&look.directories), Ok(true), "what was below it is watched again");
    bell.lost();
    assert_eq!(wake.watch(&look.directories), Ok(true));
    assert_eq!(wake.watch(&BTreeMap::new()), Ok(false));
}

/// A source that holds its skills itself; a file says which, one on a line.
#[derive(Debug)]
struct Holding {
    file: PathBuf,
}

impl SkillSource for Holding {
    fn source(&self) -> Source {
        Source::Pack
    }

    fn roots_ambient(&self, _: &crate::Locations, found: &mut crate::Discovered) -> Result<(), DiscoveryError> {
        found.deciding.push(self.file.clone());
        Ok(())
    }

    fn marks(&self) -> Vec<crate::HeldMark> {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        let mark = |line: &str| {
            let (name, content) = line.split_once(' ').expect("a name and a content");
            let digest = skillgate_core::Digest::of(content.as_bytes());
            crate::HeldMark { name: name.to_owned(), origin: format!("pack:team/{name}"), digest }
        };
        text.lines().map(mark).collect()
    }
}

#[test]
fn skills_that_a_source_holds_itself_come_change_and_go_with_the_file_that_decides() {
    let place = Place::new(&[]);
    // Neither the file nor its directory is there yet.
    let source = Arc::new(Holding { file: place.path("store/packs/skills.lock") });
    let watch = SkillWatch::discover_ambient(Discovery::default(), vec![source], FAST);
    let mut watch = watch.expect("nothing was named");
    assert_eq!(watch.files(), 0);
    let stop = watch.stopper();
    let (sender, changes) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            while let Some(found) = watch.next_changes() {
                let line = |it: &SkillChange| format!("{} {} {}", it.kind.as_str(), it.name, it.path.display());
                let _nobody = sender.send(found.iter().map(line).collect::<Vec<_>>());
            }
        });
        for (text, expected) in [
            ("a 1\nb 1\n", &["added a pack:team/a", "added b pack:team/b"][..]),
            ("a 2\nb 1\n", &["changed a pack:team/a"]),
            ("b 1\n", &["removed a pack:team/a"]),
            ("", &["removed b pack:team/b"]),
        ] {
            place.write("store/packs/skills.lock", text);
            let found = changes.recv_timeout(PATIENCE);
            if found.as_ref().ok().is_none_or(|found| found != expected) {
                stop.stop();
                panic!("{text:?}: {found:?}");
            }
        }
        stop.stop();
    });
}
