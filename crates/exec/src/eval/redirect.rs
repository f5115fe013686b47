use super::{Eval, Io, Shell};
use crate::backend::RunError;
use crate::mounts::{ChangeError, Writing};
use crate::stream::{Buffer, FileOutput, Input, Output};
use skillgate_policy::Approved;
use skillgate_shell::{Redirect, RedirectOperator, RedirectTarget};
use std::sync::{Arc, Mutex};

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
                    let output = match from {
                        1 => io.stdout.clone(),
                        2 => io.stderr.clone(),
                        _ => {
                            self.complain(&io, &format!("{from}: bad file descriptor"))?;
                            self.status = 1;
                            return Ok(None);
                        }
                    };
                    set_output(&mut io, redirect.fd.unwrap_or(1), output);
                }
                RedirectTarget::Close => {
                    let default = u32::from(redirect.operator != RedirectOperator::DuplicateInput);
                    match redirect.fd.unwrap_or(default) {
                        0 => (io.stdin, io.stdin_file) = (Input::Empty, None),
                        fd => set_output(&mut io, fd, Output::Closed),
                    }
                }
                RedirectTarget::HereDocument(document) => {
                    let text = self.parts_as_one(&document.body().parts, &io)?.text();
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
        let Some(located) = self.shared.scene.mounts.locate(&self.absolute(path)) else {
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

/// What a redirection of standard input names.
enum Source {
    /// Standard input as it is.
    Same,
    Nothing,
    File(Input),
}

fn set_output(io: &mut Io, fd: u32, output: Output) {
    match fd {
        1 => io.stdout = output,
        2 => io.stderr = output,
        _ => {}
    }
}
