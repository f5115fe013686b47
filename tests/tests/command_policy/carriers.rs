//! Commands that run others: a prefix of their words grants none of them.

use super::Place;
use skillgate_policy::RefusalReason;

/// Vectors that run `canary`, or write or read what they are told to; the first word is the prefix that is granted.
const CARRIERS: &[&str] = &[
    "env canary",
    "env -S canary",
    "env -S 'canary x'",
    "env --split-string=canary",
    "env -i X=1 canary",
    "env -u X -- canary",
    "sudo canary",
    "sudo -u root canary",
    "doas canary",
    "su -c canary",
    "timeout 1 canary",
    "timeout -s KILL 1 canary",
    "nice canary",
    "nice -n 5 canary",
    "ionice -c 3 canary",
    "nohup canary",
    "watch canary",
    "watch -n 1 canary",
    "flock /x canary",
    "flock -c canary /x",
    "setsid canary",
    "setsid -w canary",
    "stdbuf -o0 canary",
    "taskset 1 canary",
    "chroot / canary",
    "unshare canary",
    "nsenter canary",
    "strace canary",
    "ltrace canary",
    "gdb -ex canary",
    "script -c canary",
    "parallel canary",
    "busybox sh -c canary",
    "busybox canary",
    "dash -c canary",
    "zsh -c canary",
    "ksh -c canary",
    "perl -e canary",
    "python -c canary",
    "python3 -c canary",
    "python3.12 -m canary",
    "ruby -e canary",
    "node -e canary",
    "php -r canary",
    "lua -e canary",
    "make canary",
    "npx canary",
    "man -P canary x",
    "man --pager=canary x",
    "less canary",
    "more canary",
    "vim -c '!canary'",
    "ssh -o ProxyCommand=canary host",
    "ssh host canary",
    "scp -S canary a b",
    "rsync -e canary a b",
    "find . -exec canary {} \\;",
    "find . -exec canary {} +",
    "find . -execdir canary {} \\;",
    "find . -ok canary {} \\;",
    "find . -okdir canary {} \\;",
    "find . -delete",
    "find . -fprint canary",
    "find . -fprintf canary x",
    "find . -fls canary",
    "awk 'BEGIN { system(\"canary\") }'",
    "awk 'BEGIN { \"canary\" | getline }'",
    "awk '{ print | \"canary\" }'",
    "awk '{ print > \"canary\" }'",
    "awk -f canary",
    "sed '1e canary'",
    "sed 'w canary'",
    "sed 's/a/b/w canary'",
    "sed 's/a/canary/e'",
    "sed -e p -e 'e canary'",
    "sed -n '/x/ { w canary\n}'",
    "sed 'r canary'",
    "sed -i s/a/b/ canary",
    "sed -f canary",
    "sort --compress-program=canary",
    "sort --compress-program canary",
    "sort --compress-prog=canary",
    "sort --comp canary",
    "sort -o canary",
    "tar --checkpoint-action=exec=canary -cf x a",
    "tar --checkpoint-act=exec=canary -cf x a",
    "tar -I canary -xf x",
    "tar --use-compress-program=canary -xf x",
    "tar --to-command=canary -xf x",
    "tar --rsh-command=canary -xf h:x",
    "tar -F canary -cf x a",
    "git -c core.pager=canary log",
    "git -c alias.x=!canary x",
    "git --exec-path=canary log",
    "git --config-env=core.pager=X log",
    "git -p log",
    "git grep -O canary x",
    "git grep --open-files-in-pager=canary x",
    "git rebase -x canary",
    "git bisect run canary",
    "git submodule foreach canary",
    "git difftool -x canary",
    "git help log",
    "rg --pre canary x",
    "rg --pre=canary x",
    "fd -x canary",
    "fd --exec canary",
    "jq -f canary",
];

fn first_word(line: &str) -> &str {
    line.split(' ').next().unwrap_or_default()
}

#[test]
fn a_prefix_grants_no_command_that_runs_others() {
    let place = Place::of("=== a.md\n");
    for line in CARRIERS {
        let name = first_word(line);
        let ended = place.run(line, &[&format!("Bash({name}:*)")], &[name]);
        assert!(ended.refusal().is_some(), "{line}: {ended:?}");
        assert_eq!(ended.vectors(), [] as [Vec<String>; 0], "{line}");
        // The control: the same vector under a grant of every command.
        let control = place.run(line, &["Bash"], &[name]);
        assert!(control.ran(name), "{line}: {control:?}");
    }
}

/// The refusal says what the command does, and an exact pattern grants it.
#[test]
fn an_exact_pattern_grants_a_carrier() {
    let place = Place::of("");
    for line in
        ["env canary", "timeout 1 canary", "sort --compress-prog=canary", "tar -I canary -xf x", "find . -delete"]
    {
        let name = first_word(line);
        let ended = place.run(line, &[&format!("Bash({name}:*)")], &[name]);
        assert!(matches!(ended.refusal(), Some(RefusalReason::Carrier { .. })), "{line}: {ended:?}");
        // What `env` runs is run by us, and needs its own grant.
        let exact = place.run(line, &[&format!("Bash({line})"), "Bash(canary)"], &[name, "canary"]);
        assert!(exact.ran(name), "{line}: {exact:?}");
    }
}

/// What is granted by a prefix stays granted where the words run nothing.
#[test]
fn the_same_commands_without_the_option_are_granted_by_a_prefix() {
    let place = Place::of("=== a.md\n");
    for line in [
        "find . -name x",
        "awk '{ print $1 }'",
        "sed s/a/b/",
        "sed -n 2p",
        "sort -u",
        "tar -tf x",
        "git log --oneline",
        "git status",
        "rg x",
        "jq .a",
    ] {
        let name = first_word(line);
        let ended = place.run(line, &[&format!("Bash({name}:*)")], &[name]);
        assert!(ended.ran(name), "{line}: {ended:?}");
    }
}

/// What `xargs` and `find -exec` are asked to run is decided by the same grant, before anything runs where the text says it.
#[test]
fn what_a_carrier_carries_is_decided() {
    let place = Place::of("=== a.md\n");
    for line in [
        "args a | xargs canary",
        "args a | xargs -n 1 canary",
        "args a | xargs -I {} canary {}",
        "find . -exec canary {} +",
    ] {
        let name = if line.contains("xargs") { "xargs" } else { "find" };
        let allow = ["Bash(args:*)".to_owned(), format!("Bash({name}:*)")];
        let ended = place.run(line, &[&allow[0], &allow[1]], &[name]);
        assert!(ended.refusal().is_some() && ended.vectors().is_empty(), "{line}: {ended:?}");
        assert!(place.run(line, &["Bash"], &[name]).ran(name), "{line}: the control");
    }
}
