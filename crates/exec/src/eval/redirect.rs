use super::{Eval, Io, Shell, stopped};
use crate::backend::RunError;
use crate::mounts::{ChangeError, Writing};
use crate::run::{Bound, Stop};
use crate::stream::{Buffer, FileOutput, Input, Output};
use skillgate_policy::{Approved, Provenance, Provider, Sight, Word};
use skillgate_shell::{Redirect, RedirectOperator, RedirectTarget};
use std::sync::{Arc, Mutex};

/// Bytes that are read from a file at once.
const READ_BYTES: usize = 65_536;

/// Targets of output that need no grant.
pub(crate) fn is_free_target(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr")
}

impl Shell<'_> {
    /// The streams after redirections; `None` when one failed, which has been said and is the status.
    pub(super) fn redirected(&mut self, redirects: &[Redirect], io: &Io) -> Eval<Option<Io>> {
        let mut io = io.clone();
        for redirect in redirects {
            match &redirect.target {
                RedirectTarget::File(word) => {
                    let path = self.text(word, &io)?;
                    if redirect.operator == RedirectOperator::Read {
                        match self.input_file(&path)? {
                            Ok(Source::Same) => {}
                            Ok(Source::Nothing) => (io.stdin, io.stdin_file) = (Input::Empty, None),
                            Ok(Source::File(input)) => (io.stdin, io.stdin_file) = (input, Some(path)),
                            Err(reason) => {
                                self.complain(&io, &format!("{path}: {reason}"))?;
                                self.status = 1;
                                return Ok(None);
                            }
                        }
                    } else {
                        let both =
                            matches!(redirect.operator, RedirectOperator::WriteBoth | RedirectOperator::AppendBoth);
                        let output = match path.as_str() {
                            "/dev/null" => Output::Discard,
                            "/dev/stdout" => io.stdout.clone(),
                            "/dev/stderr" => io.stderr.clone(),
                            _ => {
                                let append = matches!(
                                    redirect.operator,
                                    RedirectOperator::Append | RedirectOperator::AppendBoth
                                );
                                match self.output_file(&path, append)? {
                                    Ok(output) => output,
                                    Err(reason) => {
                                        self.complain(&io, &format!("{path}: {reason}"))?;
                                        self.status = 1;
                                        return Ok(None);
                                    }
                                }
                            }
                        };
                        if both {
                            io.stderr = output.clone();
                            io.stdout = output;
                        } else {
                            set_output(&mut io, redirect.fd.unwrap_or(1), output);
                        }
                    }
                }
                RedirectTarget::Descriptor(from) => {
                    if redirect.operator == RedirectOperator::DuplicateInput {
                        continue;
                    }
                    let Some(output) = output_of(&io, *from) else {
                        self.complain(&io, &format!("{from}: bad file descriptor"))?;
                        self.status = 1;
                        return Ok(None);
                    };
                    set_output(&mut io, redirect.fd.unwrap_or(1), output);
                }
                RedirectTarget::Close => {
                    let default = u32::from(redirect.operator != RedirectOperator::DuplicateInput);
                    match redirect.fd.unwrap_or(default) {
                        0 => (io.stdin, io.stdin_file) = (Input::Empty, None),
                        fd if fd > 2 => io.others.retain(|(other, _)| *other != fd),
                        fd => set_output(&mut io, fd, Output::Closed),
                    }
                }
                RedirectTarget::HereDocument(document) => {
                    let outer = std::mem::replace(&mut self.in_document, true);
                    let text = self.parts_as_one(&document.body().parts, &io);
                    self.in_document = outer;
                    let text = text?.text();
                    (io.stdin, io.stdin_file) = (Input::Buffer(Buffer::new(text.into_bytes())), None);
                }
                RedirectTarget::HereString(word) => {
                    let text = self.text(word, &io)?;
                    let bytes = format!("{text}\n").into_bytes();
                    (io.stdin, io.stdin_file) = (Input::Buffer(Buffer::new(bytes)), None);
                }
            }
        }
        Ok(Some(io))
    }

    /// The text of a file, for `$(< file)`: decided as a reading of the shell's own, which needs no more than that the file
    /// may be read. `None` when it cannot be opened, which has been said.
    pub(super) fn file_text(&mut self, redirect: &Redirect, io: &Io) -> Eval<Option<Vec<u8>>> {
        let RedirectTarget::File(word) = &redirect.target else { return Ok(None) };
        let path = self.text(word, io)?;
        let vector = ["<".to_owned(), path];
        let words = vector.clone().map(|text| Word { text, provenance: Provenance::Author });
        let approved = self.approve(&vector, &words, Provider::BuiltIn)?;
        let input = match self.input_file(&vector[1])? {
            Ok(Source::Same) => io.stdin.clone(),
            Ok(Source::Nothing) => Input::Empty,
            Ok(Source::File(_)) if approved.sight() == Sight::StreamsOnly => {
                let refusal = Approved::unmounted_refusal(&vector, &vector[1], approved.withheld());
                return Err(RunError::from(refusal).into());
            }
            Ok(Source::File(input)) => input,
            Err(reason) => {
                self.complain(io, &format!("{}: {reason}", vector[1]))?;
                self.status = 1;
                return Ok(None);
            }
        };
        let limit = self.shared.run.limits().output_bytes;
        let mut text = Vec::new();
        loop {
            self.shared.run.check().map_err(|stop| stopped("<", stop))?;
            let bytes = input.read(READ_BYTES).map_err(|stop| stopped("<", stop))?;
            if bytes.is_empty() {
                self.status = 0;
                return Ok(Some(text));
            }
            text.extend(bytes);
            if text.len() as u64 > limit {
                return Err(stopped("<", Stop::Bound(Bound::Output(limit))).into());
            }
        }
    }

    /// Opens a file for writing, where a rule grants it; the run is refused where none does.
    fn output_file(&self, path: &str, append: bool) -> Eval<Result<Output, &'static str>> {
        let absolute = crate::mounts::normalise(&self.absolute(path));
        let refuse = || {
            let vector = [">".to_owned(), path.to_owned()];
            let called = self.shared.scene.mounts.called(&absolute);
            Err(RunError::from(Approved::write_refusal(&vector, called)).into())
        };
        let Some(located) = self.shared.scene.mounts.locate(&absolute) else { return refuse() };
        let how = Writing { create: true, truncate: !append, ..Writing::default() };
        match located.open_for_writing(self.shared.gate.paths(), how) {
            Ok((file, _)) => {
                let mut file = file.into_std();
                if append && std::io::Seek::seek(&mut file, std::io::SeekFrom::End(0)).is_err() {
                    return Ok(Err("cannot be appended to"));
                }
                Ok(Ok(Output::File(FileOutput::new(file, self.shared.run))))
            }
            Err(ChangeError::Refused) => refuse(),
            Err(ChangeError::Stopped(stop)) => Err(stopped(">", stop).into()),
            Err(ChangeError::System(error)) if error.kind() == std::io::ErrorKind::NotFound => {
                Ok(Err("No such file or directory"))
            }
            Err(ChangeError::System(_)) => Ok(Err("Permission denied")),
        }
    }

    /// Opens a file for reading.
    fn input_file(&self, path: &str) -> Eval<Result<Source, &'static str>> {
        match path {
            "/dev/null" => return Ok(Ok(Source::Nothing)),
            "/dev/stdin" => return Ok(Ok(Source::Same)),
            _ => {}
        }
        let located = self.shared.scene.mounts.locate(&self.absolute(path));
        let Some(located) = located.filter(|_| !path.is_empty() && self.parents_are_there(path)) else {
            return Ok(Err("No such file or directory"));
        };
        let rules = self.shared.gate.paths();
        Ok(match located.open(rules) {
            Ok((_, metadata)) if metadata.is_dir() => Err("Is a directory"),
            Ok((file, _)) => Ok(Source::File(Input::File(Arc::new(Mutex::new(file.into_std()))))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => match located.hidden_by(rules) {
                Some(rule) => {
                    let vector = ["<".to_owned(), path.to_owned()];
                    return Err(RunError::from(Approved::hidden_refusal(&vector, path, rule)).into());
                }
                None => Err("No such file or directory"),
            },
            Err(_) => Err("Permission denied"),
        })
    }
}

/// Whether a redirection gives standard input another file or descriptor, or closes it.
pub(super) fn replaces_input(redirect: &Redirect) -> bool {
    let reads = matches!(redirect.operator, RedirectOperator::Read | RedirectOperator::DuplicateInput);
    reads && redirect.fd.is_none_or(|fd| fd == 0)
}

/// What a redirection of standard input names.
enum Source {
    /// Standard input as it is.
    Same,
    Nothing,
    File(Input),
}

fn output_of(io: &Io, fd: u32) -> Option<Output> {
    match fd {
        1 => Some(io.stdout.clone()),
        2 => Some(io.stderr.clone()),
        fd => io.others.iter().find(|(other, _)| *other == fd).map(|(_, output)| output.clone()),
    }
}

fn set_output(io: &mut Io, fd: u32, output: Output) {
    match fd {
        1 => io.stdout = output,
        2 => io.stderr = output,
        fd => {
            io.others.retain(|(other, _)| *other != fd);
            io.others.push((fd, output));
        }
    }
}
