//! The agent of this user: where it is, and asking it (`spec/agent.md`).

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::process::{self, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use sealstone::Error;
use sealstone::agent::{self, Agent, RemotePassport, Status};
use sealstone::file::Signer;
use sealstone::passport::{Contact, Fingerprint, Passport};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{About, Failure, Result};
pub(crate) use sealstone_files::AgentSocket as Socket;
use sealstone_files::{AgentEnds, AgentListener, AgentPlace, RUNTIME_DIRECTORY};

/// The line that an agent writes once it listens, if it was started on demand.
const READY: &str = "ready\n";

/// An agent that answers.
pub(crate) type Client = agent::Client<Socket>;

/// An agent, and the passports that it held at its last answer.
pub(crate) struct Reached {
    pub(crate) client: Client,
    pub(crate) status: Status,
}

/// The passport that signs.
pub(crate) enum SenderKey {
    /// In this process.
    Here(Arc<Passport>),
    /// In the agent's.
    Held(Box<RemotePassport<Socket>>),
}

/// How long a new agent has to begin.
const STARTING: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_millis(20);

impl Reached {
    /// The agent that runs, if one does.
    pub(crate) fn find(place: &AgentPlace) -> Result<Option<Self>> {
        let Some(socket) = Socket::find(place).map_err(refused)? else {
            return Ok(None);
        };
        let client = agent::Client::new(socket);
        match client.status() {
            Err(error) if has_ended(&error) => Ok(None),
            status => {
                let status = status.about("the agent")?;
                Ok(Some(Self { client, status }))
            }
        }
    }

    /// The agent for a command that could also ask a person: if the agent cannot be used, the
    /// command warns.
    pub(crate) fn for_command(context: &Context) -> Option<Self> {
        let found = AgentPlace::find().map(|place| Self::find(&place))?;
        found.unwrap_or_else(|failure| {
            let text = failure.text().unwrap_or_default();
            context.warn(&format!("the agent is not used: {text}"));
            None
        })
    }

    /// The agent that runs, or a new one.
    pub(crate) fn find_or_start(place: &AgentPlace) -> Result<Self> {
        let deadline = Instant::now() + STARTING;
        loop {
            if let Some(found) = Self::find(place)? {
                return Ok(found);
            }
            // It fails if there is another agent, which is starting or ending at this moment.
            let said = start()?;
            if said != READY.trim() {
                thread::sleep(STEP);
            }
            if Instant::now() > deadline {
                let text = format!("the agent did not start: {said}");
                return Err(Failure::new(Exit::Io, text));
            }
        }
    }

    /// Gives the passport to the agent that runs, or to a new one, for a number of seconds.
    pub(crate) fn hold(place: &AgentPlace, passport: &Passport, seconds: u64) -> Result<()> {
        let hold = || -> Result<_> {
            let reached = Self::find_or_start(place)?;
            Ok(reached.client.hold(passport, seconds))
        };
        let held = match hold()? {
            // The agent ended because it held nothing. A new one waits for a passport.
            Err(error) if has_ended(&error) => hold()?,
            held => held,
        };
        held.about("the agent")
    }

    /// The fingerprints that it held.
    pub(crate) fn held(&self) -> Vec<Fingerprint> {
        let passports = self.status.passports.iter();
        passports.map(|held| held.fingerprint).collect()
    }
}

impl SenderKey {
    pub(crate) fn signer(&self) -> &dyn Signer {
        match self {
            Self::Here(passport) => &**passport,
            Self::Held(passport) => &**passport,
        }
    }

    pub(crate) fn contact(&self) -> &Contact {
        match self {
            Self::Here(passport) => passport.contact(),
            Self::Held(passport) => passport.contact(),
        }
    }

    /// The passport with all its keys; `None` if the agent holds them.
    pub(crate) fn passport(&self) -> Option<&Arc<Passport>> {
        match self {
            Self::Here(passport) => Some(passport),
            Self::Held(_) => None,
        }
    }
}

/// Whether the agent ended before it answered.
pub(crate) fn has_ended(error: &Error) -> bool {
    matches!(error, Error::Io(error) if error.kind() == io::ErrorKind::NotConnected)
}

/// Starts an agent, and waits until it listens or ends. Returns its answer.
fn start() -> Result<String> {
    let kept = |name: &str| Some((OsString::from(name), std::env::var_os(name)?));
    let mut child = Command::new(std::env::current_exe()?)
        .args(["agent", "--on-demand"])
        .env_clear()
        .envs(kept(RUNTIME_DIRECTORY))
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .about("starting the agent")?;
    let mut said = String::new();
    if let Some(stdout) = &mut child.stdout {
        stdout.read_to_string(&mut said)?;
    }
    if said != READY
        && let Some(stderr) = &mut child.stderr
    {
        stderr.read_to_string(&mut said)?;
    }
    Ok(said.trim().to_owned())
}

/// The place of this user's agent.
pub(crate) fn place() -> Result<AgentPlace> {
    AgentPlace::find().ok_or_else(|| {
        let what = format!("{RUNTIME_DIRECTORY} is not set, so there is no place for an agent");
        Failure::usage(what)
            .hint("log in with a session of your own; without an agent, passphrases are asked for")
    })
}

/// Serves until it is asked to end, its socket is gone, or, if it was started on demand, it holds
/// nothing any more.
pub(crate) fn serve(place: &AgentPlace, on_demand: bool, context: &Context) -> Result<()> {
    let listener = AgentListener::new(place).map_err(|e| match e.kind() {
        io::ErrorKind::WouldBlock => Failure::new(Exit::Io, "an agent of yours runs already")
            .hint("see: sealstone agent status"),
        _ => e.into(),
    })?;
    lock_much_memory();
    let ends = match on_demand {
        true => AgentEnds::WhenEmpty,
        false => AgentEnds::Never,
    };
    match on_demand {
        true => detach()?,
        false => context.say("the agent serves until it is interrupted, or: sealstone agent stop"),
    }
    let agent = Agent::of_process(process::id());
    listener
        .serve(agent, ends, || process::exit(0))
        .about("the agent")
}

/// Seeds are on locked pages in any case. Where the system allows more, everything is locked.
fn lock_much_memory() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Memlock);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    let _ = setrlimit(Resource::Memlock, raised);
    #[cfg(target_os = "linux")]
    {
        use rustix::mm::{MlockAllFlags, mlockall};
        let all = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
        let _ = mlockall(all);
    }
}

/// Leaves the terminal and its session, and says that it listens.
fn detach() -> Result<()> {
    let _ = rustix::process::setsid();
    io::stdout().write_all(READY.as_bytes())?;
    io::stdout().flush()?;
    let null = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null).map_err(io::Error::from)?;
    rustix::stdio::dup2_stdout(&null).map_err(io::Error::from)?;
    rustix::stdio::dup2_stderr(&null).map_err(io::Error::from)?;
    Ok(())
}

/// The failure of a place that must not be used.
fn refused(error: io::Error) -> Failure {
    Failure::from(error).hint("without the agent: --no-agent")
}
