//! kill -9 of an issuer while it makes keys: a listed key is never lost.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::{Duration, Instant};

use sealstone_server::client::Client;
use sealstone_token::privacypass::directory::WELL_KNOWN_PATH;

use sealstone_testing::servers::free_port;

use crate::victim::{Process, spawn};

/// The keys in the directory, if the issuer answers.
pub(crate) fn keys(url: &str) -> Option<BTreeSet<String>> {
    let answer = Client::new("")
        .get(&format!("{url}{WELL_KNOWN_PATH}"), None)
        .ok()?;
    let value = answer.json();
    let keys = value["token-keys"].as_array()?.iter();
    Some(
        keys.filter_map(|key| Some(key["token-key"].as_str()?.to_owned()))
            .collect(),
    )
}

fn campaign(kills: u32) {
    let directory = tempfile::tempdir().expect("a directory");
    let (mut seen, mut fewest) = (BTreeSet::new(), usize::MAX);
    for kill in 0..kills {
        // Every fourth start is a first one; the others continue with the same data.
        let data = directory
            .path()
            .join((kill / 4).to_string())
            .display()
            .to_string();
        if kill % 4 == 0 {
            seen = BTreeSet::new();
        }
        let listen = format!("127.0.0.1:{}", free_port());
        let mut arguments = [
            "issuer", "--data", &data, "--listen", &listen, "--gate", "none",
        ];
        let mut command = Command::new(env!("CARGO_BIN_EXE_sealstone-server"));
        let mut process = spawn(command.args(arguments));
        let until = Instant::now() + Duration::from_millis(u64::from(100 + kill * 137 % 900));
        while Instant::now() < until {
            seen.extend(keys(&format!("http://{listen}")).unwrap_or_default());
            std::thread::sleep(Duration::from_millis(3));
        }
        process.kill().expect("a process");
        process.wait().expect("an end");
        if kill % 4 == 3 {
            // Another process may have taken the port since.
            arguments[4] = "127.0.0.1:0";
            let issuer = Process::start(&arguments);
            let found = keys(issuer.url()).expect("a directory");
            assert!(
                found.is_superset(&seen),
                "lost: {:?}",
                seen.difference(&found)
            );
            fewest = fewest.min(seen.len());
        }
    }
    assert!(fewest >= 2, "no key was ever seen: the times are too short");
}

#[test]
fn killed_issuers_lose_no_key() {
    campaign(8);
}

#[test]
#[ignore = "a campaign of some minutes: 60 kills"]
fn sixty_killed_issuers_lose_no_key() {
    campaign(60);
}
