//! Paths of a package, in their one form (`spec/package.md`, "Paths").

use std::collections::{HashMap, HashSet};
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

    /// What a system that ignores case and normalises names sees.
    fn folded(&self) -> String {
        if self.0.is_ascii() {
            return self.0.to_ascii_lowercase();
        }
        let parts: Vec<String> = self.components().map(fold).collect();
        parts.join("/")
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

fn fold(name: &str) -> String {
    let folded = |c: char| c.to_uppercase().flat_map(char::to_lowercase);
    name.nfc().flat_map(folded).nfc().collect()
}

/// The first path that clashes with another one: equal to it, or below it, on some system.
pub(super) fn clash<'p>(
    paths: impl Iterator<Item = &'p RelativePath> + Clone,
) -> Option<&'p RelativePath> {
    let mut seen = HashSet::new();
    for path in paths.clone() {
        if !seen.insert(path.folded()) {
            return Some(path);
        }
    }
    let mut directories: HashMap<String, &str> = HashMap::new();
    paths.clone().find(|path| {
        let folded = path.folded();
        let ends = folded.match_indices('/').zip(path.0.match_indices('/'));
        let mut pairs =
            ends.map(|((in_folded, _), (end, _))| (&folded[..in_folded], &path.0[..end]));
        pairs.any(|(folded, directory)| {
            let same = directories.entry(folded.to_owned()).or_insert(directory);
            seen.contains(folded) || *same != directory
        })
    })
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
        clash(paths.iter()).map(|path| path.as_str().to_owned())
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
        for (one, other) in [("ς", "σ"), ("ſ", "s"), ("µ", "μ"), ("ß", "ss"), ("ﬀ", "FF")] {
            assert_eq!(clashing(&[one, other]).unwrap(), other);
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
}
