//! The report for CI: a case for each promise and level, each rogue, each story, and the whole run. What
//! was not asked, or not shown, is skipped with its reason, and never a pass.

use hookproof_sim::{history::Line, named, promise::Promise, prove::Hunt, rogue::Rogue};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{
    options::{Level, Options},
    outcome::{Outcome, Story, Verdict, Violation},
    report::{self, SHOWN},
};
use crate::{html::push, say::count};

pub(super) fn report(outcome: &Outcome, options: &Options) -> String {
    let mut report = Report::new("hookproof prove");
    let violations = outcome.violations(options);
    let levels = [Level::Explore, Level::Sim];
    let pairs =
        Promise::CHECKED.into_iter().flat_map(|promise| levels.map(|level| (promise, level)));
    let promises = pairs.map(|(promise, level)| {
        let name = format!("{promise} ({}): {}", level.name(), promise.sentence());
        (name, of_promise(promise, level, &violations, outcome, options))
    });
    let rogues = Rogue::ALL.iter().map(|&rogue| {
        let name = format!("{}: {}", rogue.name(), rogue.sentence());
        (name, of_rogue(rogue, outcome, options))
    });
    let told = named::all().into_iter().map(|named| {
        let story = outcome.stories.iter().find(|story| story.name == named.name);
        (named.name.to_owned(), of_story(story, options))
    });
    let whole = [("the whole run".to_owned(), of_run(outcome, options))];
    report.add_test_suite(suite("promises", promises));
    report.add_test_suite(suite("rogues", rogues));
    report.add_test_suite(suite("stories", told));
    report.add_test_suite(suite("run", whole.into_iter()));
    report.to_string().expect("a report without foreign bytes is XML")
}

fn suite(name: &str, cases: impl Iterator<Item = (String, TestCaseStatus)>) -> TestSuite {
    let mut suite = TestSuite::new(name);
    for (title, status) in cases {
        let mut case = TestCase::new(title, status);
        case.set_classname(format!("hookproof.{name}"));
        suite.add_test_case(case);
    }
    suite
}

fn of_promise(
    promise: Promise,
    level: Level,
    violations: &[Violation<'_>],
    outcome: &Outcome,
    options: &Options,
) -> TestCaseStatus {
    let danger = match level {
        Level::Explore => outcome.danger_explored(promise),
        Level::Sim => outcome.danger_walked(promise),
    };
    let broken = |of: &&Violation<'_>| (of.promise, of.level) == (promise, level);
    if let Some(broken) = violations.iter().find(broken) {
        return failure(broken.what, &history(broken), &broken.command);
    }
    if !options.has(level) {
        return skipped("this level was not asked for");
    }
    if !options.promises().contains(&promise) {
        return skipped("this promise was not asked for");
    }
    if danger == 0 {
        return skipped("never in danger at this level: nothing was shown");
    }
    if outcome.unguarded(promise) {
        return error("no rogue was caught by it: it may be kept because nothing looks");
    }
    TestCaseStatus::success()
}

/// The last lines of a history, and what they broke.
fn history(violation: &Violation<'_>) -> String {
    let Violation { promise, what, lines, kept, .. } = violation;
    let mut said = trace(lines);
    push!(&mut said, "{promise}: {}\n{what}\n", promise.sentence());
    if let Some(path) = kept {
        push!(&mut said, "replay: hookproof replay {}\n", path.display());
    }
    said
}

fn trace(lines: &[Line]) -> String {
    let from = lines.len().saturating_sub(SHOWN);
    let mut said = String::new();
    if from > 0 {
        push!(&mut said, "… {} before\n", count(from as u64, "line", "lines"));
    }
    for line in &lines[from..] {
        push!(&mut said, "{line}\n");
    }
    said
}

fn of_rogue(rogue: Rogue, outcome: &Outcome, options: &Options) -> TestCaseStatus {
    let hunt: Option<&Hunt> = outcome.hunts.iter().find(|hunt| hunt.rogue == rogue);
    match hunt {
        None if outcome.rogues.contains(&rogue) => skipped("time was up before its hunt"),
        None => skipped("this rogue was not asked for"),
        Some(hunt) if hunt.catch.is_some() => TestCaseStatus::success(),
        Some(hunt) if hunt.cut => skipped("time was up in its hunt"),
        Some(_) if !options.expects(rogue) => skipped("the small worlds alone do not show it"),
        Some(hunt) => {
            let what = format!("escaped in {}", count(hunt.tries, "try", "tries"));
            let mut expected = String::new();
            for promise in rogue.breaks() {
                let sentence = promise.sentence();
                push!(&mut expected, "expected a breach of {promise}: {sentence}\n");
            }
            failure(&what, &expected, &options.hunted_again(rogue))
        }
    }
}

fn of_story(story: Option<&Story>, options: &Options) -> TestCaseStatus {
    match story {
        None => skipped("stories were not asked for"),
        Some(story) if story.holds() => TestCaseStatus::success(),
        Some(story) => {
            let what = match &story.told.breach {
                Some(breach) => format!("{} is broken: {}", breach.promise, breach.what),
                None => report::surprise(&story.told.surprises),
            };
            failure(&what, &trace(&story.told.lines), &options.told_again())
        }
    }
}

/// Whoever reads nothing but this report must not take an open verdict for a pass.
fn of_run(outcome: &Outcome, options: &Options) -> TestCaseStatus {
    let (verdict, word, said) = report::verdict(outcome, options);
    let seeds = outcome.walked.as_ref().map(|walked| &walked.walks.seeds);
    match verdict {
        Verdict::Checked => TestCaseStatus::success(),
        Verdict::Broken => failure(&format!("{word}: {said}"), "", &options.repeat(seeds)),
        Verdict::Open => {
            let mut status = error(&format!("{word}: {said}"));
            let all = outcome.unexercised(options).into_iter().chain(outcome.left_out(options));
            status.set_description(all.map(|one| one + "\n").collect::<String>());
            status
        }
    }
}

fn failure(what: &str, history: &str, command: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(what).set_description(format!("{history}again: {command}\n"));
    status
}

fn error(what: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_message(what);
    status
}

fn skipped(why: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(why);
    status
}
