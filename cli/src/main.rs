//! `hookproof`: shows that webhook effects happen at most once, and that it would notice if not.
//! And judges histories of other systems. And looks at single requests: signs and verifies them, runs cases, shows schemes. And prepares a
//! database, and books in it by hand.
//!
//! One file a verb. Verbs write to a locked standard output, and say how they ended by [`End`].

mod book;
mod cases;
mod database;
mod declared;
mod files;
mod html;
mod input;
mod judge;
mod migrate;
mod promises;
mod prove;
mod replay;
mod request;
mod rogues;
mod say;
mod scheme_choice;
mod schemes;
mod sheet;
mod sign;
mod table;
mod verify;

use std::{
    io::{self, ErrorKind, Write},
    process::ExitCode,
};

use clap::{CommandFactory as _, Parser};

/// Show that webhook effects happen at most once, and look into single requests: sign, verify, explain.
#[derive(Parser)]
#[command(name = "hookproof", version, arg_required_else_help = true)]
enum Verb {
    /// Run the core through hostile histories, promise by promise, and the rogues past the checks.
    Prove(prove::Options),
    /// Run scenarios from files, and say whether what was to come of them did.
    #[command(after_help = replay::ENDS)]
    Replay(replay::Options),
    /// Judge anybody's history, exported from logs or tables, promise by promise.
    #[command(after_help = judge::ENDS)]
    Judge(judge::Options),
    /// List the promises, each in a sentence.
    Promises,
    /// List the rogues: wrong implementations that a proof must catch.
    Rogues(rogues::Options),
    /// Say whether a request, pasted out of a log, verifies; with --explain, why not.
    #[command(after_help = verify::ENDS)]
    Verify(Box<verify::Options>),
    /// Print the headers that a sender of a scheme writes.
    #[command(after_help = sign::ENDS)]
    Sign(Box<sign::Options>),
    /// List the signature schemes, or show one: what it signs, and what it does not.
    #[command(after_help = schemes::help())]
    Schemes(schemes::Options),
    /// Run case files against the built-in implementation, or lint them.
    #[command(subcommand)]
    Cases(cases::Cases),
    /// Bring a database's tables to this version.
    #[command(after_help = migrate::ENDS)]
    Migrate(migrate::Options),
    /// Book an operation by hand: an event that asks for it later finds it done.
    #[command(after_help = book::ENDS)]
    Book(book::Options),
}

/// How a verb ended, which is the exit code. 2 is an option that was not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Everything held.
    Kept = 0,
    /// A promise was broken, a rogue escaped, a request was refused, a case differs.
    Broken = 1,
    /// The world failed us: something could not be read or written.
    Failed = 3,
    /// Nothing broke, and not everything was exercised.
    Unexercised = 4,
}

fn main() -> ExitCode {
    let verb = Verb::parse();
    if let Verb::Prove(options) = &verb
        && let Some(said) = options.contradiction()
    {
        Verb::command().error(clap::error::ErrorKind::ArgumentConflict, said).exit();
    }
    let mut out = anstream::stdout().lock();
    let end = match verb {
        Verb::Prove(options) => prove::run(&options, &mut out),
        Verb::Replay(options) => replay::run(&options, &mut out),
        Verb::Judge(options) => judge::run(&options, &mut out),
        Verb::Promises => promises::list(&mut out),
        Verb::Rogues(options) => rogues::run(&options, &mut out),
        Verb::Verify(options) => verify::run(&options, &mut out),
        Verb::Sign(options) => sign::run(&options, &mut out),
        Verb::Schemes(options) => schemes::run(&options, &mut out),
        Verb::Cases(cases) => cases::run(&cases, &mut out),
        Verb::Migrate(options) => migrate::run(&options, &mut out),
        Verb::Book(options) => book::run(&options, &mut out),
    };
    let end =
        end.and_then(|end| out.flush().map(|()| end)).unwrap_or_else(|error| unwritten(&error));
    ExitCode::from(end as u8)
}

/// Whoever closes the pipe has read enough; everything else is worth a word.
fn unwritten(error: &io::Error) -> End {
    if error.kind() != ErrorKind::BrokenPipe {
        let _ = writeln!(io::stderr(), "error: expected to write the output: {error}");
    }
    End::Failed
}
