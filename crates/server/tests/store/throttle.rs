//! A connection to a server that transfers a number of bytes and then stalls.
//!
//! A test that kills a program after some time kills it at a random moment, or too late. A program
//! that talks to its server through a throttle is still busy when it is killed.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A relay before a server. Its connections close when it is dropped.
pub(crate) struct Throttle {
    address: SocketAddr,
    state: Arc<State>,
}

struct State {
    left: Mutex<u64>,
    is_full: AtomicBool,
    streams: Mutex<Vec<TcpStream>>,
}

impl Throttle {
    /// A relay to `server` that transfers no bytes yet.
    pub(crate) fn new(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let state = Arc::new(State {
            left: Mutex::new(0),
            is_full: AtomicBool::new(false),
            streams: Mutex::default(),
        });
        let shared = Arc::clone(&state);
        // The thread waits for connections until the test's process ends.
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if let Ok(server) = TcpStream::connect(server) {
                    shared.relay(&client, &server);
                    shared.relay(&server, &client);
                }
            }
        });
        Self { address, state }
    }

    /// Closes all connections, and transfers `limit` bytes from now on, in both directions and over
    /// all connections together.
    pub(crate) fn allow(&self, limit: u64) {
        self.state.close();
        *self.state.left.lock().expect("no panic") = limit;
        self.state.is_full.store(false, Ordering::SeqCst);
    }

    /// The address to connect to.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether bytes wait that it does not transfer.
    pub(crate) fn is_full(&self) -> bool {
        self.state.is_full.load(Ordering::SeqCst)
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        self.state.close();
    }
}

impl State {
    fn relay(self: &Arc<Self>, from: &TcpStream, to: &TcpStream) {
        let (mut from, mut to) = (copy(from), copy(to));
        // Otherwise each small message waits for the acknowledgement of the previous one.
        to.set_nodelay(true).expect("a stream");
        self.streams.lock().expect("no panic").push(copy(&from));
        let state = Arc::clone(self);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = from.read(&mut buffer) {
                if !state.admit(length as u64) {
                    return;
                }
                if to.write_all(&buffer[..length]).is_err() {
                    break;
                }
            }
            drop(to.shutdown(Shutdown::Both));
        });
    }

    fn close(&self) {
        for stream in self.streams.lock().expect("no panic").drain(..) {
            drop(stream.shutdown(Shutdown::Both));
        }
    }

    fn admit(&self, length: u64) -> bool {
        let mut left = self.left.lock().expect("no panic");
        // After one refusal nothing passes, however short it is.
        *left = left.checked_sub(length).unwrap_or(0);
        let is_admitted = *left > 0;
        if !is_admitted {
            self.is_full.store(true, Ordering::SeqCst);
        }
        is_admitted
    }
}

fn copy(stream: &TcpStream) -> TcpStream {
    stream.try_clone().expect("a descriptor")
}
