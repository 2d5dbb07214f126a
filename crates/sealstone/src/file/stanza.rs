//! Stanzas: the file key, wrapped for each recipient (`spec/file.md`, "Header").
//!
//! Each kind of recipient is one module: it parses, wraps, unwraps and describes its stanza, and
//! chooses the user's keys that may open it. [`KINDS`] lists the kinds.

pub(super) mod passphrase;
pub(super) mod passport;

pub use passport::WrappedKey;

use minicbor::decode::Error as DecodeError;
use minicbor::encode::Error as EncodeError;
use minicbor::encode::Write;
use minicbor::{Decode, Decoder, Encode, Encoder};
use sealstone_primitives::rng;
use sealstone_primitives::secret::Secret;
use serde_json::{Map, Value};

use super::hedge::{Hedge, StanzaHedge};
use super::one_time::{OneTime, TAG_LEN};
use crate::passport::{Fingerprint, Passport};
use crate::{Error, KdfLimits, KdfParams, NO_PROGRESS, OnProgress, Passphrase, Result};

/// The key that opens a sealed file for one recipient, as anyone can see it.
///
/// It tells types of [`Keys`] apart, not kinds of stanza: several kinds may need the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecipientInfo {
    /// A passport, by its fingerprint.
    Passport(Fingerprint),
    /// A passport that is not named.
    Anonymous,
    /// A passphrase, with its Argon2id parameters.
    Passphrase(KdfParams),
}

impl RecipientInfo {
    /// The type of key in one word: `passport` or `passphrase`.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Passport(_) | Self::Anonymous => "passport",
            Self::Passphrase(_) => "passphrase",
        }
    }

    /// The passport that the file names.
    pub fn passport(&self) -> Option<Fingerprint> {
        match self {
            Self::Passport(fingerprint) => Some(*fingerprint),
            _ => None,
        }
    }

    /// Whether a passphrase opens it.
    pub fn is_passphrase(&self) -> bool {
        matches!(self, Self::Passphrase(_))
    }
}

/// One way to open a sealed file, in words and as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The kind of recipient, in one word.
    pub kind: &'static str,
    /// The recipient in one line of text.
    pub text: String,
    /// Everything that is known about the recipient, by name.
    pub facts: Vec<(&'static str, Fact)>,
}

/// A value in a [`Description`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A text.
    Text(String),
    /// A number.
    Number(u64),
}

impl Description {
    /// As a JSON object.
    pub fn to_json(&self) -> Value {
        let value = |fact: &Fact| match fact {
            Fact::Text(text) => Value::from(text.as_str()),
            Fact::Number(number) => Value::from(*number),
        };
        let mut fields = Map::from_iter([("kind".to_owned(), Value::from(self.kind))]);
        let facts = self.facts.iter();
        fields.extend(facts.map(|(name, fact)| ((*name).to_owned(), value(fact))));
        Value::Object(fields)
    }
}

/// The keys of a user that fit a file best.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fitting {
    /// Any of these passports, by their position.
    Passports(Vec<usize>),
    /// A passphrase.
    Passphrase,
}

/// A passport that the file names comes first, then anonymous recipients, then a passphrase, which
/// costs most. If the file names several passports, the user's first one is chosen.
pub(super) fn fitting(stanzas: &[Stanza], own: &[Fingerprint], current: usize) -> Option<Fitting> {
    let fitting = stanzas.iter().filter_map(|s| s.0.fitting(own, current));
    fitting.min().map(|(_, fitting)| fitting)
}

/// The keys of a user, to open a file.
#[derive(Clone, Copy)]
pub struct Keys<'a> {
    /// Passports of the user.
    pub passports: &'a [&'a Passport],
    /// Passphrases to try.
    pub passphrases: &'a [&'a Passphrase],
    /// Bounds on the Argon2id parameters that the file demands.
    pub limits: KdfLimits,
    /// Receives the progress of key derivations.
    pub on_progress: OnProgress<'a>,
}

/// The file key, wrapped for one recipient, as parsed from a header or made for one.
pub(crate) struct Stanza(Box<dyn Kind>);

/// The behaviour of one kind of stanza.
pub(super) trait Kind: Send + Sync {
    fn number(&self) -> u32;
    /// The CBOR array of the specification.
    fn encode(&self) -> Vec<u8>;
    fn info(&self) -> RecipientInfo;
    fn describe(&self) -> Description;
    /// The stanza as a passport that is elsewhere unwraps it; `None` if it is not for a passport.
    fn for_passport(&self) -> Option<WrappedKey> {
        None
    }
    /// The user's keys that may open the stanza, and when they are tried; `None` if it is for
    /// somebody else. `own` are the user's passports. The first `current` ones are tried on a
    /// stanza that names none.
    fn fitting(&self, own: &[Fingerprint], current: usize) -> Option<(Turn, Fitting)>;
    /// When a reader with `keys` tries this stanza; `None` if no key is of its kind.
    fn turn(&self, keys: &Keys<'_>) -> Option<Turn>;
    /// The key derivations that [`Kind::unwrap`] runs at most.
    fn derivations(&self, keys: &Keys<'_>) -> Vec<KdfParams>;
    /// The file key; `None` if no key fits, an error if the stanza names one of `keys` in vain.
    fn unwrap(&self, keys: &Keys<'_>) -> Result<Option<Secret<32>>>;
}

/// The order in which a reader tries stanzas.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Turn {
    /// The stanza names a key of the reader.
    Named,
    /// Trying is cheap.
    Unnamed,
    /// Each try costs a key derivation.
    Derived,
}

/// A recipient of a file that is to be sealed.
pub(super) trait Recipient {
    /// The number of its kind of stanza.
    fn number(&self) -> u32;
    /// Whether the order of stanzas must not identify it.
    fn is_anonymous(&self) -> bool;
    fn wrap(
        &self,
        file_key: &Secret<32>,
        hedge: StanzaHedge<'_>,
        on_progress: OnProgress<'_>,
    ) -> Result<Box<dyn Kind>>;
}

/// How a kind of stanza stands in a header.
struct Entry {
    /// The first item of its CBOR array.
    number: u32,
    /// The most stanzas of this kind in a header.
    most: usize,
    parse: fn(&mut Decoder<'_>) -> Result<Box<dyn Kind>, DecodeError>,
}

/// Every kind of stanza.
const KINDS: &[&Entry] = &[&passport::ENTRY, &passphrase::ENTRY];
/// The most recipients of a file.
const MAX_STANZAS: usize = 1024;
/// Bytes of a file key under XChaCha20-Poly1305.
const WRAPPED_LEN: usize = 32 + TAG_LEN;

impl<'a> Keys<'a> {
    /// Passports and passphrases, with the default limits and no report of progress.
    pub fn new(passports: &'a [&'a Passport], passphrases: &'a [&'a Passphrase]) -> Self {
        Self {
            passports,
            passphrases,
            limits: KdfLimits::default(),
            on_progress: NO_PROGRESS,
        }
    }
}

impl Stanza {
    pub(crate) fn info(&self) -> RecipientInfo {
        self.0.info()
    }

    pub(crate) fn for_passport(&self) -> Option<WrappedKey> {
        self.0.for_passport()
    }

    pub(crate) fn describe(&self) -> Description {
        self.0.describe()
    }
}

/// Refuses a header with no recipient or too many.
pub(crate) fn check_number(stanzas: &[Stanza]) -> Result<()> {
    let fit = counts_fit(stanzas.iter().map(|stanza| stanza.0.number()));
    fit.then_some(())
        .ok_or(Error::Malformed("sealed file header: number of recipients"))
}

/// Wraps the file key of `hedge` for each recipient.
///
/// The order is random if any recipient is anonymous.
pub(super) fn wrap_all(
    recipients: &[Box<dyn Recipient + Send + Sync + '_>],
    hedge: &Hedge,
    on_progress: OnProgress<'_>,
) -> Result<Vec<Stanza>> {
    if !counts_fit(recipients.iter().map(|recipient| recipient.number())) {
        return Err(Error::Invalid(
            "a sealed file has 1 to 1024 recipients, at most 8 of them passphrases",
        ));
    }
    let mut stanzas = Vec::with_capacity(recipients.len());
    let file_key = hedge.file_key();
    for (index, recipient) in recipients.iter().enumerate() {
        let stanza = recipient.wrap(&file_key, hedge.of_stanza(index), on_progress)?;
        stanzas.push(Stanza(stanza));
    }
    if recipients.iter().any(|recipient| recipient.is_anonymous()) {
        shuffle(&mut stanzas);
    }
    Ok(stanzas)
}

/// The file key, and the recipient whose stanza gave it.
pub(super) fn unwrap_any(
    stanzas: &[Stanza],
    keys: &Keys<'_>,
) -> Result<(Secret<32>, RecipientInfo)> {
    let turn = |stanza: &'_ Stanza| stanza.0.turn(keys);
    let mut tries: Vec<_> = stanzas.iter().filter(|s| turn(s).is_some()).collect();
    tries.sort_by_key(|stanza| turn(stanza));
    let cheap = tries.partition_point(|stanza| turn(stanza) < Some(Turn::Derived));
    let (cheap, derived) = tries.split_at(cheap);
    if let Some(found) = unwrap_first(cheap, keys)? {
        return Ok(found);
    }
    if derived.is_empty() {
        return Err(Error::NotRecipient);
    }
    let derivations: Vec<_> = derived.iter().flat_map(|s| s.0.derivations(keys)).collect();
    keys.limits.check_all(&derivations)?;
    unwrap_first(derived, keys)?.ok_or(Error::WrongPassphrase)
}

fn unwrap_first(tries: &[&Stanza], keys: &Keys<'_>) -> Result<Option<(Secret<32>, RecipientInfo)>> {
    for stanza in tries {
        if let Some(key) = stanza.0.unwrap(keys)? {
            return Ok(Some((key, stanza.info())));
        }
    }
    Ok(None)
}

fn counts_fit(numbers: impl Iterator<Item = u32> + Clone) -> bool {
    let of = |entry: &Entry| numbers.clone().filter(|n| *n == entry.number).count();
    (1..=MAX_STANZAS).contains(&numbers.clone().count())
        && KINDS.iter().all(|entry| of(entry) <= entry.most)
}

impl<C> Encode<C> for Stanza {
    fn encode<W: Write>(&self, e: &mut Encoder<W>, _: &mut C) -> Result<(), EncodeError<W::Error>> {
        let encoded = self.0.encode();
        e.writer_mut()
            .write_all(&encoded)
            .map_err(EncodeError::write)
    }
}

impl<'b, C> Decode<'b, C> for Stanza {
    fn decode(d: &mut Decoder<'b>, _: &mut C) -> Result<Self, DecodeError> {
        let mut ahead = d.probe();
        ahead.array()?;
        let number = ahead.u32()?;
        let entry = KINDS.iter().find(|entry| entry.number == number);
        let entry = entry.ok_or_else(|| DecodeError::message("kind of stanza"))?;
        (entry.parse)(d).map(Self)
    }
}

/// Begins to parse the array of a stanza: its length and its number.
fn begin(d: &mut Decoder<'_>, len: u64) -> Result<(), DecodeError> {
    if d.array()? != Some(len) {
        return Err(DecodeError::message("length of a stanza"));
    }
    d.skip()
}

/// A byte string of exactly `N` bytes.
fn octets<const N: usize>(d: &mut Decoder<'_>) -> Result<[u8; N], DecodeError> {
    <[u8; N]>::try_from(d.bytes()?).map_err(|_| DecodeError::message("length of a byte string"))
}

fn wrap(kek: &Secret<32>, file_key: &Secret<32>) -> [u8; WRAPPED_LEN] {
    let sealed = OneTime::new(kek).seal(&file_key.expose()[..]);
    sealed.try_into().expect("32 bytes and a tag are 48 bytes")
}

fn unwrap(kek: &Secret<32>, wrapped: &[u8; WRAPPED_LEN]) -> Option<Secret<32>> {
    let opened = OneTime::new(kek).open(wrapped)?;
    Secret::from_slice(&opened).ok()
}

/// Fisher–Yates with the system's randomness.
fn shuffle<T>(items: &mut [T]) {
    for i in (1..items.len()).rev() {
        let bound = u32::try_from(i + 1).expect("at most 1024 stanzas");
        items.swap(i, rng::below(bound) as usize);
    }
}
