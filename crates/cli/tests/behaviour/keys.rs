//! The lifecycle of the user's own keys, seen by the verbs that sign.

use crate::world::{World, json};

fn limited() -> World {
    let world = World::new();
    world.done(&["keys", "set", "-q", "alice.passport", "--max-uses", "1"]);
    world
}

fn sign(output: &str) -> [&str; 7] {
    [
        "sign",
        "-q",
        "--from",
        "alice.passport",
        "-o",
        output,
        "plan.txt",
    ]
}

#[test]
fn signing_uses_up_the_limit_and_then_is_refused() {
    let world = limited();
    world.done(&sign("one.package"));
    let said = world.refused(&sign("two.package"), 7);
    assert!(said.contains("all 1 uses of the key are used up"), "{said}");
    assert!(said.contains("sealstone keys set"), "{said}");
    assert!(!world.path("two.package").exists());
    let shown = json(&world.done(&["keys", "show", "--json", "alice.passport"]));
    assert_eq!((&shown["used"], &shown["left"]), (&1.into(), &0.into()));
    assert_eq!(shown["may_sign"], false);
    let history = shown["history"].as_array().unwrap();
    let [.., set, used] = &history[..] else {
        panic!("{history:?}")
    };
    assert_eq!(set["lifecycle"]["max_uses"], 1);
    assert_eq!(
        (&used["event"], &used["uses"]),
        (&"key used".into(), &1.into())
    );
}

#[test]
fn of_signers_that_race_for_the_last_use_one_gets_it() {
    let world = limited();
    let names: Vec<String> = (0..4).map(|number| format!("{number}.package")).collect();
    let started: Vec<_> = names
        .iter()
        .map(|name| world.command(&sign(name)).spawn().unwrap())
        .collect();
    let done: Vec<bool> = started
        .into_iter()
        .map(|mut signer| signer.wait().unwrap().success())
        .collect();
    assert_eq!(done.iter().filter(|done| **done).count(), 1);
    for (name, done) in names.iter().zip(done) {
        assert_eq!(world.path(name).exists(), done, "{name}");
    }
}

#[test]
fn an_altered_store_keeps_keys_from_signing() {
    let world = limited();
    let log = world.path("data/sealstone/trust/log");
    let mut bytes = std::fs::read(&log).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&log, bytes).unwrap();
    world.refused(&sign("one.package"), 8);
    assert!(!world.path("one.package").exists());
}

#[test]
fn without_limits_signing_writes_nothing_to_the_store() {
    let world = World::new();
    let log = world.read("data/sealstone/trust/log");
    world.done(&sign("one.package"));
    assert_eq!(world.read("data/sealstone/trust/log"), log);
}
