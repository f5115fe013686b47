//! `pwd`. The directory a guest runs in is the one that the host gave it, already free of symbolic links; there is nothing to
//! resolve, and the directories above a mount are not there to resolve it with.

use std::ffi::OsString;
use std::io::Write as _;
use std::vec::IntoIter;

const USAGE: &str = "\
Usage: pwd [OPTION]...
Print the full filename of the current working directory.

  -L, --logical   the same as -P: the sandbox enters no symbolic link
  -P, --physical  print the directory without symbolic links
      --help      display this help and exit
      --version   output version information and exit";

/// `pwd [OPTION]…`, as GNU coreutils has it.
pub(crate) fn main(arguments: IntoIter<OsString>) -> i32 {
    let mut options = true;
    let mut operands = false;
    for argument in arguments.skip(1) {
        match argument.to_string_lossy().as_ref() {
            "--" if options => options = false,
            "--logical" | "--physical" if options => {}
            "--help" if options => return print(USAGE),
            "--version" if options => return print(concat!("pwd (Skillgate) ", env!("CARGO_PKG_VERSION"))),
            letters if options && letters.len() > 1 && letters.starts_with('-') => {
                if let Some(letter) = letters.chars().skip(1).find(|letter| !matches!(letter, 'L' | 'P')) {
                    eprintln!("pwd: invalid option -- '{letter}'\nTry 'pwd --help' for more information.");
                    return 1;
                }
            }
            _ => operands = true,
        }
    }
    if operands {
        eprintln!("pwd: ignoring non-option arguments");
    }
    match std::env::current_dir() {
        Ok(directory) => print(&directory.to_string_lossy()),
        Err(error) => {
            eprintln!("pwd: {}", uucore::error::strip_errno(&error));
            1
        }
    }
}

fn print(line: &str) -> i32 {
    i32::from(writeln!(std::io::stdout(), "{line}").is_err())
}
