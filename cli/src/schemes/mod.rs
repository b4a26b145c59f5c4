//! `hookproof schemes`: what each scheme signs, and what it does not.

mod full;
mod json;

use std::io::{self, Write};

use clap::Args;
use hookproof_core::scheme::{self, ALIASES, Algorithm, Scheme, Tolerance, UNSUPPORTED};

use crate::{
    End, declared,
    input::Fault,
    say::{BAD, DIM, HEAD, OPEN},
    scheme_choice, sheet,
    table::{Cell, Side, Table},
};

/// Options of `hookproof schemes`.
#[derive(Args)]
pub(crate) struct Options {
    /// Print this scheme in full: a name or a short one.
    #[arg(value_name = "NAME")]
    name: Option<String>,

    /// Print one JSON object (with NAME), or a list of them.
    #[arg(long)]
    json: bool,
}

/// Lists all schemes, or shows one.
pub(crate) fn run(options: &Options, out: &mut dyn Write) -> io::Result<End> {
    match &options.name {
        None if options.json => json::all(out)?,
        None => list(out)?,
        Some(name) => return show(name, options.json, out),
    }
    Ok(End::Kept)
}

fn show(name: &str, json: bool, out: &mut dyn Write) -> io::Result<End> {
    let known = UNSUPPORTED.iter().find(|known| known.name == name);
    match (scheme::named(name), known) {
        (Some(scheme), _) if json => json::one(scheme, out)?,
        (Some(scheme), _) => full::print(scheme, out)?,
        (None, Some(known)) if json => json::unsupported(known, out)?,
        (None, Some(known)) => {
            writeln!(out, "{HEAD}{}{HEAD:#}  {}", known.name, known.provider)?;
            writeln!(out, "{BAD}not verified{BAD:#}  {}", known.why)?;
        }
        (None, None) => return Ok(unknown(name).end()),
    }
    Ok(End::Kept)
}

fn unknown(name: &str) -> Fault {
    let near = scheme_choice::near(name);
    Fault::misuse(format!("expected a scheme; near are {near}; all: `hookproof schemes`"))
}

fn list(out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new([
        ("scheme", Side::Left),
        ("signed", Side::Left),
        ("NOT signed", Side::Left),
        ("algorithm", Side::Left),
        ("within", Side::Right),
        ("vectors", Side::Right),
        ("used by", Side::Left),
    ]);
    for scheme in scheme::all() {
        table.row(row(scheme));
    }
    table.write(out)?;
    let without: Vec<&str> = without_vector().map(|scheme| &*scheme.name).collect();
    writeln!(out, "\n{HEAD}short names{HEAD:#}")?;
    for (alias, name) in ALIASES {
        writeln!(out, "  {alias:<18} {name}")?;
    }
    writeln!(
        out,
        "\n{HEAD}no published vector{HEAD:#} ({}): their cases are generated from the documented \
         construction",
        without.len()
    )?;
    for name in without {
        writeln!(out, "  {name}")?;
    }
    writeln!(out, "\n{HEAD}known and not verified{HEAD:#}")?;
    for known in &UNSUPPORTED {
        writeln!(out, "  {} ({}): {DIM}{}{DIM:#}", known.name, known.provider, known.why)?;
    }
    writeln!(
        out,
        "\n`hookproof schemes NAME` shows one in full. id: the delivery id of a header; *: a default of \
         ours"
    )
}

fn row(scheme: &Scheme) -> [Cell; 7] {
    let signed = if sheet::signs_what_it_lists(scheme) {
        "what it lists".into()
    } else if scheme.algorithm == Algorithm::Token {
        "nothing".into()
    } else if sheet::signs_items(scheme) {
        "some fields".into()
    } else {
        sheet::signed(scheme.signs()).join(" ")
    };
    let unsigned = if sheet::signs_what_it_lists(scheme) || sheet::signs_items(scheme) {
        "the rest".to_owned()
    } else {
        sheet::unsigned(scheme).join(" ")
    };
    let vectors = match scheme.facts.vectors {
        0 => Cell::new("none", OPEN),
        number => number.to_string().into(),
    };
    let within = scheme.tolerance.map_or(String::new(), |Tolerance { seconds, stated, .. }| {
        format!("{seconds} s{}", if stated { "" } else { "*" })
    });
    let legacy = if scheme.facts.legacy { " (legacy)" } else { "" };
    [
        scheme.name.to_string().into(),
        signed.into(),
        Cell::new(unsigned, OPEN),
        sheet::algorithm(scheme.algorithm).into(),
        within.into(),
        vectors,
        format!("{}{legacy}", scheme.provider).into(),
    ]
}

fn without_vector() -> impl Iterator<Item = &'static Scheme> {
    scheme::all().filter(|scheme| scheme.facts.vectors == 0)
}

/// The short names of a scheme.
fn aliases(scheme: &Scheme) -> Vec<&'static str> {
    let of_scheme = ALIASES.iter().filter(|(_, name)| *name == scheme.name);
    of_scheme.map(|(alias, _)| *alias).collect()
}

/// How to declare a scheme, for `--help`.
pub(crate) fn help() -> String {
    let lists = declared::OTHER_LISTS.join("\n");
    format!(
        "A scheme of your own is a TOML file for --scheme-file of `sign` and `verify`:\n\n{}\n\
         In place of [list]:\n\n{lists}\n\
         Exit codes: 0 shown; 2 no such scheme (near names are shown); 3 nothing could be written",
        declared::EXAMPLE
    )
}
