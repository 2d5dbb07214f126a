//! The agent of a user on this machine: its socket, asking it, and serving it (`spec/agent.md`).

mod place;
mod serve;

use std::io::{self, Read, Write};
use std::time::Duration;

use sealstone::agent::{MAX_ANSWER, Transport, frame, frame_len};
use zeroize::Zeroizing;

pub use place::{AgentPlace, RUNTIME_DIRECTORY};
pub use serve::{AgentEnds, AgentListener};

/// How long an agent has for an answer. Signing takes milliseconds.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Carries requests over the socket of an agent, each over a connection of its own.
///
/// If the agent has ended, requests fail with [`io::ErrorKind::NotConnected`].
#[derive(Clone, Debug)]
pub struct AgentSocket(AgentPlace);

impl AgentSocket {
    /// The socket at this place; `None` if no agent is there.
    ///
    /// # Errors
    /// As [`AgentPlace::connect`].
    pub fn find(place: &AgentPlace) -> io::Result<Option<Self>> {
        let found = place.connect(TIMEOUT)?;
        Ok(found.map(|_| Self(place.clone())))
    }
}

impl Transport for AgentSocket {
    fn exchange(&self, request: &[u8]) -> io::Result<Zeroizing<Vec<u8>>> {
        let gone = || io::Error::new(io::ErrorKind::NotConnected, "the agent has ended");
        let mut stream = self.0.connect(TIMEOUT)?.ok_or_else(gone)?;
        stream.write_all(&frame(request)).map_err(|_| gone())?;
        let mut head = [0; 4];
        stream.read_exact(&mut head).map_err(|_| gone())?;
        let len = frame_len(head, MAX_ANSWER);
        let len = len.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
        let mut answer = Zeroizing::new(vec![0; len]);
        stream.read_exact(&mut answer).map_err(|_| gone())?;
        Ok(answer)
    }
}
