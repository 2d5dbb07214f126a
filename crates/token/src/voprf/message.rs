//! Messages of client and server: elements.

use std::fmt;

use sealstone_primitives::ct;
use sealstone_primitives::curve::{Element, Encoding};

use super::suite::{ElementOf, Suite};
use crate::{Error, parallel};

/// An element with its encoding, which is hashed several times.
#[derive(Clone)]
pub(crate) struct Encoded<S: Suite> {
    pub(crate) element: ElementOf<S>,
    pub(crate) encoding: Encoding,
}

impl<S: Suite> Encoded<S> {
    pub(crate) fn from_pair(pair: (ElementOf<S>, Encoding)) -> Self {
        let (element, encoding) = published(pair);
        Self { element, encoding }
    }

    fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let malformed = |_| Error::Malformed("element");
        let element = ElementOf::<S>::decode(bytes).map_err(malformed)?;
        // Only the canonical encoding was accepted: these bytes.
        let encoding = Encoding::from_bytes(bytes).map_err(malformed)?;
        Ok(Self { element, encoding })
    }

    /// A row of encodings without anything between them.
    fn decode_all(bytes: &[u8]) -> Result<Vec<Self>, Error> {
        if !bytes.len().is_multiple_of(ElementOf::<S>::LEN) {
            return Err(Error::Malformed("list of elements"));
        }
        let pieces: Vec<&[u8]> = bytes.chunks(ElementOf::<S>::LEN).collect();
        parallel::try_chunks(&pieces, |pieces| {
            pieces.iter().map(|bytes| Self::decode(bytes)).collect()
        })
    }
}

/// Declares an element public that was made with a secret: its encoding goes over the wire.
pub(crate) fn published<E: Element>((element, encoding): (E, Encoding)) -> (E, Encoding) {
    let encoding = ct::declassified(encoding);
    // In the build for valgrind the element is also made of nothing but its encoding.
    if cfg!(sealstone_valgrind) {
        return (
            E::decode(encoding.as_bytes()).expect("an encoding of ours"),
            encoding,
        );
    }
    (element, encoding)
}

/// A message of one element, with the same functions for each kind.
macro_rules! message {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name<S: Suite>(pub(crate) Encoded<S>);

        impl<S: Suite> $name<S> {
            /// The length of an encoding in bytes: 32, 33 or 49.
            pub const LEN: usize = ElementOf::<S>::LEN;

            /// The element that `bytes` encode.
            ///
            /// # Errors
            /// If they are not the canonical encoding of an element other than the identity.
            pub fn decode(bytes: &[u8]) -> Result<Self, Error> {
                Encoded::decode(bytes).map(Self)
            }

            /// The elements that `bytes` encode one after the other.
            ///
            /// # Errors
            /// As [`Self::decode`] for each, and if the last is cut short.
            pub fn decode_all(bytes: &[u8]) -> Result<Vec<Self>, Error> {
                Ok(Encoded::decode_all(bytes)?.into_iter().map(Self).collect())
            }

            /// The canonical encoding.
            #[must_use]
            pub fn as_bytes(&self) -> &[u8] {
                self.0.encoding.as_bytes()
            }
        }

        impl<S: Suite> AsRef<Encoded<S>> for $name<S> {
            fn as_ref(&self) -> &Encoded<S> {
                &self.0
            }
        }

        impl<S: Suite> PartialEq for $name<S> {
            fn eq(&self, other: &Self) -> bool {
                self.0.encoding == other.0.encoding
            }
        }

        impl<S: Suite> Eq for $name<S> {}

        impl<S: Suite> fmt::Debug for $name<S> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:?})"), self.0.encoding)
            }
        }
    };
}

message!(
    /// The client's message: its input, hidden by a blind.
    Blinded
);
message!(
    /// The server's answer: a blinded element under its key.
    Evaluated
);
