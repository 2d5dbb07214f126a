//! Redis: one server, or a cluster of three.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use super::{Killed, free_port, killed_with_parent, wait_until};

/// A server with an append-only file.
pub struct Redis {
    directory: TempDir,
    port: u16,
    options: Vec<String>,
    process: Option<Killed>,
}

impl Redis {
    /// Starts a server that syncs its file `always` or `everysec`.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn start(appendfsync: &str) -> Self {
        Self::with(&["--appendonly", "yes", "--appendfsync", appendfsync])
    }

    /// Starts a server with these options.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn with(options: &[&str]) -> Self {
        let mut redis = Self {
            directory: tempfile::tempdir().expect("a directory"),
            port: free_port(),
            options: options.iter().map(ToString::to_string).collect(),
            process: None,
        };
        redis.revive();
        redis
    }

    /// `host:port`
    #[must_use]
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// `redis://host:port`
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://{}", self.address())
    }

    /// Sends SIGKILL.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Starts it again, with the same port and files, and waits until it answers.
    ///
    /// # Panics
    /// If it does not start.
    pub fn revive(&mut self) {
        let mut command = killed_with_parent("redis-server");
        command
            .args(["--port", &self.port.to_string(), "--bind", "127.0.0.1"])
            .args(["--save", "", "--dir"])
            .arg(self.directory.path())
            .args(&self.options);
        self.process = Some(Killed::start(command));
        wait_until("Redis answers", || self.is_up());
    }

    /// Its answer to a command of one line.
    ///
    /// # Errors
    /// If it does not answer.
    pub fn ask(&self, line: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(self.address())?;
        stream.set_read_timeout(Some(Duration::from_secs(2)))?;
        stream.write_all(format!("{line}\r\n").as_bytes())?;
        let mut answer = vec![0; 64 * 1024];
        let len = stream.read(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer[..len]).into_owned())
    }

    fn is_up(&self) -> bool {
        let is_ready =
            |answer: String| answer.starts_with("+PONG") || answer.starts_with("-NOAUTH");
        self.ask("PING").is_ok_and(is_ready)
    }
}

/// Three masters, each with a replica or without.
pub struct RedisCluster {
    nodes: Vec<Redis>,
}

impl RedisCluster {
    /// Starts the nodes, and joins them.
    ///
    /// # Panics
    /// If that fails.
    #[must_use]
    pub fn start() -> Self {
        Self::with_replicas(0)
    }

    /// The same with a number of replicas for each master.
    ///
    /// # Panics
    /// If that fails.
    #[must_use]
    pub fn with_replicas(replicas: usize) -> Self {
        let options = ["--appendonly", "yes", "--appendfsync", "always"];
        let cluster = ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000"];
        let options = [&options[..], &cluster[..]].concat();
        let nodes: Vec<Redis> = (0..3 * (1 + replicas))
            .map(|_| Redis::with(&options))
            .collect();
        let mut create = Command::new("redis-cli");
        create.args(["--cluster", "create"]);
        create.args(nodes.iter().map(Redis::address));
        create.args(["--cluster-replicas", &replicas.to_string()]);
        create.arg("--cluster-yes").stdout(Stdio::null());
        let created = create.status().expect("redis-cli");
        assert!(created.success(), "no cluster");
        let cluster = Self { nodes };
        cluster.wait();
        if replicas > 0 {
            cluster.wait_for_replicas();
        }
        cluster
    }

    /// The URLs of all nodes.
    #[must_use]
    pub fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(Redis::url).collect()
    }

    /// Kills a node, and starts it again.
    ///
    /// # Panics
    /// If it does not start.
    pub fn restart(&mut self, node: usize) {
        self.nodes[node].kill();
        self.nodes[node].revive();
        self.wait();
    }

    /// Kills a master until its replica took over, and starts it again as a replica.
    ///
    /// # Panics
    /// If nobody takes over.
    pub fn fail_over(&mut self, turn: usize) {
        let is = |node: &Redis, role: &str| {
            let said = node.ask("ROLE");
            said.is_ok_and(|said| said.contains(role))
        };
        let masters: Vec<usize> = (0..self.nodes.len())
            .filter(|&node| is(&self.nodes[node], "master"))
            .collect();
        let victim = masters[turn % masters.len()];
        self.nodes[victim].kill();
        wait_until("a replica takes over", || {
            let alive = self.nodes.iter().filter(|node| node.is_up());
            alive.filter(|node| is(node, "master")).count() == masters.len()
        });
        self.nodes[victim].revive();
        self.wait();
        self.wait_for_replicas();
    }

    fn wait_for_replicas(&self) {
        wait_until("all replicas follow", || {
            let follows = |node: &Redis| {
                let said = node.ask("INFO replication").unwrap_or_default();
                said.contains("role:master") && said.contains("state=online")
                    || said.contains("master_link_status:up")
            };
            self.nodes.iter().all(follows)
        });
    }

    fn wait(&self) {
        let is_ok = |node: &Redis| {
            let info = node.ask("CLUSTER INFO");
            info.is_ok_and(|info| info.contains("cluster_state:ok"))
        };
        wait_until("the cluster works", || self.nodes.iter().all(is_ok));
    }
}
