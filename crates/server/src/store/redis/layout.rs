//! Names of keys, with the hash tags that put them into slots.

use crate::store::Set;

/// The keys that share a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    /// Marks of spread sets that begin with this byte.
    Byte(u8),
    /// All other sets.
    Gates,
}

/// The names of all keys of one service.
pub(super) struct Layout {
    name: String,
}

impl Layout {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
        }
    }

    /// The slots that a set uses.
    pub(super) fn tags(set: &Set) -> impl Iterator<Item = Tag> {
        let bytes = set.is_spread().then_some(0..=u8::MAX);
        let gates = (!set.is_spread()).then_some(Tag::Gates);
        bytes.into_iter().flatten().map(Tag::Byte).chain(gates)
    }

    /// The states of the sets in a slot.
    pub(super) fn states(&self, tag: Tag) -> String {
        format!("{}:sets", self.tagged(tag))
    }

    pub(super) fn marks(&self, tag: Tag, set: &str) -> String {
        format!("{}:m:{set}", self.tagged(tag))
    }

    pub(super) fn counts(&self, tag: Tag, set: &str) -> String {
        format!("{}:c:{set}", self.tagged(tag))
    }

    pub(super) fn registry(&self) -> String {
        format!("{{{}/registry}}:sets", self.name)
    }

    pub(super) fn records(&self) -> String {
        format!("{{{}/records}}:r", self.name)
    }

    fn tagged(&self, tag: Tag) -> String {
        match tag {
            Tag::Byte(byte) => format!("{{{}/{byte:02x}}}", self.name),
            Tag::Gates => format!("{{{}/gates}}", self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_one_change_share_a_tag() {
        let layout = Layout::new("n");
        assert_eq!(layout.states(Tag::Byte(10)), "{n/0a}:sets");
        assert_eq!(layout.marks(Tag::Byte(10), "spent-1"), "{n/0a}:m:spent-1");
        assert_eq!(layout.counts(Tag::Gates, "pow-1"), "{n/gates}:c:pow-1");
        assert_eq!(Layout::tags(&Set::new("spent-1", 1)).count(), 256);
        assert_eq!(Layout::tags(&Set::new("pow-1", 1)).count(), 1);
    }
}
