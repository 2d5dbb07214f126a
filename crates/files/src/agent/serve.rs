//! The agent's process: its socket, and a thread for each request.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use sealstone::agent::{Agent, MAX_REQUEST, frame, frame_len};

use super::place::{AgentPlace, identity, is_own, named};

/// How long a request may take to arrive as a whole, and its answer to leave.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(2);
/// How often times and the socket are looked at.
const TICK: Duration = Duration::from_millis(250);
/// How long an agent that ends when it is empty waits for its first passport.
const EMPTY_AT_FIRST: Duration = Duration::from_secs(300);
/// Requests that are answered at the same time.
const MAX_REQUESTS: usize = 16;
/// ML-DSA-87 takes much of it.
const STACK: usize = 1 << 20;

/// When an agent ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentEnds {
    /// Only when it is asked to, or its socket is gone.
    Never,
    /// Also when it holds nothing any more.
    WhenEmpty,
}

/// The place of an agent, with its lock and its socket. There is one for each user.
#[derive(Debug)]
pub struct AgentListener {
    place: AgentPlace,
    /// Held until the process ends.
    _lock: File,
    listener: UnixListener,
}

impl AgentListener {
    /// Makes the place, and listens there.
    ///
    /// # Errors
    /// The system's error; [`io::ErrorKind::WouldBlock`] if an agent runs already;
    /// [`io::ErrorKind::PermissionDenied`] if the place belongs to somebody else.
    pub fn new(place: &AgentPlace) -> io::Result<Self> {
        place.make()?;
        let lock = lock(place)?;
        Ok(Self {
            place: place.clone(),
            _lock: lock,
            listener: listen(place)?,
        })
    }

    /// Serves until the agent ends. Then it has forgotten everything, its socket is gone, and
    /// `exit` ends the process.
    ///
    /// # Errors
    /// The system's error.
    pub fn serve(self, agent: Agent, ends: AgentEnds, exit: fn() -> !) -> io::Result<()> {
        let server = Arc::new(Server {
            agent,
            own: identity(&self.place.socket()),
            place: self.place.clone(),
            ends,
            exit,
        });
        let watching = Arc::clone(&server);
        thread::Builder::new().spawn(move || watching.watch())?;
        accept(&self.listener, &server)
    }
}

/// Only the process with the lock touches the socket.
fn lock(place: &AgentPlace) -> io::Result<File> {
    let file = place.lock_file()?;
    file.try_lock()?;
    Ok(file)
}

fn listen(place: &AgentPlace) -> io::Result<UnixListener> {
    let path = place.socket();
    let about = |e: io::Error| named(&path, &e);
    if identity(&path).is_some() {
        fs::remove_file(&path).map_err(about)?;
    }
    let before = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o177));
    let listener = UnixListener::bind(&path);
    rustix::process::umask(before);
    let listener = listener.map_err(about)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).map_err(about)?;
    Ok(listener)
}

/// The agent and its place.
struct Server {
    agent: Agent,
    place: AgentPlace,
    /// The socket of this process.
    own: Option<(u64, u64)>,
    ends: AgentEnds,
    exit: fn() -> !,
}

impl Server {
    /// Ends the agent if its socket is gone, or if nothing is left to do.
    fn watch(&self) {
        let begun = Instant::now();
        loop {
            thread::sleep(TICK);
            let has_held = self.agent.has_held();
            let held = self.agent.tick(now());
            let idle = held == 0 && (has_held || begun.elapsed() > EMPTY_AT_FIRST);
            let replaced = identity(&self.place.socket()) != self.own;
            if replaced || (self.ends == AgentEnds::WhenEmpty && idle) {
                self.end();
            }
        }
    }

    /// Forgets everything and ends the process. A socket that is not its own stays.
    fn end(&self) -> ! {
        self.agent.tick(Duration::MAX);
        if identity(&self.place.socket()) == self.own {
            let _ = fs::remove_file(self.place.socket());
        }
        (self.exit)()
    }
}

fn accept(listener: &UnixListener, server: &Arc<Server>) -> io::Result<()> {
    let semaphore = Arc::new(Semaphore::default());
    loop {
        semaphore.acquire();
        let Ok((stream, _)) = listener.accept() else {
            // For example too many open files: other requests may close theirs.
            semaphore.release();
            thread::sleep(TICK);
            continue;
        };
        let (server, acquired) = (Arc::clone(server), Arc::clone(&semaphore));
        let serve = move || {
            // A client that closed the connection cannot get an error.
            let stop = serve_one(&stream, &server.agent).unwrap_or(false);
            acquired.release();
            if stop {
                server.end();
            }
        };
        // Without a thread the connection closes, and the client prompts for the passphrase.
        if thread::Builder::new()
            .stack_size(STACK)
            .spawn(serve)
            .is_err()
        {
            semaphore.release();
        }
    }
}

/// Answers one request. Returns whether it asks the agent to end.
fn serve_one(stream: &UnixStream, agent: &Agent) -> io::Result<bool> {
    if !is_own(stream) {
        return Ok(false);
    }
    let deadline = Instant::now() + REQUEST_TIMEOUT;
    stream.set_write_timeout(Some(REQUEST_TIMEOUT))?;
    let mut head = [0; 4];
    read_until(stream, &mut head, deadline)?;
    let Some(len) = frame_len(head, MAX_REQUEST) else {
        return Ok(false);
    };
    let mut request = zeroize::Zeroizing::new(vec![0; len]);
    read_until(stream, &mut request, deadline)?;
    let answered = agent.answer(&request, now());
    (&*stream).write_all(&frame(&answered.message))?;
    Ok(answered.stop)
}

/// Reads all of `bytes`, before `deadline`.
fn read_until(mut stream: &UnixStream, bytes: &mut [u8], deadline: Instant) -> io::Result<()> {
    let mut read = 0;
    while read < bytes.len() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut bytes[read..])? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => read += n,
        }
    }
    Ok(())
}

/// The time since the machine was started, its sleep included.
fn now() -> Duration {
    #[cfg(target_os = "linux")]
    let clock = rustix::time::ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = rustix::time::ClockId::Monotonic;
    let now = rustix::time::clock_gettime(clock);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}

/// Limits the requests that are answered at the same time to [`MAX_REQUESTS`].
#[derive(Default)]
struct Semaphore {
    acquired: Mutex<usize>,
    released: Condvar,
}

impl Semaphore {
    fn acquire(&self) {
        let acquired = self.acquired.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |acquired: &mut usize| *acquired >= MAX_REQUESTS;
        let mut acquired = self
            .released
            .wait_while(acquired, is_full)
            .unwrap_or_else(PoisonError::into_inner);
        *acquired += 1;
    }

    fn release(&self) {
        *self.acquired.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.released.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A byte now and then does not keep a thread busy.
    #[test]
    fn a_request_has_one_deadline() {
        let (mut slow, agent) = UnixStream::pair().unwrap();
        let begun = Instant::now();
        let writer = thread::spawn(move || {
            for _ in 0..60 {
                let written = slow.write_all(&[0]);
                thread::sleep(Duration::from_millis(50));
                if written.is_err() {
                    return;
                }
            }
        });
        let read = read_until(&agent, &mut [0; 100], begun + Duration::from_millis(300));
        assert!(read.is_err());
        assert!(begun.elapsed() < Duration::from_secs(2));
        drop(agent);
        writer.join().unwrap();
    }
}
