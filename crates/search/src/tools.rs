use serde::{Deserialize, Serialize};

/// A tool of the host, as it registers it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolInfo<Schema = ()> {
    /// The name the model calls it by; `mcp__SERVER__TOOL` for one of a server.
    pub name: String,
    /// What it does.
    #[serde(default)]
    pub description: String,
    /// The schema of its input, given back with a match.
    #[serde(default)]
    pub schema: Schema,
    /// Words the host adds for the search alone.
    #[serde(default)]
    pub search_hint: Option<String>,
    /// Whether a server offers it.
    #[serde(default)]
    pub is_mcp: bool,
    /// Whether its schema is always given, whatever else holds.
    #[serde(default)]
    pub always_load: bool,
    /// Whether its schema is given on request only.
    #[serde(default)]
    pub should_defer: bool,
}

impl<Schema> ToolInfo<Schema> {
    /// Whether the model sees the name alone until it asks: never a tool that is always loaded, always one of a server, never
    /// the search itself, else as the host says.
    #[must_use]
    pub fn is_deferred(&self) -> bool {
        !self.always_load && (self.is_mcp || (self.name != TOOL_SEARCH && self.should_defer))
    }
}

/// The name of the tool that searches tools.
const TOOL_SEARCH: &str = "ToolSearch";

/// A name part that is the term, that contains it, the hint, the description.
const EXACT: u32 = 10;
const EXACT_MCP: u32 = 12;
const PARTIAL: u32 = 5;
const PARTIAL_MCP: u32 = 6;
const HINT: u32 = 4;
const DESCRIPTION: u32 = 2;

/// Terms of a query that count.
const MAX_TERMS: usize = 64;

/// The tools of a host, searched by name and words.
#[derive(Clone, Debug)]
pub struct ToolSearch<Schema = ()> {
    tools: Vec<ToolInfo<Schema>>,
    /// In step with `tools`, deferred ones first.
    prepared: Vec<Prepared>,
    deferred: Vec<String>,
    prepared_times: u64,
}

/// What the search reads of a tool, made once for a set of deferred tools.
#[derive(Clone, Debug)]
struct Prepared {
    tool: usize,
    name: String,
    parts: Vec<String>,
    hint: Vec<String>,
    description: Vec<String>,
}

/// The answer to a search for tools.
#[derive(Clone, PartialEq, Debug)]
pub struct ToolMatches<'t, Schema = ()> {
    /// The tools, best first.
    pub tools: Vec<&'t ToolInfo<Schema>>,
    /// Names that `select:` asked for and nobody registered.
    pub unknown: Vec<String>,
    /// How many tools are deferred in all.
    pub deferred: usize,
}

impl<Schema: PartialEq> ToolSearch<Schema> {
    /// A search over these tools.
    #[must_use]
    pub fn new(tools: Vec<ToolInfo<Schema>>) -> Self {
        let mut search =
            ToolSearch { tools: Vec::new(), prepared: Vec::new(), deferred: Vec::new(), prepared_times: 0 };
        search.set_tools(tools);
        search
    }

    /// Takes the host's tools as they are now. What was made of them is kept while they are the same.
    pub fn set_tools(&mut self, tools: Vec<ToolInfo<Schema>>) {
        if self.prepared_times > 0 && tools == self.tools {
            return;
        }
        self.deferred = tools.iter().filter(|tool| tool.is_deferred()).map(|tool| tool.name.clone()).collect();
        let (mut prepared, rest): (Vec<Prepared>, Vec<Prepared>) = tools
            .iter()
            .enumerate()
            .map(|(at, tool)| Prepared::new(at, tool))
            .partition(|p| tools[p.tool].is_deferred());
        prepared.extend(rest);
        self.prepared = prepared;
        self.tools = tools;
        self.prepared_times += 1;
    }

    /// The names of the tools whose schema is given on request only, in the order of registration.
    #[must_use]
    pub fn deferred(&self) -> &[String] {
        &self.deferred
    }

    /// How often the tools were prepared: once for each different set.
    #[must_use]
    pub fn prepared_times(&self) -> u64 {
        self.prepared_times
    }

    /// Answers `select:A,B`, a whole name, `mcp__SERVER` as the beginning of names, or keywords, of which each with a `+`
    /// before it must be there. At most `limit` tools.
    #[must_use]
    pub fn search(&self, query: &str, limit: usize) -> ToolMatches<'_, Schema> {
        let query = query.trim();
        if let Some((keyword, names)) = query.split_once(':')
            && keyword.eq_ignore_ascii_case("select")
        {
            return self.select(names, limit);
        }
        let query = query.to_lowercase();
        if let Some(exact) = self.deferred_tools().find(|prepared| prepared.name == query) {
            return self.matches([exact.tool].into_iter());
        }
        if query.len() > "mcp__".len() && query.starts_with("mcp__") {
            let mut beginning = self.deferred_tools().filter(|prepared| prepared.name.starts_with(&query)).peekable();
            if beginning.peek().is_some() {
                return self.matches(beginning.map(|prepared| prepared.tool).take(limit));
            }
        }
        self.keywords(&query, limit)
    }

    fn select(&self, names: &str, limit: usize) -> ToolMatches<'_, Schema> {
        let mut found: Vec<usize> = Vec::new();
        let mut unknown = Vec::new();
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()).take(limit) {
            let lower = name.to_lowercase();
            match self.prepared.iter().find(|prepared| prepared.name == lower) {
                Some(prepared) if found.contains(&prepared.tool) => {}
                Some(prepared) => found.push(prepared.tool),
                None => unknown.push(name.to_owned()),
            }
        }
        ToolMatches { unknown, ..self.matches(found.into_iter()) }
    }

    fn keywords(&self, query: &str, limit: usize) -> ToolMatches<'_, Schema> {
        let (required, optional): (Vec<&str>, Vec<&str>) =
            query.split_whitespace().take(MAX_TERMS).partition(|term| term.len() > 1 && term.starts_with('+'));
        let required: Vec<&str> = required.into_iter().map(|term| &term[1..]).collect();
        let mut scored: Vec<(u32, usize)> = self
            .prepared
            .iter()
            .filter(|prepared| required.iter().all(|term| prepared.has(term)))
            .map(|prepared| {
                let mcp = self.tools[prepared.tool].is_mcp;
                let score = required.iter().chain(&optional).map(|term| prepared.score(term, mcp)).sum();
                (score, prepared.tool)
            })
            .filter(|(score, _)| *score > 0)
            .collect();
        // Stable: among equals deferred tools come first, then the order of registration.
        scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        self.matches(scored.into_iter().map(|(_, tool)| tool).take(limit))
    }

    fn deferred_tools(&self) -> impl Iterator<Item = &Prepared> {
        self.prepared.iter().take(self.deferred.len())
    }

    fn matches(&self, tools: impl Iterator<Item = usize>) -> ToolMatches<'_, Schema> {
        ToolMatches {
            tools: tools.map(|at| &self.tools[at]).collect(),
            unknown: Vec::new(),
            deferred: self.deferred.len(),
        }
    }
}

impl Prepared {
    fn new<Schema>(at: usize, tool: &ToolInfo<Schema>) -> Self {
        Prepared {
            tool: at,
            name: tool.name.to_lowercase(),
            parts: parts(&tool.name),
            hint: words(tool.search_hint.as_deref().unwrap_or_default()),
            description: words(&tool.description),
        }
    }

    fn has(&self, term: &str) -> bool {
        self.parts.iter().any(|part| part == term) || stands_in(&self.hint, term) || stands_in(&self.description, term)
    }

    fn score(&self, term: &str, mcp: bool) -> u32 {
        let name = if self.parts.iter().any(|part| part == term) {
            if mcp { EXACT_MCP } else { EXACT }
        } else if self.parts.iter().any(|part| part.contains(term)) {
            if mcp { PARTIAL_MCP } else { PARTIAL }
        } else {
            0
        };
        let hint = if stands_in(&self.hint, term) { HINT } else { 0 };
        let description = if stands_in(&self.description, term) { DESCRIPTION } else { 0 };
        name + hint + description
    }
}

/// `mcp__slack__send_message` is slack, send, message; `NotebookEdit` is notebook, edit.
fn parts(name: &str) -> Vec<String> {
    let name = name.strip_prefix("mcp__").unwrap_or(name);
    let mut spaced = String::with_capacity(name.len() + 4);
    let mut before = ' ';
    for c in name.chars() {
        if c.is_uppercase() && (before.is_lowercase() || before.is_numeric()) {
            spaced.push(' ');
        }
        spaced.push(if c.is_alphanumeric() { c } else { ' ' });
        before = c;
    }
    spaced.split_whitespace().map(str::to_lowercase).collect()
}

/// The words of a text, for terms that must stand at word borders. The underscore is a letter, as in a regular expression.
fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Whether the words of `term` follow each other in `words`.
fn stands_in(words: &[String], term: &str) -> bool {
    let term = self::words(term);
    !term.is_empty() && words.windows(term.len()).any(|window| window == term)
}
