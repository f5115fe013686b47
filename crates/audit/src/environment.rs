//! What the suite was run on: a report without it proves nothing about another machine.

use serde::Serialize;
use skillgate_core::Limits;
use std::collections::BTreeMap;
use std::path::Path;

/// What whoever runs the suite knows and the suite does not.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The version of the program.
    pub version: String,
    /// The program.
    pub binary: String,
    /// The command components, by name, with their digests.
    pub packs: BTreeMap<String, String>,
    /// The policy files that are in force.
    pub policy: Vec<String>,
}

/// What a report was made on.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Environment {
    /// The version of Skillgate.
    pub version: String,
    /// The program that ran the suite.
    pub binary: String,
    /// The command components, by name, with their digests.
    pub packs: BTreeMap<String, String>,
    /// The suite's own native programs.
    pub probes: Option<String>,
    /// The machine's kernel and what it offers.
    pub kernel: Kernel,
    /// The user the suite ran as.
    pub uid: Option<u32>,
    /// The capabilities that user has, as the kernel writes them.
    pub capabilities: Option<String>,
    /// The policy files in force.
    pub policy: Vec<String>,
    /// The limits in force, by name.
    pub limits: BTreeMap<String, u64>,
}

/// What the kernel says of itself; what it does not say is absent.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Kernel {
    /// The system's name: `Linux`.
    pub system: String,
    /// The release.
    pub release: Option<String>,
    /// The processor's architecture.
    pub machine: String,
    /// The version of Landlock's interface, 0 where there is none.
    pub landlock_abi: Option<u32>,
    /// How many user namespaces there may be, 0 where they are switched off.
    pub user_namespaces: Option<u64>,
    /// Whether users without privileges may make user namespaces, as far as the kernel and AppArmor say.
    pub unprivileged_user_namespaces: Option<bool>,
    /// The kinds of namespaces.
    pub namespaces: Vec<String>,
    /// The version of control groups that processes are in: 1 or 2.
    pub cgroup: Option<u32>,
    /// The control groups of this process.
    pub cgroups: Vec<String>,
    /// What seccomp can answer.
    pub seccomp_actions: Vec<String>,
    /// The security modules.
    pub security_modules: Vec<String>,
}

impl Environment {
    pub(crate) fn read(about: &About, limits: &Limits, probes: Option<&Path>, landlock_abi: Option<u32>) -> Self {
        let status = read("/proc/self/status").unwrap_or_default();
        Self {
            version: about.version.clone(),
            binary: about.binary.clone(),
            packs: about.packs.clone(),
            probes: probes.map(|path| path.display().to_string()),
            kernel: Kernel::read(landlock_abi),
            uid: status_field(&status, "Uid").and_then(|ids| ids.split_whitespace().nth(1)?.parse().ok()),
            capabilities: status_field(&status, "CapEff").map(str::to_owned),
            policy: about.policy.clone(),
            limits: limits.entries().into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        }
    }
}

impl Kernel {
    fn read(landlock_abi: Option<u32>) -> Self {
        let words = |path: &str| -> Vec<String> {
            let text = read(path).unwrap_or_default();
            text.split([',', ' ', '\n']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
        };
        let groups = read("/proc/self/cgroup").unwrap_or_default();
        let mut namespaces: Vec<String> = std::fs::read_dir("/proc/self/ns")
            .map(|entries| {
                let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
                names.filter(|name| !name.ends_with("_for_children")).collect()
            })
            .unwrap_or_default();
        namespaces.sort_unstable();
        Self {
            system: if cfg!(target_os = "linux") { "Linux".to_owned() } else { std::env::consts::OS.to_owned() },
            release: line("/proc/sys/kernel/osrelease"),
            machine: std::env::consts::ARCH.to_owned(),
            landlock_abi,
            user_namespaces: number("/proc/sys/user/max_user_namespaces"),
            unprivileged_user_namespaces: unprivileged_user_namespaces(),
            namespaces,
            cgroup: cgroup_version(&groups),
            cgroups: groups.lines().map(str::to_owned).collect(),
            seccomp_actions: words("/proc/sys/kernel/seccomp/actions_avail"),
            security_modules: words("/sys/kernel/security/lsm"),
        }
    }
}

/// Debian's switch and AppArmor's; a kernel that has neither permits them.
fn unprivileged_user_namespaces() -> Option<bool> {
    number("/proc/sys/user/max_user_namespaces")?;
    let allowed = number("/proc/sys/kernel/unprivileged_userns_clone").is_none_or(|value| value == 1);
    let restricted = number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").is_some_and(|value| value != 0);
    Some(allowed && !restricted)
}

/// Version 2 is the hierarchy that is written `0::`; with controllers in others, processes are in version 1.
fn cgroup_version(groups: &str) -> Option<u32> {
    let with_controllers = groups.lines().any(|line| line.split(':').nth(1).is_some_and(|names| !names.is_empty()));
    match (with_controllers, groups.is_empty()) {
        (_, true) => None,
        (true, _) => Some(1),
        (false, _) => Some(2),
    }
}

pub(crate) fn status_field<'s>(status: &'s str, name: &str) -> Option<&'s str> {
    status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':').map(str::trim))
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

fn line(path: &str) -> Option<String> {
    read(path).map(|text| text.trim().to_owned())
}

fn number(path: &str) -> Option<u64> {
    line(path)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_groups_and_fields_are_told_apart() {
        assert_eq!(cgroup_version("0::/user.slice\n"), Some(2));
        assert_eq!(cgroup_version("3:memory:/a\n0::/\n"), Some(1));
        assert_eq!(cgroup_version(""), None);
        assert_eq!(status_field("Name:\tx\nUid:\t1\t2\t3\t4\n", "Uid"), Some("1\t2\t3\t4"));
        assert_eq!(status_field("Uidx:\t1\n", "Uid"), None);
    }
}
