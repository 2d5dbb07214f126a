//! Passports: identities whose keys are all derived from one 32-byte root seed
//! (`spec/passport.md`).
//!
//! | to | use |
//! |---|---|
//! | have an identity and a name for it | [`Passport`], [`Fingerprint`] |
//! | hand out or read a public half | [`PublicPassport`], [`Contact`], [`Succession`], [`Listed`] |
//! | keep it in a file under passphrases | [`SecretPassport`], [`Unlocked`], [`Slot`], [`NewSlot`] |
//! | restore it | [`RecoveryKey`], [`Words`], [`Suspect`], [`Share`] |

mod fingerprint;
mod identity;
mod keys;
mod list;
mod public;
mod recovery;
mod secret;
mod shamir;
mod share;
mod slot;
mod spell;
mod unlocked;
mod words;

pub use fingerprint::Fingerprint;
pub use identity::Passport;
pub use list::Listed;
pub use public::{Contact, PublicPassport, Succession};
pub use recovery::RecoveryKey;
pub use secret::{MAX_LEN, SecretPassport};
pub use share::Share;
pub use slot::{NewSlot, Slot, SlotKey, SlotKind};
pub use unlocked::Unlocked;
pub use words::{Suspect, Words};
