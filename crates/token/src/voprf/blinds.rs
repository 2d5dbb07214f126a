//! The client's side of all modes: blind inputs, and take the blinds off again.

use sealstone_primitives::curve::{Element, Group, Scalar};
use sealstone_primitives::secret::SecretVec;
use zeroize::{Zeroize, Zeroizing};

use super::MAX_BATCH;
use super::message::{Blinded, Encoded, Evaluated};
use super::suite::{ElementOf, Mode, Output, ScalarOf, Suite, tag};
use crate::{Error, parallel};

/// Inputs with their blinds. The caller of [`Blinds::remove`] drops them when it succeeds, so each
/// blind is used once.
pub(crate) struct Blinds<S: Suite> {
    inputs: Vec<Zeroizing<Vec<u8>>>,
    blinds: Vec<ScalarOf<S>>,
    blinded: Vec<Blinded<S>>,
}

impl<S: Suite> Blinds<S> {
    /// Blinds each of `inputs` with a fresh random scalar.
    pub(crate) fn add(mode: Mode, inputs: &[&[u8]]) -> Result<Self, Error> {
        let blinds = inputs.iter().map(|_| ScalarOf::<S>::random()).collect();
        Self::add_chosen(mode, inputs, blinds)
    }

    /// Blinds each of `inputs` with the scalar given for it.
    pub(crate) fn add_chosen(
        mode: Mode,
        inputs: &[&[u8]],
        blinds: Vec<ScalarOf<S>>,
    ) -> Result<Self, Error> {
        if !(1..=MAX_BATCH).contains(&inputs.len()) || inputs.len() != blinds.len() {
            return Err(Error::BatchLength(inputs.len()));
        }
        if blinds.iter().any(Scalar::is_zero) {
            return Err(Error::Malformed("blind"));
        }
        if inputs
            .iter()
            .any(|input| u16::try_from(input.len()).is_err())
        {
            return Err(Error::TooLong("input"));
        }
        let dst = tag::<S>("HashToGroup-", mode);
        let pairs: Vec<_> = inputs.iter().zip(&blinds).collect();
        let blinded = parallel::try_chunks(&pairs, |pairs| blind_chunk(pairs, &dst))?;
        let inputs = inputs
            .iter()
            .map(|input| Zeroizing::new(input.to_vec()))
            .collect();
        Ok(Self {
            inputs,
            blinds,
            blinded,
        })
    }

    /// The messages to the server, one for each input.
    pub(crate) fn blinded(&self) -> &[Blinded<S>] {
        &self.blinded
    }

    /// The scalars, in the order of the inputs.
    pub(crate) fn encode(&self) -> Vec<SecretVec> {
        let encode = |scalar: &ScalarOf<S>| {
            let mut bytes = SecretVec::zeroed(ScalarOf::<S>::LEN);
            scalar.encode_into(bytes.expose_mut());
            bytes
        };
        self.blinds.iter().map(encode).collect()
    }

    /// The outputs: the digest of each input, of what `context` adds, and of the evaluation
    /// without its blind (`Finalize`).
    pub(crate) fn remove(
        &self,
        evaluated: &[Evaluated<S>],
        context: &[&[u8]],
    ) -> Result<Vec<Output>, Error> {
        if evaluated.len() != self.inputs.len() {
            return Err(Error::BatchLength(evaluated.len()));
        }
        let inverses = ScalarOf::<S>::invert_all(&self.blinds)?;
        let terms: Vec<_> = evaluated.iter().zip(&inverses).zip(&self.inputs).collect();
        parallel::try_chunks(&terms, |terms| {
            let products: Vec<_> = terms
                .iter()
                .map(|((evaluated, inverse), _)| (&evaluated.0.element, *inverse))
                .collect();
            let mut products = ElementOf::<S>::products(&products)?;
            let output = |((_, input), (_, encoding)): (&(_, &Zeroizing<Vec<u8>>), &(_, _))| {
                finalize::<S>(input, context, encoding)
            };
            let outputs = terms.iter().zip(&products).map(output).collect();
            // Elements wipe themselves when they go, encodings do not.
            products
                .iter_mut()
                .for_each(|(_, encoding)| encoding.zeroize());
            Ok(outputs)
        })
    }
}

fn blind_chunk<S: Suite>(
    pairs: &[(&&[u8], &ScalarOf<S>)],
    dst: &[u8],
) -> Result<Vec<Blinded<S>>, Error> {
    let hash = |(input, _): &(&&[u8], _)| S::Group::hash_to_element(input, dst);
    let elements: Result<Vec<_>, _> = pairs.iter().map(hash).collect();
    let elements = elements.map_err(|_| Error::InvalidInput)?;
    let terms: Vec<_> = elements
        .iter()
        .zip(pairs.iter().map(|(_, blind)| *blind))
        .collect();
    let products = ElementOf::<S>::products(&terms)?;
    Ok(products
        .into_iter()
        .map(|pair| Blinded(Encoded::from_pair(pair)))
        .collect())
}

/// The digest that is the output (RFC 9497 sections 3.3.1 to 3.3.3).
pub(crate) fn finalize<S: Suite>(
    input: &[u8],
    context: &[&[u8]],
    encoding: &impl AsRef<[u8]>,
) -> Output {
    let length = |bytes: &[u8]| {
        u16::try_from(bytes.len())
            .expect("checked before")
            .to_be_bytes()
    };
    let element = encoding.as_ref();
    let (input_len, element_len) = (length(input), length(element));
    let lengths: Vec<[u8; 2]> = context.iter().map(|part| length(part)).collect();
    let mut parts: Vec<&[u8]> = vec![&input_len, input];
    for (length, part) in lengths.iter().zip(context) {
        parts.extend([&length[..], *part]);
    }
    parts.extend([&element_len[..], element, b"Finalize"]);
    Output::hash::<S>(&parts)
}

/// `Evaluate`: the output for `input` under the scalar `key`, without a client.
pub(crate) fn evaluate_alone<S: Suite>(
    mode: Mode,
    input: &[u8],
    context: &[&[u8]],
    key: &ScalarOf<S>,
) -> Result<Output, Error> {
    if u16::try_from(input.len()).is_err() {
        return Err(Error::TooLong("input"));
    }
    let element = S::Group::hash_to_element(input, &tag::<S>("HashToGroup-", mode))
        .map_err(|_| Error::InvalidInput)?;
    let encoding = Zeroizing::new(element.mul(key).encode()?);
    Ok(finalize::<S>(input, context, &*encoding))
}

/// Each element times `key`: the server's side of all modes.
pub(crate) fn evaluate_all<S: Suite>(
    key: &ScalarOf<S>,
    blinded: &[Blinded<S>],
) -> Result<Vec<Evaluated<S>>, Error> {
    if !(1..=MAX_BATCH).contains(&blinded.len()) {
        return Err(Error::BatchLength(blinded.len()));
    }
    parallel::try_chunks(blinded, |blinded| {
        let terms: Vec<_> = blinded
            .iter()
            .map(|blinded| (&blinded.0.element, key))
            .collect();
        let products = ElementOf::<S>::products(&terms)?;
        Ok(products
            .into_iter()
            .map(|pair| Evaluated(Encoded::from_pair(pair)))
            .collect())
    })
}
