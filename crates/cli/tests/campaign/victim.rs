//! A command that may be stopped at any moment.

use std::ffi::OsString;

use crate::world::{Checked, World};

/// A command, the state before it, and what must hold after it, however it ended.
pub(crate) trait Victim {
    fn name(&self) -> &'static str;

    fn world(&self) -> &World;

    /// Puts everything back to the state before the command.
    fn reset(&self);

    /// The command.
    fn argv(&self) -> Vec<OsString>;

    /// Whether the state is the one before or the one after, and the next command works.
    fn check(&self, end: End) -> Checked;
}

/// How the command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It says that it did what it was asked to do.
    Done,
    /// It was stopped, or failed.
    Cut,
}

/// Files that a command may leave behind when it could not clean up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leftover {
    /// The file system knows files without names.
    Nothing,
    /// It does not, so a hidden file may stay.
    Hidden,
}

impl Leftover {
    /// Whether what is left behind in `work` besides `expected` may be there.
    pub(crate) fn check(self, world: &World, expected: &[&str]) -> Checked {
        world.holds_only("tmp", &[])?;
        let others = world.others("work", expected)?;
        match others
            .iter()
            .find(|name| self == Self::Nothing || !is_hidden(name))
        {
            Some(name) => Err(format!("left behind: {name}")),
            None => Ok(()),
        }
    }
}

/// Whether it is named as temporary files are.
pub(crate) fn is_hidden(name: &str) -> bool {
    name.starts_with(".sealstone-") && name.ends_with(".tmp")
}
