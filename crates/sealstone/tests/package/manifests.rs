//! Random manifests: each has one encoding, and no other manifest has the same.

use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use sealstone::package::{DigestKind, Entry, EntryContent, Json, Layer, Manifest, RelativePath};
use sealstone::passport::Fingerprint;

fn signers() -> impl Strategy<Value = (Vec<Fingerprint>, u64)> {
    let names = btree_set(any::<[u8; 32]>(), 1..5).prop_map(|set| set.into_iter().collect());
    let shuffled = names.prop_flat_map(|names: Vec<[u8; 32]>| Just(names).prop_shuffle());
    shuffled.prop_flat_map(|names| {
        let count = names.len() as u64;
        (
            Just(names.into_iter().map(Fingerprint::from_bytes).collect()),
            1..=count,
        )
    })
}

/// Paths without conflicts: a directory's name has a letter that file names do not have.
fn paths() -> impl Strategy<Value = Vec<String>> {
    btree_set("(d[a-c]/){0,3}[e-h .é名]{1,4}[0-9]", 0..6).prop_map(|set| set.into_iter().collect())
}

fn content(digest: DigestKind) -> impl Strategy<Value = EntryContent> {
    let len = match digest {
        DigestKind::Sha3_256 => 32,
        DigestKind::SkeinTree => 64,
    };
    let file = (0..1u64 << 63, vec(any::<u8>(), len), any::<bool>());
    prop_oneof![
        file.prop_map(|(size, digest, embedded)| EntryContent::File {
            size,
            digest,
            embedded
        }),
        "[ -~é名]{1,20}".prop_map(EntryContent::Link),
    ]
}

fn entries(digest: DigestKind) -> impl Strategy<Value = Vec<Entry>> {
    let entry = move |path: String| {
        let media_type = option::of("[a-z0-9][a-z0-9!#$&^_.+-]{0,8}/[A-Z0-9][a-z0-9.+-]{0,8}");
        let modified = option::of(1..=u64::MAX);
        (content(digest), media_type, modified).prop_map(move |(content, media_type, modified)| {
            Entry {
                path: RelativePath::new(&path).unwrap(),
                content,
                media_type,
                modified,
            }
        })
    };
    paths().prop_flat_map(move |paths| paths.into_iter().map(entry).collect::<Vec<_>>())
}

fn metadata() -> impl Strategy<Value = Json> {
    let text = ["{}", r#"{"a":[1.5,null]}"#, r#"{"b":1,"a":{"é":"\n"}}"#];
    select(text.to_vec()).prop_map(|text| Json::parse(text.as_bytes()).unwrap())
}

fn manifest() -> impl Strategy<Value = Manifest> {
    let digest = select(&[DigestKind::Sha3_256, DigestKind::SkeinTree][..]);
    let optional = &[Layer::Hmac, Layer::Keys, Layer::Timestamp][..];
    let required = subsequence(optional, 0..=3);
    let author = "[ -~é名]{0,40}";
    let entries = digest.prop_flat_map(|digest| (Just(digest), entries(digest)));
    let rest = (
        any::<u64>(),
        any::<bool>(),
        option::of(any::<[u8; 32]>()),
        option::of(metadata()),
    );
    (signers(), required, author, entries, rest).prop_map(
        |(
            (signers, threshold),
            required,
            author,
            (digest, entries),
            (time, complete, policy, metadata),
        )| Manifest {
            signers,
            threshold,
            required,
            time,
            author,
            digest,
            complete,
            entries,
            policy,
            metadata,
        },
    )
}

/// `one` with the fields of `other` in the bit mask `fields`: few, so that manifests differ little.
fn mixed(one: &Manifest, other: &Manifest, fields: u8) -> Manifest {
    let mut mixed = one.clone();
    let takes = |field: u8| fields & 1 << field != 0;
    if takes(0) {
        mixed.signers.clone_from(&other.signers);
        mixed.threshold = other.threshold;
    }
    if takes(1) {
        mixed.required.clone_from(&other.required);
    }
    if takes(2) {
        mixed.time = other.time;
    }
    if takes(3) {
        mixed.author.clone_from(&other.author);
    }
    if takes(4) {
        mixed.complete = other.complete;
    }
    if takes(5) {
        mixed.digest = other.digest;
        mixed.entries.clone_from(&other.entries);
    }
    if takes(6) {
        mixed.policy = other.policy;
    }
    if takes(7) {
        mixed.metadata.clone_from(&other.metadata);
    }
    mixed
}

proptest! {
    #[test]
    fn an_encoded_manifest_is_decoded(manifest in manifest()) {
        let encoded = manifest.encode();
        prop_assert_eq!(&Manifest::decode(&encoded).unwrap(), &manifest);
    }

    #[test]
    fn two_manifests_encode_the_same_only_if_they_are_equal(
        one in manifest(),
        other in manifest(),
        fields in (0..8u8, any::<u8>(), any::<bool>()),
    ) {
        let fields = if fields.2 { 1 << fields.0 } else { fields.1 };
        let mixed = mixed(&one, &other, fields);
        prop_assert_eq!(one.encode() == mixed.encode(), one == mixed);
        prop_assert_eq!(one.encode() == other.encode(), one == other);
    }

    /// A decoded manifest encodes to the same bytes.
    #[test]
    fn a_decoded_manifest_is_encoded(
        manifest in manifest(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut encoded = manifest.encode();
        let at = at.index(encoded.len());
        encoded[at] = byte;
        if let Ok(changed) = Manifest::decode(&encoded) {
            prop_assert_eq!(changed.encode(), encoded);
        }
    }
}
