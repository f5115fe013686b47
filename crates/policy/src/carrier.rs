use crate::request::Known;

/// Why a command counts as one that runs other programs or reaches around the gate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Carrier {
    /// The command's name.
    pub command: String,
    /// What it does, as the rest of a sentence.
    pub does: &'static str,
}

/// Commands whose whole purpose is to run what their arguments say.
const ALWAYS: &[&str] = &[
    "ash",
    "bash",
    "bun",
    "bunx",
    "busybox",
    "chroot",
    "chrt",
    "command",
    "csh",
    "dash",
    "deno",
    "doas",
    "docker",
    "env",
    "eval",
    "exec",
    "expect",
    "fish",
    "flock",
    "gdb",
    "ionice",
    "ksh",
    "ld.so",
    "lua",
    "make",
    "man",
    "mksh",
    "nice",
    "node",
    "nohup",
    "npx",
    "nsenter",
    "osascript",
    "parallel",
    "perl",
    "php",
    "pkexec",
    "podman",
    "powershell",
    "pwsh",
    "python",
    "python2",
    "python3",
    "rlwrap",
    "rsync",
    "ruby",
    "runuser",
    "scp",
    "script",
    "setarch",
    "setpriv",
    "setsid",
    "sftp",
    "sh",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "taskset",
    "tclsh",
    "tcsh",
    "time",
    "timeout",
    "toybox",
    "unshare",
    "uv",
    "uvx",
    "vi",
    "view",
    "vim",
    "watch",
    "xargs",
    "yash",
    "zsh",
];

/// Options of one command that make it run, read or write what the pattern's author did not see.
struct Risky {
    command: &'static str,
    /// Long options, also when abbreviated or joined with `=`.
    long: &'static [&'static str],
    /// Words compared as they are, for commands such as `find`.
    words: &'static [&'static str],
    /// Short option letters, also inside a cluster.
    short: &'static str,
    does: &'static str,
}

const RISKY: &[Risky] = &[
    Risky {
        command: "find",
        long: &[],
        words: &[
            "-exec",
            "-execdir",
            "-ok",
            "-okdir",
            "-delete",
            "-fprint",
            "-fprint0",
            "-fprintf",
            "-fls",
            "-files0-from",
        ],
        short: "",
        does: "runs programs, deletes or writes files",
    },
    Risky {
        command: "tar",
        long: &[
            "--to-command",
            "--checkpoint-action",
            "--use-compress-program",
            "--rsh-command",
            "--info-script",
            "--new-volume-script",
        ],
        words: &[],
        short: "IF",
        does: "runs programs",
    },
    Risky {
        command: "sort",
        long: &["--compress-program", "--output", "--files0-from"],
        words: &[],
        short: "o",
        does: "runs a program or writes a file",
    },
    Risky {
        command: "rg",
        long: &["--pre", "--hostname-bin", "--search-zip"],
        words: &[],
        short: "z",
        does: "runs programs",
    },
    Risky {
        command: "jq",
        long: &["--from-file", "--rawfile", "--slurpfile", "--library-path"],
        words: &["-f", "-L"],
        short: "",
        does: "reads files or programs by option",
    },
    Risky { command: "less", long: &["--lesskey-file"], words: &[], short: "k", does: "runs programs" },
    Risky { command: "split", long: &["--filter"], words: &[], short: "", does: "runs a program" },
    Risky { command: "zip", long: &["--unzip-command"], words: &["-TT"], short: "", does: "runs a program" },
];

/// Says whether a command, as far as its vector is known, runs other programs: what is found holds for every value of the
/// unknown words. Where a word's meaning depends on an unknown one before it, nothing is found yet; the whole vector is looked
/// at again when it exists.
#[must_use]
pub fn carrier(vector: &[Known<'_>]) -> Option<Carrier> {
    let (Known::Text(command), rest) = vector.split_first()? else { return None };
    let name = command.rsplit('/').next().unwrap_or(command);
    let found = |does| Some(Carrier { command: name.to_owned(), does });
    if ALWAYS.binary_search(&name).is_ok() || name.starts_with("python3.") {
        return found("runs what its arguments say");
    }
    let texts = || {
        rest.iter().filter_map(|word| match word {
            Known::Text(text) => Some(*text),
            Known::Unknown => None,
        })
    };
    let whole = !rest.contains(&Known::Unknown);
    match name {
        _ if !whole => {}
        "awk" | "gawk" | "mawk" | "nawk" if !awk_is_plain(texts()) => {
            return found("has a program that may run commands or open files");
        }
        "sed" | "gsed" if !sed_is_plain(texts()) => {
            return found("has a script that may run commands or open files");
        }
        "git" if !git_is_plain(texts()) => {
            return found("sets configuration, runs programs or writes a file by option");
        }
        _ => {}
    }
    let risky = RISKY.iter().find(|risky| risky.command == name)?;
    texts().any(|word| is_risky(risky, word)).then(|| Carrier { command: name.to_owned(), does: risky.does })
}

fn is_risky(risky: &Risky, word: &str) -> bool {
    if risky.words.contains(&word) {
        return true;
    }
    if let Some(body) = word.strip_prefix("--") {
        let name = body.split('=').next().unwrap_or(body);
        // An abbreviation counts as the option it may stand for.
        return !name.is_empty() && risky.long.iter().any(|long| long[2..].starts_with(name));
    }
    match word.strip_prefix('-') {
        Some(cluster) if !risky.short.is_empty() => cluster.chars().any(|c| risky.short.contains(c)),
        _ => false,
    }
}

/// Long options of git's subcommands that run programs or write files.
const GIT_LONG: &[&str] = &[
    "exec",
    "ext-diff",
    "textconv",
    "open-files-in-pager",
    "upload-pack",
    "receive-pack",
    "output",
    "to-command",
    "filter-process",
    "tree-filter",
    "index-filter",
    "sequence-editor",
    "gpg-sign",
];

/// Whether a git command line sets no configuration and runs no program that its arguments name.
fn git_is_plain<'a>(mut words: impl Iterator<Item = &'a str>) -> bool {
    let subcommand = loop {
        match words.next() {
            None => return true,
            // Options before the subcommand that change nothing but the form of the answer.
            Some("--no-pager" | "--version" | "--help" | "--no-optional-locks" | "--literal-pathspecs" | "-P") => {}
            Some(word) if word.starts_with('-') => return false,
            Some(word) => break word,
        }
    };
    let runs = |word: &str| {
        let long = word.strip_prefix("--").map(|body| body.split('=').next().unwrap_or(body));
        long.is_some_and(|name| name.len() > 1 && GIT_LONG.iter().any(|option| option.starts_with(name)))
    };
    let clusters = |word: &str, letter| word.starts_with('-') && !word.starts_with("--") && word.contains(letter);
    match subcommand {
        "difftool" | "mergetool" | "filter-branch" | "daemon" | "instaweb" | "gui" | "gitk" | "citool" | "hook"
        | "credential" | "maintenance" | "send-email" => false,
        "config" => config_is_read(words),
        "archive" | "clone" | "format-patch" | "bundle" => false,
        "bisect" => !words.any(|word| word == "run"),
        "submodule" => !words.any(|word| word == "foreach"),
        "rebase" => !words.any(|word| clusters(word, 'x') || runs(word)),
        "grep" => !words.any(|word| clusters(word, 'O') || runs(word)),
        _ => !words.any(runs),
    }
}

/// Whether `git config` only reads: options that look something up, and at most one name.
fn config_is_read<'a>(words: impl Iterator<Item = &'a str>) -> bool {
    let mut names = 0;
    for word in words {
        match word {
            "get" | "list" => {}
            "--get" | "--get-all" | "--get-regexp" | "--list" | "-l" | "--global" | "--local" | "--system"
            | "--worktree" | "--show-origin" | "--show-scope" | "--name-only" | "--null" | "-z" | "--bool"
            | "--int" | "--path" | "--includes" | "--all" | "--regexp" => {}
            _ if word.starts_with('-') => return false,
            _ => names += 1,
        }
    }
    names <= 1
}

/// Whether an awk command line holds nothing but a program without redirection, pipe, `system`, `getline` or includes.
pub(crate) fn awk_is_plain<'a>(words: impl Iterator<Item = &'a str>) -> bool {
    let mut program_seen = false;
    let mut value_next = false;
    for word in words {
        if std::mem::take(&mut value_next) {
            continue;
        }
        if !program_seen && word.starts_with('-') && word.len() > 1 {
            match word {
                "-F" | "-v" => value_next = true,
                _ if word.starts_with("-F") || word.starts_with("-v") => {}
                "--" => {}
                _ => return false,
            }
            continue;
        }
        if !program_seen {
            program_seen = true;
            // Quotes in a regular expression or a comment would hide what follows them from the scan for strings.
            let outside = if word.contains(['/', '#']) { word.to_owned() } else { without_awk_strings(word) };
            let calls = ["system", "getline", "@", "|", ">", "close", "fflush", "ENVIRON", "FILENAME="];
            // A comparison `>` cannot be told from a redirection without awk's grammar; it counts as one.
            if calls.iter().any(|call| outside.contains(call)) {
                return false;
            }
        }
    }
    program_seen
}

/// An awk program without its string literals, so that `"|"` as a separator is no pipe.
fn without_awk_strings(program: &str) -> String {
    let mut out = String::new();
    let mut chars = program.chars();
    while let Some(c) = chars.next() {
        if c != '"' {
            out.push(c);
            continue;
        }
        while let Some(c) = chars.next() {
            match c {
                '\\' => drop(chars.next()),
                '"' => break,
                _ => {}
            }
        }
    }
    out
}

/// Whether a sed command line holds only scripts made of commands that neither run nor open anything. Scripts whose shape is
/// not certain count as the opposite.
pub(crate) fn sed_is_plain<'a>(words: impl Iterator<Item = &'a str>) -> bool {
    let mut script_seen = false;
    let mut script_next = false;
    for word in words {
        if std::mem::take(&mut script_next) {
            script_seen = true;
            if !sed_script_is_plain(word) {
                return false;
            }
            continue;
        }
        match word {
            "-e" | "--expression" => script_next = true,
            "-n" | "-E" | "-r" | "-z" | "-s" | "-u" | "--quiet" | "--silent" | "--regexp-extended" | "--" | "-nE"
            | "-En" | "-nr" | "-rn" | "--null-data" | "--separate" | "--unbuffered" | "--posix" | "--debug" | "-" => {}
            _ if word.starts_with("--expression=") => {
                script_seen = true;
                if !sed_script_is_plain(&word["--expression=".len()..]) {
                    return false;
                }
            }
            _ if word.starts_with('-') => return false,
            _ if !script_seen => {
                script_seen = true;
                if !sed_script_is_plain(word) {
                    return false;
                }
            }
            _ => {}
        }
    }
    script_seen && !script_next
}

/// A scanner over the part of sed's language that cannot open or run anything: addresses, `p d q Q = n N g G h H x D P l s y
/// { } !`, separated by `;` or line ends. Anything else is not plain.
fn sed_script_is_plain(script: &str) -> bool {
    let mut chars = script.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | ';' | '\n' | '{' | '}' | '!' | ',' | '$' | '~' | '+' | '0'..='9' => {}
            '/' if !skip_delimited(&mut chars, '/') => return false,
            '/' => while chars.next_if(|c| matches!(c, 'I' | 'M')).is_some() {},
            'p' | 'd' | 'q' | 'Q' | '=' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | 'D' | 'P' | 'l' => {}
            's' | 'y' => {
                let Some(delimiter) = chars.next().filter(|c| !c.is_alphanumeric() && !c.is_whitespace() && *c != '\\')
                else {
                    return false;
                };
                if !skip_delimited(&mut chars, delimiter) || !skip_delimited(&mut chars, delimiter) {
                    return false;
                }
                while chars.next_if(|c| matches!(c, 'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9')).is_some() {}
                if chars.peek().is_some_and(|c| !matches!(c, ';' | '\n' | ' ' | '}')) {
                    return false;
                }
            }
            _ => return false,
        }
    }
    true
}

fn skip_delimited(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, delimiter: char) -> bool {
    while let Some(c) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == delimiter {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_for_the_binary_search() {
        assert!(ALWAYS.is_sorted());
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
            ("cat x", false),
            ("jq .x", false),
            ("jq -f x", true),
        ] {
            let words: Vec<Known<'_>> = line.split(' ').map(Known::Text).collect();
            assert_eq!(carrier(&words).is_some(), is_carrier, "{line}");
        }
    }
}
