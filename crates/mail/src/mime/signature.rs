//! Whether a mail carries a signature of its writer, of which kind. It is not checked.

use mail_parser::{Message, MimeHeaders};
use serde::{Deserialize, Serialize};

use super::smime::is_signed_data;
use super::unpack::is_smime;

/// The line before a text that is signed within itself (RFC 9580, section 7).
const SIGNED_TEXT: &str = "-----BEGIN PGP SIGNED MESSAGE-----";

/// The two ways in which people sign mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignatureFormat {
    OpenPgp,
    Smime,
}

/// The format of the first signature of a mail, of which `text` is the whole text.
pub fn signature_format(message: &Message<'_>, text: &str) -> Option<SignatureFormat> {
    let in_parts = message.parts.iter().find_map(|part| {
        let named = part.content_type()?;
        if named.ctype() == "multipart" && named.subtype() == Some("signed") {
            // RFC 3156, section 5, and RFC 8551, section 3.5.3.
            let protocol = named.attribute("protocol")?.to_ascii_lowercase();
            return match protocol.as_str() {
                "application/pgp-signature" => Some(SignatureFormat::OpenPgp),
                "application/pkcs7-signature" | "application/x-pkcs7-signature" => {
                    Some(SignatureFormat::Smime)
                }
                _ => None,
            };
        }
        (is_smime(part) && is_signed_data(part.contents())).then_some(SignatureFormat::Smime)
    });
    let in_text = || text.lines().any(|line| line.trim_end() == SIGNED_TEXT);
    in_parts.or_else(|| in_text().then_some(SignatureFormat::OpenPgp))
}
