//! A QR code as one SVG path, drawn dark on white in every colour scheme, so that cameras read it.

use std::fmt::Write;

use qrcode::{Color, QrCode as Modules};

/// Empty modules around a code (ISO/IEC 18004, 9.1).
const MARGIN: usize = 4;

pub struct QrCode {
    /// Modules of a side, with the margin.
    pub side: usize,
    pub path: String,
}

impl QrCode {
    /// Without a path for a text that is too long, which no secret's address is.
    pub fn of(text: &str) -> QrCode {
        let Ok(code) = Modules::new(text) else { return QrCode { side: 0, path: String::new() } };
        let (width, mut path) = (code.width(), String::new());
        for (place, color) in code.to_colors().into_iter().enumerate() {
            if color == Color::Dark {
                let (x, y) = (place % width + MARGIN, place / width + MARGIN);
                let _ = write!(path, "M{x} {y}h1v1h-1z");
            }
        }
        QrCode { side: width + 2 * MARGIN, path }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_its_finder_in_the_corner_and_a_margin() {
        let code = QrCode::of("otpauth://totp/Acme:ann?secret=GEZDGNBVGY3TQOJQ&issuer=Acme");
        assert!(code.path.starts_with("M4 4h1v1h-1zM5 4h1v1h-1z"), "{}", &code.path[..40]);
        assert!(code.side > 2 * MARGIN + 21 && code.path.len() < 40_000);
    }
}
