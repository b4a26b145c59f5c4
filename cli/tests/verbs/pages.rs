//! The pages of `replay --html` and `prove --html`, as a browser reads them. That a person can use them is
//! seen in one: `cargo xtask browser`.

use std::{collections::BTreeSet, fs};

use crate::support::{Folder, hookproof, stderr, stdout};

/// The values of an attribute.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    page.split(&start).skip(1).map(|rest| rest.split('"').next().unwrap_or_default()).collect()
}

/// Everything in angle brackets, without the page's own style and script.
fn tags(page: &str) -> Vec<&str> {
    let (head, rest) = page.split_once("<style>").expect("a style");
    let (_, rest) = rest.split_once("</style>").expect("its end");
    let (body, _) = rest.split_once("<script>").expect("a script");
    let tags = [head, body].into_iter().flat_map(|text| text.split('<').skip(1));
    tags.map(|rest| rest.split('>').next().unwrap_or_default()).collect()
}

/// What holds for each page, whatever is shown in it.
fn assert_sound(page: &str) {
    assert!(page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'; script-src"));
    assert_eq!(page.matches("<script>").count(), 1, "one script, the page's own");
    assert_eq!(page.matches("</script>").count(), 1);
    let ids: Vec<&str> = values(page, "id");
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len(), "each id once");
    let hrefs = values(page, "href").into_iter();
    let markers = values(page, "marker-end").into_iter();
    let markers = markers.filter_map(|url| url.strip_prefix("url(")?.strip_suffix(')'));
    for target in hrefs.chain(markers) {
        let id = target.strip_prefix('#').unwrap_or_else(|| panic!("{target} leaves the page"));
        assert!(unique.contains(id), "nothing is called {id}");
    }
    for tag in tags(page) {
        let asks = ["src=", "http:", "https:", "@import", "javascript:"];
        assert!(asks.iter().all(|ask| !tag.contains(ask)), "<{tag}> asks for something");
        let acts = tag.split(' ').any(|part| part.starts_with("on") && part.contains('='));
        assert!(!acts, "<{tag}> acts");
    }
}

/// The scenario of a rogue.
fn scenario(folder: &Folder, rogue: &str) -> String {
    let out = folder.path();
    let args = ["prove", "--rogue", rogue, "--level", "sim", "--seeds", "1", "--out", &out];
    assert_eq!(hookproof(&args).status.code(), Some(0));
    format!("{out}/{rogue}.json")
}

#[test]
fn a_page_shows_the_step_that_breaks_with_what_it_breaks() {
    let folder = Folder::new();
    let path = scenario(&folder, "check-then-insert");
    let page = format!("{}/page.html", folder.path());
    let plain = hookproof(&["replay", &path, "--rogue", "check-then-insert"]);
    let run = hookproof(&["replay", &path, "--rogue", "check-then-insert", "--html", &page]);
    assert_eq!(run.status.code(), Some(1), "{}", stderr(&run));
    assert_eq!(stdout(&run), stdout(&plain), "the page changes nothing else");
    let page = fs::read_to_string(page).expect("a page");
    assert_sound(&page);
    assert_eq!(page.matches("aria-current=\"step\"").count(), 1);
    assert!(page.contains("class=\"breaks\" aria-current=\"step\""), "it is selected at once");
    assert!(page.contains("R4 is broken</span> at") && page.contains("R4: duplicates fold into"));
    assert!(page.contains(&format!("hookproof replay {path} --rogue check-then-insert")));
    assert!(page.contains("marker-end") && page.contains("#sign-commit"));
    assert!(page.contains("<caption>deliveries</caption>"));
}

#[test]
fn hostile_names_are_text() {
    let folder = Folder::new();
    let text = fs::read_to_string(scenario(&folder, "check-then-insert")).expect("a scenario");
    let hostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\\\" onload=\\\"x {body}\\u2028";
    let text = text.replacen("check-then-insert breaks R4", hostile, 1);
    let path = folder.file("hostile.json", text);
    let page = format!("{}/hostile.html", folder.path());
    let run = hookproof(&["replay", &path, "--html", &page]);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let page = fs::read_to_string(page).expect("a page");
    assert_sound(&page);
    assert!(page.contains("&lt;img src=x onerror=alert(2)&gt;"), "it is shown as it is");
}

#[test]
fn several_scenarios_are_one_page_with_what_broke_first() {
    let folder = Folder::new();
    let one = scenario(&folder, "check-then-insert");
    let two = scenario(&folder, "no-alert");
    let page = format!("{}/all.html", folder.path());
    let run = hookproof(&["replay", &two, &one, "--rogue", "check-then-insert", "--html", &page]);
    assert_eq!(run.status.code(), Some(1), "{}", stderr(&run));
    let page = fs::read_to_string(page).expect("a page");
    assert_sound(&page);
    let first = page.split("<details open>").nth(1).expect("the broken one is open");
    assert!(first.starts_with("<summary><span class=\"name\">check-then-insert breaks R4"));
    assert_eq!(page.matches("<details>").count(), 1);
}

#[test]
fn a_proof_is_a_page_with_what_is_broken_first() {
    let folder = Folder::new();
    let page = format!("{}/proof.html", folder.path());
    let args = ["prove", "--level", "sim", "--rogue", "none", "--sabotage", "no-wake", "--out"];
    let run = hookproof(&[&args[..], &[&folder.path(), "--html", &page]].concat());
    assert_eq!(run.status.code(), Some(1), "{}", stderr(&run));
    let page = fs::read_to_string(page).expect("a page");
    assert_sound(&page);
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}"));
    assert!(at("<h2>R9 is broken</h2>") < at("class=\"breaks\""));
    assert!(at("class=\"breaks\"") < at("<h2>Promises</h2>"));
    assert!(at("<h2>Promises</h2>") < at("<h2>Rogues</h2>"));
    assert!(page.contains("<h2>Stories</h2>") && page.contains("Situations:"));
}

#[test]
fn a_history_of_somebody_else_is_drawn_with_its_own_ids_and_where_it_breaks() {
    let folder = Folder::new();
    let careless = include_str!("../../../conformance/examples/judge/careless.jsonl");
    let (history, out) = (folder.file("careless.jsonl", careless), folder.file("page.html", ""));
    let judged = hookproof(&["judge", &history, "--html", &out]);
    assert_eq!(judged.status.code(), Some(1), "{}", stderr(&judged));
    let page = fs::read_to_string(&out).expect("a page");
    assert_sound(&page);
    assert_eq!(page.matches("breaks here").count(), 3, "R3, R4 and R7 at steps of their own");
    assert_eq!(page.matches("aria-current=\"step\"").count(), 1);
    assert!(page.contains("receipt evt_1") || page.contains("delivery evt_1"), "its ids");
    assert!(page.contains("<span class=\"clock\">10:00:00.000"), "the time of its day");
}

#[test]
fn a_page_that_cannot_be_written_is_a_failure() {
    let folder = Folder::new();
    let path = scenario(&folder, "check-then-insert");
    let run = hookproof(&["replay", &path, "--html", &format!("{}/no/page.html", folder.path())]);
    assert_eq!(run.status.code(), Some(3));
    assert!(stderr(&run).contains("expected to write a report"), "{}", stderr(&run));
}
