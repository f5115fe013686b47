//! A home and a project of their own for each test, and the command in them.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub(crate) struct World {
    root: tempfile::TempDir,
}

pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl World {
    /// A world with these files; each begins with a line `@ PATH` below `home/` or `project/`.
    pub(crate) fn new(tree: &str) -> Self {
        let root = tempfile::tempdir().expect("a directory");
        for name in ["home", "project"] {
            std::fs::create_dir(root.path().join(name)).expect("a directory");
        }
        let world = Self { root };
        for part in
            tree.split("\n@ ").flat_map(|part| part.strip_prefix("@ ").or(Some(part))).filter(|part| !part.is_empty())
        {
            let (path, text) = part.split_once('\n').unwrap_or((part, ""));
            world.write(path.trim(), &format!("{}\n", text.trim_end_matches('\n')));
        }
        world
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.root.path().join(below)
    }

    pub(crate) fn write(&self, below: &str, text: &str) {
        let path = self.path(below);
        std::fs::create_dir_all(path.parent().expect("below the root")).expect("a directory");
        std::fs::write(path, text).expect("a file");
    }

    /// The administrator's directory: the world's own when it has one.
    fn managed(&self) -> PathBuf {
        let own = self.path("managed");
        if own.exists() { own } else { PathBuf::from("/nonexistent") }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.command_in(&shared_store(), arguments)
    }

    /// The command with a store that no other test uses; [`World::own_store`] makes it.
    pub(crate) fn in_own_store(&self, arguments: &[&str]) -> Command {
        self.command_in(&self.path("store"), arguments)
    }

    /// Makes a store of the world's own, with the compiled components of the shared one: compiling takes longer than the test.
    pub(crate) fn own_store(&self) {
        let compiled = self.run(&["--allow", "Bash(cat:*)", "sandbox", "run", "--", "cat"]);
        assert_eq!(compiled.status, 0, "{}", compiled.stderr);
        let (from, to) = (shared_store().join("components"), self.path("store/components"));
        std::fs::create_dir_all(&to).expect("a directory");
        #[cfg(unix)]
        for directory in [self.path("store"), to.clone()] {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o700)).expect("a mode");
        }
        for entry in std::fs::read_dir(from).expect("the components").flatten() {
            if !entry.file_name().to_string_lossy().starts_with('.') {
                std::fs::copy(entry.path(), to.join(entry.file_name())).expect("a copy");
            }
        }
    }

    fn command_in(&self, store: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skillgate"));
        command
            .env_clear()
            .env("HOME", self.path("home"))
            // Tests are about their own skills; those that come with the command have tests that ask for them.
            .env("SKILLGATE_DISABLE_BUNDLED_SKILLS", "1")
            .arg("--managed")
            .arg(self.managed())
            .arg("--store")
            .arg(store)
            .args(arguments)
            .current_dir(self.path("project"))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        ran(self.command(arguments).output().expect("the command starts"))
    }

    /// Runs with `--format json`, validates what is printed against the verb's schema, and gives it.
    pub(crate) fn json(&self, schema: &str, arguments: &[&str]) -> (i32, Value) {
        let ran = self.run(&[&["--format", "json"], arguments].concat());
        let value: Value = serde_json::from_str(&ran.stdout)
            .unwrap_or_else(|error| unreachable!("{arguments:?}: {error}\n{}\n{}", ran.stdout, ran.stderr));
        validate(schema, &value);
        (ran.status, value)
    }
}

fn shared_store() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("store")
}

pub(crate) fn ran(output: Output) -> Ran {
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    Ran {
        status: output.status.code().expect("the command was not killed"),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// Where the committed schemas are.
pub(crate) fn schemas() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas")
}

/// The committed schema of a verb.
pub(crate) fn schema(name: &str) -> Value {
    let path = schemas().join(format!("{name}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| unreachable!("{}: {error}", path.display()));
    serde_json::from_str(&text).expect("a schema is JSON")
}

pub(crate) fn validate(name: &str, value: &Value) {
    let validator = jsonschema::validator_for(&schema(name)).expect("the schema is a schema");
    let errors: Vec<String> = validator.iter_errors(value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{name}: {errors:?}\n{value:#}");
}
