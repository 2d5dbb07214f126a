//! Asking an agent.

use std::io::{self, Read};

use sealstone_primitives::secret::Secret;
use zeroize::Zeroizing;

use super::message::{self, Request, Status};
use crate::file::{FileKey, FileRoot, Sealed, Sign, Signer, WrappedKey};
use crate::passport::{Contact, Fingerprint, Passport};
use crate::sign::Signature;
use crate::{Error, Result};

/// Carries one request to an agent, and its answer back.
pub trait Transport: Sync {
    /// Sends `request` and returns the answer.
    ///
    /// # Errors
    /// If the agent cannot be reached or does not answer.
    fn exchange(&self, request: &[u8]) -> io::Result<Zeroizing<Vec<u8>>>;
}

impl<F: Fn(&[u8]) -> io::Result<Zeroizing<Vec<u8>>> + Sync> Transport for F {
    fn exchange(&self, request: &[u8]) -> io::Result<Zeroizing<Vec<u8>>> {
        self(request)
    }
}

/// Asks an agent. Every method fails with [`Error::Io`] if the agent does not answer, with
/// [`Error::Unsupported`] if it is of another version, and with [`Error::Malformed`] if it is not
/// an agent.
#[derive(Clone)]
pub struct Client<T>(T);

/// A passport that an agent holds. It signs sealed files ([`Signer`]).
pub struct RemotePassport<T> {
    client: Client<T>,
    contact: Contact,
}

impl<T: Transport> Client<T> {
    /// A client over this transport.
    pub fn new(transport: T) -> Self {
        Self(transport)
    }

    /// The agent's content.
    ///
    /// # Errors
    /// As for all methods.
    pub fn status(&self) -> Result<Status> {
        message::read_status(&self.ask(&Request::Status)?)
    }

    /// Gives the agent a passport for `seconds`, at most a week.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the agent cannot hold it.
    pub fn hold(&self, passport: &Passport, seconds: u64) -> Result<()> {
        let contact = passport.contact();
        self.done(&Request::Hold {
            seed: passport.seed().duplicate(),
            label: contact.label().to_owned(),
            created: contact.created(),
            seconds,
        })
    }

    /// Makes the agent forget one passport, or all.
    ///
    /// # Errors
    /// As for all methods.
    pub fn lock(&self, which: Option<&Fingerprint>) -> Result<()> {
        self.done(&Request::Lock(which.copied()))
    }

    /// Makes the agent forget everything and end.
    ///
    /// # Errors
    /// As for all methods.
    pub fn stop(&self) -> Result<()> {
        self.done(&Request::Stop)
    }

    /// A passport that the agent holds, with its public keys.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it does not hold it.
    pub fn passport(&self, name: &Fingerprint) -> Result<RemotePassport<T>>
    where
        T: Clone,
    {
        let bytes = message::read_bytes(&self.ask(&Request::Contact(*name))?)?;
        let contact = Contact::from_carried(&bytes)?;
        if contact.fingerprint() != *name {
            return Err(Error::Malformed("answer of the agent"));
        }
        Ok(RemotePassport {
            client: self.clone(),
            contact,
        })
    }

    /// Unwraps the file key with one of the passports `held`, which the agent holds: first where
    /// the file names one, then where its recipients are anonymous.
    ///
    /// # Errors
    /// [`Error::NotRecipient`] if the file is for none of them; [`Error::Altered`] if it names one
    /// and does not unwrap.
    pub fn file_key<R: Read>(&self, sealed: &Sealed<R>, held: &[Fingerprint]) -> Result<FileKey> {
        let (named, anonymous): (Vec<WrappedKey>, _) = sealed
            .wrapped_keys()
            .partition(|key| key.recipient().is_some());
        for key in named {
            let Some(name) = held.iter().find(|name| key.recipient() == Some(**name)) else {
                continue;
            };
            return match self.unwrap(name, &key) {
                Err(Error::NotRecipient) => Err(Error::Altered("header")),
                unwrapped => unwrapped,
            };
        }
        for key in anonymous {
            for name in held {
                match self.unwrap(name, &key) {
                    Err(Error::NotRecipient) => {}
                    unwrapped => return unwrapped,
                }
            }
        }
        Err(Error::NotRecipient)
    }

    fn unwrap(&self, name: &Fingerprint, key: &WrappedKey) -> Result<FileKey> {
        let bytes = key.bytes();
        let copy = WrappedKey::from_bytes(None, *bytes.epk, bytes.ciphertext, *bytes.wrapped);
        let copy = copy.expect("it has the lengths of the one that it comes from");
        let secret = self.secret(&Request::Unwrap(*name, Box::new(copy)))?;
        Ok(FileKey::unwrapped(secret, key.info()))
    }

    fn secret(&self, request: &Request) -> Result<Secret<32>> {
        let bytes = message::read_bytes(&self.ask(request)?)?;
        Secret::from_slice(&bytes).map_err(|_| Error::Malformed("answer of the agent"))
    }

    fn done(&self, request: &Request) -> Result<()> {
        message::read_done(&self.ask(request)?)
    }

    fn ask(&self, request: &Request) -> Result<Zeroizing<Vec<u8>>> {
        Ok(self.0.exchange(&request.encode())?)
    }
}

impl<T> RemotePassport<T> {
    /// The public keys of the passport.
    pub fn contact(&self) -> &Contact {
        &self.contact
    }
}

impl<T: Transport> Signer for RemotePassport<T> {}

impl<T: Transport> Sign for RemotePassport<T> {
    fn public(&self) -> &Contact {
        &self.contact
    }

    fn file_hedge(&self) -> Result<Secret<32>> {
        self.client
            .secret(&Request::Hedge(self.contact.fingerprint()))
    }

    fn sign_root(&self, root: &FileRoot) -> Result<Signature> {
        let request = Request::Sign(self.contact.fingerprint(), root.clone());
        let bytes = message::read_bytes(&self.client.ask(&request)?)?;
        let signature = Signature::from_bytes(&bytes)?;
        root.verify(&self.contact, &signature)?;
        Ok(signature)
    }
}
