//! What in a skill's directory a reviewer should see: links out of it, and programs that do not look like programs.
//!
//! Scripts beside a skill are ordinary (about one skill in six has some), so not every executable is reported, but the one
//! that nobody would look for: machine code, a script under the name of a text or in a hidden place, a set-user-id bit.

use crate::SkillFile;
use crate::companions::{Companion, Inner, walk};
use crate::file;
use crate::find::is_escape;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use skillgate_core::{Code, Diagnostic, Severity};
use std::io::{self, Read as _};
use std::path::Path;

/// Places that one rule reports for one skill.
const MAX_FINDINGS: usize = 16;

/// Endings that promise text or data.
const DATA: [&str; 24] = [
    "cfg", "conf", "csv", "docx", "gif", "htm", "html", "ini", "jpeg", "jpg", "json", "log", "md", "pdf", "png",
    "pptx", "rst", "svg", "toml", "txt", "xlsx", "xml", "yaml", "yml",
];

impl SkillFile {
    /// Looks through the directory of a skill, at most 1,000 entries and 8 levels of it, without following links and without
    /// the skills in it. A command file has no directory of its own. The findings are about the whole skill and name the file
    /// in their message.
    #[must_use]
    pub fn companion_findings(&self) -> Vec<Diagnostic> {
        if !self.is_skill || self.fault.is_some() {
            return Vec::new();
        }
        let parent = self.path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let Ok(dir) = Dir::open_ambient_dir(parent, ambient_authority()) else { return Vec::new() };
        let (mut links, mut programs) = (Vec::new(), Vec::new());
        walk(&dir, Inner::LeftOut, &mut |companion| {
            if companion.kind.is_symlink() && links.len() < MAX_FINDINGS {
                links.extend(link_out(&dir, companion));
            } else if companion.kind.is_file() && programs.len() < MAX_FINDINGS {
                programs.extend(program(companion));
            }
        });
        links.append(&mut programs);
        links
    }
}

/// A link whose target is not in the skill's directory. One that leads to nothing, or in a circle, brings nothing in.
fn link_out(dir: &Dir, companion: &Companion<'_>) -> Option<Diagnostic> {
    let path = &companion.path;
    // The skill's own file is the search's business.
    if path.eq_ignore_ascii_case("SKILL.md") {
        return None;
    }
    if !dir.canonicalize(path).is_err_and(|error| is_escape(&error)) {
        return None;
    }
    let target = dir.read_link_contents(path).map(|target| target.display().to_string()).unwrap_or_default();
    Some(
        Diagnostic::new(
            Code::LinkOutOfSkill,
            format!("the link `{path}` leads out of the skill's directory, to `{target}`"),
        )
        .help("put the file itself there; who installs the skill has another file at that place, or none"),
    )
}

/// What the file is that it does not look like.
fn program(companion: &Companion<'_>) -> Option<Diagnostic> {
    let path = &companion.path;
    let start = start(companion).unwrap_or_default();
    let (script, machine) = (start.starts_with(b"#!"), is_machine_code(&start));
    let looks_like_data = Path::new(path).extension().and_then(|end| end.to_str()).is_some_and(is_data);
    let hidden = path.split('/').any(|part| part.starts_with('.'));
    let mode = mode(companion);
    let found = |what: &str| Diagnostic::new(Code::ExecutableCompanion, format!("`{path}` {what}"));
    let finding = if mode & 0o6000 != 0 {
        found("runs with the rights of its owner or group, not of whoever starts it").help("take the set-id bit away")
    } else if machine {
        found("is machine code, which nobody can review here").help("ship its source, or say where it comes from")
    } else if script && looks_like_data {
        found("is a script under the name of a text or of data").help("name it by what it is")
    } else if script && hidden {
        found("is a script in a hidden place").help("put it where a reviewer sees it")
    } else if looks_like_data && mode & 0o111 != 0 {
        found("is text or data by its name, and is marked as executable")
            .severity(Severity::Info)
            .help("take the mark away: `chmod -x`")
    } else {
        return None;
    };
    Some(finding)
}

fn is_data(end: &str) -> bool {
    DATA.iter().any(|data| data.eq_ignore_ascii_case(end))
}

/// ELF, Mach-O (both orders, universal) and the usual start of a Windows program.
fn is_machine_code(start: &[u8]) -> bool {
    [b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ\x90\0"]
        .iter()
        .any(|magic| start == *magic)
}

/// The first four bytes, fewer when the file has fewer.
fn start(companion: &Companion<'_>) -> io::Result<Vec<u8>> {
    let mut start = Vec::with_capacity(4);
    companion.entry.open_with(&file::options())?.take(4).read_to_end(&mut start)?;
    Ok(start)
}

#[cfg(unix)]
fn mode(companion: &Companion<'_>) -> u32 {
    use cap_std::fs::MetadataExt as _;
    companion.entry.metadata().map_or(0, |metadata| metadata.mode())
}

#[cfg(not(unix))]
fn mode(_companion: &Companion<'_>) -> u32 {
    0
}
