//! So many tokens for each network in each period.

use std::net::IpAddr;

use sealstone_primitives::secret::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use super::mac::Mac;
use super::{Ask, Failure, Gate};
use crate::store::{Change, Count, Set};
use crate::{Error, Result};

/// Options of the gate `rate`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Tokens for each network in each period.
    pub limit: u64,
    /// Seconds of a period.
    pub period: u64,
}

/// What one customer of a provider has: an IPv4 address, or 64 bits of an IPv6 address.
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

pub(super) struct Rate {
    name: String,
    options: Options,
    mac: Mac,
}

impl Rate {
    pub(super) fn new(name: &str, options: &Options, secret: &Secret<32>) -> Result<Self> {
        if options.limit == 0 || options.period == 0 {
            return Err(Error::Config(format!(
                "the gate {name} needs a limit and a period of at least 1"
            )));
        }
        Ok(Self {
            name: name.to_owned(),
            options: options.clone(),
            mac: Mac::new(secret, "rate", name),
        })
    }
}

impl Gate for Rate {
    fn describe(&self, _now: u64) -> Value {
        json!({
            "kind": "rate", "name": self.name,
            "limit": self.options.limit, "period": self.options.period,
        })
    }

    fn check(&self, ask: &Ask<'_>) -> std::result::Result<Vec<Change>, Failure> {
        let network = ask.network.ok_or(Failure::Wrong("no network address"))?;
        let period = ask.now / self.options.period;
        let until = period.saturating_add(1).saturating_mul(self.options.period);
        let set = Set::new(format!("rate-{}-{period}", self.name), until);
        let key = self.mac.tag(&[&network.0]);
        let count = Count::new(&set, key, ask.tokens, self.options.limit);
        Ok(vec![Change::new(ask.now).count(count)])
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
