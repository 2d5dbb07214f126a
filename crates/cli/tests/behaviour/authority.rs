//! A time-stamping authority by the machine's OpenSSL, with its own root.

use std::path::Path;
use std::process::{Command, Stdio};

use sealstone::package::Package;

use crate::world::World;

const CONFIG: &str = "\
[req]
distinguished_name = name
[name]
[root]
basicConstraints = critical,CA:TRUE
[tsa]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = critical,timeStamping
[policies]
default_tsa = service
[service]
serial = serial
signer_cert = tsa.pem
signer_key = tsa.key
signer_digest = sha256
certs = root.pem
default_policy = 1.2.3.4
digests = sha256, sha384, sha512
accuracy = secs:1
ess_cert_id_alg = sha256
";

/// Makes keys and certificates in the directory `tsa`. Its root is `tsa/root.pem`.
pub(crate) fn make(world: &World) {
    std::fs::create_dir(world.path("tsa")).unwrap();
    world.write("tsa/config", CONFIG.as_bytes());
    world.write("tsa/serial", b"01\n");
    let new = "-new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -config config";
    openssl(
        world,
        &format!(
            "req -x509 {new} -extensions root -subj /CN=Root -days 9 -keyout root.key -out root.pem"
        ),
    );
    openssl(
        world,
        &format!("req {new} -subj /CN=Clock -keyout tsa.key -out tsa.csr"),
    );
    openssl(
        world,
        "x509 -req -in tsa.csr -CA root.pem -CAkey root.key -CAcreateserial -days 9 \
         -extfile config -extensions tsa -out tsa.pem",
    );
}

/// Adds a timestamp to a package in a file.
pub(crate) fn stamp(world: &World, name: &str) {
    let mut package = Package::decode(&world.read(name)).unwrap();
    world.write("tsa/data", &package.to_stamp());
    openssl(world, "ts -query -data data -sha256 -cert -out query");
    openssl(
        world,
        "ts -reply -config config -section service -queryfile query -out response",
    );
    package
        .attach_timestamp(&world.read("tsa/response"))
        .unwrap();
    world.write(name, &package.encode());
}

#[track_caller]
fn openssl(world: &World, line: &str) {
    let status = Command::new("openssl")
        .args(line.split_ascii_whitespace())
        .current_dir(world.path(Path::new("tsa")))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(status.unwrap().success(), "openssl {line}");
}
