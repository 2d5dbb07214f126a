//! An unlocked passport: the root seed and everything that follows from it.

use std::fmt;

use sealstone_primitives::dh::x25519;
use sealstone_primitives::kem::ml_kem_1024;
use sealstone_primitives::secret::Secret;
use sealstone_primitives::sign::{ed25519, ml_dsa_65};

use super::keys::Keys;
use super::public::{self, Body, Contact, MAX_LABEL, PublicPassport, Signed, Succession};
use super::{Fingerprint, Share, Words, share};
use crate::sign::SigningKeys;
use crate::wire::{cbor, text};
use crate::{Error, Result};

/// An unlocked identity of a person or machine. Its secrets are wiped on drop and never printed.
///
/// ```
/// use sealstone::passport::Passport;
///
/// let alice = Passport::generate("Alice", 1_767_225_600)?;
/// let handed_out = alice.public().to_armor();
///
/// let paper = alice.words();
/// let restored = Passport::from_words(&paper, "Alice again", 1_798_761_600)?;
/// assert_eq!(restored.fingerprint(), alice.fingerprint());
/// # Ok::<(), sealstone::Error>(())
/// ```
pub struct Passport {
    seed: Secret<32>,
    keys: Keys,
    contact: Contact,
}

impl Passport {
    /// A new identity; `created` in seconds since 1970.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `label` is not 1 to 64 bytes of printable text.
    pub fn generate(label: &str, created: u64) -> Result<Self> {
        Self::from_seed(Secret::random(), label, created)
    }

    /// The identity derived from `seed`, whose 32 bytes must be uniformly random.
    ///
    /// # Errors
    /// As for [`Passport::generate`].
    pub fn from_seed(seed: Secret<32>, label: &str, created: u64) -> Result<Self> {
        text::check(label, 1, MAX_LABEL, "").map_err(|_| Error::Invalid(label_rule(label)))?;
        let keys = Keys::derive(&seed);
        let contact =
            Contact::from_body(keys.body(label, created)).expect("derived keys are valid");
        Ok(Self {
            seed,
            keys,
            contact,
        })
    }

    /// From a paper backup. Label and time are new: a backup does not hold them.
    ///
    /// # Errors
    /// As for [`Passport::generate`].
    pub fn from_words(words: &Words, label: &str, created: u64) -> Result<Self> {
        Self::from_seed(words.seed(), label, created)
    }

    /// From enough shares of one split. All given shares are used. Label and time are new.
    ///
    /// # Errors
    /// [`Error::Invalid`] if they are too few, come from different splits, or one is there twice;
    /// [`Error::Altered`] if they do not restore the passport that was split. Otherwise as for
    /// [`Passport::generate`].
    pub fn from_shares(shares: &[Share], label: &str, created: u64) -> Result<Self> {
        let passport = Self::from_seed(share::join(shares)?, label, created)?;
        let expected = shares.first().map(Share::passport);
        let right =
            expected.is_some_and(|prefix| passport.fingerprint().as_bytes().starts_with(&prefix));
        if right {
            Ok(passport)
        } else {
            Err(Error::Altered("share"))
        }
    }

    /// The name of this passport.
    pub fn fingerprint(&self) -> Fingerprint {
        self.contact.fingerprint()
    }

    /// The public keys, label and creation time.
    pub fn contact(&self) -> &Contact {
        &self.contact
    }

    /// The public passport to hand out, signed by the passport itself.
    pub fn public(&self) -> PublicPassport {
        self.sign(self.body(None))
    }

    /// The public passport of `new` with this passport's statement that `new` replaces it.
    pub fn succeed(&self, new: &Self, time: u64) -> PublicPassport {
        let message = Succession::message(&self.fingerprint(), &new.fingerprint(), time);
        let signature = self
            .keys
            .signing
            .sign(public::SUCCESSION_DOMAIN, &message)
            .expect("a fresh signature verifies");
        new.sign(new.body(Some(Succession::new(self.fingerprint(), time, signature))))
    }

    /// The root seed as 24 words. Anybody who has the words has the passport.
    pub fn words(&self) -> Words {
        Words::of_seed(&self.seed)
    }

    /// Splits the root seed into `count` shares, any `threshold` of which restore it.
    ///
    /// # Errors
    /// [`Error::Invalid`] unless 2 ≤ `threshold` ≤ `count` ≤ 16.
    pub fn split(&self, threshold: u8, count: u8) -> Result<Vec<Share>> {
        share::split(&self.seed, self.fingerprint(), threshold, count)
    }

    pub(crate) fn signing(&self) -> &SigningKeys {
        &self.keys.signing
    }

    /// The keys that sign packages.
    pub(crate) fn package_signing(&self) -> (&ed25519::SigningKey, &ml_dsa_65::SigningKey) {
        (self.keys.signing.ed25519(), &self.keys.ml_dsa_65)
    }

    /// A key for the HMAC of packages that only this passport makes and verifies (layer 2).
    pub fn package_hmac_key(&self) -> &Secret<32> {
        &self.keys.package_mac
    }

    pub(crate) fn x25519(&self) -> &x25519::PrivateKey {
        &self.keys.x25519
    }

    pub(crate) fn ml_kem_1024(&self) -> &ml_kem_1024::DecapsulationKey {
        &self.keys.ml_kem_1024
    }

    /// An input to the randomness of sealed files.
    pub(crate) fn hedge(&self) -> &Secret<32> {
        &self.keys.hedge
    }

    pub(crate) fn seed(&self) -> &Secret<32> {
        &self.seed
    }

    pub(super) fn file_mac(&self) -> &Secret<32> {
        &self.keys.file_mac
    }

    fn body(&self, succession: Option<Succession>) -> Body {
        Body {
            succession,
            ..self.keys.body(self.contact.label(), self.contact.created())
        }
    }

    fn sign(&self, body: Body) -> PublicPassport {
        let body = cbor::encode(&body);
        let signature = self
            .keys
            .signing
            .sign(public::DOMAIN, &body)
            .expect("a fresh signature verifies");
        let signed = Signed {
            body,
            ed25519: signature.ed25519.to_vec(),
            ml_dsa_87: signature.ml_dsa_87.to_vec(),
        };
        // A wrong signature, made by a fault, can reveal the key. Verified here, it never leaves.
        PublicPassport::from_encoded(cbor::encode(&signed)).expect("a fresh signature verifies")
    }
}

/// The rule that a label breaks.
fn label_rule(label: &str) -> &'static str {
    if text::odd_spaces(label) {
        return "a label neither begins nor ends with a space, and has no two in a row";
    }
    match (1..=MAX_LABEL).contains(&label.len()) {
        true => "a label has no invisible characters, and is in Unicode form NFC",
        false => "a label is 1 to 64 bytes of printable text",
    }
}

impl fmt::Debug for Passport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Passport({:?}, {}, ..)",
            self.contact.label(),
            self.fingerprint()
        )
    }
}
