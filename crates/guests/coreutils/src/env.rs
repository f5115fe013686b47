//! `env`, as GNU coreutils 9.1 works. The command that it runs is asked of the host, which decides it as one of its own.

use guest_run::Ended;
use std::ffi::OsString;
use std::io::Write as _;
use std::vec::IntoIter;

/// Something is wrong with `env` itself.
const STATUS_OWN: i32 = 125;
const STATUS_CANNOT_RUN: i32 = 126;
const STATUS_NOT_FOUND: i32 = 127;
const STATUS_UNSUPPORTED: i32 = 2;

/// What the command line asks for.
#[derive(Debug, Default)]
struct Request {
    clears: bool,
    removed: Vec<String>,
    null: bool,
    directory: Option<String>,
    set: Vec<(String, String)>,
    command: Vec<String>,
}

/// What is printed, and the status.
type Failure = (String, i32);

pub(crate) fn main(arguments: IntoIter<OsString>) -> i32 {
    let words = arguments.skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let request = match read(words) {
        Ok(request) => request,
        Err((message, status)) => {
            eprintln!("{message}");
            return status;
        }
    };
    let own: Vec<_> = std::env::vars().collect();
    let environment = environment(&request, own);
    if request.command.is_empty() {
        return print(&environment, if request.null { '\0' } else { '\n' });
    }
    let name = &request.command[0];
    let vector: Vec<Vec<u8>> = request.command.iter().map(|word| word.clone().into_bytes()).collect();
    match guest_run::run_in(&environment, &vector, request.directory.as_deref().map(str::as_bytes)) {
        Ended::Exited(status) => status.into(),
        Ended::NotFound => {
            eprintln!("env: ‘{name}’: No such file or directory");
            STATUS_NOT_FOUND
        }
        Ended::CannotRun => {
            eprintln!("env: ‘{name}’: Permission denied");
            STATUS_CANNOT_RUN
        }
    }
}

fn print(environment: &[(String, String)], end: char) -> i32 {
    let text: String = environment.iter().map(|(name, value)| format!("{name}={value}{end}")).collect();
    i32::from(std::io::stdout().write_all(text.as_bytes()).is_err())
}

/// The environment with what is taken out of it and put into it.
fn environment(request: &Request, own: Vec<(String, String)>) -> Vec<(String, String)> {
    let mut environment = if request.clears { Vec::new() } else { own };
    environment.retain(|(name, _)| !request.removed.contains(name));
    for (name, value) in &request.set {
        match environment.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => old.clone_from(value),
            None => environment.push((name.clone(), value.clone())),
        }
    }
    environment
}

fn wrong(message: &str) -> Failure {
    (format!("env: {message}\nTry 'env --help' for more information."), STATUS_OWN)
}

fn unsupported(what: &str) -> Failure {
    (format!("skillgate: env: {what} is not supported"), STATUS_UNSUPPORTED)
}

/// Reads the command line: options, what is set, the command.
fn read(words: Vec<String>) -> Result<Request, Failure> {
    let mut request = Request::default();
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next_if(|word| word.starts_with('-')) {
        if word == "--" {
            break;
        }
        if word == "-" {
            request.clears = true;
        } else if let Some(long) = word.strip_prefix("--") {
            let (name, joined) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (long, None),
            };
            let mut value = || {
                let missing = || wrong(&format!("option '--{name}' requires an argument"));
                joined.clone().or_else(|| words.next()).ok_or_else(missing)
            };
            match name {
                "ignore-environment" => request.clears = true,
                "null" => request.null = true,
                "unset" => request.removed.push(value()?),
                "chdir" => request.directory = Some(value()?),
                "split-string"
                | "debug"
                | "block-signal"
                | "default-signal"
                | "ignore-signal"
                | "list-signal-handling"
                | "help"
                | "version" => return Err(unsupported(&format!("--{name}"))),
                name => return Err(wrong(&format!("unrecognized option '--{name}'"))),
            }
        } else {
            let mut letters = word[1..].chars();
            while let Some(letter) = letters.next() {
                match letter {
                    'i' => request.clears = true,
                    '0' => request.null = true,
                    'u' | 'C' => {
                        let joined: String = letters.by_ref().collect();
                        let missing = || wrong(&format!("option requires an argument -- '{letter}'"));
                        let value = Some(joined).filter(|joined| !joined.is_empty()).or_else(|| words.next());
                        let value = value.ok_or_else(missing)?;
                        if letter == 'u' {
                            request.removed.push(value);
                        } else {
                            request.directory = Some(value);
                        }
                    }
                    'S' | 'v' => return Err(unsupported(&format!("-{letter}"))),
                    letter => return Err(wrong(&format!("invalid option -- '{letter}'"))),
                }
            }
        }
    }
    while let Some(word) = words.next_if(|word| word.contains('=')) {
        let (name, value) = word.split_once('=').unwrap_or((word.as_str(), ""));
        let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
        if !name.starts_with(letter) || !name.chars().all(|c| letter(c) || c.is_ascii_digit()) {
            return Err(unsupported(&format!("the name ‘{name}’ of a variable")));
        }
        request.set.push((name.to_owned(), value.to_owned()));
    }
    request.command = words.collect();
    if request.command.is_empty() && request.directory.is_some() {
        return Err(wrong("must specify command with --chdir (-C)"));
    }
    if request.null && !request.command.is_empty() {
        return Err(wrong("cannot specify --null (-0) with command"));
    }
    Ok(request)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Request, Failure> {
        read(words.iter().map(|word| (*word).to_owned()).collect())
    }

    #[test]
    fn the_environment_is_what_the_words_make_of_it() {
        let pairs = |text: &str| -> Vec<(String, String)> {
            let pair = |pair: &str| pair.split_once('=').map(|(a, b)| (a.to_owned(), b.to_owned()));
            text.split_whitespace().filter_map(pair).collect()
        };
        for (words, expected, command) in [
            (["A=3", "C=4"].as_slice(), "A=3 B=2 C=4", 0),
            (&["-u", "A", "ls", "-l"], "B=2", 2),
            (&["-uA", "--unset=B"], "", 0),
            (&["-i", "C=x=y", "ls", "D=1"], "C=x=y", 2),
            (&["-", "--", "ls"], "", 1),
        ] {
            let request = parsed(words).expect("read");
            assert_eq!(environment(&request, pairs("A=1 B=2")), pairs(expected), "{words:?}");
            assert_eq!(request.command.len(), command, "{words:?}");
        }
    }

    #[test]
    fn what_is_wrong_has_its_status() {
        for (words, status) in [
            (["-S", "ls"].as_slice(), 2),
            (&["1a=2"], 2),
            (&["-z"], 125),
            (&["--nosuch"], 125),
            (&["-0", "ls"], 125),
            (&["-C", "src"], 125),
            (&["-u"], 125),
        ] {
            assert_eq!(parsed(words).expect_err("refused").1, status, "{words:?}");
        }
    }
}
