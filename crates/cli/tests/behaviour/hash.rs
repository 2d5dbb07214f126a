//! `hash` in cases that transcripts cannot have: secret keys, odd names, pipes, files of many
//! pieces, changing files.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::world::{World, refuse, succeed};

/// Computed by pyskein 1.0: `skein512(bytes(range(251)) * n, tree=(6, 4, 255))`, of 5,000,000
/// bytes.
const FIVE_MILLION: &str = "a38ebaef2e828745ff653d03c21e69ef5c235c93469ee62fe068fac44b3ff6390de110e123593120d7a17f0cf0f062e3a1710eb541d89cf7bfefa54cff2a9815";
/// The same with `key=b"a key of the demo\n"`, of the 43 bytes of the fox.
const FOX_MAC: &str = "e4cb7f960492f5da4e1f1f3807e292b683e87346dcd353e46ac7a562de1456af55f73db4c89ba66a876d06946ccce3a5cdbf6f3ce934cc21eae8319996f41d69";
/// With all arguments, `digest_bits=128` and `tree=(1, 1, 3)`.
const FOX_ALL: &str = "7a4540445fe4dba5d679d0dd3c18b809";
const FOX: &[u8] = b"The quick brown fox jumps over the lazy dog";

fn with_key() -> World {
    let world = World::empty();
    world.write("fox", FOX);
    world.write("key", b"a key of the demo\n");
    fs::set_permissions(world.path("key"), fs::Permissions::from_mode(0o600)).unwrap();
    world
}

fn five_million() -> Vec<u8> {
    (0..=250).cycle().take(5_000_000).collect()
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_file_and_a_pipe_of_many_pieces() {
    let world = World::empty();
    world.write("big", &five_million());
    let line = format!("{FIVE_MILLION}  big\n");
    assert_eq!(text(world.done(&["hash", "big"])), line);
    let piped = format!("{FIVE_MILLION}  -\n");
    for line in [
        "cat big | sealstone hash",
        "sealstone hash < big",
        "sealstone hash - < big",
        "(echo 0123456789; cat big) > both; { read line; sealstone hash; } < both",
    ] {
        assert_eq!(text(succeed(&mut world.bash(line))), piped, "{line}");
    }
    let one = "taskset 1 sealstone hash big || sealstone hash big";
    assert_eq!(text(succeed(&mut world.bash(one))), line);
}

#[test]
fn a_key_makes_hashes_that_nobody_else_can_make() {
    let world = with_key();
    let line = text(world.done(&["hash", "--mac", "key", "fox"]));
    assert_eq!(
        line,
        format!("Skein-512-512-tree-6-4-255+mac (fox) = {FOX_MAC}\n")
    );
    world.write("sums", line.as_bytes());
    world.done(&["hash", "-c", "--mac-key-file", "key", "sums"]);
    world.write("other", b"another key");
    for args in [
        &["hash", "-c", "--mac", "other", "sums"][..],
        &["hash", "-c", "sums"],
    ] {
        assert_eq!(world.command(args).output().unwrap().status.code(), Some(1));
    }
}

/// A MAC covers the content alone. The help, README.md, SECURITY.md and spec/tree.md say so.
#[test]
fn a_key_does_not_bind_the_name() {
    let world = with_key();
    world.write("dog", b"another animal");
    let list = "sealstone hash --mac key fox dog > sums; mv fox f; mv dog fox; mv f dog";
    succeed(&mut world.bash(list));
    let said = world.command(&["hash", "-c", "--mac", "key", "sums"]);
    let output = { said }.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "the names are checked");
    // An attacker who can also change the list exchanges the names there.
    let swap = "sed -i 's/(fox)/(x)/; s/(dog)/(fox)/; s/(x)/(dog)/' sums; sealstone hash -c --mac key sums";
    assert_eq!(text(succeed(&mut world.bash(swap))), "dog: OK\nfox: OK\n");
    let shorter = "sed -i 1d sums; sealstone hash -c --mac key sums";
    assert_eq!(text(succeed(&mut world.bash(shorter))), "fox: OK\n");
}

/// If an option names the algorithm, `-c` rejects lines of other algorithms.
#[test]
fn an_option_is_not_overruled_by_a_line() {
    let world = with_key();
    let made = "for options in '' '--output-bits 8' '--algorithm skein-512 --output-bits 8' '--algorithm skein-512' '--message-bits 0'; do \
                sealstone hash --tag $options fox; done > sums";
    succeed(&mut world.bash(made));
    for (options, right) in [
        ("--algorithm skein-512", 4),
        ("--algorithm skein-512 --output-bits 512", 4),
        ("--algorithm skein-512 --output-bits 8", 3),
        ("--output-bits 512", 1),
        ("--output-bits 8", 2),
        ("--tree 6,4,255", 1),
        ("--message-bits 0", 5),
    ] {
        let check = format!("sealstone hash -c {options} sums 2> said; [ $? = 1 ]");
        let shown = text(succeed(&mut world.bash(&check)));
        for (line, shown) in (1..).zip(shown.lines()) {
            let is_right = shown.starts_with("fox: OK");
            assert_eq!(is_right, line == right, "{options}: line {line}: {shown}");
        }
        assert!(text(world.read("said")).contains("its line is of Skein-512-"));
    }
    let free = "sealstone hash -c sums";
    let shown = text(succeed(&mut world.bash(free)));
    assert_eq!(
        shown.lines().collect::<Vec<_>>(),
        [
            "fox: OK",
            "fox: OK",
            "fox: OK",
            "fox: OK",
            "fox: OK (first 0 bits)"
        ]
    );
}

/// A line that is too long counts once, and the lines after it are read.
#[test]
fn an_endless_line_is_one_line() {
    let world = with_key();
    let list = "(head -c 70000000 /dev/zero | tr '\\0' 0; echo '  fox'; sealstone hash fox) > sums; sealstone hash -c -w sums";
    let output = world.bash(list).output().unwrap();
    assert_eq!(text(output.stdout), "fox: OK\n");
    let said = text(output.stderr);
    assert!(said.contains("sums: line 1 is malformed"), "{said}");
    assert!(said.contains("1 line is malformed"), "{said}");
    assert!(output.status.success());
}

/// No system gives a thread a stack of this size.
#[test]
fn without_threads() {
    let world = World::empty();
    world.write("big", &five_million());
    let refused = "export RUST_MIN_STACK=1000000000000000";
    let line = format!("{refused}; sealstone hash big; cat big | sealstone hash");
    assert_eq!(
        text(succeed(&mut world.bash(&line))),
        format!("{FIVE_MILLION}  big\n{FIVE_MILLION}  -\n")
    );
    let serial = "sealstone hash --algorithm skein-512 big";
    let with = text(succeed(&mut world.bash(serial)));
    let without = text(succeed(&mut world.bash(&format!("{refused}; {serial}"))));
    assert_eq!(with, without);
    let shown = format!("{refused}; script -qec 'sealstone hash big' /dev/null");
    assert!(text(succeed(&mut world.bash(&shown))).contains(FIVE_MILLION));
}

/// Like sha256sum: a file that cannot be opened.
#[test]
fn an_empty_name_is_a_file_that_is_not_there() {
    let world = with_key();
    let said = "sealstone: '': No such file or directory\n";
    for line in [
        "sealstone hash '' fox",
        "sealstone hash --tree '' fox",
        "sealstone hash fox ''",
    ] {
        let output = world.bash(line).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert!(text(output.stdout).ends_with("  fox\n"), "{line}");
        assert_eq!(text(output.stderr), said, "{line}");
    }
    let check = "sealstone hash fox > sums; sealstone hash -c '' sums";
    let output = world.bash(check).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(output.stdout), "fox: OK\n");
    assert_eq!(text(output.stderr), said);
}

#[test]
fn a_directory_named_like_standard_input() {
    let world = with_key();
    let line = "mkdir -- -; sealstone hash < fox; sealstone hash ./-";
    let output = world.bash(line).output().unwrap();
    assert!(text(output.stdout).ends_with("  -\n"));
    assert_eq!(text(output.stderr), "sealstone: ./-: is a directory\n");
    let twice = world.bash("sealstone hash - - < fox").output().unwrap();
    assert_eq!(twice.status.code(), Some(1));
    assert_eq!(
        text(twice.stderr),
        "sealstone: the message cannot come from standard input twice\n"
    );
}

#[test]
fn lines_that_end_with_nul_ask_for_an_option() {
    let world = with_key();
    let line = "sealstone hash -z fox > sums; sealstone hash -c sums";
    let said = refuse(&mut world.bash(line), 1);
    assert_eq!(
        said,
        "sealstone: sums: no well-formed line\n  lines that end with NUL are checked with --zero\n"
    );
}

/// The last byte is read from a slow pipe like all others, and counted.
#[test]
fn bits_of_a_pipe_are_counted() {
    let world = World::empty();
    let line = "(printf a; sleep 0.1; printf b) | sealstone --json hash --message-bits 13";
    let said = text(succeed(&mut world.bash(line)));
    assert!(said.contains(r#""size":2"#), "{said}");
}

/// The writer of the list must not choose a hash that is easier to forge.
#[test]
fn with_a_key_lines_of_other_kinds_are_refused() {
    let world = with_key();
    for options in [
        "",
        "--output-bits 8 --mac key",
        "--algorithm skein-512 --mac key",
        "--message-bits 1 --mac key",
    ] {
        let list = format!("sealstone hash --tag {options} fox > sums");
        succeed(&mut world.bash(&list));
        let output = world
            .command(&["hash", "-c", "--mac", "key", "sums"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{options}");
        assert_eq!(text(output.stdout), "fox: FAILED open or read\n");
    }
}

#[test]
fn every_argument_of_the_specification() {
    let world = with_key();
    let line = "sealstone hash --algorithm skein-512 --output-bits 128 --mac key --personalization '20261121 me@example.com demo' \
                --public-key-file <(printf 'public key') --kdf-id-file <(printf 'key identifier') --nonce-file <(printf nonce) --tree 1,1,3 fox";
    let named = "Skein-512-128-tree-1-1-3+mac+personalization+public-key+kdf-id+nonce";
    assert_eq!(
        text(succeed(&mut world.bash(line))),
        format!("{named} (fox) = {FOX_ALL}\n")
    );
    let bare = format!("{line} --untagged | cut -c 1-32");
    assert_eq!(text(succeed(&mut world.bash(&bare))).trim_end(), FOX_ALL);
    let check = format!("{line} > sums; {} -c sums", line.trim_end_matches(" fox"));
    assert_eq!(text(succeed(&mut world.bash(&check))), "fox: OK\n");
}

#[test]
fn odd_names_come_back() {
    let world = World::empty();
    for style in ["", "--tag", "-z", "-z --tag"] {
        let check = if style.contains("-z") { "-c -z" } else { "-c" };
        let line = format!(
            "touch $'a\\nb' 'a\\b' ' ' $'\\xff' 'a) = b' '#'; sealstone hash {style} -- $'a\\nb' 'a\\b' ' ' $'\\xff' 'a) = b' '#' | sealstone hash {check} --strict"
        );
        let said = succeed(&mut world.bash(&line));
        assert_eq!(
            said.iter().filter(|&&byte| byte == b'\n').count(),
            6,
            "{style}"
        );
        assert!(
            said.starts_with(b"\\a\\nb: OK\n\\a\\\\b: OK\n : OK\n\xff: OK\n"),
            "{style}"
        );
    }
}

#[test]
fn long_messages_in_every_other_way() {
    let world = World::empty();
    world.write("big", &five_million());
    // Read ahead from a file and from a pipe, and bit by bit: three ways to the same hash.
    for algorithm in [
        "skein-256",
        "skein-512",
        "skein-1024",
        "skein-512 --tree 3,2,4",
    ] {
        let hash = format!("sealstone hash --algorithm {algorithm} --untagged");
        let line = format!("{hash} < big; cat big | {hash}; {hash} --message-bits 40000000 < big");
        let lines = text(succeed(&mut world.bash(&line)));
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| *line == lines[0]), "{algorithm}");
    }
}

#[test]
fn a_closed_pipe_and_a_full_device() {
    let world = with_key();
    let said = refuse(&mut world.bash("sealstone hash fox > /dev/full"), 3);
    assert!(said.contains("No space left on device"), "{said}");
    let line = "sealstone hash fox fox 2>said | true; [[ ! -s said ]]";
    succeed(&mut world.bash(line));
}

#[test]
fn a_file_that_cannot_be_read_is_told() {
    let world = with_key();
    world.write("list", b"Skein-256-8 (/proc/self/mem) = 00\n");
    let output = world.command(&["hash", "-c", "list"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(output.stdout), "/proc/self/mem: FAILED open or read\n");
    let said = refuse(&mut world.bash("sealstone hash --mac - < key"), 1);
    assert!(
        said.contains("cannot both come from standard input"),
        "{said}"
    );
    let said = refuse(
        &mut world.bash("sealstone hash --mac <(head -c 2000000 /dev/zero) fox"),
        4,
    );
    assert!(said.contains("longer than"), "{said}");
}

#[test]
fn a_key_that_others_can_read_is_warned_of() {
    let world = with_key();
    fs::set_permissions(world.path("key"), fs::Permissions::from_mode(0o644)).unwrap();
    let output = world
        .command(&["hash", "--mac", "key", "fox"])
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("key can be read by others"));
}
