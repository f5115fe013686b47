//! `completions`, `man` and `schema`: what is generated from the command line and the outputs.

use crate::args::{Cli, SchemaOf};
use crate::exit::{Failure, Status};
use crate::{output, text};
use clap::{CommandFactory as _, ValueEnum};

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
    pages(&command, &mut page).map_err(|error| Failure::Io { doing: "writing the manual page".to_owned(), error })?;
    text::data(&String::from_utf8_lossy(&page));
    Ok(Status::Done)
}

/// The page of a command and those of its verbs, each under its own title.
fn pages(command: &clap::Command, out: &mut Vec<u8>) -> std::io::Result<()> {
    let title = command.get_display_name().unwrap_or(command.get_name()).to_uppercase();
    clap_mangen::Man::new(command.clone()).title(title).render(out)?;
    command.get_subcommands().filter(|verb| verb.get_name() != "help").try_for_each(|verb| pages(verb, out))
}

/// Prints one schema, or the names of all.
pub(crate) fn schema(of: Option<SchemaOf>) -> Result<Status, Failure> {
    match of {
        Some(of) => text::json(&output::schema(of))?,
        None => {
            let names = SchemaOf::value_variants().iter().filter_map(ValueEnum::to_possible_value);
            text::data(&names.map(|name| format!("{}\n", name.get_name())).collect::<String>());
        }
    }
    Ok(Status::Done)
}
