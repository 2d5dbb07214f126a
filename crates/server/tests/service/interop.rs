//! Cloudflare's client for Privacy Pass with the running issuer and verifier, for both RFC types,
//! with a proof of work written from the specification.
//!
//! Run by `scripts/test-interop`, which sets `SEALSTONE_INTEROP_NODE` to the path of the library.

use std::path::Path;
use std::process::Command;

use crate::world::World;

/// The output of their client.
fn run(library: &Path, issuer: &str, origin: &str, kind: u16) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/client.mjs");
    let mut node = Command::new("node");
    node.arg(script).arg(library).args([issuer, origin]);
    let done = node.arg(kind.to_string()).output().expect("node");
    let said = [done.stdout, done.stderr].concat();
    String::from_utf8(said).expect("text")
}

#[test]
fn their_client_gets_and_redeems_tokens() {
    let Some(library) = std::env::var_os("SEALSTONE_INTEROP_NODE") else {
        println!("skipped: run scripts/test-interop");
        return;
    };
    let library = Path::new(&library);
    let world = World::with_rsa();
    let config = "[issuer]\nverify = true\n[gates.pow]\nkind = \"pow\"\nbits = 10";
    let issuer = world.configured(config);
    let verifier = world.verifier(issuer.url(), &[]);
    let (own, separate) = (
        format!("{}/verify", issuer.url()),
        format!("{}/verify", verifier.url()),
    );
    for (origin, kind) in [(&own, 1), (&own, 2), (&separate, 2)] {
        let said = run(library, issuer.url(), origin, kind);
        assert_eq!(said, "200\n401\n", "type {kind} at {origin}");
    }
}
