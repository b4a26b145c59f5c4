//! Each clause of a statement that guards, orders or bounds, taken away once.
//!
//! A condition becomes one that always holds, so that its parameters keep their places and types.

/// A statement without one of its clauses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Removed {
    /// The clause, in one line.
    pub(super) clause: String,
    pub(super) text: String,
}

/// Every clause of a statement that reads or writes rows.
pub(super) fn of_statement(sql: &str) -> Vec<Removed> {
    let text = Text::of(sql);
    let mut removed = Vec::new();
    for (at, word) in text.words.iter().enumerate() {
        match (word.text, text.word(at + 1)) {
            ("WHERE", _) => removed.extend(text.conditions(at, AFTER_WHERE)),
            ("ON", "CONFLICT") => removed.extend(text.on_conflict(at)),
            ("ON", _) => removed.extend(text.conditions(at, AFTER_JOIN)),
            ("ORDER", "BY") => removed.push(text.without(at, text.end(at, AFTER_ORDER))),
            ("LIMIT", _) => removed.push(text.replaced(at, text.end(at, &["FOR"]), " + 1000")),
            ("FOR", "NO" | "UPDATE" | "SHARE" | "KEY") => removed.extend(text.locks(at)),
            ("DISTINCT", _) => removed.push(text.without(at, at + 1)),
            ("BEGIN", "IMMEDIATE") => removed.push(text.without(at + 1, at + 2)),
            ("ISOLATION", "LEVEL") => removed.push(text.without(at, text.words.len())),
            ("pg_advisory_xact_lock", _) => {
                removed.push(text.replaced(at, at + 1, "_shared"));
            }
            _ => {}
        }
    }
    removed
}

/// Every constraint of a migration, but for what only makes it quick.
pub(super) fn of_migration(sql: &str) -> Vec<Removed> {
    let text = Text::of(sql);
    let mut removed = Vec::new();
    let mut table = "";
    for (at, word) in text.words.iter().enumerate() {
        let mut take = |from: usize, to: usize| {
            let Removed { clause, text: sql } = text.without(from, to);
            let place = text.line_of(from, at);
            let clause = format!("{} of {table}{place}", clause.trim_matches([',', ' ']));
            removed.push(Removed { clause, text: sql });
        };
        match (word.text, text.word(at + 1)) {
            ("TABLE", name) => table = name,
            ("NOT", "NULL") if text.is_of_a_key(at) || text.word(at - 1) == "IS" => {}
            ("PRIMARY", "KEY") if text.word(at + 2) == "(" => {
                take(text.element(at), text.closed(at + 2));
            }
            ("NOT", "NULL") | ("PRIMARY", "KEY") | ("COLLATE", _) | ("STRICT", ",") => {
                take(at, at + 2);
            }
            ("UNIQUE" | "CHECK", "(") if text.is_element(at) => {
                take(text.element(at), text.closed(at + 1));
            }
            ("CHECK", "(") => take(at, text.closed(at + 1)),
            ("UNIQUE" | "STRICT", _) => take(at, at + 1),
            ("REFERENCES", _) => {
                let end = text.closed(at + 2);
                let deferred = text.word(end) == "DEFERRABLE" && text.word(end + 1) == "INITIALLY";
                take(at, if deferred { end + 3 } else { end });
            }
            _ => {}
        }
    }
    // Without its key a table of SQLite cannot be without row numbers.
    for Removed { clause, text } in &mut removed {
        if clause.contains("PRIMARY KEY") {
            *text = without_rowid_mended(text);
        }
    }
    removed
}

const AFTER_WHERE: &[&str] =
    &["ORDER", "LIMIT", "FOR", "GROUP", "RETURNING", "UNION", "WHERE", "ON"];
const AFTER_JOIN: &[&str] =
    &["WHERE", "JOIN", "LEFT", "CROSS", "ORDER", "LIMIT", "FOR", "GROUP", "RETURNING"];
const AFTER_ORDER: &[&str] = &["LIMIT", "FOR", "ON", "RETURNING"];

/// A statement in its words.
struct Text<'a> {
    sql: &'a str,
    words: Vec<Word<'a>>,
}

struct Word<'a> {
    text: &'a str,
    start: usize,
    /// In how many parentheses. A parenthesis itself stands outside.
    depth: usize,
}

impl<'a> Text<'a> {
    fn of(sql: &'a str) -> Self {
        let mut words = Vec::new();
        let (mut at, mut depth) = (0, 0_usize);
        while let Some(first) = sql[at..].chars().next() {
            let rest = &sql[at..];
            let length = if rest.starts_with("--") {
                rest.find('\n').unwrap_or(rest.len())
            } else if first == '\'' {
                rest[1..].find('\'').map_or(rest.len(), |end| end + 2)
            } else if is_of_a_word(first) {
                rest.find(|char| !is_of_a_word(char)).unwrap_or(rest.len())
            } else {
                first.len_utf8()
            };
            if !first.is_whitespace() && !rest.starts_with("--") {
                depth -= usize::from(first == ')');
                words.push(Word { text: &rest[..length], start: at, depth });
                depth += usize::from(first == '(');
            }
            at += length;
        }
        Self { sql, words }
    }

    fn word(&self, at: usize) -> &'a str {
        self.words.get(at).map_or("", |word| word.text)
    }

    /// The first word after this one that is none of its clause.
    fn end(&self, at: usize, stops: &[&str]) -> usize {
        let depth = self.words[at].depth;
        let stops = |word: &Word<'_>| {
            word.depth < depth || word.depth == depth && stops.contains(&word.text)
        };
        let rest = &self.words[at + 1..];
        at + 1 + rest.iter().position(stops).unwrap_or(rest.len())
    }

    /// The word after the parenthesis that closes the one at this word.
    fn closed(&self, at: usize) -> usize {
        let depth = self.words[at].depth;
        let rest = &self.words[at + 1..];
        let close = rest.iter().position(|word| word.text == ")" && word.depth == depth);
        at + 1 + close.map_or(rest.len(), |place| place + 1)
    }

    fn span(&self, from: usize, to: usize) -> (usize, usize) {
        let last = &self.words[to - 1];
        (self.words[from].start, last.start + last.text.len())
    }

    fn clause(&self, from: usize, to: usize) -> String {
        let (start, end) = self.span(from, to);
        self.sql[start..end].split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn without(&self, from: usize, to: usize) -> Removed {
        let (start, end) = self.span(from, to);
        let text = format!("{}{}", &self.sql[..start], &self.sql[end..]);
        Removed { clause: self.clause(from, to), text }
    }

    /// With something put behind the clause.
    fn replaced(&self, from: usize, to: usize, behind: &str) -> Removed {
        let (_, end) = self.span(from, to);
        let text = format!("{}{behind}{}", &self.sql[..end], &self.sql[end..]);
        Removed { clause: self.clause(from, to), text }
    }

    /// Each condition that is joined by `AND` behind this word.
    fn conditions(&self, at: usize, stops: &[&str]) -> Vec<Removed> {
        let (end, depth) = (self.end(at, stops), self.words[at].depth);
        let mut removed = Vec::new();
        let mut from = at + 1;
        let mut between = false;
        for here in at + 1..end {
            match self.words[here].text {
                _ if self.words[here].depth != depth => {}
                "BETWEEN" => between = true,
                "AND" if between => between = false,
                "AND" => {
                    removed.push(self.holding(from, here));
                    from = here + 1;
                }
                _ => {}
            }
        }
        removed.push(self.holding(from, end));
        removed
    }

    fn holding(&self, from: usize, to: usize) -> Removed {
        let (start, end) = self.span(from, to);
        let [before, condition, after] =
            [&self.sql[..start], &self.sql[start..end], &self.sql[end..]];
        // A list whose members are bound one by one has no end yet.
        let is_open = condition.matches('(').count() > condition.matches(')').count();
        let text = if is_open {
            format!("{before}true OR {condition}{after}")
        } else {
            format!("{before}({condition} OR true){after}")
        };
        Removed { clause: self.clause(from, to), text }
    }

    fn on_conflict(&self, at: usize) -> Vec<Removed> {
        let end = self.end(at, &["RETURNING"]);
        let mut removed = vec![self.without(at, end)];
        let target = self.closed(at + 2);
        // What is updated must be named.
        if self.word(at + 2) == "(" && self.word(target + 1) == "NOTHING" {
            let text = self.without(at + 2, target).text;
            let clause = format!("{} in ON CONFLICT", self.clause(at + 2, target));
            removed.push(Removed { clause, text });
        }
        removed
    }

    fn locks(&self, at: usize) -> Vec<Removed> {
        let end = self.end(at, &[]);
        let mut removed = vec![self.without(at, end)];
        if let Some(skip) = (at..end).find(|here| self.word(*here) == "SKIP") {
            removed.push(self.without(skip, skip + 2));
        }
        removed
    }

    /// Whether a constraint is a line of its table's own, and not of a column.
    fn is_element(&self, at: usize) -> bool {
        self.word(at - 1) == "," || self.word(at.wrapping_sub(2)) == "CONSTRAINT"
    }

    /// Whether the column of this `NOT NULL` is of its table's primary key, which has a value anyway.
    fn is_of_a_key(&self, at: usize) -> bool {
        if self.word(at + 2) == "PRIMARY" {
            return true;
        }
        let depth = self.words[at].depth;
        let before = &self.words[..at];
        let column =
            before.iter().rposition(|word| ["(", ","].contains(&word.text) && word.depth <= depth);
        let column = column.map_or("", |place| self.word(place + 1));
        let mut rest = self.words[at..].iter().take_while(|word| word.depth >= depth);
        let key = rest.by_ref().find(|word| word.text == "PRIMARY" && word.depth == depth);
        key.is_some() && rest.take_while(|word| word.text != ")").any(|word| word.text == column)
    }

    /// Where a line of a table's own begins: at the comma before it.
    fn element(&self, at: usize) -> usize {
        if self.word(at - 1) == "," { at - 1 } else { at - 3 }
    }

    /// The column that a clause is of, where it is one's.
    fn line_of(&self, from: usize, at: usize) -> String {
        let start = self.words[at].start;
        let line = self.sql[..start].rfind('\n').map_or(0, |place| place + 1);
        let column = self.sql[line..start].split_whitespace().next();
        match column {
            Some(name) if self.word(from) != "," && name != ")" => format!(".{name}"),
            _ => String::new(),
        }
    }
}

fn is_of_a_word(char: char) -> bool {
    char.is_alphanumeric() || ['_', '$', '.', ':', '"'].contains(&char)
}

/// Takes `WITHOUT ROWID` from the tables that have no key.
fn without_rowid_mended(sql: &str) -> String {
    let statements = sql.split_inclusive(';').map(|statement| {
        if statement.contains("PRIMARY KEY") {
            statement.to_owned()
        } else {
            statement.replace(", WITHOUT ROWID", "")
        }
    });
    statements.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clauses(removed: &[Removed]) -> Vec<&str> {
        removed.iter().map(|one| one.clause.as_str()).collect()
    }

    #[test]
    fn each_clause_of_a_claim_goes_once() {
        let removed = of_statement(
            "SELECT e.id FROM t AS e WHERE ($1 IS NULL OR e.id > $1) AND EXISTS (
                 SELECT FROM d WHERE d.t = e.id AND d.wake <= $2
             ) ORDER BY e.id LIMIT $3 FOR NO KEY UPDATE OF e SKIP LOCKED",
        );
        assert_eq!(
            clauses(&removed),
            [
                "($1 IS NULL OR e.id > $1)",
                "EXISTS ( SELECT FROM d WHERE d.t = e.id AND d.wake <= $2 )",
                "d.t = e.id",
                "d.wake <= $2",
                "ORDER BY e.id",
                "LIMIT $3",
                "FOR NO KEY UPDATE OF e SKIP LOCKED",
                "SKIP LOCKED",
            ]
        );
        assert!(removed[3].text.contains("AND (d.wake <= $2 OR true)\n"));
        assert!(removed[5].text.contains("LIMIT $3 + 1000 FOR"));
        assert!(removed[7].text.ends_with("OF e "));
    }

    #[test]
    fn an_insert_loses_its_conflict_and_what_the_conflict_names() {
        let removed = of_statement(
            "INSERT INTO t SELECT * FROM u ORDER BY id
             ON CONFLICT (id) DO NOTHING RETURNING id",
        );
        assert_eq!(
            clauses(&removed),
            ["ORDER BY id", "ON CONFLICT (id) DO NOTHING", "(id) in ON CONFLICT"]
        );
        assert!(removed[2].text.contains("ON CONFLICT  DO NOTHING"));
    }

    #[test]
    fn each_constraint_of_a_table_goes_once() {
        let removed = of_migration(
            "CREATE TABLE t (
                 id    uuid  NOT NULL,
                 size  int   CHECK (abs(size) = 1),
                 name  text  NOT NULL,
                 CONSTRAINT one UNIQUE (id, size),
                 PRIMARY KEY (id)
             ) STRICT, WITHOUT ROWID;
             CREATE INDEX i ON t (id) WHERE size IS NOT NULL;",
        );
        assert_eq!(
            clauses(&removed),
            [
                "CHECK (abs(size) = 1) of t.size",
                "NOT NULL of t.name",
                "CONSTRAINT one UNIQUE (id, size) of t",
                "PRIMARY KEY (id) of t",
                "STRICT of t",
            ]
        );
        assert!(removed[3].text.contains("UNIQUE (id, size)\n             ) STRICT;"));
    }
}
