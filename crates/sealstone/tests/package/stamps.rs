//! Layer 6: timestamps of a local authority by `openssl`.

use sealstone::package::{Draft, Layer, Package, Report, Verdict, Verifier};
use sealstone::passport::Fingerprint;
use sealstone::timestamp::{Imprint, Request, Roots, Sha2};
use sealstone::trust::Standing;
use sealstone_primitives::hash::sha256;
use sealstone_testing::tsa::{Authority, ISSUER, Info, SIGNER, generalized_time, now};

use crate::common::{passport, stored, verdicts};

const DAY: u64 = 86_400;

struct World {
    tsa: Authority,
    roots: Roots,
    now: u64,
}

impl World {
    fn new() -> Option<Self> {
        let tsa = Authority::new()?;
        let roots = Roots::parse(&tsa.read("root.pem")).unwrap();
        let now = now();
        Some(Self { tsa, roots, now })
    }

    /// A package that requires a timestamp, signed at `time`. `others` will sign too.
    fn package(&self, others: &[u8], time: u64) -> Package {
        let mut draft = Draft::new();
        draft.embed("a", b"content").unwrap();
        draft.require(Layer::Timestamp).unwrap();
        for other in others {
            draft.cosigner(passport(*other).contact());
        }
        draft.sign(&passport(1), time).unwrap()
    }

    /// The authority's answer, now.
    fn answer(&self, data: &[u8], hash: Sha2) -> Vec<u8> {
        let request = Request::new(Imprint::of(hash, data), None);
        self.tsa
            .reply("signer", &["between.pem"], "tsa", &request.encode())
    }

    /// A token of any time by a certificate of any name.
    fn token(&self, data: &[u8], signer: &str, time: u64) -> Vec<u8> {
        let info = Info::new(&sha256(&[data]), &generalized_time(time)).encode();
        self.tsa
            .sign(signer, &info, &["-cades", "-certfile", "between.pem"])
    }

    fn stamp(&self, package: &mut Package) {
        let answer = self.answer(&package.to_stamp(), Sha2::Sha256);
        package.attach_timestamp(&answer).unwrap();
    }

    fn verify(&self, package: &Package) -> Report {
        self.verify_at(package, self.now + 60)
    }

    fn verify_at(&self, package: &Package, now: u64) -> Report {
        let opinion = |_: &Fingerprint, _| Standing::Approved;
        let verifier = Verifier::new().trust(&opinion).roots(&self.roots, now);
        verifier.verify(&stored(package))
    }
}

fn is_bad(report: &Report, why: &str) {
    assert_eq!(
        (verdicts(report).as_str(), report.verdict),
        ("gaggab", Verdict::Bad)
    );
    assert!(report.reason.contains(why), "{}", report.reason);
    assert!(report.signers.iter().all(|it| it.proved_time.is_none()));
    assert!(report.timestamps.is_empty());
}

#[test]
fn a_timestamp_proves_the_time() {
    let Some(world) = World::new() else { return };
    for hash in [Sha2::Sha256, Sha2::Sha512] {
        let mut package = world.package(&[], world.now);
        is_bad(&world.verify(&package), "the signer requires it");
        let answer = world.answer(&package.to_stamp(), hash);
        package.attach_timestamp(&answer).unwrap();
        let report = world.verify(&package);
        assert_eq!(
            (verdicts(&report).as_str(), report.verdict),
            ("gaggag", Verdict::Good)
        );
        let proved = report.signers[0].proved_time.unwrap();
        // With the accuracy of a second that the authority states.
        assert!((world.now..world.now + 60).contains(&proved));
        assert_eq!(report.timestamps.len(), 1);
    }
}

#[test]
fn without_roots_a_required_timestamp_is_not_good() {
    let Some(world) = World::new() else { return };
    let mut package = world.package(&[], world.now);
    world.stamp(&mut package);
    let opinion = |_: &Fingerprint, _| Standing::Approved;
    let report = Verifier::new().trust(&opinion).verify(&package);
    assert_eq!(
        (verdicts(&report).as_str(), report.verdict),
        ("gaggau", Verdict::Bad)
    );
    let other = Authority::new().unwrap();
    let roots = Roots::parse(&other.read("root.pem")).unwrap();
    let report = Verifier::new()
        .trust(&opinion)
        .roots(&roots, world.now)
        .verify(&package);
    is_bad(&report, "timestamp 1 of 1");
}

#[test]
fn a_timestamp_of_something_else_does_not_count() {
    let Some(world) = World::new() else { return };
    let mut other = world.package(&[2], world.now);
    let of_other = world.answer(&other.to_stamp(), Sha2::Sha256);
    let mut package = world.package(&[], world.now);
    package.attach_timestamp(&of_other).unwrap();
    is_bad(&world.verify(&package), "timestamp 1 of 1");
    // A timestamp of the same package before the second signature does not cover this signature.
    other.attach_timestamp(&of_other).unwrap();
    let report = world.verify(&other);
    assert_eq!(
        (verdicts(&report).as_str(), report.verdict),
        ("gaggag", Verdict::Bad)
    );
    assert!(report.reason.starts_with("1 of 2"), "{}", report.reason);
    other.cosign(&passport(2), world.now).unwrap();
    is_bad(&world.verify(&other), "signature 2 is not covered");
    // A later timestamp covers everything.
    world.stamp(&mut other);
    let report = world.verify(&other);
    assert_eq!(report.verdict, Verdict::Good, "{}", report.reason);
    assert!(report.signers.iter().all(|it| it.proved_time.is_some()));
}

#[test]
fn no_signature_is_made_after_it_was_stamped() {
    let Some(world) = World::new() else { return };
    // Clocks may differ by five minutes; the authority's accuracy is a second.
    for (ahead, good) in [(200, true), (400, false)] {
        let mut package = world.package(&[], world.now + ahead);
        world.stamp(&mut package);
        let report = world.verify_at(&package, world.now + 500);
        match good {
            true => assert_eq!(report.verdict, Verdict::Good, "{}", report.reason),
            false => is_bad(&report, "claims a later time"),
        }
    }
}

#[test]
fn a_later_timestamp_must_be_later() {
    let Some(world) = World::new() else { return };
    let mut package = world.package(&[], world.now);
    let first = world.token(&package.to_stamp(), "signer", world.now + 30);
    package.attach_timestamp(&first).unwrap();
    assert_eq!(world.verify(&package).verdict, Verdict::Good);
    let mut renewed = package.clone();
    let second = world.token(&renewed.to_stamp(), "signer", world.now + 40);
    renewed.attach_timestamp(&second).unwrap();
    let report = world.verify(&renewed);
    assert_eq!(report.verdict, Verdict::Good, "{}", report.reason);
    // The first timestamp has the time.
    assert_eq!(report.signers[0].proved_time, Some(world.now + 30));
    assert_eq!(report.timestamps.len(), 2);
    let earlier = world.token(&package.to_stamp(), "signer", world.now + 20);
    package.attach_timestamp(&earlier).unwrap();
    is_bad(&world.verify(&package), "timestamp 2 is older");
}

#[test]
fn a_renewal_outlives_the_certificate() {
    let Some(mut world) = World::new() else {
        return;
    };
    // The usual certificates end after a year; those of another authority after ten.
    let long = ["-days", "3650"];
    world.tsa.key("root2", "P-384");
    world.tsa.certify("root2", "root2", None, ISSUER, &long);
    world.tsa.key("signer2", "P-384");
    world
        .tsa
        .certify("signer2", "signer2", Some("root2"), SIGNER, &long);
    let both = world.tsa.concatenated(&["root.pem", "root2.pem"]);
    world.roots = Roots::parse(&both).unwrap();

    let mut package = world.package(&[], world.now);
    world.stamp(&mut package);
    let later = world.now + 500 * DAY;
    is_bad(&world.verify_at(&package, later), "timestamp 1 of 1");
    let renewed = |after: u64| {
        let mut renewed = package.clone();
        let token = world.token(&renewed.to_stamp(), "signer2", world.now + after);
        renewed.attach_timestamp(&token).unwrap();
        world.verify_at(&renewed, later)
    };
    let report = renewed(300 * DAY);
    assert_eq!(report.verdict, Verdict::Good, "{}", report.reason);
    let proved = report.signers[0].proved_time.unwrap();
    assert!(proved < world.now + 60);
    // Too late: the first certificate had ended.
    is_bad(&renewed(400 * DAY), "timestamp 1 of 2");
    assert_eq!(world.verify(&package).verdict, Verdict::Good);
}

#[test]
fn a_revocation_spoils_only_what_is_not_older() {
    let Some(world) = World::new() else { return };
    let mut package = world.package(&[], world.now);
    world.stamp(&mut package);
    let with = |since: u64, package: &Package| {
        let opinion = |_: &Fingerprint, at: Option<u64>| match at.is_some_and(|at| at < since) {
            true => Standing::Approved,
            false => Standing::Revoked { since },
        };
        let roots = (&world.roots, world.now + 60);
        let verifier = Verifier::new().trust(&opinion).roots(roots.0, roots.1);
        verifier.verify(package).verdict
    };
    assert_eq!(with(world.now + DAY, &package), Verdict::Good);
    assert_eq!(with(world.now - DAY, &package), Verdict::Bad);
    let unstamped = {
        let mut draft = Draft::new();
        draft.embed("a", b"content").unwrap();
        draft.sign(&passport(1), world.now).unwrap()
    };
    assert_eq!(with(world.now + DAY, &unstamped), Verdict::Bad);
}
