//! The rows of both databases at the selected step. Every version of every row stands there; those of
//! other steps are hidden.

use hookproof_sim::{
    history::Side,
    picture::{TABLES, Table, Version},
};

use super::{Text, push, scene::Scene};

pub(super) fn rows(scene: &Scene<'_>, out: &mut String) {
    let at = scene.last();
    head("Rows of both databases", at, at + 1, out);
    scene.breach(out);
    for side in [Side::Sender, Side::Receiver] {
        push!(out, "<h2>Database of the {side}</h2>\n");
        for table in TABLES.into_iter().filter(|table| table.side() == side) {
            let mut versions: Vec<&Version> =
                scene.picture.versions.iter().filter(|of| of.row.table == table).collect();
            versions.sort_by_key(|of| key(&of.row.key));
            if !versions.is_empty() {
                self::table(table, &versions, at, out);
            }
        }
    }
    push!(out, "</section>\n");
}

/// The beginning of a panel: which step is shown, and what turns to others.
pub(super) fn head(label: &str, at: usize, steps: usize, out: &mut String) {
    push!(
        out,
        "<section class=\"panel\" tabindex=\"0\" aria-label=\"{label}\">\n\
         <div class=\"top\"><p class=\"said\" role=\"status\">Step {} of {steps}</p>\n",
        at + 1
    );
    push!(out, "<div class=\"turn\" hidden>\n");
    for (turn, word) in [("first", "First"), ("back", "Back"), ("on", "Next"), ("last", "Last")] {
        push!(out, "<button type=\"button\" data-turn=\"{turn}\">{word}</button>\n");
    }
    push!(out, "</div></div>\n");
}

/// Numbers in their order.
fn key(key: &str) -> (u64, &str) {
    let digits = key.bytes().take_while(u8::is_ascii_digit).count();
    (key[..digits].parse().unwrap_or(u64::MAX), key)
}

fn table(table: Table, versions: &[&Version], at: usize, out: &mut String) {
    let hidden = if versions.iter().any(|of| stands(of, at)) { "" } else { " hidden" };
    push!(out, "<table{hidden}><caption>{}</caption><thead><tr>", Text(table.name()));
    for column in table.columns() {
        push!(out, "<th scope=\"col\">{}</th>", Text(column));
    }
    push!(
        out,
        "<th scope=\"col\"><span class=\"unseen\">in this step</span></th></tr></thead><tbody>\n"
    );
    for of in versions {
        version(table, of, at, out);
    }
    push!(out, "</tbody></table>\n");
}

/// Until when a row is shown. What is gone is shown once, in the step in which it went.
fn until(of: &Version) -> Option<usize> {
    if of.row.cells.is_empty() { Some(of.from + 1) } else { of.until }
}

fn stands(of: &Version, at: usize) -> bool {
    of.from <= at && until(of).is_none_or(|until| at < until)
}

fn version(table: Table, of: &Version, at: usize, out: &mut String) {
    let gone = of.row.cells.is_empty();
    let hidden = if stands(of, at) { "" } else { " hidden" };
    let all = of.changed.iter().all(|changed| *changed);
    let word = match (gone, all) {
        (true, _) => "gone",
        (false, true) => "new",
        (false, false) => "changed",
    };
    let now = if of.from == at { " now" } else { "" };
    let until = until(of).map_or_else(String::new, |until| format!(" data-until=\"{until}\""));
    push!(
        out,
        "<tr class=\"{word}{now}\" data-from=\"{}\"{until}{hidden}><th scope=\"row\">{}</th>",
        of.from,
        Text(&of.row.key)
    );
    for (cell, changed) in of.row.cells.iter().zip(&of.changed) {
        let class = if *changed { " class=\"new\"" } else { "" };
        push!(out, "<td{class}>{}</td>", Text(cell));
    }
    if gone {
        push!(out, "<td colspan=\"{}\">gone</td>", table.columns().len() - 1);
    }
    push!(out, "<td class=\"sign\"><span>{word}</span></td></tr>\n");
}
