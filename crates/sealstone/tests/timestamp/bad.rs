//! Bad responses. Each is refused with the right error. `openssl ts -verify` refuses them too, if
//! it has the same check.

use sealstone::timestamp::{Imprint, Options, Request, Response, Roots, Sha2, check_answer};
use sealstone_testing::tsa::{Authority, Info, SIGNER, generalized_time, granted, now, tlv};

use crate::common::{DATA, accepted, check, refused};

const CADES: [&str; 3] = ["-cades", "-certfile", "between.pem"];

/// A local TSA, and a verifier that trusts its root.
struct Bench {
    tsa: Authority,
    root: Vec<u8>,
    roots: Roots,
}

impl Bench {
    fn new() -> Option<Self> {
        let tsa = Authority::new()?;
        tsa.write("data", DATA);
        let root = tsa.read("root.pem");
        let roots = Roots::parse(&root).expect("a root");
        Some(Self { tsa, root, roots })
    }

    /// A good TSTInfo of a time at which all certificates are valid.
    fn info(&self) -> Info {
        Info::new(
            &Sha2::Sha256.digest(&[DATA]),
            &generalized_time(now() + 600),
        )
    }

    /// A token of the good signer.
    fn signed(&self, info: &Info) -> Vec<u8> {
        self.tsa.sign("signer", &info.encode(), &CADES)
    }

    /// Asserts that we refuse it, and OpenSSL too if it has the check.
    #[track_caller]
    fn refused(&self, response: &[u8], name: &str, openssl_checks: bool, case: &str) {
        refused(response, &self.roots, &Options::default(), name, case);
        let good = self.tsa.oracle(response, &self.root, &["-data", "data"]);
        assert_eq!(good, !openssl_checks, "{case}: openssl");
    }
}

/// The fault, the refusal, whether OpenSSL checks it, and the change.
type Case = (&'static str, &'static str, bool, fn(&mut Info));

fn run(bench: &Bench, cases: &[Case]) {
    for (case, name, openssl_checks, change) in cases {
        let mut info = bench.info();
        change(&mut info);
        bench.refused(&bench.signed(&info), name, *openssl_checks, case);
    }
}

#[test]
fn imprints() {
    let Some(bench) = Bench::new() else { return };
    accepted(&bench.signed(&bench.info()), &bench.roots, "all good");
    let cases: [Case; 5] = [
        ("other data", "imprint", true, |info| info.digest[0] ^= 1),
        ("a short digest", "imprint-length", true, |info| {
            info.digest.truncate(31);
        }),
        ("SHA-1", "weak-imprint", false, |info| {
            info.hash = vec![0x30, 9, 6, 5, 0x2b, 0x0e, 3, 2, 0x1a, 5, 0];
            info.digest = sealstone_primitives::hash::sha1_broken(DATA).to_vec();
        }),
        ("MD5", "weak-imprint", true, |info| {
            let md5 = [6, 8, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 2, 5, 5, 0];
            info.hash = tlv(0x30, &md5);
            info.digest = vec![0; 16];
        }),
        ("SHA3-256", "unknown-imprint", true, |info| {
            info.hash = tlv(0x30, &[6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 8]);
        }),
    ];
    run(&bench, &cases);
}

#[test]
fn timestamps_with_bad_statements_are_refused() {
    let Some(bench) = Bench::new() else { return };
    let cases: [Case; 5] = [
        ("version 2", "malformed", true, |info| info.version = 2),
        ("no time", "malformed", false, |info| {
            info.time = "now".to_owned();
        }),
        ("nonsense at the end", "malformed", true, |info| {
            info.rest = vec![5, 0];
        }),
        (
            "a critical extension",
            "critical-extension",
            false,
            |info| {
                let critical = tlv(0x30, &[6, 3, 0x2a, 3, 9, 1, 1, 0xff, 4, 0]);
                info.rest = tlv(0xa1, &critical);
            },
        ),
        (
            "an unknown critical extension",
            "critical-extension",
            true,
            |info| {
                info.rest = tlv(0xa1, &tlv(0x30, &[5, 0]));
            },
        ),
    ];
    run(&bench, &cases);
}

#[test]
fn nonce_and_policy() {
    let Some(bench) = Bench::new() else { return };
    let request = Request::new(Imprint::of(Sha2::Sha256, DATA), "1.2.3.4.5".parse().ok());
    let nonce = tlv(2, request.nonce.as_ref().expect("a nonce").as_bytes());
    let other_policy = Some("1.2.3.4.1".parse().expect("an identifier"));
    let answering = Options {
        policy: other_policy,
        ..Options::answering(&request)
    };
    let with = |policy: &[u8], rest: &[u8]| {
        let mut info = bench.info();
        info.policy = policy.to_vec();
        info.rest = rest.to_vec();
        bench.signed(&info)
    };
    let policy = [0x2a, 3, 4, 1];
    let check_name = |response: &[u8], options: &Options| {
        let verdict = check(response, DATA, &bench.roots, options);
        verdict.err().map(|refusal| refusal.name())
    };
    assert_eq!(check_name(&with(&policy, &nonce), &answering), None);
    assert_eq!(
        check_name(&with(&policy, &[]), &answering),
        Some("nonce-missing")
    );
    assert_eq!(
        check_name(&with(&policy, &[2, 1, 7]), &answering),
        Some("nonce")
    );
    assert_eq!(
        check_name(&with(&[0x2a, 3, 4, 6], &nonce), &answering),
        Some("policy")
    );
    // A clock before the timestamp's time.
    let options = |now| Options {
        now: Some(now),
        ..Options::default()
    };
    let response = bench.signed(&bench.info());
    assert_eq!(check_name(&response, &options(now() + 310)), None);
    assert_eq!(check_name(&response, &options(now() + 200)), Some("future"));
    // Certificates that are not valid at the required time.
    let at = |time| Options {
        also_valid_at: Some(time),
        ..Options::default()
    };
    assert_eq!(
        check_name(&response, &at(now() + 366 * 86_400)),
        Some("expired")
    );
    assert_eq!(
        check_name(&response, &at(now() - 86_400)),
        Some("not-yet-valid")
    );
}

#[test]
fn times_outside_of_the_certificates() {
    let Some(bench) = Bench::new() else { return };
    for (offset, name) in [(-86_400, "not-yet-valid"), (366 * 86_400, "expired")] {
        let time = now().checked_add_signed(offset).expect("a time after 1970");
        let mut info = bench.info();
        info.time = generalized_time(time);
        let response = bench.signed(&info);
        refused(&response, &bench.roots, &Options::default(), name, "");
        // OpenSSL gets the time as an option.
        let time = time.to_string();
        let options = ["-data", "data", "-attime", &time];
        assert!(!bench.tsa.oracle(&response, &bench.root, &options));
    }
}

#[test]
fn the_signer_s_certificate() {
    let Some(bench) = Bench::new() else { return };
    let usage = |line: &str| {
        let lines: Vec<&str> = SIGNER.lines().collect();
        format!("{}\n{}\n{line}", lines[0], lines[1])
    };
    let key_usage = |line: &str| SIGNER.replace("keyUsage=critical,digitalSignature", line);
    let cases = [
        ("no usage", usage(""), "usage-missing", true),
        (
            "not critical",
            usage("extendedKeyUsage=timeStamping"),
            "usage-not-critical",
            true,
        ),
        (
            "another usage",
            usage("extendedKeyUsage=critical,codeSigning"),
            "usage",
            true,
        ),
        (
            "one more usage",
            usage("extendedKeyUsage=critical,timeStamping,emailProtection"),
            "usage",
            true,
        ),
        (
            "any usage",
            usage("extendedKeyUsage=critical,anyExtendedKeyUsage"),
            "usage",
            true,
        ),
        (
            "keyEncipherment",
            key_usage("keyUsage=critical,digitalSignature,keyEncipherment"),
            "key-usage",
            true,
        ),
        (
            "keyCertSign",
            key_usage("keyUsage=critical,keyCertSign"),
            "key-usage",
            true,
        ),
        (
            "an unknown critical extension",
            format!("{SIGNER}\n1.2.3.9=critical,DER:0500"),
            "certificate-extension",
            true,
        ),
        (
            "name constraints",
            format!("{SIGNER}\nnameConstraints=permitted;DNS:example"),
            "constraints",
            false,
        ),
    ];
    for (case, extensions, name, openssl_checks) in cases {
        bench.tsa.issue("other", "P-256", "between", &extensions);
        let response = bench.tsa.sign("other", &bench.info().encode(), &CADES);
        bench.refused(&response, name, openssl_checks, case);
    }
    // Without a key usage, and with nonRepudiation.
    for line in ["", "keyUsage=critical,nonRepudiation"] {
        bench
            .tsa
            .issue("other", "P-256", "between", &key_usage(line));
        let response = bench.tsa.sign("other", &bench.info().encode(), &CADES);
        accepted(&response, &bench.roots, line);
    }
}

#[test]
fn keys_and_algorithms() {
    let Some(bench) = Bench::new() else { return };
    for (case, kind, options, name) in [
        (
            "RSA of 1024 bits",
            "1024",
            &["-md", "sha256"][..],
            "unsupported-algorithm",
        ),
        (
            "P-521",
            "P-521",
            &["-md", "sha512"],
            "unsupported-algorithm",
        ),
        (
            "a SHA-1 digest",
            "P-256",
            &["-md", "sha1"],
            "weak-algorithm",
        ),
        (
            "a SHA-224 digest",
            "2048",
            &["-md", "sha224"],
            "weak-algorithm",
        ),
        (
            "a SHA3 digest",
            "2048",
            &["-md", "sha3-256"],
            "unsupported-algorithm",
        ),
    ] {
        bench.tsa.issue("other", kind, "between", SIGNER);
        let options = [&CADES[..], options].concat();
        let response = bench.tsa.sign("other", &bench.info().encode(), &options);
        refused(&response, &bench.roots, &Options::default(), name, case);
    }
    for (case, options, name) in [
        ("a certificate with SHA-1", &["-sha1"][..], "weak-algorithm"),
        (
            "a certificate with SHA3",
            &["-sha3-256"],
            "unsupported-algorithm",
        ),
    ] {
        bench.tsa.key("other", "P-256");
        bench
            .tsa
            .certify("other", "other", Some("between"), SIGNER, options);
        let response = bench.tsa.sign("other", &bench.info().encode(), &CADES);
        refused(&response, &bench.roots, &Options::default(), name, case);
    }
}

#[test]
fn tokens_of_other_forms() {
    let Some(bench) = Bench::new() else { return };
    let sign = |options: &[&str]| {
        let options = [options, &["-certfile", "between.pem"]].concat();
        bench.tsa.sign("signer", &bench.info().encode(), &options)
    };
    bench.refused(&sign(&[]), "certificate-id-missing", true, "no identifier");
    bench.refused(
        &sign(&["-noattr"]),
        "attributes",
        true,
        "no signed attributes",
    );
    bench.refused(
        &sign(&["-cades", "-econtent_type", "1.2.840.113549.1.7.1"]),
        "not-a-timestamp",
        true,
        "signed data",
    );
    // Two signers.
    bench.tsa.issue("other", "P-256", "between", SIGNER);
    let two = sign(&["-cades", "-signer", "other.pem", "-inkey", "other.key"]);
    bench.refused(&two, "signers", true, "two signers");
    // No certificate of the signer; it is good with a roots file that has it.
    let bare = bench
        .tsa
        .sign("signer", &bench.info().encode(), &["-cades", "-nocerts"]);
    bench.refused(&bare, "signer-certificate-missing", true, "no certificate");
    let names = ["signer.pem", "between.pem", "root.pem"];
    let chain = Roots::parse(&bench.tsa.concatenated(&names)).expect("a chain");
    accepted(&bare, &chain, "the certificate is in the roots file");
    // SHA-1 alone identifies the certificate, and the verifier does not want that.
    let query = Request::new(Imprint::of(Sha2::Sha256, DATA), None);
    let sha1 = bench
        .tsa
        .reply("signer", &["between.pem"], "sha1id", &query.encode());
    accepted(&sha1, &bench.roots, "ESSCertID");
    let strict = Options {
        refuse_sha1_id: true,
        ..Options::default()
    };
    refused(
        &sha1,
        &bench.roots,
        &strict,
        "certificate-id-sha1",
        "ESSCertID",
    );
    // More certificates than a token may have.
    let many = vec!["between.pem"; 1];
    let all: Vec<String> = (0..33).map(|i| format!("spare{i}")).collect();
    bench.tsa.key("spare", "P-256");
    for name in &all {
        bench
            .tsa
            .write(&format!("{name}.key"), &bench.tsa.read("spare.key"));
        bench.tsa.self_signed(name, SIGNER);
    }
    let names: Vec<String> = all.iter().map(|name| format!("{name}.pem")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).chain(many).collect();
    bench.tsa.write("many.pem", &bench.tsa.concatenated(&names));
    let response = bench.tsa.sign(
        "signer",
        &bench.info().encode(),
        &["-cades", "-certfile", "many.pem"],
    );
    bench.refused(&response, "too-many-certificates", false, "34 certificates");
}

#[test]
fn identifiers_of_certificates_beside_the_path() {
    let Some(bench) = Bench::new() else { return };
    let query = Request::new(Imprint::of(Sha2::Sha256, DATA), None).encode();
    // This section identifies all certificates that it sends.
    let reply = |chain: &[&str]| bench.tsa.reply("signer", chain, "sha512", &query);
    accepted(&reply(&["between.pem"]), &bench.roots, "all of the path");
    bench.tsa.issue("beside", "P-256", "between", SIGNER);
    let response = reply(&["between.pem", "beside.pem"]);
    bench.refused(&response, "certificate-id", true, "one beside the path");
}

#[test]
fn responses_without_a_token() {
    let Some(bench) = Bench::new() else { return };
    let good = bench.signed(&bench.info());
    let status = |number: u8, rest: &[u8]| tlv(0x30, &[&[2, 1, number][..], rest].concat());
    let text = tlv(0x30, &tlv(0x0c, b"closed on Sundays"));
    let rejected = tlv(0x30, &status(2, &[&text[..], &[3, 2, 5, 0x20]].concat()));
    let response = Response::parse(&rejected).expect("a response");
    let said = response.granted().expect_err("it is rejected").to_string();
    assert!(
        said.contains("closed on Sundays") && said.contains("request not permitted"),
        "{said}"
    );
    bench.refused(&rejected, "not-granted", true, "rejected");
    bench.refused(
        &tlv(0x30, &status(0, &[])),
        "token-missing",
        true,
        "granted without a token",
    );
    // The token of a rejection is not checked.
    let token = &good[header_len(&good) + 5..];
    let waiting = tlv(0x30, &[&status(3, &[])[..], token].concat());
    bench.refused(&waiting, "not-granted", true, "waiting, with a token");
    let modified = tlv(0x30, &[&status(1, &[])[..], token].concat());
    accepted(&modified, &bench.roots, "granted with modifications");
    for (case, bytes) in [
        ("empty", vec![]),
        ("the token alone", token.to_vec()),
        ("a byte more", [&good[..], &[0]].concat()),
        ("a byte less", good[..good.len() - 1].to_vec()),
        ("text", b"<html>not found</html>".to_vec()),
        ("bytes in place of a token", granted(&[0x30, 0])),
    ] {
        // OpenSSL does not check bytes after the response.
        bench.refused(&bytes, "malformed", case != "a byte more", case);
    }
    let long = vec![0x30; sealstone::timestamp::MAX_LEN + 1];
    refused(&long, &bench.roots, &Options::default(), "too-long", "");
}

/// The checks of a client before it keeps an answer.
#[test]
fn answers_to_other_requests() {
    let Some(bench) = Bench::new() else { return };
    let request = Request::new(Imprint::of(Sha2::Sha256, DATA), None);
    let bytes = bench.tsa.reply("signer", &[], "tsa", &request.encode());
    let response = Response::parse(&bytes).expect("a response");
    assert_eq!(check_answer(&response, &request), Ok(()));
    let name = |request: &Request| check_answer(&response, request).map_err(|error| error.name());
    let other = Request::new(Imprint::of(Sha2::Sha256, DATA), None);
    assert_eq!(name(&other), Err("nonce"));
    let other = Request {
        imprint: Imprint::of(Sha2::Sha256, b"other"),
        ..request.clone()
    };
    assert_eq!(name(&other), Err("imprint"));
    let other = Request {
        policy: "1.2.3".parse().ok(),
        ..request.clone()
    };
    assert_eq!(name(&other), Err("policy"));
    // The request asks for the certificate.
    let bare = Request {
        certificates: false,
        ..request.clone()
    };
    let bytes = bench.tsa.reply("signer", &[], "tsa", &bare.encode());
    let response = Response::parse(&bytes).expect("a response");
    assert_eq!(check_answer(&response, &bare), Ok(()));
    let missing = check_answer(&response, &request).map_err(|error| error.name());
    assert_eq!(missing, Err("signer-certificate-missing"));
}

/// The length of the header of a long value.
fn header_len(value: &[u8]) -> usize {
    2 + usize::from(value[1] & 0x7f)
}
