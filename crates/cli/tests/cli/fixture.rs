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

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let store = Path::new(env!("CARGO_TARGET_TMPDIR")).join("store");
        let mut command = Command::new(env!("CARGO_BIN_EXE_skillgate"));
        command
            .env_clear()
            .env("HOME", self.path("home"))
            .args(["--managed", "/nonexistent", "--store"])
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

pub(crate) fn ran(output: Output) -> Ran {
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    Ran {
        status: output.status.code().expect("the command was not killed"),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// The committed schema of a verb.
pub(crate) fn schema(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas").join(format!("{name}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| unreachable!("{}: {error}", path.display()));
    serde_json::from_str(&text).expect("a schema is JSON")
}

pub(crate) fn validate(name: &str, value: &Value) {
    let validator = jsonschema::validator_for(&schema(name)).expect("the schema is a schema");
    let errors: Vec<String> = validator.iter_errors(value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{name}: {errors:?}\n{value:#}");
}
