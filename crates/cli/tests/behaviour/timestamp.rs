//! `timestamp …`, with a local authority behind an HTTP server.

use std::process::Command;
use std::sync::Arc;

use sealstone_testing::tsa::Authority;
use serde_json::Value;

use crate::tsa_server::{Server, tls};
use crate::world::{World, json, refuse, succeed};

/// A world with `data`, and `roots.pem` and an authority.
fn world() -> Option<(World, Authority)> {
    let tsa = Authority::new()?;
    let world = World::empty();
    world.write("data", b"the data that existed");
    world.write("roots.pem", &tsa.read("root.pem"));
    Some((world, tsa))
}

const VERIFY: [&str; 7] = [
    "timestamp",
    "verify",
    "--response",
    "data.tsr",
    "--roots",
    "roots.pem",
    "data",
];

/// A fetch without retries, unless `more` asks for them.
fn fetch(world: &World, urls: &[String], more: &[&str]) -> Command {
    let mut args = vec!["timestamp", "fetch", "data", "-o", "data.tsr"];
    if !more.iter().any(|option| option.starts_with("--retries")) {
        args.push("--retries=0");
    }
    urls.iter().for_each(|url| args.extend(["--tsa", url]));
    world.command(&[&args[..], more].concat())
}

#[test]
fn offline_in_two_steps() {
    let Some((world, tsa)) = world() else { return };
    world.done(&["timestamp", "request", "data", "-o", "data.tsq"]);
    // The request is the one that OpenSSL makes of the same data.
    tsa.write("data.tsq", &world.read("data.tsq"));
    let text = tsa.openssl(&["ts", "-query", "-in", "data.tsq", "-text"]);
    let text = String::from_utf8_lossy(&text).into_owned();
    for line in [
        "Hash Algorithm: sha256",
        "Nonce: 0x",
        "Certificate required: yes",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let response = tsa.reply("signer", &["between.pem"], "tsa", &world.read("data.tsq"));
    world.write("data.tsr", &response);
    let shown = String::from_utf8(world.done(&VERIFY)).unwrap();
    assert!(shown.starts_with("good: the data existed at 20"), "{shown}");
    assert!(
        shown.contains("CN=signer,O=Test") && shown.contains("1.2.3.4.1"),
        "{shown}"
    );
    world.done(&[&VERIFY[..], &["--query", "data.tsq", "--valid-now"]].concat());
    let good = json(&world.done(&[&VERIFY[..], &["--json"]].concat()));
    assert_eq!(good["verdict"], "good");
    assert!(good["time"].as_u64().unwrap() > 1_700_000_000);
    // By its digest, and from standard input.
    let digest = tsa.openssl(&[
        "dgst",
        "-sha256",
        "-r",
        world.path("data").to_str().unwrap(),
    ]);
    let digest = String::from_utf8_lossy(&digest)[..64].to_owned();
    let by_digest = [&VERIFY[..6], &["--digest-hex", &digest]].concat();
    world.done(&by_digest);
    succeed(
        &mut world
            .bash("sealstone timestamp verify --response data.tsr --roots roots.pem - < data"),
    );
    // The data before the options, in the order of another checker.
    let [first, second, options @ .., data] = VERIFY;
    world.done(&[&[first, second, data][..], &options].concat());
}

/// The arguments of a verification.
fn with(response: &str, roots: &str, data: &[&str]) -> Vec<String> {
    let fixed = [
        "timestamp",
        "verify",
        "--response",
        response,
        "--roots",
        roots,
    ];
    let all = [&fixed[..], data].concat();
    all.iter().map(|arg| (*arg).to_owned()).collect()
}

/// Asserts the verdict as text and as JSON.
#[track_caller]
fn is_bad(world: &World, args: &[String], code: i32, reason: &str, sentence: &str) {
    let said = world.refused(args, code);
    assert!(
        said.starts_with("sealstone: bad: ") && said.contains(sentence),
        "{said}"
    );
    let output = world.command(args).arg("--json").output().unwrap();
    assert_eq!(output.status.code(), Some(code));
    let verdict: Value = json(&output.stdout);
    assert_eq!(verdict["verdict"], "bad");
    assert_eq!(verdict["reason"], reason);
    assert!(output.stderr.is_empty());
}

#[test]
fn bad_ones_are_told_apart() {
    let Some((world, tsa)) = world() else { return };
    world.done(&["timestamp", "request", "data", "-o", "data.tsq"]);
    let response = tsa.reply("signer", &["between.pem"], "tsa", &world.read("data.tsq"));
    world.write("data.tsr", &response);
    world.write("other", b"other data");
    tsa.key("stranger", "P-256");
    tsa.self_signed("stranger", sealstone_testing::tsa::ISSUER);
    world.write("stranger.pem", &tsa.read("stranger.pem"));
    world.write("text", b"no response");
    let mut broken = response;
    let last = broken.len() - 1;
    broken[last] ^= 1;
    world.write("broken.tsr", &broken);
    let zeros = "00".repeat(32);
    for (args, code, reason, sentence) in [
        (
            with("data.tsr", "roots.pem", &["other"]),
            5,
            "imprint",
            "over other data",
        ),
        (
            with("data.tsr", "stranger.pem", &["data"]),
            5,
            "no-path",
            "no path to a trusted root",
        ),
        (
            with("broken.tsr", "roots.pem", &["data"]),
            5,
            "signature",
            "signature of the timestamp",
        ),
        (
            with("text", "roots.pem", &["data"]),
            4,
            "malformed",
            "is malformed",
        ),
        (
            with("data.tsr", "roots.pem", &["--digest-hex", &zeros]),
            5,
            "imprint",
            "other data",
        ),
        (
            with("data.tsr", "roots.pem", &["--digest-hex", "0011"]),
            5,
            "imprint-length",
            "has 32 bytes, but this one has 2",
        ),
        (
            with("data.tsr", "roots.pem", &["data", "--policy", "1.2.3"]),
            5,
            "policy",
            "another policy, 1.2.3.4.1",
        ),
    ] {
        is_bad(&world, &args, code, reason, sentence);
    }
    // No roots are an error of the command, not a verdict.
    world.refused(&with("data.tsr", "data", &["data"]), 4);
    world.refused(&with("data.tsr", "nothing.pem", &["data"]), 3);
    world.refused(&with("nothing.tsr", "roots.pem", &["data"]), 3);
    world.refused(&with("data.tsr", "roots.pem", &[]), 2);
    world.refused(
        &with("data.tsr", "roots.pem", &["data", "--digest-hex", &zeros]),
        2,
    );
}

#[test]
fn the_first_address_that_answers() {
    let Some((world, tsa)) = world() else { return };
    let server = Server::start(tsa);
    for path in [
        "missing", "html", "big", "rejected", "other", "redirect", "busy",
    ] {
        let urls = [server.url(path), server.url("good")];
        let _ = std::fs::remove_file(world.path("data.tsr"));
        let output = fetch(&world, &urls, &["--roots", "roots.pem"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{path}: {said}");
        let expected = match path {
            "missing" => "404",
            "html" => "its type is text/html",
            "big" => "longer than 1048576 bytes",
            "rejected" => "did not grant the request",
            "other" => "its nonce is another",
            "redirect" => "a redirect to /good",
            _ => "503",
        };
        assert!(
            said.contains(expected) && said.contains(&urls[0]),
            "{path}: {said}"
        );
        world.done(&VERIFY);
    }
}

#[test]
fn patience() {
    let Some((world, tsa)) = world() else { return };
    let server = Server::start(tsa);
    // No server listens there.
    let closed = "http://127.0.0.1:1/".to_owned();
    let said = refuse(&mut fetch(&world, std::slice::from_ref(&closed), &[]), 3);
    assert!(
        said.contains("refused") && said.contains("gave no timestamp"),
        "{said}"
    );
    // Slower than the timeout.
    let started = std::time::Instant::now();
    let said = refuse(
        &mut fetch(&world, &[server.url("slow")], &["--timeout=1"]),
        3,
    );
    assert!(said.contains("no answer in time"), "{said}");
    assert!(started.elapsed().as_secs() < 8);
    // Overloaded twice, then ready.
    assert_eq!(server.count("busy-twice"), 0);
    succeed(&mut fetch(
        &world,
        &[server.url("busy-twice")],
        &["--retries=2"],
    ));
    assert_eq!(server.count("busy-twice"), 3);
    // Errors of the client are not retried.
    refuse(
        &mut fetch(
            &world,
            &[server.url("missing")],
            &["--retries=2", "--force"],
        ),
        3,
    );
    assert_eq!(server.count("missing"), 1);
    for wrong in ["ftp://127.0.0.1/", "nonsense", ""] {
        refuse(&mut fetch(&world, &[wrong.to_owned()], &["--force"]), 3);
    }
}

/// With roots, the answer of an unknown authority is refused. Without roots, it is kept with a
/// warning.
#[test]
fn answer_of_an_unknown_authority() {
    let Some((world, tsa)) = world() else { return };
    let stranger = Authority::new().expect("openssl is there");
    world.write("other.pem", &stranger.read("root.pem"));
    let server = Server::start(tsa);
    let said = refuse(
        &mut fetch(&world, &[server.url("good")], &["--roots", "other.pem"]),
        3,
    );
    assert!(
        said.contains("certificate of CN=between,O=Test is wrong"),
        "{said}"
    );
    assert!(!world.path("data.tsr").exists());
    let output = fetch(&world, &[server.url("good")], &[]).output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("was not verified: give --roots"));
    world.done(&VERIFY);
}

#[test]
fn through_a_proxy() {
    let Some((world, tsa)) = world() else { return };
    let server = Server::start(tsa);
    // Only the proxy can resolve this name.
    let url = ["http://tsa.invalid/good".to_owned()];
    let mut command = fetch(&world, &url, &["--roots", "roots.pem"]);
    succeed(command.env("http_proxy", server.url("")));
    world.done(&VERIFY);
    let mut command = fetch(&world, &url, &["--force"]);
    refuse(
        command
            .env("http_proxy", server.url(""))
            .env("no_proxy", "tsa.invalid"),
        3,
    );
}

/// TLS, against `openssl s_server`: a certificate of the system's roots, or none.
#[test]
fn by_https() {
    let Some((world, tsa)) = world() else { return };
    let san = "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth";
    tsa.issue("web", "P-256", "root", san);
    let roots = tsa.path("root.pem");
    let tsa = Arc::new(tsa);
    let url = tls(Arc::clone(&tsa));
    // The server may not listen yet.
    let options = ["--roots", "roots.pem", "--retries=4"];
    let mut command = fetch(&world, &[url], &options);
    succeed(command.env("SSL_CERT_FILE", &roots));
    world.done(&VERIFY);
    // The same authority, which the system does not trust.
    world.write("empty.pem", b"");
    let url = tls(tsa);
    let mut command = fetch(&world, &[url], &["--force", "--retries=4"]);
    let said = refuse(command.env("SSL_CERT_FILE", world.path("empty.pem")), 3);
    assert!(said.to_lowercase().contains("certificate"), "{said}");
}

#[test]
fn a_chain_of_renewals() {
    let Some((world, tsa)) = world() else { return };
    let server = Server::start(tsa);
    succeed(&mut fetch(
        &world,
        &[server.url("good")],
        &["--roots", "roots.pem"],
    ));
    let url = server.url("good");
    let common = [
        "timestamp",
        "renew",
        "data",
        "--roots",
        "roots.pem",
        "--tsa",
        &url,
    ];
    let first = ["--response", "data.tsr"];
    let second = ["--response", "second.tsr"];
    world.done(&[&common[..], &first, &["-o", "second.tsr"]].concat());
    let sha512 = ["--hash", "sha512", "-o", "third.tsr"];
    world.done(&[&common[..], &first, &second, &sha512].concat());
    let all = [&VERIFY[..], &second, &["--response", "third.tsr"]].concat();
    let shown = String::from_utf8(world.done(&all)).unwrap();
    assert_eq!(shown.matches("renewed").count(), 2, "{shown}");
    let verdict = json(&world.done(&[&all[..], &["--json"]].concat()));
    assert_eq!(verdict["timestamps"].as_array().unwrap().len(), 3);
    assert_eq!(verdict["time"], verdict["timestamps"][0]["time"]);
    // One response is missing.
    let said = world.refused(&[&VERIFY[..], &["--response", "third.tsr"]].concat(), 5);
    assert!(
        said.contains("renewal 1: the timestamp is over other data"),
        "{said}"
    );
    // The request of a renewal, offline.
    let request = [
        "timestamp",
        "request",
        "data",
        "--renew",
        "data.tsr",
        "-o",
        "again.tsq",
    ];
    world.done(&request);
    let query = ["--query", "again.tsq", "--tsa", &url, "-o", "again.tsr"];
    world.done(&[&["timestamp", "fetch"][..], &query].concat());
    world.done(
        &[
            &VERIFY[..],
            &["--response", "again.tsr", "--query", "again.tsq"],
        ]
        .concat(),
    );
    // A chain over other data is not renewed.
    world.write("other", b"other data");
    let mut other = common;
    other[2] = "other";
    world.refused(&[&other[..], &first, &["-o", "no.tsr"]].concat(), 5);
}

/// The verdict of layer 6 of `plan.package`.
fn layer(world: &World) -> Value {
    let args = [
        "verify",
        "--signer",
        "alice.pub",
        "--roots",
        "roots.pem",
        "--json",
    ];
    let mut command = world.command(&[&args[..], &["plan.package"]].concat());
    let output = command.output().unwrap();
    json(&output.stdout)["layers"]["timestamp"]["verdict"].clone()
}

#[test]
fn packages_are_stamped_and_renewed() {
    let Some(tsa) = Authority::new() else { return };
    let world = World::new();
    world.write("roots.pem", &tsa.read("root.pem"));
    let server = Server::start(tsa);
    world.done(&[
        "sign",
        "-q",
        "--from",
        "alice.passport",
        "-o",
        "plan.package",
        "plan.txt",
    ]);
    assert_eq!(layer(&world), "absent");
    let attach = |path: &str| -> Vec<String> {
        let url = server.url(path);
        let args = [
            "timestamp",
            "attach",
            "plan.package",
            "--roots",
            "roots.pem",
            "--json",
        ];
        [&args[..], &["--tsa", &url]]
            .concat()
            .iter()
            .map(|arg| (*arg).to_owned())
            .collect()
    };
    let before = world.read("plan.package");
    world.refused(&attach("rejected"), 3);
    world.refused(&attach("other"), 3);
    assert_eq!(world.read("plan.package"), before);
    for count in 1..=2 {
        let done = json(&world.done(&attach("good")));
        assert_eq!(done["timestamps"], count);
        assert_eq!(layer(&world), "good");
    }
}
