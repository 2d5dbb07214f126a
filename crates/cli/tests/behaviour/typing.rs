//! Typing ahead at a terminal: while a key is derived, it is not shown, and it is no answer.

use std::io::Write;
use std::time::Duration;

use crate::terminal::{SLOW, converse, slow_passport};
use crate::world::{PASSPHRASE, World};

/// The screen does not show `hunter`, which was typed ahead, the next program does not read it, and
/// the terminal shows typing again.
fn nothing_of_it_is_left(line: &str, screen: &str) {
    assert!(
        !screen.contains("hunter") && screen.contains("left []") && screen.contains(" echo "),
        "{line}: {screen}"
    );
}

/// While the bar runs, the terminal does not echo input, and the input is not an answer.
#[test]
fn typing_ahead_is_not_shown_and_is_no_answer() {
    let world = World::new();
    slow_passport(&world);
    let seal = "export TERM=xterm; sealstone seal -r bob.pub --from slow.passport plan.txt; \
                bash -c 'read -t 1 line; echo \"left [$line]\"'; stty -a";
    let Some((screen, _)) = converse(&world, seal, |keyboard, screen| {
        let asked = screen.wait_for_a_question(0);
        writeln!(keyboard, "mistyped").unwrap();
        screen.wait_for(asked, "deriving key");
        writeln!(keyboard, "hunter2").unwrap();
        screen.wait_for(asked, "try again");
        let asked = screen.wait_for_a_question(asked);
        writeln!(keyboard, "{PASSPHRASE}").unwrap();
        screen.wait_for(asked, "deriving key");
        writeln!(keyboard, "hunter3").unwrap();
    }) else {
        return;
    };
    assert_eq!(screen.matches("try again").count(), 1, "{screen}");
    assert!(screen.contains("sealed plan.txt"), "{screen}");
    nothing_of_it_is_left(seal, &screen);
}

/// The passphrase of a file, alone and in a pipe, and once for several files.
#[test]
fn typing_ahead_of_the_passphrase_of_a_file_is_not_shown_either() {
    let world = World::new();
    world.write("other.txt", b"attack at dusk\n");
    let seal = format!("sealstone seal -p {SLOW} --unsigned");
    // Several files have no bar, so the second derivation takes longer, not to be missed.
    let slower = "sealstone seal -p --profile=custom:m=64MiB,t=60,p=1 --unsigned";
    for line in [
        format!("{seal} -o out plan.txt"),
        format!("cat plan.txt | {seal} -o again"),
        format!("{slower} plan.txt other.txt"),
    ] {
        let is_last = line.starts_with(slower);
        let line = format!(
            "export TERM=xterm; {line}; bash -c 'read -t 1 line; echo \"left [$line]\"'; stty -a"
        );
        let Some((screen, _)) = converse(&world, &line, |keyboard, screen| {
            let asked = screen.wait_for_a_question(0);
            writeln!(keyboard, "a new passphrase").unwrap();
            let asked = screen.wait_for_a_question(asked);
            writeln!(keyboard, "a new passphrase").unwrap();
            match is_last {
                false => screen.wait_for(asked, "deriving key"),
                true => {
                    screen.wait_for(asked, "sealed plan.txt");
                    std::thread::sleep(Duration::from_millis(200));
                }
            }
            writeln!(keyboard, "hunter2").unwrap();
        }) else {
            return;
        };
        assert!(
            screen.contains("recipient") || screen.contains("for a passphrase"),
            "{screen}"
        );
        nothing_of_it_is_left(&line, &screen);
    }
}

/// The answer is shown while it is typed. Later typing is not shown, because it may be a
/// passphrase. After the command, the terminal shows typing again, also if the command fails or is
/// interrupted.
#[test]
fn typing_after_an_answer_that_is_shown_is_not_shown() {
    let world = World::new();
    slow_passport(&world);
    world.done(&["passport", "backup", "-q", "bob.passport", "-o", "words"]);
    world.write("wrong", b"not this one");
    let restore = format!("passport restore --words-file words {SLOW} -o");
    // Each has an output of its own: an interrupt may come too late.
    let rotate = |output: &str, passphrase: &str| {
        format!("passport rotate slow.passport -o {output}.passport --passphrase-file {passphrase}")
    };
    for (line, answer, last, end) in [
        (&*rotate("a", "wrong"), "n", "", "wrong passphrase"),
        (&*rotate("d", "passphrase"), "n", "\x03", ""),
        (&*rotate("e", "passphrase"), "n", "\x1c", ""),
        (&*rotate("f", "passphrase"), "n", "", "succeed"),
        (
            &*format!("{restore} b.passport --passphrase-file passphrase"),
            "Bob",
            "",
            "b.pub",
        ),
        (
            &*format!("{restore} c.passport --generate-passphrase"),
            "Bob",
            "",
            "c.pub",
        ),
        ("trust sign --by slow.passport", "y", "", "is countersigned"),
    ] {
        let line = format!(
            "trap : INT QUIT; export TERM=xterm SEALSTONE_PASSPHRASE='{PASSPHRASE}'; sealstone {line}; \
             bash -c 'read -t 1 line; echo \"left [$line]\"'; stty -a"
        );
        let Some((screen, _)) = converse(&world, &line, |keyboard, screen| {
            let asked = screen.wait_for_a_question(0);
            writeln!(keyboard, "{answer}").unwrap();
            screen.wait_for(asked, "deriving key");
            writeln!(keyboard, "hunter2").unwrap();
            keyboard.write_all(last.as_bytes()).unwrap();
        }) else {
            return;
        };
        assert!(screen.contains(end), "{line}: {screen}");
        nothing_of_it_is_left(&line, &screen);
    }
}
