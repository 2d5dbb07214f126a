//! Parts of HTML pages, with text that cannot become markup.

use std::fmt::Display;

use crate::text::one_line;

/// Text that HTML does not interpret, in content and in quoted attributes.
///
/// ```
/// assert_eq!(sealstone_terminal::html::escape("<b a='x'>"), "&lt;b a=&#39;x&#39;&gt;");
/// ```
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A line that somebody else may have written.
pub fn line(text: impl Display) -> String {
    escape(&one_line(&text.to_string()))
}

/// A line in the font of code.
pub fn code(text: impl Display) -> String {
    format!("<code>{}</code>", line(text))
}

/// An element. Its content is HTML.
pub fn element(name: &str, content: &str) -> String {
    format!("<{name}>{content}</{name}>\n")
}

/// A section with a heading. Both are HTML.
pub fn section(title: &str, content: &str) -> String {
    element("section", &(element("h2", title) + content))
}

/// A row of a table. The cells are HTML.
pub fn row(cells: &[String]) -> String {
    let cell = |cell: &String| format!("<td>{cell}</td>");
    element("tr", &cells.iter().map(cell).collect::<String>())
}

/// A table. The names of its columns and its rows are HTML.
pub fn table(names: &[&str], rows: &str) -> String {
    let name = |name: &&str| format!("<th>{name}</th>");
    let names: String = names.iter().map(name).collect();
    format!("<table><thead><tr>{names}</tr></thead>\n<tbody>{rows}</tbody></table>\n")
}

/// Names, and values that somebody else may have written. Empty ones are left out.
pub fn definitions(facts: &[(&str, String)]) -> String {
    let known = facts.iter().filter(|(_, value)| !value.is_empty());
    let one = |(name, value): &(&str, String)| format!("<dt>{name}</dt><dd>{}</dd>\n", line(value));
    element("dl", &known.map(one).collect::<String>())
}

/// A page that loads nothing and runs nothing. The style is CSS, the body HTML.
pub fn page(title: &str, style: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>{}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
        line(title)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_others_write_is_interpreted() {
        let bad = "</script><b a='x' b=\"y\">&amp;\u{202e}\n\u{1b}";
        let good =
            "&lt;/script&gt;&lt;b a=&#39;x&#39; b=&quot;y&quot;&gt;&amp;amp;\\u{202e}\\u{a}\\u{1b}";
        assert_eq!(line(bad), good);
        assert_eq!(code(bad), format!("<code>{good}</code>"));
        let list = definitions(&[("Name", bad.to_owned()), ("Note", String::new())]);
        assert_eq!(list, format!("<dl><dt>Name</dt><dd>{good}</dd>\n</dl>\n"));
        assert!(page(bad, "", "").contains(&format!("<title>{good}</title>")));
    }
}
