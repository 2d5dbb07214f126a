//! Paths of a package, in their one form (`spec/package.md`, "Paths").

use std::borrow::Cow;
use std::fmt;

use unicode_normalization::UnicodeNormalization;

use crate::wire::text;
use crate::{Error, Result};

/// A relative path: components of 1 to 255 bytes with `/` between them, 4096 bytes at most.
///
/// ```
/// use sealstone::package::RelativePath;
///
/// assert!(RelativePath::new("docs/report.pdf").is_ok());
/// for bad in ["", "/etc/passwd", "../up", "a//b", "a/./b", "a\\b", "a\nb"] {
///     assert!(RelativePath::new(bad).is_err());
/// }
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelativePath(String);

const MAX_PATH: usize = 4096;
const MAX_COMPONENT: usize = 255;

impl RelativePath {
    /// Takes a path that is in the one form already.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the rule that it breaks.
    pub fn new(path: &str) -> Result<Self> {
        match broken_rule(path) {
            None => Ok(Self(path.to_owned())),
            Some(rule) => Err(Error::Invalid(rule)),
        }
    }

    /// The path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its components, outermost first.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }

    /// Two of these paths that clash: one is equal to the other, below it, or in a directory that
    /// clashes with one of it, on some system.
    pub fn clash<'p>(paths: impl Iterator<Item = &'p Self>) -> Option<(&'p Self, &'p Self)> {
        // Paths are sorted by their folded components, so that all those of a folded directory are
        // neighbours. Then two that clash are too, and a path needs no memory for each of its
        // directories.
        let mut sorted: Vec<_> = paths.map(|path| (path.folded(), path)).collect();
        sorted.sort_by(|(a, _), (b, _)| a.split('/').cmp(b.split('/')));
        let mut neighbours = sorted.windows(2);
        let clashing = neighbours.find(|pair| clash_of(&pair[0], &pair[1]));
        clashing.map(|pair| (pair[0].1, pair[1].1))
    }

    /// The name on a system that ignores case and normalises names.
    fn folded(&self) -> Cow<'_, str> {
        if !self.0.is_ascii() {
            let parts: Vec<String> = self.components().map(fold).collect();
            return Cow::Owned(parts.join("/"));
        }
        match self.0.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => Cow::Owned(self.0.to_ascii_lowercase()),
            false => Cow::Borrowed(&self.0),
        }
    }
}

fn broken_rule(path: &str) -> Option<&'static str> {
    if path.is_empty() || path.len() > MAX_PATH {
        return Some("a path in a package has 1 to 4096 bytes");
    }
    if text::check_line(path, 1, MAX_PATH, "").is_err() {
        return Some("a path in a package has no control or reordering characters");
    }
    if path.contains('\\') {
        return Some("a path in a package has no backslash: some systems separate names by it");
    }
    let bad = |part: &str| matches!(part, "" | "." | "..") || part.len() > MAX_COMPONENT;
    path.split('/').any(bad).then_some(
        "a path in a package is relative, and each of its names has 1 to 255 bytes and is not . or ..",
    )
}

/// Lower case first: the capital ẞ has no upper case, and its lower case ß has SS.
fn fold(name: &str) -> String {
    let lower = name.nfc().flat_map(char::to_lowercase);
    let folded = lower
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase);
    folded.nfc().collect()
}

type Folded<'p> = (Cow<'p, str>, &'p RelativePath);

/// Whether the first path is the second one or a directory of it, or a directory of both is
/// written in two ways.
fn clash_of(first: &Folded, second: &Folded) -> bool {
    let same = |(a, b): &(&str, &str)| a == b;
    let folded = first.0.split('/').zip(second.0.split('/'));
    let common = folded.take_while(same).count();
    let written = first.1.components().zip(second.1.components());
    let differs = !written.take(common).all(|pair| same(&pair));
    differs || first.1.components().count() == common
}

impl fmt::Display for RelativePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RelativePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clashing(paths: &[&str]) -> Option<String> {
        let paths: Vec<_> = paths
            .iter()
            .map(|p| RelativePath::new(p).unwrap())
            .collect();
        RelativePath::clash(paths.iter()).map(|(_, path)| path.as_str().to_owned())
    }

    #[test]
    fn only_the_one_form_is_taken() {
        let long = "a".repeat(255);
        let deep = format!("{}a", "a/".repeat(2047));
        for good in ["a", "a/b", ".hidden", "..a", "a b", "Ä/名前", &long, &deep] {
            assert_eq!(RelativePath::new(good).unwrap().as_str(), good);
        }
        let longer = "a".repeat(256);
        let deeper = format!("{}aaa", "a/".repeat(2047));
        let bad = [
            "",
            "/",
            "/a",
            "a/",
            "a//b",
            ".",
            "..",
            "a/..",
            "a/../b",
            "./a",
            "a\\b",
            "a\0",
            "a\tb",
            "a\u{202e}b",
            "a\u{2066}b",
            &longer,
            &deeper,
        ];
        for bad in bad {
            assert!(RelativePath::new(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn names_that_one_system_could_take_for_equal_clash() {
        assert_eq!(
            clashing(&["a", "b", "a/"].map(|p| p.trim_end_matches('/'))[..2]),
            None
        );
        assert_eq!(clashing(&["a/x", "a/y"]), None);
        assert_eq!(clashing(&["A/x", "a/y"]).unwrap(), "a/y");
        assert_eq!(clashing(&["b/A/x", "b/a/y"]).unwrap(), "b/a/y");
        for (one, other) in [
            ("ς", "σ"),
            ("ſ", "s"),
            ("µ", "μ"),
            ("ß", "ss"),
            ("ﬀ", "FF"),
            ("ẞ", "ss"),
            ("ẞ", "ß"),
            // Both in pieces after the change of case, and in others.
            ("\u{390}", "\u{3aa}\u{301}"),
        ] {
            assert!(clashing(&[one, other]).is_some(), "{one} {other}");
        }
        assert_eq!(clashing(&["a-b", "a", "a.b"]), None);
        assert_eq!(clashing(&["readme", "README"]).unwrap(), "README");
        assert_eq!(clashing(&["a/x", "A/X"]).unwrap(), "A/X");
        assert_eq!(clashing(&["\u{c5}", "A\u{30a}"]).unwrap(), "A\u{30a}");
        assert_eq!(clashing(&["\u{e5}", "A\u{30a}"]).unwrap(), "A\u{30a}");
        assert_eq!(clashing(&["a", "a/b"]).unwrap(), "a/b");
        assert_eq!(clashing(&["A/b/c", "a"]).unwrap(), "A/b/c");
        assert_eq!(clashing(&["a", "a"]).unwrap(), "a");
    }

    #[test]
    fn clashes_are_found_wherever_they_stand() {
        assert_eq!(clashing(&["a", "a-b/x", "a/b"]).unwrap(), "a/b");
        assert_eq!(clashing(&["A/b", "a.c", "a/c/d"]).unwrap(), "a/c/d");
        assert_eq!(clashing(&["a/B/x", "a/b-c", "a/b/y"]).unwrap(), "a/b/y");
        assert_eq!(clashing(&["a/b", "a/b-c", "a/c", "ab"]), None);
        assert_eq!(clashing(&["Ä/x", "ä/y"]).unwrap(), "ä/y");
    }
}
