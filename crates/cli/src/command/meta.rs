//! `completions`, `man` and `schema`: what is generated from the command line and the outputs.

use crate::args::{Cli, SchemaOf};
use crate::exit::{Failure, Status};
use crate::{output, text};
use clap::CommandFactory as _;

pub(crate) fn completions(shell: clap_complete::Shell) -> Result<Status, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "skillgate", &mut script);
    text::data(&String::from_utf8_lossy(&script));
    Ok(Status::Done)
}

pub(crate) fn man() -> Result<Status, Failure> {
    let mut page = Vec::new();
    let mut command = Cli::command();
    command.build();
    let write = |error| Failure::Io { doing: "writing the manual page".to_owned(), error };
    clap_mangen::Man::new(command.clone()).render(&mut page).map_err(write)?;
    for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
        clap_mangen::Man::new(verb.clone()).render(&mut page).map_err(write)?;
    }
    text::data(&String::from_utf8_lossy(&page));
    Ok(Status::Done)
}

pub(crate) fn schema(of: SchemaOf) -> Result<Status, Failure> {
    text::json(&output::schema(of))?;
    Ok(Status::Done)
}
