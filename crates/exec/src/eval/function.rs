//! Functions, and the built-ins about positional parameters and local variables.

use super::builtin::is_name;
use super::{Abort, Eval, Flow, Io, Shell, Variable};
use skillgate_policy::Word as VectorWord;
use skillgate_shell::FunctionDefinition;
use std::sync::Arc;

/// The variables that `local` hid in one call of a function, with what they were.
#[derive(Clone, Default)]
pub(super) struct Scope(Vec<(String, Option<Variable>)>);

impl Shell<'_> {
    /// Runs a function with these arguments.
    pub(super) fn call(
        &mut self,
        function: &FunctionDefinition,
        arguments: Vec<VectorWord>,
        io: &Io,
        condition: bool,
    ) -> Eval<Flow> {
        let positional = std::mem::replace(&mut self.positional, Arc::new(arguments));
        // `break` inside does not reach the loops of the caller.
        let loops = std::mem::take(&mut self.loops);
        self.scopes.push(Scope::default());
        let result = self.nested(|shell| shell.compound(&function.body, io, condition));
        self.positional = positional;
        self.loops = loops;
        for (name, variable) in self.scopes.pop().unwrap_or_default().0.into_iter().rev() {
            match variable {
                Some(variable) => drop(self.variables.insert(name, variable)),
                None => drop(self.variables.remove(&name)),
            }
        }
        result.map(|_| Flow::Next)
    }

    /// `local NAME[=VALUE]…`.
    pub(super) fn local(&mut self, arguments: &[VectorWord], io: &Io) -> Eval<Flow> {
        if self.scopes.is_empty() {
            self.complain(io, "local: can only be used in a function")?;
            self.status = 1;
            return Ok(Flow::Next);
        }
        for argument in arguments {
            let (name, value) = match argument.text.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (argument.text.as_str(), None),
            };
            if name.starts_with('-') {
                self.complain(io, &format!("local: {name}: no option is supported"))?;
                return Err(Abort::Exit(2));
            }
            if !is_name(name) {
                self.complain(io, &format!("local: `{name}': not a valid identifier"))?;
                self.status = 1;
                continue;
            }
            let hidden = self.variables.get(name).cloned();
            let exported = hidden.as_ref().is_some_and(|variable| variable.exported);
            if let Some(Scope(saved)) = self.scopes.last_mut()
                && saved.iter().all(|(kept, _)| kept != name)
            {
                saved.push((name.to_owned(), hidden));
            }
            match value {
                Some(value) => {
                    let provenance = argument.provenance;
                    self.set(name, Variable { value: value.to_owned(), provenance, exported })?;
                }
                None => drop(self.variables.remove(name)),
            }
        }
        Ok(Flow::Next)
    }

    /// `return [STATUS]`; `before` is the status of the command before it.
    pub(super) fn returned(&mut self, arguments: &[String], before: u8, io: &Io) -> Eval<Flow> {
        if self.scopes.is_empty() && self.sourced == 0 {
            self.complain(io, "return: can only be used in a function or a sourced file")?;
            self.status = 2;
            return Ok(Flow::Next);
        }
        self.status = match arguments.first() {
            None => before,
            Some(text) => match super::builtin::status_of(text) {
                Some(status) => status,
                None => {
                    self.complain(io, &format!("return: {text}: numeric argument required"))?;
                    2
                }
            },
        };
        Ok(Flow::Return)
    }

    /// `shift [N]`.
    pub(super) fn shift(&mut self, arguments: &[String], io: &Io) -> Eval<Flow> {
        let wanted = arguments.first().map_or(Some(1), |text| text.parse::<usize>().ok());
        match wanted {
            Some(count) if count <= self.positional.len() => {
                self.positional = Arc::new(self.positional[count..].to_vec());
            }
            Some(_) => self.status = 1,
            None => {
                let text = arguments.first().map_or("", String::as_str);
                self.complain(io, &format!("shift: {text}: numeric argument required"))?;
                return Err(Abort::Exit(1));
            }
        }
        Ok(Flow::Next)
    }

    /// Replaces the positional parameters, as `set -- …` does.
    pub(super) fn set_positional(&mut self, words: &[VectorWord]) {
        self.positional = Arc::new(words.to_vec());
    }
}

/// Whether a word is an assignment in the arguments of `local` or `export`, which is not split as other words are.
pub(super) fn is_assignment(word: &skillgate_shell::Word) -> bool {
    let Some(skillgate_shell::WordPart::Literal { text, .. }) = word.parts.first() else { return false };
    text.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// Built-ins whose arguments may be assignments.
pub(super) fn declares(name: &str) -> bool {
    matches!(name, "export" | "local")
}

/// The words as texts.
pub(super) fn texts(words: &[VectorWord]) -> Vec<String> {
    words.iter().map(|word| word.text.clone()).collect()
}
