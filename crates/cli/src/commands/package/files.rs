//! The files that `sign` and `verify` read and write: secrets, content below directories, and new
//! packages.

use std::collections::HashMap;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use sealstone::package::{Json, Listed, MAX_POLICY, Object, RelativePath, Source};
use sealstone_files::{
    Document, Existing, Found, Input, OutputError, PUBLIC, Refusal, Tree, directory_of, keep, umask,
};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{About, Failure, Result};
use crate::io::output;
use crate::io::{DASH, input};
use crate::named::Parse;
use sealstone_terminal::text::shown;

/// The longest key or secret of a package, in bytes, and one more than a reader takes.
const MAX_SECRET: usize = 1024;

/// Reads a shared key or secret.
pub(super) fn secret(path: &Path, what: &str, context: &Context) -> Result<Document> {
    let secret = input::read(path, what, MAX_SECRET)?;
    context.warn_if_exposed(&secret);
    match secret.len() < 32 {
        true => Err(Failure::usage("shorter than 32 bytes")
            .hint("make one: head -c 32 /dev/urandom > FILE")
            .about(secret.name())),
        false => Ok(secret),
    }
}

/// Where a new package goes.
pub(super) fn target(output: Option<&Path>, paths: &[PathBuf]) -> Result<PathBuf> {
    match (output, paths) {
        (Some(path), _) => Ok(path.to_owned()),
        (None, [only]) if only != Path::new(DASH) => {
            let only = only.canonicalize().about(shown(only)).map(|_| only)?;
            let name = only.components().collect::<PathBuf>();
            match name.file_name() {
                Some(_) => Ok(sealstone_files::with_suffix(&name, ".package")),
                None => Err(Failure::usage(
                    "choose a name for the package: -o OUT.package",
                )),
            }
        }
        _ => Err(Failure::usage(
            "choose a name for the package: -o OUT.package",
        )),
    }
}

/// Fails before the work if the package could not be written.
pub(super) fn must_be_writable(target: &Path, force: bool) -> Result<()> {
    if target == Path::new(DASH) {
        return match output::standard_output()?.is_terminal() {
            true => Err(Failure::usage(
                "a package is not text: choose -o OUT.package",
            )),
            false => Ok(()),
        };
    }
    if target.symlink_metadata().is_ok() && !force {
        return Err(OutputError::new(target, Refusal::Exists).into());
    }
    Ok(keep::must_be_makeable(target)?)
}

/// Writes a new package.
pub(super) fn write(target: &Path, bytes: &[u8], force: bool) -> Result<()> {
    if target == Path::new(DASH) {
        return Ok(output::print(bytes)?);
    }
    let existing = if force {
        Existing::Replace
    } else {
        Existing::Keep
    };
    let written = sealstone_files::write(target, bytes, existing, PUBLIC & !umask());
    Ok(written.map_err(|e| OutputError::io(target, e))?)
}

/// The files that are to be signed, in several directories.
pub(super) struct Inputs {
    roots: Vec<Tree>,
    root_of: HashMap<RelativePath, usize>,
    pub(super) listed: Vec<Listed>,
    /// Whether they are all files of a directory.
    pub(super) complete: bool,
}

impl Inputs {
    /// Looks at one directory, or at files that are named one by one.
    pub(super) fn gather(paths: &[PathBuf], target: &Path, times: bool) -> Result<Self> {
        let mut inputs = Self {
            roots: Vec::new(),
            root_of: HashMap::new(),
            listed: Vec::new(),
            complete: false,
        };
        let files = paths.iter().filter(|path| *path != Path::new(DASH));
        match paths {
            [only] if only.is_dir() => inputs.directory(only, target, times)?,
            _ => files
                .into_iter()
                .try_for_each(|path| inputs.file(path, times))?,
        }
        match RelativePath::clash(inputs.listed.iter().map(|it| &it.path)) {
            None => Ok(inputs),
            Some((one, other)) => Err(Failure::usage(format!(
                "{one} and {other} are one name on systems that ignore case or normalise names"
            ))
            .hint("rename one of them: a package is read on systems of all kinds")),
        }
    }

    fn directory(&mut self, path: &Path, target: &Path, times: bool) -> Result<()> {
        let mut tree = Tree::open(path).about(shown(path))?;
        if let Ok(metadata) = target.metadata() {
            tree = tree.except(&metadata);
        }
        let mut found = Vec::new();
        tree.scan(&mut |it| found.push(it)).about(shown(path))?;
        let listed = found.into_iter().map(|it| listed(it, path, times));
        self.listed = listed.collect::<Result<_>>()?;
        self.root_of = self.listed.iter().map(|it| (it.path.clone(), 0)).collect();
        self.roots.push(tree);
        self.complete = true;
        Ok(())
    }

    fn file(&mut self, path: &Path, times: bool) -> Result<()> {
        let metadata = path.symlink_metadata().about(shown(path))?;
        if metadata.is_dir() {
            return Err(Failure::usage("a directory must be the only PATH")
                .about(shown(path))
                .hint("give one directory, or files; or put all of them below one directory"));
        }
        if metadata.is_symlink() {
            return Err(Failure::usage("is a symbolic link, which is not followed")
                .hint("name the file that it leads to, or sign its directory")
                .about(shown(path)));
        }
        let name = path.file_name().unwrap_or_default().to_owned();
        let found = Found {
            path: name,
            is_content: metadata.is_file(),
            size: metadata.len(),
            modified: std::os::unix::fs::MetadataExt::mtime(&metadata)
                .try_into()
                .unwrap_or(0),
        };
        let listed = listed(found, &directory_of(path), times)?;
        if self
            .root_of
            .insert(listed.path.clone(), self.roots.len())
            .is_some()
        {
            let what = format!("two files are called {}", listed.path);
            return Err(Failure::usage(what).hint("sign a directory that has both"));
        }
        self.roots
            .push(Tree::open(&directory_of(path)).about(shown(path))?);
        self.listed.push(listed);
        Ok(())
    }

    /// The bytes of all files together.
    pub(super) fn size(&self) -> u64 {
        self.listed.iter().map(|it| it.size).sum()
    }
}

impl Source for Inputs {
    fn open(&self, path: &RelativePath) -> io::Result<Object<'_>> {
        match self.root_of.get(path) {
            Some(&root) => self.roots[root].open(path),
            None => Ok(Object::Missing),
        }
    }

    fn list(&self, found: &mut dyn FnMut(&str)) -> io::Result<()> {
        self.listed.iter().for_each(|it| found(it.path.as_str()));
        Ok(())
    }
}

fn listed(found: Found, directory: &Path, times: bool) -> Result<Listed> {
    let place = || shown(&directory.join(&found.path));
    if !found.is_content {
        return Err(Failure::new(Exit::Io, "neither a file nor a link")
            .hint("a package names files and symbolic links: move it away")
            .about(place()));
    }
    let Some(path) = found.path.to_str() else {
        return Err(Failure::new(Exit::Format, "the name is not UTF-8")
            .hint("rename it: a package is read on systems of all kinds")
            .about(place()));
    };
    Ok(Listed {
        path: RelativePath::new(path).about(place())?,
        size: found.size,
        modified: times.then_some(found.modified).filter(|time| *time != 0),
    })
}

/// The content of a package's only file, from anywhere.
pub(super) struct Single(Input);

impl Single {
    pub(super) fn open(path: &Path) -> Result<Self> {
        Ok(Self(input::open(path, "the content")?))
    }
}

impl Source for Single {
    fn open(&self, _: &RelativePath) -> io::Result<Object<'_>> {
        Ok(Object::File(Box::new(&self.0)))
    }

    fn list(&self, _: &mut dyn FnMut(&str)) -> io::Result<()> {
        Ok(())
    }
}

/// Reads a JSON document in its canonical form.
pub(super) fn json(path: &Path, what: &str) -> Result<Json> {
    let file = input::read(path, what, 2 * MAX_POLICY)?;
    file.parse(Json::parse)
}
