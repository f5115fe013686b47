use super::edit::quoted;
use super::error::{Findings, PolicyError};
use super::level::Level;
use super::reader::{Field, Fields, Reader};
use super::settings::{
    AuditSettings, ComponentSettings, McpSettings, OnFailure, Permissions, PolicySkills, PreApproveSettings,
    ProfileSettings, ProgramLimits, ProgramSettings, Setting, SignerSettings, SkillSettings,
};
use crate::rule::{Effect, Rule};
use skillgate_core::{Profile, Source, Span};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The greatest size of a policy file, bytes.
pub const MAX_POLICY_BYTES: usize = 1_048_576;

/// One policy file: what it sets, each setting with its place. What it does not set is absent.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct PolicyFile {
    /// Whose file it is.
    pub level: Level,
    /// Where it was read.
    pub path: PathBuf,
    /// `[skills]`
    pub skills: SkillSettings,
    /// `[permissions]`
    pub permissions: Permissions,
    /// `[profile]`
    pub profile: ProfileSettings,
    /// `[pre_approve]`
    pub pre_approve: Option<Setting<PreApproveSettings>>,
    /// `[programs.NAME]`
    pub programs: BTreeMap<String, Setting<ProgramSettings>>,
    /// `[components.NAME]`
    pub components: BTreeMap<String, Setting<ComponentSettings>>,
    /// `[[keys]]`
    pub keys: Vec<Setting<SignerSettings>>,
    /// `[limits]`, in the order of [`Limits`](skillgate_core::Limits).
    pub limits: Vec<(&'static str, Setting<u64>)>,
    /// Wall time of one hook, milliseconds.
    pub hook_timeout_ms: Option<Setting<u64>>,
    /// `[mcp]`
    pub mcp: McpSettings,
    /// `[audit]`
    pub audit: AuditSettings,
}

impl PolicyFile {
    /// A file that sets nothing.
    #[must_use]
    pub fn empty(level: Level, path: impl Into<PathBuf>) -> Self {
        Self {
            level,
            path: path.into(),
            skills: SkillSettings::default(),
            permissions: Permissions::default(),
            profile: ProfileSettings::default(),
            pre_approve: None,
            programs: BTreeMap::new(),
            components: BTreeMap::new(),
            keys: Vec::new(),
            limits: Vec::new(),
            hook_timeout_ms: None,
            mcp: McpSettings::default(),
            audit: AuditSettings::default(),
        }
    }

    /// Reads the text of a policy file.
    ///
    /// # Errors
    /// Every mistake in the order of the text: what is not TOML, unknown keys, keys that the level may not set, values of
    /// another type or outside their range, and what stands there twice. A file with a mistake gives nothing, so that no part
    /// of a policy holds without the rest.
    pub fn parse(text: &str, level: Level, path: impl AsRef<Path>) -> Result<Self, Vec<PolicyError>> {
        let path = path.as_ref();
        if text.len() > MAX_POLICY_BYTES {
            let mut findings = Findings::new("", path);
            let message = format!("the file has {} bytes; a policy has at most {MAX_POLICY_BYTES}", text.len());
            findings.add(Span::at(0), message, None);
            return Err(findings.finish());
        }
        let mut reader = Reader { findings: Findings::new(text, path), level };
        let mut file = Self::empty(level, path);
        if let Some(document) = reader.document() {
            for (section, field) in reader.sections(&document) {
                for (name, fields) in reader.tables(section, field) {
                    reader.section(section.name, name, &fields, &mut file);
                }
            }
            file.limits.sort_by_key(|(name, _)| order_of_limit(name));
        }
        let errors = reader.findings.finish();
        if errors.is_empty() { Ok(file) } else { Err(errors) }
    }
}

fn order_of_limit(name: &str) -> Option<usize> {
    crate::builtin_limits().entries().iter().position(|(known, _)| *known == name)
}

impl<'t> Reader<'t> {
    fn section(&mut self, section: &str, name: String, fields: &Fields<'_, 't>, file: &mut PolicyFile) {
        match section {
            "skills" => file.skills = self.skills(fields),
            "permissions" => file.permissions = self.permissions(fields),
            "profile" => file.profile = self.profile(fields),
            "pre_approve" => file.pre_approve = self.pre_approve(fields),
            "programs" => self.program(name, fields, file),
            "components" => self.component(name, fields, file),
            "keys" => self.signer(fields, file),
            "limits" => {
                for (key, field) in fields.iter() {
                    file.limits.extend(self.number(section, key, field).map(|setting| (key.name, setting)));
                }
            }
            "hooks" => {
                for (key, field) in fields.iter() {
                    file.hook_timeout_ms = self.number(section, key, field);
                }
            }
            "mcp" => file.mcp = self.mcp(fields),
            _ => {
                file.audit = AuditSettings { log: self.path(fields, "log"), required: self.switch(fields, "required") };
            }
        }
    }

    fn mcp(&mut self, fields: &Fields<'_, 't>) -> McpSettings {
        let mut settings = McpSettings {
            sandbox: self.switch(fields, "sandbox"),
            show: self.absolute_paths(fields, "show"),
            ..McpSettings::default()
        };
        for (key, field) in fields.iter() {
            let into = match key.name {
                "connect_ms" => &mut settings.connect_ms,
                "request_ms" => &mut settings.request_ms,
                "memory_bytes" => &mut settings.memory_bytes,
                _ => continue,
            };
            *into = self.number("mcp", key, field);
        }
        settings
    }

    fn skills(&mut self, fields: &Fields<'_, 't>) -> SkillSettings {
        let policy_skills = self.word(fields, "policy_skills").map(|word| {
            let value = if word.value == "required" { PolicySkills::Required } else { PolicySkills::Optional };
            Setting::new(value, word.place)
        });
        let depth = fields.iter().find(|(key, _)| key.name == "depth");
        let depth = depth.and_then(|(key, field)| self.number("skills", key, field));
        // No larger number is taken.
        let depth = depth.and_then(|depth| Some(Setting::new(u8::try_from(depth.value).ok()?, depth.place)));
        SkillSettings {
            enabled: self.switch(fields, "enabled"),
            disable: self.skill_names(fields, "disable"),
            only: self.only(fields),
            pin: self.skill_names(fields, "pin"),
            sets: self.sets(fields),
            policy_skills,
            depth,
            store: self.path(fields, "store"),
        }
    }

    /// A list that is given and empty leaves no skill, so it is kept apart from one that is not given.
    fn only(&mut self, fields: &Fields<'_, 't>) -> Option<Setting<Vec<String>>> {
        let place = self.place(fields.get("only")?.key);
        let names = self.skill_names(fields, "only").into_iter().map(|name| name.value).collect();
        Some(Setting::new(names, place))
    }

    fn sets(&mut self, fields: &Fields<'_, 't>) -> BTreeMap<String, Setting<Vec<String>>> {
        let mut sets = BTreeMap::new();
        let Some(field) = fields.get("sets") else { return sets };
        let Some(table) = field.value.get_ref().as_table() else {
            let example = "sets = { review = [\"review-*\"] }";
            self.wrong_type(field.span(), "skills.sets", "a table of lists", field.value.get_ref(), example);
            return sets;
        };
        for (key, value) in table.iter() {
            let name = key.get_ref().to_string();
            let set = Field { key: key.span().into(), value };
            let texts = self.list(&format!("skills.sets.{name}"), &name, set, "[\"review-*\"]");
            let names = self.names_of_skills(texts).into_iter().map(|text| text.text).collect();
            sets.insert(name, Setting::new(names, self.place(set.key)));
        }
        sets
    }

    fn permissions(&mut self, fields: &Fields<'_, 't>) -> Permissions {
        let mut rules = Vec::new();
        for (effect, name) in [(Effect::Allow, "allow"), (Effect::Ask, "ask"), (Effect::Deny, "deny")] {
            for (pattern, span) in self.patterns(fields, name) {
                rules.push(Rule::new(effect, pattern, self.place(span)));
            }
        }
        Permissions { rules, allow: fields.get("allow").map(|field| self.place(field.key)) }
    }

    fn profile(&mut self, fields: &Fields<'_, 't>) -> ProfileSettings {
        let name = self.word(fields, "name").map(|word| {
            let profile = match word.value.as_str() {
                "claude" => Profile::Claude,
                "strict" => Profile::Strict,
                _ => Profile::Safe,
            };
            Setting::new(profile, word.place)
        });
        let on_failure = self.word(fields, "on_failure").map(|word| {
            let value = if word.value == "inline" { OnFailure::Inline } else { OnFailure::Abort };
            Setting::new(value, word.place)
        });
        ProfileSettings { name, shell: self.switch(fields, "shell"), on_failure }
    }

    fn pre_approve(&mut self, fields: &Fields<'_, 't>) -> Option<Setting<PreApproveSettings>> {
        let words = self.words(fields, "sources");
        let sources = words.iter().filter_map(|word| Source::ALL.into_iter().find(|known| known.as_str() == word.text));
        let sources = sources.collect();
        let tools = self.patterns(fields, "tools").into_iter().map(|(pattern, _)| pattern).collect();
        // Half of it means nothing, and whoever wrote it meant something.
        fields.required(self, "sources", "[\"managed\"]")?;
        fields.required(self, "tools", "[\"Bash(git:*)\"]")?;
        Some(Setting::new(PreApproveSettings { sources, tools }, self.place(fields.span)))
    }

    fn program(&mut self, name: String, fields: &Fields<'_, 't>, file: &mut PolicyFile) {
        let named = self.command_name(&name, fields);
        let there = fields.required(self, "path", "\"/usr/bin/gh\"").is_some();
        let path = if there { self.path(fields, "path") } else { None };
        let (env, write) = (self.variables(fields, "env"), self.project_paths(fields, "write"));
        let mut on = |name| self.switch(fields, name).is_some_and(|setting| setting.value);
        let (run_project_files, network) = (on("run_project_files"), on("network"));
        let mut limits = ProgramLimits::default();
        for (key, field) in fields.iter() {
            let into = match key.name {
                "memory_bytes" => &mut limits.memory_bytes,
                "native_processes" => &mut limits.native_processes,
                "native_file_bytes" => &mut limits.native_file_bytes,
                "wall_ms" => &mut limits.wall_ms,
                _ => continue,
            };
            *into = self.number("programs", key, field).map(|setting| setting.value);
        }
        if let (true, Some(path)) = (named, path) {
            let program = ProgramSettings { path: path.value, env, write, run_project_files, network, limits };
            file.programs.insert(name, Setting::new(program, self.place(fields.span)));
        }
    }

    fn component(&mut self, name: String, fields: &Fields<'_, 't>, file: &mut PolicyFile) {
        let named = self.command_name(&name, fields);
        let there = fields.required(self, "path", "\"/opt/tools/mytool.wasm\"").is_some();
        let path = if there { self.path(fields, "path") } else { None };
        let sha256 = self.digest(fields, "sha256");
        let replace = self.switch(fields, "replace");
        if let (true, Some(path), Some(sha256)) = (named, path, sha256) {
            let component = ComponentSettings { path, sha256, replace: replace.is_some_and(|on| on.value) };
            file.components.insert(name, Setting::new(component, self.place(fields.span)));
        }
    }

    /// Whether a text can be a command's name.
    fn command_name(&mut self, name: &str, fields: &Fields<'_, 't>) -> bool {
        let plain = |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '/' | '\\');
        let possible = !name.is_empty() && !name.starts_with('-') && name.chars().all(plain);
        if !possible {
            let help = "write the name by which skills call it, without a directory, such as `gh`".to_owned();
            self.findings.add(fields.span, format!("{} is not the name of a command", quoted(name)), Some(help));
        }
        possible
    }

    fn signer(&mut self, fields: &Fields<'_, 't>, file: &mut PolicyFile) {
        let id = self.name(fields, "id");
        let public = self.public_key(fields, "public");
        let allow = self.patterns(fields, "allow").into_iter().map(|(pattern, _)| pattern).collect();
        let expires = self.day(fields, "expires");
        let hooks = self.switch(fields, "hooks").is_some_and(|on| on.value);
        let revoked = self.switch(fields, "revoked").is_some_and(|on| on.value);
        let (Some(id), Some(public)) = (id, public) else { return };
        if let Some(first) = file.keys.iter().find(|key| key.value.id == id.text) {
            let message = format!("there is a key `{}` already", id.text);
            let help = format!("it stands at {}; give each key its own id", first.place);
            self.findings.add(id.span, message, Some(help));
            return;
        }
        let signer = SignerSettings { id: id.text, public, allow, hooks, expires, revoked };
        file.keys.push(Setting::new(signer, self.place(fields.span)));
    }
}
