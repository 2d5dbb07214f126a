//! Names of the files that belong to a passport.

use std::path::{Path, PathBuf};

/// The default passport in the directory of a user.
pub const DEFAULT_PASSPORT: &str = "default.passport";

/// The former default passports in this directory, sorted. `passport rotate` names them.
pub fn former_default_passports(directory: &Path) -> Vec<PathBuf> {
    let is_former = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| {
            name != DEFAULT_PASSPORT && name.starts_with("default.") && name.ends_with(".passport")
        })
    };
    let paths = directory.read_dir().into_iter().flatten().flatten();
    let mut former: Vec<PathBuf> = paths.map(|entry| entry.path()).filter(is_former).collect();
    former.sort();
    former
}

/// `default.passport` → `default.9aee5533.passport`; `tag` is the beginning of a fingerprint.
pub fn tagged(path: &Path, tag: &str) -> PathBuf {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    path.with_extension(format!("{tag}.{extension}"))
}

/// Where the public half of a passport is: `alice.passport` → `alice.pub`.
pub fn public_half(passport: &Path) -> PathBuf {
    match passport.extension() {
        Some(extension) if extension == "passport" => passport.with_extension("pub"),
        _ => with_suffix(passport, ".pub"),
    }
}

/// `path` with `suffix` behind its name.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_stands_before_the_extension() {
        let path = Path::new("a.b/default.passport");
        assert_eq!(
            tagged(path, "9aee5533"),
            Path::new("a.b/default.9aee5533.passport")
        );
    }

    #[test]
    fn former_passports_are_found_beside_the_default_one() {
        let directory = tempfile::tempdir().unwrap();
        let [old, older] = ["default.b.passport", "default.a.passport"];
        for name in [
            DEFAULT_PASSPORT,
            old,
            older,
            "default.pub",
            "alice.passport",
        ] {
            std::fs::write(directory.path().join(name), "").unwrap();
        }
        let found = former_default_passports(directory.path());
        assert_eq!(found, [older, old].map(|name| directory.path().join(name)));
        assert!(former_default_passports(&directory.path().join("none")).is_empty());
    }
}
