//! Trust that grows: the older an account, the more tokens in each period (`spec/service.md`,
//! "Trust").

use sealstone_primitives::secret::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use super::rate::Periods;
use super::{Ask, Failure, Gate, Way};
use crate::{Error, Result};

/// Options of the gate `trust`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The gate that knows accounts and their age.
    pub of: String,
    /// Seconds of a period.
    pub period: u64,
    /// Rights of accounts, the youngest first.
    pub levels: Vec<Level>,
}

/// Rights of accounts of one age.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// The least age in seconds.
    pub age: u64,
    /// Tokens in each period.
    pub limit: u64,
}

pub(super) struct Trust {
    name: String,
    options: Options,
    periods: Periods,
    of: Box<dyn Gate>,
}

impl Trust {
    pub(super) fn new(
        name: &str,
        options: &Options,
        of: Box<dyn Gate>,
        secret: &Secret<32>,
    ) -> Result<Self> {
        let wrong = |what: &str| Err(Error::Config(format!("the gate {name}: {what}")));
        if !of.has_ages() {
            return wrong("the gate in `of` knows no age of accounts: use one of invitations");
        }
        let levels = &options.levels;
        let grows = |pair: &[Level]| pair[0].age < pair[1].age && pair[0].limit <= pair[1].limit;
        if levels.is_empty() || options.period == 0 || !levels.windows(2).all(grows) {
            return wrong("it needs a period, and levels whose ages and limits grow");
        }
        Ok(Self {
            name: name.to_owned(),
            options: options.clone(),
            periods: Periods::new("trust", name, options.period, secret),
            of,
        })
    }

    /// How many tokens an account of this age may get in a period.
    fn limit(&self, age: u64) -> Option<u64> {
        let reached = self
            .options
            .levels
            .iter()
            .take_while(|level| level.age <= age);
        reached.last().map(|level| level.limit)
    }
}

impl Gate for Trust {
    fn describe(&self, now: u64) -> Value {
        let level = |level: &Level| json!({"age": level.age, "limit": level.limit});
        let levels: Vec<Value> = self.options.levels.iter().map(level).collect();
        json!({
            "kind": "trust", "name": self.name, "period": self.options.period,
            "levels": levels, "of": [self.of.describe(now)],
        })
    }

    fn check(&self, ask: &Ask<'_>) -> std::result::Result<Vec<Way>, Failure> {
        let limited = |way: Way| -> std::result::Result<Way, Failure> {
            let account = way.account.as_ref();
            let account = account.ok_or(Failure::Wrong("the proof tells no account"))?;
            // An account without a beginning begins now.
            let age = ask.now.saturating_sub(account.since.unwrap_or(ask.now));
            let limit = self
                .limit(age)
                .ok_or(Failure::Wrong("the account is too young"))?;
            let count = self.periods.count(&account.key, ask.tokens, limit, ask.now);
            Ok(way.with(|change| change.count(count)))
        };
        self.of.check(ask)?.into_iter().map(limited).collect()
    }

    fn ways(&self) -> usize {
        self.of.ways()
    }

    fn has_accounts(&self) -> bool {
        true
    }

    fn has_ages(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::invitation::{self, Invitations};
    use super::super::pow;
    use super::*;

    fn friends() -> Box<dyn Gate> {
        let options = invitation::Options::default();
        Box::new(Invitations::new("friends", &options, &Secret::random()))
    }

    fn options(levels: &[(u64, u64)]) -> Options {
        let level = |&(age, limit): &(u64, u64)| Level { age, limit };
        Options {
            of: "friends".to_owned(),
            period: 60,
            levels: levels.iter().map(level).collect(),
        }
    }

    #[test]
    fn limits_grow_with_age() {
        let options = options(&[(10, 1), (20, 5), (30, 50)]);
        let gate = Trust::new("t", &options, friends(), &Secret::random()).expect("levels");
        let limits = [9, 10, 19, 20, 29, 30, u64::MAX].map(|age| gate.limit(age));
        let expected = [None, Some(1), Some(1), Some(5), Some(5), Some(50), Some(50)];
        assert_eq!(limits, expected);
    }

    #[test]
    fn levels_that_do_not_grow_are_refused() {
        for levels in [
            &[][..],
            &[(1, 1), (1, 2)],
            &[(2, 1), (1, 2)],
            &[(1, 2), (2, 1)],
        ] {
            let made = Trust::new("t", &options(levels), friends(), &Secret::random());
            assert!(made.is_err(), "{levels:?}");
        }
        let work = pow::Pow::new("w", &pow::Options::default(), &Secret::random());
        let of = Box::new(work.expect("options"));
        let made = Trust::new("t", &options(&[(0, 1)]), of, &Secret::random());
        assert!(made.is_err(), "work knows no accounts");
    }
}
