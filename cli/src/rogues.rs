//! `hookproof rogues`: the wrong implementations, what they do, the promises that catch them, how soon.

use std::{
    io::{self, Write},
    num::NonZeroUsize,
    thread,
};

use clap::{Args, value_parser};
use hookproof_sim::{
    prove::{Detection, detect},
    rogue::{CANARY, Rogue},
};

use crate::{
    End,
    prove::Pace,
    say::{DIM, hanging, number},
    table::{Cell, Side, Table},
};

/// Options of `hookproof rogues`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Hunt each in this many ranges of seeds, and print how many histories it took: the median and the
    /// most. 20 take a few seconds.
    #[arg(long, value_name = "RANGES", value_parser = value_parser!(u16).range(1..=RANGES_MAX))]
    detection: Option<u16>,
}

/// Lists them, or says how soon each is caught.
pub(crate) fn run(options: &Options, out: &mut dyn Write) -> io::Result<End> {
    match options.detection {
        None => list(out).map(|()| End::Kept),
        Some(ranges) => detection(u64::from(ranges), out),
    }
}

fn list(out: &mut dyn Write) -> io::Result<()> {
    for &rogue in Rogue::ALL {
        let breaks: Vec<&str> = rogue.breaks().iter().map(|promise| promise.id()).collect();
        let note = if rogue == CANARY { "  (the canary)" } else { "" };
        writeln!(out, "{:<30} {}{DIM}{note}{DIM:#}", rogue.name(), breaks.join(" "))?;
        writeln!(out, "    {}", hanging(rogue.sentence(), 4))?;
    }
    Ok(())
}

fn detection(ranges: u64, out: &mut dyn Write) -> io::Result<End> {
    let pace = Pace::of_rogues(Rogue::ALL.len() as u64, None);
    let jobs = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let detections = detect(Rogue::ALL, ranges, jobs, &pace);
    pace.ends();
    let right = |head| (head, Side::Right);
    let mut table =
        Table::new([("rogue", Side::Left), right("median"), right("worst"), right("missed")]);
    let said = |tries: Option<u64>| -> Cell { tries.map_or_else(|| "-".to_owned(), number).into() };
    for detection in &detections {
        let Detection { rogue, missed, .. } = detection;
        let (median, worst) = (said(detection.median()), said(detection.worst()));
        table.row([rogue.name().into(), median, worst, number(*missed).into()]);
    }
    table.write(out)?;
    let ranges = number(ranges);
    writeln!(
        out,
        "{DIM}histories until it was caught, over {ranges} ranges of seeds; missed: \
        ranges that did not catch it{DIM:#}"
    )?;
    let missed = detections.iter().any(|detection| detection.missed > 0);
    Ok(if missed { End::Broken } else { End::Kept })
}

/// The most ranges of seeds.
const RANGES_MAX: i64 = 1_000;
