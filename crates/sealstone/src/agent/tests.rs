//! Requests that no client of ours sends, and what an agent gives away.

use std::time::Duration;

use minicbor::Encoder;
use sealstone_primitives::rng;
use zeroize::Zeroizing;

use super::message::{MAX_ANSWER, MAX_REQUEST, Refusal, Request, read_bytes};
use super::{Agent, Client, frame_len};
use crate::file::{FileRoot, Keys, Sealed, Sealer, Workers};
use crate::passport::{Contact, Fingerprint, Passport};
use crate::sign::{Domain, Signature};
use crate::{Error, Result};

const START: Duration = Duration::from_secs(1_000);

/// An agent that holds Alice for a minute.
fn holding() -> (Agent, Passport) {
    let (agent, alice) = (Agent::new(), Passport::generate("Alice", 7).unwrap());
    client(&agent, START).hold(&alice, 60).unwrap();
    (agent, alice)
}

fn client(
    agent: &Agent,
    now: Duration,
) -> Client<impl Fn(&[u8]) -> std::io::Result<Zeroizing<Vec<u8>>> + Clone + '_> {
    Client::new(move |request: &[u8]| Ok(agent.answer(request, now).message))
}

/// The code of a refusal.
fn refusal(answer: &[u8]) -> Option<u8> {
    match answer {
        [0x82, 1, code @ 1..=255] => Some(*code),
        _ => None,
    }
}

fn root() -> FileRoot {
    FileRoot {
        header_digest: [1; 64],
        payload_len: 17,
        content_len: 0,
        root: [2; 64],
    }
}

/// One request of every kind.
fn every_request(passport: &Passport) -> Vec<Zeroizing<Vec<u8>>> {
    let name = passport.fingerprint();
    let mut file = Vec::new();
    let mut sealer = Sealer::new();
    sealer.to_passport(passport.contact());
    sealer.seal(&b"x"[..], &mut file, Workers::new(1)).unwrap();
    let key = Sealed::read(&file[..])
        .unwrap()
        .wrapped_keys()
        .next()
        .unwrap();
    let requests = [
        Request::Status,
        Request::Hold {
            seed: passport.seed().duplicate(),
            label: "Alice".to_owned(),
            created: 7,
            seconds: 60,
        },
        Request::Contact(name),
        Request::Hedge(name),
        Request::Unwrap(name, Box::new(key)),
        Request::Sign(name, root()),
        Request::Lock(Some(Fingerprint::from_bytes([9; 32]))),
    ];
    requests.iter().map(Request::encode).collect()
}

#[test]
fn only_the_one_encoding_is_answered() {
    let (agent, alice) = holding();
    for request in every_request(&alice) {
        assert_eq!(refusal(&agent.answer(&request, START).message), None);
        assert!(request.len() <= MAX_REQUEST);
        let longer = [&request[..], &[0]].concat();
        for bad in [&request[..request.len() - 1], &longer, &[]] {
            let answer = agent.answer(bad, START).message;
            assert_eq!(refusal(&answer), Some(Refusal::Malformed as u8), "{bad:?}");
        }
        // The version 1 in two bytes.
        let long = [&request[..1], &[0x18, 1], &request[2..]].concat();
        let answer = agent.answer(&long, START).message;
        assert_eq!(refusal(&answer), Some(Refusal::Malformed as u8));
        let newer = [&request[..1], &[2], &request[2..]].concat();
        let answer = agent.answer(&newer, START).message;
        assert_eq!(refusal(&answer), Some(Refusal::Version as u8));
    }
    assert_eq!(
        agent.tick(START),
        1,
        "a bad request has changed what is held"
    );
}

#[test]
fn ten_thousand_random_and_hostile_requests_change_nothing() {
    let (agent, alice) = holding();
    let good = every_request(&alice);
    for i in 0..10_000 {
        let mut request = match i % 3 {
            // A good one with a wrong byte; not one that gives or takes a passport.
            0 => good[[0, 2, 3, 4][i / 3 % 4]].to_vec(),
            1 => vec![0; rng::below(200) as usize],
            _ => vec![0; 1 + rng::below(MAX_REQUEST as u32) as usize],
        };
        if i % 3 == 0 {
            let at = rng::below(request.len() as u32) as usize;
            request[at] ^= 1 << rng::below(8);
        } else {
            rng::fill(&mut request);
            // Half of them begin as requests do.
            if i % 2 == 0 && request.len() > 2 {
                request[..2].copy_from_slice(&[0x81 + (i % 7) as u8, 1]);
            }
        }
        // No request may lock a passport or end the agent by chance.
        if request.len() > 2 && matches!(request[2], 2 | 7) {
            request[2] = 3;
        }
        let answer = agent.answer(&request, START).message;
        assert!(answer.len() <= MAX_ANSWER && !answer.is_empty());
        let seed = &alice.seed().expose()[..];
        assert!(!answer.windows(32).any(|window| window == seed));
    }
    let status = client(&agent, START).status().unwrap();
    assert_eq!(status.passports.len(), 1);
    assert_eq!(status.passports[0].fingerprint, alice.fingerprint());
}

#[test]
fn lengths_are_bounded() {
    for (len, most, allowed) in [(0, 9, false), (1, 9, true), (9, 9, true), (10, 9, false)] {
        assert_eq!(frame_len(u32::to_be_bytes(len), most).is_some(), allowed);
    }
    assert!(frame_len([0xff; 4], MAX_REQUEST).is_none());
}

#[test]
fn a_passport_is_held_for_its_time_and_no_longer() {
    let (agent, alice) = holding();
    let before = client(&agent, START + Duration::from_millis(59_999));
    before.passport(&alice.fingerprint()).unwrap();
    let after = client(&agent, START + Duration::from_secs(60));
    assert!(after.passport(&alice.fingerprint()).is_err());
    assert!(after.status().unwrap().passports.is_empty());
}

#[test]
fn a_passport_is_held_for_at_least_a_second_and_at_most_a_week() {
    let (agent, alice) = (Agent::new(), Passport::generate("Alice", 7).unwrap());
    let client = client(&agent, START);
    for (seconds, is_held) in [(0, false), (1, true), (604_800, true), (604_801, false)] {
        client.lock(None).unwrap();
        assert_eq!(client.hold(&alice, seconds).is_ok(), is_held, "{seconds}");
        assert_eq!(agent.tick(START), usize::from(is_held), "{seconds}");
    }
}

#[test]
fn an_agent_knows_that_it_has_held_a_passport_for_a_moment() {
    let agent = Agent::new();
    assert!(!agent.has_held());
    let (agent, _) = holding();
    agent.answer(&Request::Lock(None).encode(), START);
    assert_eq!(agent.tick(START), 0);
    assert!(agent.has_held(), "before the first tick it was locked");
}

#[test]
fn a_locked_passport_is_gone_and_the_others_stay() {
    let (agent, alice) = holding();
    let client = client(&agent, START);
    let bob = Passport::generate("Bob", 7).unwrap();
    client.hold(&bob, 60).unwrap();
    client.lock(Some(&alice.fingerprint())).unwrap();
    assert!(client.passport(&alice.fingerprint()).is_err());
    assert!(client.passport(&bob.fingerprint()).is_ok());
    client.lock(None).unwrap();
    assert_eq!(agent.tick(START), 0);
}

#[test]
fn it_holds_sixteen() {
    let agent = Agent::new();
    let client = client(&agent, START);
    let all: Vec<Passport> = (0..17)
        .map(|_| Passport::generate("x", 0).unwrap())
        .collect();
    for passport in &all[..16] {
        client.hold(passport, 60).unwrap();
    }
    assert!(matches!(client.hold(&all[16], 60), Err(Error::Invalid(_))));
    // One that is held already only gets more time.
    client.hold(&all[0], 120).unwrap();
    assert_eq!(agent.tick(START + Duration::from_secs(61)), 1);
}

#[test]
fn it_signs_sealed_files_and_nothing_else() {
    let (agent, alice) = holding();
    let request = Request::Sign(alice.fingerprint(), root());
    let answer = agent.answer(&request.encode(), START).message;
    let signature = Signature::from_bytes(&read_bytes(&answer).unwrap()).unwrap();
    root().verify(alice.contact(), &signature).unwrap();
    let lengths = [17_u64.to_be_bytes(), 0_u64.to_be_bytes()].concat();
    let message = [&[1; 64][..], &lengths, &[2; 64]].concat();
    let verifies = |domain: &'static str, message: &[u8]| {
        let keys = alice.contact().verifying();
        keys.verify(Domain(domain), message, &signature, "x")
            .is_ok()
    };
    assert!(verifies("sealstone.file.v1", &message));
    for other in [
        "sealstone.passport.v1",
        "sealstone.statement.v1",
        "sealstone.trust.v1",
        "sealstone.succession.v1",
        "",
    ] {
        assert!(!verifies(other, &message), "{other}");
    }
    assert!(!verifies("sealstone.file.v1", &message[1..]));
}

#[test]
fn a_spoilt_signature_is_not_given_out() {
    use crate::sign::fault::{self, Fault};
    let (agent, alice) = holding();
    for fault in [Fault::Ed25519, Fault::MlDsa87] {
        fault::plant(fault);
        let request = Request::Sign(alice.fingerprint(), root()).encode();
        let answer = agent.answer(&request, START).message;
        assert_eq!(refusal(&answer), Some(Refusal::Fault as u8));
    }
}

#[test]
fn a_client_notices_a_wrong_signature_and_a_wrong_passport() {
    let (agent, alice) = holding();
    let spoil = |request: &[u8]| {
        let mut answer = agent.answer(request, START).message;
        // This place is behind the heads of the array and of the byte string.
        if request[2] == 6 {
            answer[2000] ^= 1;
        }
        Ok(answer)
    };
    let held = Client::new(spoil);
    let held = held.passport(&alice.fingerprint()).unwrap();
    let mut sealer = Sealer::new();
    sealer.to_passport(alice.contact()).signed_by(&held);
    let sealed = sealer.seal(&b"x"[..], Vec::new(), Workers::new(1));
    assert!(matches!(sealed, Err(Error::Altered(_))), "{sealed:?}");

    let bob = Passport::generate("Bob", 7).unwrap();
    client(&agent, START).hold(&bob, 60).unwrap();
    let mistaken = |_: &[u8]| {
        let request = Request::Contact(bob.fingerprint()).encode();
        Ok(agent.answer(&request, START).message)
    };
    assert!(
        Client::new(mistaken)
            .passport(&alice.fingerprint())
            .is_err()
    );
}

#[test]
fn hedges_do_not_repeat_and_are_not_the_passports() {
    let (agent, alice) = holding();
    let hedge = || {
        let request = Request::Hedge(alice.fingerprint()).encode();
        read_bytes(&agent.answer(&request, START).message).unwrap()
    };
    let (first, second) = (hedge(), hedge());
    assert_ne!(first, second);
    assert_ne!(first[..], alice.hedge().expose()[..]);
}

fn sealed_to(contact: &Contact, anonymous: bool) -> Vec<u8> {
    let mut sealer = Sealer::new();
    match anonymous {
        true => sealer.to_anonymous(contact),
        false => sealer.to_passport(contact),
    };
    let mut file = Vec::new();
    sealer.seal(&b"x"[..], &mut file, Workers::new(1)).unwrap();
    file
}

#[test]
fn file_keys_are_those_of_the_passport() -> Result<()> {
    let (agent, alice) = holding();
    let bob = Passport::generate("Bob", 7)?;
    let client = client(&agent, START);
    client.hold(&bob, 60)?;
    let held = [alice.fingerprint(), bob.fingerprint()];
    for anonymous in [false, true] {
        let file = sealed_to(bob.contact(), anonymous);
        let sealed = Sealed::read(&file[..])?;
        let key = client.file_key(&sealed, &held)?;
        let opening = sealed.unlock_with(&key)?;
        let here = Sealed::read(&file[..])?.unlock(&Keys::new(&[&bob], &[]))?;
        assert_eq!(opening.opened_by(), here.opened_by());
        assert_eq!(opening.open_unsigned(Vec::new(), Workers::new(1))?, 1);
        let none = client.file_key(&Sealed::read(&file[..])?, &held[..1]);
        assert!(matches!(none, Err(Error::NotRecipient)));
    }
    // A stanza that names a held passport and does not unwrap is not a reason to ask another one.
    let mut altered = sealed_to(bob.contact(), false);
    altered[200] ^= 1;
    let altered = client.file_key(&Sealed::read(&altered[..])?, &held);
    assert!(matches!(altered, Err(Error::Altered(_))));
    Ok(())
}

#[test]
fn an_answer_that_is_none_is_refused() {
    let mut newer = Encoder::new(Vec::new());
    newer.array(2).unwrap().u64(2).unwrap().u64(0).unwrap();
    for answer in [
        &[][..],
        &[0],
        &[0x82, 1, 0, 0],
        b"HTTP/1.1",
        &newer.into_writer(),
    ] {
        let client = Client::new(|_: &[u8]| Ok(Zeroizing::new(answer.to_vec())));
        assert!(
            client.status().is_err() && client.lock(None).is_err(),
            "{answer:?}"
        );
        assert!(client.passport(&Fingerprint::from_bytes([0; 32])).is_err());
    }
}
