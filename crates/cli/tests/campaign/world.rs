//! Two people, their passports, and a directory to work in.

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::LazyLock;

use tempfile::TempDir;

use crate::{large, namespace};

/// The result of a check. The error names the fault.
pub(crate) type Checked<T = ()> = Result<T, String>;

/// The environment of a command. It works in `work`. Beside it are `keys` (alice and bob, both with
/// the passphrase in `old`), the trust store `trust`, and `tmp`.
pub(crate) struct World {
    root: TempDir,
}

/// The end of a command.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

pub(crate) const SEALSTONE: &str = env!("CARGO_BIN_EXE_sealstone");
pub(crate) const OLD: &str = "../keys/old";
pub(crate) const NEW: &str = "../keys/new";
/// The least allowed cost, because the interesting moments are not in the key derivation.
pub(crate) const PROFILE: &str = "custom:m=7MiB,t=5,p=1";

/// The passports of alice and bob, made once.
static KEYS: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let world = World::empty(&directory());
    for name in ["alice", "bob"] {
        let path = format!("../keys/{name}.passport");
        let made = world.run(&[
            "passport",
            "new",
            "-o",
            &path,
            "--profile",
            PROFILE,
            "--passphrase-file",
            OLD,
        ]);
        made.succeeded().unwrap();
    }
    let names = ["alice.passport", "alice.pub", "bob.passport", "bob.pub"];
    names
        .map(|name| {
            (
                name.to_owned(),
                fs::read(world.path("keys").join(name)).unwrap(),
            )
        })
        .into()
});

/// The directory of worlds: in memory, if there is enough, because many of these tests only wait
/// for the disk.
fn directory() -> PathBuf {
    let temporary = std::env::temp_dir();
    if namespace::is_inside() {
        temporary
    } else {
        large::room_for(2 << 30).unwrap_or(temporary)
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self::under(&directory())
    }

    pub(crate) fn under(directory: &Path) -> Self {
        let world = Self::empty(directory);
        for (name, bytes) in KEYS.iter() {
            let path = world.path("keys").join(name);
            fs::write(&path, bytes).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        world
    }

    /// A world with passphrases, but without passports.
    fn empty(directory: &Path) -> Self {
        let root = TempDir::with_prefix_in("sealstone-campaign-", directory)
            .expect("the temporary directory can be written to");
        let world = Self { root };
        for name in ["keys", "work", "tmp"] {
            fs::create_dir(world.path(name)).unwrap();
        }
        for name in ["old", "new", "wrong"] {
            let path = world.path("keys").join(name);
            fs::write(&path, format!("{name} passphrase\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        world
    }

    /// A path in the world.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// A path in the directory that commands work in.
    pub(crate) fn work(&self, name: &str) -> PathBuf {
        self.path("work").join(name)
    }

    /// Any program in the environment of this world.
    pub(crate) fn command(&self, argv: &[OsString]) -> Command {
        let mut command = Command::new(&argv[0]);
        command
            .args(&argv[1..])
            .current_dir(self.path("work"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.root.path())
            .env("TMPDIR", self.path("tmp"))
            .env("SEALSTONE_TRUST_DIR", self.path("trust"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// `sealstone` with arguments.
    pub(crate) fn sealstone(&self, args: &[&str]) -> Command {
        self.command(&sealstone(args))
    }

    /// Runs `sealstone` to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Outcome {
        finish(self.sealstone(args).spawn().unwrap())
    }

    /// Runs a shell script to its end; `$SEALSTONE` is the command.
    pub(crate) fn shell(&self, script: &str) -> Outcome {
        let argv = ["sh", "-c", script].map(OsString::from);
        finish(
            self.command(&argv)
                .env("SEALSTONE", SEALSTONE)
                .spawn()
                .unwrap(),
        )
    }

    /// Checks that the directory `name` holds only the `expected` entries.
    pub(crate) fn holds_only(&self, name: &str, expected: &[&str]) -> Checked {
        match self.others(name, expected)?.as_slice() {
            [] => Ok(()),
            others => Err(format!("left behind in {name}: {others:?}")),
        }
    }

    /// The entries of the directory `name` that are not in `expected`.
    pub(crate) fn others(&self, name: &str, expected: &[&str]) -> Checked<Vec<String>> {
        let entries = fs::read_dir(self.path(name)).map_err(|e| format!("{name}: {e}"))?;
        let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        Ok(names
            .filter(|name| !expected.contains(&name.as_str()))
            .collect())
    }

    /// Removes everything in `work` except `keep`.
    pub(crate) fn clear_work(&self, keep: &[&str]) {
        for name in self.others("work", keep).unwrap() {
            let path = self.work(&name);
            match path.symlink_metadata().unwrap().is_dir() {
                true => fs::remove_dir_all(path).unwrap(),
                false => fs::remove_file(path).unwrap(),
            }
        }
    }
}

/// The words of a line without quotes.
pub(crate) fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// The words of a `sealstone` command.
pub(crate) fn sealstone(args: &[&str]) -> Vec<OsString> {
    [SEALSTONE].iter().chain(args).map(OsString::from).collect()
}

/// Waits for the end, and reads the output until then.
pub(crate) fn finish(mut child: Child) -> Outcome {
    let stderr = child.stderr.take();
    let said = std::thread::spawn(move || {
        let mut text = Vec::new();
        stderr.map(|mut stderr| stderr.read_to_end(&mut text));
        String::from_utf8_lossy(&text).into_owned()
    });
    let output = child.wait_with_output().unwrap();
    Outcome {
        status: output.status,
        stdout: output.stdout,
        stderr: said.join().unwrap(),
    }
}

impl Outcome {
    pub(crate) fn succeeded(&self) -> Checked {
        if self.status.success() {
            return Ok(());
        }
        Err(format!("failed ({}): {}", self.status, self.stderr))
    }

    /// Checks that it ended with one of `codes` and a message that contains `what`.
    pub(crate) fn refused(&self, codes: &[i32], what: &str) -> Checked {
        self.ended_with(codes)?;
        // A message that names a fingerprint takes two lines.
        let message = self.stderr.lines();
        let message = message.skip_while(|line| !line.starts_with("sealstone: "));
        if message.take(2).any(|line| line.contains(what)) {
            return self.is_calm();
        }
        Err(format!("no message says {what:?}: {:?}", self.stderr))
    }

    /// Checks that it ended with one of `codes` and without messages.
    pub(crate) fn quiet(&self, codes: &[i32]) -> Checked {
        self.ended_with(codes)?;
        match self.stderr.as_str() {
            "" => Ok(()),
            said => Err(format!("is not quiet: {said:?}")),
        }
    }

    fn ended_with(&self, codes: &[i32]) -> Checked {
        match self.status.code() {
            Some(code) if codes.contains(&code) => Ok(()),
            _ => Err(format!(
                "ended with {}, not one of {codes:?}: {}",
                self.status, self.stderr
            )),
        }
    }

    fn is_calm(&self) -> Checked {
        match ["panicked", "internal error", "backtrace"]
            .iter()
            .find(|word| self.stderr.contains(**word))
        {
            Some(_) => Err(format!("a panic: {}", self.stderr)),
            None => Ok(()),
        }
    }
}
