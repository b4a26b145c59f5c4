//! The SQL statements that stand in a file of Rust: each literal, or `concat!` of literals and macros of
//! the same file or of its database's, that begins as a statement does.

/// A statement, as it reaches the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    /// Its constant's name, or how it begins.
    pub(super) name: String,
    pub(super) text: String,
}

/// `beside` is where else macros may be defined.
pub(super) fn statements(rust: &str, beside: &str) -> Vec<Statement> {
    let code = rust.split("#[cfg(test)]").next().unwrap_or_default();
    let mut found = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let Some((text, end)) = expression(code, at, beside) else {
            at = past_noise(code, at);
            continue;
        };
        if BEGINNINGS.iter().any(|verb| text.starts_with(verb)) {
            found.push(Statement { name: name(code, at, &text), text });
        }
        at = end;
    }
    found
}

/// How a statement begins that a clause can be missing from.
const BEGINNINGS: [&str; 6] = ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "WITH ", "BEGIN "];

/// The text that begins here, and where its expression ends.
fn expression(code: &str, at: usize, beside: &str) -> Option<(String, usize)> {
    let rest = &code[at..];
    if let Some(list) = rest.strip_prefix("concat!(") {
        let mut text = String::new();
        let mut here = code.len() - list.len();
        while !code[here..].starts_with(')') {
            if let Some((part, end)) = literal(code, here) {
                text.push_str(&part);
                here = end;
            } else if let Some((part, end)) = called(code, here, beside) {
                text.push_str(&part);
                here = end;
            } else {
                here += code[here..].chars().next()?.len_utf8();
            }
        }
        return Some((text, here + 1));
    }
    literal(code, at)
}

/// The value of the string literal that begins here, and where it ends.
fn literal(code: &str, at: usize) -> Option<(String, usize)> {
    let rest = &code[at..];
    if rest.starts_with("r\"") || rest.starts_with("r#") {
        let marks = rest[1..].bytes().take_while(|byte| *byte == b'#').count();
        let body = rest[1 + marks..].strip_prefix('"')?;
        let close = format!("\"{}", "#".repeat(marks));
        let end = body.find(&close)?;
        return Some((body[..end].to_owned(), code.len() - body.len() + end + close.len()));
    }
    let mut text = String::new();
    let mut chars = rest.strip_prefix('"')?.char_indices();
    while let Some((offset, char)) = chars.next() {
        match char {
            '"' => return Some((text, at + 1 + offset + 1)),
            '\\' => match chars.next()?.1 {
                'n' => text.push('\n'),
                '\n' => {
                    let spaces = chars.as_str();
                    let skipped = spaces.len() - spaces.trim_start().len();
                    for _ in 0..skipped {
                        chars.next();
                    }
                }
                other => text.push(other),
            },
            other => text.push(other),
        }
    }
    None
}

/// What the macro that is called here says.
fn called(code: &str, at: usize, beside: &str) -> Option<(String, usize)> {
    let rest = &code[at..];
    let length = rest.find("!()")?;
    let name = &rest[..length];
    if name.is_empty() || !name.chars().all(|char| char.is_alphanumeric() || char == '_') {
        return None;
    }
    let heading = format!("macro_rules! {name} {{");
    let text = if code.contains(&heading) { code } else { beside };
    let definition = text.find(&heading)?;
    let body = definition + text[definition..].find('"')?;
    Some((literal(text, body)?.0, at + length + "!()".len()))
}

/// The next place where something may begin: after a comment, a quoted character or a word.
fn past_noise(code: &str, at: usize) -> usize {
    let rest = &code[at..];
    if rest.starts_with("//") {
        return at + rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("'\"'") {
        return at + 3;
    }
    let word = |char: char| char.is_alphanumeric() || char == '_';
    let first = rest.chars().next().map_or(1, char::len_utf8);
    if !rest.starts_with(word) {
        return at + first;
    }
    let end = rest.find(|char| !word(char)).unwrap_or(rest.len());
    // `r` may begin a raw literal and `concat` a list.
    let stays = rest.starts_with("concat!(") || rest.starts_with("r\"") || rest.starts_with("r#\"");
    if stays { at + first } else { at + end }
}

/// The constant that the text at this place is the value of, or the text's beginning.
fn name(code: &str, at: usize, text: &str) -> String {
    let before = &code[..at];
    let constant = before.rfind("const ").filter(|from| !before[*from..].contains(';'));
    if let Some(from) = constant
        && let Some((name, _)) = before[from + "const ".len()..].split_once(':')
    {
        return name.to_owned();
    }
    text.split_whitespace().take(4).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_is_found_with_what_its_macros_say() {
        let code = r#"
            macro_rules! row { () => { "e.id, e.rev" }; }
            /// Not "SELECT this".
            const ROWS: &str = concat!("SELECT ", row!(), " FROM t
                WHERE id = 'a\\b'", skip!());
        "#;
        let beside = r#"macro_rules! skip { () => { " LIMIT 1" }; }"#;
        let [row] = &statements(code, beside)[..] else { panic!("not one") };
        assert_eq!(row.name, "ROWS");
        assert_eq!(
            row.text.split_whitespace().collect::<Vec<_>>().join(" "),
            r"SELECT e.id, e.rev FROM t WHERE id = 'a\b' LIMIT 1"
        );
    }

    #[test]
    fn a_statement_inside_a_function_is_named_as_it_begins() {
        let code = "fn a() { let x = '\"'; run(\"SELECT max(a) FROM b WHERE c\"); say(\"no\"); }";
        let [row] = &statements(code, "")[..] else { panic!("not one") };
        assert_eq!(row.name, "SELECT max(a) FROM b");
    }
}
