//! Skills written one a line.
#![allow(dead_code, reason = "each test uses its own part")]

use skillgate_core::{
    Code, CommandName, Diagnostic, Digest, Field, Frontmatter, Guarded, HeaderState, LoadFailure, LoadedFrom, Plugin,
    Requires, Skill, SkillId, Source, Span, Version,
};
use skillgate_registry::CatalogueOptions;

/// `SOURCE PATH [FLAG…]`; the name is the last directory, or the stem of a `.md` file. Flags: `command`, `lost`, `hidden`,
/// `user-only`, `paths=P`, `when=W` (with `_` for a blank), `of=PLUGIN`,
/// `deferred`, `needs=SKILL`, `program=P`, `version=V`, `bare` (no description of its own), `broken` (cannot be read at all).
pub(crate) fn parse(line: &str) -> Result<Skill, Box<LoadFailure>> {
    let mut words = line.split_whitespace();
    let source = words.next().expect("a source");
    let source = Source::ALL.into_iter().find(|known| known.as_str() == source).expect("a known source");
    let path = words.next().expect("a path");
    let flags: Vec<&str> = words.collect();
    let has = |flag: &str| flags.contains(&flag);
    let name = path.rsplit('/').next().expect("a name").trim_end_matches(".md");
    if has("broken") {
        let diagnostic = Diagnostic::new(Code::FileNotRegular, "it is a fifo");
        return Err(Box::new(LoadFailure { source, name: name.into(), path: path.into(), diagnostic }));
    }
    let field = |text: &str| Field::new(text.to_owned(), Span::default());
    let flag = |on: bool, value: bool| {
        if on { Guarded::Present(Field::new(value, Span::default())) } else { Guarded::Absent }
    };
    let paths: Vec<_> = flags.iter().filter_map(|flag| flag.strip_prefix("paths=")).map(field).collect();
    let needs: Vec<_> = flags.iter().filter_map(|flag| flag.strip_prefix("needs=")).map(field).collect();
    let programs: Vec<_> = flags.iter().filter_map(|flag| flag.strip_prefix("program=")).map(field).collect();
    let version = flags.iter().find_map(|flag| flag.strip_prefix("version=")).and_then(Version::parse);
    let requires = Requires {
        skills: needs,
        programs,
        version: version.map(|version| Field::new(version, Span::default())),
        ..Requires::default()
    };
    let plugin = flags.iter().find_map(|flag| flag.strip_prefix("of="));
    let name = plugin.map_or_else(|| name.to_owned(), |plugin| format!("{plugin}:{name}"));
    let frontmatter = Box::new(Frontmatter {
        requires: (requires != Requires::default()).then_some(requires),
        description: (!has("bare")).then(|| field("Does something.")),
        when_to_use: flags
            .iter()
            .find_map(|flag| flag.strip_prefix("when="))
            .map(|text| field(&text.replace('_', " "))),
        user_invocable: flag(has("hidden"), false),
        disable_model_invocation: flag(has("user-only"), true),
        deferred: has("deferred").then(|| Field::new(true, Span::default())),
        paths: if paths.is_empty() { Guarded::Absent } else { Guarded::Present(Field::new(paths, Span::default())) },
        ..Frontmatter::default()
    });
    Ok(Skill {
        id: SkillId::new(source, CommandName::new(name.as_str()).expect("a name")),
        loaded_from: if has("command") { LoadedFrom::Commands } else { LoadedFrom::Skills },
        path: path.into(),
        directory: None,
        plugin: plugin.map(|name| Plugin { name: name.to_owned(), root: "/q".into(), data: None }),
        frontmatter: frontmatter.into(),
        header: if has("lost") { HeaderState::Unclosed } else { HeaderState::Parsed },
        label: name.into(),
        description: Some("Does something.".into()),
        head_digest: Digest::of(line.as_bytes()),
        bytes: 0,
        diagnostics: Vec::new(),
    })
}

/// The skill of a line, with this description.
pub(crate) fn described(line: &str, description: &str) -> Skill {
    let skill = parse(line).unwrap_or_else(|failure| unreachable!("{}", failure.name));
    let description = (!description.is_empty()).then(|| description.into());
    Skill { description, ..skill }
}

pub(crate) fn trusted() -> CatalogueOptions {
    CatalogueOptions { trusted_project: true, trusted_plugins: ["/q".into()].into(), ..CatalogueOptions::default() }
}
