use crate::plan::{Action, Mount, MountKind, Plan};
use std::collections::HashSet;

/// Directories that the helper fills itself.
const RESERVED: [&str; 2] = ["/dev", "/proc"];
/// The greatest size of an argument vector with its environment, bytes; the kernel takes no more under the stack limits in use.
const MAX_VECTOR_BYTES: usize = 1 << 20;

/// How a [`Plan`] contradicts itself.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A path is not absolute, or has a component that could lead elsewhere.
    #[error("`{path}` is not an absolute path without `.`, `..`, empty and NUL parts")]
    Path {
        /// The path.
        path: String,
    },
    /// A hidden path is not one below its mount.
    #[error("`{path}`, hidden in `{mount}`, is not a path below it")]
    Hidden {
        /// The mount.
        mount: String,
        /// The path.
        path: String,
    },
    /// Two parts of the plan want the same place.
    #[error("`{path}` is named twice")]
    Twice {
        /// The place.
        path: String,
    },
    /// A place is the root, or one that the helper fills itself.
    #[error("`{path}` is the sandbox's own")]
    Reserved {
        /// The place.
        path: String,
    },
    /// A mount would cover one that comes before it.
    #[error("`{path}` would cover `{covered}`, which is mounted before it")]
    Covers {
        /// The mount.
        path: String,
        /// The earlier one.
        covered: String,
    },
    /// Something is to be made where a mount from the host is.
    #[error("`{path}` lies in the read-only mount `{mount}`")]
    InsideMount {
        /// The place.
        path: String,
        /// The mount.
        mount: String,
    },
    /// A writable directory lies in no mount.
    #[error("`{path}` is to be writable and lies in no mounted directory")]
    WritableNotMounted {
        /// The directory.
        path: String,
    },
    /// The program starts in a directory that is not there.
    #[error("the program is to start in `{path}`, which is not there")]
    Directory {
        /// The directory.
        path: String,
    },
    /// The program lies in no mount.
    #[error("the program `{path}` lies in no mount")]
    ProgramNotMounted {
        /// Its path.
        path: String,
    },
    /// The program lies where nothing may be executed.
    #[error("the program `{path}` lies in `{mount}`, where nothing may be executed")]
    ProgramNotExecutable {
        /// Its path.
        path: String,
        /// The mount.
        mount: String,
    },
    /// The vector or the environment cannot be passed to a program.
    #[error("{what} cannot be passed to a program")]
    Vector {
        /// What is wrong.
        what: &'static str,
    },
    /// A bound is zero.
    #[error("the limit `{name}` is zero")]
    Limit {
        /// Its name.
        name: &'static str,
    },
    /// The helper would stay root.
    #[error("the run's user or group is root")]
    Root,
}

impl Plan {
    /// Whether the plan can be carried out as it says, before anything is started.
    ///
    /// # Errors
    /// The first contradiction.
    pub fn validate(&self) -> Result<(), PlanError> {
        if self.user.uid == 0 || self.user.gid == 0 {
            return Err(PlanError::Root);
        }
        self.places()?;
        self.bounds()?;
        if self.directory != "/" {
            normal(&self.directory)?;
            let there = |place: &str| is_below(&self.directory, place);
            let mounted = self.mounts.iter().any(|mount| mount.kind == MountKind::Directory && there(&mount.target));
            if !mounted && !self.private.iter().any(|path| there(path)) {
                return Err(PlanError::Directory { path: self.directory.clone() });
            }
        }
        self.program()
    }

    fn places(&self) -> Result<(), PlanError> {
        let mut taken = HashSet::new();
        let mut take = |path: &str| {
            normal(path)?;
            if path == "/" || RESERVED.iter().any(|reserved| is_below(path, reserved)) {
                return Err(PlanError::Reserved { path: path.to_owned() });
            }
            if taken.insert(path.to_owned()) { Ok(()) } else { Err(PlanError::Twice { path: path.to_owned() }) }
        };
        for path in &self.private {
            take(path)?;
        }
        for (at, mount) in self.mounts.iter().enumerate() {
            normal(&mount.source)?;
            take(&mount.target)?;
            if let Some(earlier) = self.mounts[..at].iter().find(|earlier| is_below(&earlier.target, &mount.target)) {
                return Err(PlanError::Covers { path: mount.target.clone(), covered: earlier.target.clone() });
            }
            for path in &mount.hidden {
                if path.is_empty() || normal(&format!("/{path}")).is_err() || mount.kind == MountKind::File {
                    return Err(PlanError::Hidden { mount: mount.target.clone(), path: path.clone() });
                }
            }
        }
        for path in &self.private {
            if let Some(mount) = self.mount_of(path) {
                return Err(PlanError::InsideMount { path: path.clone(), mount: mount.target.clone() });
            }
        }
        let made = self.links.iter().map(|link| &link.path).chain(self.files.iter().map(|file| &file.path));
        for path in made {
            take(path)?;
            // In a private directory it is private itself; in a mount nothing can be made.
            if let Some(mount) = self.mount_of(path) {
                return Err(PlanError::InsideMount { path: path.clone(), mount: mount.target.clone() });
            }
        }
        for directory in &self.writable {
            normal(&directory.path)?;
            let mount = self.mount_of(&directory.path).filter(|mount| mount.kind == MountKind::Directory);
            let covered = |mount: &Mount| mount.hidden.iter().any(|path| is_below(&directory.path, &join(mount, path)));
            if mount.is_none_or(covered) {
                return Err(PlanError::WritableNotMounted { path: directory.path.clone() });
            }
        }
        for (at, directory) in self.writable.iter().enumerate() {
            let mut others = self.writable[..at].iter().chain(&self.writable[at + 1..]);
            if let Some(other) = others.find(|other| is_below(&directory.path, &other.path)) {
                return Err(PlanError::Covers { path: other.path.clone(), covered: directory.path.clone() });
            }
        }
        Ok(())
    }

    fn bounds(&self) -> Result<(), PlanError> {
        let limits = [
            ("scratch.bytes", self.scratch.bytes),
            ("scratch.inodes", self.scratch.inodes),
            ("memory_bytes", self.limits.memory_bytes),
            ("cpu_seconds", self.limits.cpu_seconds),
            ("file_bytes", self.limits.file_bytes),
            ("open_files", self.limits.open_files),
            ("processes", self.limits.processes),
            ("stack_bytes", self.limits.stack_bytes),
        ];
        match limits.into_iter().find(|(_, number)| *number == 0) {
            Some((name, _)) => Err(PlanError::Limit { name }),
            None => Ok(()),
        }
    }

    fn program(&self) -> Result<(), PlanError> {
        let Action::Run(program) = &self.action else { return Ok(()) };
        normal(&program.path)?;
        let Some(mount) = self.mount_of(&program.path) else {
            return Err(PlanError::ProgramNotMounted { path: program.path.clone() });
        };
        if !mount.executable {
            return Err(PlanError::ProgramNotExecutable { path: program.path.clone(), mount: mount.target.clone() });
        }
        let wrong = |what| Err(PlanError::Vector { what });
        if program.vector.is_empty() {
            return wrong("an empty vector");
        }
        if program.vector.iter().any(|word| word.contains('\0')) {
            return wrong("a word with a NUL");
        }
        let mut names = HashSet::new();
        for (name, value) in &program.environment {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                return wrong("an environment variable with an empty name, a `=` in its name, or a NUL");
            }
            if !names.insert(name) {
                return wrong("an environment variable that is there twice");
            }
        }
        let words = program.vector.iter().map(|word| word.len() + 1);
        let variables = program.environment.iter().map(|(name, value)| name.len() + value.len() + 2);
        if words.chain(variables).sum::<usize>() > MAX_VECTOR_BYTES {
            return wrong("a vector of more than 1 MiB with its environment");
        }
        Ok(())
    }

    /// The innermost mount that a path inside lies in.
    pub(crate) fn mount_of(&self, path: &str) -> Option<&Mount> {
        self.mounts.iter().filter(|mount| is_below(path, &mount.target)).max_by_key(|mount| mount.target.len())
    }
}

fn join(mount: &Mount, path: &str) -> String {
    format!("{}/{path}", mount.target)
}

/// Whether a path is `directory` or lies in it.
pub(crate) fn is_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn normal(path: &str) -> Result<(), PlanError> {
    let plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\0');
    let below = path.strip_prefix('/').is_some_and(|below| below.is_empty() || below.split('/').all(plain));
    if below { Ok(()) } else { Err(PlanError::Path { path: path.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{GeneratedFile, Link, Program, WritableDirectory};

    fn plan() -> Plan {
        let project = Mount { executable: false, owned: true, ..Mount::system("/srv/project") };
        Plan {
            mounts: vec![Mount::system("/usr"), project],
            links: vec![Link { path: "/bin".into(), to: "usr/bin".into() }],
            files: vec![GeneratedFile { path: "/etc/passwd".into(), content: String::new() }],
            directory: "/srv/project/src".into(),
            ..Plan::new("git", "/usr/bin/git")
        }
    }

    fn fault(change: impl FnOnce(&mut Plan)) -> PlanError {
        let mut plan = plan();
        change(&mut plan);
        plan.validate().expect_err("it contradicts itself")
    }

    fn program(plan: &mut Plan) -> &mut Program {
        match &mut plan.action {
            Action::Run(program) => program,
            Action::SelfTest(_) => panic!("the plan of these tests runs a program"),
        }
    }

    #[test]
    fn a_plan_without_contradictions_is_taken() {
        assert_eq!(plan().validate(), Ok(()));
        assert_eq!(plan().testing(crate::SelfTest::default()).validate(), Ok(()));
    }

    #[test]
    fn contradictions_are_named() {
        let path = |path: &str| path.to_owned();
        for wrong in ["usr", "", "/a/../b", "/a//b", "/a/.", "/a/", "/a\0b"] {
            assert_eq!(fault(|plan| plan.mounts[0].source = path(wrong)), PlanError::Path { path: path(wrong) });
            assert_eq!(fault(|plan| plan.mounts[0].target = path(wrong)), PlanError::Path { path: path(wrong) });
            assert_eq!(fault(|plan| program(plan).path = path(wrong)), PlanError::Path { path: path(wrong) });
        }
        for own in ["/", "/proc", "/proc/self", "/dev/null"] {
            assert_eq!(fault(|plan| plan.mounts[1].target = path(own)), PlanError::Reserved { path: path(own) });
        }
        assert_eq!(fault(|plan| plan.links[0].path = path("/usr")), PlanError::Twice { path: path("/usr") });
        assert_eq!(fault(|plan| plan.mounts[1].target = path("/usr")), PlanError::Twice { path: path("/usr") });
        assert_eq!(
            fault(|plan| plan.mounts.push(Mount::system("/srv"))),
            PlanError::Covers { path: path("/srv"), covered: path("/srv/project") }
        );
        assert_eq!(
            fault(|plan| plan.private.push(path("/srv/project/x"))),
            PlanError::InsideMount { path: path("/srv/project/x"), mount: path("/srv/project") }
        );
        assert_eq!(
            fault(|plan| plan.files[0].path = path("/usr/x")),
            PlanError::InsideMount { path: path("/usr/x"), mount: path("/usr") }
        );
        for hidden in ["", "/x", "../x", "a//b", "a/.."] {
            assert_eq!(
                fault(|plan| plan.mounts[1].hidden.push(path(hidden))),
                PlanError::Hidden { mount: path("/srv/project"), path: path(hidden) }
            );
        }
        let writable = |path: &str| WritableDirectory { path: path.to_owned(), executable: false };
        assert_eq!(
            fault(|plan| plan.writable.push(writable("/srv/x"))),
            PlanError::WritableNotMounted { path: path("/srv/x") }
        );
        assert_eq!(
            fault(|plan| {
                plan.mounts[1].hidden.push(path("out"));
                plan.writable.push(writable("/srv/project/out/x"));
            }),
            PlanError::WritableNotMounted { path: path("/srv/project/out/x") }
        );
        assert_eq!(
            fault(|plan| plan.writable.extend([writable("/srv/project/a/b"), writable("/srv/project/a")])),
            PlanError::Covers { path: path("/srv/project/a"), covered: path("/srv/project/a/b") }
        );
        assert_eq!(fault(|plan| plan.directory = path("/srv")), PlanError::Directory { path: path("/srv") });
        assert_eq!(
            fault(|plan| program(plan).path = path("/opt/x")),
            PlanError::ProgramNotMounted { path: path("/opt/x") }
        );
        assert_eq!(
            fault(|plan| program(plan).path = path("/srv/project/x")),
            PlanError::ProgramNotExecutable { path: path("/srv/project/x"), mount: path("/srv/project") }
        );
        assert_eq!(fault(|plan| plan.limits.processes = 0), PlanError::Limit { name: "processes" });
        assert_eq!(fault(|plan| plan.scratch.bytes = 0), PlanError::Limit { name: "scratch.bytes" });
        assert_eq!(fault(|plan| plan.user.uid = 0), PlanError::Root);
    }

    #[test]
    fn a_vector_that_cannot_be_passed_is_refused() {
        let wrong = |change: &dyn Fn(&mut Program)| fault(|plan| change(program(plan)));
        let vector = |error: &PlanError| matches!(error, PlanError::Vector { .. });
        assert!(vector(&wrong(&|program| program.vector.clear())));
        assert!(vector(&wrong(&|program| program.vector.push("a\0b".into()))));
        assert!(vector(&wrong(&|program| program.vector.push("x".repeat(MAX_VECTOR_BYTES)))));
        for (name, value) in [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "\0")] {
            assert!(vector(&wrong(&|program| program.environment.push((name.into(), value.into())))), "{name}");
        }
        assert!(vector(&wrong(&|program| {
            program.environment.extend([("A".into(), "1".into()), ("A".into(), "2".into())]);
        })));
    }
}
