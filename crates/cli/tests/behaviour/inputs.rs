//! Unusual sources of passwords, peppers and lists.

use crate::world::{World, refuse, succeed};

const HASH: &str = "sealstone password hash -q --memory-kib 64 --iterations 1 --output raw-hex --salt-hex 736f6d6573616c74";

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// The password begins at the descriptor's position. A socket works too, although it has no name.
#[test]
fn a_descriptor_is_read_from_where_it_stands() {
    let world = World::empty();
    world.write("lines", b"first\nsecond");
    let second = text(succeed(
        &mut world.bash(&format!("printf second | {HASH} --passphrase-fd 0")),
    ));
    let line = format!("{{ read -r line <&3; {HASH} --passphrase-fd 3; }} 3<lines");
    assert_eq!(text(succeed(&mut world.bash(&line))), second);
    let line = format!("printf second | {HASH} --passphrase-fd 3 3<&0 </dev/null");
    assert_eq!(text(succeed(&mut world.bash(&line))), second);
    world.write(
        "give.py",
        br#"import shlex, socket, subprocess, sys
ours, theirs = socket.socketpair()
ours.sendall(b"second")
ours.close()
command = [*shlex.split(sys.argv[1]), "--passphrase-fd", str(theirs.fileno())]
sys.exit(subprocess.run(command, pass_fds=[theirs.fileno()]).returncode)
"#,
    );
    let line = format!("python3 give.py '{HASH}'");
    assert_eq!(text(succeed(&mut world.bash(&line))), second);

    let closed = refuse(
        &mut world.bash(&format!("{HASH} --passphrase-fd 77 77<&-")),
        3,
    );
    assert!(closed.contains("file descriptor 77"), "{closed}");
}

#[test]
fn an_empty_pepper_is_none() {
    let world = World::empty();
    for content in ["", "\n"] {
        world.write("pepper", content.as_bytes());
        let line = format!("{HASH} --passphrase-file passphrase --secret-hex-file pepper");
        let said = refuse(&mut world.bash(&line), 2);
        assert!(said.contains("pepper: the secret is empty"), "{said}");
    }
}

/// If SEALSTONE_PASSPHRASE, which is for passports, gives the password, a message says so.
#[test]
fn a_password_from_the_variable_for_passports_is_told() {
    let world = World::empty();
    let loud = HASH.replace(" -q", "");
    let output = world.bash(&loud).output().unwrap();
    assert!(output.status.success());
    let said = text(output.stderr);
    assert!(
        said.contains("the password comes from SEALSTONE_PASSPHRASE"),
        "{said}"
    );
    let line = format!("SEALSTONE_PASSPHRASE= {loud}");
    let said = text(world.bash(&line).output().unwrap().stderr);
    assert!(said.contains("the password is empty"), "{said}");
}

#[test]
fn weak_parameters_are_not_proposed_without_a_word() {
    let world = World::empty();
    let calibrate = |options| {
        let line = format!("sealstone password calibrate {options}");
        text(world.bash(&line).output().unwrap().stderr)
    };
    let said = calibrate("--time-ms 40 --memory 8KiB");
    assert!(said.contains("weaker than OWASP"), "{said}");
}

/// The cost of a hash is shown before the hash is stored.
#[test]
fn a_cost_that_verify_would_refuse_is_told() {
    let world = World::empty();
    let line = "printf pw | sealstone password hash --memory-kib 8 --iterations 524289 --passphrase-fd 0 >stored";
    let output = world.bash(line).output().unwrap();
    assert!(output.status.success());
    let hint = "--kdf-max-memory 2049MiB";
    assert!(text(output.stderr).contains(hint));
    let verify = "printf pw | sealstone password verify --hash-file stored --passphrase-fd 0";
    let said = refuse(&mut world.bash(verify), 9);
    assert!(said.contains(hint), "{said}");
    succeed(&mut world.bash(&format!("{verify} {hint}")));
}

/// Hashes that are longer than new ones do not count as outdated.
#[test]
fn longer_hashes_are_good_enough() {
    let world = World::empty();
    let hash = |length| {
        let line = format!(
            "printf pw | sealstone password hash --memory-kib 64 --iterations 1 --length {length} --passphrase-fd 0 >stored"
        );
        succeed(&mut world.bash(&line));
        let verify = "printf pw | sealstone password verify --memory-kib 64 --iterations 1 --hash-file stored --passphrase-fd 0";
        let output = world.bash(verify).output().unwrap();
        assert!(output.status.success());
        text(output.stderr)
    };
    assert!(!hash(64).contains("again"));
    assert!(!hash(32).contains("again"));
    assert!(hash(16).contains("its salt or its hash is shorter"));
}

/// One Ctrl-D is enough for any number of readers.
#[test]
fn a_terminal_ends_once() {
    let world = World::empty();
    world.write(
        "terminal.py",
        br#"import os, pty, subprocess, termios
ours, theirs = pty.openpty()
mode = termios.tcgetattr(theirs)
mode[3] &= ~termios.ECHO
termios.tcsetattr(theirs, termios.TCSANOW, mode)
child = subprocess.Popen(["sealstone", "hash", "-q"], stdin=theirs, stdout=subprocess.PIPE)
for _ in range(3000):
    os.write(ours, b"x" * 999 + b"\n")
os.write(ours, b"\x04")
print(child.communicate(timeout=20)[0].decode().split()[0])
"#,
    );
    let typed = text(succeed(&mut world.bash("python3 terminal.py")));
    world.write("typed", &[&[b'x'; 999][..], b"\n"].concat().repeat(3000));
    let expected = text(world.done(&["hash", "typed"]));
    assert_eq!(typed.trim_end(), &expected[..128]);
}

#[test]
fn lists_with_carriage_returns_may_have_empty_lines() {
    let world = World::empty();
    succeed(
        &mut world.bash("sealstone hash passphrase | sed 's/$/\\r/' >list; printf '\\r\\n' >>list"),
    );
    succeed(&mut world.bash("sealstone hash -c --strict list"));
}
