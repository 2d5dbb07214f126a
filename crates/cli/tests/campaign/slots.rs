//! `passport slot …` and `passport new`, stopped at any moment.

use std::ffi::OsString;
use std::fs;

use crate::victim::{End, Leftover, Victim, is_hidden};
use crate::world::{Checked, NEW, OLD, PROFILE, World, sealstone};

/// `passport slot` with one of its verbs, on `my.passport`.
pub(crate) struct Slot {
    world: World,
    verb: Verb,
    leftover: Leftover,
}

/// `passport new`.
pub(crate) struct NewPassport {
    world: World,
    leftover: Leftover,
}

/// The change of the slots.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    /// `new` opens it too.
    Add,
    /// `new` opens it instead of `old`.
    Change,
    /// `new` no longer opens it.
    Remove,
}

const PASSPORT: &str = "my.passport";
const PUBLIC: &str = "my.pub";
/// The passport before the change.
const MASTER: &str = "keys/my.passport";

impl Slot {
    pub(crate) fn new(verb: Verb, leftover: Leftover) -> Self {
        let world = World::new();
        fs::copy(world.path("keys/alice.passport"), world.path(MASTER)).unwrap();
        fs::write(world.work("in"), "a letter").unwrap();
        let sealed = world.run(&[
            "seal",
            "--unsigned",
            "-r",
            "../keys/alice.pub",
            "-o",
            "../keys/letter",
            "in",
        ]);
        sealed.succeeded().unwrap();
        if verb == Verb::Remove {
            let more = [
                "passport",
                "slot",
                "add",
                "../keys/my.passport",
                "--passphrase-file",
                OLD,
            ];
            let added = world.run(&[&more[..], &["--new-passphrase-file", NEW]].concat());
            added.succeeded().unwrap();
        }
        Self {
            world,
            verb,
            leftover,
        }
    }

    fn opens_with(&self, passport: &str, passphrase: &str) -> bool {
        let open = [
            "open",
            "-i",
            passport,
            "--passphrase-file",
            passphrase,
            "-o",
            "-",
            "../keys/letter",
        ];
        let opened = self.world.run(&open);
        opened.status.success() && opened.stdout == b"a letter"
    }

    /// The passphrase that opens it. Every allowed state has one.
    fn key(&self, passport: &str, end: End) -> Checked<&'static str> {
        let opens = [OLD, NEW].map(|passphrase| self.opens_with(passport, passphrase));
        match (self.verb, end, opens) {
            (Verb::Change, End::Cut, [true, false]) => Ok(OLD),
            (Verb::Change, _, [false, true]) => Ok(NEW),
            (Verb::Add | Verb::Remove, End::Cut, [true, _]) => Ok(OLD),
            (Verb::Add, End::Done, [true, true]) => Ok(OLD),
            (Verb::Remove, End::Done, [true, false]) => Ok(OLD),
            (_, _, [old, new]) => Err(format!("{passport}: old opens: {old}, new opens: {new}")),
        }
    }

    /// To replace a file, Linux needs a name for the new one. A kill between the two steps leaves
    /// this file, which is complete.
    fn check_hidden(&self) -> Checked {
        for name in self.world.others("work", &[PASSPORT, "in"])? {
            if !is_hidden(&name) {
                return Err(format!("left behind: {name}"));
            }
            if self.leftover == Leftover::Nothing {
                self.key(&name, End::Cut)?;
            }
            fs::remove_file(self.world.work(&name)).unwrap();
        }
        Ok(())
    }
}

impl Victim for Slot {
    fn name(&self) -> &'static str {
        match self.verb {
            Verb::Add => "passport slot add",
            Verb::Change => "passport slot change",
            Verb::Remove => "passport slot remove",
        }
    }

    fn world(&self) -> &World {
        &self.world
    }

    fn reset(&self) {
        self.world.clear_work(&["in"]);
        fs::copy(self.world.path(MASTER), self.world.work(PASSPORT)).unwrap();
    }

    fn argv(&self) -> Vec<OsString> {
        let unlock = [PASSPORT, "--passphrase-file", OLD];
        let with_new = ["--new-passphrase-file", NEW];
        let words = match self.verb {
            Verb::Add => ["passport", "slot", "add"]
                .iter()
                .chain(&unlock)
                .chain(&with_new),
            Verb::Change => ["passport", "slot", "change"]
                .iter()
                .chain(&unlock)
                .chain(&with_new),
            Verb::Remove => ["passport", "slot", "remove"]
                .iter()
                .chain(&unlock)
                .chain(&["2"]),
        };
        sealstone(&words.copied().collect::<Vec<_>>())
    }

    fn check(&self, end: End) -> Checked {
        self.check_hidden()?;
        let key = self.key(PASSPORT, end)?;
        let next = [
            "passport",
            "slot",
            "add",
            PASSPORT,
            "--passphrase-file",
            key,
        ];
        self.world
            .run(&[&next[..], &["--new-passphrase-file", "../keys/wrong"]].concat())
            .succeeded()?;
        match self.opens_with(PASSPORT, "../keys/wrong") {
            true => Ok(()),
            false => Err("the next command does not take effect".into()),
        }
    }
}

impl NewPassport {
    pub(crate) fn new(leftover: Leftover) -> Self {
        Self {
            world: World::new(),
            leftover,
        }
    }

    fn export(&self, to: &str) -> Checked {
        let export = [
            "passport",
            "export",
            PASSPORT,
            "--passphrase-file",
            OLD,
            "-o",
            to,
        ];
        self.world.run(&export).succeeded()
    }
}

impl Victim for NewPassport {
    fn name(&self) -> &'static str {
        "passport new"
    }

    fn world(&self) -> &World {
        &self.world
    }

    fn reset(&self) {
        self.world.clear_work(&[]);
    }

    fn argv(&self) -> Vec<OsString> {
        sealstone(&[
            "passport",
            "new",
            "-o",
            PASSPORT,
            "--profile",
            PROFILE,
            "--passphrase-file",
            OLD,
        ])
    }

    fn check(&self, end: End) -> Checked {
        self.leftover.check(&self.world, &[PASSPORT, PUBLIC])?;
        let halves = [PASSPORT, PUBLIC].map(|name| self.world.work(name).exists());
        match (end, halves) {
            (End::Cut, [false, false]) => Ok(()),
            (_, [true, true]) => self
                .world
                .run(&["passport", "show", PUBLIC])
                .succeeded()
                .and_then(|()| self.export("again.pub")),
            (End::Cut, [true, false]) => self.export(PUBLIC),
            _ => Err(format!(
                "of passport and public passport there are {halves:?}"
            )),
        }
    }
}
