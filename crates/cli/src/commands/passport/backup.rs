//! `passport backup`

use std::io::{IsTerminal, stdout};
use std::path::Path;

use qrcode::render::{svg, unicode::Dense1x2};
use qrcode::{EcLevel, QrCode};
use sealstone::passport::Words;
use sealstone_terminal::text::shown;
use serde_json::json;
use zeroize::Zeroizing;

use crate::args::BackupArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{About, Failure, Result};
use crate::identity::{Identity, or_default};
use crate::io::keep;
use crate::passphrase::Passphrases;

/// Pixels of one module of a PNG, and modules of white around the code (ISO/IEC 18004 asks for 4).
const SCALE: usize = 8;
const QUIET_ZONE: usize = 4;

pub(super) fn run(args: &BackupArgs, context: &Context) -> Result<()> {
    let open = args.output.is_none() && !args.force;
    must_be_meant(open, "a backup is", "-o FILE", context)?;
    if args.qr && args.output.is_none() && context.json() {
        let failure = Failure::usage("a QR code is a picture, which JSON does not hold");
        return Err(failure.hint("choose -o FILE.svg or -o FILE.png, or leave out --qr"));
    }
    keep::must_be_new(args.output.as_deref())?;
    let identity = Identity::load(&or_default(args.file.as_deref())?)?;
    let unlocked = identity.unlock(&Passphrases::new(&args.unlock), context)?;
    let words = unlocked.passport().words();
    match (&args.output, args.qr) {
        (Some(path), true) => write(path, &picture(path, &words)?, context),
        (Some(path), false) => write(path, format!("{}\n", *words.expose()).as_bytes(), context),
        (None, true) => context.print(
            || code(&words).map_or(String::new(), |code| on_screen(&code)),
            || words_json(&words),
        ),
        (None, false) => context.print(|| readable(&words), || words_json(&words)),
    }?;
    context.say("anybody who has this has the passport: keep it on paper, away from the machine");
    Ok(())
}

fn write(path: &Path, bytes: &[u8], context: &Context) -> Result<()> {
    keep::write_new(path, bytes, keep::PRIVATE)?;
    context.result(
        &format!("wrote {}", shown(path)),
        || json!({"output": path.display().to_string()}),
    )
}

/// Fails if the whole passport would go `open`ly to something that is neither a terminal nor asks
/// for JSON.
pub(super) fn must_be_meant(
    open: bool,
    this_is: &str,
    option: &str,
    context: &Context,
) -> Result<()> {
    if !open || context.json() || stdout().is_terminal() {
        return Ok(());
    }
    let what =
        format!("{this_is} the whole passport in clear text, and standard output is no terminal");
    Err(Failure::usage(what).hint(format!(
        "choose {option}, or --force to write it all the same"
    )))
}

/// For people a table, for programs one line.
fn readable(words: &Words) -> String {
    match stdout().is_terminal() {
        true => numbered(words),
        false => words.expose().to_string(),
    }
}

/// Six lines of four numbered words, for copying to paper.
fn numbered(words: &Words) -> String {
    let text = words.expose();
    let words: Vec<&str> = text.split(' ').collect();
    let line = |(i, four): (usize, &[&str])| {
        let word = |(j, word): (usize, &&str)| format!("{:>2} {word:<9}", 4 * i + j + 1);
        let line: String = four.iter().enumerate().map(word).collect();
        format!("{}\n", line.trim_end())
    };
    words.chunks(4).enumerate().map(line).collect()
}

fn words_json(words: &Words) -> serde_json::Value {
    json!({"words": words.expose().as_str()})
}

fn code(words: &Words) -> Result<QrCode> {
    let failed = |e| Failure::new(Exit::Internal, format!("the QR code: {e}"));
    QrCode::with_error_correction_level(words.expose().as_bytes(), EcLevel::M).map_err(failed)
}

/// Dark on light, whatever the colours of the terminal are: most scanners need that.
fn on_screen(code: &QrCode) -> String {
    let code = code
        .render::<Dense1x2>()
        .dark_color(Dense1x2::Dark)
        .light_color(Dense1x2::Light)
        .build();
    code.lines()
        .map(|line| format!("\x1b[30;107m{line}\x1b[0m\n"))
        .collect()
}

fn picture(path: &Path, words: &Words) -> Result<Zeroizing<Vec<u8>>> {
    let code = code(words)?;
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => Ok(Zeroizing::new(
            code.render::<svg::Color<'_>>().build().into_bytes(),
        )),
        Some("png") => png(&code).about(path.display()),
        _ => {
            Err(Failure::usage("the name of a QR code ends in .svg or .png").about(path.display()))
        }
    }
}

/// Black and white, one bit a pixel.
fn png(code: &QrCode) -> Result<Zeroizing<Vec<u8>>> {
    let modules = code.width();
    let side = (modules + 2 * QUIET_ZONE) * SCALE;
    let dark = |x: usize, y: usize| {
        let module = |pixel: usize| {
            (pixel / SCALE)
                .checked_sub(QUIET_ZONE)
                .filter(|&module| module < modules)
        };
        module(x)
            .zip(module(y))
            .is_some_and(|position| code[position] == qrcode::Color::Dark)
    };
    let byte =
        |y: usize, x: usize| (0..8).fold(0u8, |bits, i| bits << 1 | u8::from(!dark(x + i, y)));
    let rows = (0..side).flat_map(|y| (0..side).step_by(8).map(move |x| byte(y, x)));
    let pixels: Zeroizing<Vec<u8>> = Zeroizing::new(rows.collect());
    let mut bytes = Zeroizing::new(Vec::new());
    let mut encoder = png::Encoder::new(&mut *bytes, side as u32, side as u32);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::One);
    let failed = |e: png::EncodingError| Failure::new(Exit::Io, e.to_string());
    encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(&pixels))
        .map_err(failed)?;
    Ok(bytes)
}
