//! Paths to a root, and roots files.

use sealstone::timestamp::{MAX_ROOTS_LEN, Options, Roots, RootsError, Sha2};
use sealstone_testing::tsa::{Authority, ISSUER, Info, SIGNER, generalized_time, now};

use crate::common::{DATA, accepted, refused};

fn content() -> Vec<u8> {
    let digest = Sha2::Sha256.digest(&[DATA]);
    Info::new(&digest, &generalized_time(now() + 600)).encode()
}

fn roots(tsa: &Authority, names: &[&str]) -> Roots {
    Roots::parse(&tsa.concatenated(names)).expect("a roots file")
}

/// A response of `signer` with these certificates.
fn response(tsa: &Authority, signer: &str, certificates: &[&str]) -> Vec<u8> {
    tsa.write("sent.pem", &tsa.concatenated(certificates));
    let options: &[&str] = match certificates {
        [] => &["-cades"],
        _ => &["-cades", "-certfile", "sent.pem"],
    };
    tsa.sign(signer, &content(), options)
}

/// Issuers that are not allowed to issue, with the refusal.
#[test]
fn issuers() {
    let Some(tsa) = Authority::new() else { return };
    let root = tsa.read("root.pem");
    let trusted = roots(&tsa, &["root.pem"]);
    tsa.write("data", DATA);
    let with = |line: &str| format!("{ISSUER}\n{line}");
    let cases = [
        ("no authority", SIGNER.to_owned(), "not-a-ca", true),
        (
            "no extension",
            "subjectKeyIdentifier=hash".to_owned(),
            "not-a-ca",
            true,
        ),
        (
            "a key that may not sign certificates",
            "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,cRLSign".to_owned(),
            "not-a-ca",
            true,
        ),
        (
            "for servers",
            with("extendedKeyUsage=serverAuth"),
            "issuer-usage",
            false,
        ),
        (
            "a critical extension",
            with("1.2.3.9=critical,DER:0500"),
            "certificate-extension",
            true,
        ),
        (
            "name constraints",
            with("nameConstraints=critical,permitted;dirName:names\n[names]\nO=Test"),
            "constraints",
            false,
        ),
        (
            "policy constraints",
            with("policyConstraints=critical,requireExplicitPolicy:9"),
            "constraints",
            false,
        ),
    ];
    for (case, extensions, name, openssl_checks) in cases {
        tsa.issue("issuer", "P-256", "root", &extensions);
        tsa.issue("other", "P-256", "issuer", SIGNER);
        let bytes = response(&tsa, "other", &["issuer.pem"]);
        refused(&bytes, &trusted, &Options::default(), name, case);
        assert_eq!(
            tsa.oracle(&bytes, &root, &["-data", "data"]),
            !openssl_checks,
            "{case}"
        );
    }
    for line in [
        "extendedKeyUsage=timeStamping",
        "extendedKeyUsage=anyExtendedKeyUsage",
    ] {
        tsa.issue("issuer", "P-256", "root", &with(line));
        tsa.issue("other", "P-256", "issuer", SIGNER);
        accepted(&response(&tsa, "other", &["issuer.pem"]), &trusted, line);
    }
}

#[test]
fn lengths_of_paths() {
    let Some(tsa) = Authority::new() else { return };
    tsa.write("data", DATA);
    let limited = ISSUER.replace("CA:TRUE", "CA:TRUE,pathlen:1");
    tsa.key("top", "P-256");
    tsa.self_signed("top", &limited);
    tsa.issue("one", "P-256", "top", ISSUER);
    tsa.issue("other", "P-256", "one", SIGNER);
    let trusted = roots(&tsa, &["top.pem"]);
    accepted(
        &response(&tsa, "other", &["one.pem"]),
        &trusted,
        "one intermediate",
    );
    tsa.issue("two", "P-256", "one", ISSUER);
    tsa.issue("other", "P-256", "two", SIGNER);
    let bytes = response(&tsa, "other", &["one.pem", "two.pem"]);
    refused(
        &bytes,
        &trusted,
        &Options::default(),
        "path-length",
        "two intermediates",
    );
    assert!(!tsa.oracle(&bytes, &tsa.read("top.pem"), &["-data", "data"]));
    // At most eight certificates are above the signer's.
    let names: Vec<String> = (0..9).map(|i| format!("ca{i}")).collect();
    let mut above = "root";
    for name in &names {
        tsa.issue(name, "P-256", above, ISSUER);
        above = name;
    }
    let files: Vec<String> = names.iter().map(|name| format!("{name}.pem")).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let trusted = roots(&tsa, &["root.pem"]);
    for (depth, is_good) in [(7, true), (8, false)] {
        tsa.issue("other", "P-256", &names[depth - 1], SIGNER);
        let bytes = response(&tsa, "other", &files[..depth]);
        match is_good {
            true => assert_eq!(accepted(&bytes, &trusted, "seven").path.len(), 9),
            false => refused(&bytes, &trusted, &Options::default(), "no-path", "eight"),
        }
    }
}

/// The trusted roots: self-issued certificates of the roots file.
#[test]
fn roots_files() {
    let Some(tsa) = Authority::new() else { return };
    let root = roots(&tsa, &["root.pem"]);
    let bare = response(&tsa, "signer", &[]);
    refused(
        &bare,
        &root,
        &Options::default(),
        "no-path",
        "no intermediate",
    );
    let chain = roots(&tsa, &["between.pem", "root.pem"]);
    accepted(&bare, &chain, "the intermediate is in the roots file");
    let all = response(&tsa, "signer", &["between.pem", "root.pem"]);
    tsa.key("stranger", "P-256");
    tsa.self_signed("stranger", ISSUER);
    let stranger = roots(&tsa, &["stranger.pem", "between.pem", "signer.pem"]);
    refused(
        &all,
        &stranger,
        &Options::default(),
        "no-path",
        "a stranger's root",
    );
    // A root of the same name and another key.
    tsa.key("root2", "P-256");
    tsa.certify("root2", "root", None, ISSUER, &[]);
    let same_name = roots(&tsa, &["root2.pem"]);
    refused(
        &all,
        &same_name,
        &Options::default(),
        "issuer-signature",
        "the same name",
    );
    accepted(&all, &roots(&tsa, &["root2.pem", "root.pem"]), "both");
    // A trusted self-issued certificate of the signer is a path.
    tsa.key("alone", "P-256");
    tsa.self_signed("alone", SIGNER);
    let alone = response(&tsa, "alone", &[]);
    assert_eq!(
        accepted(&alone, &roots(&tsa, &["alone.pem"]), "alone")
            .path
            .len(),
        1
    );
    refused(&alone, &root, &Options::default(), "no-path", "alone");
    let error = |bytes: &[u8]| Roots::parse(bytes).expect_err("no roots file");
    assert_eq!(error(&tsa.read("between.pem")), RootsError::NoAnchor);
    assert_eq!(error(b""), RootsError::NoCertificate);
    assert_eq!(error(b"\xff\xfe"), RootsError::NoCertificate);
    assert_eq!(error(&tsa.read("root.key")), RootsError::NoCertificate);
    assert_eq!(error(&vec![b' '; MAX_ROOTS_LEN + 1]), RootsError::TooLong);
    let broken = String::from_utf8(tsa.read("root.pem"))
        .expect("text")
        .replace("MI", "M!");
    assert_eq!(error(broken.as_bytes()), RootsError::Malformed(1));
    let cut = &tsa.concatenated(&["root.pem", "between.pem"]);
    assert_eq!(error(&cut[..cut.len() - 30]), RootsError::Malformed(2));
}

#[test]
fn roots_in_der_and_with_text() {
    let Some(tsa) = Authority::new() else { return };
    let good = response(&tsa, "signer", &["between.pem"]);
    tsa.openssl(&[
        "x509", "-in", "root.pem", "-outform", "DER", "-out", "root.der",
    ]);
    tsa.openssl(&[
        "x509",
        "-in",
        "between.pem",
        "-outform",
        "DER",
        "-out",
        "between.der",
    ]);
    accepted(&good, &roots(&tsa, &["root.der"]), "DER");
    accepted(
        &response(&tsa, "signer", &[]),
        &roots(&tsa, &["between.der", "root.der"]),
        "both",
    );
    let mut cut = tsa.concatenated(&["root.der", "between.der"]);
    cut.pop();
    assert_eq!(
        Roots::parse(&cut).expect_err("cut"),
        RootsError::Malformed(2)
    );
    tsa.openssl(&["x509", "-in", "root.pem", "-text", "-out", "text.pem"]);
    let text = String::from_utf8(tsa.read("text.pem")).expect("text");
    let windows = format!("# our root\r\n{}", text.replace('\n', "\r\n"));
    accepted(
        &good,
        &Roots::parse(windows.as_bytes()).expect("a root"),
        "text, CRLF",
    );
}

/// Certificates that resemble those of the path change nothing, in any place.
#[test]
fn injected_certificates() {
    let Some(tsa) = Authority::new() else { return };
    let root = roots(&tsa, &["root.pem"]);
    // An intermediate of the same name and another key, and an untrusted root.
    tsa.key("root2", "P-256");
    tsa.certify("root2", "root", None, ISSUER, &[]);
    tsa.key("between2", "P-256");
    tsa.certify("between2", "between", Some("root2"), ISSUER, &[]);
    // The intermediate's own key, certified by the untrusted root.
    tsa.write("between3.key", &tsa.read("between.key"));
    tsa.certify("between3", "between", Some("root2"), ISSUER, &[]);
    let orders: [&[&str]; 3] = [
        &["between2.pem", "between3.pem", "root2.pem", "between.pem"],
        &["between.pem", "root2.pem", "between3.pem", "between2.pem"],
        &["root.pem", "root2.pem", "between3.pem", "between.pem"],
    ];
    for order in orders {
        let path = accepted(
            &response(&tsa, "signer", order),
            &root,
            &format!("{order:?}"),
        )
        .path;
        let names: Vec<&str> = path.iter().map(|step| step.subject.as_str()).collect();
        assert_eq!(
            names,
            ["CN=signer,O=Test", "CN=between,O=Test", "CN=root,O=Test"]
        );
    }
    let without: &[&str] = &["between2.pem", "between3.pem", "root2.pem"];
    let bytes = response(&tsa, "signer", without);
    refused(
        &bytes,
        &root,
        &Options::default(),
        "issuer-signature",
        "without the right one",
    );
}

/// All roots of this machine can be read, even old ones.
#[test]
fn the_system_s_roots() {
    let Ok(bytes) = std::fs::read("/etc/ssl/certs/ca-certificates.crt") else {
        println!("skipped: no roots of the system are there");
        return;
    };
    assert!(Roots::parse(&bytes).expect("roots").anchors() > 10);
}
