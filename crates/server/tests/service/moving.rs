//! Backups of a running service, restores, and moves between stores.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use sealstone_server::client::Client;
use sealstone_server::store::{INCOMING, PASSPORT, RedbStore, Replace, Store};
use sealstone_token::privacypass::{Pending, Token, TokenType};
use serde_json::Value;

use crate::world::{Service, World, now, redeem};

/// Runs the program to its end. Returns its output, or its messages as the error.
pub(crate) fn run(arguments: &[&str]) -> Result<Value, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealstone-server"));
    let done = command.args(arguments).output().expect("a program");
    match done.status.success() {
        true => Ok(serde_json::from_slice(&done.stdout).expect("JSON")),
        false => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
    }
}

/// The same when the store is free again: a store of this process closes shortly after it was
/// dropped.
fn run_when_free(arguments: &[&str]) -> Result<Value, String> {
    for _ in 0..200 {
        match run(arguments) {
            Err(error) if error.contains("another process uses") => {}
            done => return done,
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("the store is never free");
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Tokens for a verifier. Each request asks for the largest number.
fn tokens(issuer: &Service, verifier: &Service, count: usize) -> Vec<Token> {
    let client = Client::new(issuer.url());
    let offer = client.challenge(&format!("{}/verify", verifier.url()));
    let offer = offer.expect("a challenge");
    let key = client.key(&offer.challenge, now()).expect("a key");
    assert_eq!(key.token_type(), TokenType::BlindRsa2048);
    let one = || {
        let (pending, request) = Pending::one(&key, &offer.challenge).expect("a request");
        let media_type = "application/private-token-request";
        let response = client.issue(media_type, &request, 1).expect("a response");
        pending.finalize(&response).expect("a token").remove(0)
    };
    (0..count).map(|_| one()).collect()
}

fn place(world: &World, name: &str) -> String {
    text(&world.path(name))
}

/// A verifier in its directory, with an issuer whose gate is open.
struct Pair {
    world: World,
    issuer: Service,
    verifier: Service,
}

impl Pair {
    fn new() -> Self {
        let world = World::with_rsa();
        let issuer = world.issuer(&["--gate", "none"]);
        let verifier = world.verifier(issuer.url(), &[]);
        Self {
            world,
            issuer,
            verifier,
        }
    }
}

#[test]
fn a_restored_store_forgets_no_spend_of_before() {
    let pair = Pair::new();
    let tokens = tokens(&pair.issuer, &pair.verifier, 40);
    let (first, rest) = tokens.split_at(10);
    for token in first {
        assert_eq!(redeem(pair.verifier.url(), token).0, 200);
    }
    // Spends continue during the backup.
    let (stop, data, file) = (
        AtomicBool::new(false),
        place(&pair.world, "verifier"),
        place(&pair.world, "b"),
    );
    let url = pair.verifier.url();
    let (spent, report) = std::thread::scope(|scope| {
        let spending = scope.spawn(|| {
            let next = rest.iter().take_while(|_| !stop.load(Ordering::Relaxed));
            next.map(|token| (redeem(url, token).0, now()))
                .collect::<Vec<_>>()
        });
        let report = run(&["backup", "--data", &data, "--to", &file]).expect("a backup");
        stop.store(true, Ordering::Relaxed);
        (spending.join().expect("a thread"), report)
    });
    assert!(spent.iter().all(|(status, _)| *status == 200), "{spent:?}");
    let ended = report["ended"].as_u64().expect("a time");
    // An answer of the same second may be after the end.
    let before = spent.iter().filter(|(_, time)| *time < ended).count();
    let listen = pair.verifier.address().to_owned();
    let again = run(&["backup", "--data", &data, "--to", &file]).expect_err("the file is there");
    assert!(again.contains("exists"), "{again}");
    drop(pair.verifier);

    let elsewhere = pair.world.path("elsewhere");
    let restore = ["restore", "--from", &file, "--data", &text(&elsewhere)];
    let report = run(&restore).expect("a restore");
    assert!(
        report["meaning"]
            .as_str()
            .expect("words")
            .contains("revoke-keys")
    );
    let again = run(&restore).expect_err("it is not empty any more");
    assert!(again.contains("is not empty"), "{again}");
    let restored = Service::start(&[
        "verifier",
        "--data",
        &text(&elsewhere),
        "--issuer",
        pair.issuer.url(),
        "--listen",
        &listen,
    ]);
    for token in first.iter().chain(&rest[..before]) {
        assert_eq!(redeem(restored.url(), token), (401, "spent".to_owned()));
    }
    let unspent = &rest[spent.len()..];
    assert!(
        unspent
            .iter()
            .all(|token| redeem(restored.url(), token).0 == 200)
    );
}

#[test]
fn an_issuer_is_restored_with_its_keys() {
    let pair = Pair::new();
    let token = tokens(&pair.issuer, &pair.verifier, 1).remove(0);
    let (data, file) = (place(&pair.world, "issuer"), place(&pair.world, "b"));
    run(&["backup", "--data", &data, "--to", &file]).expect("a backup");
    let before = pair.issuer.ready["fingerprint"].clone();
    let listen = pair.issuer.address().to_owned();
    assert_eq!(pair.issuer.stop(), Some(0));
    // The service does not run: the same command reads the store.
    let second = place(&pair.world, "b2");
    run(&["backup", "--data", &data, "--to", &second]).expect("a backup");
    let elsewhere = place(&pair.world, "elsewhere");
    run(&["restore", "--from", &second, "--data", &elsewhere]).expect("a restore");
    let passphrase = text(&pair.world.path("issuer").join("service.passphrase"));
    let config = place(&pair.world, "elsewhere.toml");
    std::fs::write(
        &config,
        format!("[passport]\npassphrase-file = \"{passphrase}\"\n"),
    )
    .expect("a file");
    let restored = Service::start(&[
        "issuer", "--data", &elsewhere, "--config", &config, "--gate", "none", "--listen", &listen,
    ]);
    assert_eq!(restored.ready["fingerprint"], before);
    assert_eq!(redeem(pair.verifier.url(), &token).0, 200);
    let client = Client::new(restored.url());
    let offer = client.challenge(&format!("{}/verify", pair.verifier.url()));
    let more = client
        .token(&offer.expect("a challenge").challenge, now())
        .expect("a token");
    assert_eq!(
        redeem(pair.verifier.url(), &more).0,
        200,
        "the verifier knows the key"
    );
}

#[test]
fn a_backup_that_is_not_whole_restores_nothing() {
    let pair = Pair::new();
    let token = tokens(&pair.issuer, &pair.verifier, 1).remove(0);
    assert_eq!(redeem(pair.verifier.url(), &token).0, 200);
    let (data, file) = (place(&pair.world, "verifier"), place(&pair.world, "b"));
    run(&["backup", "--data", &data, "--to", &file]).expect("a backup");
    let whole = std::fs::read(&file).expect("a file");
    for (name, bytes) in [
        ("cut", whole[..whole.len() - 40].to_vec()),
        ("empty", Vec::new()),
        ("other", b"something else that is long enough".to_vec()),
    ] {
        let bad = place(&pair.world, name);
        std::fs::write(&bad, bytes).expect("a file");
        let target = place(&pair.world, &format!("to-{name}"));
        let error = run(&["restore", "--from", &bad, "--data", &target]).expect_err(name);
        assert!(error.contains("backup cannot be used"), "{error}");
        assert!(!Path::new(&target).exists(), "{name} made a directory");
    }
}

#[test]
fn nothing_is_made_of_a_store_that_is_not_there() {
    let world = World::new();
    let (from, to) = (place(&world, "from.toml"), place(&world, "to.toml"));
    let (missing, new) = (place(&world, "missing"), place(&world, "new"));
    std::fs::write(&from, format!("data = \"{missing}\"\n")).expect("a file");
    std::fs::write(&to, format!("data = \"{new}\"\n")).expect("a file");
    let error = run(&["migrate", "verifier", "--from", &from, "--to", &to]);
    let error = error.expect_err("no store");
    assert!(error.contains("missing/store.redb"), "{error}");
    assert!(!Path::new(&missing).exists());
}

/// A store with only a passport counts as used.
#[test]
fn a_store_with_a_passport_is_not_empty() {
    let pair = Pair::new();
    let (data, file) = (place(&pair.world, "verifier"), place(&pair.world, "b"));
    run(&["backup", "--data", &data, "--to", &file]).expect("a backup");
    let kept = std::fs::read(&file).expect("a file");
    let error = run(&["backup", "--data", &data, "--to", &file]).expect_err("a file is there");
    assert!(error.contains("exists"), "{error}");
    assert_eq!(std::fs::read(&file).expect("a file"), kept);
    let target = pair.world.path("target");
    std::fs::create_dir(&target).expect("a directory");
    let store = RedbStore::open(&target.join("store.redb")).expect("a store");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let record = Replace::create(PASSPORT, b"of another service".to_vec());
    let made = runtime.block_on(store.update(vec![record]));
    assert!(made.expect("a store"));
    drop(store);
    let error = run_when_free(&["restore", "--from", &file, "--data", &text(&target)]);
    let error = error.expect_err("another service's store");
    assert!(error.contains("is not empty"), "{error}");
}

/// An interrupted move continues only with the same passport.
#[test]
fn a_move_does_not_mix_passports() {
    let pair = Pair::new();
    assert_eq!(pair.issuer.stop(), Some(0));
    let (from, to) = (
        place(&pair.world, "from.toml"),
        place(&pair.world, "to.toml"),
    );
    let (old, new) = (place(&pair.world, "issuer"), pair.world.path("new"));
    std::fs::write(&from, format!("data = \"{old}\"\n")).expect("a file");
    std::fs::write(&to, format!("data = \"{}\"\n", text(&new))).expect("a file");
    std::fs::create_dir(&new).expect("a directory");
    let store = RedbStore::open(&new.join("store.redb")).expect("a store");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let begun = format!("the move from redb {old}/store.redb");
    let records = vec![
        Replace::create(INCOMING, begun.into_bytes()),
        Replace::create(PASSPORT, b"of another service".to_vec()),
    ];
    assert!(runtime.block_on(store.update(records)).expect("a store"));
    drop(store);
    let error = run_when_free(&["migrate", "issuer", "--from", &from, "--to", &to]);
    let error = error.expect_err("two passports");
    assert!(error.contains("the passport"), "{error}");
}

#[test]
fn a_store_that_moved_serves_no_more() {
    let pair = Pair::new();
    let tokens = tokens(&pair.issuer, &pair.verifier, 4);
    assert_eq!(redeem(pair.verifier.url(), &tokens[0]).0, 200);
    let listen = pair.verifier.address().to_owned();
    let (from, to) = (
        place(&pair.world, "from.toml"),
        place(&pair.world, "to.toml"),
    );
    let (old, new) = (place(&pair.world, "verifier"), place(&pair.world, "new"));
    std::fs::write(&from, format!("data = \"{old}\"\n")).expect("a file");
    std::fs::write(&to, format!("data = \"{new}\"\n")).expect("a file");
    let migrate = ["migrate", "verifier", "--from", &from, "--to", &to];
    let running = run(&migrate).expect_err("the service runs");
    assert!(running.contains("another process uses"), "{running}");
    assert_eq!(pair.verifier.stop(), Some(0));
    let other = run(&["migrate", "issuer", "--from", &from, "--to", &to]);
    let other = other.expect_err("a verifier's store");
    assert!(other.contains("verifier"), "{other}");
    let same = run(&["migrate", "verifier", "--from", &from, "--to", &from]);
    assert!(same.expect_err("the same store").contains("same store"));
    let report = run(&migrate).expect("a move");
    assert_eq!(report["spent"], 1);
    let meaning = report["meaning"].as_str().expect("what is left to do");
    assert!(meaning.contains("trust"), "{meaning}");
    let refused = pair
        .world
        .try_verifier(pair.issuer.url(), &["--listen", &listen]);
    let refused = refused.err().expect("the old store");
    assert!(refused.contains("moved to"), "{refused}");
    let again = run(&migrate).expect_err("the new store has content");
    assert!(again.contains("is not empty"), "{again}");
    let give_up = [&migrate[..], &["--give-up"]].concat();
    let over = run(&give_up).expect_err("a move that ended");
    assert!(over.contains("no such move"), "{over}");
    let (third, elsewhere) = (
        place(&pair.world, "third.toml"),
        place(&pair.world, "third"),
    );
    std::fs::write(&third, format!("data = \"{elsewhere}\"\n")).expect("a file");
    let twice = run(&["migrate", "verifier", "--from", &from, "--to", &third]);
    let twice = twice.expect_err("two new stores would both have the tokens");
    assert!(twice.contains("moved to"), "{twice}");
    let moved = Service::start(&[
        "verifier",
        "--data",
        &new,
        "--issuer",
        pair.issuer.url(),
        "--listen",
        &listen,
    ]);
    assert_eq!(redeem(moved.url(), &tokens[0]), (401, "spent".to_owned()));
    assert_eq!(redeem(moved.url(), &tokens[1]).0, 200);
}
