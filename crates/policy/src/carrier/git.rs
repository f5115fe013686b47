//! Git command lines that run nothing by their arguments.

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
    "template",
    "exec-path",
    "config-env",
    "filters",
    "export-marks",
];

/// Git's own subcommands that run nothing but git by their arguments. Any other name may be an alias of the repository or a
/// program called `git-NAME`.
const GIT_PLAIN: &[&str] = &[
    "add",
    "am",
    "annotate",
    "apply",
    "bisect",
    "blame",
    "branch",
    "cat-file",
    "check-attr",
    "check-ignore",
    "check-mailmap",
    "check-ref-format",
    "checkout",
    "cherry",
    "cherry-pick",
    "clean",
    "column",
    "commit",
    "commit-graph",
    "commit-tree",
    "config",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "fetch",
    "for-each-ref",
    "fsck",
    "gc",
    "grep",
    "hash-object",
    "init",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge",
    "merge-base",
    "merge-tree",
    "mktag",
    "mktree",
    "mv",
    "name-rev",
    "notes",
    "pack-refs",
    "patch-id",
    "prune",
    "pull",
    "push",
    "range-diff",
    "read-tree",
    "rebase",
    "reflog",
    "remote",
    "repack",
    "rerere",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "revert",
    "rm",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "sparse-checkout",
    "stash",
    "status",
    "stripspace",
    "submodule",
    "switch",
    "symbolic-ref",
    "tag",
    "update-index",
    "update-ref",
    "var",
    "verify-commit",
    "verify-pack",
    "verify-tag",
    "version",
    "whatchanged",
    "worktree",
    "write-tree",
];

/// Whether a git command line sets no configuration and runs no program that its arguments name.
pub(super) fn git_is_plain<'a>(mut words: impl Iterator<Item = &'a str>) -> bool {
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
    // An address `ext::COMMAND` runs the command.
    let runs = |word: &str| runs(word) || word.contains("ext::");
    if GIT_PLAIN.binary_search(&subcommand).is_err() {
        return false;
    }
    match subcommand {
        "config" => config_is_read(words),
        "bisect" => !words.any(|word| matches!(word, "run" | "view" | "visualize")),
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
