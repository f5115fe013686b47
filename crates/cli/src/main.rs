//! The `skillgate` command: the terminal, the environment and the exit statuses; the only place where backends meet.
//!
//! Data goes to standard output, messages to standard error. Every failure has a documented exit status (`exit.rs`) and, where
//! there is one, the way out.

#![forbid(unsafe_code)]

mod args;
mod audit;
mod browse;
mod command;
mod components;
mod confined;
mod context;
mod exit;
mod mcp;
mod native;
mod output;
mod policy;
mod progress;
mod prompt;
mod report;
mod sink;
mod skills;
mod text;
mod trust;

use args::{Cli, Verb};
use exit::{Failure, Status};
use std::process::ExitCode;

fn main() -> ExitCode {
    // Where there is no helper beside this program, it is started again in the helper's place.
    skillgate_sandbox::init();
    if let Some(status) = components::compile_child() {
        return status;
    }
    let cli = match Cli::read() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let outcome = std::panic::catch_unwind(|| dispatch(&cli));
    let status = match outcome {
        Ok(Ok(status)) => status,
        Ok(Err(failure)) => {
            failure.report(&cli.global);
            failure.status()
        }
        Err(_) => {
            text::complain(
                "this is a bug in Skillgate; the message above says where. Please report it with the command line.",
            );
            Status::Bug
        }
    };
    if status == Status::Done && text::output_was_lost() { Status::Findings.into() } else { status.into() }
}

fn usage(error: &clap::Error) -> ExitCode {
    // Help and version are asked for, so they are data and no failure.
    let status = if error.use_stderr() { Status::Usage } else { Status::Done };
    let arguments: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let meant = args::meant(error, &arguments);
    if error.use_stderr() && args::asks_for_json(std::env::args_os()) {
        let plain = error.render().to_string();
        let (message, rest) = plain.split_once("\n\n").unwrap_or((plain.trim(), ""));
        text::complain_json(&output::ErrorOutput {
            code: "usage".to_owned(),
            number: None,
            message: message.strip_prefix("error: ").unwrap_or(message).trim().to_owned(),
            rule: None,
            help: meant
                .into_iter()
                .chain(rest.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned))
                .collect(),
        });
        return status.into();
    }
    let printed = error.print();
    if let Some(meant) = meant {
        text::complain(&format!("\nhelp: {}", text::safe(&meant)));
    }
    match printed {
        Ok(()) => status.into(),
        Err(_) => Status::Findings.into(),
    }
}

fn dispatch(cli: &Cli) -> Result<Status, Failure> {
    policy::warn_of_unknown_tools(&cli.global);
    match &cli.verb {
        Verb::List(verb) => command::list::run(&cli.global, verb),
        Verb::Which(verb) => command::which::run(&cli.global, verb),
        Verb::Why(verb) => command::why::run(&cli.global, verb),
        Verb::Listing(verb) => command::listing::run(&cli.global, verb),
        Verb::Show(verb) => command::show::run(&cli.global, verb),
        Verb::Run(verb) => command::run::run(&cli.global, verb),
        Verb::Browse => browse::run(&cli.global),
        Verb::Watch => command::watch::run(&cli.global),
        Verb::Session(verb) => command::session::run(&cli.global, verb),
        Verb::Search(verb) => command::search::run(&cli.global, verb),
        Verb::TestTriggers(verb) => command::triggers::run(&cli.global, verb),
        Verb::Check(verb) => command::check::run(&cli.global, verb),
        Verb::Sandbox { verb } => match verb {
            args::SandboxVerb::Run(verb) => command::sandbox::run(&cli.global, verb),
            args::SandboxVerb::Doctor => command::doctor::run(&cli.global),
            args::SandboxVerb::Commands => command::sandbox::commands(&cli.global),
        },
        Verb::Policy { verb } => command::policy::run(&cli.global, verb),
        Verb::Trust { verb } => command::trust::run(&cli.global, verb),
        Verb::Pack { verb } => command::pack::run(&cli.global, verb),
        Verb::Hooks { verb } => command::hooks::run(&cli.global, verb),
        Verb::Log { verb } => command::log::run(&cli.global, verb),
        Verb::Audit(verb) => command::audit::run(&cli.global, verb),
        Verb::Mcp { verb } => command::mcp::run(&cli.global, verb),
        Verb::Completions { shell } => command::meta::completions(*shell),
        Verb::Man => command::meta::man(),
        Verb::Schema { output, .. } => command::meta::schema(*output),
    }
}
