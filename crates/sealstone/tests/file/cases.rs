//! Sealed files of many kinds, described by a text beside them. The golden files and the second
//! implementation (`interop/cases.py`) use the same text.
//!
//! Each file has a paragraph of `name: value` lines. The content is 00 01 … fa, repeated up to the
//! given length.

use std::fmt;
use std::sync::LazyLock;

use sealstone::file::{
    Dearmored, Keys, Metadata, Opening, RecipientInfo, Sealed, Sealer, Sender, Suite, Workers,
};
use sealstone::passport::{Contact, Passport};
use sealstone::{Error, KdfParams, Passphrase, Result};
use sealstone_primitives::hash::sha3_256;
use sealstone_primitives::secret::Secret;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) file: String,
    pub(crate) suite: Suite,
    pub(crate) to: Vec<To>,
    pub(crate) sender: From,
    pub(crate) armored: bool,
    pub(crate) padded: bool,
    pub(crate) metadata: Metadata,
    pub(crate) content_len: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum To {
    Passport(Who),
    Anonymous(Who),
    Passphrase(KdfParams, String),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum From {
    #[default]
    Nobody,
    Carried(Who),
    Named(Who),
}

/// The people of the golden files, and Carol, whose seed is made like theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Alice,
    Bob,
    Carol,
}

impl Who {
    pub(crate) fn passport(self) -> &'static Passport {
        static ALL: LazyLock<[Passport; 3]> = LazyLock::new(|| {
            [
                ("alice", "Alice", 1_767_225_600),
                ("bob", "Bob Åström", 1_767_225_601),
                ("carol", "Carol", 1_767_225_602),
            ]
            .map(|(name, label, created)| {
                let seed = sha3_256(format!("sealstone golden v1 {name}").as_bytes());
                Passport::from_seed(Secret::from_slice(&seed).unwrap(), label, created).unwrap()
            })
        });
        &ALL[self as usize]
    }

    fn contact(self) -> &'static Contact {
        self.passport().contact()
    }

    fn name(self) -> &'static str {
        ["alice", "bob", "carol"][self as usize]
    }

    fn parse(name: &str) -> Self {
        [Self::Alice, Self::Bob, Self::Carol]
            .into_iter()
            .find(|who| who.name() == name)
            .unwrap_or_else(|| panic!("nobody is called {name}"))
    }
}

/// Content that repeats with an odd period, so that swapped blocks show.
pub(crate) fn content(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8).collect()
}

impl Case {
    pub(crate) fn seal(&self) -> Vec<u8> {
        let passphrases: Vec<(Passphrase, KdfParams)> = self
            .to
            .iter()
            .filter_map(|to| match to {
                To::Passphrase(params, words) => Some((passphrase(words), *params)),
                _ => None,
            })
            .collect();
        let mut sealer = Sealer::new();
        for to in &self.to {
            match to {
                To::Passport(who) => sealer.to_passport(who.contact()),
                To::Anonymous(who) => sealer.to_anonymous(who.contact()),
                To::Passphrase(..) => &mut sealer,
            };
        }
        for (passphrase, params) in &passphrases {
            sealer.to_passphrase(passphrase, *params);
        }
        self.choose(&mut sealer);
        let mut file = Vec::new();
        let content = content(self.content_len);
        sealer
            .seal(&content[..], &mut file, Workers::new(2))
            .unwrap();
        file
    }

    fn choose(&self, sealer: &mut Sealer<'_>) {
        sealer.suite(self.suite).metadata(self.metadata.clone());
        match self.sender {
            From::Nobody => &mut *sealer,
            From::Carried(who) => sealer.signed_by(who.passport()),
            From::Named(who) => sealer.signed_without_carrying(who.passport()),
        };
        if self.armored {
            sealer.armored();
        }
        if self.padded {
            sealer.hide_length();
        }
    }

    /// Opens `file` with the key of each recipient and compares everything.
    pub(crate) fn check(&self, file: &[u8]) {
        for to in &self.to {
            let (sealed, armored) = read(file).unwrap();
            assert_eq!(armored, self.armored, "{}", self.file);
            assert_eq!(sealed.suite(), self.suite, "{}", self.file);
            self.check_recipients(sealed.recipients().collect());
            let opening = to
                .unlock(sealed)
                .unwrap_or_else(|error| panic!("{} {to:?}: {error}", self.file));
            assert_eq!(opening.metadata(), &self.metadata, "{}", self.file);
            let opened = self.open(opening).unwrap();
            assert!(opened == content(self.content_len), "{}", self.file);
        }
    }

    /// Opens with the key of the first recipient.
    pub(crate) fn try_open(&self, file: &[u8]) -> Result<Vec<u8>> {
        self.open(self.to[0].unlock(read(file)?.0)?)
    }

    fn check_recipients(&self, mut found: Vec<RecipientInfo>) {
        for to in &self.to {
            let at = found.iter().position(|info| *info == to.info());
            found.remove(at.unwrap_or_else(|| panic!("{}: no stanza {to:?}", self.file)));
        }
        assert!(found.is_empty(), "{}: {found:?}", self.file);
    }

    fn open(&self, opening: Opening<impl std::io::Read + Send>) -> Result<Vec<u8>> {
        let expected = match (self.sender, opening.sender()) {
            (From::Nobody, Sender::Unsigned) => None,
            (From::Carried(who), Sender::Carried(contact)) => {
                assert_eq!(contact.label(), who.contact().label());
                assert_eq!(contact.created(), who.contact().created());
                Some(who)
            }
            (From::Named(who), Sender::Named(_)) => Some(who),
            (expected, _) => panic!("{}: not {expected:?}", self.file),
        };
        let mut out = Vec::new();
        match expected {
            None => opening.open_unsigned(&mut out, Workers::new(1))?,
            Some(who) => opening.open_signed(who.contact(), &mut out, Workers::new(2))?,
        };
        Ok(out)
    }
}

/// A parsed file, and whether it was armored.
pub(crate) fn read(file: &[u8]) -> Result<(Sealed<Dearmored<&[u8]>>, bool)> {
    let reader = Dearmored::detect(file).map_err(Error::from)?;
    let armored = reader.is_armored();
    Ok((Sealed::read(reader)?, armored))
}

impl To {
    fn info(&self) -> RecipientInfo {
        match self {
            Self::Passport(who) => RecipientInfo::Passport(who.passport().fingerprint()),
            Self::Anonymous(_) => RecipientInfo::Anonymous,
            Self::Passphrase(params, _) => RecipientInfo::Passphrase(*params),
        }
    }

    fn unlock<R: std::io::Read + Send>(&self, sealed: Sealed<R>) -> Result<Opening<R>> {
        match self {
            Self::Passport(who) | Self::Anonymous(who) => {
                sealed.unlock(&Keys::new(&[who.passport()], &[]))
            }
            Self::Passphrase(_, words) => sealed.unlock(&Keys::new(&[], &[&passphrase(words)])),
        }
    }
}

fn passphrase(words: &str) -> Passphrase {
    Passphrase::new(words.as_bytes()).unwrap()
}

// The text.

impl Case {
    pub(crate) fn parse_all(text: &str) -> Vec<Self> {
        text.trim().split("\n\n").map(Self::parse).collect()
    }

    fn parse(paragraph: &str) -> Self {
        let mut case = Self::default();
        for line in paragraph.lines() {
            let (name, value) = line.split_once(": ").unwrap();
            match name {
                "file" => case.file = value.into(),
                "suite" => case.suite = suite(value),
                "to" => case.to.push(To::parse(value)),
                "sender" => case.sender = From::parse(value),
                "armored" => case.armored = value == "yes",
                "padded" => case.padded = value == "yes",
                "name" => case.metadata.name = Some(value.into()),
                "modified" => case.metadata.modified = Some(value.parse().unwrap()),
                "note" => case.metadata.note = Some(value.replace('|', "\n")),
                "content" => case.content_len = value.parse().unwrap(),
                _ => panic!("unknown line: {line}"),
            }
        }
        case
    }
}

fn suite(number: &str) -> Suite {
    match number {
        "1" => Suite::XChaCha20Poly1305,
        "2" => Suite::Aes256Gcm,
        _ => panic!("no suite {number}"),
    }
}

impl To {
    fn parse(text: &str) -> Self {
        let (kind, rest) = text.split_once(' ').unwrap();
        match kind {
            "passport" => Self::Passport(Who::parse(rest)),
            "anonymous" => Self::Anonymous(Who::parse(rest)),
            "passphrase" => {
                let words: Vec<&str> = rest.splitn(4, ' ').collect();
                let [m, t, p] = [0, 1, 2].map(|i| words[i].parse().unwrap());
                Self::Passphrase(KdfParams::new(m, t, p).unwrap(), words[3].into())
            }
            _ => panic!("unknown recipient: {text}"),
        }
    }
}

impl From {
    fn parse(text: &str) -> Self {
        match text.split_once(' ') {
            None => Self::Nobody,
            Some(("carried", who)) => Self::Carried(Who::parse(who)),
            Some(("named", who)) => Self::Named(Who::parse(who)),
            Some(_) => panic!("unknown sender: {text}"),
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let yes_no = |value| if value { "yes" } else { "no" };
        writeln!(f, "file: {}", self.file)?;
        writeln!(f, "suite: {}", 1 + u8::from(self.suite != suite("1")))?;
        self.to.iter().try_for_each(|to| writeln!(f, "to: {to}"))?;
        writeln!(f, "sender: {}", self.sender)?;
        writeln!(f, "armored: {}", yes_no(self.armored))?;
        writeln!(f, "padded: {}", yes_no(self.padded))?;
        if let Some(name) = &self.metadata.name {
            writeln!(f, "name: {name}")?;
        }
        if let Some(modified) = self.metadata.modified {
            writeln!(f, "modified: {modified}")?;
        }
        if let Some(note) = &self.metadata.note {
            writeln!(f, "note: {}", note.replace('\n', "|"))?;
        }
        writeln!(f, "content: {}", self.content_len)
    }
}

impl fmt::Display for To {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passport(who) => write!(f, "passport {}", who.name()),
            Self::Anonymous(who) => write!(f, "anonymous {}", who.name()),
            Self::Passphrase(params, words) => {
                let (m, t, p) = (params.memory_kib(), params.passes(), params.lanes());
                write!(f, "passphrase {m} {t} {p} {words}")
            }
        }
    }
}

impl fmt::Display for From {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nobody => write!(f, "none"),
            Self::Carried(who) => write!(f, "carried {}", who.name()),
            Self::Named(who) => write!(f, "named {}", who.name()),
        }
    }
}
