//! The operators' page.

use std::process::Command;

use serde_json::Value;

use crate::world::{World, get, mode_of};

fn run(arguments: &[&str]) -> (bool, String) {
    let done = Command::new(env!("CARGO_BIN_EXE_sealstone-server"))
        .args(arguments)
        .output();
    let done = done.expect("a program");
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

#[test]
fn the_status_names_keys_and_sets() {
    let world = World::new();
    let issuer = world.issuer(&["--gate", "none"]);
    let data = world.path("issuer").display().to_string();
    let (is_good, said) = run(&["admin", "status", "--data", &data]);
    assert!(is_good, "{said}");
    let status: Value = serde_json::from_str(&said).expect("JSON");
    assert!(
        status["keys"]
            .as_array()
            .is_some_and(|keys| keys.len() >= 2)
    );
    assert_eq!(
        mode_of(&world.path("issuer")),
        0o700,
        "the socket is the owner's"
    );
    drop(issuer);
    let (is_good, said) = run(&["admin", "status", "--data", &data]);
    assert!(!is_good && said.contains("admin.sock"), "{said}");
}

#[test]
fn the_command_looks_after_operators() {
    let world = World::new();
    let issuer = world.issuer(&["--gate", "none"]);
    let data = world.path("issuer").display().to_string();
    let password = world.path("password");
    std::fs::write(&password, "a password of six words").expect("a file");
    let password = password.display().to_string();
    let set = ["set-operator", "ann", "--role", "viewer"];
    for (arguments, part) in [
        (
            &[&set[..], &["--password-file", &password]].concat()[..],
            "",
        ),
        (&["operators"], "\"ann\""),
        (&["end-sessions", "ann"], "\"ended\": true"),
        (&["audit"], "sessions-ended"),
        (&["remove-operator", "ann"], ""),
    ] {
        let (is_good, said) = run(&[&["admin"], arguments, &["--data", &data]].concat());
        assert!(is_good && said.contains(part), "{arguments:?}: {said}");
    }
    let (is_good, said) = run(&["admin", "end-sessions", "ann", "--data", &data]);
    assert!(!is_good, "nobody has this name any more: {said}");
    drop(issuer);
}

/// Tokens of the previous epoch and of the new one are accepted.
#[test]
fn a_rotation_begins_an_epoch_and_loses_no_token() {
    let world = World::new();
    let issuer = world.configured("[issuer]\ngate = \"none\"\nverify = true");
    let data = world.path("issuer").display().to_string();
    let status = || -> Value {
        let (is_good, said) = run(&["admin", "status", "--data", &data]);
        assert!(is_good, "{said}");
        serde_json::from_str(&said).expect("JSON")
    };
    let before = status()["keys"][0].clone();
    let old = crate::world::token(issuer.url(), issuer.url());
    let (is_good, said) = run(&["admin", "rotate-keys", "--data", &data]);
    assert!(is_good, "{said}");
    let after = status();
    assert_eq!(
        after["keys"][0]["epoch"],
        before["epoch"].as_u64().expect("a number") + 1
    );
    let same = after["keys"].as_array().expect("keys").iter();
    let same: Vec<&Value> = same
        .filter(|key| key["key-id"] == before["key-id"])
        .collect();
    assert_eq!(same.len(), 1, "the old key is listed");
    for until in ["issue-until", "redeem-until"] {
        assert_eq!(same[0][until], before[until], "as it was said");
    }
    let new = crate::world::token(issuer.url(), issuer.url());
    assert_ne!(old.key_id(), new.key_id());
    assert_eq!(crate::world::redeem(issuer.url(), &old).0, 200);
    assert_eq!(crate::world::redeem(issuer.url(), &new).0, 200);
    assert_eq!(crate::world::redeem(issuer.url(), &old).0, 401);
    issuer.stop();
    let issuer = world.configured("[issuer]\ngate = \"none\"\nverify = true");
    assert_eq!(status()["keys"][0], after["keys"][0], "after a restart");
    drop(issuer);
}

/// No route of the operator is on the listener for clients.
#[test]
fn clients_cannot_reach_the_operators_routes() {
    let world = World::new();
    let issuer = world.issuer(&["--gate", "none"]);
    for path in [
        "/api/status",
        "/api/revoke-keys",
        "/api/invite",
        "/api/login",
        "/page.js",
        "/metrics",
        "/admin",
    ] {
        assert_eq!(get(&format!("{}{path}", issuer.url())).0, 404, "{path}");
    }
}

#[test]
fn configurations_are_checked() {
    let world = World::new();
    let path = world.path("config.toml");
    let text = path.display().to_string();
    let (is_good, documented) = run(&["config"]);
    assert!(is_good);
    std::fs::write(&path, documented).expect("a file");
    assert_eq!(
        run(&["check-config", &text]),
        (true, format!("{text}: good\n"))
    );
    for (content, part) in [
        ("[issuer]\ngate = \"gone\"", "there is no gate gone"),
        ("[gates.a]\nkind = \"all\"\nof = [\"a\"]", "contains itself"),
        ("[gates.a]\nkind = \"any\"\nof = []", "needs 1 of 0"),
        ("[gates.a]\nkind = \"pow\"\nbits = 99", "bits are 1 to 48"),
        ("lisen = 3", "lisen"),
        ("lisen = 3", &text),
    ] {
        std::fs::write(&path, content).expect("a file");
        let (is_good, said) = run(&["check-config", &text]);
        assert!(!is_good && said.contains(part), "{content}: {said}");
    }
}

/// There are few labels, and no value comes from a client.
#[test]
fn metrics_count_without_telling() {
    let world = World::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let config =
        format!("[issuer]\ngate = \"none\"\nverify = true\n[metrics]\nlisten = \"{address}\"");
    let issuer = world.configured(&config);
    let token = crate::world::token(issuer.url(), issuer.url());
    assert_eq!(crate::world::redeem(issuer.url(), &token).0, 200);
    for path in ["/x1", "/x2", "/verify?secret=1"] {
        get(&format!("{}{path}", issuer.url()));
    }
    let metrics =
        sealstone_server::client::Client::new("").get(&format!("http://{address}/metrics"), None);
    let text = String::from_utf8(metrics.expect("an answer").body).expect("text");
    assert!(text.contains("sealstone_tokens_issued_total 1"), "{text}");
    assert!(
        text.contains("sealstone_redemptions_total{kind=\"accepted\"} 1"),
        "{text}"
    );
    assert!(!text.contains("/x1") && !text.contains("secret"), "{text}");
}
