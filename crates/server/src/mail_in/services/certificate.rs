//! The RSA key in a certificate. Only the way to the key is read (RFC 5280, section 4.1): the
//! certificate is trusted because of the host that it was fetched from.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use transport::net::der::{SEQUENCE, any, element};

const BIT_STRING: u8 = 0x03;
const VERSION: u8 = 0xa0;
/// `rsaEncryption`, with its parameters.
const RSA: &[u8] = &[0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00];

/// The key of the first certificate of a PEM file, as ring wants it.
pub fn rsa_key(pem: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(pem).ok()?;
    let (_, rest) = text.split_once("-----BEGIN CERTIFICATE-----")?;
    let (lines, _) = rest.split_once("-----END CERTIFICATE-----")?;
    let base64: String = lines.split_whitespace().collect();
    let der = STANDARD.decode(base64).ok()?;
    let (certificate, _) = element(&der, SEQUENCE)?;
    let (signed, _) = element(certificate, SEQUENCE)?;
    let mut rest = signed;
    if rest.first() == Some(&VERSION) {
        rest = any(rest)?.1;
    }
    // Serial number, signature algorithm, issuer, validity and subject.
    for _ in 0..5 {
        rest = any(rest)?.1;
    }
    let (key_info, _) = element(rest, SEQUENCE)?;
    let (algorithm, rest) = element(key_info, SEQUENCE)?;
    let (bits, _) = element(rest, BIT_STRING)?;
    let key = bits.strip_prefix(&[0])?;
    (algorithm == RSA).then(|| key.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_certificate_has_no_key() {
        for bad in [
            "",
            "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----",
            "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
            "-----BEGIN CERTIFICATE-----\nMP////8=\n-----END CERTIFICATE-----",
            "-----BEGIN CERTIFICATE-----\nMIA=\n-----END CERTIFICATE-----",
        ] {
            assert_eq!(rsa_key(bad.as_bytes()), None, "{bad}");
        }
    }
}
