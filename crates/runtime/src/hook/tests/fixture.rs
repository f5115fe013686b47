use crate::hook::{
    Activation, AgentScope, HookEvent, HookGrant, HookInput, HookOutcome, HookRefusal, HookRunner, HookSet,
    ParsedHooks, PreparedHooks, RegisteredHook, with_hook_environment,
};
use skillgate_core::{CommandName, Digest, HeaderState, LoadedFrom, Plugin, Skill, SkillId, Source};
use skillgate_exec::{
    Backend, CapabilityShell, Exit, HookCall, HookHandler, HookLoadError, HookLoader, HookReply, Job, Mounts, RunError,
    Scene,
};
use skillgate_format::{Document, ReadOptions};
use skillgate_policy::{
    Approved, Authority, Caveat, Effect, Gate, Host, PathBase, Place, Provider, Rule, builtin_limits,
};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// A backend with `cat`, and `hang`, which goes on until its run is over.
#[derive(Debug)]
struct Few;

impl Backend for Few {
    fn name(&self) -> &'static str {
        "few"
    }

    fn provider(&self, command: &str) -> Option<Provider> {
        ["cat", "hang"].contains(&command).then_some(Provider::Shipped)
    }

    fn run(&self, approved: Approved, job: Job<'_>) -> Result<Exit, RunError> {
        let vector = approved.redeem()?;
        let stopped = |stop| RunError::Stopped { command: vector[0].clone(), stop };
        loop {
            job.run.check().map_err(stopped)?;
            let bytes = job.stdin.read(4096).map_err(stopped)?;
            if vector[0] == "cat" {
                if bytes.is_empty() {
                    return Ok(Exit { code: 0 });
                }
                let _reader_may_be_gone = job.stdout.write(&bytes);
            }
        }
    }
}

/// Loads any bytes as a handler that answers as the bytes say: `deny`, `ask`, `rewrite:JSON`, `trap`; else it passes.
#[derive(Debug)]
struct Words;

impl HookLoader for Words {
    fn load(&self, _: &str, wasm: &[u8]) -> Result<Arc<dyn HookHandler>, HookLoadError> {
        let text = String::from_utf8_lossy(wasm).into_owned();
        match text.as_str() {
            "old" => Err(HookLoadError::Version { found: Some("0.0".to_owned()), here: "0.1" }),
            _ => Ok(Arc::new(Word(text))),
        }
    }
}

#[derive(Debug)]
struct Word(String);

impl HookHandler for Word {
    fn call(&self, _: HookCall<'_>) -> Result<HookReply, RunError> {
        match self.0.split_once(':').unwrap_or((&self.0, "")) {
            ("deny", reason) => Ok(HookReply::Deny(reason.to_owned())),
            ("ask", reason) => Ok(HookReply::Ask(reason.to_owned())),
            ("rewrite", input) => Ok(HookReply::Rewrite(input.as_bytes().to_vec())),
            ("trap", _) => Err(RunError::Fault { command: "x.wasm".to_owned(), fault: "unreachable".to_owned() }),
            _ => Ok(HookReply::Pass),
        }
    }
}

/// A skill with a header and files, under what a host allows.
pub(super) struct World {
    tree: tempfile::TempDir,
    pub(super) skill: Skill,
    document: Document,
    pub(super) allow: Vec<&'static str>,
    pub(super) right: Result<(), String>,
    pub(super) timeout_ms: u64,
    shell: CapabilityShell,
    /// How often a grant was asked for; and whether there is none any more.
    pub(super) revoked: Mutex<Option<String>>,
}

impl World {
    /// `hooks` is the value of the key, indented by two; `files` are those of the skill's directory.
    pub(super) fn new(hooks: &str, files: &[(&str, &str)]) -> Self {
        Self::with_header(&format!("hooks:\n{hooks}"), files)
    }

    pub(super) fn with_header(header: &str, files: &[(&str, &str)]) -> Self {
        let tree = tempfile::tempdir().expect("a directory");
        let directory = tree.path().join("p/.claude/skills/guard");
        std::fs::create_dir_all(&directory).expect("a directory");
        for (name, content) in files {
            std::fs::write(directory.join(name), content).expect("a file");
        }
        let text = format!("---\ndescription: Guards.\n{header}\n---\nBody\n");
        let document = Document::read(text.as_bytes(), &ReadOptions::default());
        let skill = Skill {
            id: SkillId::new(Source::User, CommandName::new("guard").expect("a name")),
            loaded_from: LoadedFrom::Skills,
            path: directory.join("SKILL.md"),
            directory: Some(directory),
            plugin: None,
            frontmatter: document.frontmatter().clone().into(),
            header: HeaderState::Parsed,
            label: "guard".into(),
            description: None,
            head_digest: Digest::of(text.as_bytes()),
            bytes: text.len() as u64,
            diagnostics: Vec::new(),
        };
        Self {
            tree,
            skill,
            document,
            allow: vec!["Bash"],
            right: Ok(()),
            timeout_ms: 60_000,
            shell: CapabilityShell::new(vec![Arc::new(Few)]),
            revoked: Mutex::new(None),
        }
    }

    pub(super) fn of_plugin(mut self) -> Self {
        let root = self.tree.path().join("plugin dir");
        std::fs::create_dir_all(&root).expect("a directory");
        self.skill.id.source = Source::Plugin;
        self.skill.plugin = Some(Plugin { name: "kit".to_owned(), root, data: None });
        self
    }

    pub(super) fn project(&self) -> PathBuf {
        self.tree.path().join("p")
    }

    pub(super) fn parsed(&self) -> ParsedHooks {
        ParsedHooks::of(&self.document.frontmatter().hooks)
    }

    /// The part of the file under a span.
    pub(super) fn at(&self, span: skillgate_core::Span) -> &str {
        span.slice(self.document.source()).expect("a span of the file")
    }

    pub(super) fn grant(&self) -> HookGrant {
        let rules = self.allow.iter().map(|text| Rule::parse(Effect::Allow, text, Place::Host).expect("a rule"));
        let header = self.document.frontmatter();
        let caveats = Caveat::of_header(&self.skill.id, self.skill.head_digest, header, false);
        let authority = caveats.into_iter().fold(Authority::of(Host::granting(rules)), Authority::with);
        let plugin = self.skill.plugin.as_ref().map(|plugin| plugin.root.clone());
        let own: Vec<&std::path::Path> = self.skill.directory.iter().chain(&plugin).map(PathBuf::as_path).collect();
        let mounts = Mounts::open_ambient(Some(&self.project()), &own).expect("the directories are there");
        let scene = Scene::new(mounts, self.project().to_string_lossy(), Vec::new());
        HookGrant {
            gate: Gate::new(authority),
            scene: with_hook_environment(scene, &self.skill, Some(&self.project())),
        }
    }

    pub(super) fn activate(&self) -> Result<PreparedHooks, HookRefusal> {
        Activation {
            skill: &self.skill,
            digest: self.skill.head_digest,
            header: self.document.frontmatter(),
            grant: &self.grant(),
            right: self.right.clone(),
            executor: &self.shell,
            loader: Some(&Words),
            limits: &builtin_limits(),
        }
        .prepare_all()
    }

    /// A set with the hooks of the skill, invoked by the main agent.
    pub(super) fn set(&self) -> HookSet {
        let mut set = HookSet::default();
        set.register(&AgentScope::main(), &self.activate().expect("the skill is activated"));
        set
    }

    /// Runs what matches in the main agent.
    pub(super) fn raise(&self, set: &mut HookSet, input: &HookInput) -> HookOutcome {
        self.raise_in(&AgentScope::main(), set, input)
    }

    pub(super) fn raise_in(&self, scope: &AgentScope, set: &mut HookSet, input: &HookInput) -> HookOutcome {
        let grant = |_: &RegisteredHook| match &*self.revoked.lock().expect("no panic") {
            Some(reason) => Err(reason.clone()),
            None => Ok(self.grant()),
        };
        let runner = HookRunner {
            executor: &self.shell,
            limits: &builtin_limits(),
            timeout_ms: self.timeout_ms,
            base: PathBase::default(),
            common: [("session_id".to_owned(), "s-1".into())].into_iter().collect(),
            grant: &grant,
            started: None,
        };
        let outcome = runner.run(&set.matching(scope, input), input);
        set.settle(&outcome);
        outcome
    }
}

/// A use of `Bash`.
pub(super) fn bash(command: &str) -> HookInput {
    HookInput::tool(HookEvent::PreToolUse, "Bash", serde_json::json!({ "command": command }))
}
