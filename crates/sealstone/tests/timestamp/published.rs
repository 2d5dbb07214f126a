//! Responses of real TSAs, with the verdicts of `rfc3161-client` in its tests
//! (<https://github.com/trailofbits/rfc3161-client>, `test/fixtures`).

use sealstone::timestamp::{Options, Request};

use crate::common::{check, read, roots, vectors};

/// File, folder of the roots, data, and the expected refusal.
type Vector = (
    &'static str,
    &'static str,
    &'static [u8],
    Option<&'static str>,
);

const VECTORS: [Vector; 16] = [
    ("sigstage/response-sha256.tsr", "sigstage", b"hello", None),
    ("sigstage/response-sha384.tsr", "sigstage", b"hello", None),
    ("sigstage/response-sha512.tsr", "sigstage", b"hello", None),
    (
        "sigstage/response-sha256.tsr",
        "sigstage",
        b"Hello",
        Some("imprint"),
    ),
    (
        "sigstage/response-sha512.tsr",
        "test_tsa",
        b"hello",
        Some("no-path"),
    ),
    // Its signer's certificate is in the roots file only.
    (
        "sigstage/response-no-embedded-cert.tsr",
        "sigstage",
        b"hello",
        None,
    ),
    (
        "sigstage/response-no-embedded-cert.tsr",
        "test_tsa",
        b"hello",
        Some("signer-certificate-missing"),
    ),
    (
        "sigstage/response-invalid-signature.tsr",
        "sigstage",
        b"hello",
        Some("signature"),
    ),
    ("test_tsa/response.tsr", "test_tsa", b"hello", None),
    (
        "test_tsa/response.tsr",
        "sigstage",
        b"hello",
        Some("no-path"),
    ),
    // It is of another TSA with the same names.
    (
        "test_tsa/other_response.tsr",
        "test_tsa",
        b"hello",
        Some("issuer-signature"),
    ),
    // Certificates of others in the response change nothing.
    (
        "test_tsa/response-injected-certs.tsr",
        "test_tsa",
        b"hello",
        None,
    ),
    (
        "test_tsa/response-injected-certs.tsr",
        "sigstage",
        b"hello",
        Some("no-path"),
    ),
    // RSA, ESSCertID with SHA-1 only, the signer's certificate not first.
    ("identrust/issue-104.tsr", "identrust", b"hello", None),
    // The certificates have expired since.
    (
        "sigstore.mock/response-expired.tsr",
        "sigstore.mock",
        b"",
        None,
    ),
    (
        "sigstore.mock/response-expired.tsr",
        "sigstore.mock",
        b"x",
        Some("imprint"),
    ),
];

#[test]
fn published_responses() {
    let folder = vectors();
    let mut executed = 0;
    for (file, roots_of, data, refusal) in VECTORS {
        let path = folder.join(file);
        let data = match file.starts_with("sigstore.mock") && data.is_empty() {
            true => read(folder.join("sigstore.mock/payload")),
            false => data.to_vec(),
        };
        let roots = roots(folder.join(roots_of).join("ts_chain.pem"));
        let verdict = check(&read(&path), &data, &roots, &Options::default());
        let found = verdict.as_ref().err().map(|error| error.name());
        assert_eq!(found, refusal, "{file}: {verdict:?}");
        executed += 1;
    }
    assert_eq!(executed, VECTORS.len());
    println!("RFC 3161 responses (rfc3161-client): {executed} cases, 0 disagreements");
}

#[test]
fn published_requests_and_their_nonces() {
    let folder = vectors();
    let request = Request::parse(&read(folder.join("test_tsa/request.der"))).expect("a request");
    assert_eq!(request.encode(), read(folder.join("test_tsa/request.der")));
    let options = Options::answering(&request);
    let roots = roots(folder.join("test_tsa/ts_chain.pem"));
    let response = read(folder.join("test_tsa/response.tsr"));
    let verified = check(&response, b"hello", &roots, &options).expect("a good response");
    assert_eq!(verified.nonce, request.nonce);
    let other = Request::parse(&read(folder.join("sigstage/request.der"))).expect("a request");
    let refusal = check(&response, b"hello", &roots, &Options::answering(&other));
    assert_eq!(refusal.unwrap_err().name(), "nonce");
}

/// The facts that `openssl ts -reply -text` prints about them.
#[test]
fn responses_state_the_facts_that_openssl_prints() {
    let folder = vectors();
    let roots = roots(folder.join("sigstage/ts_chain.pem"));
    let response = read(folder.join("sigstage/response-sha256.tsr"));
    let verified = check(&response, b"hello", &roots, &Options::default()).expect("a good one");
    // date -u -d '2025-05-09 11:58:55' +%s
    assert_eq!(verified.time.as_secs(), 1_746_791_935);
    assert_eq!(
        verified.accuracy.map(|accuracy| accuracy.as_secs()),
        Some(1)
    );
    assert_eq!(verified.policy.to_string(), "1.3.6.1.4.1.57264.2");
    assert_eq!(verified.serial[..4], [0x78, 0x4b, 0x4c, 0x5e]);
    assert_eq!(verified.tsa(), "CN=sigstore-tsa,O=sigstore.dev");
    assert_eq!(verified.path.len(), 2);
    // date -u -d '2035-03-26 08:14:06' +%s
    assert_eq!(verified.expires(), 2_058_509_646);
    assert!(!verified.sha1_id);
}
