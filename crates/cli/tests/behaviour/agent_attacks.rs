//! Attacks on an agent, which must fail.

use std::fs::{self, Permissions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::agent::{OPEN, SEAL, Session, eventually};
use crate::world::{PASSPHRASE, PROFILE, executable, succeed};

/// SplitMix64, so that failures are reproducible.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }

    /// A byte string in CBOR.
    fn text(&mut self, len: usize) -> Vec<u8> {
        let [.., high, low] = len.to_be_bytes();
        [&[0x59, high, low][..], &self.bytes(len)].concat()
    }
}

/// A request that no agent may serve: noise, a wrong length, or almost a request.
fn hostile_request(random: &mut Random) -> Vec<u8> {
    let framed = |message: Vec<u8>| [&(message.len() as u32).to_be_bytes()[..], &message].concat();
    match random.below(5) {
        0 => {
            let len = random.below(300);
            random.bytes(len)
        }
        1 => {
            let claimed = [0, 1, 40, 4096, 4097, 5000, u32::MAX][random.below(7)];
            let len = random.below(60);
            [&claimed.to_be_bytes()[..], &random.bytes(len)].concat()
        }
        2 => {
            let len = random.below(4096) + 1;
            framed(random.bytes(len))
        }
        // Hold, public keys, hedge, unwrap or sign, with wrong fields.
        3 => {
            let verb = [1, 3, 4, 5, 6][random.below(5)];
            let fields = random.below(7);
            let mut message = vec![0x82 + fields as u8, 1, verb];
            for _ in 0..fields {
                let len = [0, 31, 33, 48, 64, 1568][random.below(6)];
                let field = match random.below(3) {
                    0 => vec![0x1b, 255, 255, 255, 255, 255, 255, 255, 255],
                    1 => vec![0x60],
                    _ => random.text(len),
                };
                message.extend(field);
            }
            framed(message)
        }
        // Well formed, about a passport that it does not hold, or with another key.
        _ => {
            let mut message = vec![0x86, 1, 5, 0x58, 32];
            message.extend(random.bytes(32));
            message.extend([0x58, 32]);
            message.extend(random.bytes(32));
            message.extend(random.text(1568));
            message.extend([0x58, 48]);
            message.extend(random.bytes(48));
            framed(message)
        }
    }
}

/// Sends a number of requests. Each is refused or not answered, and the user is not affected.
fn hostile(requests: u32) {
    let session = Session::new();
    session.unlock(&[]);
    let process = session.process();
    let connect = || UnixStream::connect(session.socket()).unwrap();
    // Clients that send nothing, or begin a request and stop.
    let silent: Vec<UnixStream> = (0..8).map(|_| connect()).collect();
    let mut begun = connect();
    begun.write_all(&[0, 0, 1]).unwrap();
    let (mut random, mut refused) = (Random(1), 0);
    for number in 0..requests {
        let request = hostile_request(&mut random);
        let mut client = connect();
        let patience = Some(Duration::from_secs(10));
        client.set_read_timeout(patience).unwrap();
        let sent = client.write_all(&request);
        let sent = sent.and_then(|()| client.shutdown(std::net::Shutdown::Write));
        let mut answer = Vec::new();
        // It closes as soon as it has seen enough.
        let read = sent.and_then(|()| client.read_to_end(&mut answer));
        let is_refusal = matches!(answer[..], [0, 0, 0, 3, 0x82, 1, 1..=7]);
        assert!(
            is_refusal || read.is_err() || answer.is_empty(),
            "{number}: {answer:?} to {request:?}"
        );
        refused += u32::from(is_refusal);
    }
    println!("{requests} requests: {refused} were refused, the others closed");
    assert!(refused > requests / 5, "{refused}");
    session.done(&SEAL);
    session.done(&OPEN);
    assert_eq!(session.process(), process);
    drop(silent);
}

#[test]
fn hostile_clients_get_nothing_and_keep_nobody_out() {
    hostile(400);
}

#[test]
#[ignore = "takes a minute: 10,000 hostile requests"]
fn ten_thousand_hostile_requests() {
    hostile(10_000);
}

/// Silent clients occupy the agent's threads for two seconds. It starts at most sixteen, and the
/// user's request waits for a free one.
#[test]
fn many_silent_clients_take_few_threads() {
    let session = Session::new();
    session.unlock(&[]);
    let tasks = format!("/proc/{}/task", session.process());
    let connect = |_| UnixStream::connect(session.socket()).unwrap();
    let silent: Vec<UnixStream> = (0..40).map(connect).collect();
    std::thread::sleep(Duration::from_millis(500));
    // One accepts, one watches, one waits for signals.
    let threads = fs::read_dir(tasks).unwrap().count();
    assert!((10..=20).contains(&threads), "{threads}");
    session.done(&SEAL);
    drop(silent);
}

/// An agent in the foreground whose output is kept, with core files allowed.
fn talking(session: &Session) -> Child {
    let line = "ulimit -c unlimited; exec sealstone agent";
    let mut agent = session.0.bash(line);
    agent.env_remove("SEALSTONE_PASSPHRASE");
    agent.env("XDG_RUNTIME_DIR", session.0.path("run"));
    agent.stdout(Stdio::piped()).stderr(Stdio::piped());
    let agent = agent.spawn().unwrap();
    eventually(|| UnixStream::connect(session.socket()).is_ok());
    agent
}

/// A part of a process's memory, and its flags.
struct Mapping {
    start: u64,
    end: u64,
    flags: Vec<String>,
}

/// The parts of a process's memory that can be read.
fn mappings(process: u32) -> Vec<Mapping> {
    let smaps = fs::read_to_string(format!("/proc/{process}/smaps")).unwrap();
    let mut found: Vec<Mapping> = Vec::new();
    for line in smaps.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(flags) = line.strip_prefix("VmFlags:") {
            let flags = flags.split_whitespace().map(str::to_owned);
            found.last_mut().unwrap().flags = flags.collect();
        } else if let Some((start, end)) = words[0].split_once('-') {
            let number = |hex| u64::from_str_radix(hex, 16).unwrap();
            let (start, end) = (number(start), number(end));
            let flags = Vec::new();
            found.push(Mapping { start, end, flags });
        }
    }
    // Pages of the kernel cannot be read.
    found.retain(|mapping| mapping.flags.iter().any(|flag| flag == "rd"));
    found.retain(|mapping| {
        !mapping
            .flags
            .iter()
            .any(|flag| flag == "io" || flag == "pf")
    });
    found
}

/// The mappings that hold `secret`. `None` if the system does not let us read the memory.
fn holding(process: u32, secret: &[u8]) -> Option<Vec<Mapping>> {
    let mut memory = fs::File::open(format!("/proc/{process}/mem")).ok()?;
    let mut holds = |mapping: &Mapping| {
        let mut bytes = vec![0; (mapping.end - mapping.start) as usize];
        memory.seek(SeekFrom::Start(mapping.start)).unwrap();
        let read = memory.read_exact(&mut bytes);
        read.is_ok() && bytes.windows(secret.len()).any(|window| window == secret)
    };
    let mut all = mappings(process);
    all.retain(|mapping| holds(mapping));
    Some(all)
}

/// The right to lock memory beyond the limit.
const CAP_IPC_LOCK: u32 = 14;

/// A passport from words whose seed is known: a published vector of BIP 39.
const WORDS: &str = "void come effort suffer camp survey warrior heavy shoot primary clutch crush \
                     open amazing screen patrol group space point ten exist slush involve unfold";
const SEED: [u8; 32] = [
    0xf5, 0x85, 0xc1, 0x1a, 0xec, 0x52, 0x0d, 0xb5, 0x7d, 0xd3, 0x53, 0xc6, 0x95, 0x54, 0xb2, 0x1a,
    0x89, 0xb2, 0x0f, 0xb0, 0x65, 0x09, 0x66, 0xfa, 0x0a, 0x9d, 0x6f, 0x74, 0xfd, 0x98, 0x9d, 0x8f,
];

/// The seed is on pages that are neither swapped nor dumped. The passphrase is nowhere, and there
/// is no output. The search finds a secret in a careless process.
#[test]
fn its_memory_and_its_words_hold_no_secret() {
    let session = Session::new();
    session.0.write("words", WORDS.as_bytes());
    let restore = [
        "passport",
        "restore",
        "-q",
        "--words-file",
        "words",
        "--label",
        "Carol",
    ];
    session
        .0
        .done(&[&restore[..], &["-o", "carol.passport", PROFILE]].concat());
    let mut agent = talking(&session);
    let unlock = [
        "passport",
        "unlock",
        "carol.passport",
        "--passphrase-file",
        "passphrase",
    ];
    session.done(&unlock);
    let seal = [
        "seal",
        "--force",
        "-r",
        "carol.pub",
        "--from",
        "carol.passport",
        "plan.txt",
    ];
    session.done(&seal);
    session.done(&["open", "-i", "carol.passport", "-o", "-", "plan.txt.sealed"]);
    let careless = session
        .0
        .bash("read -r secret <<< \"$SEALSTONE_PASSPHRASE\"; read -r wait");
    let mut careless = { careless }.stdin(Stdio::piped()).spawn().unwrap();
    let found = holding(careless.id(), PASSPHRASE.as_bytes());
    careless.kill().unwrap();
    careless.wait().unwrap();
    let Some(found) = found else {
        agent.kill().unwrap();
        agent.wait().unwrap();
        println!("skipped: memory of other processes cannot be read here");
        return;
    };
    assert!(!found.is_empty(), "the search finds nothing");

    let places = holding(agent.id(), &SEED).unwrap();
    let places: Vec<_> = places.iter().map(|mapping| &mapping.flags).collect();
    assert!(!places.is_empty());
    for flag in ["lo", "dd"] {
        let all = places
            .iter()
            .all(|flags| flags.iter().any(|has| has == flag));
        assert!(all, "{places:?}");
    }
    assert!(
        holding(agent.id(), PASSPHRASE.as_bytes())
            .unwrap()
            .is_empty()
    );
    session.done(&["passport", "lock"]);
    assert!(holding(agent.id(), &SEED).unwrap().is_empty());

    session.done(&["agent", "stop"]);
    let mut said = Vec::new();
    agent.stdout.take().unwrap().read_to_end(&mut said).unwrap();
    agent.stderr.take().unwrap().read_to_end(&mut said).unwrap();
    agent.wait().unwrap();
    let said = String::from_utf8(said).unwrap();
    let hex: String = SEED[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    for secret in [PASSPHRASE, &hex, "effort suffer"] {
        assert!(!said.contains(secret), "{said}");
    }
}

/// A copy of the command for a user other than root, in a directory of that user.
struct Nobody(tempfile::TempDir);

const NOBODY: u32 = 65_534;

impl Nobody {
    /// `None` if this is not root.
    fn new() -> Option<Self> {
        let place = Self(tempfile::tempdir().unwrap());
        let program = place.0.path().join("sealstone");
        executable(
            &program,
            &fs::read(env!("CARGO_BIN_EXE_sealstone")).unwrap(),
        );
        fs::create_dir_all(place.socket().parent().unwrap()).unwrap();
        for path in ["", "run", "run/sealstone"] {
            let path = place.0.path().join(path);
            fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
            if chown(path, Some(NOBODY), Some(NOBODY)).is_err() {
                println!("skipped: only root can be another user");
                return None;
            }
        }
        Some(place)
    }

    fn socket(&self) -> PathBuf {
        self.0.path().join("run/sealstone/agent")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.0.path().join("sealstone"));
        command.args(args).current_dir("/").env_clear();
        command.env("XDG_RUNTIME_DIR", self.0.path().join("run"));
        command.uid(NOBODY).gid(NOBODY).stdin(Stdio::null());
        command
    }
}

/// Root can open every socket. The agent checks the user of the peer.
#[test]
fn a_process_of_another_user_gets_no_answer() {
    let Some(nobody) = Nobody::new() else { return };
    let mut agent = nobody.command(&["agent", "-q"]).spawn().unwrap();
    eventually(|| UnixStream::connect(nobody.socket()).is_ok());
    let mut stranger = UnixStream::connect(nobody.socket()).unwrap();
    // The request for the status.
    let sent = stranger.write_all(&[0, 0, 0, 3, 0x82, 1, 0]);
    let mut answer = Vec::new();
    let _ = sent.and_then(|()| stranger.read_to_end(&mut answer));
    assert!(answer.is_empty(), "it answered: {answer:?}");
    let status = nobody.command(&["agent", "status"]).output().unwrap();
    assert_eq!(status.stdout, b"the agent holds nothing\n");
    assert!(
        nobody
            .command(&["agent", "stop"])
            .status()
            .unwrap()
            .success()
    );
    agent.wait().unwrap();
}

/// The socket is the user's own, and another user listens on it.
#[test]
fn nothing_is_sent_to_a_process_of_another_user() {
    let Some(nobody) = Nobody::new() else { return };
    let listener = UnixListener::bind(nobody.socket()).unwrap();
    fs::set_permissions(nobody.socket(), Permissions::from_mode(0o600)).unwrap();
    chown(nobody.socket(), Some(NOBODY), Some(NOBODY)).unwrap();
    let waiting = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        client
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        let mut said = Vec::new();
        client.read_to_end(&mut said).map(|_| said)
    });
    let refused = nobody.command(&["agent", "status"]).output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(3), "{said}");
    assert!(said.contains("is served by another user"), "{said}");
    assert!(waiting.join().unwrap().unwrap().is_empty());
}

/// For every umask.
#[test]
fn its_place_has_the_modes_of_a_private_one() {
    let session = Session::new();
    let mut line = session.0.bash("umask 0; exec sealstone agent -q");
    line.env("XDG_RUNTIME_DIR", session.0.path("run"));
    let mut agent = line.spawn().unwrap();
    eventually(|| UnixStream::connect(session.socket()).is_ok());
    for (name, mode) in [("", 0o700), ("/agent", 0o600), ("/agent.lock", 0o600)] {
        assert_eq!(
            session.0.mode(&format!("run/sealstone{name}")),
            mode,
            "{name}"
        );
    }
    session.done(&["agent", "stop"]);
    agent.wait().unwrap();
}

/// An agent that a command starts does not inherit the passphrase in its environment.
#[test]
fn it_inherits_no_secret() {
    let session = Session::new();
    let mut unlock = session.command(&["passport", "unlock", "alice.passport"]);
    succeed(unlock.env("SEALSTONE_PASSPHRASE", PASSPHRASE));
    let environment = fs::read_to_string(format!("/proc/{}/environ", session.process()));
    let Ok(environment) = environment else {
        println!("skipped: only root reads the environment of such a process");
        return;
    };
    let names: Vec<&str> = environment
        .split_terminator('\0')
        .filter_map(|line| line.split('=').next())
        .collect();
    assert_eq!(names, ["XDG_RUNTIME_DIR"]);
}

#[test]
fn a_seed_that_could_be_swapped_is_not_held() {
    let session = Session::new();
    // Root has no limit of locked memory, unless it has no capabilities.
    let line = "ulimit -l 0
        as=; [ $(id -u) != 0 ] || as=\"setpriv --bounding-set -all --inh-caps -all\"
        $as sealstone passport unlock alice.passport --passphrase-file passphrase";
    let mut unlock = session.0.bash(line);
    unlock.env("XDG_RUNTIME_DIR", session.0.path("run"));
    let output = unlock.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("the agent cannot lock memory"), "{said}");
}

#[test]
fn it_leaves_no_core_and_locks_its_memory() {
    let session = Session::new();
    let mut line = session
        .0
        .bash("ulimit -c unlimited; exec sealstone agent -q");
    line.env("XDG_RUNTIME_DIR", session.0.path("run"));
    let mut agent = line.spawn().unwrap();
    eventually(|| UnixStream::connect(session.socket()).is_ok());
    session.unlock(&[]);
    let proc = format!("/proc/{}", agent.id());
    let limits = fs::read_to_string(format!("{proc}/limits")).unwrap();
    let core = limits
        .lines()
        .find(|line| line.contains("core file"))
        .unwrap();
    assert!(
        core.split_whitespace().filter(|word| *word == "0").count() == 2,
        "{core}"
    );
    let status = fs::read_to_string(format!("{proc}/status")).unwrap();
    let locked = status
        .lines()
        .find(|line| line.starts_with("VmLck"))
        .unwrap();
    let kib: u64 = locked.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kib >= 4, "{locked}");
    let capabilities = status.lines().find(|line| line.starts_with("CapEff"));
    let capabilities = capabilities.unwrap().split_whitespace().nth(1).unwrap();
    let capabilities = u64::from_str_radix(capabilities, 16).unwrap();
    if capabilities & (1 << CAP_IPC_LOCK) != 0 {
        // All memory is locked, program and stacks too.
        assert!(kib >= 1000, "{locked}");
    }
    let id = agent.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-ABRT", &id]) // a shell's jobs in the background ignore SIGQUIT
            .status()
            .unwrap()
            .success()
    );
    let ended = agent.wait().unwrap();
    assert!(
        ended.signal().is_some() && !ended.core_dumped(),
        "{ended:?}"
    );
}
