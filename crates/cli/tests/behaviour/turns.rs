//! Two commands of a pipe take turns at the terminal: a pseudo-terminal made by script(1).

use std::io::Write;
use std::process::ChildStdin;

use crate::terminal::{Screen, converse, slow_passport};
use crate::world::{PASSPHRASE, PROFILE, World};

const NEW: &str = "a new passphrase";

#[test]
fn two_commands_of_a_pipe_take_turns_at_the_terminal() {
    // If the first command asks first, its message comes while the second one asks.
    for (later, lines) in [("", 1), (LATER, 1), (LATER, MANY)] {
        take_turns("", later, lines);
    }
}

/// Delays the second command.
const LATER: &str = "sleep 0.5; ";
/// More than a pipe holds: the first command waits for the second one with its output.
const MANY: usize = 20_000;

/// Without the lock that makes commands wait.
#[test]
fn commands_that_take_no_turns_are_noticed() {
    let world = World::new();
    if !world.bash("strace true").output().unwrap().status.success() {
        println!("skipped: strace is not installed, or may not trace");
        return;
    }
    let careless = "strace -f -qq -o /dev/null -e trace=flock -e inject=flock:retval=0 ";
    assert!(std::panic::catch_unwind(|| take_turns(careless, "", 1)).is_err());
}

fn content(lines: usize) -> Vec<u8> {
    b"attack at dawn\n".repeat(lines)
}

/// `careless` is a prefix of the command lines, `later` one of the second.
fn take_turns(careless: &str, later: &str, lines: usize) {
    let world = World::new();
    slow_passport(&world);
    world.write("plan.txt", &content(lines));
    let seal = "seal -q -r slow.pub --from alice.passport -o in plan.txt";
    world.done(&seal.split(' ').collect::<Vec<_>>());
    let pipe = format!(
        "{careless}sealstone open -i slow.passport -o - in | \
         ({later}{careless}sealstone seal -p {PROFILE} --unsigned -o out)"
    );
    let Some(screen) = answer(&world, &pipe, 3) else {
        return;
    };
    // The prompts of one command are consecutive.
    let [new, again] = ["New passphrase", "The same again"].map(|text| screen.find(text).unwrap());
    let other = screen.find("Passphrase for slow").unwrap();
    assert!(!(new..again).contains(&other), "{screen}");
    has_sealed(&world, &screen, lines);
}

/// The sender's passphrase is asked for after the signatures have been verified. The second command
/// waits for the terminal then, and the first one for the second with its output.
#[test]
fn a_command_that_asks_twice_takes_two_turns() {
    let world = World::new();
    world.write("plan.txt", &content(MANY));
    let seal = format!(
        "seal -q -p {PROFILE} --from bob.passport -o in plan.txt --recipient-passphrase-file passphrase"
    );
    world.done(&seal.split(' ').collect::<Vec<_>>());
    let pipe = format!(
        "sealstone open -i bob.passport -o - in | \
         (sleep 3; sealstone seal -p {PROFILE} --unsigned -o out)"
    );
    let Some(screen) = answer(&world, &pipe, 4) else {
        return;
    };
    assert!(screen.contains("Passphrase for bob.passport: "), "{screen}");
    has_sealed(&world, &screen, MANY);
}

/// The screen after a pipe has asked this number of questions. Nothing else is in their lines.
fn answer(world: &World, pipe: &str, questions: usize) -> Option<String> {
    let person = |keyboard: &mut ChildStdin, screen: &Screen| {
        let mut answered = 0;
        for _ in 0..questions {
            answered = screen.wait_for_a_question(answered);
            let shown = screen.now();
            let question = shown.lines().last().unwrap().to_owned();
            assert_eq!(
                question.matches(": ").count(),
                1 + usize::from(question.contains("empty")),
                "{question}"
            );
            let answer = match question.contains("Passphrase for") {
                true => PASSPHRASE,
                false => NEW,
            };
            writeln!(keyboard, "{answer}").unwrap();
        }
    };
    let (screen, code) = converse(world, pipe, person)?;
    assert_eq!(code, Some(0), "{screen}");
    for secret in [PASSPHRASE, NEW] {
        assert!(!screen.contains(secret), "{screen}");
    }
    Some(screen)
}

/// The second command got the content, and the messages of both have lines of their own.
fn has_sealed(world: &World, screen: &str, lines: usize) {
    for message in [
        "opened in to standard output",
        "sealed standard input to out",
    ] {
        let mut shown = screen.lines();
        assert!(shown.any(|line| line.starts_with(message)), "{screen}");
    }
    world.write("new", NEW.as_bytes());
    let opened = world.done(&["open", "-q", "--passphrase-file", "new", "-o", "-", "out"]);
    assert_eq!(opened, content(lines));
}
