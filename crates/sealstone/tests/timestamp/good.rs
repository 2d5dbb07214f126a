//! Good responses of every algorithm. `openssl ts -verify` accepts them too.

use sealstone::timestamp::{
    Imprint, Options, Policy, Request, Response, Roots, Sha2, check_answer,
};
use sealstone_testing::tsa::{
    Authority, Info, OTHER_POLICY, POLICY, SIGNER, generalized_time, now,
};

use crate::common::{DATA, accepted, check};

/// Kind of key, chain in the response, section of the configuration, hash of the imprint.
const REPLIES: [(&str, &[&str], &str, Sha2); 8] = [
    ("P-256", &["between.pem"], "tsa", Sha2::Sha256),
    (
        "P-256",
        &["between.pem", "root.pem"],
        "sha512",
        Sha2::Sha512,
    ),
    ("P-384", &["between.pem"], "tsa", Sha2::Sha384),
    (
        "P-384",
        &["root.pem", "between.pem"],
        "sha512",
        Sha2::Sha256,
    ),
    ("2048", &["between.pem"], "tsa", Sha2::Sha256),
    ("3072", &["between.pem"], "sha512", Sha2::Sha512),
    ("4096", &["between.pem", "root.pem"], "sha512", Sha2::Sha384),
    ("2048", &["between.pem"], "sha1id", Sha2::Sha256),
];

#[test]
fn replies_of_openssl() {
    let Some(tsa) = Authority::new() else { return };
    let root = tsa.read("root.pem");
    let roots = Roots::parse(&root).expect("a root");
    for (kind, chain, section, hash) in REPLIES {
        tsa.issue("other", kind, "between", SIGNER);
        let request = Request::new(Imprint::of(hash, DATA), None);
        let bytes = tsa.reply("other", chain, section, &request.encode());
        let options = Options {
            now: Some(now()),
            ..Options::answering(&request)
        };
        let verified = check(&bytes, DATA, &roots, &options);
        let verified = verified.unwrap_or_else(|refusal| panic!("{kind} {section}: {refusal}"));
        assert_eq!(verified.policy.to_string(), POLICY);
        assert_eq!((verified.hash, &verified.nonce), (hash, &request.nonce));
        assert_eq!(verified.path.len(), 3);
        assert!(now().abs_diff(verified.time.as_secs()) < 60);
        assert_eq!(verified.sha1_id, section == "sha1id");
        let response = Response::parse(&bytes).expect("a response");
        assert_eq!(check_answer(&response, &request), Ok(()));
        let query = ["-queryfile", "query.tsq"];
        assert!(tsa.oracle(&bytes, &root, &query), "{kind} {section}");
        tsa.write("data", DATA);
        assert!(tsa.oracle(&bytes, &root, &["-data", "data"]));
    }
}

#[test]
fn the_policy_that_is_asked_for() {
    let Some(tsa) = Authority::new() else { return };
    let roots = Roots::parse(&tsa.read("root.pem")).expect("a root");
    let policy: Policy = OTHER_POLICY.parse().expect("an identifier");
    let request = Request::new(Imprint::of(Sha2::Sha256, DATA), Some(policy));
    let response = tsa.reply("signer", &["between.pem"], "tsa", &request.encode());
    let verified = check(&response, DATA, &roots, &Options::answering(&request));
    assert_eq!(verified.expect("a good response").policy, policy);
    let response = Response::parse(&response).expect("a response");
    assert_eq!(check_answer(&response, &request), Ok(()));
}

/// Kind of key, options of `openssl cms`.
const SIGNATURES: [(&str, &[&str]); 14] = [
    ("P-256", &["-md", "sha256"]),
    ("P-256", &["-md", "sha512"]),
    ("P-384", &["-md", "sha256"]),
    ("P-384", &["-md", "sha384"]),
    ("P-256", &["-md", "sha384", "-keyid"]),
    ("2048", &["-md", "sha384"]),
    ("2048", &["-md", "sha256", "-keyid"]),
    (
        "2048",
        &["-md", "sha256", "-keyopt", "rsa_padding_mode:pss"],
    ),
    (
        "2048",
        &["-md", "sha512", "-keyopt", "rsa_padding_mode:pss"],
    ),
    (
        "3072",
        &[
            "-md",
            "sha256",
            "-keyopt",
            "rsa_padding_mode:pss",
            "-keyopt",
            "rsa_pss_saltlen:0",
        ],
    ),
    (
        "3072",
        &[
            "-md",
            "sha384",
            "-keyopt",
            "rsa_padding_mode:pss",
            "-keyopt",
            "rsa_pss_saltlen:20",
        ],
    ),
    (
        "2048",
        &[
            "-md",
            "sha256",
            "-keyopt",
            "rsa_padding_mode:pss",
            "-keyopt",
            "rsa_pss_saltlen:-1",
        ],
    ),
    (
        "RSA-PSS",
        &["-md", "sha256", "-keyopt", "rsa_padding_mode:pss"],
    ),
    ("P-256", &["-md", "sha256", "-nosmimecap"]),
];

#[test]
fn signatures_of_openssl_cms() {
    let Some(tsa) = Authority::new() else { return };
    let root = tsa.read("root.pem");
    let roots = Roots::parse(&root).expect("a root");
    let info = Info::new(
        &Sha2::Sha256.digest(&[DATA]),
        &generalized_time(now() + 600),
    );
    for (kind, options) in SIGNATURES {
        tsa.issue("other", kind, "between", &with_key_id(SIGNER));
        let options = [&["-cades", "-certfile", "between.pem"], options].concat();
        let response = tsa.sign("other", &info.encode(), &options);
        accepted(&response, &roots, &format!("{kind} {options:?}"));
        tsa.write("data", DATA);
        // OpenSSL's timestamps support neither PSS nor subject key identifiers.
        if !options
            .iter()
            .any(|option| option.contains("pss") || *option == "-keyid")
            && kind != "RSA-PSS"
        {
            let verdict = tsa.oracle(&response, &root, &["-data", "data"]);
            assert!(verdict, "{kind} {options:?}");
        }
    }
}

#[test]
fn certificates_are_signed_in_every_way() {
    let Some(tsa) = Authority::new() else { return };
    let info = Info::new(
        &Sha2::Sha256.digest(&[DATA]),
        &generalized_time(now() + 600),
    );
    let pss = [
        "-sigopt",
        "rsa_padding_mode:pss",
        "-sigopt",
        "rsa_pss_saltlen:32",
    ];
    for (kind, options) in [
        ("P-256", &["-sha256"][..]),
        ("P-256", &["-sha512"]),
        ("P-384", &["-sha384"]),
        ("2048", &["-sha256"]),
        ("2048", &["-sha384"]),
        ("3072", &["-sha512"]),
        ("2048", &[&["-sha256"], &pss[..]].concat()),
        ("RSA-PSS", &["-sha256"]),
        ("ED25519", &[]),
    ] {
        tsa.key("own-root", kind);
        let issuer = sealstone_testing::tsa::ISSUER;
        tsa.certify("own-root", "own-root", None, issuer, options);
        tsa.key("other", "P-256");
        tsa.certify("other", "other", Some("own-root"), SIGNER, options);
        let response = tsa.sign("other", &info.encode(), &["-cades"]);
        let roots = Roots::parse(&tsa.read("own-root.pem")).expect("a root");
        accepted(&response, &roots, &format!("{kind} {options:?}"));
        tsa.write("data", DATA);
        let root = tsa.read("own-root.pem");
        assert!(
            tsa.oracle(&response, &root, &["-data", "data"]),
            "{kind} {options:?}"
        );
    }
}

fn with_key_id(extensions: &str) -> String {
    format!("{extensions}\nsubjectKeyIdentifier=hash")
}
