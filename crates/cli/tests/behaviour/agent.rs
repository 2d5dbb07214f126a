//! The agent: unlocked once, used by later commands, and ended as required.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::world::{World, executable, json, refuse, succeed};

/// A world whose user has a directory for an agent. Its agent ends with it.
pub(crate) struct Session(pub(crate) World);

impl Session {
    pub(crate) fn new() -> Self {
        let world = World::with_bob_approved();
        fs::create_dir(world.path("run")).unwrap();
        fs::set_permissions(world.path("run"), Permissions::from_mode(0o700)).unwrap();
        Self(world)
    }

    /// A command without a passphrase.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.0.command(args);
        command.env_remove("SEALSTONE_PASSPHRASE");
        command.env("XDG_RUNTIME_DIR", self.0.path("run"));
        command
    }

    pub(crate) fn done(&self, args: &[&str]) -> Vec<u8> {
        succeed(&mut self.command(args))
    }

    pub(crate) fn unlock(&self, more: &[&str]) {
        let mut args = vec!["passport", "unlock", "alice.passport", "--passphrase-file"];
        args.push("passphrase");
        self.done(&[&args, more].concat());
    }

    fn status(&self) -> Value {
        json(&self.done(&["agent", "status", "--json"]))
    }

    pub(crate) fn process(&self) -> String {
        self.status()["process"].to_string()
    }

    /// Waits until the agent has ended. Its entry may stay until the system's first process asks
    /// for its status: then it is a zombie, without memory or files.
    #[track_caller]
    pub(crate) fn gone(&self, process: &str) {
        let stat = format!("/proc/{process}/stat");
        eventually(|| match fs::read_to_string(&stat) {
            Ok(stat) => stat.rsplit(") ").next().unwrap().starts_with('Z'),
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        });
    }

    pub(crate) fn socket(&self) -> std::path::PathBuf {
        self.0.path("run/sealstone/agent")
    }

    /// An agent in the foreground.
    fn serve(&self) -> Child {
        let agent = self
            .command(&["agent", "-q"])
            .stderr(Stdio::piped())
            .spawn();
        let agent = agent.unwrap();
        eventually(|| UnixStream::connect(self.socket()).is_ok());
        agent
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.command(&["agent", "stop"]).output();
    }
}

#[track_caller]
pub(crate) fn eventually(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it never came");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub(crate) const SEAL: [&str; 7] = [
    "seal",
    "--force",
    "-r",
    "alice.pub",
    "--from",
    "alice.passport",
    "plan.txt",
];
pub(crate) const OPEN: [&str; 6] = ["open", "-i", "alice.passport", "-o", "-", "plan.txt.sealed"];

#[test]
fn unlocked_once_nothing_is_asked_until_it_is_locked() {
    let session = Session::new();
    refuse(&mut session.command(&SEAL), 2);
    session.unlock(&[]);
    session.done(&SEAL);
    assert_eq!(session.done(&OPEN), b"attack at dawn\n");
    let process = session.process();
    assert_eq!(session.status()["passports"][0]["label"], "alice");
    for args in [&SEAL[..], &OPEN] {
        refuse(&mut session.command(&[args, &["--no-agent"]].concat()), 2);
    }
    // Bob's passport is not held.
    let bob = [
        "seal",
        "-r",
        "bob.pub",
        "--from",
        "bob.passport",
        "plan.txt",
        "-o",
        "x",
    ];
    refuse(&mut session.command(&bob), 2);
    // The command does not use Alice's passport if Bob's is named.
    let mut open = OPEN;
    open[2] = "bob.passport";
    refuse(&mut session.command(&open), 5);
    session.done(&["passport", "lock"]);
    session.gone(&process);
    assert!(!session.socket().exists());
    refuse(&mut session.command(&SEAL), 2);
    refuse(&mut session.command(&OPEN), 2);
}

#[test]
fn no_verb_asks_a_person_while_the_agent_holds_the_passport() {
    let session = Session::new();
    fs::create_dir(session.0.path("tree")).unwrap();
    session.0.write("tree/note", b"a note\n");
    session.0.write("other.txt", b"other\n");
    session.unlock(&[]);
    let (seal, own) = (
        "seal --from alice.passport -r alice.pub",
        "-i alice.passport",
    );
    let lines = [
        format!("{seal} plan.txt other.txt tree"),
        format!("list {own} tree.sealed"),
        format!("open {own} tree.sealed note"),
        format!("open {own} -o unpacked tree.sealed"),
        format!("open {own} --force plan.txt.sealed other.txt.sealed"),
        format!("reseal {own} --from alice.passport -r bob.pub plan.txt.sealed"),
        format!("edit {own} --from alice.passport plan.txt.sealed"),
        format!("open {own} --force plan.txt.sealed"),
    ];
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let mut command = session.command(&words);
        succeed(command.env("EDITOR", "sed -i s/dawn/noon/"));
    }
    assert_eq!(session.0.read("note"), b"a note\n");
    assert_eq!(session.0.read("unpacked/note"), b"a note\n");
    assert_eq!(session.0.read("plan.txt"), b"attack at noon\n");
}

#[test]
fn the_agent_signs_as_the_passport_does() {
    let session = Session::new();
    session.unlock(&[]);
    let to_bob = [
        "seal",
        "-r",
        "bob.pub",
        "--from",
        "alice.passport",
        "--pad",
        "plan.txt",
    ];
    session.done(&to_bob);
    // Alice is approved, and Bob has no agent.
    let open = ["open", "-i", "bob.passport", "-o", "-", "plan.txt.sealed"];
    let opened = succeed(&mut session.0.command(&open));
    assert_eq!(opened, b"attack at dawn\n");
}

#[test]
fn the_time_ends_it() {
    let session = Session::new();
    session.unlock(&["--for", "1s"]);
    let process = session.process();
    session.gone(&process);
    assert_eq!(session.status()["running"], false);
    refuse(&mut session.command(&SEAL), 2);
}

#[test]
fn logging_out_ends_it() {
    let session = Session::new();
    session.unlock(&[]);
    let process = session.process();
    // The system removes the directory in the same way.
    fs::remove_dir_all(session.0.path("run/sealstone")).unwrap();
    session.gone(&process);
}

#[test]
fn there_is_one_for_each_user() {
    let session = Session::new();
    let mut first = session.serve();
    let said = refuse(&mut session.command(&["agent"]), 3);
    assert!(said.contains("runs already"), "{said}");
    session.unlock(&[]);
    assert_eq!(session.process(), first.id().to_string());
    session.done(&["agent", "stop"]);
    assert!(first.wait().unwrap().success());
    assert!(!session.socket().exists());
}

/// Kills the agent in the middle of its work. The waiting command reports that or prompts. The next
/// agent replaces the socket of the dead one.
fn killed(times: usize) {
    let session = Session::new();
    for _ in 0..times {
        session.unlock(&[]);
        let process = session.process();
        let mut seal = session
            .command(&SEAL)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        signal("-KILL", &process);
        let code = seal.wait().unwrap().code().unwrap();
        assert!([0, 2, 3].contains(&code), "{code}");
        session.gone(&process);
        assert_eq!(session.status()["running"], false);
        let names = session.0.names();
        assert!(!names.iter().any(|name| name.starts_with('.')), "{names:?}");
    }
    session.unlock(&[]);
    session.done(&SEAL);
}

/// If the agent ends before it answers, the command continues with a new one.
#[test]
fn an_agent_that_ends_while_it_is_asked_is_replaced() {
    let session = Session::new();
    session.unlock(&[]);
    let process = session.process();
    signal("-STOP", &process);
    let args = "passport unlock alice.passport --passphrase-file passphrase";
    let mut unlock = session.command(&args.split(' ').collect::<Vec<_>>());
    let unlock = unlock.stderr(Stdio::piped()).spawn().unwrap();
    // Its request waits for the agent.
    std::thread::sleep(Duration::from_millis(500));
    signal("-KILL", &process);
    let output = unlock.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_ne!(session.process(), process);
    assert_eq!(session.status()["passports"][0]["label"], "alice");
}

fn signal(name: &str, process: &str) {
    let mut kill = Command::new("kill");
    assert!(kill.args([name, process]).status().unwrap().success());
}

#[test]
fn a_killed_agent_costs_a_passphrase_and_nothing_else() {
    killed(4);
}

#[test]
#[ignore = "takes minutes: 200 kills"]
fn two_hundred_killed_agents() {
    killed(200);
}

#[test]
fn a_place_of_others_is_refused() {
    let session = Session::new();
    let run = session.0.path("run/sealstone");
    let refused = |why: &str| {
        let unlock = [
            "passport",
            "unlock",
            "alice.passport",
            "--passphrase-file",
            "passphrase",
        ];
        let said = refuse(&mut session.command(&unlock), 3);
        assert!(said.contains(why), "{said}");
        // A command that can prompt warns, and sends nothing.
        let said = refuse(&mut session.command(&SEAL), 2);
        assert!(
            said.contains("the agent is not used") && said.contains(why),
            "{said}"
        );
    };
    fs::create_dir(&run).unwrap();
    fs::set_permissions(&run, Permissions::from_mode(0o777)).unwrap();
    refused("can be changed by other users");
    fs::remove_dir(&run).unwrap();
    fs::create_dir(session.0.path("elsewhere")).unwrap();
    symlink(session.0.path("elsewhere"), &run).unwrap();
    refused("is not a directory");
    fs::remove_file(&run).unwrap();

    let mut agent = session.serve();
    if std::os::unix::fs::chown(session.socket(), Some(1), None).is_err() {
        println!("skipped: only root can give the socket to another user");
    } else {
        refused("belongs to another user");
        std::os::unix::fs::chown(session.socket(), Some(0), None).unwrap();
        std::os::unix::fs::chown(session.0.path("run"), Some(1), None).unwrap();
        refused("belongs to another user");
        std::os::unix::fs::chown(session.0.path("run"), Some(0), None).unwrap();
    }
    session.done(&["agent", "stop"]);
    agent.wait().unwrap();
}

#[test]
fn without_a_place_it_says_so() {
    let session = Session::new();
    let mut unlock = session.command(&["passport", "unlock", "alice.passport"]);
    unlock.env_remove("XDG_RUNTIME_DIR");
    let said = refuse(&mut unlock, 2);
    assert!(said.contains("XDG_RUNTIME_DIR is not set"), "{said}");
}

/// A program of this name that prints the passphrase and more when called with `arguments`.
fn fake(session: &Session, name: &str, arguments: &str, last: &str) {
    let program = session.0.path(name);
    let script = format!(
        "#!/bin/sh\n[ \"$*\" = '{arguments}' ] || exit 1\nprintf 'correct horse battery staple{last}'\n"
    );
    executable(&program, script.as_bytes());
}

#[test]
fn the_examples_for_keyrings_work() {
    let session = Session::new();
    // secret-tool prints no line ending, pass prints all lines of an entry.
    fake(&session, "secret-tool", "lookup sealstone default", "");
    fake(&session, "pass", "show sealstone", "\\nuser: alice\\n");
    session
        .0
        .write("sealstone", b"correct horse battery staple\n");
    let help = session.done(&["passport", "unlock", "--help"]);
    let help = String::from_utf8(help).unwrap();
    let examples = help
        .lines()
        .filter_map(|line| line.split_once("--passphrase-command '"));
    let commands: Vec<&str> = examples
        .filter_map(|(_, rest)| Some(rest.split_once('\'')?.0))
        .collect();
    assert_eq!(commands.len(), 3, "{help}");
    let path = format!("{}:/usr/bin:/bin", session.0.path(".").display());
    for command in commands {
        let unlock = |verb: &[&str]| {
            let mut unlock = session.command(&[verb, &["--passphrase-command", command]].concat());
            unlock
                .env("PATH", &path)
                .env("CREDENTIALS_DIRECTORY", session.0.path("."));
            succeed(&mut unlock);
        };
        unlock(&[&SEAL[..], &["--no-agent"]].concat());
        unlock(&["passport", "unlock", "alice.passport"]);
        assert_eq!(session.status()["passports"][0]["label"], "alice");
        session.done(&["passport", "lock"]);
    }
    let mut environment = session.command(&SEAL);
    environment.env("SEALSTONE_PASSPHRASE_COMMAND", "cat passphrase");
    succeed(&mut environment);
}

#[test]
fn a_passphrase_command_that_fails_says_so() {
    let session = Session::new();
    let seal = |command: &str, code: i32| {
        refuse(
            &mut session.command(&[&SEAL[..], &["--passphrase-command", command]].concat()),
            code,
        )
    };
    let said = seal("exit 7", 3);
    assert!(
        said.contains("the passphrase command: it failed: exit status: 7"),
        "{said}"
    );
    assert!(seal("yes | head -c 100000", 3).contains("printed too much"));
    seal("true", 2);
    seal("echo wrong", 5);
}

/// Reading its memory map needs the same right as attaching a debugger. A process of the same user
/// without this protection shows that the test can fail.
#[test]
#[cfg(target_os = "linux")]
fn no_debugger_of_the_same_user_attaches() {
    let script = r#"
        set -e
        d=$(mktemp -d); trap 'kill $agent $plain; rm -rf $d' EXIT
        cp "$(command -v sealstone)" $d/sealstone
        as=
        if [ "$(id -u)" = 0 ]; then
            chown -R 65534:65534 $d
            as="setpriv --reuid 65534 --regid 65534 --clear-groups"
        fi
        mkdir -m 700 $d/run; [ -z "$as" ] || chown 65534:65534 $d/run
        XDG_RUNTIME_DIR=$d/run $as $d/sealstone agent -q & agent=$!
        $as sleep 60 & plain=$!
        for _ in $(seq 500); do [ -n "$(ls $d/run)" ] && break; sleep 0.02; done
        [ -n "$(ls $d/run)" ]
        $as cat /proc/$plain/maps > /dev/null && echo plain is read
        $as cat /proc/$agent/maps > /dev/null 2>&1 || echo agent refuses
    "#;
    let session = Session::new();
    let said = succeed(&mut session.0.bash(script));
    let said = String::from_utf8(said).unwrap();
    assert_eq!(said, "plain is read\nagent refuses\n");
}

/// Runs a script with `run` as a new file system in memory with these options.
fn on_its_own_disk(session: &Session, options: &str, script: &str) -> Option<(i32, String)> {
    let run = session.0.path("run");
    let environment = [
        ("SEALSTONE_PASSPHRASE", None),
        ("XDG_RUNTIME_DIR", Some(run.as_os_str())),
    ];
    session.0.on_a_disk("run", options, script, &environment)
}

#[test]
fn a_full_disk_is_said_and_an_agent_that_runs_does_not_need_it() {
    let session = Session::new();
    let unlock = "sealstone passport unlock alice.passport --passphrase-file passphrase";
    let Some((code, said)) = on_its_own_disk(&session, "nr_inodes=1", unlock) else {
        return;
    };
    assert_eq!(code, 3, "{said}");
    assert!(
        said.contains("did not start") && said.contains("o space left"),
        "{said}"
    );

    let seal = SEAL.join(" ");
    let script = format!(
        "set -e; {unlock}; cat /dev/zero > run/fill 2>&- || true; sealstone {seal}; \
         sealstone agent status; sealstone passport lock"
    );
    let (code, said) = on_its_own_disk(&session, "size=64k", &script).unwrap();
    assert_eq!(code, 0, "{said}");
}
