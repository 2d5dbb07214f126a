//! Progress of long work, on a pseudo-terminal made by script(1) and in a pipe.

use crate::world::{World, succeed};

/// Texts before the options of a command, and after the command.
const NEVER: [(&str, &str, &str); 6] = [
    ("", "--no-progress", ""),
    ("", "-q", ""),
    ("", "--json", ""),
    ("TERM=dumb", "", ""),
    ("", "", "2> said"),
    ("", "", "2>&1 | cat"),
];

/// The screen while `verb` with `arguments` works for two seconds on a task of minutes, and the
/// screens of all cases in which it must show nothing. All run at the same time.
fn shown(world: &World, verb: &str, arguments: &str) -> (String, Vec<String>) {
    let ways = [&NEVER[..], &[("", "", "")]].concat();
    let mut line = String::new();
    for (number, (before, option, after)) in ways.iter().enumerate() {
        let work = format!(
            "env {before} timeout --foreground 2 sealstone {verb} {option} {arguments} {after}"
        );
        line += &format!("TERM=xterm script -qec '{work}' /dev/null > shown{number} & ");
    }
    succeed(&mut world.bash(&format!("{line} wait")));
    let read = |number| String::from_utf8(world.read(&format!("shown{number}"))).unwrap();
    assert!(world.read("said").is_empty());
    (read(NEVER.len()), (0..NEVER.len()).map(read).collect())
}

#[track_caller]
fn check(world: &World, verb: &str, arguments: &str, name: &str) {
    let (terminal, never) = shown(world, verb, arguments);
    assert!(
        terminal.contains(name) && terminal.contains(" %  "),
        "{terminal}"
    );
    for (way, shown) in NEVER.iter().zip(never) {
        assert_eq!(shown, "", "{way:?}");
    }
}

#[test]
fn of_hashing_a_file() {
    let world = World::empty();
    let file = std::fs::File::create(world.path("sparse")).unwrap();
    file.set_len(1 << 40).unwrap();
    check(&world, "hash", "sparse", "hashing");
}

#[test]
fn of_hashing_a_password() {
    let world = World::empty();
    let costly = "--memory-kib 8192 --iterations 1000000 --passphrase-file passphrase --output raw-hex --salt-hex 736f6d6573616c74";
    check(&world, "password hash", costly, "deriving key");
}

/// Short work shows no progress.
#[test]
fn of_nothing_that_is_soon_done() {
    let world = World::empty();
    let line = "TERM=xterm script -qec 'sealstone hash -- passphrase' /dev/null";
    let shown = String::from_utf8(succeed(&mut world.bash(line))).unwrap();
    assert!(shown.ends_with("  passphrase\r\n"), "{shown}");
    assert!(!shown.contains("hashing"), "{shown}");
}
