//! Decides about a change, on any kind of table.

use std::collections::{HashMap, HashSet};

use super::{Change, Count, Key, Mark, Outcome, Refusal, Set};

/// A mark: its time and its operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Made {
    pub(super) time: u64,
    pub(super) operation: Option<Key>,
}

/// The present state.
pub(super) trait State {
    type Error;

    fn is_closed(&mut self, set: &Set) -> Result<bool, Self::Error>;
    fn mark(&mut self, set: &Set, key: &Key) -> Result<Option<Made>, Self::Error>;
    fn count(&mut self, set: &Set, key: &Key) -> Result<u64, Self::Error>;
}

/// The outcome of `change`. After [`Outcome::Done`] the caller makes it.
pub(super) fn evaluate<S: State>(state: &mut S, change: &Change) -> Result<Outcome, S::Error> {
    for set in change.sets() {
        if state.is_closed(set)? {
            return Ok(Outcome::Refused(Refusal::Closed));
        }
    }
    match repeated(state, change)? {
        Some(repeated) if repeated > 0 && repeated == change.marks.len() => {
            return Ok(Outcome::Repeated);
        }
        Some(0) => {}
        _ => return Ok(Outcome::Refused(Refusal::Spent)),
    }
    for mark in &change.absent {
        if state.mark(&mark.set, &mark.key)?.is_some() {
            return Ok(Outcome::Refused(Refusal::Present));
        }
    }
    match counts_fit(state, &change.counts)? {
        true => Ok(Outcome::Done),
        false => Ok(Outcome::Refused(Refusal::Limit)),
    }
}

/// How many marks the same operation made before; none if another made one, or if the change
/// holds a mark twice.
fn repeated<S: State>(state: &mut S, change: &Change) -> Result<Option<usize>, S::Error> {
    let (mut seen, mut repeated) = (HashSet::new(), 0);
    for mark in &change.marks {
        if !seen.insert((&mark.set.name, &mark.key)) {
            return Ok(None);
        }
        match state.mark(&mark.set, &mark.key)? {
            None => {}
            Some(made) if is_repetition(mark, &made, change) => repeated += 1,
            Some(_) => return Ok(None),
        }
    }
    Ok(Some(repeated))
}

pub(super) fn is_repetition(mark: &Mark, made: &Made, change: &Change) -> bool {
    let is_same = mark.operation.is_some() && mark.operation == made.operation;
    // A clock that was set back gives no longer grace.
    is_same && change.now.abs_diff(made.time) <= change.grace
}

fn counts_fit<S: State>(state: &mut S, counts: &[Count]) -> Result<bool, S::Error> {
    let mut totals: HashMap<(&str, &Key), u64> = HashMap::new();
    for count in counts {
        let place = (count.set.name.as_str(), &count.key);
        let before = match totals.get(&place) {
            Some(total) => *total,
            None => state.count(&count.set, &count.key)?,
        };
        let total = before.saturating_add(count.add);
        if total > count.limit {
            return Ok(false);
        }
        totals.insert(place, total);
    }
    Ok(true)
}

/// A mark without an operation needs no value, and most marks have none.
pub(super) fn encode_made(time: u64, operation: Option<&Key>) -> Vec<u8> {
    match operation {
        None => Vec::new(),
        Some(operation) => [&time.to_be_bytes()[..], operation].concat(),
    }
}

pub(super) fn decode_made(bytes: &[u8]) -> Made {
    let (time, operation) = bytes.split_at_checked(8).unwrap_or_default();
    Made {
        time: time.try_into().map_or(0, u64::from_be_bytes),
        operation: operation.try_into().ok(),
    }
}
