//! A limit of tokens for each network, or each account of another gate, in each period.

use std::net::IpAddr;

use sealstone_primitives::secret::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use super::mac::Mac;
use super::{Ask, Failure, Gate, Way};
use crate::store::{Change, Count, Set};
use crate::{Error, Result};

/// Options of the gate `rate`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Tokens for each network, or account, in each period.
    pub limit: u64,
    /// Seconds of a period.
    pub period: u64,
    /// The gate whose accounts are counted, instead of networks.
    #[serde(default)]
    pub of: Option<String>,
}

/// The addresses of one customer of a provider: an IPv4 address, or 64 bits of an IPv6 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Network([u8; 9]);

impl From<IpAddr> for Network {
    fn from(address: IpAddr) -> Self {
        let mut bytes = [0; 9];
        match address.to_canonical() {
            IpAddr::V4(v4) => {
                bytes[0] = 4;
                bytes[1..5].copy_from_slice(&v4.octets());
            }
            IpAddr::V6(v6) => {
                bytes[0] = 6;
                bytes[1..].copy_from_slice(&v6.octets()[..8]);
            }
        }
        Self(bytes)
    }
}

/// Counters of periods. The store does not learn whose they are.
pub(super) struct Periods {
    prefix: String,
    length: u64,
    mac: Mac,
}

impl Periods {
    /// Counters of the gate `name`, whose periods have this number of seconds.
    pub(super) fn new(kind: &str, name: &str, length: u64, secret: &Secret<32>) -> Self {
        Self {
            prefix: format!("{kind}-{name}"),
            length,
            mac: Mac::new(secret, kind, name),
        }
    }

    /// Counts `tokens` for the account or network that `key` names.
    pub(super) fn count(&self, key: &[u8], tokens: u64, limit: u64, now: u64) -> Count {
        let period = now / self.length;
        let until = period.saturating_add(1).saturating_mul(self.length);
        let set = Set::new(format!("{}-{period}", self.prefix), until);
        Count::new(&set, self.mac.tag(&[key]), tokens, limit)
    }
}

pub(super) struct Rate {
    name: String,
    options: Options,
    periods: Periods,
    of: Option<Box<dyn Gate>>,
}

impl Rate {
    pub(super) fn new(
        name: &str,
        options: &Options,
        of: Option<Box<dyn Gate>>,
        secret: &Secret<32>,
    ) -> Result<Self> {
        if options.limit == 0 || options.period == 0 {
            return Err(Error::Config(format!(
                "the gate {name} needs a limit and a period of at least 1"
            )));
        }
        if of.as_ref().is_some_and(|of| !of.has_accounts()) {
            return Err(Error::Config(format!(
                "the gate {name}: the gate in `of` knows no accounts"
            )));
        }
        Ok(Self {
            name: name.to_owned(),
            options: options.clone(),
            periods: Periods::new("rate", name, options.period, secret),
            of,
        })
    }

    fn count(&self, key: &[u8], ask: &Ask<'_>) -> Count {
        self.periods
            .count(key, ask.tokens, self.options.limit, ask.now)
    }
}

impl Gate for Rate {
    fn describe(&self, now: u64) -> Value {
        let mut described = json!({
            "kind": "rate", "name": self.name,
            "limit": self.options.limit, "period": self.options.period,
        });
        if let Some(of) = &self.of {
            described["of"] = json!([of.describe(now)]);
        }
        described
    }

    fn check(&self, ask: &Ask<'_>) -> std::result::Result<Vec<Way>, Failure> {
        let Some(of) = &self.of else {
            let network = ask.network.ok_or(Failure::Wrong("no network address"))?;
            let change = Change::new(ask.now).count(self.count(&network.0, ask));
            return Ok(vec![Way::new(change, None)]);
        };
        let limited = |way: Way| -> std::result::Result<Way, Failure> {
            let account = way.account.as_ref();
            let account = account.ok_or(Failure::Wrong("the proof tells no account"))?;
            let count = self.count(&account.key, ask);
            Ok(way.with(|change| change.count(count)))
        };
        of.check(ask)?.into_iter().map(limited).collect()
    }

    fn ways(&self) -> usize {
        self.of.as_ref().map_or(1, |of| of.ways())
    }

    fn has_accounts(&self) -> bool {
        self.of.is_some()
    }

    fn has_ages(&self) -> bool {
        self.of.as_ref().is_some_and(|of| of.has_ages())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_customer_is_one_network() {
        let network = |text: &str| Network::from(text.parse::<IpAddr>().expect("an address"));
        assert_eq!(network("2001:db8::1"), network("2001:db8::ffff:1"));
        assert_ne!(network("2001:db8::1"), network("2001:db8:0:1::1"));
        assert_ne!(network("192.0.2.1"), network("192.0.2.2"));
        assert_eq!(network("192.0.2.1"), network("::ffff:192.0.2.1"));
    }
}
