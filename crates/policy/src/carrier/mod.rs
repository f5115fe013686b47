//! Commands that run other programs or reach around the gate: a prefix pattern never covers them.
//!
//! The tables say what is known; what is not known counts as plain, because a pattern that names a program grants that program.

mod awk;
mod git;
mod sed;
mod table;

use crate::request::Known;
pub(crate) use awk::awk_is_plain;
use git::git_is_plain;
pub(crate) use sed::sed_is_plain;
use table::{ALWAYS, FAMILIES, Family, RISKY, Risky};

/// Why a command counts as one that runs other programs or reaches around the gate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Carrier {
    /// The command's name.
    pub command: String,
    /// What it does, as the rest of a sentence.
    pub does: &'static str,
}

/// Says whether a command, as far as its vector is known, runs other programs: what is found holds for every value of the
/// unknown words. Where a word's meaning depends on an unknown one before it, nothing is found yet; the whole vector is looked
/// at again when it exists.
#[must_use]
pub fn carrier(vector: &[Known<'_>]) -> Option<Carrier> {
    let (Known::Text(command), rest) = vector.split_first()? else { return None };
    let name = plain_name(command);
    let found = |does| Some(Carrier { command: name.clone(), does });
    let known = |name: &str| ALWAYS.binary_search(&name).is_ok();
    if known(&name) || known(without_version(&name)) || name.starts_with("ld-linux") || name.starts_with("ld-musl") {
        return found("runs what its arguments say");
    }
    let name = if is_listed(&name) { name.as_str() } else { without_version(&name) };
    let texts = || {
        rest.iter().filter_map(|word| match word {
            Known::Text(text) => Some(*text),
            Known::Unknown => None,
        })
    };
    let whole = !rest.contains(&Known::Unknown);
    match name {
        _ if !whole => {}
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" if !awk_is_plain(texts()) => {
            return found("has a program that may run commands or open files");
        }
        "sed" | "gsed" if !sed_is_plain(texts()) => {
            return found("has a script that may run commands or open files");
        }
        "git" if !git_is_plain(texts()) => {
            return found("sets configuration, runs programs or writes a file by option");
        }
        "tar" | "gtar" | "bsdtar" if tar_reaches_out(texts()) => {
            return found("runs programs");
        }
        _ => {}
    }
    if let Some(family) = FAMILIES.iter().find(|family| family.commands.contains(&name)) {
        return if runs_by_subcommand(family, rest) {
            found("has a subcommand or an option that runs programs")
        } else {
            None
        };
    }
    let risky = RISKY.iter().find(|risky| risky.commands.contains(&name))?;
    if texts().any(|word| is_risky(risky, word)) { found(risky.does) } else { None }
}

/// The command's name as every platform may take it: without its directory, its case and its executable's ending.
fn plain_name(command: &str) -> String {
    let name = command.rsplit(['/', '\\']).next().unwrap_or(command).to_ascii_lowercase();
    let ending = [".exe", ".cmd", ".bat", ".com"].iter().find_map(|ending| name.strip_suffix(ending));
    ending.map_or_else(|| name.clone(), str::to_owned)
}

/// `python3.12`, `gcc-13` and `ruby3.2` without their version.
fn without_version(name: &str) -> &str {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if bare.len() == name.len() { name } else { bare.trim_end_matches('-') }
}

fn is_listed(name: &str) -> bool {
    FAMILIES.iter().any(|family| family.commands.contains(&name))
        || RISKY.iter().any(|risky| risky.commands.contains(&name))
}

/// Whether the subcommand is not a plain one, or an option makes it another. What stands before an unknown word is decided;
/// what follows is looked at again.
fn runs_by_subcommand(family: &Family, rest: &[Known<'_>]) -> bool {
    let by_option = |word: &&Known<'_>| match word {
        Known::Text(word) => {
            let body = word.strip_prefix("--").or_else(|| word.strip_prefix('-'));
            let name = body.map(|body| body.split('=').next().unwrap_or(body));
            name.is_some_and(|name| family.long.contains(&name))
        }
        Known::Unknown => false,
    };
    if rest.iter().any(|word| by_option(&word)) {
        return true;
    }
    match rest.first() {
        None | Some(Known::Unknown | Known::Text("--version" | "--help" | "-V" | "-h")) => false,
        Some(Known::Text(subcommand)) => family.plain.binary_search(subcommand).is_err(),
    }
}

/// Whether a tar command line names another machine, or a letter of its bundled first word runs a program.
fn tar_reaches_out<'a>(words: impl Iterator<Item = &'a str>) -> bool {
    words.enumerate().any(|(at, word)| {
        let bundled = at == 0 && !word.starts_with('-') && word.contains(['I', 'F', 'T']);
        bundled || (word.contains(':') && !word.starts_with("--"))
    })
}

fn is_risky(risky: &Risky, word: &str) -> bool {
    if risky.words.contains(&word) {
        return true;
    }
    if let Some(body) = word.strip_prefix("--") {
        let name = body.split('=').next().unwrap_or(body);
        // An abbreviation counts as the option it may stand for.
        return !name.is_empty() && risky.long.iter().any(|long| long.starts_with(name));
    }
    match word.strip_prefix('-') {
        Some(cluster) if !risky.short.is_empty() => cluster.chars().any(|c| risky.short.contains(c)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_for_the_binary_search() {
        assert!(ALWAYS.is_sorted());
        assert!(FAMILIES.iter().all(|family| family.plain.is_sorted()));
    }

    #[test]
    fn carriers_are_told_from_plain_uses() {
        for (line, is_carrier) in [
            ("env x", true),
            ("/usr/bin/env x", true),
            ("sh -c ls", true),
            ("python3.12 x", true),
            ("find . -name x", false),
            ("find . -execdir x ;", true),
            ("git log --oneline", false),
            ("git log -p -c", false),
            ("git -p log", true),
            ("git -C /x log", true),
            ("git bisect run x", true),
            ("git log run", false),
            ("git switch -c x", false),
            ("awk /\"/{system(\"id\")}/\"/", true),
            ("git config core.fsmonitor x", true),
            ("git config --get user.name", false),
            ("git config user.name", false),
            ("git config --unset user.name", true),
            ("git rebase -ix make", true),
            ("git grep -nOvi x", true),
            ("git archive -o x HEAD", true),
            ("git log -- x", false),
            ("git -c x=y log", true),
            ("git log --ext-d", true),
            ("git rebase -x make", true),
            ("git log --output=x", true),
            ("tar -tf x", false),
            ("tar --checkpoint-act=exec=sh -cf x", true),
            ("tar -xIgz x", true),
            ("sort -u", false),
            ("sort --comp=sh", true),
            ("sort -uo x", true),
            ("awk {print$1}", false),
            ("awk -F: {print$1} x", false),
            ("awk BEGIN{system(\"id\")}", true),
            ("awk -f x", true),
            ("awk {print>\"x\"}", true),
            ("awk {print\"|\"}", false),
            ("sed -n 1,5p", false),
            ("sed s/a/b/g", false),
            ("sed s/a/b/e", true),
            ("sed s/a/b/w", true),
            ("sed 1e", true),
            ("sed r/etc/passwd", true),
            ("sed -f x", true),
            ("sed -i s/a/b/", true),
            ("sed s/[/]/x/p", true),
            ("sed s/[a-z]/x/", false),
            ("sed s,a,b,w,x", true),
            ("tar xIf sh x", true),
            ("tar xf x", false),
            ("tar -tf host:x", true),
            ("tar -T x -cf y", true),
            ("jq -rf x", true),
            ("git st", true),
            ("git clone ext::sh", true),
            ("git fetch ext::sh", true),
            ("git fetch --upload-pack=sh x", true),
            ("git -O less log", true),
            ("git cat-file --filters x", true),
            ("git commit -m x", false),
            ("fd x", false),
            ("fd -x rm", true),
            ("fd --exec rm", true),
            ("fd --exec-b rm", true),
            ("docker ps", false),
            ("docker run x", true),
            ("docker exec x sh", true),
            ("docker -H x ps", true),
            ("kubectl get pods", false),
            ("kubectl exec x -- sh", true),
            ("kubectl get --kubeconfig=x", true),
            ("cargo test", false),
            ("cargo run", true),
            ("cargo +nightly test", true),
            ("cargo test --config build.rustc-wrapper=x", true),
            ("cargo xtask x", true),
            ("npm run test", false),
            ("npm exec x", true),
            ("npm install x", true),
            ("npm run x --script-shell=x", true),
            ("pip list", false),
            ("pip install x", true),
            ("pip3.12 install x", true),
            ("go test ./...", false),
            ("go test -exec x", true),
            ("go run x", true),
            ("go vet -vettool=x", true),
            ("gh pr list", false),
            ("gh alias set x !ls", true),
            ("gh extension exec x", true),
            ("rsync -e sh x y", true),
            ("curl -o x y", true),
            ("curl https://example.com", false),
            ("SUDO ls", true),
            ("env.exe ls", true),
            ("gcc-13 x.c", true),
            ("clang++-17 x.c", true),
            ("ruby3.2 x", true),
            ("node18 -e x", true),
            ("php8.2 -r x", true),
            ("ld-linux-x86-64.so.2 x", true),
            ("nvim x", true),
            ("emacs --batch", true),
            ("ed x", true),
            ("just test", true),
            ("parallel ls", true),
            ("script -c ls", true),
            ("bunx x", true),
            ("uvx x", true),
            ("perl -e x", true),
            ("lua -e x", true),
            ("gdb x", true),
            ("ltrace ls", true),
            ("unshare ls", true),
            ("systemd-run ls", true),
            ("at now", true),
            ("crontab x", true),
            ("doas ls", true),
            ("su -c ls", true),
            ("tmux new ls", true),
            ("screen ls", true),
            ("entr ls", true),
            ("man ls", true),
            ("less x", true),
            ("stdbuf -oL ls", true),
            ("ls -l", false),
            ("head -5 x", false),
            ("cat x", false),
            ("jq .x", false),
            ("jq -f x", true),
        ] {
            let words: Vec<Known<'_>> = line.split(' ').map(Known::Text).collect();
            assert_eq!(carrier(&words).is_some(), is_carrier, "{line}");
        }
    }
}
