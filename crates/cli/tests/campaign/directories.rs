//! `seal DIR`, and `open` of it, stopped at any moment.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use crate::content::{OPEN, SEAL, same_content, there_or_made, write_pattern};
use crate::victim::{End, Leftover, Victim};
use crate::world::{Checked, World, sealstone};

/// `seal tree`, or `open -o new tree.sealed`.
pub(crate) struct Directory {
    world: World,
    verb: Verb,
}

#[derive(Clone, Copy, PartialEq)]
enum Verb {
    Seal,
    Open,
}

/// Files that stay from one run to the next.
const KEPT: [&str; 2] = ["tree", "tree.sealed"];

impl Directory {
    pub(crate) fn sealing() -> Self {
        Self::new(Verb::Seal)
    }

    pub(crate) fn unpacking() -> Self {
        let this = Self::new(Verb::Open);
        let sealed = this.world.run(&[&SEAL[..], &["tree"]].concat());
        sealed.succeeded().unwrap();
        this
    }

    /// Many small files in some directories, and one that is large.
    fn new(verb: Verb) -> Self {
        let world = World::new();
        for i in 0..600 {
            let directory = world.work("tree").join((i % 7).to_string());
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join(i.to_string()), i.to_string()).unwrap();
        }
        write_pattern(&world.work("tree/large"), 6 << 20);
        Self { world, verb }
    }

    fn kept(&self) -> &'static [&'static str] {
        match self.verb {
            Verb::Seal => &KEPT[..1],
            Verb::Open => &KEPT,
        }
    }
}

impl Victim for Directory {
    fn name(&self) -> &'static str {
        match self.verb {
            Verb::Seal => "seal a directory",
            Verb::Open => "unpack a directory",
        }
    }

    fn world(&self) -> &World {
        &self.world
    }

    fn reset(&self) {
        self.world.clear_work(self.kept());
    }

    fn argv(&self) -> Vec<OsString> {
        sealstone(&match self.verb {
            Verb::Seal => [&SEAL[..], &["tree"]].concat(),
            Verb::Open => [&OPEN[..], &["-o", "new", "tree.sealed"]].concat(),
        })
    }

    /// A directory always has a name, so a hidden one may remain.
    fn check(&self, end: End) -> Checked {
        let output = match self.verb {
            Verb::Seal => {
                Leftover::Nothing.check(&self.world, &KEPT)?;
                "tree.sealed"
            }
            Verb::Open => {
                let leftover = match end {
                    End::Done => Leftover::Nothing,
                    End::Cut => Leftover::Hidden,
                };
                leftover.check(&self.world, &["tree", "tree.sealed", "new"])?;
                "new"
            }
        };
        there_or_made(self, output, end)?;
        if self.verb == Verb::Seal {
            let open = [&OPEN[..], &["-o", "new", "tree.sealed"]].concat();
            self.world.run(&open).succeeded()?;
        }
        same_tree(&self.world.work("tree"), &self.world.work("new"))
    }
}

/// Compares directories and the files in them.
fn same_tree(one: &Path, other: &Path) -> Checked {
    let names = |path: &Path| {
        let entries = fs::read_dir(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let mut names: Vec<OsString> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        Ok::<_, String>(names)
    };
    let (found, expected) = (names(other)?, names(one)?);
    if found != expected {
        return Err(format!("{} has other names", other.display()));
    }
    for name in found {
        let (one, other) = (one.join(&name), other.join(&name));
        match one.is_dir() {
            true => same_tree(&one, &other)?,
            false => same_content(&one, &other)?,
        }
    }
    Ok(())
}
