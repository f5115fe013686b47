//! The WASI 0.2 interfaces a guest may import, on the bindings of `wasmtime-wasi` and with implementations of ours: they are
//! synchronous, bounded, and look at the run's deadline wherever they wait. Sockets are not here, so a guest that imports them
//! cannot be linked. [`posix`] adds what WASI does not tell of files, [`command`] the
//! commands that a command runs.

mod cli;
mod clocks;
mod command;
mod filesystem;
mod io;
mod path;
mod posix;
mod random;

use crate::guest::Guest;
use wasmtime::component::{HasSelf, Linker};
use wasmtime_wasi::p2::bindings;

pub(crate) fn add_to_linker(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    use bindings::{cli, clocks, filesystem, random, sync};
    fn same(guest: &mut Guest) -> &mut Guest {
        guest
    }
    type Own = HasSelf<Guest>;
    wasmtime_wasi_io::bindings::wasi::io::error::add_to_linker::<Guest, Own>(linker, same)?;
    sync::io::poll::add_to_linker::<Guest, Own>(linker, same)?;
    sync::io::streams::add_to_linker::<Guest, Own>(linker, same)?;
    sync::filesystem::types::add_to_linker::<Guest, Own>(linker, same)?;
    filesystem::preopens::add_to_linker::<Guest, Own>(linker, same)?;
    clocks::wall_clock::add_to_linker::<Guest, Own>(linker, same)?;
    clocks::monotonic_clock::add_to_linker::<Guest, Own>(linker, same)?;
    random::random::add_to_linker::<Guest, Own>(linker, same)?;
    random::insecure::add_to_linker::<Guest, Own>(linker, same)?;
    random::insecure_seed::add_to_linker::<Guest, Own>(linker, same)?;
    cli::exit::add_to_linker::<Guest, Own>(linker, same)?;
    cli::environment::add_to_linker::<Guest, Own>(linker, same)?;
    cli::stdin::add_to_linker::<Guest, Own>(linker, same)?;
    cli::stdout::add_to_linker::<Guest, Own>(linker, same)?;
    cli::stderr::add_to_linker::<Guest, Own>(linker, same)?;
    cli::terminal_input::add_to_linker::<Guest, Own>(linker, same)?;
    cli::terminal_output::add_to_linker::<Guest, Own>(linker, same)?;
    cli::terminal_stdin::add_to_linker::<Guest, Own>(linker, same)?;
    cli::terminal_stdout::add_to_linker::<Guest, Own>(linker, same)?;
    cli::terminal_stderr::add_to_linker::<Guest, Own>(linker, same)?;
    posix::add_to_linker(linker)?;
    command::add_to_linker(linker)
}
