//! The agent of this user: where it is, and asking it (`spec/agent.md`).

mod place;
mod serve;

use std::ffi::OsString;
use std::io::{self, Read};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use sealstone::Error;
use sealstone::agent::{self, MAX_ANSWER, RemotePassport, Status, Transport};
use sealstone::file::Signer;
use sealstone::passport::{Contact, Fingerprint, Passport};
use zeroize::Zeroizing;

pub(crate) use self::place::Place;
pub(crate) use self::serve::{READY, serve};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{About, Failure, Result};

/// Carries requests over the socket, each over a connection of its own.
#[derive(Clone)]
pub(crate) struct Socket(Place);

/// An agent that answers.
pub(crate) type Client = agent::Client<Socket>;

/// An agent, and what it held when it was asked.
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

/// How long an agent has for an answer. Signing takes milliseconds.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long a new agent has to begin.
const STARTING: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_millis(20);

impl Transport for Socket {
    fn exchange(&self, request: &[u8]) -> io::Result<Zeroizing<Vec<u8>>> {
        let gone = || io::Error::new(io::ErrorKind::NotConnected, "the agent has ended");
        let mut stream = self.0.connect(TIMEOUT)?.ok_or_else(gone)?;
        io::Write::write_all(&mut stream, &agent::frame(request)).map_err(|_| gone())?;
        let mut head = [0; 4];
        stream.read_exact(&mut head).map_err(|_| gone())?;
        let len = agent::frame_len(head, MAX_ANSWER);
        let len = len.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
        let mut answer = Zeroizing::new(vec![0; len]);
        stream.read_exact(&mut answer).map_err(|_| gone())?;
        Ok(answer)
    }
}

impl Reached {
    /// The agent that runs, if one does.
    pub(crate) fn find(place: &Place) -> Result<Option<Self>> {
        if place.connect(TIMEOUT).map_err(refused)?.is_none() {
            return Ok(None);
        }
        let client = agent::Client::new(Socket(place.clone()));
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
        let found = Place::find().ok().map(|place| Self::find(&place))?;
        found.unwrap_or_else(|failure| {
            let text = failure.text().unwrap_or_default();
            context.warn(&format!("the agent is not used: {text}"));
            None
        })
    }

    /// The agent that runs, or a new one.
    pub(crate) fn find_or_start(place: &Place) -> Result<Self> {
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
    pub(crate) fn hold(place: &Place, passport: &Passport, seconds: u64) -> Result<()> {
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
    pub(crate) fn passport(&self) -> Option<&Passport> {
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

/// Starts an agent, and waits until it listens or ends. Returns what it said.
fn start() -> Result<String> {
    let kept = |name: &str| Some((OsString::from(name), std::env::var_os(name)?));
    let mut child = Command::new(std::env::current_exe()?)
        .args(["agent", "--on-demand"])
        .env_clear()
        .envs(kept(place::VARIABLE))
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

/// The failure of a place that must not be used.
fn refused(error: io::Error) -> Failure {
    Failure::from(error).hint("without the agent: --no-agent")
}
