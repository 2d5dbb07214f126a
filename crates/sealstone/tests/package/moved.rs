//! Every removed, reordered, duplicated or swapped layer, signer and file is rejected, by the right
//! layer. The test moves parts inside the encoding, so it also covers packages that our writer
//! cannot make.

use proptest::prelude::*;
use proptest::sample::Index;
use sealstone::package::{
    Draft, Json, Layer, Listed, Package, RelativePath, Report, Verdict, Verifier, Work,
};
use sealstone::passport::Passport;

use crate::common::{Files, HMAC_KEY, POLICY, SECRET, Stored, TIME, passport};
use crate::item::Item;

/// Fields of a bundle.
const MANIFEST: u64 = 0;
const POLICY_FIELD: u64 = 1;
const TAG: u64 = 2;
const CONFIRMATION: u64 = 3;
const SIGNATURES: u64 = 4;
const TIMESTAMPS: u64 = 5;
const EMBEDDED: u64 = 6;
/// Fields of a manifest.
const NAMED: u64 = 1;
const THRESHOLD: u64 = 2;
const REQUIRED: u64 = 3;
const ENTRIES: u64 = 8;

const FORMAT: &str = "format";
const SIGNED: &str = "ed25519 ml-dsa-65";
const OF_MANIFEST: &str = "hmac ed25519 ml-dsa-65 keys";

/// A directory: two files and a link beside the package, two more files inside it.
fn directory() -> Files {
    let mut files = Files::default()
        .with("a.txt", b"first")
        .with("b/c.txt", b"second");
    let link = Stored::Link("a.txt".to_owned());
    files.0.insert("link".to_owned(), link);
    files
}

/// Signed by passports 1 and 2, both required, and counter-signed by 3 and 4. Two invalid responses
/// stand for timestamps. `variant` makes another package of the same people and names.
fn package(variant: u8) -> Package {
    let mut directory = directory();
    if variant > 0 {
        directory = directory.with("a.txt", b"other");
    }
    let mut draft = Draft::new();
    for name in ["d.txt", "e.txt"] {
        let content = [name.as_bytes(), &[variant]].concat();
        draft.embed(name, &content).unwrap();
    }
    let listed = directory.0.keys().map(|path| Listed {
        path: RelativePath::new(path).unwrap(),
        size: 0,
        modified: None,
    });
    let listed: Vec<Listed> = listed.collect();
    draft.files(&directory, &listed, Work::default()).unwrap();
    draft.complete();
    let other_policy = br#"{"use": "anything"}"#;
    let policy = if variant == 0 { POLICY } else { other_policy };
    draft.policy(Json::parse(policy).unwrap());
    draft.hmac(HMAC_KEY).unwrap();
    draft.derive_keys(SECRET).unwrap();
    draft.require(Layer::Hmac).unwrap();
    draft.require(Layer::Keys).unwrap();
    draft.cosigner(passport(2).contact());
    let mut package = draft.sign(&passport(1), TIME).unwrap();
    package.cosign(&passport(2), TIME + 1).unwrap();
    for counter in [3, 4] {
        package.countersign(&passport(counter), TIME + 2).unwrap();
    }
    for response in [b"one", b"two"] {
        package
            .attach_timestamp(&[&response[..], &[variant]].concat())
            .unwrap();
    }
    package
}

fn verify(package: &Package, files: &Files, people: &[Passport]) -> Report {
    let mut verifier = Verifier::new()
        .hmac_key(HMAC_KEY)
        .secret(SECRET)
        .source(files);
    for person in people {
        verifier = verifier.signer(person.contact());
    }
    verifier.verify(package)
}

/// `format`, the bad layers, `signers` if only they are missing, or an empty text for a good
/// package.
fn say(bytes: &[u8], files: &Files) -> String {
    let Ok(package) = Package::decode(bytes) else {
        return FORMAT.to_owned();
    };
    let report = verify(&package, files, &[passport(1), passport(2)]);
    let bad = report.layers.iter().filter(|it| it.verdict == Verdict::Bad);
    let bad: Vec<&str> = bad.map(|it| it.layer.name()).collect();
    match (bad.is_empty(), report.verdict) {
        (true, Verdict::Good) => String::new(),
        (true, _) => "signers".to_owned(),
        (false, verdict) => {
            assert_eq!(verdict, Verdict::Bad);
            bad.join(" ")
        }
    }
}

/// The bundle of a package, with its manifest decoded.
fn bundle(package: &Package) -> Item {
    Item::parse(&package.encode()[10..])
}

fn encoded(bundle: &Item) -> Vec<u8> {
    [&b"\x89PACK\r\n\x1a\n\x01"[..], &bundle.encode()].concat()
}

/// The verdict on the package after a change of its bundle.
fn changed(change: impl FnOnce(&mut Item)) -> String {
    let mut bundle = bundle(&package(0));
    change(&mut bundle);
    say(&encoded(&bundle), &directory())
}

/// The same for its manifest.
fn manifest(change: impl FnOnce(&mut Item)) -> String {
    changed(|bundle| {
        let field = bundle.field(MANIFEST);
        let mut manifest = Item::parse(field.bytes());
        change(&mut manifest);
        *field = Item::Bytes(manifest.encode());
    })
}

#[test]
fn nothing_changed_is_good() {
    assert_eq!(changed(|_| {}), "");
    assert_eq!(manifest(|_| {}), "");
}

#[test]
fn every_layer_removed() {
    let cases = [
        (MANIFEST, FORMAT),
        (POLICY_FIELD, "content"),
        (TAG, "hmac ed25519 ml-dsa-65"),
        (CONFIRMATION, "ed25519 ml-dsa-65 keys"),
        (SIGNATURES, FORMAT),
        (TIMESTAMPS, FORMAT),
        (EMBEDDED, FORMAT),
    ];
    for (field, expected) in cases {
        assert_eq!(changed(|it| it.remove(field)), expected, "{field}");
    }
    // An empty array instead.
    for (field, expected) in [(SIGNATURES, FORMAT), (TIMESTAMPS, ""), (EMBEDDED, FORMAT)] {
        let found = changed(|it| *it.field(field) = Item::Array(Vec::new()));
        assert_eq!(found, expected, "{field}");
    }
}

/// A timestamp that the manifest requires is missing.
#[test]
fn the_required_timestamp_removed() {
    let mut draft = Draft::new();
    draft.embed("a", b"").unwrap();
    draft.require(Layer::Timestamp).unwrap();
    let mut package = draft.sign(&passport(1), TIME).unwrap();
    package.attach_timestamp(b"a response").unwrap();
    let mut bundle = bundle(&package);
    *bundle.field(TIMESTAMPS) = Item::Array(Vec::new());
    let package = Package::decode(&encoded(&bundle)).unwrap();
    let report = Verifier::new()
        .signer(passport(1).contact())
        .verify(&package);
    assert_eq!(report.layers[5].verdict, Verdict::Bad);
    assert_eq!(report.verdict, Verdict::Bad);
}

#[test]
fn every_layer_doubled_or_put_in_another_place() {
    for field in MANIFEST..=EMBEDDED {
        assert_eq!(changed(|it| it.double(field)), FORMAT, "{field}");
        for other in field + 1..=EMBEDDED {
            let found = changed(|it| it.swap(field, other));
            assert_eq!(found, FORMAT, "{field} {other}");
        }
    }
}

#[test]
fn every_layer_exchanged_for_another_of_the_same_package() {
    let expected = |a, b| match (a, b) {
        (TAG, CONFIRMATION) => "hmac ed25519 ml-dsa-65 keys",
        _ => FORMAT,
    };
    for a in MANIFEST..=EMBEDDED {
        for b in a + 1..=EMBEDDED {
            let found = changed(|it| it.exchange(a, b));
            assert_eq!(found, expected(a, b), "{a} {b}");
        }
    }
}

#[test]
fn every_layer_exchanged_for_that_of_another_package() {
    let other = bundle(&package(1));
    let cases = [
        (MANIFEST, "content hmac ed25519 ml-dsa-65 keys"),
        (POLICY_FIELD, "content"),
        (TAG, "hmac ed25519 ml-dsa-65"),
        (CONFIRMATION, "ed25519 ml-dsa-65 keys"),
        (SIGNATURES, SIGNED),
        (EMBEDDED, "content"),
    ];
    for (field, expected) in cases {
        let mut other = other.clone();
        let found = changed(|it| *it.field(field) = other.field(field).clone());
        assert_eq!(found, expected, "{field}");
    }
}

#[test]
fn every_signature_removed() {
    // Each counter-signature covers those before it. The last one is not required.
    for (at, expected) in [(0, SIGNED), (1, SIGNED), (2, SIGNED), (3, "")] {
        // A timestamp over four signatures does not cover three.
        let found = changed(|it| drop(it.field(SIGNATURES).items().remove(at)));
        assert_eq!(found, FORMAT, "{at}");
        let found = changed(|it| {
            it.field(SIGNATURES).items().remove(at);
            *it.field(TIMESTAMPS) = Item::Array(Vec::new());
        });
        assert_eq!(found, expected, "{at}");
    }
    // Without counter-signatures, the required one is missing.
    for at in 0..2 {
        let found = changed(|it| {
            it.field(SIGNATURES).items().truncate(2);
            it.field(SIGNATURES).items().remove(at);
            *it.field(TIMESTAMPS) = Item::Array(Vec::new());
        });
        assert_eq!(found, "signers", "{at}");
    }
}

#[test]
fn every_signature_doubled_put_in_another_place_or_exchanged() {
    let mut other = bundle(&package(1));
    for at in 0..4 {
        let found = changed(|it| {
            let signatures = it.field(SIGNATURES).items();
            signatures.insert(at, signatures[at].clone());
        });
        assert_eq!(found, FORMAT, "{at} twice");
        let found = changed(|it| {
            it.field(SIGNATURES).items()[at] = other.field(SIGNATURES).items()[at].clone();
        });
        assert_eq!(found, SIGNED, "{at} of another package");
        for second in at + 1..4 {
            let found = changed(|it| it.field(SIGNATURES).items().swap(at, second));
            // Counter-signers may be in any order, but each covers those before it.
            let expected = if at == 2 { SIGNED } else { FORMAT };
            assert_eq!(found, expected, "{at} {second}");
        }
    }
}

/// One of both signatures, or the keys, replaces another signer's.
#[test]
fn every_part_of_a_signature_exchanged_with_another_signer() {
    let cases = [
        (0, FORMAT),
        (1, SIGNED),
        (2, FORMAT),
        (3, SIGNED),
        (4, SIGNED),
    ];
    for (part, expected) in cases {
        let found = changed(|it| {
            let signatures = it.field(SIGNATURES).items();
            let first = signatures[0].items()[part].clone();
            let third = std::mem::replace(&mut signatures[2].items()[part], first);
            signatures[0].items()[part] = third;
        });
        assert_eq!(found, expected, "{part}");
    }
}

#[test]
fn every_named_signer_removed_doubled_put_in_another_place_or_exchanged() {
    for at in 0..2 {
        let found = manifest(|it| drop(it.field(NAMED).items().remove(at)));
        assert_eq!(found, FORMAT, "{at} removed: two have to sign");
        let found = manifest(|it| {
            let named = it.field(NAMED).items();
            named.push(named[at].clone());
        });
        assert_eq!(found, FORMAT, "{at} twice");
        let found = manifest(|it| {
            let stranger = passport(9).fingerprint();
            it.field(NAMED).items()[at] = Item::Bytes(stranger.as_bytes().to_vec());
        });
        assert_eq!(found, FORMAT, "{at} exchanged: who signed is not named");
    }
    assert_eq!(manifest(|it| it.field(NAMED).items().swap(0, 1)), FORMAT);
    let found = manifest(|it| *it.field(THRESHOLD) = Item::Uint(1));
    assert_eq!(found, OF_MANIFEST);
}

#[test]
fn every_required_layer_removed_doubled_put_in_another_place_or_exchanged() {
    for at in 0..2 {
        let found = manifest(|it| drop(it.field(REQUIRED).items().remove(at)));
        assert_eq!(found, OF_MANIFEST, "{at} removed");
        let found = manifest(|it| {
            let required = it.field(REQUIRED).items();
            required.insert(at, required[at].clone());
        });
        assert_eq!(found, FORMAT, "{at} twice");
    }
    assert_eq!(manifest(|it| it.field(REQUIRED).items().swap(0, 1)), FORMAT);
    let found = manifest(|it| it.field(REQUIRED).items()[1] = Item::Uint(6));
    assert_eq!(found, "hmac ed25519 ml-dsa-65 keys");
}

#[test]
fn every_file_of_the_manifest_removed_doubled_put_in_another_place_or_exchanged() {
    let mut other = Item::parse(bundle(&package(1)).field(MANIFEST).bytes());
    for at in 0..5 {
        let is_embedded = at == 2 || at == 3;
        let found = manifest(|it| drop(it.field(ENTRIES).items().remove(at)));
        // Its content exists without it: embedded, or as an additional file.
        let expected = match is_embedded {
            true => FORMAT,
            false => "content hmac ed25519 ml-dsa-65 keys",
        };
        assert_eq!(found, expected, "{at} removed");
        let found = manifest(|it| {
            let entries = it.field(ENTRIES).items();
            entries.insert(at, entries[at].clone());
        });
        assert_eq!(found, FORMAT, "{at} twice");
        for second in at + 1..5 {
            let found = manifest(|it| it.field(ENTRIES).items().swap(at, second));
            assert_eq!(found, FORMAT, "{at} {second}");
            // Only the contents, with their kinds and sizes.
            let found = manifest(|it| exchange_contents(it.field(ENTRIES).items(), at, second));
            let expected = "content hmac ed25519 ml-dsa-65 keys";
            assert_eq!(found, expected, "contents {at} {second}");
        }
        let theirs = other.field(ENTRIES).items()[at].clone();
        let found = manifest(|it| it.field(ENTRIES).items()[at] = theirs.clone());
        let differs = at == 0 || is_embedded;
        let expected = if differs {
            "content hmac ed25519 ml-dsa-65 keys"
        } else {
            ""
        };
        assert_eq!(found, expected, "{at} of another package");
    }
}

fn exchange_contents(entries: &mut [Item], a: usize, b: usize) {
    for part in 1..4 {
        let first = entries[a].items()[part].clone();
        let second = std::mem::replace(&mut entries[b].items()[part], first);
        entries[a].items()[part] = second;
    }
}

#[test]
fn every_embedded_content_removed_doubled_put_in_another_place_or_exchanged() {
    let mut other = bundle(&package(1));
    for at in 0..2 {
        let found = changed(|it| drop(it.field(EMBEDDED).items().remove(at)));
        assert_eq!(found, FORMAT, "{at} removed");
        let found = changed(|it| {
            let contents = it.field(EMBEDDED).items();
            contents.insert(at, contents[at].clone());
        });
        assert_eq!(found, FORMAT, "{at} twice");
        let theirs = other.field(EMBEDDED).items()[at].clone();
        let found = changed(|it| it.field(EMBEDDED).items()[at] = theirs);
        assert_eq!(found, "content", "{at} of another package");
    }
    assert_eq!(
        changed(|it| it.field(EMBEDDED).items().swap(0, 1)),
        "content"
    );
}

#[test]
fn every_file_of_the_directory_removed_doubled_or_exchanged() {
    let bytes = package(0).encode();
    let names: Vec<String> = directory().0.into_keys().collect();
    for name in &names {
        let mut files = directory();
        let removed = files.0.remove(name).unwrap();
        assert_eq!(say(&bytes, &files), "content", "{name} removed");
        files.0.insert(format!("{name}.2"), removed.clone());
        assert_eq!(say(&bytes, &files), "content", "{name} under another name");
        files.0.insert(name.clone(), removed);
        assert_eq!(say(&bytes, &files), "content", "{name} twice");
        for other in names.iter().filter(|other| *other > name) {
            let mut files = directory();
            let (a, b) = (files.0[name].clone(), files.0[other].clone());
            files.0.insert(name.clone(), b);
            files.0.insert(other.clone(), a);
            assert_eq!(say(&bytes, &files), "content", "{name} {other}");
        }
    }
}

#[test]
fn every_timestamp_removed_doubled_put_in_another_place_or_exchanged() {
    // There are no roots: tests/package/stamps.rs tests the authority's signature.
    let mut other = bundle(&package(1));
    for at in 0..2 {
        let found = changed(|it| {
            let theirs = other.field(TIMESTAMPS).items()[at].items()[1].clone();
            it.field(TIMESTAMPS).items()[at].items()[1] = theirs;
        });
        assert_eq!(found, "timestamp", "{at}: the response of another package");
    }
    let found = changed(|it| {
        it.field(TIMESTAMPS).items()[1].items()[0] = Item::Uint(3);
    });
    assert_eq!(found, FORMAT, "the second covers less than the first");
}

/// Two bundles of the same people, mixed field by field: only the original ones are good.
fn mixed(fields: u8) -> (String, bool) {
    let (mut one, mut other) = (bundle(&package(0)), bundle(&package(1)));
    // Timestamps cover by their imprints, which are not verified here.
    for field in [
        MANIFEST,
        POLICY_FIELD,
        TAG,
        CONFIRMATION,
        SIGNATURES,
        EMBEDDED,
    ] {
        if fields & 1 << field != 0 {
            *one.field(field) = other.field(field).clone();
        }
    }
    let whole = fields & 0b101_1111 == 0;
    (say(&encoded(&one), &directory()), whole)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_mixture_of_two_packages_is_good(fields: u8) {
        let (found, whole) = mixed(fields);
        prop_assert_eq!(found.is_empty(), whole, "{}: {}", fields, found);
    }

    /// Any part is removed, duplicated, or swapped with any other part at any depth.
    #[test]
    fn no_part_can_be_moved(first: Index, second: Index, action in 0..3u8, inside: bool) {
        let original = required_only();
        let mut moved = original.clone();
        if inside {
            let mut manifest = Item::parse(moved.field(MANIFEST).bytes());
            move_part(&mut manifest, first, second, action);
            *moved.field(MANIFEST) = Item::Bytes(manifest.encode());
        } else {
            move_part(&mut moved, first, second, action);
        }
        let found = say(&encoded(&moved), &directory());
        prop_assert_eq!(found.is_empty(), moved == original, "{:?}: {}", moved, found);
    }
}

/// The package without optional parts: counter-signatures and timestamps.
fn required_only() -> Item {
    let mut bundle = bundle(&package(0));
    bundle.field(SIGNATURES).items().truncate(2);
    bundle.field(TIMESTAMPS).items().clear();
    bundle
}

fn move_part(whole: &mut Item, first: Index, second: Index, action: u8) {
    let count = whole.count();
    let (first, second) = (first.index(count), second.index(count));
    match action {
        0 => whole.edit(first, &mut |items, at| drop(items.remove(at))),
        1 => whole.edit(first, &mut |items, at| items.insert(at, items[at].clone())),
        _ => whole.exchange_parts(first, second),
    }
}
