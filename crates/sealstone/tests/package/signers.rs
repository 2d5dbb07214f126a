//! Signers: accepted signers, co-signers, counter-signers, k of n.

use sealstone::Error;
use sealstone::package::{Draft, Package, Report, Role, Verdict, Verifier};
use sealstone::passport::Fingerprint;
use sealstone::trust::Standing;

use crate::common::{TIME, passport, stored, verdicts};

/// A package that passport 1 has signed and `others` will sign. `threshold` signatures are
/// required.
fn package(others: &[u8], threshold: u64) -> Package {
    let mut draft = Draft::new();
    draft.embed("a", b"content").unwrap();
    for other in others {
        draft.cosigner(passport(*other).contact());
    }
    draft.threshold(threshold);
    draft.sign(&passport(1), TIME).unwrap()
}

/// The report of a verifier who approves these passports.
fn approved(package: &Package, approved: &[u8]) -> Report {
    let all: Vec<Fingerprint> = approved
        .iter()
        .map(|it| passport(*it).fingerprint())
        .collect();
    let opinion = |signer: &Fingerprint, _| match all.contains(signer) {
        true => Standing::Approved,
        false => Standing::Unknown,
    };
    Verifier::new().trust(&opinion).verify(&stored(package))
}

#[test]
fn only_a_trusted_signer_counts() {
    let package = package(&[], 1);
    assert_eq!(approved(&package, &[1]).verdict, Verdict::Good);
    for trusted in [&[][..], &[2]] {
        let report = approved(&package, trusted);
        assert_eq!(
            (verdicts(&report).as_str(), report.verdict),
            ("gaggaa", Verdict::Bad)
        );
        assert!(report.reason.contains("0 of 1"), "{}", report.reason);
    }
    let other = passport(2);
    let report = Verifier::new().signer(other.contact()).verify(&package);
    assert_eq!(report.verdict, Verdict::Bad);
    assert!(
        report.reason.contains("has not signed"),
        "{}",
        report.reason
    );
}

#[test]
fn naming_a_signer_replaces_the_approval_only() {
    let package = package(&[], 1);
    let alice = passport(1);
    let standings = [
        (Standing::Unknown, Verdict::Good),
        (Standing::Pending, Verdict::Good),
        (Standing::Approved, Verdict::Good),
        (Standing::Denied, Verdict::Bad),
        (Standing::Revoked { since: 0 }, Verdict::Bad),
        (Standing::Compromised { since: None }, Verdict::Bad),
    ];
    for (standing, expected) in standings {
        let opinion = |_: &Fingerprint, _| standing;
        let verifier = Verifier::new().trust(&opinion);
        let named = verifier.clone().signer(alice.contact()).verify(&package);
        assert_eq!(named.verdict, expected, "{standing:?}: {}", named.reason);
        let unnamed = verifier.verify(&package);
        assert_eq!(
            unnamed.verdict == Verdict::Good,
            standing == Standing::Approved
        );
    }
}

#[test]
fn all_signers_have_to_sign_unless_fewer_suffice() {
    let mut all = package(&[2, 3], 3);
    assert_eq!(approved(&all, &[1, 2, 3]).verdict, Verdict::Bad);
    // In any order: the package sorts them as in the manifest.
    all.cosign(&passport(3), TIME + 2).unwrap();
    all.cosign(&passport(2), TIME + 1).unwrap();
    let report = approved(&all, &[1, 2, 3]);
    assert_eq!(report.verdict, Verdict::Good, "{}", report.reason);
    let order: Vec<u64> = report.signers.iter().map(|it| it.time - TIME).collect();
    assert_eq!(order, [0, 1, 2]);
    assert_eq!(approved(&all, &[1, 2]).verdict, Verdict::Bad);

    let mut two = package(&[2, 3], 2);
    assert_eq!(approved(&two, &[1, 2, 3]).verdict, Verdict::Bad);
    two.cosign(&passport(3), TIME).unwrap();
    assert_eq!(approved(&two, &[1, 2, 3]).verdict, Verdict::Good);
    assert_eq!(approved(&two, &[1, 2]).verdict, Verdict::Bad);
    // A named signer must be among them.
    let bob = passport(2);
    let opinion = |_: &Fingerprint, _| Standing::Approved;
    let report = Verifier::new()
        .trust(&opinion)
        .signer(bob.contact())
        .verify(&two);
    assert_eq!(report.verdict, Verdict::Bad);
}

#[test]
fn a_counter_signature_covers_all_before_it_and_does_not_count() {
    let mut package = package(&[2], 1);
    package.cosign(&passport(2), TIME).unwrap();
    package.countersign(&passport(9), TIME + 5).unwrap();
    let report = approved(&package, &[9]);
    assert_eq!(
        (verdicts(&report).as_str(), report.verdict),
        ("gaggaa", Verdict::Bad)
    );
    let report = approved(&package, &[1, 9]);
    assert_eq!(report.verdict, Verdict::Good);
    let roles: Vec<Role> = report.signers.iter().map(|it| it.role).collect();
    assert_eq!(roles, [Role::Signer, Role::Signer, Role::CounterSigner]);
    // No signature can be inserted before it any more.
    let mut late = stored(&package);
    assert!(matches!(
        late.cosign(&passport(2), TIME),
        Err(Error::Invalid(_))
    ));
    late.countersign(&passport(8), TIME).unwrap();
    assert_eq!(approved(&late, &[1]).verdict, Verdict::Good);
}

#[test]
fn a_named_signer_who_does_not_count_spoils_what_enough_others_signed() {
    let mut package = package(&[2, 3], 2);
    for (number, signer) in [2, 3].into_iter().enumerate() {
        package
            .cosign(&passport(signer), TIME + number as u64)
            .unwrap();
    }
    package.countersign(&passport(9), TIME + 5).unwrap();
    let bob = passport(2).fingerprint();
    let opinion = |signer: &Fingerprint, _| match *signer == bob {
        true => Standing::Revoked { since: 0 },
        false => Standing::Approved,
    };
    let verifier = Verifier::new().trust(&opinion);
    let report = verifier.verify(&package);
    assert_eq!(report.verdict, Verdict::Good, "{}", report.reason);
    for (named, reason) in [(2, "is revoked"), (9, "only counter-signed")] {
        let named = verifier.clone().signer(passport(named).contact());
        let report = named.verify(&package);
        assert_eq!(report.verdict, Verdict::Bad);
        assert!(report.reason.contains(reason), "{}", report.reason);
    }
}

#[test]
fn passports_that_must_not_sign_cannot() {
    let mut package = package(&[2], 2);
    let refusals = [
        package.cosign(&passport(1), TIME),
        package.cosign(&passport(7), TIME),
        package.countersign(&passport(2), TIME),
        package.countersign(&passport(1), TIME),
    ];
    for refusal in refusals {
        assert!(matches!(refusal, Err(Error::Invalid(_))), "{refusal:?}");
    }
    package.cosign(&passport(2), TIME).unwrap();
    assert!(package.cosign(&passport(2), TIME).is_err());
    assert_eq!(package.signatures().len(), 2);
}

#[test]
fn signers_of_a_draft_keep_the_rules() {
    let with = |others: &[u8], threshold| {
        let mut draft = Draft::new();
        for other in others {
            draft.cosigner(passport(*other).contact());
        }
        draft.threshold(threshold);
        draft.sign(&passport(1), TIME).map(drop)
    };
    for (others, threshold) in [(&[][..], 0), (&[], 2), (&[1], 1), (&[2, 2], 1), (&[2], 3)] {
        assert!(
            matches!(with(others, threshold), Err(Error::Invalid(_))),
            "{others:?}"
        );
    }
    assert!(with(&[2, 3], 3).is_ok());
}
