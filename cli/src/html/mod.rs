//! Pages: one self-contained file each, that asks nobody for anything.
//!
//! All is drawn here, so that a page shows the same without its script, which only walks through it. What
//! is data goes through [`Text`], and into no place but between tags and into quoted attributes.

mod drawing;
mod panel;
pub(crate) mod record;
pub(crate) mod scene;

use std::fmt::{self, Display, Formatter, Write as _};

/// A text as it stands between tags, or in a quoted attribute.
pub(crate) struct Text<T>(pub(crate) T);

impl<T: Display> Display for Text<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for c in self.0.to_string().chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                // No text of ours has them, and some could turn what stands behind them around.
                c if c.is_control() && c != '\n' || is_unseen(c) => f.write_char('\u{fffd}')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

fn is_unseen(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// A whole page around its body, which is markup.
pub(crate) fn page(title: &str, body: &str) -> String {
    format!(
        include_str!("page.html"),
        title = Text(title),
        style = include_str!("style.css"),
        script = include_str!("script.js"),
        body = body,
    )
}

/// Appends markup. A `String` takes everything.
macro_rules! push {
    ($out:expr, $($parts:tt)*) => {{
        let _ = ::std::fmt::Write::write_fmt($out, format_args!($($parts)*));
    }};
}
pub(crate) use push;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_text() {
        let hostile = "</script><img src=x onerror=\"alert('1')\">&\u{2028}\u{202e}\u{7}";
        assert_eq!(
            Text(hostile).to_string(),
            "&lt;/script&gt;&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;\u{fffd}\u{fffd}\u{fffd}"
        );
    }

    #[test]
    fn a_title_cannot_name_a_place_of_the_page() {
        let page = page("{body}{style}", "<p>once</p>");
        assert_eq!(page.matches("<p>once</p>").count(), 1);
        assert!(page.contains("<title>{body}{style}</title>"));
    }
}
