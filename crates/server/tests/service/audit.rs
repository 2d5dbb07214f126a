//! The audit log: complete, intact, and without secrets. No other log has secrets either.

use std::path::Path;
use std::process::{Command, Stdio};

use redb::{Database, ReadableDatabase, TableDefinition};
use sealstone_server::client::Client;
use serde_json::{Value, json};

use crate::world::{Service, World, get, post};

const RECORDS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("records");

fn run(arguments: &[&str]) -> (bool, String) {
    let program = env!("CARGO_BIN_EXE_sealstone-server");
    let done = Command::new(program)
        .args(arguments)
        .output()
        .expect("a program");
    let said = if done.status.success() {
        done.stdout
    } else {
        done.stderr
    };
    (
        done.status.success(),
        String::from_utf8(said).expect("text"),
    )
}

fn admin(data: &str, arguments: &[&str]) -> Value {
    let all = [&["admin"], arguments, &["--data", data]].concat();
    let (is_good, said) = run(&all);
    assert!(is_good, "{arguments:?}: {said}");
    serde_json::from_str(&said).expect("JSON")
}

fn verify(data: &str, more: &[&str]) -> (bool, String) {
    run(&[&["audit", "verify", "--data", data], more].concat())
}

/// The end of a log that `verify` finds intact.
fn end(data: &str) -> String {
    let (is_good, said) = verify(data, &[]);
    assert!(is_good, "{said}");
    said.trim()
        .strip_prefix("whole, up to ")
        .expect("an end")
        .to_owned()
}

/// An issuer with a gate for invitations, after some actions.
fn after_some_actions(world: &World) -> (Service, String) {
    let issuer = world.configured(
        "[issuer]\ngate = \"friends\"\n[gates.friends]\nkind = \"invitation\"\n[keys]\ntypes = [5]",
    );
    let data = world.path("issuer").display().to_string();
    admin(&data, &["invite", "--gate", "friends", "--quota", "3"]);
    admin(&data, &["rotate-keys"]);
    admin(&data, &["revoke-keys"]);
    (issuer, data)
}

#[test]
fn actions_are_logged_in_order() {
    let world = World::with_rsa();
    let (issuer, data) = after_some_actions(&world);
    let entries = admin(&data, &["audit"])["entries"].clone();
    let entries = entries.as_array().expect("entries");
    let did: Vec<&str> = entries
        .iter()
        .filter_map(|entry| entry["did"].as_str())
        .collect();
    assert_eq!(did, ["keys-revoked", "keys-rotated", "invited", "started"]);
    let noted = end(&data);
    assert!(noted.starts_with("4:"), "{noted}");
    issuer.stop();
    assert_eq!(end(&data), noted, "without the service");
    let (is_good, said) = verify(&data, &["--expect", &noted]);
    assert!(is_good, "{said}");
    let other = format!("4:{}", "0".repeat(64));
    let (is_good, said) = verify(&data, &["--expect", &other]);
    assert!(!is_good && said.contains("never had the end"), "{said}");
}

/// Changes a record without the service.
fn alter(data: &str, change: impl FnOnce(&mut Vec<(String, Option<Vec<u8>>)>)) {
    let path = Path::new(data).join("store.redb");
    let database = Database::open(path).expect("a database");
    let mut records = Vec::new();
    {
        let read = database.begin_read().expect("a transaction");
        let table = read.open_table(RECORDS).expect("records");
        for entry in table.range("audit/".."log/b").expect("records") {
            let (name, value) = entry.expect("a record");
            records.push((name.value().to_owned(), Some(value.value().to_vec())));
        }
    }
    records.retain(|(name, _)| name.contains("audit/"));
    change(&mut records);
    let write = database.begin_write().expect("a transaction");
    {
        let mut table = write.open_table(RECORDS).expect("records");
        for (name, value) in records {
            match value {
                Some(value) => drop(table.insert(name.as_str(), value.as_slice()).expect("room")),
                None => drop(table.remove(name.as_str()).expect("room")),
            }
        }
    }
    write.commit().expect("a commit");
}

#[test]
fn planted_alterations_are_caught() {
    type Change = fn(&mut Vec<(String, Option<Vec<u8>>)>);
    // audit/head, then four entries.
    let changes: [(&str, Change); 6] = [
        ("an entry that was altered", |records| {
            let text = String::from_utf8(records[2].1.take().expect("an entry")).expect("text");
            assert!(text.contains("\"quota\":3"));
            records[2].1 = Some(text.replace("\"quota\":3", "\"quota\":9").into_bytes());
        }),
        ("the last entry, altered", |records| {
            let text = String::from_utf8(records[4].1.take().expect("an entry")).expect("text");
            records[4].1 = Some(text.replace("\"local\"", "\"ada\"").into_bytes());
        }),
        ("an entry that was removed", |records| records[3].1 = None),
        ("the last entry, removed", |records| records[4].1 = None),
        ("the end, removed", |records| records[0].1 = None),
        ("two entries that changed places", |records| {
            let second = records[2].1.take();
            records[2].1 = records[3].1.replace(second.expect("an entry"));
        }),
    ];
    for (what, change) in changes {
        let world = World::with_rsa();
        let (issuer, data) = after_some_actions(&world);
        issuer.stop();
        let noted = end(&data);
        alter(&data, |_| {});
        assert_eq!(end(&data), noted, "nothing was altered");
        alter(&data, change);
        let (is_good, said) = verify(&data, &[]);
        assert!(!is_good && said.contains("audit log"), "{what}: {said}");
    }
}

/// A log that is consistent, but not the earlier log.
#[test]
fn a_shortened_log_is_caught_by_a_noted_end() {
    let world = World::with_rsa();
    let (issuer, data) = after_some_actions(&world);
    issuer.stop();
    let noted = end(&data);
    alter(&data, |records| {
        let last: Value =
            serde_json::from_slice(records[4].1.as_ref().expect("an entry")).expect("JSON");
        let head = format!("3:{}", last["previous"].as_str().expect("a digest"));
        records[0].1 = Some(head.into_bytes());
        records[4].1 = None;
    });
    assert!(end(&data).starts_with("3:"));
    let (is_good, said) = verify(&data, &["--expect", &noted]);
    assert!(!is_good && said.contains("never had the end"), "{said}");
}

/// The secrets that occur in the text.
fn leaks<'s>(text: &str, secrets: &'s [String]) -> Vec<&'s str> {
    let found = secrets
        .iter()
        .filter(|secret| text.contains(secret.as_str()));
    found.map(String::as_str).collect()
}

/// Secrets of a run that no log may hold.
fn secrets_of_a_run(world: &World, issuer: &Service, data: &str) -> Vec<String> {
    let (password, wrong) = ("a password of six words", "not the right password");
    let password_file = world.path("password");
    std::fs::write(&password_file, password).expect("a file");
    let password_file = password_file.display().to_string();
    let set = [
        "set-operator",
        "ada",
        "--role",
        "admin",
        "--password-file",
        &password_file,
    ];
    admin(data, &set);
    let cookie = log_in(issuer, "ada", password).expect("a cookie");
    assert_eq!(log_in(issuer, "ada", wrong), None);
    let invitation = admin(data, &["invite", "--gate", "friends", "--quota", "9"]);
    let invitation = invitation["invitation"]
        .as_str()
        .expect("an invitation")
        .to_owned();
    let proof = format!("friends {invitation}");
    let url = issuer.url();
    let client = Client::new(url).with_proof(&proof);
    let offer = client
        .challenge(&format!("{url}/verify"))
        .expect("a challenge");
    let token = client
        .token(&offer.challenge, crate::world::now())
        .expect("a token");
    let header = sealstone_token::privacypass::header::authorization(&token);
    assert_eq!(crate::world::redeem(url, &token).0, 200);
    assert_eq!(crate::world::redeem(url, &token).0, 401);
    let divide = json!({"invitation": invitation, "quota": 1, "until": crate::world::now() + 99});
    let divided = post(&format!("{url}/v1/invitations"), &divide).1;
    let divided = divided["invitation"]
        .as_str()
        .expect("an invitation")
        .to_owned();
    post(
        &format!("{url}/v1/issue"),
        &json!({"request": "AA", "proofs": [proof]}),
    );
    get(&format!("{url}/a-path-of-a-client"));
    let passphrase = std::fs::read_to_string(Path::new(data).join("service.passphrase"));
    let hex = |bytes: &[u8]| {
        bytes
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    vec![
        password.to_owned(),
        wrong.to_owned(),
        cookie,
        invitation,
        divided,
        header.split('"').nth(1).expect("a token")[..64].to_owned(),
        hex(&token.encode()[2..34]),
        hex(&token.nullifier()),
        passphrase.expect("a passphrase").trim().to_owned(),
        "a-path-of-a-client".to_owned(),
    ]
}

/// Searches all secrets of a run in all its readable output: standard error at the level `trace`,
/// status, audit log.
#[test]
fn no_log_of_a_run_holds_a_secret() {
    let world = World::with_rsa();
    let config = "[log]\nlevel = \"trace\"\n[issuer]\ngate = \"friends\"\nverify = true\n\
        [gates.friends]\nkind = \"invitation\"\n[keys]\ntypes = [5]\n";
    let file = world.path("config.toml");
    std::fs::write(&file, config).expect("a file");
    let data = world.path("issuer").display().to_string();
    let errors = world.path("errors");
    let kept = std::fs::File::create(&errors).expect("a file");
    let arguments = [
        "issuer",
        "--data",
        &data,
        "--listen",
        "127.0.0.1:0",
        "--config",
    ];
    let arguments = [&arguments[..], &[file.to_str().expect("text")]].concat();
    let issuer = Service::start_with_errors(&arguments, Stdio::from(kept));
    let secrets = secrets_of_a_run(&world, &issuer, &data);
    let status = admin(&data, &["status"]).to_string();
    let audit = admin(&data, &["audit"]).to_string();
    issuer.stop();
    let written = std::fs::read_to_string(&errors).expect("text");
    assert!(!written.is_empty(), "the level is trace");
    for (what, text) in [("errors", &written), ("status", &status), ("audit", &audit)] {
        assert_eq!(leaks(text, &secrets), Vec::<&str>::new(), "{what}");
    }
    let planted = format!("{written}\nINFO a request with Cookie: x={}", secrets[2]);
    assert_eq!(
        leaks(&planted, &secrets),
        [secrets[2].as_str()],
        "a planted leak is caught"
    );
}

/// The value of the session's cookie.
fn log_in(service: &Service, name: &str, password: &str) -> Option<String> {
    use std::io::{Read, Write};
    let url = service.ready["admin"].as_str().expect("a URL");
    let host = url.strip_prefix("http://").expect("a URL");
    let body = json!({"name": name, "password": password}).to_string();
    let mut stream = std::net::TcpStream::connect(host).expect("a connection");
    let head = format!(
        "POST /api/login HTTP/1.1\r\nhost: {host}\r\norigin: {url}\r\nsealstone-admin: 1\r\n\
         content-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let line = answer
        .lines()
        .find_map(|line| line.strip_prefix("set-cookie: "))?;
    let pair = line.split(';').next()?;
    Some(pair.split_once('=')?.1.to_owned())
}
