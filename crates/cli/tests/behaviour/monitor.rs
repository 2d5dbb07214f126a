//! The monitor of signing: off by default, its state, its report.

use crate::world::{World, json};

const STATE: &str = "data/sealstone/monitor/state";

fn sign(world: &World, output: &str) -> String {
    let sign = ["sign", "-o", output, "--from", "alice.passport", "plan.txt"];
    let output = world.command(&sign).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

fn watched() -> World {
    let world = World::new();
    world.done(&["monitor", "on", "-q"]);
    world
}

#[test]
fn it_records_nothing_until_it_is_turned_on_and_nothing_stays_when_it_is_off() {
    let world = World::new();
    sign(&world, "one.package");
    assert!(!world.path("data/sealstone/monitor").exists());
    let said = world.refused(&["monitor", "report"], 2);
    assert!(said.contains("sealstone monitor on"), "{said}");
    world.done(&["monitor", "on", "-q"]);
    assert_eq!(world.mode(STATE), 0o600);
    sign(&world, "two.package");
    world.done(&["monitor", "off", "-q"]);
    assert!(!world.path(STATE).exists());
    sign(&world, "three.package");
    assert!(!world.path(STATE).exists());
}

#[test]
fn it_reports_operations_keys_and_repeated_payloads() {
    let world = watched();
    let first = sign(&world, "one.package");
    assert!(!first.contains("monitor noticed"), "{first}");
    let second = sign(&world, "two.package");
    assert!(
        second.contains("a payload that was there before"),
        "{second}"
    );
    let report = json(&world.done(&["monitor", "report", "--json"]));
    assert_eq!(report["operations"][0]["operation"], "sign");
    assert_eq!(report["operations"][0]["count"], 2);
    let size = world.read("plan.txt").len();
    assert_eq!(report["operations"][0]["size_bytes"]["last"][0], size);
    assert_eq!(report["repeated_payloads"], 1);
    assert_eq!(report["alarms"][0]["kind"], "repeated-payload");
    let hours = report["keys"][0]["uses_by_hour"].as_array().unwrap();
    assert_eq!(hours.iter().filter_map(|it| it.as_u64()).sum::<u64>(), 2);
    let shown = String::from_utf8(world.done(&["monitor", "report"])).unwrap();
    assert!(shown.contains("sign: 2 times"), "{shown}");
    world.done(&["monitor", "report", "-q", "--html", "report.html"]);
    let page = String::from_utf8(world.read("report.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("<svg"));
    assert!(!page.contains("http:") && !page.contains("https:") && !page.contains("<script"));
    world.refused(&["monitor", "report", "--html", "report.html"], 3);
}

#[test]
fn a_damaged_state_is_reported_and_kept_aside() {
    let world = watched();
    sign(&world, "one.package");
    let mut damaged = world.read(STATE);
    damaged[20] ^= 1;
    world.write(STATE, &damaged);
    let said = sign(&world, "two.package");
    assert!(
        said.contains("altered or damaged, and begins anew"),
        "{said}"
    );
    assert_eq!(world.read(&format!("{STATE}.damaged-1")), damaged);
    let report = json(&world.done(&["monitor", "report", "--json"]));
    assert_eq!(report["operations"][0]["count"], 1);
    // A state that is too long is damaged, too.
    world.write(STATE, &vec![0; 300_000]);
    let said = sign(&world, "three.package");
    assert!(said.contains("begins anew"), "{said}");
}

#[test]
fn of_signers_at_the_same_time_no_sample_is_lost() {
    let world = watched();
    let names: Vec<String> = (0..6).map(|number| format!("{number}.package")).collect();
    let signers: Vec<_> = names
        .iter()
        .map(|name| {
            let sign = [
                "sign",
                "-q",
                "--from",
                "alice.passport",
                "-o",
                name,
                "plan.txt",
            ];
            world.command(&sign).spawn().unwrap()
        })
        .collect();
    for mut signer in signers {
        assert!(signer.wait().unwrap().success());
    }
    let report = json(&world.done(&["monitor", "report", "--json"]));
    assert_eq!(report["operations"][0]["count"], 6);
    assert_eq!(report["repeated_payloads"], 5);
}
