//! The clients' history, and the claims about it.

use std::collections::HashMap;

/// The answer to one attempt to redeem a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// 200.
    Accepted,
    /// 401: it was spent.
    Spent,
    /// No answer, or 503: the token may be spent.
    Unknown,
    /// Anything else.
    Other(u16),
}

/// All attempts for all tokens, each in the order of its end.
#[derive(Debug, Default)]
pub(crate) struct History(HashMap<usize, Vec<Seen>>);

impl History {
    pub(crate) fn add(&mut self, token: usize, seen: Seen) {
        self.0.entry(token).or_default().push(seen);
    }

    /// The number of attempts with this result.
    pub(crate) fn count(&self, what: Seen) -> usize {
        let attempts = self.0.values().flatten();
        attempts.filter(|seen| **seen == what).count()
    }

    /// Checks a history whose last attempt for each token was answered.
    ///
    /// A token that was accepted twice is a double spend. If a service was killed in between, the
    /// first acceptance was lost. A refused token must have been accepted, or have an attempt
    /// without an answer.
    pub(crate) fn check(&self) -> Result<(), String> {
        for (token, seen) in &self.0 {
            let count = |what: Seen| seen.iter().filter(|s| **s == what).count();
            if let Some(other) = seen.iter().find(|s| matches!(s, Seen::Other(_))) {
                return Err(format!("token {token}: {other:?}"));
            }
            if count(Seen::Accepted) > 1 {
                return Err(format!("token {token} was accepted twice: {seen:?}"));
            }
            let is_explained = count(Seen::Accepted) + count(Seen::Unknown) > 0;
            if count(Seen::Spent) > 0 && !is_explained {
                return Err(format!(
                    "token {token} was never accepted, and is refused: {seen:?}"
                ));
            }
            if seen.last() == Some(&Seen::Unknown) {
                return Err(format!("token {token} has no answer at the end"));
            }
        }
        Ok(())
    }
}

#[test]
fn wrong_histories_are_caught() {
    use Seen::{Accepted, Other, Spent, Unknown};
    let check = |seen: &[Seen]| {
        let mut history = History::default();
        seen.iter().for_each(|seen| history.add(7, *seen));
        history.check().is_ok()
    };
    for good in [
        &[Accepted][..],
        &[Accepted, Spent, Spent],
        &[Spent, Accepted],
        &[Unknown, Spent],
        &[Unknown, Accepted, Spent],
    ] {
        assert!(check(good), "{good:?}");
    }
    for bad in [
        &[Accepted, Accepted][..],
        &[Accepted, Spent, Accepted],
        &[Unknown, Accepted, Accepted],
        &[Spent],
        &[Accepted, Unknown],
        &[Other(500)],
    ] {
        assert!(!check(bad), "{bad:?}");
    }
}
