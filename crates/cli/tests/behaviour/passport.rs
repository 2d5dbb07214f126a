//! Passports: secrets that are shown once, the default passport and its successors, paper backups.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::world::{PASSPHRASE, PROFILE, World, json, refuse, succeed};

pub(crate) const DEFAULT: &str = "data/sealstone/default.passport";
pub(crate) const DEFAULT_PUB: &str = "data/sealstone/default.pub";
/// Outputs that nobody can see, and the exit code of the command.
const UNSEEN: [(&str, i32); 6] = [
    ("2>/dev/full", 3),
    ("2>/dev/null", 2),
    ("2>&-", 2),
    ("--json >/dev/full", 3),
    ("--json >/dev/null", 2),
    ("--json >&-", 2),
];

/// The beginning of a passport's fingerprint, as in names of files.
pub(crate) fn tag(world: &World, passport: &str) -> String {
    let shown = json(&world.done(&["passport", "show", "--json", passport]));
    shown["fingerprint"].as_str().unwrap().replace('-', "")[..8].to_owned()
}

pub(crate) fn with_default() -> World {
    let world = World::empty();
    world.done(&["passport", "new", "-q", "--label", "Ann", PROFILE]);
    world.write("plan.txt", b"attack at dawn\n");
    world
}

#[test]
fn no_slot_comes_to_depend_on_a_secret_that_nobody_saw() {
    let world = World::new();
    let before = world.read("alice.passport");
    for change in [
        "slot change alice.passport --recovery",
        "slot change alice.passport --generate-passphrase",
        "slot add alice.passport --recovery",
        "slot add alice.passport --generate-passphrase",
    ] {
        for (unseen, code) in UNSEEN {
            refuse(
                &mut world.bash(&format!("sealstone passport {change} {unseen}")),
                code,
            );
            assert!(
                world.read("alice.passport") == before,
                "{change} {unseen} changed the passport"
            );
        }
    }
}

#[test]
fn no_passport_and_no_file_is_made_for_a_passphrase_that_nobody_saw() {
    let world = World::new();
    let words = world.done(&["passport", "backup", "alice.passport", "--force"]);
    world.write("words", &words);
    world.done(&[
        "passport",
        "split",
        "alice.passport",
        "-k2",
        "-n2",
        "-o",
        "alice",
    ]);
    let before = world.names();
    let made_up = format!("--generate-passphrase {PROFILE}");
    for make in [
        format!("passport new -o new.passport {made_up}"),
        format!("passport restore -o new.passport --words-file words --label X {made_up}"),
        format!("passport join alice-1.share alice-2.share -o new.passport --label X {made_up}"),
        format!("passport rotate alice.passport -o new.passport {made_up}"),
        format!("seal -p --unsigned plan.txt {made_up}"),
    ] {
        for (unseen, code) in UNSEEN {
            refuse(&mut world.bash(&format!("sealstone {make} {unseen}")), code);
            assert_eq!(world.names(), before, "{make} {unseen}");
        }
    }
}

#[test]
fn beside_content_machines_find_a_made_up_passphrase_on_standard_error() {
    let world = World::new();
    let seal = format!("seal -p --unsigned --json --generate-passphrase {PROFILE} -o - plan.txt");
    let seal: Vec<_> = seal.split(' ').collect();
    let sealed = world.command(&seal).output().unwrap();
    world.write("piped.sealed", &sealed.stdout);
    let passphrase = json(&sealed.stderr)["generated_passphrase"]
        .as_str()
        .unwrap()
        .to_owned();
    let opened = succeed(
        world
            .command(&["open", "-q", "-o", "-", "piped.sealed"])
            .env("SEALSTONE_PASSPHRASE", passphrase),
    );
    assert_eq!(opened, b"attack at dawn\n");
    for (unseen, code) in [("2>&-", 2), ("2>/dev/null", 2), ("2>/dev/full", 3)] {
        let line = format!("sealstone {} >out {unseen}", seal.join(" "));
        refuse(&mut world.bash(&line), code);
    }
}

#[test]
fn a_slot_is_not_written_before_its_secret_is_shown() {
    let world = World::new();
    let before = world.read("alice.passport");
    // Until the reader reads, the command saves nothing.
    let line = "mkfifo pipe; exec 9<>pipe; dd if=/dev/zero bs=65536 count=1 >&9 2>/dev/null; \
                sealstone passport slot change alice.passport --recovery --json >&9 & \
                sleep 1; cmp alice.passport before && head -c 65536 <&9 >/dev/null && wait $! && ! cmp -s alice.passport before";
    world.write("before", &before);
    succeed(&mut world.bash(line));
}

#[test]
fn a_backup_becomes_the_default_passport_again() {
    let world = with_default();
    let first = tag(&world, DEFAULT);
    world.done(&["passport", "backup", "-q", "-o", "words"]);
    world.done(&["passport", "split", "-q", "-k", "2", "-n", "2", "-o", "all"]);
    let restore = [
        "passport",
        "restore",
        "-q",
        PROFILE,
        "--label=Ann",
        "--words-file",
        "words",
    ];
    let join = [
        "passport",
        "join",
        "-q",
        PROFILE,
        "--label=Ann",
        "all-1.share",
        "all-2.share",
    ];
    world.refused(&restore, 3);
    for again in [&restore[..], &join] {
        fs::remove_dir_all(world.path("data/sealstone")).unwrap();
        world.done(again);
        assert_eq!(tag(&world, DEFAULT), first);
        assert_eq!(world.mode(DEFAULT), 0o600);
    }
}

#[test]
fn rotation_says_what_it_needs() {
    let world = with_default();
    let said = world.refused(&["passport", "rotate", DEFAULT], 2);
    assert!(said.contains("choose -o NEW.passport"), "{said}");
    world.done(&["passport", "rotate", "-q", "-o", "beside.passport"]);
    fs::rename(world.path(DEFAULT), world.path("elsewhere.passport")).unwrap();
    std::os::unix::fs::symlink(world.path("elsewhere.passport"), world.path(DEFAULT)).unwrap();
    let said = world.refused(&["passport", "rotate"], 2);
    assert!(said.contains("is a link"), "{said}");
}

#[test]
fn every_verb_knows_the_default_passport() {
    let world = World::empty();
    let verbs: [&[&str]; 9] = [
        &["show"],
        &["export"],
        &["slot", "list"],
        &["slot", "add", "--recovery", "--json"],
        &["slot", "change", "2", "--recovery", "--json"],
        &["slot", "remove", "2"],
        &["backup", "--force"],
        &["split", "-k2", "-n2", "--force"],
        &["rotate"],
    ];
    for verb in verbs {
        let said = world.refused(&[&["passport"], verb].concat(), 2);
        assert!(said.contains("sealstone passport new"), "{verb:?}: {said}");
    }
    world.done(&["passport", "new", "-q", "--label", "Ann", PROFILE]);
    for verb in verbs {
        world.done(&[&["passport"], verb].concat());
    }
}

#[test]
fn keys_that_could_not_be_unlocked_are_not_made() {
    let world = World::new();
    let before = world.read("alice.passport");
    // It does not start the derivation: the memory is missing.
    let costly = "--profile=custom:m=2097153KiB,t=1,p=1";
    let commands: [&[&str]; 4] = [
        &["passport", "new", "-o", "new.passport", costly],
        &[
            "passport",
            "slot",
            "add",
            "alice.passport",
            costly,
            "--recovery",
        ],
        &[
            "passport",
            "slot",
            "change",
            "alice.passport",
            costly,
            "--recovery",
        ],
        &["seal", "-p", "--unsigned", "plan.txt", costly],
    ];
    for command in commands {
        let said = world.refused(command, 9);
        assert!(said.contains("--kdf-max-memory 2049MiB"), "{said}");
    }
    let long = "--profile=custom:m=7MiB,t=9999,p=1";
    let said = world.refused(&["passport", "new", "-o", "new.passport", long], 9);
    assert!(said.contains("--kdf-max-memory 2188MiB"), "{said}");
    assert!(world.read("alice.passport") == before && !world.path("new.passport").exists());
}

#[test]
fn words_come_back_however_they_were_written_down() {
    let world = World::new();
    let words = world.done(&["passport", "backup", "alice.passport", "--force"]);
    let words = String::from_utf8(words).unwrap();
    assert_eq!(
        (words.lines().count(), words.split_whitespace().count()),
        (1, 24)
    );
    let numbered = |(i, word): (usize, &str)| {
        format!(
            "{:>2} {:<9}",
            i + 1,
            word.chars().take(4).collect::<String>()
        )
    };
    let table: String = words.split_whitespace().enumerate().map(numbered).collect();
    for (name, text) in [("line", &words), ("table", &table)] {
        world.write("words", text.as_bytes());
        let passport = format!("{name}.passport");
        world.done(&[
            "passport",
            "restore",
            "-q",
            "-o",
            &passport,
            "--words-file",
            "words",
            "--label=Ann",
            PROFILE,
        ]);
        assert_eq!(tag(&world, &passport), tag(&world, "alice.passport"));
    }
    let mut wrong: Vec<&str> = words.split_whitespace().collect();
    wrong[6] = "secrecy";
    world.write("words", wrong.join(" ").as_bytes());
    let said = world.refused(
        &[
            "passport",
            "restore",
            "-o",
            "x.passport",
            "--label=Ann",
            "--words-file",
            "words",
        ],
        4,
    );
    assert!(
        said.contains("word 7 is not on") && !said.contains("secrecy"),
        "{said}"
    );
}

#[test]
fn a_qr_code_holds_the_words() {
    let world = World::new();
    let backup = ["passport", "backup", "alice.passport", "--force", "-q"];
    let words = String::from_utf8(world.done(&backup)).unwrap();
    assert_eq!(words.trim().split(' ').count(), 24);

    let shown = String::from_utf8(world.done(&[&backup[..], &["--qr"]].concat())).unwrap();
    assert_eq!(scanned(modules_on_screen(&shown)), words.trim());
    world.done(&[&backup[..4], &["-q", "--qr", "-o", "words.png"]].concat());
    assert_eq!(scanned(pixels(&world.read("words.png"))), words.trim());
    world.done(&[&backup[..4], &["-q", "--qr", "-o", "words.svg"]].concat());
    let svg = String::from_utf8(world.read("words.svg")).unwrap();
    assert_eq!(scanned(drawn(&svg)), words.trim());
}

/// The picture for an independent scanner: rows of light and dark squares, each of four by four
/// pixels.
fn scanned(rows: Vec<Vec<bool>>) -> String {
    let (width, height) = (4 * rows[0].len(), 4 * rows.len());
    let grey = |x: usize, y: usize| if rows[y / 4][x / 4] { 0 } else { 255 };
    let mut picture = rqrr::PreparedImage::prepare_from_greyscale(width, height, grey);
    let codes = picture.detect_grids();
    assert_eq!(codes.len(), 1);
    codes[0].decode().unwrap().1
}

/// Whether each module is dark. A character is two modules, one above the other, in black on
/// white.
fn modules_on_screen(shown: &str) -> Vec<Vec<bool>> {
    let rows = |line: &str| {
        let line = line.strip_prefix("\x1b[30;107m").unwrap();
        let line = line.strip_suffix("\x1b[0m").unwrap();
        let halves = ["█▀", "█▄"];
        halves.map(|dark| line.chars().map(|half| dark.contains(half)).collect())
    };
    shown.lines().flat_map(rows).collect()
}

/// Whether each pixel of a picture in black and white is dark.
fn pixels(png: &[u8]) -> Vec<Vec<bool>> {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png))
        .read_info()
        .unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let picture = reader.next_frame(&mut bytes).unwrap();
    let dark = |row: &[u8]| {
        let bits = row
            .iter()
            .flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 0));
        bits.take(picture.width as usize).collect()
    };
    bytes.chunks(picture.line_size).map(dark).collect()
}

/// Whether each point of a drawing is dark: it is one path of rectangles, `M`left
/// top`h`width`v`height`H`left`V`top.
fn drawn(svg: &str) -> Vec<Vec<bool>> {
    let number = |text: &str| -> usize { text.parse().unwrap() };
    let between = |text: &str, from: &str, to: &str| {
        let (_, rest) = text.split_once(from).unwrap();
        rest.split_once(to).unwrap().0.to_owned()
    };
    assert!(
        svg.contains("fill=\"#fff\"/><path fill=\"#000\" d="),
        "dark on light"
    );
    let side = number(&between(svg, "viewBox=\"0 0 ", " "));
    let mut points = vec![vec![false; side]; side];
    let path = between(svg, " d=\"M", "\"");
    for rectangle in path.split('M') {
        let left = number(rectangle.split(' ').next().unwrap());
        let top = number(&between(rectangle, " ", "h"));
        let width = number(&between(rectangle, "h", "v"));
        let height = number(&between(rectangle, "v", "H"));
        for row in &mut points[top..][..height] {
            row[left..][..width].fill(true);
        }
    }
    points
}

#[test]
fn shares_and_words_go_into_a_pipe_only_if_that_is_meant() {
    let world = World::new();
    for verb in [&["backup"][..], &["split", "-k2", "-n3"]] {
        let command = [&["passport"], verb, &["alice.passport"]].concat();
        assert!(world.refused(&command, 2).contains("not a terminal"));
        for meant in ["--force", "--json"] {
            world.done(&[&command[..], &[meant]].concat());
        }
    }
    let said = world.refused(
        &["passport", "backup", "alice.passport", "--json", "--qr"],
        2,
    );
    assert!(said.contains("-o FILE.svg"), "{said}");
}

#[test]
fn a_passport_that_others_can_read_is_mentioned() {
    let world = World::new();
    let open_to_all = |mode| {
        fs::set_permissions(
            world.path("alice.passport"),
            fs::Permissions::from_mode(mode),
        )
        .unwrap()
    };
    for (mode, warned) in [(0o644, true), (0o640, true), (0o600, false)] {
        open_to_all(mode);
        for verb in [&["show"][..], &["export"], &["slot", "list"]] {
            let command = [&["passport"], verb, &["alice.passport"]].concat();
            let output = world.command(&command).output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(
                said.contains("alice.passport can be read by others: chmod 600 it"),
                warned,
                "{mode:o} {verb:?}: {said}"
            );
        }
    }
}

#[test]
fn labels_come_from_the_user_or_the_option() {
    let world = World::empty();
    let label = |passport: &str| {
        json(&world.done(&["passport", "show", "--json", passport]))["label"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let new = ["passport", "new", "-q", PROFILE];
    succeed(
        world
            .command(&[&new[..], &["-o", "a.passport"]].concat())
            .env("USER", "ann"),
    );
    assert_eq!(label("a.passport"), "ann");
    let id = world
        .bash("getent passwd $(id -u) | cut -d: -f1")
        .output()
        .unwrap();
    let listed = String::from_utf8(id.stdout).unwrap().trim().to_owned();
    if listed.is_empty() {
        assert!(world.refused(&new, 2).contains("--label"));
    } else {
        world.done(&new);
        assert_eq!(label(DEFAULT), listed);
    }
    let said = world.refused(
        &[
            "passport",
            "new",
            "-o",
            "b.passport",
            "--label",
            " Alice",
            PROFILE,
        ],
        2,
    );
    assert!(said.contains("begins nor ends with a space"), "{said}");
}

#[test]
fn a_made_up_passphrase_may_be_typed_with_spaces() {
    let world = World::empty();
    let made = world.done(&[
        "passport",
        "new",
        "--json",
        "-o",
        "a.passport",
        "--generate-passphrase",
        PROFILE,
    ]);
    let passphrase = json(&made)["generated_passphrase"]
        .as_str()
        .unwrap()
        .replace('-', " ");
    world.write("plan.txt", b"attack at dawn\n");
    let sealed = world.done(&[
        "seal",
        "--json",
        "-p",
        "--unsigned",
        "--generate-passphrase",
        PROFILE,
        "plan.txt",
    ]);
    let other = json(&sealed)["generated_passphrase"]
        .as_str()
        .unwrap()
        .replace('-', " ");
    for (typed, command) in [
        (&passphrase, &["passport", "export", "a.passport"][..]),
        (&other, &["open", "-o", "-", "plan.txt.sealed"]),
    ] {
        succeed(world.command(command).env("SEALSTONE_PASSPHRASE", typed));
        let wrong = typed.replacen(' ', " zoo ", 1);
        refuse(world.command(command).env("SEALSTONE_PASSPHRASE", wrong), 5);
    }
}

#[test]
fn options_that_exclude_each_other_are_refused() {
    let world = World::new();
    assert_eq!(world.read("passphrase"), PASSPHRASE.as_bytes());
    let file = ["--generate-passphrase", "--passphrase-file", "passphrase"];
    let new_file = [
        "--generate-passphrase",
        "--new-passphrase-file",
        "passphrase",
    ];
    let commands: [(&[&str], &[&str]); 6] = [
        (&["passport", "new", "-o", "x.passport"], &file),
        (
            &["passport", "restore", "--label=Ann", "-o", "x.passport"],
            &file,
        ),
        (&["passport", "slot", "add", "alice.passport"], &new_file),
        (
            &["passport", "rotate", "alice.passport", "-o", "x.passport"],
            &new_file,
        ),
        (&["seal", "-p", "--unsigned", "plan.txt"], &file),
        (
            &[
                "seal",
                "-p",
                "--unsigned",
                "plan.txt",
                "--recipient-passphrase-file",
                "passphrase",
            ],
            &["--generate-passphrase"],
        ),
    ];
    for (command, options) in commands {
        let said = world.refused(&[command, options].concat(), 2);
        assert!(
            said.contains("--generate-passphrase"),
            "{command:?}: {said}"
        );
    }
    let said = world.refused(&["passport", "new", "-o", "x.pub", PROFILE], 2);
    assert!(said.contains("the name of a public half"), "{said}");
    let said = world.refused(&["passport", "split", "alice.passport", "-k3", "-n2"], 2);
    assert!(said.contains("-k") && said.contains("-n"), "{said}");
    world.done(&[
        "passport",
        "split",
        "alice.passport",
        "-k3",
        "-n3",
        "-o",
        "s",
    ]);
    let said = world.refused(
        &[
            "passport",
            "join",
            "--label=Ann",
            "s-2.share",
            "-o",
            "x.passport",
        ],
        2,
    );
    assert!(
        said.contains("3 shares of this split are needed, and 1 given"),
        "{said}"
    );
    assert!(
        world
            .refused(&["passport", "rotat"], 2)
            .contains("'rotate'")
    );
}
