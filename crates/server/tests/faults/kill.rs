//! kill -9 of a verifier under load.

use crate::load::Load;
use crate::victim::{Process, Victim};

/// Kills the verifier `kills` times, and checks the history of the clients. Returns the number of
/// accepted tokens.
fn campaign(victim: Victim, kills: usize) -> Result<usize, String> {
    let directory = tempfile::tempdir().expect("a directory");
    let (issuing, verifying) = (directory.path().join("i"), directory.path().join("v"));
    let issuing = issuing.display().to_string();
    let none = [
        "issuer",
        "--data",
        &issuing,
        "--listen",
        "127.0.0.1:0",
        "--gate",
        "none",
    ];
    let issuer = Process::start(&none);
    let mut verifier = victim.start(&verifying, issuer.url(), "127.0.0.1:0");
    let listen = verifier.address().to_owned();
    let mut load = Load::new(&issuer, &verifier);
    for kill in 0..kills {
        load.fetch();
        let running = load.start();
        // At another moment each time, with some tokens spent and others in progress.
        running.wait_for(5 + kill * 13 % 90);
        drop(verifier);
        verifier = victim.start(&verifying, issuer.url(), &listen);
        running.stop();
    }
    load.check()
}

#[test]
fn kills_lose_nothing() {
    let accepted = campaign(Victim::Program, 5).expect("a right history");
    assert!(
        accepted > 100,
        "{accepted} tokens were accepted: the load is too small"
    );
}

#[test]
#[ignore = "a campaign of some minutes: 60 kills"]
fn sixty_kills_lose_nothing() {
    let accepted = campaign(Victim::Program, 60).expect("a right history");
    assert!(
        accepted > 1000,
        "{accepted} tokens were accepted: the load is too small"
    );
    println!("60 kills, {accepted} tokens accepted once");
}

/// The checker notices the planted fault.
#[test]
fn a_verifier_that_answers_early_is_caught() {
    let error = campaign(Victim::Early, 3).expect_err("lost tokens");
    assert!(error.contains("accepted twice"), "{error}");
}
