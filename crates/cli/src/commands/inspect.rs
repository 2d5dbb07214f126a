//! `inspect`: shows what a file reveals without a key.

use std::io::{BufReader, Read};

use sealstone::Kind;
use sealstone::file::{Dearmored, Description, Sealed};
use sealstone::passport::{MAX_LEN, PublicPassport, SecretPassport};
use sealstone_files::{Document, Input};
use serde_json::json;

use super::package;
use super::passport::show;
use super::stored;
use crate::args::InspectArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::io::input;
use crate::named::{Named, Parse};

/// Bytes in which the kind of a file shows: armor may stand behind as much other text.
const START_LEN: u64 = 66_000;

pub(super) fn run(args: &InspectArgs, context: &Context) -> Result<()> {
    let input = input::open(&args.input, "the file")?;
    let mut start = Vec::new();
    (&input).take(START_LEN).read_to_end(&mut start)?;
    let whole = (&start[..]).chain(&input);
    match Kind::of(&start) {
        Kind::SealedFile => sealed_file(whole, &input, context),
        Kind::SecretPassport => {
            let bytes = Document::read(&input, whole, MAX_LEN)?;
            show::secret(&bytes.parse(SecretPassport::from_armor)?, context)
        }
        Kind::PublicPassport => {
            let bytes = Document::read(&input, whole, MAX_LEN)?;
            show::public(&bytes.parse(PublicPassport::from_armor)?, context)
        }
        Kind::Package => {
            package::inspect(&Document::read(&input, whole, stored::MAX_LEN)?, context)
        }
        Kind::Other => {
            let what = match start.is_empty() {
                true => "neither a sealed file, a passport nor a package: it is empty",
                false => "neither a sealed file, a passport nor a package",
            };
            Err(Failure::new(Exit::Format, what).about(input.name()))
        }
    }
}

fn sealed_file(reader: impl Read, input: &Input, context: &Context) -> Result<()> {
    let reader = Named::new(input.name(), BufReader::new(reader)).then(Dearmored::detect)?;
    let armored = reader.is_armored();
    let sealed = reader.then(Sealed::read)?;
    let recipients: Vec<Description> = sealed.descriptions().collect();
    let size = input.regular().map(|metadata| metadata.len());
    let text = || {
        let form = if armored { "armored" } else { "binary" };
        let size = size.map_or(String::new(), |size| {
            format!("  size        {size} bytes\n")
        });
        let line = |recipient: &Description| format!("  recipient   {}\n", recipient.text);
        let people: String = recipients.iter().map(line).collect();
        format!(
            "sealed file (version 1, {form})\n  suite       {}\n{size}  header      {} bytes\n{people}  sender      only recipients can see whether it is signed, and by whom\n",
            sealed.suite(),
            sealed.header_len()
        )
    };
    context.print(text, || {
        json!({
            "type": "sealed-file",
            "version": 1,
            "suite": sealed.suite().to_string(),
            "armored": armored,
            "size": size,
            "header_bytes": sealed.header_len(),
            "recipients": recipients.iter().map(Description::to_json).collect::<Vec<_>>(),
        })
    })
}
