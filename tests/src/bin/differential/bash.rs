//! Programs in bash.

#![expect(clippy::disallowed_methods, reason = "it starts bash, in a directory of its own")]

use skillgate_tests::memory::{COMPLAINT, HOME};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a program gave.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) vectors: Vec<Vec<String>>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) status: u8,
}

/// Stands for a line end in the vectors: bash writes out what it has at each line end, and stages of a pipeline write at once.
const LINE_END: char = '\u{2}';

/// The commands of the in-memory backend as functions, each of which writes its vector into descriptor 9; then every program in
/// a subshell of its own. `eval` reads a program as `bash -c` does.
const DRIVER: &str = r#"
args() { builtin printf '%s\0' "$#" args "${@//$__lf/$__mark}" >&9; if (($#)); then builtin printf '[%s]' "$@"; fi; builtin printf '\n'; }
cat() {
    builtin printf '%s\0' "$#" cat "${@//$__lf/$__mark}" >&9
    local __line
    while IFS= read -r __line; do builtin printf '%s\n' "$__line"; done
    builtin printf %s "$__line"
}
fail() { builtin printf '%s\0' "$#" fail "${@//$__lf/$__mark}" >&9; builtin printf %s "$__complaint" >&2; return "${1:-1}"; }
envof() {
    builtin printf '%s\0' "$#" envof "${@//$__lf/$__mark}" >&9
    local -
    set +eu
    case ${!1@a} in *x*) builtin printf '%s=%s\n' "$1" "${!1}" ;; *) builtin printf '%s is not there\n' "$1" ;; esac
}
printf() { builtin printf '%s\0' "$#" printf "${@//$__lf/$__mark}" >&9; builtin printf "$@"; }
ulimit -f 10240 -t 60
__here=$PWD __lf=$'\n' __mark=$'\x02'
PATH=/nonexistent
for ((__at = 0; __at < __count; __at++)); do
    exec 9>>"$__place/$__at.vectors"
    IFS= read -r -d '' __program <"$__place/$__at"
    ( cd "$__here"; OLDPWD=; unset OLDPWD; set --; eval "$__program" ) >"$__place/$__at.stdout" 2>/dev/null </dev/null
    echo $? >"$__place/$__at.status"
done
"#;

/// The first line of `bash --version`.
pub(crate) fn version() -> Result<String, String> {
    let output =
        Command::new("bash").arg("--version").output().map_err(|error| format!("bash cannot be started: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or("bash").to_owned())
}

/// Evaluates programs in `directory`, one after the other, and gives what each did. `place` is an empty directory.
pub(crate) fn evaluate(programs: &[&str], directory: &Path, place: &Path) -> Result<Vec<Answer>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", place.display());
    for (at, program) in programs.iter().enumerate() {
        // A carriage return that ends a line is part of the line end in the capability shell, and a character in bash.
        let text = program.replace("\r\n", "\n");
        fs::write(place.join(at.to_string()), text).map_err(failed)?;
    }
    let status = Command::new("bash")
        .args(["--noprofile", "--norc", "-c", DRIVER, "skillgate"])
        .current_dir(directory)
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .env("HOME", HOME)
        .env("LC_ALL", "C.UTF-8")
        .env("__place", place)
        .env("__count", programs.len().to_string())
        .env("__complaint", COMPLAINT)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|error| format!("bash cannot be started: {error}"))?;
    if !status.success() {
        return Err(format!("bash ended with {status}"));
    }
    (0..programs.len())
        .map(|at| {
            let read = |what: &str| {
                let path = place.join(format!("{at}.{what}"));
                let bytes = fs::read(&path).map_err(failed)?;
                fs::remove_file(path).map_err(failed)?;
                Ok::<_, String>(bytes)
            };
            let status = read("status")?;
            let status =
                String::from_utf8_lossy(&status).trim().parse().map_err(|_| "bash gave no status".to_owned())?;
            Ok(Answer { vectors: vectors(&read("vectors")?)?, stdout: read("stdout")?, status })
        })
        .collect()
}

/// Vectors as the functions write them: the number of the words behind the name, the name, the words, each with a NUL.
fn vectors(bytes: &[u8]) -> Result<Vec<Vec<String>>, String> {
    let text = String::from_utf8_lossy(bytes);
    let mut words = text.split_terminator('\0');
    let mut vectors = Vec::new();
    while let Some(count) = words.next() {
        let count: usize = count.parse().map_err(|_| format!("bash wrote a vector that begins with {count:?}"))?;
        vectors.push(words.by_ref().take(count + 1).map(|word| word.replace(LINE_END, "\n")).collect());
    }
    Ok(vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_read_as_they_are_written() {
        let read = vectors(b"0\0args\x002\0cat\0a b\0\0").expect("two vectors");
        assert_eq!(read, [vec!["args"], vec!["cat", "a b", ""]]);
        assert!(vectors(b"x\0").is_err());
    }
}
