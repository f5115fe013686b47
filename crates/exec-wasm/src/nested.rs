//! A guest that runs other commands. It runs on a thread of its own, and the thread that was asked to run it runs what it asks
//! for: that one holds the evaluator, which borrows what it works on and cannot move.

use crate::engine::GUEST_STACK;
use skillgate_exec::{Exit, Nested, NestedCommand, NestedCommands, RunError};
use std::sync::mpsc::{Receiver, Sender, channel};

/// The stack of a guest's thread, bytes.
const STACK: usize = 4 * GUEST_STACK;

/// The guest's side: it asks, and waits until the command has ended.
#[derive(Debug)]
pub(crate) struct Asking {
    ask: Sender<NestedCommand>,
    answers: Receiver<Result<Nested, RunError>>,
}

impl Asking {
    /// Has a command run.
    ///
    /// # Errors
    /// What ends this guest too.
    pub(crate) fn run(&self, command: NestedCommand) -> Result<Nested, RunError> {
        let gone = || host_fault("nobody runs the commands of this one any more");
        self.ask.send(command).map_err(|_| gone())?;
        self.answers.recv().map_err(|_| gone())?
    }
}

/// Runs a guest, and meanwhile what it asks for.
///
/// # Errors
/// As the guest's own run.
pub(crate) fn serve(
    nested: &dyn NestedCommands,
    enter: impl FnOnce(Asking) -> Result<Exit, RunError> + Send,
) -> Result<Exit, RunError> {
    let (ask, asked) = channel();
    let (answer, answers) = channel();
    std::thread::scope(|scope| {
        let guest = std::thread::Builder::new()
            .name("skillgate-guest".to_owned())
            .stack_size(STACK)
            .spawn_scoped(scope, move || enter(Asking { ask, answers }))
            .map_err(|error| host_fault(&error.to_string()))?;
        // Ends with the guest, which holds the other end.
        while let Ok(command) = asked.recv() {
            if answer.send(nested.run(command)).is_err() {
                break;
            }
        }
        guest.join().unwrap_or_else(|_| Err(host_fault("its thread panicked")))
    })
}

fn host_fault(reason: &str) -> RunError {
    RunError::Host { doing: "running a command that runs others".to_owned(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends every command with the length of its vector, and refuses to run `stop`.
    #[derive(Debug)]
    struct Counting;

    impl NestedCommands for Counting {
        fn run(&self, command: NestedCommand) -> Result<Nested, RunError> {
            match command.vector.first().map(String::as_str) {
                Some("stop") => Err(host_fault("told to")),
                _ => Ok(Nested::Exited(u8::try_from(command.vector.len()).unwrap_or(u8::MAX))),
            }
        }
    }

    fn ask(asking: &Asking, words: &[&str]) -> Result<Nested, RunError> {
        let vector = words.iter().map(|word| (*word).to_owned()).collect();
        asking.run(NestedCommand { vector, directory: None, environment: None, reads: false })
    }

    #[test]
    fn a_guest_gets_the_answer_to_each_of_its_commands() {
        let ended = serve(&Counting, |asking| {
            let mut sum = 0;
            for words in [["a", "b"].as_slice(), &["c"]] {
                match ask(&asking, words)? {
                    Nested::Exited(status) => sum += status,
                    Nested::NotFound => unreachable!("it is counted"),
                }
            }
            Ok(Exit { code: sum })
        });
        assert_eq!(ended, Ok(Exit { code: 3 }));
    }

    #[test]
    fn an_error_of_a_command_is_one_of_its_guest() {
        let ended = serve(&Counting, |asking| ask(&asking, &["stop"]).map(|_| Exit { code: 0 }));
        assert_eq!(ended, Err(host_fault("told to")));
    }
}
