//! `hookproof`: shows that webhook effects happen at most once, and that it would notice if not.
//!
//! One file a verb. Verbs write to a locked standard output, and say how they ended by [`End`].

mod promises;
mod prove;
mod rogues;
mod say;
mod table;

use std::{
    io::{self, ErrorKind, Write},
    process::ExitCode,
};

use clap::Parser;

/// Check that webhook effects happen at most once, and that every event is accounted for.
#[derive(Parser)]
#[command(name = "hookproof", version, about, arg_required_else_help = true)]
enum Verb {
    /// Run the core through hostile histories, promise by promise, and the rogues past the checks.
    Prove(prove::Options),
    /// List the promises, each in a sentence.
    Promises,
    /// List the rogues: wrong implementations that a proof must catch.
    Rogues,
}

/// How a verb ended, which is the exit code. 2 is an option that was not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Everything held.
    Kept = 0,
    /// A promise was broken, or a rogue escaped.
    Broken = 1,
    /// The world failed us: nothing could be written.
    Failed = 3,
    /// Nothing broke, and not everything was exercised.
    Unexercised = 4,
}

fn main() -> ExitCode {
    let verb = Verb::parse();
    let mut out = anstream::stdout().lock();
    let end = match verb {
        Verb::Prove(options) => prove::run(&options, &mut out),
        Verb::Promises => promises::list(&mut out),
        Verb::Rogues => rogues::list(&mut out),
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
