//! The inputs of a hash.

use sealstone::KdfProgress;
use sealstone_argon2::{Arena, Argon2, Params, Progress as Blocks};
use sealstone_terminal::progress::{Counter, Progress};
use zeroize::Zeroizing;

use super::threads;
use crate::args::{Hex, InputArgs};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::io::input;
use crate::passphrase::{self, Asking, Source};

/// All inputs of a hash.
pub(super) struct Inputs {
    pub(super) password: Zeroizing<Vec<u8>>,
    secret: Zeroizing<Vec<u8>>,
    data: Vec<u8>,
    threads: usize,
}

/// A longer file is rejected: it is not a secret.
const MAX_SECRET: usize = 64 << 10;

impl Inputs {
    /// Reads them; the password last, because it may have to be typed.
    pub(super) fn read(args: &InputArgs, asking: Asking, context: &Context) -> Result<Self> {
        let secret = match &args.secret_hex_file {
            Some(path) => {
                let file = input::read(path, "the secret", MAX_SECRET)?;
                context.warn_if_exposed(&file);
                let secret = Hex::decode(file.trim_ascii_end())
                    .map_err(|rule| Failure::usage(rule).about(file.name()))?;
                if secret.is_empty() {
                    let failure = Failure::usage("the secret is empty").about(file.name());
                    return Err(failure.hint("without a secret, omit --secret-hex-file"));
                }
                secret
            }
            None => Zeroizing::default(),
        };
        let data = args.associated_data_hex.as_ref();
        Ok(Self {
            secret,
            data: data.map_or(Vec::new(), |data| data.0.to_vec()),
            threads: threads(args.threads),
            password: passphrase::password(&Source::from(&args.password), asking, context)?,
        })
    }

    /// Calls `use_it` with an Argon2 that has all inputs but the password, and shows its progress.
    pub(super) fn with_argon2<T>(
        &self,
        params: &Params,
        context: &Context,
        use_it: impl FnOnce(Argon2<'_>, &mut Arena) -> T,
    ) -> T {
        let counter = Counter::default();
        let _progress = Progress::hash(context.progress(), &counter);
        let watch = |Blocks { done, total }| counter.derive(KdfProgress { done, total });
        let argon2 = Argon2::new(*params)
            .secret(&self.secret)
            .associated_data(&self.data)
            .threads(self.threads)
            .progress(&watch);
        use_it(argon2, &mut Arena::new())
    }
}
