//! `passport rotate` of the default passport, stopped at any moment.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};

use crate::victim::{End, Victim, is_hidden};
use crate::world::{Checked, OLD, World, sealstone};

/// Alice's passport is the default one, and there is a letter sealed for it.
pub(crate) struct Rotation {
    world: World,
}

/// The default passport, below the home directory.
const DATA: &str = ".local/share/sealstone";
const LETTER: &str = "../keys/letter";

impl Rotation {
    pub(crate) fn new() -> Self {
        let world = World::new();
        fs::write(world.work("in"), "a letter").unwrap();
        let seal = ["seal", "--unsigned", "-r", "../keys/alice.pub"];
        let sealed = world.run(&[&seal[..], &["-o", LETTER, "in"]].concat());
        sealed.succeeded().unwrap();
        Self { world }
    }

    fn opens(&self, sealed: &str) -> Checked {
        let opened = self.world.run(&[
            "open",
            "-q",
            "--passphrase-file",
            OLD,
            "--accept-pending",
            "-o",
            "-",
            sealed,
        ]);
        opened
            .succeeded()
            .map_err(|e| format!("{sealed} does not open: {e}"))?;
        match opened.stdout.as_slice() {
            b"a letter" => Ok(()),
            _ => Err(format!("{sealed} opens to something else")),
        }
    }

    fn fingerprint(&self, passport: &str) -> Checked<String> {
        let shown = self.world.run(&["inspect", "--json", passport]);
        shown.succeeded()?;
        let text = String::from_utf8_lossy(&shown.stdout).into_owned();
        let rest = text.split_once("\"fingerprint\":\"").map(|(_, rest)| rest);
        let value = rest.and_then(|rest| rest.split('"').next());
        value
            .map(str::to_owned)
            .ok_or_else(|| format!("{passport} has no fingerprint: {text}"))
    }

    /// A finished rotation replaces the old passport by the new one, and keeps the old one beside
    /// it.
    fn is_replaced(&self) -> Checked {
        let [old, new] = ["keys/alice.pub", &format!("{DATA}/default.pub")]
            .map(|name| self.world.path(name).display().to_string());
        if self.fingerprint(&old)? == self.fingerprint(&new)? {
            return Err("the default passport is still the old one".into());
        }
        match self.world.others(DATA, &[])?.len() {
            4 => Ok(()),
            files => Err(format!("{files} files, not the halves of two passports")),
        }
    }
}

impl Victim for Rotation {
    fn name(&self) -> &'static str {
        "passport rotate"
    }

    fn world(&self) -> &World {
        &self.world
    }

    fn reset(&self) {
        self.world.clear_work(&["in"]);
        let data = self.world.path(DATA);
        if data.exists() {
            fs::remove_dir_all(&data).unwrap();
        }
        let mut private = fs::DirBuilder::new();
        private.recursive(true).mode(0o700).create(&data).unwrap();
        for (half, mode) in [("passport", 0o600), ("pub", 0o644)] {
            let (from, to) = (format!("keys/alice.{half}"), format!("default.{half}"));
            let to = data.join(to);
            fs::copy(self.world.path(&from), &to).unwrap();
            fs::set_permissions(&to, fs::Permissions::from_mode(mode)).unwrap();
        }
    }

    fn argv(&self) -> Vec<OsString> {
        sealstone(&["passport", "rotate", "-q", "--passphrase-file", OLD])
    }

    fn check(&self, end: End) -> Checked {
        self.world.holds_only("tmp", &[])?;
        let files = self.world.others(DATA, &[])?;
        if let Some(name) = files.iter().find(|name| is_hidden(name)) {
            return Err(format!("left behind: {name}"));
        }
        self.opens(LETTER)?;
        if end == End::Done {
            self.is_replaced()?;
        }
        // A file that is sealed now opens, even after the next rotation.
        let seal = ["seal", "-q", "--passphrase-file", OLD, "-o", "now", "in"];
        self.world.run(&seal).succeeded()?;
        self.world
            .run(&["passport", "rotate", "-q", "--passphrase-file", OLD])
            .succeeded()?;
        self.opens("now")?;
        self.opens(LETTER)?;
        fs::remove_file(self.world.work("now")).map_err(|e| e.to_string())
    }
}
