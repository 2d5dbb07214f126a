//! The valid objects that targets begin with.

use std::sync::LazyLock;

use data_encoding::BASE64;
use sealstone::passport::Passport;
use sealstone_primitives::hash::sha3_256;
use sealstone_primitives::secret::Secret;

macro_rules! golden {
    ($name:literal) => {
        include_bytes!(concat!("../../crates/sealstone/tests/golden/v1/", $name)).as_slice()
    };
}

/// Sealed files that Bob opens, and the content of each; the last one is armored.
pub(crate) const SEALED: [(&[u8], usize); 7] = [
    (golden!("files/unsigned.sealed"), 1000),
    (golden!("files/signed.sealed"), 1000),
    (golden!("files/signed-not-carried.sealed"), 100),
    (golden!("files/aes-empty.sealed"), 0),
    (golden!("files/anonymous.sealed"), 1),
    (golden!("files/padded.sealed"), 1500),
    (golden!("files/aes-everything.sealed"), 333),
];

macro_rules! published {
    ($name:literal) => {
        include_bytes!(concat!(
            "../../crates/sealstone/tests/timestamp/vectors/",
            $name
        ))
        .as_slice()
    };
}

/// Timestamps over `hello`, and their roots.
pub(crate) const STAMPS: [(&[u8], &[u8]); 4] = [
    (
        published!("sigstage/response-sha256.tsr"),
        published!("sigstage/ts_chain.pem"),
    ),
    (
        published!("test_tsa/response.tsr"),
        published!("test_tsa/ts_chain.pem"),
    ),
    (
        published!("test_tsa/response-injected-certs.tsr"),
        published!("test_tsa/ts_chain.pem"),
    ),
    (
        published!("identrust/issue-104.tsr"),
        published!("identrust/ts_chain.pem"),
    ),
];
pub(crate) const REQUEST: &[u8] = published!("test_tsa/request.der");

pub(crate) const SECRET: [&[u8]; 2] = [golden!("alice.passport"), golden!("bob.passport")];
pub(crate) const PUBLIC: [&[u8]; 2] = [golden!("alice.pub"), golden!("bob.pub")];
pub(crate) const WORDS: &[u8] = golden!("alice.words");
pub(crate) const SHARES: &[u8] = golden!("alice.shares");
/// Alice's package without keys, and one of Alice and Bob with all parts except a timestamp.
pub(crate) const PACKAGES: [&[u8]; 2] = [
    golden!("packages/plain.package"),
    golden!("packages/everything.package"),
];
/// Key, log, head and countersignature.
pub(crate) const TRUST: [&[u8]; 4] = [
    golden!("trust/key"),
    golden!("trust/log"),
    golden!("trust/head"),
    golden!("trust/signature"),
];

pub(crate) static ALICE: LazyLock<Passport> =
    LazyLock::new(|| person("alice", "Alice", 1_767_225_600));
pub(crate) static BOB: LazyLock<Passport> =
    LazyLock::new(|| person("bob", "Bob Åström", 1_767_225_601));

fn person(name: &str, label: &str, created: u64) -> Passport {
    Passport::from_seed(seed(name), label, created).expect("a label that is allowed")
}

/// The root seed of `alice` or `bob`.
pub(crate) fn seed(name: &str) -> Secret<32> {
    let digest = sha3_256(format!("sealstone golden v1 {name}").as_bytes());
    Secret::from_slice(&digest).expect("32 bytes")
}

/// 00 01 … fa, repeated: the content of every golden file.
pub(crate) fn content(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8).collect()
}

/// The bytes of a valid armored text.
pub(crate) fn dearmor(text: &[u8]) -> Vec<u8> {
    let lines = text
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.starts_with(b"-"));
    let digits: Vec<u8> = lines.flatten().copied().collect();
    BASE64.decode(&digits).expect("a golden file")
}

/// The armored text of `bytes`, by the specification.
pub(crate) fn armor(label: &str, bytes: &[u8]) -> String {
    let mut text = format!("-----BEGIN SEALSTONE {label}-----\n");
    for line in bytes.chunks(48) {
        text.push_str(&BASE64.encode(line));
        text.push('\n');
    }
    text + &format!("-----END SEALSTONE {label}-----\n")
}
