use super::io::{GuestInput, GuestOutput};
use crate::guest::{Ended, Guest};
use wasmtime::component::Resource;
use wasmtime_wasi::p2::bindings::cli::{
    environment, exit, stderr, stdin, stdout, terminal_input, terminal_output, terminal_stderr, terminal_stdin,
    terminal_stdout,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream};

impl environment::Host for Guest {
    fn get_environment(&mut self) -> wasmtime::Result<Vec<(String, String)>> {
        Ok(self.environment.clone())
    }

    fn get_arguments(&mut self) -> wasmtime::Result<Vec<String>> {
        Ok(self.vector.clone())
    }

    fn initial_cwd(&mut self) -> wasmtime::Result<Option<String>> {
        Ok(self.directory.clone())
    }
}

impl exit::Host for Guest {
    fn exit(&mut self, status: Result<(), ()>) -> wasmtime::Result<()> {
        Err(Ended::Exit(u8::from(status.is_err())).into())
    }

    fn exit_with_code(&mut self, status_code: u8) -> wasmtime::Result<()> {
        Err(Ended::Exit(status_code).into())
    }
}

impl stdin::Host for Guest {
    fn get_stdin(&mut self) -> wasmtime::Result<Resource<DynInputStream>> {
        let stdin = GuestInput::Stdin(self.stdin.clone());
        Ok(Resource::new_own(self.keep(stdin)?.rep()))
    }
}

impl stdout::Host for Guest {
    fn get_stdout(&mut self) -> wasmtime::Result<Resource<DynOutputStream>> {
        Ok(Resource::new_own(self.keep(GuestOutput::Stdout)?.rep()))
    }
}

impl stderr::Host for Guest {
    fn get_stderr(&mut self) -> wasmtime::Result<Resource<DynOutputStream>> {
        Ok(Resource::new_own(self.keep(GuestOutput::Stderr)?.rep()))
    }
}

// No stream of a guest is a terminal, so nothing of these two kinds ever exists.
impl terminal_input::Host for Guest {}
impl terminal_input::HostTerminalInput for Guest {
    fn drop(&mut self, _: Resource<terminal_input::TerminalInput>) -> wasmtime::Result<()> {
        Ok(())
    }
}
impl terminal_output::Host for Guest {}
impl terminal_output::HostTerminalOutput for Guest {
    fn drop(&mut self, _: Resource<terminal_output::TerminalOutput>) -> wasmtime::Result<()> {
        Ok(())
    }
}
impl terminal_stdin::Host for Guest {
    fn get_terminal_stdin(&mut self) -> wasmtime::Result<Option<Resource<terminal_stdin::TerminalInput>>> {
        Ok(None)
    }
}
impl terminal_stdout::Host for Guest {
    fn get_terminal_stdout(&mut self) -> wasmtime::Result<Option<Resource<terminal_stdout::TerminalOutput>>> {
        Ok(None)
    }
}
impl terminal_stderr::Host for Guest {
    fn get_terminal_stderr(&mut self) -> wasmtime::Result<Option<Resource<terminal_stderr::TerminalOutput>>> {
        Ok(None)
    }
}
