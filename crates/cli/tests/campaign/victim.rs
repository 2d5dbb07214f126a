//! A command that may be stopped at any moment.

use std::ffi::OsString;

use crate::world::{Checked, World};

/// A command, the state before it, and the conditions after every end of it.
pub(crate) trait Victim {
    fn name(&self) -> &'static str;

    fn world(&self) -> &World;

    /// Puts everything back to the state before the command.
    fn reset(&self);

    /// The command.
    fn argv(&self) -> Vec<OsString>;

    /// Checks that the state is that before or that after the command, and that the next command
    /// works.
    fn check(&self, end: End) -> Checked;
}

/// The end of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It reported success.
    Done,
    /// It was stopped, or failed.
    Cut,
}

/// Files that a command may leave behind if it could not clean up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leftover {
    /// The file system supports files without names.
    Nothing,
    /// It does not, so a hidden file may remain.
    Hidden,
}

impl Leftover {
    /// Checks that only `expected` and allowed leftovers are in `work`.
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

/// Whether it has the name of a temporary file.
pub(crate) fn is_hidden(name: &str) -> bool {
    name.starts_with(".sealstone-") && name.ends_with(".tmp")
}
