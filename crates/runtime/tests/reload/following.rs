//! Who is told of reloads, and the watch that makes them.

use crate::again;
use crate::world::World;
use skillgate_runtime::{Reloaded, SessionOptions};
use std::sync::{Arc, Mutex};

fn told(runtime: &skillgate_runtime::Runtime) -> (skillgate_runtime::Subscription, Arc<Mutex<Vec<Vec<String>>>>) {
    let names: Arc<Mutex<Vec<Vec<String>>>> = Arc::default();
    let keep = Arc::clone(&names);
    let told = move |reloaded: &Reloaded| {
        keep.lock().expect("no test panics while it holds this").push(reloaded.changes.added.clone());
    };
    (runtime.subscribe(told), names)
}

#[test]
fn who_subscribed_is_told_once_for_each_change_and_one_that_panics_stops_no_other() {
    let world = World::new();
    let runtime = world.builder(&[]).open().expect("opens");
    runtime.subscribe(|_| unreachable!("a subscriber that fails"));
    let (subscription, names) = told(&runtime);
    again(&runtime);
    world.write_skill("a", "", "x");
    world.write_skill("b", "", "x");
    again(&runtime);
    again(&runtime);
    assert_eq!(*names.lock().expect("nobody panics with it"), [["project:a", "project:b"]]);
    assert!(runtime.unsubscribe(subscription));
    assert!(!runtime.unsubscribe(subscription));
    world.write_skill("c", "", "x");
    again(&runtime);
    assert_eq!(names.lock().expect("nobody panics with it").len(), 1);
}

#[test]
fn who_is_told_may_reload_and_begin_conversations() {
    let world = World::new();
    let runtime = world.builder(&[]).open().expect("opens");
    let session = runtime.session(SessionOptions::default());
    let (weak, seen) = (Arc::downgrade(&runtime), Arc::new(Mutex::new(Vec::new())));
    let keep = Arc::clone(&seen);
    session.subscribe(move |_| {
        let runtime = weak.upgrade().expect("it goes on");
        assert!(again(&runtime).is_empty());
        let offered = crate::offered(&runtime.session(SessionOptions::default()));
        keep.lock().expect("nobody panics with it").extend(offered);
    });
    world.write_skill("a", "", "x");
    again(&runtime);
    assert_eq!(*seen.lock().expect("nobody panics with it"), ["a"]);
}

/// Reloads, calls, touches and conversations that begin and end, all at once: nothing waits for ever, and in the end everybody has the
/// latest skills.
#[test]
fn reloads_beside_everything_else_end_with_the_latest_skills() {
    let world = World::new().skill("stays", "", "Stays.");
    let runtime = world.builder(&[]).open().expect("opens");
    let sessions: Vec<_> = (0..4).map(|_| runtime.session(SessionOptions::default())).collect();
    std::thread::scope(|scope| {
        for session in &sessions {
            scope.spawn(|| {
                for number in 0..50 {
                    crate::world::call(session, "stays").expect("it stays");
                    session.touch([format!("a{number}/x.rs")]);
                    drop(runtime.session(SessionOptions::default()));
                }
            });
        }
        for first in [0, 1] {
            let (world, runtime) = (&world, &runtime);
            scope.spawn(move || {
                for number in 0..25 {
                    world.write_skill(&format!("s{}", 2 * number + first), "", "x");
                    again(runtime);
                }
            });
        }
    });
    for session in &sessions {
        assert_eq!(crate::offered(session).len(), 51);
    }
    assert_eq!(runtime.sessions(), sessions.len());
}

#[cfg(feature = "watch")]
mod watched {
    use super::*;
    use skillgate_loader::WatchOptions;
    use skillgate_runtime::Runtime;
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Duration;

    /// How long a test waits for what has to come. It passes as soon as it is there.
    const PATIENCE: Duration = Duration::from_secs(60);

    const FAST: WatchOptions = WatchOptions {
        quiet: Duration::from_millis(10),
        at_most: Duration::from_millis(200),
        poll: Duration::from_millis(20),
    };

    /// The names of skills that came, one after the other.
    fn coming(runtime: &Runtime) -> Receiver<String> {
        let (sender, names) = channel();
        runtime.subscribe(move |reloaded| {
            for name in &reloaded.changes.added {
                // The test may have ended.
                let _nobody = sender.send(name.clone());
            }
        });
        names
    }

    fn next(names: &Receiver<String>) -> String {
        names.recv_timeout(PATIENCE).expect("a skill")
    }

    #[test]
    fn a_watch_takes_in_what_came_before_it_began_and_what_comes_then() {
        let world = World::new();
        let runtime = world.builder(&[]).home(world.path("home")).open().expect("opens");
        let session = runtime.session(SessionOptions::default());
        let names = coming(&runtime);
        world.write_skill("before", "", "x");
        let watch = runtime.watch(FAST).expect("all is there");
        assert_eq!(next(&names), "project:before");
        world.write_skill("then", "", "x");
        assert_eq!(next(&names), "project:then");
        // A place that was not there.
        let directory = world.path("home/.claude/skills/new");
        std::fs::create_dir_all(&directory).expect("a directory");
        std::fs::write(directory.join("SKILL.md"), "x").expect("a file");
        assert_eq!(next(&names), "user:new");
        assert!(crate::world::call(&session, "then").is_ok());
        watch.end();
    }

    #[test]
    fn directories_that_a_conversation_found_are_followed() {
        let world = World::new();
        let write = |name: &str| {
            let directory = world.path("p/a/.claude/skills").join(name);
            std::fs::create_dir_all(&directory).expect("a directory");
            std::fs::write(directory.join("SKILL.md"), "---\ndescription: X.\n---\nx\n").expect("a file");
        };
        write("known");
        let runtime = world.builder(&[]).open().expect("opens");
        let session = runtime.session(SessionOptions::default());
        let watch = runtime.watch(FAST).expect("all is there");
        let (sender, told) = channel();
        session.subscribe(move |change| {
            if let skillgate_runtime::SkillsChange::Reloaded(reloaded) = change {
                let _nobody = sender.send(reloaded.changes.added.clone());
            }
        });
        session.touch(["a/x.txt"]);
        write("late");
        assert_eq!(told.recv_timeout(PATIENCE).expect("a change"), ["a:late"]);
        watch.end();
    }

    #[test]
    fn a_watch_that_was_ended_or_dropped_reloads_no_more() {
        let world = World::new();
        let runtime = world.builder(&[]).open().expect("opens");
        let names = coming(&runtime);
        let watch = runtime.watch(FAST).expect("all is there");
        world.write_skill("a", "", "x");
        assert_eq!(next(&names), "project:a");
        watch.end();
        assert_eq!(Arc::strong_count(&runtime), 1, "no thread holds it");
        world.write_skill("b", "", "x");
        assert_eq!(again(&runtime).changes.added, ["project:b"], "nobody took it in");
        let _dropped_at_once = runtime.watch(FAST);
        assert_eq!(next(&names), "project:b");
        assert!(names.try_recv().is_err());
    }

    #[test]
    fn a_source_that_says_so_is_looked_at() {
        let world = World::new();
        let texts = Arc::new(Texts(Mutex::new(vec!["one"])));
        let runtime = world.builder(&[]).source(texts.clone()).open().expect("opens");
        let names = coming(&runtime);
        let watch = runtime.watch(FAST).expect("all is there");
        texts.0.lock().expect("nobody panics with it").push("two");
        watch.ask();
        assert_eq!(next(&names), "bundled:two");
        watch.end();
    }

    /// A source whose skills change without a file.
    #[derive(Debug)]
    struct Texts(Mutex<Vec<&'static str>>);

    impl skillgate_runtime::SkillSource for Texts {
        fn source(&self) -> skillgate_core::Source {
            skillgate_core::Source::Bundled
        }

        fn texts(&self) -> Vec<skillgate_runtime::HeldSkill> {
            let names = self.0.lock().expect("nobody panics with it");
            let held = |name: &&'static str| skillgate_runtime::HeldSkill {
                name: (*name).to_owned(),
                text: "---\ndescription: X.\n---\nx\n".into(),
                origin: format!("memory:{name}"),
            };
            names.iter().map(held).collect()
        }
    }
}
