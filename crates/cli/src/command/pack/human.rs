//! The outputs for people. Everything of a pack is somebody else's text.

use crate::output::{
    PackDiffOutput, PackInspectOutput, PackInstallOutput, PackListOutput, PackOutdatedOutput, PackSignatureOutput,
    PackTestOutput, PackVerifyOutput,
};
use crate::text::{counted, escaped, escaped_lines};
use std::fmt::Write as _;

pub(super) fn inspected(pack: &PackInspectOutput) -> String {
    let mut out =
        format!("{} {}  ({}, {})\n", pack.name, pack.version, counted(pack.files.len(), "file"), size(pack.bytes));
    if let Some(description) = &pack.description {
        let _infallible = writeln!(out, "  {}", escaped(description));
    }
    let _infallible = writeln!(out, "  digest {}", pack.digest);
    if let Some(version) = &pack.minimum_version {
        let _infallible = writeln!(out, "  needs Skillgate {}", escaped(version));
    }
    let commit = pack.source.commit.as_ref().map(|commit| format!(", commit {commit}")).unwrap_or_default();
    let _infallible = writeln!(out, "  from {} ({}{commit})", escaped(&pack.source.location), pack.source.kind);
    out.push_str(&signed(&pack.signatures));
    match &pack.granted {
        None => out.push_str("  its skills would be text only: nothing in them runs\n"),
        Some(patterns) if patterns.is_empty() => out.push_str("  its signer is granted no tool\n"),
        Some(patterns) => {
            let _infallible = writeln!(out, "  its signer is granted {}", patterns.join(", "));
        }
    }
    for skill in &pack.skills {
        let _infallible =
            writeln!(out, "skill {}  ({} beside it)", escaped(&skill.name), counted(skill.companions, "file"));
        match &skill.tools {
            None => out.push_str("  tools: whatever the host grants (no allowed-tools)\n"),
            Some(tools) if tools.is_empty() => out.push_str("  tools: none\n"),
            Some(tools) => {
                for tool in tools {
                    let _infallible = writeln!(out, "  tool {}", escaped(tool));
                }
            }
        }
        for command in &skill.injections {
            let _infallible = writeln!(out, "  runs {}", escaped(command));
        }
        for hook in &skill.hooks {
            let _infallible = writeln!(out, "  hook {}", escaped(hook));
        }
        if !skill.as_in_manifest {
            out.push_str("  the manifest says something else of it; the text is what counts\n");
        }
    }
    for file in &pack.files {
        let _infallible = writeln!(out, "file {:>10}  {}", size(file.bytes), escaped(&file.path));
    }
    if let Some(installed) = &pack.installed {
        let _infallible = writeln!(out, "installed: {} ({})", installed.version, installed.digest);
        match &installed.diff {
            Some(diff) if diff.files.is_empty() && diff.version.is_none() => out.push_str("nothing would change\n"),
            Some(diff) => out.push_str(&difference(diff)),
            None => out.push_str("what is installed cannot be read\n"),
        }
    }
    out
}

fn signed(signatures: &[PackSignatureOutput]) -> String {
    if signatures.is_empty() {
        return "  not signed\n".to_owned();
    }
    let line = |signature: &PackSignatureOutput| {
        let id = signature.id.as_ref().map(|id| format!(" `{}`", escaped(id))).unwrap_or_default();
        let standing = match signature.standing.as_str() {
            "counts" => "a key of the policy",
            "expired" => "its key is expired",
            "revoked" => "its key is revoked",
            _ => "no policy names its key",
        };
        format!("  signed by {}{id}: {standing}\n", signature.key)
    };
    signatures.iter().map(line).collect()
}

pub(super) fn verified(output: &PackVerifyOutput) -> String {
    match &output.reason {
        Some(reason) => format!("{} does not hold: {}\n", escaped(&output.pack), escaped(reason)),
        None => format!(
            "{} holds: {}, digest {}\n{}",
            escaped(&output.pack),
            counted(output.files, "file"),
            output.digest.as_deref().unwrap_or_default(),
            signed(&output.signatures)
        ),
    }
}

pub(super) fn difference(diff: &PackDiffOutput) -> String {
    let mut out = String::new();
    if let Some((old, new)) = &diff.version {
        let _infallible = writeln!(out, "version {old} -> {new}");
    }
    if diff.authority.is_empty() {
        out.push_str("It asks for the same.\n");
    } else {
        out.push_str(if diff.asks_for_more { "It asks for more:\n" } else { "It asks for less:\n" });
        for line in &diff.authority {
            let _infallible = writeln!(out, "  {}", escaped(line));
        }
    }
    for file in &diff.files {
        let _infallible = writeln!(out, "{} {}", file.kind, escaped(&file.path));
        if let Some(text) = &file.diff {
            out.push_str(&escaped_lines(text));
        }
    }
    out
}

pub(super) fn changed(output: &PackInstallOutput) -> String {
    let mut out = String::new();
    for pack in &output.packs {
        let version = pack.version.as_deref().unwrap_or_default();
        let _infallible = writeln!(out, "{} {version}  {}", pack.name, pack.outcome);
        if !pack.skills.is_empty() {
            let skills = pack.skills.iter().map(|name| escaped(name)).collect::<Vec<_>>().join(", ");
            let _infallible = writeln!(out, "  skills {skills}");
        }
        if let Some(diff) = &pack.diff {
            out.push_str(&difference(diff));
        }
    }
    if output.packs.is_empty() {
        out.push_str("No pack is installed.\n");
    }
    out
}

pub(super) fn listed(output: &PackListOutput) -> String {
    if output.packs.is_empty() {
        return "No pack is installed. `skillgate pack install SOURCE` installs one.\n".to_owned();
    }
    let mut out = String::new();
    for pack in &output.packs {
        let _infallible = writeln!(out, "{:<24} {:<12} {}", pack.name, pack.version, pack.state);
        if let Some(reason) = &pack.reason {
            let _infallible = writeln!(out, "  {}", escaped(reason));
        }
        let skills = pack.skills.iter().map(|name| escaped(name)).collect::<Vec<_>>().join(", ");
        let _infallible = writeln!(out, "  skills {skills}");
        let _infallible = writeln!(out, "  from {} ({})", escaped(&pack.source.location), pack.source.kind);
        if pack.reason.is_none() {
            out.push_str(&signed(&pack.signatures));
            if pack.granted.is_none() {
                out.push_str("  text only: nothing in its skills runs\n");
            }
        }
    }
    out
}

pub(super) fn outdated(output: &PackOutdatedOutput) -> String {
    let line = |pack: &crate::output::PackOutdatedEntryOutput| {
        let found = match (pack.state.as_str(), &pack.found, &pack.reason) {
            ("current", ..) => "is what its source has".to_owned(),
            ("changed", ..) => "its source has other content under the same version".to_owned(),
            (_, Some(found), _) => format!("its source has {found}"),
            (.., reason) => format!("its source cannot be read: {}", escaped(reason.as_deref().unwrap_or_default())),
        };
        format!("{:<24} {:<12} {found}\n", pack.name, pack.version)
    };
    if output.packs.is_empty() { "No pack is installed.\n".to_owned() } else { output.packs.iter().map(line).collect() }
}

pub(super) fn tested(output: &PackTestOutput) -> String {
    let mut out = String::new();
    for case in output.cases.iter() {
        let word = if case.passed { "ok" } else { "FAILED" };
        let _infallible = writeln!(out, "{word:<7} {:<8} {}", case.kind, escaped(&case.about));
        if let Some(reason) = &case.reason {
            let _infallible = writeln!(out, "        {}", escaped(reason));
        }
    }
    let _infallible = writeln!(out, "{}, {} failed", counted(output.cases.len(), "case"), output.failed);
    out
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{} KiB", bytes / 1_024),
        _ => format!("{} MiB", bytes / 1_048_576),
    }
}
