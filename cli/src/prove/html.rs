//! The report as a page: what is broken first, drawn, then what was checked, and each rogue with what is
//! left of a history that catches it.

use hookproof_sim::{
    history::Line,
    prove::{Hunt, Origin, Tally},
    rogue::CANARY,
    situation::Situation,
};

use super::{
    matrix,
    options::{Level, Options},
    outcome::{Outcome, Verdict, Violation},
    report,
};
use crate::{
    html::{
        Text, push,
        scene::{KEY, Scene},
    },
    say::{count, number},
};

pub(super) fn page(outcome: &Outcome, options: &Options) -> String {
    let mut body = String::new();
    let out = &mut body;
    let (verdict, word, said) = report::verdict(outcome, options);
    push!(out, "<h1>What was checked</h1>\n<p><span class=\"{}\">{word}</span>: ", class(verdict));
    push!(out, "{}</p>\n", Text(said));
    let seeds = outcome.walked.as_ref().map(|walked| &walked.walks.seeds);
    push!(out, "<p class=\"dim\">Again: <code>{}</code></p>\n", Text(options.repeat(seeds)));
    out.push_str(KEY);
    for (number, violation) in outcome.violations(options).iter().enumerate() {
        broken(number, violation, out);
    }
    for hunt in outcome.escaped(options) {
        escaped(hunt, options, out);
    }
    if outcome.ran() {
        promises(outcome, options, out);
    }
    rogues(outcome, out);
    stories(outcome, out);
    totals(outcome, options, out);
    crate::html::page(&format!("Hookproof: {word}"), &body)
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Checked => "good",
        Verdict::Broken => "bad",
        Verdict::Open => "open",
    }
}

fn broken(number: usize, violation: &Violation<'_>, out: &mut String) {
    let Violation { promise, what, command, .. } = violation;
    push!(out, "<h2>{promise} is broken</h2>\n");
    if let Some((scenario, sabotage)) = violation.scenario {
        let command = match (violation.kept, sabotage) {
            (Some(path), Some(rogue)) => {
                format!("hookproof replay {} --rogue {}", path.display(), rogue.name())
            }
            (Some(path), None) => format!("hookproof replay {}", path.display()),
            (None, _) => command.clone(),
        };
        let scene = Scene::new(format!("broken{number}"), scenario, *sabotage, command);
        scene.head(out);
        scene.body(out);
        return;
    }
    let (said, sentence) = (Text(what), Text(promise.sentence()));
    push!(out, "<div class=\"breach\"><p>{said}.</p>\n<p>{promise}: {sentence}.</p></div>\n");
    push!(out, "<p class=\"dim\">Again: <code>{}</code></p>\n", Text(command));
    trace(violation.lines, &format!("History that breaks {promise}"), out);
}

fn trace(lines: &[Line], label: &str, out: &mut String) {
    push!(out, "<pre tabindex=\"0\" role=\"region\" aria-label=\"{}\">", Text(label));
    for line in lines {
        push!(out, "{}\n", Text(line));
    }
    push!(out, "</pre>\n");
}

fn escaped(hunt: &Hunt, options: &Options, out: &mut String) {
    let (name, sentence) = (Text(hunt.rogue.name()), Text(hunt.rogue.sentence()));
    let tries = count(hunt.tries, "try", "tries");
    push!(out, "<h2>{name} escaped</h2>\n<p>{sentence} It was not caught in {tries}.</p>\n");
    if hunt.rogue == CANARY {
        push!(out, "<p class=\"bad\">The prover is blind: nothing else here means anything.</p>\n");
    }
    for promise in hunt.rogue.breaks() {
        push!(out, "<p>Expected a breach of {promise}: {}.</p>\n", Text(promise.sentence()));
    }
    let again = Text(options.hunted_again(hunt.rogue));
    push!(out, "<p class=\"dim\">Again: <code>{again}</code></p>\n");
}

fn head(caption: &str, columns: &[(&str, bool)], out: &mut String) {
    push!(out, "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\">\n");
    push!(out, "<table><thead><tr>");
    for (column, counts) in columns {
        push!(out, "<th scope=\"col\"{}>{column}</th>", if *counts { NUMBER } else { "" });
    }
    push!(out, "</tr></thead><tbody>\n");
}

const NUMBER: &str = " class=\"number\"";

fn promises(outcome: &Outcome, options: &Options, out: &mut String) {
    push!(out, "<h2>Promises</h2>\n");
    let columns = [
        ("id", false),
        ("verdict", false),
        ("promise", false),
        ("explored", true),
        ("in danger", true),
        ("walked", true),
        ("in danger", true),
        ("rogues", true),
    ];
    head("Promises", &columns, out);
    for promise in options.promises() {
        let (verdict, word) = matrix::word(promise, outcome, options);
        let sentence = Text(promise.sentence());
        let class = class(verdict);
        push!(out, "<tr><th scope=\"row\">{promise}</th><td class=\"{class}\">{word}</td>");
        push!(out, "<td>{sentence}</td>");
        for count in [
            outcome.states(promise),
            outcome.danger_explored(promise),
            outcome.kept(promise),
            outcome.danger_walked(promise),
            outcome.caught_by(promise),
        ] {
            push!(out, "<td{NUMBER}>{}</td>", number(count));
        }
        push!(out, "</tr>\n");
    }
    push!(out, "</tbody></table></div>\n<p class=\"dim\">{}.</p>\n", Text(matrix::PROMISES));
}

fn rogues(outcome: &Outcome, out: &mut String) {
    let caught = outcome.hunts.iter().filter(|hunt| hunt.catch.is_some()).count();
    push!(out, "<h2>Rogues</h2>\n<p>{caught} of {} caught. ", outcome.rogues.len());
    push!(out, "Each opens with what is left of a history that catches it.</p>\n");
    for hunt in &outcome.hunts {
        rogue(hunt, outcome, out);
    }
}

fn rogue(hunt: &Hunt, outcome: &Outcome, out: &mut String) {
    let name = hunt.rogue.name();
    let (class, word) = match &hunt.catch {
        Some(catch) => ("good", format!("caught by {}", catch.breach.promise)),
        None if hunt.cut => ("open", "time was up".to_owned()),
        None => ("bad", "ESCAPED".to_owned()),
    };
    push!(
        out,
        "<details><summary><span class=\"name\">{}</span> <span class=\"{class}\">{word}</span> \
         <span class=\"dim\">{}",
        Text(name),
        count(hunt.tries, "try", "tries")
    );
    if let Some(catch) = &hunt.catch {
        push!(out, ", {}", Level::of(catch.origin).name());
    }
    if let Some(shrunk) = &hunt.shrunk {
        push!(out, ", {}", count(shrunk.steps as u64, "step", "steps"));
    }
    push!(out, "</span></summary>\n");
    if let Some(shrunk) = &hunt.shrunk {
        let path = outcome.kept.rogues.get(name).map(|path| path.display().to_string());
        let command = path.map_or_else(
            || format!("hookproof prove --rogue {name}"),
            |path| format!("hookproof replay {path} --rogue {name}"),
        );
        let scene = Scene::new(name.to_owned(), &shrunk.scenario, Some(hunt.rogue), command);
        scene.head(out);
        scene.body(out);
    } else {
        push!(out, "<p>{}</p>\n", Text(hunt.rogue.sentence()));
        caught(hunt, out);
    }
    push!(out, "</details>\n");
}

/// The history itself, where there is no scenario.
fn caught(hunt: &Hunt, out: &mut String) {
    let Some(catch) = &hunt.catch else { return };
    let (promise, what) = (catch.breach.promise, Text(&catch.breach.what));
    push!(out, "<div class=\"breach\"><p>{promise}: {what}.</p></div>\n");
    if let Origin::World(world) = catch.origin {
        push!(out, "<p class=\"dim\">In the small world: {}.</p>\n", Text(world));
    }
    trace(&catch.lines, &format!("History that catches {}", hunt.rogue.name()), out);
}

fn stories(outcome: &Outcome, out: &mut String) {
    if outcome.stories.is_empty() {
        return;
    }
    push!(out, "<h2>Stories</h2>\n");
    head("Stories", &[("story", false), ("what came of it", false)], out);
    for story in &outcome.stories {
        let (class, word) = match &story.told.breach {
            Some(breach) => ("bad", format!("broke {}", breach.promise)),
            None if story.holds() => ("good", "as told".to_owned()),
            None => ("bad", report::surprise(&story.told.surprises)),
        };
        let (name, word) = (Text(story.name), Text(word));
        push!(out, "<tr><th scope=\"row\">{name}</th><td class=\"{class}\">{word}</td></tr>\n");
    }
    push!(out, "</tbody></table></div>\n");
}

fn totals(outcome: &Outcome, options: &Options, out: &mut String) {
    let mut said = Vec::new();
    report::totals(outcome, options, &mut said).expect("a buffer takes everything");
    let said = String::from_utf8_lossy(&said);
    let plain = Text(anstream::adapter::strip_str(&said));
    push!(
        out,
        "<h2>Totals</h2>\n<pre tabindex=\"0\" role=\"region\" aria-label=\"Totals\">{plain}</pre>\n"
    );
    if let Some(walked) = &outcome.walked {
        situations(&walked.walks.tally, out);
    }
}

/// How often each fault met each step in each state.
fn situations(tally: &Tally, out: &mut String) {
    let all = Situation::all();
    let met = all.iter().filter(|of| tally.met(**of) > 0).count();
    push!(out, "<details><summary>Situations: {met} of {} came about</summary>\n", all.len());
    head("Situations", &[("fault, step, state", false), ("times", true)], out);
    for of in all {
        let times = number(tally.met(of));
        push!(out, "<tr><th scope=\"row\">{}</th><td{NUMBER}>{times}</td></tr>\n", Text(of));
    }
    push!(out, "</tbody></table></div></details>\n");
}
