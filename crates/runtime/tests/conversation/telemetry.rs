use crate::world::{World, bash, call, hook};
use skillgate_policy::{Effect, Invoker};
use skillgate_runtime::{SessionOptions, SkillCall, Telemetry};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Keeps the fields of everything it is told, by name.
#[derive(Default)]
struct Told {
    names: Mutex<BTreeMap<&'static str, Vec<String>>>,
    next: AtomicU64,
}

struct Fields<'v>(&'v mut Vec<String>);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.push(format!("{}={value:?}", field.name()));
    }
}

impl Told {
    fn keep(&self, metadata: &'static Metadata<'static>, record: impl FnOnce(&mut Fields<'_>)) {
        let mut names = self.names.lock().expect("nobody panics");
        record(&mut Fields(names.entry(metadata.name()).or_default()));
    }
}

struct Observer(Arc<Told>);

impl Subscriber for Observer {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("skillgate")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.0.keep(span.metadata(), |fields| span.record(fields));
        Id::from_u64(self.0.next.fetch_add(1, Ordering::SeqCst) + 1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        self.0.keep(event.metadata(), |fields| event.record(fields));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn told(telemetry: Telemetry) -> BTreeMap<&'static str, Vec<String>> {
    let told = Arc::new(Told::default());
    tracing::subscriber::with_default(Observer(Arc::clone(&told)), || {
        let world = World::new().skill("guard", &hook("PreToolUse", "Bash", "note x"), "x").skill(
            "a",
            "",
            "!`note s3cret-program $0`",
        );
        let runtime = world.builder(&[(Effect::Allow, "Bash(git:*)")]).telemetry(telemetry).open().expect("opens");
        let session = runtime.session(SessionOptions::default());
        call(&session, "guard").expect("its hook can run");
        session.call_skill(&SkillCall::new("a", Invoker::Model).args("s3cret-argument")).expect("it is allowed");
        assert_eq!(bash(&session, "git log s3cret-input").effect, Effect::Allow);
    });
    let names = told.names.lock().expect("nobody panics");
    names.clone()
}

/// The names are those of docs/telemetry.md.
#[test]
fn observers_are_told_of_each_step_under_its_name() {
    let told = told(Telemetry::Names);
    let names: Vec<_> = told.keys().copied().collect();
    assert_eq!(
        names,
        [
            "skillgate.hook.call",
            "skillgate.injection.run",
            "skillgate.load",
            "skillgate.skill.call",
            "skillgate.skill.decide",
            "skillgate.tool.decide"
        ]
    );
    let docs = include_str!("../../../../docs/telemetry.md");
    for name in names.into_iter().chain(["skillgate.skill.fork"]) {
        assert!(docs.contains(&format!("`{name}`")), "{name} is documented");
    }
}

#[test]
fn contents_are_told_only_when_the_host_wants_it() {
    let all = |telemetry| told(telemetry).into_values().flatten().collect::<Vec<_>>().join("\n");
    let names = all(Telemetry::Names);
    assert!(!names.contains("s3cret"), "{names}");
    let contents = all(Telemetry::Contents);
    for content in ["s3cret-argument", "s3cret-program", "s3cret-input"] {
        assert!(contents.contains(content), "{content} in {contents}");
    }
}
