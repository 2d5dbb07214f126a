use super::*;

use std::cell::{Cell, RefCell};
use std::ffi::OsString;
use std::io::Write;

/// A program that remembers what it told.
#[derive(Default)]
struct Told(RefCell<Vec<String>>);

impl Program for Told {
    type Error = Error;

    fn is_wrong_passphrase(error: &Error) -> bool {
        matches!(error, Error::Invalid(_, sealstone::Error::WrongPassphrase))
    }

    fn tell(&self, notice: &Notice<'_>) {
        let name = match notice {
            Notice::Exposed(_) => "exposed",
            Notice::Variable(_) => "variable",
            Notice::Empty => "empty",
            Notice::LineEnding => "line ending",
            Notice::Short => "short",
            Notice::Differs => "differs",
            Notice::Wrong => "wrong",
        };
        self.0.borrow_mut().push(name.to_owned());
    }
}

fn command(text: &str) -> Source {
    Source::Command(OsString::from(text))
}

fn exposed(content: &[u8]) -> (tempfile::TempDir, Source) {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("passphrase");
    std::fs::write(&path, content).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    (directory, Source::File(path))
}

#[test]
fn a_command_gives_its_first_line_or_the_reason_why_not() {
    let read = |text| command(text).bytes(8, &Told::default());
    assert_eq!(**read("echo one; echo 2").unwrap().unwrap(), *b"one");
    assert_eq!(**read("printf 12345678").unwrap().unwrap(), *b"12345678");
    assert!(matches!(read("yes").unwrap_err(), Error::TooMuch));
    let failed = read("echo one; exit 3").unwrap_err();
    assert!(matches!(failed, Error::Failed(status) if status.code() == Some(3)));
}

#[test]
fn a_passphrase_loses_one_line_ending_and_a_password_none() {
    let told = Told::default();
    let (_directory, file) = exposed(b"one\n");
    let read = file.read(&told).unwrap().unwrap();
    assert_eq!(read.expose(), b"one");
    let bytes = password(&file, Asking::Twice, &told).unwrap();
    assert_eq!(**bytes, *b"one\n");
    assert_eq!(*told.0.borrow(), ["exposed", "exposed", "line ending"]);
    let (reader, mut writer) = io::pipe().unwrap();
    writer.write_all(b"from a descriptor\r\n").unwrap();
    drop(writer);
    let number = std::os::fd::AsRawFd::as_raw_fd(&reader).unsigned_abs();
    let descriptor = Source::Descriptor(number).read(&told).unwrap().unwrap();
    assert_eq!(descriptor.expose(), b"from a descriptor");
}

#[test]
fn an_error_names_its_source() {
    let told = Told::default();
    let error = command("true").read(&told).err().unwrap();
    let text = "the passphrase command: the passphrase is empty";
    assert_eq!(error.to_string(), text);
    let none = Source::File("/none/at/all".into()).read(&told);
    let text = none.err().unwrap().to_string();
    assert!(text.starts_with("/none/at/all: "), "{text}");
}

#[test]
fn a_source_is_read_once_for_all() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let source = command(&format!("echo >> '{}'; echo one", log.display()));
    let passphrases = Passphrases::new(source, KdfLimits::default());
    assert!(passphrases.asks_somebody() && !passphrases.is_typed());
    for what in ["this", "that"] {
        let used = passphrases.with(what, &Told::default(), |it| Ok(it.expose().to_vec()));
        assert_eq!(used.unwrap(), b"one");
    }
    assert_eq!(std::fs::read(log).unwrap(), b"\n");
}

#[test]
fn only_a_typed_passphrase_is_tried_again() {
    let wrong =
        |_: &Passphrase| Err::<(), _>(Error::Invalid(None, sealstone::Error::WrongPassphrase));
    let told = Told::default();
    let passphrases = Passphrases::new(command("echo one"), KdfLimits::default());
    assert!(passphrases.with("it", &told, wrong).is_err());
    assert!(told.0.borrow().is_empty());

    let asked = Cell::new(0);
    let again = || {
        asked.set(asked.get() + 1);
        passphrase("two")
    };
    let first = wrong(&passphrase("one").unwrap());
    assert!(retry(first, &told, again, wrong).is_err());
    assert_eq!((asked.get(), told.0.borrow().len()), (TRIES - 1, TRIES - 1));
    let first = wrong(&passphrase("one").unwrap());
    retry(first, &told, again, |_| Ok(())).unwrap();
    assert_eq!(asked.get(), TRIES);
    // Another passphrase does not help against another error.
    let other = Err(Error::TooMuch);
    assert!(retry(other, &told, again, |_| Ok(())).is_err());
    assert_eq!(asked.get(), TRIES);
}

#[test]
fn a_secret_is_typed_until_it_is_the_same_twice() {
    let told = Told::default();
    let answers = RefCell::new(vec!["", "right", "right", "wrong", "right"]);
    let ask = |_: &str| {
        Ok(Zeroizing::new(
            answers.borrow_mut().pop().unwrap().to_owned(),
        ))
    };
    let typed = typed_twice(ask, "It", str::is_empty, &told).unwrap();
    assert_eq!((typed.as_str(), answers.borrow().len()), ("right", 1));
    assert_eq!(*told.0.borrow(), ["differs"]);
    // Nobody repeats an empty answer.
    let typed = typed_twice(ask, "It", str::is_empty, &told).unwrap();
    assert!(typed.is_empty() && answers.borrow().is_empty());
}

#[test]
fn a_short_passphrase_is_pointed_out_and_a_generated_one_shown() {
    let told = Told::default();
    let given = choose("it", &command("echo 1234567"), false, &told).unwrap();
    assert_eq!((given.generated(), told.0.borrow().len()), (None, 1));
    choose("it", &command("echo 12345678"), false, &told).unwrap();
    let generated = choose("it", &command("exit 1"), true, &told).unwrap();
    let text = generated.generated().unwrap().as_bytes();
    assert_eq!(generated.passphrase.expose(), text);
    assert_eq!(*told.0.borrow(), ["short"]);
}
