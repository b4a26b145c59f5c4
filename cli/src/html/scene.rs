//! A scenario on a page: what came of it, its drawing, and the rows beside it.

use hookproof_core::Millis;
use hookproof_sim::{
    picture::Picture,
    rogue::Rogue,
    scenario::{Scenario, Unfired},
};

use super::{
    Text,
    drawing::{self, Story},
    panel, push,
};
use crate::say::count;

/// A scenario that was played, to be shown.
pub(crate) struct Scene<'a> {
    /// What sets it apart on its page: letters, digits and hyphens.
    pub(crate) id: String,
    pub(crate) scenario: &'a Scenario,
    pub(crate) rogue: Option<Rogue>,
    pub(crate) picture: Picture,
    /// What repeats it.
    pub(crate) command: String,
}

/// The page of what was replayed: one scenario whole, of several each under its name, what broke first.
pub(crate) fn page(scenes: &[Scene<'_>]) -> String {
    let mut body = String::new();
    if let [scene] = scenes {
        push!(&mut body, "<h1>{}</h1>\n", Text(scene.title()));
        scene.head(&mut body);
        body.push_str(KEY);
        scene.body(&mut body);
        return super::page(scene.title(), &body);
    }
    let title = count(scenes.len() as u64, "scenario", "scenarios");
    push!(&mut body, "<h1>{title}</h1>\n{KEY}");
    let (broken, other): (Vec<_>, Vec<_>) = scenes.iter().partition(|scene| scene.is_broken());
    for (number, scene) in broken.into_iter().chain(other).enumerate() {
        scene.folded(scene.title(), number == 0 && scene.is_broken(), &mut body);
    }
    super::page(&title, &body)
}

impl<'a> Scene<'a> {
    pub(crate) fn new(
        id: String,
        scenario: &'a Scenario,
        rogue: Option<Rogue>,
        command: String,
    ) -> Self {
        Self { id, scenario, rogue, picture: Picture::of(scenario, rogue), command }
    }

    /// The step that broke a promise, else the last one.
    pub(crate) fn last(&self) -> usize {
        self.picture.played.steps().len().saturating_sub(1)
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.picture.played.report.breach().is_some()
    }

    fn title(&self) -> &str {
        let name = &self.scenario.name;
        if name.is_empty() { &self.command } else { name }
    }

    /// All of it, under a line that opens it.
    pub(crate) fn folded(&self, name: &str, open: bool, out: &mut String) {
        let open = if open { " open" } else { "" };
        let (class, word) = match self.picture.played.report.breach() {
            Some(broken) => ("bad", format!("breaks {}", broken.breach.promise)),
            None if self.picture.played.holds() => ("good", "as expected".to_owned()),
            None => ("open", "not as expected".to_owned()),
        };
        push!(
            out,
            "<details{open}><summary><span class=\"name\">{}</span> <span class=\"{class}\">{word}\
             </span></summary>\n",
            Text(name)
        );
        self.head(out);
        self.body(out);
        push!(out, "</details>\n");
    }

    /// What it is about and what came of it.
    pub(crate) fn head(&self, out: &mut String) {
        let Scenario { about, seen, script, .. } = self.scenario;
        push!(out, "<p>About <strong>{about}</strong>: {}.</p>\n", Text(about.sentence()));
        if !seen.is_empty() {
            push!(out, "<p class=\"dim\">Seen: {}</p>\n", Text(seen));
        }
        if let Some(rogue) = self.rogue {
            let (name, sentence) = (Text(rogue.name()), Text(rogue.sentence()));
            push!(out, "<p>With the rogue <strong>{name}</strong>: {sentence}</p>\n");
        }
        let faults = script.faults.iter().map(|site| Unfired::Fault(*site).to_string());
        let faults: Vec<String> = faults.collect();
        if !faults.is_empty() {
            push!(out, "<p class=\"dim\">Faults: {}.</p>\n", Text(faults.join("; ")));
        }
        self.verdict(out);
        push!(out, "<p class=\"dim\">Again: <code>{}</code></p>\n", Text(&self.command));
    }

    fn verdict(&self, out: &mut String) {
        let played = &self.picture.played;
        self.breach(out);
        for (seen, times, came) in &played.surprises {
            push!(
                out,
                "<p><span class=\"bad\">{}</span>: {came}, expected {times}</p>\n",
                Text(seen)
            );
        }
        if !self.is_broken() && !played.walk.ended {
            push!(out, "<p class=\"bad\">It never ends.</p>\n");
        }
        for unfired in &played.unfired {
            push!(out, "<p><span class=\"open\">Did not happen</span>: {}</p>\n", Text(unfired));
        }
        if played.holds() {
            let about = self.scenario.about;
            let times = count(u64::from(played.report.danger.of(about)), "time", "times");
            push!(
                out,
                "<p><span class=\"good\">As expected</span>: every promise was kept; {about} was in \
                 danger {times}.</p>\n"
            );
        }
    }

    /// Each promise that was broken, with its sentence and the oracle's.
    pub(super) fn breach(&self, out: &mut String) {
        let (id, at) = (&self.id, self.last());
        for broken in &self.picture.played.report.broken {
            let (promise, what) = (broken.breach.promise, &broken.breach.what);
            push!(
                out,
                "<div class=\"breach\"><p><span class=\"bad\">{promise} is broken</span> at \
                 <a href=\"#{id}-{at}\">step {}</a>: {}.</p>\n<p>{promise}: {}.</p></div>\n",
                at + 1,
                Text(what),
                Text(promise.sentence()),
            );
        }
    }

    /// The drawing and the rows.
    pub(crate) fn body(&self, out: &mut String) {
        push!(out, "<div class=\"scene\">\n");
        let played = &self.picture.played;
        let steps: Vec<_> = played.steps().into_iter().map(|of| &played.lines[of]).collect();
        let at = self.last();
        let breaks = if self.is_broken() { vec![at] } else { Vec::new() };
        let (id, messages) = (self.id.as_str(), &self.picture.messages[..]);
        let midnight = Millis(0);
        let story = Story { id, steps, messages, breaks, at, midnight, say: &|said| said };
        drawing::draw(&story, out);
        panel::rows(self, out);
        push!(out, "</div>\n");
    }
}

/// What the signs of a drawing mean.
pub(crate) const KEY: &str = "\
<ul class=\"key\" aria-label=\"Signs\">
<li><svg viewBox=\"-10 -10 20 20\" aria-hidden=\"true\"><use class=\"commit\" href=\"#sign-commit\"/></svg> commit</li>
<li><svg viewBox=\"-10 -10 20 20\" aria-hidden=\"true\"><use class=\"refused\" href=\"#sign-refused\"/></svg> nothing written</li>
<li><svg viewBox=\"-10 -10 20 20\" aria-hidden=\"true\"><use class=\"effect\" href=\"#sign-effect\"/></svg> effect</li>
<li><svg viewBox=\"-10 -10 20 20\" aria-hidden=\"true\"><use class=\"fault\" href=\"#sign-fault\"/></svg> fault</li>
<li><svg viewBox=\"-10 -10 20 20\" aria-hidden=\"true\"><use class=\"crash\" href=\"#sign-crash\"/></svg> down</li>
<li><svg viewBox=\"-10 -10 20 20\" aria-hidden=\"true\"><line x1=\"-10\" x2=\"10\"/></svg> request</li>
<li><svg viewBox=\"-10 -10 20 20\" aria-hidden=\"true\"><line class=\"copy\" x1=\"-10\" x2=\"10\"/></svg> copy of one</li>
<li><svg viewBox=\"-10 -10 20 20\" aria-hidden=\"true\"><line class=\"response\" x1=\"-10\" x2=\"10\"/></svg> answer</li>
<li><svg viewBox=\"-10 -10 20 20\" aria-hidden=\"true\"><use class=\"lost\" href=\"#sign-lost\"/></svg> never arrives</li>
<li><svg viewBox=\"-10 -10 20 20\" aria-hidden=\"true\"><use class=\"under-way\" href=\"#sign-under-way\"/></svg> on its way at the end</li>
</ul>
<p class=\"dim\">Time runs downwards, a row a step. The arrow keys or j and k walk through the steps, Home and \
End go to the first and the last.</p>
<noscript><p>Without scripts the rows are those of the last step.</p></noscript>
";
