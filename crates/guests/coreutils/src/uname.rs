//! `uname` and `arch`. WASI has no system to ask, so what they print are fixed, documented words: the sandbox is a Linux-like
//! place called `skillgate` on a `wasm32` machine, whatever the machine below is.

use std::ffi::OsString;
use std::io::Write as _;
use std::vec::IntoIter;

/// The fields in the order in which `uname` prints them: short option, long options, value.
const FIELDS: [(char, &[&str], &str); 8] = [
    ('s', &["kernel-name", "sysname"], "Linux"),
    ('n', &["nodename"], "skillgate"),
    ('r', &["kernel-release", "release"], "6.0.0-skillgate"),
    ('v', &["kernel-version"], "#1 SKILLGATE WASI 0.2"),
    ('m', &["machine"], MACHINE),
    ('p', &["processor"], UNKNOWN),
    ('i', &["hardware-platform"], UNKNOWN),
    ('o', &["operating-system"], "GNU/Linux"),
];
const MACHINE: &str = "wasm32";
const UNKNOWN: &str = "unknown";

const USAGE: &str = "\
Usage: uname [OPTION]...
Print certain system information.  With no OPTION, same as -s.

  -a, --all                print all information, in the following order,
                             except omit -p and -i if unknown:
  -s, --kernel-name        print the kernel name
  -n, --nodename           print the network node hostname
  -r, --kernel-release     print the kernel release
  -v, --kernel-version     print the kernel version
  -m, --machine            print the machine hardware name
  -p, --processor          print the processor type (non-portable)
  -i, --hardware-platform  print the hardware platform (non-portable)
  -o, --operating-system   print the operating system
      --help        display this help and exit
      --version     output version information and exit

The sandbox has no system of its own to ask: the values are fixed.";

/// `uname [OPTION]…`, as GNU coreutils has it.
pub(crate) fn main(arguments: IntoIter<OsString>) -> i32 {
    let mut wanted = [false; FIELDS.len()];
    let mut all = false;
    let mut options = true;
    for argument in arguments.skip(1) {
        let argument = argument.to_string_lossy();
        if options && argument == "--" {
            options = false;
        } else if let Some(long) = argument.strip_prefix("--").filter(|_| options) {
            match long {
                "all" => all = true,
                "help" => return print(USAGE),
                "version" => return print(concat!("uname (Skillgate) ", env!("CARGO_PKG_VERSION"))),
                _ => match FIELDS.iter().position(|(_, names, _)| names.contains(&long)) {
                    Some(field) => wanted[field] = true,
                    None => return refuse("uname", &format!("unrecognized option '--{long}'")),
                },
            }
        } else if let Some(letters) = argument.strip_prefix('-').filter(|letters| options && !letters.is_empty()) {
            for letter in letters.chars() {
                match FIELDS.iter().position(|(short, ..)| *short == letter) {
                    Some(field) => wanted[field] = true,
                    None if letter == 'a' => all = true,
                    None => return refuse("uname", &format!("invalid option -- '{letter}'")),
                }
            }
        } else {
            return refuse("uname", &format!("extra operand '{argument}'"));
        }
    }
    if !all && wanted == [false; FIELDS.len()] {
        wanted[0] = true;
    }
    let words: Vec<&str> = FIELDS
        .iter()
        .zip(wanted)
        .filter(|((.., value), wanted)| if all { *value != UNKNOWN } else { *wanted })
        .map(|((.., value), _)| *value)
        .collect();
    print(&words.join(" "))
}

/// `arch`: the same as `uname -m`.
pub(crate) fn arch(mut arguments: IntoIter<OsString>) -> i32 {
    match arguments.nth(1) {
        None => print(MACHINE),
        Some(argument) => refuse("arch", &format!("extra operand '{}'", argument.display())),
    }
}

fn print(line: &str) -> i32 {
    i32::from(writeln!(std::io::stdout(), "{line}").is_err())
}

fn refuse(name: &str, message: &str) -> i32 {
    eprintln!("{name}: {message}\nTry '{name} --help' for more information.");
    1
}
