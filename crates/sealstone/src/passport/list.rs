//! Lists of public passports, one after another in a text.

use super::PublicPassport;
use crate::wire::armor::{BEGIN, END};
use crate::{Error, Result};

/// An entry of a list of recipients.
#[derive(Debug)]
pub enum Listed<'a> {
    /// A public passport that stands in the list.
    Passport(Box<PublicPassport>),
    /// The path of one; a relative path begins at the directory of the list.
    Path(&'a str),
}

impl PublicPassport {
    /// The entries of a list: a path each line, or armored public passports. Empty lines and lines
    /// that begin with `#` do not count.
    ///
    /// # Errors
    /// As [`PublicPassport::from_armor`]; [`Error::Invalid`] for a list without an entry.
    ///
    /// ```
    /// use sealstone::passport::{Listed, Passport, PublicPassport};
    ///
    /// let bob = Passport::generate("Bob", 1_795_000_000)?.public();
    /// let list = format!("# friends\nalice.pub\n{}", bob.to_armor());
    /// let listed = PublicPassport::list(&list)?;
    /// assert!(matches!(listed[0], Listed::Path("alice.pub")));
    /// assert!(matches!(&listed[1], Listed::Passport(it) if it.contact().label() == "Bob"));
    /// # Ok::<(), sealstone::Error>(())
    /// ```
    pub fn list(text: &str) -> Result<Vec<Listed<'_>>> {
        let mut lines = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut listed = Vec::new();
        while let Some(line) = lines.next() {
            listed.push(match line.starts_with(BEGIN) {
                false => Listed::Path(line),
                true => {
                    let armor = armor(line, &mut lines);
                    Listed::Passport(Box::new(Self::from_armor(armor.as_bytes())?))
                }
            });
        }
        match listed.is_empty() {
            true => Err(Error::Invalid("the list is empty")),
            false => Ok(listed),
        }
    }
}

/// The lines of one armored object, of which `first` has been read.
fn armor<'a>(first: &'a str, lines: &mut impl Iterator<Item = &'a str>) -> String {
    let mut text = format!("{first}\n");
    for line in lines {
        text.push_str(line);
        text.push('\n');
        if line.starts_with(END) {
            break;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_without_an_entry_or_with_a_broken_one_is_refused() {
        for empty in ["", "\n # nobody\n\n"] {
            let refused = PublicPassport::list(empty).unwrap_err();
            assert!(matches!(refused, Error::Invalid(_)), "{refused}");
        }
        let broken = format!("a.pub\n{BEGIN}SEALSTONE PUBLIC PASSPORT-----\nAA\n");
        assert!(PublicPassport::list(&broken).is_err());
    }
}
