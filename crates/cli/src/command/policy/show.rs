//! `skillgate policy show`

use crate::args::{Format, Global};
use crate::exit::{Failure, Status};
use crate::output::{PlaceOutput, PolicyFileOutput, PolicyRuleOutput, PolicyShowOutput, RuleOutput, SettingOutput};
use crate::policy::{self, InForce};
use crate::text;
use skillgate_policy::file::{ComponentSettings, OnFailure, Policy, PolicySkills, Setting, quoted};
use skillgate_policy::{Place, ToolPattern};
use std::fmt::{Display, Write as _};

/// Columns in front of the origin.
const VALUE_WIDTH: usize = 46;

pub(crate) fn run(global: &Global) -> Result<Status, Failure> {
    let InForce { policy, places } = policy::in_force(global)?;
    let settings = settings(&policy);
    if global.format == Format::Json {
        let files = places.iter().map(|place| PolicyFileOutput {
            level: place.level.to_string(),
            path: place.path.display().to_string(),
            found: place.found,
        });
        text::json(&PolicyShowOutput {
            files: files.collect(),
            settings: settings.iter().map(Line::output).collect(),
            rules: policy
                .rules()
                .map(|(level, rule)| PolicyRuleOutput { level: level.to_string(), rule: RuleOutput::of(rule) })
                .collect(),
            closed: policy.closed_by().is_some(),
        })?;
        return Ok(Status::Done);
    }
    let mut out = String::new();
    for place in &places {
        let found = if place.found { "" } else { " (none)" };
        let _infallible = writeln!(out, "# {}: {}{found}", place.level, text::shown(&place.path.display().to_string()));
    }
    rules(&policy, &mut out);
    let mut table = "";
    for line in &settings {
        if line.table != table {
            let _infallible = writeln!(out, "\n[{}]", line.table);
            table = &line.table;
        }
        let setting = format!("{} = {}", line.key, line.value);
        let _infallible = writeln!(out, "{:<VALUE_WIDTH$}  # {}", text::shown(&setting), shown_place(&line.place));
    }
    text::human(&out);
    Ok(Status::Done)
}

fn rules(policy: &Policy, out: &mut String) {
    let _infallible = writeln!(out, "\n[permissions]");
    if let Some(place) = policy.closed_by() {
        let _infallible = writeln!(out, "# nothing is granted that no managed rule allows ({})", shown_place(place));
    }
    for (level, rule) in policy.rules() {
        let line = format!("{:<5} {}", rule.effect().to_string(), rule.pattern());
        let _infallible =
            writeln!(out, "{:<VALUE_WIDTH$}  # {level}: {}", text::shown(&line), shown_place(rule.place()));
    }
    let _infallible =
        writeln!(out, "{:<VALUE_WIDTH$}  # {}", "else: shipped commands read the project; ask", Place::BuiltIn);
}

fn shown_place(place: &Place) -> String {
    text::shown(&place.to_string())
}

/// One setting, as it would be written in a policy.
struct Line {
    table: String,
    key: String,
    value: String,
    place: Place,
}

impl Line {
    fn new<T>(table: &str, key: &str, setting: &Setting<T>, value: String) -> Self {
        Self { table: table.to_owned(), key: key.to_owned(), value, place: setting.place.clone() }
    }

    fn output(&self) -> SettingOutput {
        SettingOutput {
            key: format!("{}.{}", self.table, self.key),
            value: self.value.clone(),
            origin: PlaceOutput::of(&self.place),
        }
    }
}

/// Every setting but the rules, by table.
fn settings(policy: &Policy) -> Vec<Line> {
    let mut lines = vec![plain("skills", "enabled", &policy.skills_enabled)];
    for (key, names) in [("disable", &policy.disable), ("pin", &policy.pin)] {
        lines.extend(names.iter().map(|name| Line::new("skills", key, name, list([&name.value]))));
    }
    lines.extend(policy.only.iter().map(|only| Line::new("skills", "only", only, list(&only.value))));
    lines.extend(
        policy.sets.iter().map(|(name, set)| {
            Line::new("skills", "sets", set, format!("{{ {} = {} }}", quoted(name), list(&set.value)))
        }),
    );
    let required = match policy.policy_skills.value {
        PolicySkills::Optional => "optional",
        PolicySkills::Required => "required",
    };
    lines.push(Line::new("skills", "policy_skills", &policy.policy_skills, quoted(required)));
    lines.push(Line::new("skills", "depth", &policy.skill_depth, policy.skill_depth.value.to_string()));
    lines.extend(policy.store.as_ref().map(|path| Line::new("skills", "store", path, quoted(&path.value))));

    lines.push(Line::new("profile", "name", &policy.profile, quoted(&policy.profile.value.to_string())));
    lines.push(plain(
        "profile",
        "shell",
        if policy.managed_shell.value { &policy.shell } else { &policy.managed_shell },
    ));
    let on_failure = match policy.on_failure.value {
        OnFailure::Abort => "abort",
        OnFailure::Inline => "inline",
    };
    lines.push(Line::new("profile", "on_failure", &policy.on_failure, quoted(on_failure)));

    if let Some(approved) = &policy.pre_approve {
        let sources: Vec<_> = approved.value.sources.iter().map(ToString::to_string).collect();
        lines.push(Line::new("pre_approve", "sources", approved, list(&sources)));
        lines.push(Line::new("pre_approve", "tools", approved, patterns(&approved.value.tools)));
    }
    for (name, program) in &policy.programs {
        let table = format!("programs.{}", bare(name));
        lines.push(Line::new(&table, "path", program, quoted(&program.value.path)));
        lines.push(Line::new(&table, "env", program, list(&program.value.env)));
        let write: Vec<_> = program.value.write.iter().map(ToString::to_string).collect();
        lines.push(Line::new(&table, "write", program, list(&write)));
        for (key, on) in [("run_project_files", program.value.run_project_files), ("network", program.value.network)] {
            lines.extend(on.then(|| Line::new(&table, key, program, "true".to_owned())));
        }
        let limits = &program.value.limits;
        for (key, number) in [
            ("memory_bytes", limits.memory_bytes),
            ("native_processes", limits.native_processes),
            ("native_file_bytes", limits.native_file_bytes),
            ("wall_ms", limits.wall_ms),
        ] {
            lines.extend(number.map(|number| Line::new(&table, key, program, number.to_string())));
        }
    }
    for (name, component) in &policy.components {
        let table = format!("components.{}", bare(name));
        let ComponentSettings { path, sha256, replace } = &component.value;
        lines.push(Line::new(&table, "path", path, quoted(&path.value)));
        lines.push(Line::new(&table, "sha256", sha256, quoted(&sha256.value.to_string())));
        lines.extend(replace.then(|| Line::new(&table, "replace", component, "true".to_owned())));
    }
    for (id, key) in &policy.keys {
        let table = format!("keys.{}", bare(id));
        lines.push(Line::new(&table, "public", key, quoted(&key.value.public.to_string())));
        lines.push(Line::new(&table, "allow", key, patterns(&key.value.allow)));
        lines.extend(key.value.expires.map(|day| Line::new(&table, "expires", key, day.to_string())));
        lines.extend(key.value.revoked.then(|| Line::new(&table, "revoked", key, "true".to_owned())));
    }
    lines.extend(policy.limits.iter().map(|(name, number)| plain("limits", name, number)));
    lines.push(plain("hooks", "timeout_ms", &policy.hook_timeout_ms));
    let mcp = &policy.mcp;
    lines.push(plain("mcp", "connect_ms", &mcp.connect_ms));
    lines.push(plain("mcp", "request_ms", &mcp.request_ms));
    lines.push(plain("mcp", "sandbox", &mcp.sandbox));
    lines.extend(mcp.show.as_ref().map(|paths| Line::new("mcp", "show", paths, list(&paths.value))));
    lines.extend(mcp.memory_bytes.as_ref().map(|number| plain("mcp", "memory_bytes", number)));
    lines.extend(policy.audit_log.as_ref().map(|path| Line::new("audit", "log", path, quoted(&path.value))));
    lines.push(plain("audit", "required", &policy.audit_required));
    lines
}

fn plain<T: Display>(table: &str, key: &str, setting: &Setting<T>) -> Line {
    Line::new(table, key, setting, setting.value.to_string())
}

fn patterns(patterns: &[ToolPattern]) -> String {
    let texts: Vec<&str> = patterns.iter().map(ToolPattern::text).collect();
    list(texts)
}

fn list<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> String {
    let quoted: Vec<String> = texts.into_iter().map(|text| quoted(text.as_ref())).collect();
    format!("[{}]", quoted.join(", "))
}

/// A name in the header of a table, as TOML takes it.
fn bare(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if plain { name.to_owned() } else { quoted(name) }
}
