//! The report for the summary page of a CI run: short, in Markdown.

use std::fmt::{self, Display, Formatter, Write as _};

use super::{
    matrix,
    options::Options,
    outcome::{Outcome, Story, Verdict},
    report,
};
use crate::{html::push, say::number};

pub(super) fn summary(outcome: &Outcome, options: &Options) -> String {
    let mut out = String::new();
    let (verdict, word, said) = report::verdict(outcome, options);
    push!(&mut out, "## Hookproof: {} {word}\n\n{}\n", sign(verdict), Plain(said));
    failures(outcome, options, &mut out);
    promises(outcome, options, &mut out);
    for left_out in outcome.left_out(options) {
        push!(&mut out, "- left out: {}\n", Plain(left_out));
    }
    for idle in if outcome.ran() { outcome.unexercised(options) } else { Vec::new() } {
        push!(&mut out, "- not shown: {}\n", Plain(idle));
    }
    let seeds = outcome.walked.as_ref().map(|walked| &walked.walks.seeds);
    push!(&mut out, "\nRepeat: `{}`\n", options.repeat(seeds));
    out
}

fn failures(outcome: &Outcome, options: &Options, out: &mut String) {
    for violation in outcome.violations(options) {
        let (promise, what) = (violation.promise, Plain(violation.what));
        push!(out, "\n**{promise} is broken**: {}.\n{what}.\n", Plain(promise.sentence()));
        push!(out, "Again: `{}`\n", violation.command);
        if let Some(path) = violation.kept {
            push!(out, "Replay: `hookproof replay {}`\n", path.display());
        }
    }
    for hunt in outcome.escaped(options) {
        let (name, sentence) = (hunt.rogue.name(), Plain(hunt.rogue.sentence()));
        push!(out, "\n**The rogue {name} escaped**: {sentence}\n");
        push!(out, "Again: `{}`\n", options.hunted_again(hunt.rogue));
    }
    let otherwise = |story: &&Story| !story.holds() && story.told.breach.is_none();
    for story in outcome.stories.iter().filter(otherwise) {
        let said = report::surprise(&story.told.surprises);
        push!(out, "\n**A story went otherwise**: {}. {}\n", Plain(story.name), Plain(said));
    }
}

fn promises(outcome: &Outcome, options: &Options, out: &mut String) {
    if !outcome.ran() {
        out.push('\n');
        return;
    }
    out.push_str("\n| | promise | explored | walked | in danger | rogues | |\n");
    out.push_str("|---|---|--:|--:|--:|--:|---|\n");
    for promise in options.promises() {
        let (verdict, word) = matrix::word(promise, outcome, options);
        push!(
            out,
            "| {promise} | {} | {} | {} | {} | {} | {} {word} |\n",
            Plain(promise.sentence()),
            number(outcome.states(promise)),
            number(outcome.kept(promise)),
            number(outcome.danger(promise)),
            number(outcome.caught_by(promise)),
            sign(verdict),
        );
    }
    out.push('\n');
}

fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Checked => "✅",
        Verdict::Broken => "❌",
        Verdict::Open => "⚠️",
    }
}

/// A text without a meaning in Markdown, on one line.
struct Plain<T>(T);

impl<T: Display> Display for Plain<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for c in self.0.to_string().chars() {
            match c {
                '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '&' | '~' => {
                    f.write_char('\\')?;
                    f.write_char(c)?;
                }
                c if c.is_control() => f.write_char(' ')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_mean_something_is_plain_text() {
        assert_eq!(Plain("a|b\n<c> `d` *e*").to_string(), "a\\|b \\<c\\> \\`d\\` \\*e\\*");
    }
}
