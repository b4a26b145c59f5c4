//! The drawing of a scenario: a lane a place, time downwards, messages as arrows, signs for the rest.

use std::cmp::Reverse;

use hookproof_core::{Millis, time::SECOND};
use hookproof_sim::{
    history::{Fact, Line, Node, Side},
    picture::{Mark, Message, Sent, Way},
    trace::{Clock, Span},
};

use super::{Text, push};

/// What is drawn.
pub(super) struct Story<'a> {
    /// What sets it apart on its page.
    pub(super) id: &'a str,
    /// The lines of each step.
    pub(super) steps: Vec<&'a [Line]>,
    pub(super) messages: &'a [Message],
    /// The steps that break a promise.
    pub(super) breaks: Vec<usize>,
    /// The step that is shown first.
    pub(super) at: usize,
    /// The midnight from which time is shown.
    pub(super) midnight: Millis,
    /// How a sentence names the rows.
    pub(super) say: &'a dyn Fn(String) -> String,
}

pub(super) fn draw(story: &Story<'_>, out: &mut String) {
    let drawing = Drawing { story, lanes: lanes(story) };
    let lanes = drawing.lanes.len();
    let many = if lanes > LANES_WIDE { " many" } else { "" };
    push!(out, "<div class=\"drawing{many}\" style=\"--lanes:{lanes}\">\n");
    push!(out, "<div class=\"heads\" aria-hidden=\"true\">");
    for lane in &drawing.lanes {
        push!(out, "<span>{}</span>", Text(lane));
    }
    push!(out, "</div>\n<div class=\"stage\">\n");
    drawing.svg(out);
    steps(story, out);
    push!(out, "</div>\n</div>\n");
}

/// The words of each step, which say all that is drawn.
fn steps(story: &Story<'_>, out: &mut String) {
    push!(out, "<ol class=\"steps\" aria-label=\"Steps\">\n");
    let mut before = None;
    for (at, lines) in story.steps.iter().enumerate() {
        let first = &lines[0];
        let mut what: Vec<String> =
            lines.iter().map(|line| (story.say)(line.fact.to_string())).collect();
        let lost = story.messages.iter().filter(|of| of.end == Way::Lost(at));
        what.extend(lost.map(never_arrives));
        let breaks = story.breaks.contains(&at);
        let waited = before.map_or(0, |before| first.at.since(before));
        before = Some(first.at);
        let waited = if waited < SECOND { String::new() } else { format!(" (+{})", Span(waited)) };
        push!(
            out,
            "<li><a id=\"{id}-{at}\" href=\"#{id}-{at}\"{class}{current}><span class=\"clock\">{time}\
             {waited}</span> <strong>{by}</strong>{word}<span class=\"unseen\">: </span><span class=\"what\">{what}</span></a></li>\n",
            id = story.id,
            class = if breaks { " class=\"breaks\"" } else { "" },
            current = if at == story.at { " aria-current=\"step\"" } else { "" },
            time = Clock(Millis(first.at.since(story.midnight))),
            by = Text(first.by),
            word = if breaks { " <strong class=\"bad\">breaks here</strong>" } else { "" },
            what = Text(what.join("; ")),
        );
    }
    push!(out, "</ol>\n");
}

fn never_arrives(message: &Message) -> String {
    let Message { delivery, attempt, .. } = message;
    match message.what {
        Sent::Request => {
            format!("the request of delivery {delivery}, attempt {attempt}, never arrives")
        }
        Sent::Copy => format!("a copy of delivery {delivery}, attempt {attempt}, never arrives"),
        Sent::Response => {
            format!("nobody hears the answer to delivery {delivery}, attempt {attempt}")
        }
    }
}

struct Drawing<'a> {
    story: &'a Story<'a>,
    /// The places that take part.
    lanes: Vec<Node>,
}

fn lanes(story: &Story<'_>) -> Vec<Node> {
    let lines = story.steps.iter().copied().flatten();
    let mut lanes: Vec<Node> =
        lines.flat_map(|line| [Some(line.by), base(line)]).flatten().collect();
    for message in story.messages {
        let end = end(message, story.steps.len());
        lanes.extend(end.into_iter().flat_map(|(node, _)| [message.from.0, node]));
    }
    lanes.sort_by_key(|lane| order(*lane));
    lanes.dedup();
    lanes
}

impl Drawing<'_> {
    fn svg(&self, out: &mut String) {
        push!(out, "<svg aria-hidden=\"true\" focusable=\"false\">\n");
        for lane in &self.lanes {
            self.lane(*lane, out);
        }
        for message in self.story.messages {
            self.message(message, out);
        }
        for (at, lines) in self.story.steps.iter().enumerate() {
            self.signs(at, lines, out);
        }
        push!(out, "</svg>\n");
    }

    /// A lane, dotted where nothing runs in it.
    fn lane(&self, lane: Node, out: &mut String) {
        let x = self.x(lane);
        let mut from = "0%".to_owned();
        let mut up = true;
        let mut piece = |to: &str, up: bool, from: &str| {
            let class = if up { "lane" } else { "lane down" };
            push!(
                out,
                "<line class=\"{class}\" x1=\"{x}\" x2=\"{x}\" y1=\"{from}\" y2=\"{to}\"/>\n"
            );
        };
        for (at, lines) in self.story.steps.iter().enumerate() {
            for line in lines.iter().filter(|line| line.by == lane) {
                let is_up = match line.fact {
                    Fact::Crashed | Fact::DatabaseUp { up: false, .. } => false,
                    Fact::Restarted { .. } | Fact::DatabaseUp { up: true, .. } => true,
                    _ => continue,
                };
                let to = self.y(at);
                piece(&to, up, &from);
                (from, up) = (to, is_up);
            }
        }
        piece("100%", up, &from);
    }

    fn message(&self, message: &Message, out: &mut String) {
        let Some((node, step)) = end(message, self.story.steps.len()) else { return };
        let class = match message.what {
            Sent::Request => "request",
            Sent::Copy => "copy",
            Sent::Response => "response",
        };
        let (x1, y1) = (self.x(message.from.0), self.y(message.from.1));
        let (x2, y2) = (self.x(node), self.y(step));
        let arrow = match message.end {
            Way::Arrived(..) => " marker-end=\"url(#arrow)\"",
            Way::Lost(_) | Way::UnderWay => "",
        };
        push!(
            out,
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"{arrow}/>\n"
        );
        let sign = match message.end {
            Way::Arrived(..) => return,
            Way::Lost(_) => "lost",
            Way::UnderWay => "under-way",
        };
        push!(out, "<use class=\"{sign}\" href=\"#sign-{sign}\" x=\"{x2}\" y=\"{y2}\"/>\n");
    }

    fn signs(&self, at: usize, lines: &[Line], out: &mut String) {
        let sign = |line: &Line| (Mark::of(line), base(line).unwrap_or(line.by), line.by);
        let mut signs: Vec<(Mark, Node, Node)> = lines.iter().map(sign).collect();
        // What counts more is drawn over what counts less.
        signs.sort_by_key(|(mark, place, _)| (Reverse(*mark), order(*place)));
        signs.dedup();
        let y = self.y(at);
        for (_, place, by) in signs.iter().filter(|(_, place, by)| place != by) {
            let (place, by) = (self.x(*place), self.x(*by));
            push!(
                out,
                "<line class=\"link\" x1=\"{by}\" x2=\"{place}\" y1=\"{y}\" y2=\"{y}\"/>\n\
                 <use class=\"point\" href=\"#sign-point\" x=\"{by}\" y=\"{y}\"/>\n"
            );
        }
        for (mark, place, _) in signs {
            let place = self.x(place);
            let sign = match mark {
                Mark::Fault => "fault",
                Mark::Crash => "crash",
                Mark::Refused(_) => "refused",
                Mark::Commit(_) => "commit",
                Mark::Effect => "effect",
                Mark::Point => "point",
            };
            push!(out, "<use class=\"{sign}\" href=\"#sign-{sign}\" x=\"{place}\" y=\"{y}\"/>\n");
        }
    }

    /// The middle of a lane, in hundredths of the width.
    fn x(&self, lane: Node) -> String {
        let at = self.lanes.iter().position(|other| *other == lane).unwrap_or(0);
        percent(at, self.lanes.len())
    }

    /// The middle of a step, in hundredths of the height.
    fn y(&self, step: usize) -> String {
        percent(step, self.story.steps.len())
    }
}

/// The middle of one of several equal parts.
fn percent(at: usize, of: usize) -> String {
    let hundredths = (2 * at + 1) * 5_000 / of.max(1);
    format!("{}.{:02}%", hundredths / 100, hundredths % 100)
}

/// Where a message ends in the drawing. One that is on its way at the end is shown until the step after
/// the one in which it was sent.
fn end(message: &Message, steps: usize) -> Option<(Node, usize)> {
    let (node, at) = match message.end {
        Way::Arrived(node, at) => (node, at),
        Way::Lost(at) => (Node::Network, at),
        Way::UnderWay => (Node::Network, message.from.1 + 1),
    };
    (at < steps).then_some((node, at))
}

/// The database that a line is about.
fn base(line: &Line) -> Option<Node> {
    match Mark::of(line) {
        Mark::Commit(side) | Mark::Refused(side) => Some(Node::Database(side)),
        Mark::Fault | Mark::Crash | Mark::Effect | Mark::Point => None,
    }
}

/// A place by where its lane stands: as a delivery goes, from the left to the right.
fn order(node: Node) -> (u8, u8) {
    match node {
        Node::App => (0, 0),
        Node::Database(Side::Sender) => (1, 0),
        Node::Relay(number) => (2, number),
        Node::Network => (3, 0),
        Node::Ingress(number) => (4, number),
        Node::Database(Side::Receiver) => (5, 0),
        Node::Worker(number) => (6, number),
        Node::EffectRelay(number) => (7, number),
        Node::External => (8, 0),
        Node::Api => (9, 0),
        Node::Operator => (10, 0),
        Node::World => (11, 0),
    }
}

/// With more lanes than this their names stand upright.
const LANES_WIDE: usize = 9;
