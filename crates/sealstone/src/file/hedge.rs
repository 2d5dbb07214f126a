//! The randomness of a file (`spec/file.md`, "Randomness").
//!
//! A cloned machine can repeat the output of its generator. The file key and the random values of
//! stanzas therefore also depend on the time and on the sender's secret.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sealstone_primitives::kdf::{self, Prk};
use sealstone_primitives::secret::Secret;

/// The source of all random values of one file.
pub(super) struct Hedge(Prk);

/// The random values of one stanza.
#[derive(Clone, Copy)]
pub(super) struct StanzaHedge<'a> {
    hedge: &'a Hedge,
    /// The place of the recipient in the order in which the user gave them, from 0.
    index: u32,
}

impl Hedge {
    /// Mixes fresh randomness with a secret of the sender and the time.
    pub(super) fn new(sender: Option<&Secret<32>>) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Self::mix(&Secret::random(), sender, now.unwrap_or_default())
    }

    fn mix(fresh: &Secret<32>, sender: Option<&Secret<32>>, since_1970: Duration) -> Self {
        let nobody = Secret::zeroed();
        let secret = sender.unwrap_or(&nobody);
        let ikm = [
            &fresh.expose()[..],
            &secret.expose()[..],
            &since_1970.as_secs().to_be_bytes(),
            &since_1970.subsec_nanos().to_be_bytes(),
        ];
        Self(kdf::extract(b"sealstone.hedge.v1", &ikm))
    }

    pub(super) fn file_key(&self) -> Secret<32> {
        self.0.expand_secret(&[b"file key"])
    }

    pub(super) fn of_stanza(&self, index: usize) -> StanzaHedge<'_> {
        let index = u32::try_from(index).expect("at most 1024 stanzas");
        StanzaHedge { hedge: self, index }
    }
}

impl StanzaHedge<'_> {
    pub(super) fn ephemeral(self) -> Secret<32> {
        self.expand(b"x25519")
    }

    pub(super) fn encapsulated(self) -> Secret<32> {
        self.expand(b"ml-kem-1024")
    }

    pub(super) fn salt(self) -> [u8; 32] {
        *self.expand(b"salt").expose()
    }

    /// A random value for the stanza. Each value of a stanza has a name of its own.
    pub(super) fn expand(self, name: &[u8]) -> Secret<32> {
        let info = [name, &self.index.to_be_bytes()];
        self.hedge.0.expand_secret(&info)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use data_encoding::HEXLOWER;

    use super::*;
    use crate::passport::Passport;

    const PAGE: &str = include_str!("../../../../spec/file.md");

    /// The value of this name in the page's worked example, in its `block`-th block.
    fn page(block: usize, name: &str) -> Vec<u8> {
        let (_, example) = PAGE.split_once("## Worked example").unwrap();
        let block = example.split("```").skip(1).step_by(2).nth(block).unwrap();
        let mut lines = block.lines().filter_map(|line| line.split_once(" = "));
        let (_, value) = lines.find(|(found, _)| found.trim() == name).unwrap();
        HEXLOWER.decode(value.as_bytes()).unwrap()
    }

    /// The hedge of the page: randomness 00 01 … 1f.
    fn of_page(sender: Option<&Passport>) -> Hedge {
        let fresh = Secret::with(|bytes| (0..).zip(bytes).for_each(|(i, byte)| *byte = i));
        Hedge::mix(
            &fresh,
            sender.map(Passport::hedge),
            Duration::new(1_767_225_600, 5),
        )
    }

    #[test]
    fn random_values_are_those_of_the_page() {
        let unsigned = of_page(None);
        assert_eq!(unsigned.file_key().expose()[..], page(0, "file key"));
        assert_eq!(unsigned.of_stanza(0).salt()[..], page(0, "salt"));
        let second = unsigned.of_stanza(1);
        assert_eq!(second.ephemeral().expose()[..], page(1, "e"));
        assert_eq!(second.encapsulated().expose()[..], page(1, "m"));

        let seed = Secret::with(|bytes| (0..).zip(bytes).for_each(|(i, byte)| *byte = i));
        let alice = Passport::from_seed(seed, "Alice", 0).unwrap();
        assert_eq!(alice.hedge().expose()[..], page(2, "s"));
        let signed = of_page(Some(&alice));
        assert_eq!(signed.file_key().expose()[..], page(2, "file key"));
    }

    #[test]
    fn a_repeated_generator_repeats_no_key() {
        let fresh = Secret::random();
        let senders = [
            Passport::generate("Alice", 0).unwrap(),
            Passport::generate("Bob", 0).unwrap(),
        ];
        let mut keys = Vec::new();
        for sender in [None, Some(&senders[0]), Some(&senders[1])] {
            for nanos in [0, 1, 1_000_000_000] {
                let hedge = Hedge::mix(
                    &fresh,
                    sender.map(Passport::hedge),
                    Duration::from_nanos(nanos),
                );
                for index in [0, 1] {
                    let stanza = hedge.of_stanza(index);
                    keys.push(*stanza.ephemeral().expose());
                    keys.push(*stanza.encapsulated().expose());
                    keys.push(stanza.salt());
                }
                keys.push(*hedge.file_key().expose());
            }
        }
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }
}
