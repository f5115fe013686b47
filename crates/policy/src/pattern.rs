use crate::command::CommandPattern;
use crate::paths::{READS, WRITES};
use skillgate_core::{Span, nearest};
use std::fmt;

/// Tools whose name a pattern may be about without a warning; others are taken as they are.
const KNOWN_TOOLS: [&str; 20] = [
    "Agent",
    "AskUserQuestion",
    "Bash",
    "DiscoverSkills",
    "Edit",
    "Glob",
    "Grep",
    "LS",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "PowerShell",
    "Read",
    "Skill",
    "Task",
    "TodoWrite",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "Write",
];

/// A tool pattern: `Tool`, `Tool(spec)` or `mcp__server__*`.
#[derive(Clone, PartialEq, Debug)]
pub struct ToolPattern {
    text: String,
    tool: String,
    spec: ToolSpec,
}

/// What a [`ToolPattern`] says about the tool's input.
#[derive(Clone, PartialEq, Debug)]
pub enum ToolSpec {
    /// Nothing: every input.
    Any,
    /// `Bash(…)`: argument vectors.
    Command(CommandPattern),
    /// `Read(…)`, `Write(…)`, `Edit(…)`: a gitignore pattern relative to the project.
    Path(String),
    /// `Skill(…)`: skills by name.
    Skill(SkillPattern),
    /// Any other `Tool(spec)`: this input exactly.
    Exact(String),
}

/// Which skills a `Skill(…)` rule is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SkillPattern {
    /// Every skill.
    Any,
    /// The skill of this name.
    Name(String),
    /// The name and every name that goes on with `-`, `_`, `:`, `/` or `.`.
    Prefix(String),
}

impl SkillPattern {
    /// The characters that a name goes on with after a prefix.
    pub(crate) const BOUNDARIES: [char; 5] = ['-', '_', ':', '/', '.'];

    /// The `*` of a name that is no pattern.
    fn star(&self) -> Option<char> {
        match self {
            SkillPattern::Any => None,
            SkillPattern::Name(name) | SkillPattern::Prefix(name) => name.contains('*').then_some('*'),
        }
    }

    fn parse(spec: &str) -> Self {
        let spec = spec.trim();
        let spec = spec.strip_prefix('/').unwrap_or(spec);
        if spec.is_empty() || spec == "*" {
            return SkillPattern::Any;
        }
        match spec.strip_suffix(":*").or_else(|| spec.strip_suffix(" *")) {
            Some(prefix) => SkillPattern::Prefix(prefix.to_owned()),
            None => SkillPattern::Name(spec.to_owned()),
        }
    }

    /// Whether the pattern is about a skill, called by its command name or as `source:name`.
    #[must_use]
    pub fn matches(&self, source: &str, name: &str) -> bool {
        let qualified = format!("{source}:{name}");
        match self {
            SkillPattern::Any => true,
            SkillPattern::Name(wanted) => wanted == name || *wanted == qualified,
            SkillPattern::Prefix(prefix) => [name, &qualified].iter().any(|candidate| {
                candidate
                    .strip_prefix(prefix.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(Self::BOUNDARIES))
            }),
        }
    }
}

/// Why a text is not a tool pattern. It then permits nothing.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// No text.
    #[error("the pattern is empty; write a tool such as `Read` or `Bash(git status:*)`")]
    Empty {
        /// The whole text.
        at: Span,
    },
    /// A parenthesis without its partner.
    #[error("`{text}` has no closing parenthesis; write `{tool}(…)`")]
    Unclosed {
        /// The pattern.
        text: String,
        /// The tool's name.
        tool: String,
        /// The opening parenthesis and what follows.
        at: Span,
    },
    /// Text after the closing parenthesis.
    #[error("`{text}` goes on after its closing parenthesis; one pattern is `Tool` or `Tool(spec)`")]
    Trailing {
        /// The pattern.
        text: String,
        /// What follows the parenthesis.
        at: Span,
    },
    /// The tool's name is not a name.
    #[error("`{name}` is not a tool's name; a name holds letters, digits, `_`, `-`, and `*` only at the end of `mcp__…`{}", did_you_mean(.nearest))]
    ToolName {
        /// What stands where the name should.
        name: String,
        /// A known tool that is near.
        nearest: Option<String>,
        /// The name.
        at: Span,
    },
    /// A `*` where it permits nothing.
    #[error("`{text}` has a `*` inside; it permits nothing. A `*` stands at the end: `{instead}`")]
    InnerWildcard {
        /// The pattern.
        text: String,
        /// The pattern that is the nearest one with a meaning. It permits more.
        instead: String,
        /// The `*`.
        at: Span,
    },
    /// Quotes of a shell pattern that do not close.
    #[error("`{text}` has an unbalanced quote; it permits nothing")]
    UnbalancedQuote {
        /// The pattern.
        text: String,
        /// From the quote to the end.
        at: Span,
    },
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

impl PatternError {
    /// Where the mistake is: bytes of the text that was read.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            PatternError::Empty { at }
            | PatternError::Unclosed { at, .. }
            | PatternError::Trailing { at, .. }
            | PatternError::ToolName { at, .. }
            | PatternError::InnerWildcard { at, .. }
            | PatternError::UnbalancedQuote { at, .. } => *at,
        }
    }

    /// A text to write instead, when there is a likely one.
    #[must_use]
    pub fn suggestion(&self) -> Option<String> {
        match self {
            PatternError::Unclosed { text, .. } => Some(format!("{text})")),
            PatternError::InnerWildcard { instead, .. } => Some(instead.clone()),
            PatternError::ToolName { nearest, .. } => nearest.clone(),
            _ => None,
        }
    }

    /// The error with its place moved by the bytes that were cut off before the pattern.
    fn shifted(mut self, by: usize) -> Self {
        match &mut self {
            PatternError::Empty { at }
            | PatternError::Unclosed { at, .. }
            | PatternError::Trailing { at, .. }
            | PatternError::ToolName { at, .. }
            | PatternError::InnerWildcard { at, .. }
            | PatternError::UnbalancedQuote { at, .. } => *at = at.shifted(by),
        }
        self
    }
}

/// A tool that Skillgate does not know. Its pattern is taken as it is: a host may have tools of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownTool {
    /// The name.
    pub name: String,
    /// The pattern with the known tool whose name is near.
    pub suggestion: Option<String>,
}

impl ToolPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// [`PatternError`]; a caller treats such an entry as permitting nothing.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(PatternError::Empty { at: Span::new(0, text.len()) });
        }
        let before = text.len() - text.trim_start().len();
        Self::parse_trimmed(trimmed).map_err(|error| error.shifted(before))
    }

    fn parse_trimmed(text: &str) -> Result<Self, PatternError> {
        let (tool, spec) = match text.split_once('(') {
            None => (text, None),
            Some((tool, rest)) => match rest.strip_suffix(')') {
                Some(spec) => (tool, Some(spec)),
                None => {
                    let text = text.to_owned();
                    return Err(match rest.rfind(')') {
                        Some(close) => {
                            let at = Span::new(tool.len() + 1 + close + 1, text.len());
                            PatternError::Trailing { text, at }
                        }
                        None => {
                            let at = Span::new(tool.len(), text.len());
                            PatternError::Unclosed { text, tool: tool.to_owned(), at }
                        }
                    });
                }
            },
        };
        check_tool_name(tool)?;
        let spec = match (tool, spec) {
            ("Bash", None) => ToolSpec::Command(CommandPattern::Any),
            ("Bash", Some(spec)) => ToolSpec::Command(CommandPattern::parse(text, spec, tool.len() + 1)?),
            ("Skill", spec) => {
                let spec = spec.unwrap_or_default();
                let pattern = SkillPattern::parse(spec);
                if let Some(star) = pattern.star() {
                    // A `*` at any other place would look like a rule and match no skill.
                    let at = spec.rfind(star).map_or(tool.len(), |at| tool.len() + 1 + at);
                    let name = spec.split(star).next().unwrap_or_default();
                    let name = name.trim_end_matches(['-', '_', ':', '/', '.']);
                    let instead = if name.is_empty() { "Skill".to_owned() } else { format!("Skill({name}:*)") };
                    return Err(PatternError::InnerWildcard {
                        text: text.to_owned(),
                        instead,
                        at: Span::new(at, at + 1),
                    });
                }
                ToolSpec::Skill(pattern)
            }
            (_, None) => ToolSpec::Any,
            (tool, Some(spec)) if READS.contains(&tool) || WRITES.contains(&tool) => match spec.trim() {
                "" | "*" | "**" => ToolSpec::Any,
                path => ToolSpec::Path(path.to_owned()),
            },
            (_, Some("*")) => ToolSpec::Any,
            (_, Some(spec)) => ToolSpec::Exact(spec.to_owned()),
        };
        Ok(Self { text: text.to_owned(), tool: tool.to_owned(), spec })
    }

    /// `Bash`: every command.
    pub(crate) fn any_command() -> Self {
        Self { text: "Bash".to_owned(), tool: "Bash".to_owned(), spec: ToolSpec::Command(CommandPattern::Any) }
    }

    /// The pattern as written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The tool's name, or `mcp__server__*`.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// What the pattern says about the tool's input.
    #[must_use]
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// The pattern on argument vectors, for `Bash` patterns.
    #[must_use]
    pub fn command(&self) -> Option<&CommandPattern> {
        match &self.spec {
            ToolSpec::Command(pattern) => Some(pattern),
            _ => None,
        }
    }

    /// The tool, when it is not one that Skillgate knows. A finding, no mistake: tools of MCP servers and of the host itself are
    /// not known here, and those of MCP servers are never reported.
    #[must_use]
    pub fn unknown_tool(&self) -> Option<UnknownTool> {
        if self.tool.starts_with("mcp__") || KNOWN_TOOLS.contains(&self.tool.as_str()) {
            return None;
        }
        let rest = &self.text[self.tool.len()..];
        let nearest = nearest(&self.tool, KNOWN_TOOLS);
        let suggestion = nearest.first().map(|known| format!("{known}{rest}"));
        Some(UnknownTool { name: self.tool.clone(), suggestion })
    }

    /// Whether the pattern is about the tool `name` with the input `spec`, compared as text. Commands, paths and skills have
    /// matchers of their own and never match here with an input.
    #[must_use]
    pub fn matches_tool(&self, name: &str, spec: Option<&str>) -> bool {
        let tool = match self.tool.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix),
            None => self.tool == name,
        };
        tool && match &self.spec {
            ToolSpec::Any => true,
            ToolSpec::Exact(wanted) => spec == Some(wanted),
            ToolSpec::Command(CommandPattern::Any) | ToolSpec::Skill(SkillPattern::Any) => true,
            ToolSpec::Command(_) | ToolSpec::Path(_) | ToolSpec::Skill(_) => false,
        }
    }
}

fn check_tool_name(tool: &str) -> Result<(), PatternError> {
    let name = match tool.strip_suffix('*') {
        Some(prefix) if prefix.starts_with("mcp__") && prefix.len() > "mcp__".len() => prefix,
        _ => tool,
    };
    let valid = !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':'))
        && name.chars().next().is_some_and(|c| c.is_alphabetic());
    if valid {
        return Ok(());
    }
    let nearest = nearest(tool.trim_end_matches('*'), KNOWN_TOOLS).first().map(|name| (*name).to_owned());
    Err(PatternError::ToolName { name: tool.to_owned(), nearest, at: Span::new(0, tool.len()) })
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_no_pattern_are_refused_with_a_reason() {
        for (text, reason) in [
            ("", "empty"),
            ("Bash(git", "no closing parenthesis"),
            ("Bash(git:*) Read)x", "goes on after"),
            ("(x)", "not a tool's name"),
            ("Re*", "not a tool's name"),
            ("mcp__*", "not a tool's name"),
            ("Bash(git * main)", "`*` inside"),
            ("Bash(git 'x)", "unbalanced quote"),
        ] {
            let error = ToolPattern::parse(text).expect_err(text).to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn a_mistake_has_its_place_and_a_way_out() {
        for (text, place, suggestion) in [
            ("  ", "  ", None),
            (" Bash(git", "(git", Some("Bash(git)")),
            ("Bash(ls) Read)x", "x", None),
            (" Re* ", "Re*", Some("Read")),
            ("Bash(git * main)", "*", Some("Bash(git:*)")),
            ("Bash(* main)", "*", Some("Bash")),
            ("Bash(git lo*g:*)", "*", Some("Bash(git:*)")),
            ("Bash(ü 'x)", "'x", None),
            ("Skill(review*)", "*", Some("Skill(review:*)")),
            ("Skill(*-x)", "*", Some("Skill")),
        ] {
            let error = ToolPattern::parse(text).expect_err(text);
            assert_eq!(&text[error.span().start..error.span().end], place, "{text}");
            assert_eq!(error.suggestion().as_deref(), suggestion, "{text}");
            if let Some(suggestion) = suggestion {
                assert!(ToolPattern::parse(suggestion).is_ok(), "{suggestion}");
            }
        }
    }

    #[test]
    fn an_unknown_tool_is_a_finding() {
        for (text, suggestion) in [
            ("bash(ls)", Some(Some("Bash(ls)"))),
            ("Raed", Some(Some("Read"))),
            ("Frobnicate(x)", Some(None)),
            ("Bash(ls)", None),
            ("mcp__a__b", None),
        ] {
            let unknown = ToolPattern::parse(text).expect(text).unknown_tool();
            assert_eq!(unknown.as_ref().map(|it| it.suggestion.as_deref()), suggestion, "{text}");
        }
    }

    #[test]
    fn skill_prefixes_respect_boundaries() {
        for (pattern, name, matches) in [
            ("Skill(review:*)", "review", true),
            ("Skill(review:*)", "review-pr", true),
            ("Skill(review *)", "review_x", true),
            ("Skill(review:*)", "reviewer", false),
            ("Skill(review)", "review-pr", false),
            ("Skill(/review)", "review", true),
            ("Skill(project:review)", "review", true),
            ("Skill(user:review)", "review", false),
            ("Skill(project:*)", "review", true),
            ("Skill", "anything", true),
            ("Skill(*)", "anything", true),
        ] {
            let parsed = ToolPattern::parse(pattern).expect(pattern);
            let ToolSpec::Skill(skill) = parsed.spec() else { unreachable!("a Skill pattern") };
            assert_eq!(skill.matches("project", name), matches, "{pattern} on {name}");
        }
    }

    #[test]
    fn tools_match_by_name_and_exact_spec() {
        for (pattern, name, spec, matches) in [
            ("WebFetch", "WebFetch", Some("https://x"), true),
            ("WebFetch(domain:x)", "WebFetch", Some("domain:x"), true),
            ("WebFetch(domain:x)", "WebFetch", Some("domain:xy"), false),
            ("WebFetch(domain:x)", "WebFetch", None, false),
            ("mcp__notes__*", "mcp__notes__list", None, true),
            ("mcp__notes__*", "mcp__notesx__list", None, false),
            ("mcp__notes__list", "mcp__notes__list", None, true),
            ("Bash(ls)", "Bash", Some("ls"), false),
        ] {
            assert_eq!(ToolPattern::parse(pattern).expect(pattern).matches_tool(name, spec), matches, "{pattern}");
        }
    }
}
