//! The vectors of Argon2 that pyca/cryptography collected from RFC 9106, OpenSSL and the `argon2`
//! command. `scripts/fetch-vectors` puts them into `.tools/vectors`.

use crate::{rfc9106::Argon2, unhex};
use std::collections::HashMap;
use std::path::PathBuf;

/// The names of the files, for variants 0 to 2.
pub const VARIANTS: [&str; 3] = ["argon2d", "argon2i", "argon2id"];

/// All cases of variant `y` and their tags. Without the file, says that they are skipped.
pub fn argon2(y: usize) -> Option<Vec<(Argon2, Vec<u8>)>> {
    let name = VARIANTS[y];
    let tools = || concat!(env!("CARGO_MANIFEST_DIR"), "/../../.tools").into();
    let directory = std::env::var_os("SEALSTONE_VECTORS").map_or_else(tools, PathBuf::from);
    let Ok(text) = std::fs::read_to_string(directory.join(format!("vectors/KDF/{name}.txt")))
    else {
        println!("skipped: the vectors of {name} are not there; run scripts/fetch-vectors");
        return None;
    };
    Some(
        text.split("COUNT")
            .skip(1)
            .map(|text| case(text, y))
            .collect(),
    )
}

/// Lines `name = value`, bytes in hexadecimal.
fn case(text: &str, y: usize) -> (Argon2, Vec<u8>) {
    let fields = text.lines().filter_map(|line| line.split_once('='));
    let fields: HashMap<&str, &str> = fields
        .map(|(name, value)| (name.trim(), value.trim()))
        .collect();
    let number = |name: &str| fields[name].parse().unwrap();
    let bytes = |name: &str| unhex(fields.get(name).copied().unwrap_or_default());
    let argon2 = Argon2 {
        p_password: bytes("pass"),
        s_salt: bytes("salt"),
        k_secret: bytes("secret"),
        x_data: bytes("ad"),
        p: number("lanes"),
        t_tag: number("length"),
        m: number("memcost"),
        t: number("iter"),
        v: 0x13,
        y,
    };
    (argon2, bytes("output"))
}
