//! DER values, with the bytes that they were written in.

use der::asn1::{AnyRef, BitStringRef, IntRef, ObjectIdentifier};
use der::{Decode, Error, ErrorKind, Reader, SliceReader, Tag, TagNumber};

pub(super) type Result<T> = der::Result<T>;

/// One value: its encoding as it stands, and its tag and content.
#[derive(Clone, Copy)]
pub(super) struct Value<'a> {
    raw: &'a [u8],
    any: AnyRef<'a>,
}

impl<'a> Value<'a> {
    /// The one value that `bytes` are, with nothing behind it.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self> {
        Ok(Self {
            raw: bytes,
            any: AnyRef::from_der(bytes)?,
        })
    }

    /// The value that `bytes` begin with, and the bytes after it.
    pub(super) fn parse_first(bytes: &'a [u8]) -> Result<(Self, &'a [u8])> {
        let value = SliceReader::new(bytes)?.tlv_bytes()?;
        Ok((Self::parse(value)?, &bytes[value.len()..]))
    }

    /// The encoding.
    pub(super) fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// The content without its header.
    pub(super) fn content(&self) -> &'a [u8] {
        self.any.value()
    }

    pub(super) fn has_tag(&self, tag: Tag) -> bool {
        der::Tagged::tag(&self.any) == tag
    }

    /// Fails if the tag is another.
    pub(super) fn expect(self, tag: Tag) -> Result<Self> {
        der::Tagged::tag(&self.any).assert_eq(tag)?;
        Ok(self)
    }

    /// Reads all fields of a structure.
    pub(super) fn fields<T>(
        &self,
        tag: Tag,
        read: impl FnOnce(&mut Fields<'a>) -> Result<T>,
    ) -> Result<T> {
        self.expect(tag)?;
        let mut fields = Fields(SliceReader::new(self.content())?);
        let result = read(&mut fields)?;
        fields.0.finish()?;
        Ok(result)
    }

    /// The elements of a SEQUENCE OF or SET OF.
    pub(super) fn elements(&self, tag: Tag) -> Result<Vec<Value<'a>>> {
        self.fields(tag, |fields| {
            let mut values = Vec::new();
            while !fields.is_empty() {
                values.push(fields.next()?);
            }
            Ok(values)
        })
    }

    pub(super) fn oid(&self) -> Result<ObjectIdentifier> {
        self.any.decode_as()
    }

    /// The content of an INTEGER in its shortest form.
    pub(super) fn integer(&self) -> Result<&'a [u8]> {
        self.any.decode_as::<IntRef<'_>>()?;
        Ok(self.content())
    }

    /// An INTEGER of 0 to 65,535.
    pub(super) fn small(&self) -> Result<u16> {
        self.any.decode_as()
    }

    pub(super) fn octets(&self) -> Result<&'a [u8]> {
        Ok(self.expect(Tag::OctetString)?.content())
    }

    /// The content of a BIT STRING of whole bytes.
    pub(super) fn bits(&self) -> Result<&'a [u8]> {
        let bits: BitStringRef<'a> = self.any.decode_as()?;
        bits.as_bytes().ok_or_else(malformed)
    }

    pub(super) fn text(&self) -> Result<&'a str> {
        self.expect(Tag::Utf8String)?;
        std::str::from_utf8(self.content()).map_err(|_| malformed())
    }

    /// Decodes a type of another crate.
    pub(super) fn decode<T: Decode<'a, Error = Error>>(&self) -> Result<T> {
        T::from_der(self.raw)
    }
}

/// The fields of a structure that are not read yet.
pub(super) struct Fields<'a>(SliceReader<'a>);

impl<'a> Fields<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_finished()
    }

    /// The next field, which must be there.
    pub(super) fn next(&mut self) -> Result<Value<'a>> {
        Value::parse(self.0.tlv_bytes()?)
    }

    /// The next field if it has this tag.
    pub(super) fn next_if(&mut self, tag: Tag) -> Result<Option<Value<'a>>> {
        if self.is_empty() || Tag::peek(&self.0)? != tag {
            return Ok(None);
        }
        self.next().map(Some)
    }

    /// The value inside the next field, if that is the explicit tag `number`.
    pub(super) fn next_explicit(&mut self, number: u32) -> Result<Option<Value<'a>>> {
        let tag = context(number);
        self.next_if(tag)?
            .map(|outer| outer.fields(tag, Fields::next))
            .transpose()
    }

    /// The next field if it has one of the two forms of a number's tag; used for IMPLICIT fields.
    pub(super) fn next_implicit(&mut self, number: u32) -> Result<Option<Value<'a>>> {
        self.next_if(context(number))
    }
}

/// The tag of a constructed context-specific field.
pub(super) fn context(number: u32) -> Tag {
    Tag::ContextSpecific {
        constructed: true,
        number: TagNumber(number),
    }
}

/// The tag of a primitive context-specific field.
pub(super) fn context_primitive(number: u32) -> Tag {
    Tag::ContextSpecific {
        constructed: false,
        number: TagNumber(number),
    }
}

pub(super) fn malformed() -> Error {
    ErrorKind::Failed.into()
}

/// Fails unless a condition holds.
pub(super) fn ensure(condition: bool) -> Result<()> {
    if condition { Ok(()) } else { Err(malformed()) }
}

pub(super) const fn oid(dotted: &str) -> ObjectIdentifier {
    ObjectIdentifier::new_unwrap(dotted)
}
