//! Anybody's history on a page: what is decided of it, its drawing, and where it breaks.

use hookproof_core::{Millis, time::DAY};
use hookproof_sim::{
    history::Line,
    oracle::Verdict,
    picture::messages_of,
    record::{Decision, Judged, Place, Record, Why},
};

use super::{
    Text,
    drawing::{self, Story},
    panel, push,
    scene::KEY,
};
use crate::say::count;

/// The page of the histories that were judged.
pub(crate) fn page(judged: &[(String, Record, Judged)]) -> String {
    let title = match judged {
        [(name, ..)] => name.clone(),
        several => count(several.len() as u64, "history", "histories"),
    };
    let mut body = String::new();
    push!(&mut body, "<h1>{}</h1>\n{KEY}", Text(&title));
    for (number, (name, record, judged)) in judged.iter().enumerate() {
        let told = Told::of(format!("h{number}"), record, judged);
        push!(&mut body, "<h2>{}</h2>\n", Text(name));
        told.scene(&mut body);
        told.decisions(&mut body);
    }
    super::page(&title, &body)
}

/// A history to be shown.
struct Told<'a> {
    id: String,
    record: &'a Record,
    judged: &'a Judged,
    /// The lines of each step that is shown: what one place did at one instant.
    steps: Vec<&'a [Line]>,
    /// The first line that is shown.
    from: usize,
}

impl<'a> Told<'a> {
    /// All of a short history; of a long one what is around its first breach.
    fn of(id: String, record: &'a Record, judged: &'a Judged) -> Self {
        let first = breaches(judged).filter_map(|(_, place)| index(record, place)).min();
        let lines = &record.lines;
        let from = first.unwrap_or(0).saturating_sub(LINES_MAX * 3 / 4);
        let shown = &lines[from..lines.len().min(from + LINES_MAX)];
        let same = |a: &Line, b: &Line| (a.at, a.by) == (b.at, b.by);
        Self { id, record, judged, steps: shown.chunk_by(same).collect(), from }
    }

    /// The step that a line of the file stands in.
    fn step(&self, place: &Place) -> Option<usize> {
        let mut left = index(self.record, place)?.checked_sub(self.from)?;
        self.steps.iter().position(|lines| {
            let here = left < lines.len();
            left = left.saturating_sub(lines.len());
            here
        })
    }

    fn decisions(&self, out: &mut String) {
        let shown: usize = self.steps.iter().map(|lines| lines.len()).sum();
        let all = count(self.record.lines.len() as u64, "fact", "facts");
        if shown < self.record.lines.len() {
            let shown = count(shown as u64, "fact", "facts");
            push!(
                out,
                "<p class=\"dim\">{all}; {shown} of them are drawn, around the first breach.</p>\n"
            );
        } else {
            push!(out, "<p class=\"dim\">{all}.</p>\n");
        }
        push!(
            out,
            "<table><caption>Promises</caption><thead><tr><th scope=\"col\">Promise</th><th \
            scope=\"col\">Verdict</th><th scope=\"col\">In danger</th></tr></thead><tbody>\n"
        );
        for Decision { promise, verdict, danger, .. } in &self.judged.decisions {
            let (class, word) = match verdict {
                Verdict::Pass => ("good", "pass"),
                Verdict::Fail => ("bad", "FAIL"),
                Verdict::Inconclusive => ("open", "undecided"),
            };
            push!(
                out,
                "<tr><td><strong>{promise}</strong> {}</td><td class=\"{class}\">{word}</td>\
                 <td>{danger}</td></tr>\n",
                Text(promise.sentence())
            );
        }
        push!(out, "</tbody></table>\n");
    }

    fn scene(&self, out: &mut String) {
        if self.steps.is_empty() {
            return;
        }
        let breaks: Vec<usize> =
            breaches(self.judged).filter_map(|(_, place)| self.step(place)).collect();
        let at = breaks.iter().copied().min().unwrap_or(self.steps.len() - 1);
        let (steps, id) = (self.steps.clone(), self.id.as_str());
        let (messages, say) = (messages_of(&steps), |said: String| self.record.names.say(&said));
        push!(out, "<div class=\"scene\">\n");
        let day = self.record.lines.first().map_or(0, |line| line.at.0 / DAY);
        let (messages, midnight) = (&messages[..], Millis(day * DAY));
        let story = Story { id, steps, messages, breaks, at, midnight, say: &say };
        drawing::draw(&story, out);
        panel::head("What is broken", at, self.steps.len(), out);
        for (decision, place) in breaches(self.judged) {
            let Decision { promise, .. } = decision;
            let at = self.step(place).unwrap_or(at);
            push!(
                out,
                "<div class=\"breach\"><p><span class=\"bad\">{promise} is broken</span> at \
                 <a href=\"#{id}-{at}\">line {}</a>: {}.</p>\n<p>{promise}: {}.</p></div>\n",
                place.line,
                Text(&place.what),
                Text(promise.sentence()),
            );
        }
        push!(out, "</section>\n</div>\n");
    }
}

/// What is broken, and where.
fn breaches(judged: &Judged) -> impl Iterator<Item = (&Decision, &Place)> {
    judged.decisions.iter().filter_map(|decision| match &decision.why {
        Some(Why::Broken(place)) if decision.verdict == Verdict::Fail => Some((decision, place)),
        _ => None,
    })
}

/// The number of the fact that stands in this line of the file.
fn index(record: &Record, place: &Place) -> Option<usize> {
    record.places.iter().position(|line| *line == place.line)
}

/// The most facts that are drawn: more of them no browser scrolls through.
const LINES_MAX: usize = 4_000;
