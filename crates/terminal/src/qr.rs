//! QR codes of secrets, on the screen and as pictures.

use std::io;
use std::path::Path;

use qrcode::render::{svg, unicode::Dense1x2};
use qrcode::{Color, EcLevel, QrCode};
use zeroize::Zeroizing;

/// Pixels of one module of a PNG, and modules of white around the code (ISO/IEC 18004 asks for 4).
const SCALE: usize = 8;
const QUIET_ZONE: usize = 4;

/// A QR code with error correction of level M.
pub struct Code(QrCode);

impl Code {
    /// The code of a text.
    ///
    /// # Errors
    /// If the text is longer than a QR code can hold, 2,331 bytes.
    pub fn new(text: &[u8]) -> io::Result<Self> {
        let code = QrCode::with_error_correction_level(text, EcLevel::M);
        let failed = |e| io::Error::new(io::ErrorKind::InvalidInput, format!("the QR code: {e}"));
        code.map(Self).map_err(failed)
    }

    /// Dark on light, whatever the colours of the terminal are: most scanners need that.
    #[must_use]
    pub fn on_screen(&self) -> String {
        let mut renderer = self.0.render::<Dense1x2>();
        let renderer = renderer.dark_color(Dense1x2::Dark);
        let code = renderer.light_color(Dense1x2::Light).build();
        let line = |line| format!("\x1b[30;107m{line}\x1b[0m\n");
        code.lines().map(line).collect()
    }

    /// An SVG picture.
    #[must_use]
    pub fn svg(&self) -> Zeroizing<Vec<u8>> {
        let picture = self.0.render::<svg::Color<'_>>().build();
        Zeroizing::new(picture.into_bytes())
    }

    /// A PNG picture: black and white, one bit a pixel.
    ///
    /// # Errors
    /// If the picture cannot be encoded.
    pub fn png(&self) -> io::Result<Zeroizing<Vec<u8>>> {
        let side = (self.0.width() + 2 * QUIET_ZONE) * SCALE;
        let bit = |x, y| u8::from(!self.is_dark(x, y));
        let byte = |y, x| (0..8).fold(0, |bits, i| bits << 1 | bit(x + i, y));
        let rows = (0..side).flat_map(|y| (0..side).step_by(8).map(move |x| byte(y, x)));
        let pixels: Zeroizing<Vec<u8>> = Zeroizing::new(rows.collect());
        let mut bytes = Zeroizing::new(Vec::new());
        let mut encoder = png::Encoder::new(&mut *bytes, side as u32, side as u32);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::One);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&pixels)?;
        drop(writer);
        Ok(bytes)
    }

    /// The picture for a file, SVG or PNG by its name; `None` for another name.
    ///
    /// # Errors
    /// As [`Code::png`].
    pub fn picture(&self, path: &Path) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => Ok(Some(self.svg())),
            Some("png") => self.png().map(Some),
            _ => Ok(None),
        }
    }

    fn is_dark(&self, x: usize, y: usize) -> bool {
        let module = |pixel: usize| (pixel / SCALE).checked_sub(QUIET_ZONE);
        let position = module(x).zip(module(y));
        let inside = position.filter(|(x, y)| x.max(y) < &self.0.width());
        inside.is_some_and(|position| self.0[position] == Color::Dark)
    }
}
