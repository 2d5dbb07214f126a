//! The people of the golden files, and directories in memory.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;
use std::{fs, io};

use sealstone::package::{Object, RelativePath, Source};
use sealstone::passport::Passport;
use sealstone_primitives::hash::sha3_256;
use sealstone_primitives::secret::Secret;

static PEOPLE: LazyLock<BTreeMap<&str, Passport>> = LazyLock::new(|| {
    let names = ["alice", "bob", "carol", "dave"];
    let person = |name| {
        let seed = sha3_256(format!("sealstone golden v1 {name}").as_bytes());
        Passport::from_seed(Secret::from_slice(&seed).unwrap(), name, 1).unwrap()
    };
    names.map(|name| (name, person(name))).into()
});

/// One of the people of the golden files.
pub(crate) fn person(name: &str) -> &'static Passport {
    &PEOPLE[name]
}

/// 00 01 … fa, repeated.
pub(crate) fn content(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8).collect()
}

/// The objects of a directory, in memory.
#[derive(Clone, Default)]
pub(crate) struct Tree(pub(crate) BTreeMap<String, Node>);

#[derive(Clone)]
pub(crate) enum Node {
    File(Vec<u8>),
    Link(String),
    Directory,
}

impl Tree {
    /// The objects below a directory. Empty if there is none.
    pub(crate) fn read(root: &Path) -> Self {
        let mut tree = Self::default();
        if root.exists() {
            tree.add(root, "");
        }
        tree
    }

    fn add(&mut self, folder: &Path, above: &str) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let name = format!("{above}{name}");
            let kind = path.symlink_metadata().unwrap().file_type();
            let node = if kind.is_dir() {
                self.add(&path, &format!("{name}/"));
                Node::Directory
            } else if kind.is_symlink() {
                Node::Link(fs::read_link(&path).unwrap().to_str().unwrap().to_owned())
            } else {
                Node::File(fs::read(&path).unwrap())
            };
            self.0.insert(name, node);
        }
    }

    fn is_below_other(&self, path: &str) -> bool {
        let mut above = path.match_indices('/').map(|(end, _)| &path[..end]);
        above.any(|folder| !matches!(self.0.get(folder), None | Some(Node::Directory)))
    }
}

impl Source for Tree {
    fn open(&self, path: &RelativePath) -> io::Result<Object<'_>> {
        let path = path.as_str();
        Ok(match self.0.get(path) {
            _ if self.is_below_other(path) => Object::Other,
            None => Object::Missing,
            Some(Node::File(bytes)) => Object::File(Box::new(&bytes[..])),
            Some(Node::Link(target)) => Object::Link(target.clone()),
            Some(Node::Directory) => Object::Other,
        })
    }

    fn list(&self, found: &mut dyn FnMut(&str)) -> io::Result<()> {
        let objects = self
            .0
            .iter()
            .filter(|(_, node)| !matches!(node, Node::Directory));
        objects.for_each(|(path, _)| found(path));
        Ok(())
    }
}
