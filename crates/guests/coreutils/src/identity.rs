//! `id`, `whoami` and `hostname`. A sandbox has one user and one name, the same on every machine: nothing is told of who runs it.

use std::ffi::OsString;
use std::io::Write as _;
use std::vec::IntoIter;

/// The user, and the group of the same name and number. They are those of the host sandbox too.
const USER: &str = "skillgate";
const NUMBER: &str = "1000";
/// The name that `uname -n` gives.
const HOST: &str = "skillgate";
const STATUS_UNSUPPORTED: i32 = 2;

/// `whoami`.
pub(crate) fn whoami(mut arguments: IntoIter<OsString>) -> i32 {
    match arguments.nth(1) {
        None => print(USER),
        Some(operand) => refuse("whoami", &operand.to_string_lossy(), "extra operand"),
    }
}

/// `hostname`, which sets nothing.
pub(crate) fn hostname(arguments: IntoIter<OsString>) -> i32 {
    for argument in arguments.skip(1) {
        match &*argument.to_string_lossy() {
            "-s" | "--short" | "-f" | "--fqdn" | "--long" => {}
            other => return unsupported("hostname", other),
        }
    }
    print(HOST)
}

/// `id [OPTION]…` of the one user there is.
pub(crate) fn id(arguments: IntoIter<OsString>) -> i32 {
    let (mut what, mut named) = (None, false);
    for argument in arguments.skip(1) {
        let argument = argument.to_string_lossy();
        let letters: String = match &*argument {
            "--user" => "u".to_owned(),
            "--group" => "g".to_owned(),
            "--groups" => "G".to_owned(),
            "--name" => "n".to_owned(),
            "--real" => "r".to_owned(),
            operand if !operand.starts_with('-') => {
                if operand == USER || operand == NUMBER {
                    continue;
                }
                eprintln!("id: ‘{operand}’: no such user");
                return 1;
            }
            option => option[1..].to_owned(),
        };
        for letter in letters.chars() {
            match letter {
                'u' | 'g' | 'G' if what.is_some_and(|what| what != letter) => {
                    eprintln!("id: cannot print \"only\" of more than one choice");
                    return 1;
                }
                'u' | 'g' | 'G' => what = Some(letter),
                'n' => named = true,
                'r' => {}
                _ => return unsupported("id", &argument),
            }
        }
    }
    match what {
        Some(_) => print(if named { USER } else { NUMBER }),
        None if named => {
            eprintln!("id: cannot print only names or real IDs in default format");
            1
        }
        None => print(&format!("uid={NUMBER}({USER}) gid={NUMBER}({USER}) groups={NUMBER}({USER})")),
    }
}

fn print(line: &str) -> i32 {
    i32::from(writeln!(std::io::stdout(), "{line}").is_err())
}

fn refuse(name: &str, operand: &str, what: &str) -> i32 {
    eprintln!("{name}: {what} ‘{operand}’\nTry '{name} --help' for more information.");
    1
}

fn unsupported(name: &str, what: &str) -> i32 {
    eprintln!("skillgate: {name}: {what} is not supported");
    STATUS_UNSUPPORTED
}
