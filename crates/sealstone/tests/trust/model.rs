//! Random changes with random interruptions, against a plain map.

use std::collections::HashMap;

use proptest::prelude::*;
use sealstone::passport::Fingerprint;
use sealstone::trust::{Change, Memory, Status, Storage, TrustStore};

use super::faulty::{Failure, Fault, Faulty};
use super::fixture::{START, name};

#[derive(Clone, Debug)]
enum Step {
    SetStatus(u8, Status, Option<String>),
    SetSince(u8, Status, u64),
    Relabel(u8, String),
    Reinstate(u8),
    Rekey,
}

/// Status, label, note, first seen, changed, since.
type Row = (Status, String, String, u64, u64, Option<u64>);
type Model = HashMap<Fingerprint, Row>;

fn status() -> impl Strategy<Value = Status> {
    prop_oneof![
        Just(Status::Pending),
        Just(Status::Approved),
        Just(Status::Denied),
        Just(Status::Revoked),
        Just(Status::Compromised)
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..5u8, status(), proptest::option::of("[ -~äß名]{0,20}")).prop_map(|(who, status, note)| Step::SetStatus(who, status, note)),
        2 => (0..5u8, "([!-~äß名]( [!-~äß名])?){0,6}").prop_map(|(who, label)| Step::Relabel(who, label)),
        2 => (0..5u8, status(), 0..START + 40).prop_map(|(who, status, since)| Step::SetSince(who, status, since)),
        2 => (0..5u8).prop_map(Step::Reinstate),
        1 => Just(Step::Rekey),
    ]
}

fn fault() -> impl Strategy<Value = Fault> {
    let failure = prop_oneof![
        Just(Failure::Before),
        Just(Failure::After),
        (1..100usize).prop_map(Failure::Inside),
        any::<u8>().prop_map(Failure::Filled)
    ];
    (0..6usize, failure).prop_map(|(operation, failure)| Fault {
        operation,
        failure,
        dead: true,
    })
}

fn apply<S: Storage>(store: &mut TrustStore<S>, step: &Step, time: u64) -> sealstone::Result<()> {
    let change = Change {
        time,
        operator: "bob",
        note: None,
    };
    match step {
        Step::SetStatus(who, status, note) => store
            .set_status(
                &name(*who),
                *status,
                &Change {
                    note: note.as_deref(),
                    ..change
                },
            )
            .map(drop),
        Step::SetSince(who, status, since) => store
            .set_status_since(&name(*who), *status, *since, &change)
            .map(drop),
        Step::Relabel(who, label) => store.relabel(&name(*who), label, &change).map(drop),
        Step::Reinstate(who) => store.reinstate(&name(*who), &change).map(drop),
        Step::Rekey => store.rekey(&change),
    }
}

/// The model after `step`; `None` if the step is not allowed.
fn modelled(model: &Model, exists: bool, step: &Step, time: u64) -> Option<Model> {
    let mut model = model.clone();
    let (Step::SetStatus(who, ..)
    | Step::SetSince(who, ..)
    | Step::Relabel(who, _)
    | Step::Reinstate(who)) = step
    else {
        return exists.then_some(model);
    };
    let old = model.get(&name(*who)).cloned();
    let first = old.as_ref().map_or(time, |row| row.3);
    let (status, label, note, since) = edited(old, step, time)?;
    model.insert(name(*who), (status, label, note, first, time, since));
    Some(model)
}

/// Status, label, note and since of a record after `step`.
fn edited(
    old: Option<Row>,
    step: &Step,
    time: u64,
) -> Option<(Status, String, String, Option<u64>)> {
    use Status::{Compromised, Revoked};
    let before = old.as_ref().map(|row| row.0);
    let is_better = |status: Status| match before {
        Some(Revoked) => !matches!(status, Revoked | Compromised),
        Some(Compromised) => status != Compromised,
        _ => false,
    };
    match (step, old) {
        (Step::SetStatus(_, status, _) | Step::SetSince(_, status, _), _) if is_better(*status) => {
            None
        }
        (Step::SetStatus(_, status, note), old) => {
            let kept = old
                .as_ref()
                .and_then(|row| row.5)
                .filter(|_| before == Some(Revoked));
            let since = (*status == Revoked).then(|| kept.unwrap_or(time));
            let (label, old_note) = old.map(|row| (row.1, row.2)).unwrap_or_default();
            Some((*status, label, note.clone().unwrap_or(old_note), since))
        }
        (Step::SetSince(_, status, since), old) => {
            let (label, note) = old.map(|row| (row.1, row.2)).unwrap_or_default();
            let allowed = matches!(status, Revoked | Compromised) && *since <= time;
            allowed.then_some((*status, label, note, Some(*since)))
        }
        (Step::Relabel(_, label), Some(old)) => Some((old.0, label.clone(), old.2, old.5)),
        (Step::Reinstate(_), Some((Revoked | Compromised, label, note, ..))) => {
            Some((Status::Pending, label, note, None))
        }
        _ => None,
    }
}

fn contents<S: Storage>(store: &TrustStore<S>) -> Model {
    let row = |r: sealstone::trust::Record<'_>| {
        (
            r.status(),
            r.label().to_owned(),
            r.note().to_owned(),
            r.first_seen(),
            r.changed(),
            r.since(),
        )
    };
    store
        .iter()
        .map(|record| (record.fingerprint(), row(record)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn the_store_does_what_a_map_does(steps in proptest::collection::vec((step(), proptest::option::weighted(0.4, fault())), 1..40)) {
        let memory = Memory::default();
        let mut model = Model::new();
        for (number, (step, fault)) in steps.into_iter().enumerate() {
            let time = START + number as u64;
            let exists = memory.get(sealstone::trust::File::Key).is_some();
            let expected = modelled(&model, exists, &step, time);
            let mut store = TrustStore::open(Faulty::new(memory.clone(), fault)).unwrap();
            let done = apply(&mut store, &step, time);
            let now = contents(&TrustStore::open(memory.clone()).unwrap());
            match (&done, expected) {
                (Ok(()), expected) => prop_assert_eq!(Some(&now), expected.as_ref()),
                (Err(sealstone::Error::Io(_)), Some(expected)) => prop_assert!(now == model || now == expected),
                (Err(_), expected) => {
                    prop_assert!(expected.is_none(), "{:?}: {:?}", step, done);
                    prop_assert_eq!(&now, &model);
                }
            }
            model = now;
        }
    }
}
