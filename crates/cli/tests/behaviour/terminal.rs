//! Prompts at a terminal: a pseudo-terminal made by script(1).

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::world::{PASSPHRASE, PROFILE, World, json, succeed};

/// The screen and the exit status after typing the lines `typed`. `None` if there is no script(1)
/// of util-linux.
pub(crate) fn session(world: &World, line: &str, typed: &[&str]) -> Option<(String, Option<i32>)> {
    converse(world, line, |keyboard, screen| {
        let mut answered = 0;
        for line in typed {
            answered = screen.wait_for_a_question(answered);
            writeln!(keyboard, "{line}").unwrap();
        }
        if typed.is_empty() {
            std::thread::sleep(Duration::from_millis(300));
        }
    })
}

/// The same with any interaction.
pub(crate) fn converse(
    world: &World,
    line: &str,
    person: impl FnOnce(&mut ChildStdin, &Screen),
) -> Option<(String, Option<i32>)> {
    let quoted = line.replace('\'', "'\\''");
    let script = format!("env -u SEALSTONE_PASSPHRASE script -qec '{quoted}' /dev/null");
    let version = world.bash("script --version").output().ok()?;
    if !String::from_utf8_lossy(&version.stdout).contains("util-linux") {
        println!("skipped: script(1) of util-linux is not installed");
        return None;
    }
    let mut child = world
        .bash(&script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map(Ended)
        .unwrap();
    let mut keyboard = child.0.stdin.take().unwrap();
    let screen = Screen::watch(child.0.stdout.take().unwrap());
    person(&mut keyboard, &screen);
    let code = child.0.wait().unwrap().code();
    Some((screen.end(), code))
}

/// A child that ends with a failing test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
    }
}

/// The screen so far.
pub(crate) struct Screen {
    shown: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Screen {
    fn watch(mut output: ChildStdout) -> Self {
        let shown = Arc::new(Mutex::new(Vec::new()));
        let more = Arc::clone(&shown);
        let reader = std::thread::spawn(move || {
            let mut part = [0; 4096];
            while let Ok(len @ 1..) = output.read(&mut part) {
                more.lock().unwrap().extend_from_slice(&part[..len]);
            }
        });
        Self { shown, reader }
    }

    /// Waits until the screen ends in a prompt after the first `answered` bytes. Returns the length
    /// of the screen then.
    pub(crate) fn wait_for_a_question(&self, answered: usize) -> usize {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(30) {
            let shown = self.shown.lock().unwrap().clone();
            if shown.len() > answered && (shown.ends_with(b": ") || shown.ends_with(b"] ")) {
                // Wait until the program reads: the prompt may be printed first.
                std::thread::sleep(Duration::from_millis(200));
                return shown.len();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let shown = self.shown.lock().unwrap();
        panic!("no question: {}", String::from_utf8_lossy(&shown))
    }

    /// Waits until `text` is shown after the first `seen` bytes.
    pub(crate) fn wait_for(&self, seen: usize, text: &str) {
        let start = Instant::now();
        while !String::from_utf8_lossy(&self.shown.lock().unwrap()[seen..]).contains(text) {
            assert!(
                start.elapsed() < Duration::from_secs(30),
                "no {text:?}: {}",
                self.now()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The screen so far.
    pub(crate) fn now(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap()).into_owned()
    }

    fn end(self) -> String {
        let Self { shown, reader } = self;
        reader.join().unwrap();
        String::from_utf8_lossy(&shown.lock().unwrap()).into_owned()
    }
}

#[test]
fn binary_is_not_written_to_a_terminal_unless_asked_for() {
    let world = World::new();
    let seal = "sealstone seal -r bob.pub --unsigned < plan.txt";
    let Some((screen, code)) = session(&world, seal, &[]) else {
        return;
    };
    assert!(screen.contains("binary data to the terminal"), "{screen}");
    assert_eq!(code, Some(2));
    let (screen, code) = session(&world, &format!("{seal} -a"), &[]).unwrap();
    assert!(
        screen.contains("BEGIN SEALSTONE FILE") && code == Some(0),
        "{screen}"
    );
    let (_, code) = session(&world, &format!("{seal} -o -"), &[]).unwrap();
    assert_eq!(code, Some(0));
}

#[test]
fn content_that_could_harm_a_terminal_is_not_shown() {
    let world = World::new();
    world.write("nasty", b"\x1b[2Jhello");
    world.done(&["seal", "-q", "-r", "bob.pub", "--unsigned", "nasty"]);
    world.done(&["seal", "-q", "-r", "bob.pub", "--unsigned", "plan.txt"]);
    let open = "sealstone open -q -i bob.passport --passphrase-file passphrase";
    let Some((screen, code)) = session(&world, &format!("{open} < nasty.sealed"), &[]) else {
        return;
    };
    assert!(
        screen.contains("the content is not text") && !screen.contains("hello"),
        "{screen}"
    );
    assert_eq!(code, Some(3));
    let (screen, code) = session(&world, &format!("{open} < plan.txt.sealed"), &[]).unwrap();
    assert!(
        screen.contains("attack at dawn") && code == Some(0),
        "{screen}"
    );
}

#[test]
fn nothing_is_shown_of_content_that_becomes_binary_later() {
    let world = World::new();
    let mut content = b"a line of text\n".repeat(200_000);
    content.push(0);
    world.write("late", &content);
    world.done(&["seal", "-q", "-r", "bob.pub", "--unsigned", "late"]);
    let open = "sealstone open -q -i bob.passport --passphrase-file passphrase < late.sealed";
    let Some((screen, code)) = session(&world, open, &[]) else {
        return;
    };
    assert!(
        screen.contains("the content is not text") && code == Some(3),
        "{screen}"
    );
    assert!(
        !screen.contains("a line of text"),
        "it was shown before it was checked"
    );
}

#[test]
fn passphrases_are_asked_for_without_echo_and_may_be_mistyped() {
    let world = World::new();
    let seal = "sealstone seal -r bob.pub --from alice.passport plan.txt";
    let Some((screen, code)) = session(&world, seal, &["mistyped", PASSPHRASE]) else {
        return;
    };
    assert_eq!(code, Some(0), "{screen}");
    assert!(
        screen.contains("Passphrase for alice.passport: ")
            && screen.contains("wrong passphrase; try again"),
        "{screen}"
    );
    assert!(
        !screen.contains("mistyped") && !screen.contains(PASSPHRASE),
        "{screen}"
    );
}

/// Otherwise input that arrives immediately would be echoed.
#[test]
fn typing_is_hidden_before_the_question_is_asked() {
    let world = World::new();
    if !world.bash("strace true").output().unwrap().status.success() {
        println!("skipped: strace is not installed, or may not trace");
        return;
    }
    let seal = "strace -f -o calls -e trace=ioctl,write sealstone seal -r bob.pub --from alice.passport plan.txt";
    let Some((screen, code)) = session(&world, seal, &[PASSPHRASE]) else {
        return;
    };
    assert_eq!(code, Some(0), "{screen}");
    let calls = String::from_utf8(world.read("calls")).unwrap();
    // The formats of newer and older versions of strace.
    let shows = |line: &str| line.contains("|ECHO|") || line.contains(" echo ");
    let hidden = calls
        .lines()
        .position(|line| line.contains("TCSETS") && !shows(line));
    let asked = calls
        .lines()
        .position(|line| line.contains("Passphrase for"));
    assert!(hidden.unwrap() < asked.unwrap(), "{calls}");
}

/// Unlocking takes a second on fast machines, and the progress is shown after half a second. With
/// half of the passes, a fast machine without other work was done before.
pub(crate) const SLOW: &str = "--profile=custom:m=64MiB,t=80,p=1";

/// The secret and the public half of a passport with these costs, made once.
static SLOW_PASSPORT: LazyLock<[(&str, Vec<u8>); 2]> = LazyLock::new(|| {
    let world = World::empty();
    let new = "passport new -q -o slow.passport --label slow";
    let words: Vec<&str> = new.split(' ').chain([SLOW]).collect();
    world.done(&words);
    ["slow.passport", "slow.pub"].map(|name| (name, world.read(name)))
});

pub(crate) fn slow_passport(world: &World) {
    for (name, bytes) in SLOW_PASSPORT.iter() {
        world.write(name, bytes);
        fs::set_permissions(world.path(name), Permissions::from_mode(0o600)).unwrap();
    }
}

#[test]
fn everything_is_asked_before_a_key_is_derived() {
    let world = World::new();
    slow_passport(&world);
    world.done(&[
        "seal",
        "-q",
        "-r",
        "slow.pub",
        "--from",
        "alice.passport",
        "-o",
        "in",
        "plan.txt",
    ]);
    let new = "a new passphrase";
    for (line, answers) in [
        (
            "reseal -i slow.passport --from slow.passport -p --profile interactive -o a in",
            &[PASSPHRASE, new, new][..],
        ),
        (
            "reseal -i slow.passport --from bob.passport -o b in",
            &[PASSPHRASE, PASSPHRASE],
        ),
        (
            "edit -i slow.passport --from bob.passport in",
            &[PASSPHRASE, PASSPHRASE],
        ),
        (
            "passport slot change slow.passport",
            &[PASSPHRASE, new, new],
        ),
        (
            "seal --from slow.passport -p --profile interactive plan.txt",
            &[new, PASSPHRASE, PASSPHRASE],
        ),
    ] {
        let Some((screen, code)) = session(
            &world,
            &format!("export TERM=xterm EDITOR=true; sealstone {line}"),
            answers,
        ) else {
            return;
        };
        assert_eq!(code, Some(0), "{line}: {screen}");
        let asked = ["The same again: ", "Passphrase for"].map(|text| screen.rfind(text));
        assert!(
            screen.find("deriving key") > asked.into_iter().max().unwrap(),
            "{line}: {screen}"
        );
    }
}

#[test]
fn the_passphrase_of_a_file_may_be_mistyped_too() {
    let world = World::new();
    let seal = format!("seal -q -p {PROFILE} --unsigned plan.txt");
    world.done(&seal.split(' ').collect::<Vec<_>>());
    let open = "sealstone open -q -o - plan.txt.sealed";
    let Some((screen, code)) = session(&world, open, &["mistyped", PASSPHRASE]) else {
        return;
    };
    assert!(
        code == Some(0) && screen.contains("try again") && screen.contains("attack at dawn"),
        "{screen}"
    );
    let (screen, code) = session(&world, open, &["one", "two", "three"]).unwrap();
    assert_eq!(screen.matches("try again").count(), 2, "{screen}");
    assert_eq!(code, Some(5), "{screen}");
}

#[test]
fn a_new_passphrase_is_typed_twice_or_made_up() {
    let world = World::empty();
    let new = format!("sealstone passport new -o a.passport {PROFILE}");
    let Some((screen, code)) = session(&world, &new, &["one", "another", "one", "one"]) else {
        return;
    };
    assert!(
        code == Some(0) && screen.contains("not the same"),
        "{screen}"
    );
    world.write("one", b"one");
    world.done(&[
        "passport",
        "export",
        "a.passport",
        "--passphrase-file",
        "one",
    ]);

    let new = format!("sealstone passport new -o b.passport {PROFILE}");
    let (screen, code) = session(&world, &new, &[""]).unwrap();
    assert_eq!(code, Some(0), "{screen}");
    let words = screen
        .lines()
        .find(|line| line.split('-').count() == 10)
        .unwrap();
    world.write("words", words.trim().as_bytes());
    world.done(&[
        "passport",
        "export",
        "b.passport",
        "--passphrase-file",
        "words",
    ]);
}

#[test]
fn approval_is_asked_for_after_the_fingerprint_is_shown() {
    let world = World::new();
    let approve = "sealstone trust approve bob.pub";
    let Some((screen, code)) = session(&world, approve, &["n"]) else {
        return;
    };
    assert!(
        screen.contains("fingerprint ") && code == Some(2),
        "{screen}"
    );
    // Also if standard input is not the terminal, as in a loop over files.
    let (screen, code) = session(&world, &format!("{approve} < /dev/null"), &["n"]).unwrap();
    assert!(
        screen.contains("not approved") && code == Some(2),
        "{screen}"
    );
    let (screen, code) = session(&world, approve, &["y"]).unwrap();
    assert!(
        screen.contains("\"bob\" is approved") && code == Some(0),
        "{screen}"
    );
}

/// The answer to the question about the fingerprint says nothing about the label.
#[test]
fn a_label_is_asked_about_before_it_is_given_twice() {
    let world = World::with_bob_approved();
    let new = ["passport", "new", "-q", "--label", "bob", PROFILE, "-o"];
    world.done(&[&new[..], &["mallory.passport"]].concat());
    let approve = "sealstone trust approve mallory.pub";
    let Some((screen, code)) = session(&world, approve, &["n"]) else {
        return;
    };
    let question = "under the name of the \"bob\" that you approved as";
    assert!(
        screen.contains("this is not the \"bob\"")
            && screen.contains(question)
            && screen.contains("--label NAME")
            && !screen.contains("confirm the fingerprint"),
        "{screen}"
    );
    assert_eq!(code, Some(2), "{screen}");
    // Standard error may be a file. Then the question alone says which passports these are.
    let unseen = format!("{approve} 2>/dev/null");
    let (screen, _) = session(&world, &unseen, &["n"]).unwrap();
    for file in ["mallory.passport", "bob.passport"] {
        let shown = json(&world.done(&["passport", "show", "--json", file]));
        let fingerprint = shown["fingerprint"].as_str().unwrap();
        assert!(screen.contains(fingerprint), "{file}: {screen}");
    }
    assert!(screen.contains("Approve \"bob\""), "{screen}");
    let (screen, code) = session(&world, approve, &["y", "n"]).unwrap();
    assert!(
        screen.contains("confirm the fingerprint") && code == Some(2),
        "{screen}"
    );
    let same = format!("{approve} --same-label");
    let (screen, code) = session(&world, &same, &["y"]).unwrap();
    assert!(
        screen.contains("\"bob\" is approved") && code == Some(0),
        "{screen}"
    );
    let another = format!("{approve} --label Mallory");
    let (screen, code) = session(&world, &another, &["y"]).unwrap();
    assert!(
        screen.contains("\"Mallory\" is approved") && code == Some(0),
        "{screen}"
    );
}

#[test]
fn colours_are_for_terminals_that_want_them() {
    let world = World::new();
    let fails = "sealstone open missing.sealed";
    let Some((screen, _)) = session(&world, fails, &[]) else {
        return;
    };
    assert!(
        screen.contains("\x1b[1;31msealstone:\x1b[0m missing.sealed"),
        "{screen}"
    );
    let (screen, _) = session(&world, &format!("NO_COLOR=1 {fails}"), &[]).unwrap();
    assert!(screen.starts_with("sealstone: missing.sealed"), "{screen}");
}

#[test]
fn passwords_are_asked_for_without_echo_and_twice_only_to_be_stored() {
    let world = World::empty();
    let hash = "sealstone password hash --memory-kib 64 --iterations 1";
    let Some((screen, code)) = session(&world, hash, &["hunter2", "hunter3", "hunter2", "hunter2"])
    else {
        return;
    };
    assert_eq!(code, Some(0), "{screen}");
    assert!(
        screen.contains("the two are not the same") && !screen.contains("hunter"),
        "{screen}"
    );
    let stored = screen
        .lines()
        .find(|line| line.starts_with("$argon2id$"))
        .unwrap();
    world.write("stored", stored.trim().as_bytes());
    let verify = "sealstone password verify --hash-file stored";
    let (screen, code) = session(&world, verify, &["hunter2"]).unwrap();
    assert!(
        screen.contains("the right one") && code == Some(0),
        "{screen}"
    );
    let (_, code) = session(&world, verify, &["hunter3"]).unwrap();
    assert_eq!(code, Some(5));
    let (screen, code) = session(&world, hash, &["", ""]).unwrap();
    assert!(screen.contains("the password is empty"), "{screen}");
    assert_eq!(code, Some(0), "it may be");
}

#[test]
fn a_short_passphrase_that_is_typed_is_taken_with_a_warning() {
    let world = World::empty();
    let new = format!("sealstone passport new -o me.passport --label me {PROFILE}");
    let Some((screen, code)) = session(&world, &new, &["abc", "abc"]) else {
        return;
    };
    assert!(screen.contains("shorter than 8 characters"), "{screen}");
    assert_eq!(code, Some(0), "{screen}");
}

/// No process reads the output, and the derivation takes minutes. The test compares the screens
/// until the commands are stopped.
#[test]
fn long_work_shows_how_far_it_is_on_a_terminal_only() {
    let world = World::new();
    succeed(&mut world.bash("truncate -s 64G big"));
    let seal = "sealstone seal -r bob.pub --unsigned -o - big | sleep 2";
    let derive = "timeout 2 sealstone passport new -o a.passport --passphrase-file passphrase \
                  --profile custom:m=64MiB,t=900,p=1";
    let on = |columns: u16, line: &str| {
        let line = format!("export TERM=xterm; stty cols {columns}; {line}");
        let session = session(&world, &line, &[]);
        session.map(|(screen, _)| screen)
    };
    let Some(wide) = on(100, seal) else { return };
    // A terminal without a known width has the usual width.
    let (unknown, narrow) = (on(0, seal).unwrap(), on(60, seal).unwrap());
    let derivation = on(100, derive).unwrap();
    for (screen, verb, total) in [
        (&wide, "sealing ", "of 64.00 GiB  "),
        (&unknown, "sealing ", "of 64.00 GiB  "),
        (&narrow, "sealing ", ""),
        (&derivation, "deriving key ", "of 56.25 GiB  "),
    ] {
        for part in [verb, " %  ", total, "iB/s  ", " left"] {
            assert!(screen.contains(part), "no {part:?}: {screen}");
        }
    }
    assert!(!narrow.contains("64.00 GiB"), "{narrow}");

    let unwanted = seal.replacen("seal ", "seal --no-progress ", 1);
    let unwanted = on(100, &unwanted).unwrap();
    assert!(!unwanted.contains('%'), "{unwanted}");
    for line in [seal, derive] {
        let output = world.bash(line).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!said.contains('%') && !said.contains('\r'), "{said:?}");
    }
}

#[test]
fn a_rotation_asks_whether_to_revoke_the_old_passport() {
    let world = World::new();
    let rotate = "sealstone passport rotate --passphrase-file passphrase bob.passport -o";
    for (answer, file, status) in [
        ("n", "b.passport", "pending"),
        ("y", "c.passport", "revoked"),
    ] {
        let line = format!("{rotate} {file}");
        let Some((screen, code)) = session(&world, &line, &[answer]) else {
            return;
        };
        assert!(screen.contains("Revoke it?") && code == Some(0), "{screen}");
        let shown = world.done(&["passport", "show", "--json", "bob.pub"]);
        assert_eq!(json(&shown)["trust"], status);
    }
}

#[test]
fn a_restored_passport_gets_the_label_that_is_typed() {
    let world = World::new();
    world.done(&["passport", "backup", "-q", "bob.passport", "-o", "words"]);
    let restore = "sealstone passport restore --words-file words --passphrase-file passphrase";
    let line = format!("{restore} {PROFILE} -o again.passport");
    let Some((screen, code)) = session(&world, &line, &["Bob again"]) else {
        return;
    };
    assert_eq!(code, Some(0), "{screen}");
    let shown = world.done(&["passport", "show", "--json", "again.pub"]);
    assert_eq!(json(&shown)["label"], "Bob again");
}
