//! `skillgate:command/run`, an import of ours (`wit/command`): commands that a command runs. Whether there is anybody to run
//! them is the evaluator's decision, which looks at the vector.

use crate::guest::{Ended, Guest};
use skillgate_exec::{Nested, NestedCommand};
use wasmtime::component::Linker;

/// Numbers of errors on Linux.
const ENOENT: u32 = 2;
const EACCES: u32 = 13;

impl Guest {
    fn run_nested(&self, command: NestedCommand) -> wasmtime::Result<Result<u8, u32>> {
        let Some(nested) = &self.nested else { return Ok(Err(EACCES)) };
        match nested.run(command) {
            Ok(Nested::Exited(status)) => Ok(Ok(status)),
            Ok(Nested::NotFound) => Ok(Err(ENOENT)),
            Err(error) => Err(Ended::Nested(Box::new(error)).into()),
        }
    }
}

pub(super) fn add_to_linker(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    type Arguments = (Vec<String>, Option<String>, Option<Vec<(String, String)>>, bool);
    let mut run = linker.instance("skillgate:command/run@0.1.0")?;
    run.func_wrap("run", |store: wasmtime::StoreContextMut<'_, Guest>, asked: Arguments| {
        let (vector, directory, environment, reads) = asked;
        Ok((store.data().run_nested(NestedCommand { vector, directory, environment, reads })?,))
    })
}
