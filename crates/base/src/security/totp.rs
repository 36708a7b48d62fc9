//! Time-based one-time passwords of authenticator apps (RFC 6238 over RFC 4226).
//!
//! SHA-1, six digits and 30 seconds: what every app assumes, whatever else the address of a secret says.

use ring::hmac;

/// Seconds that one code counts.
const STEP_SECONDS: i64 = 30;
const DIGITS: u32 = 6;
/// Steps before and after the present one whose codes count: clocks differ (RFC 6238, 5.2).
const DRIFT: i64 = 1;
/// Bytes of a secret: the length of the hash (RFC 4226, 4).
pub const TOTP_SECRET_BYTES: usize = 20;

const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The secret that an app and this server share. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct TotpSecret(Vec<u8>);

impl TotpSecret {
    pub fn new(bytes: [u8; TOTP_SECRET_BYTES]) -> TotpSecret {
        TotpSecret(bytes.to_vec())
    }

    /// `None` for what `base32` did not write.
    pub fn parse(text: &str) -> Option<TotpSecret> {
        let mut bytes = Vec::with_capacity(TOTP_SECRET_BYTES);
        let (mut buffer, mut bits) = (0_u32, 0);
        for letter in text.bytes() {
            let value = BASE32.iter().position(|known| *known == letter)? as u32;
            buffer = buffer << 5 | value;
            bits += 5;
            if bits >= 8 {
                bits -= 8;
                bytes.push((buffer >> bits) as u8);
                buffer &= (1 << bits) - 1;
            }
        }
        (bytes.len() == TOTP_SECRET_BYTES).then_some(TotpSecret(bytes))
    }

    /// As apps take it (RFC 4648, 6): 20 bytes are 32 letters without padding.
    pub fn base32(&self) -> String {
        let mut text = String::new();
        for group in self.0.chunks(5) {
            let number = group.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
            for place in (0..8).rev() {
                text.push(char::from(BASE32[(number >> (place * 5) & 31) as usize]));
            }
        }
        text
    }

    /// The address that a QR code carries to an app.
    pub fn address(&self, issuer: &str, account: &str) -> String {
        let plain = |text: &str| -> String {
            let word: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
            word.replace('+', "%20")
        };
        let (issuer, account) = (plain(&issuer.replace(':', " ")), plain(account));
        format!("otpauth://totp/{issuer}:{account}?secret={}&issuer={issuer}", self.base32())
    }

    /// The step whose code was typed, if it is newer than the last one that was used.
    pub fn fits(&self, typed: &str, now: i64, last_step: i64) -> Option<i64> {
        let digits: String = typed.chars().filter(|c| !c.is_whitespace()).collect();
        if digits.len() != DIGITS as usize || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let present = now.div_euclid(1_000).div_euclid(STEP_SECONDS);
        (present - DRIFT..=present + DRIFT)
            .filter(|step| *step > last_step)
            .find(|step| self.code(*step) == digits)
    }

    /// The code of a time, in milliseconds.
    pub fn code_at(&self, now: i64) -> String {
        self.code(now.div_euclid(1_000).div_euclid(STEP_SECONDS))
    }

    /// RFC 4226, 5.3.
    fn code(&self, step: i64) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &self.0);
        let tag = hmac::sign(&key, &step.to_be_bytes());
        let hash = tag.as_ref();
        let offset = usize::from(hash[hash.len() - 1] & 0xf);
        let number =
            (0..4).fold(0_u32, |number, place| number << 8 | u32::from(hash[offset + place]));
        let width = DIGITS as usize;
        format!("{:0width$}", (number & 0x7fff_ffff) % 10_u32.pow(DIGITS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_the_rfc() -> TotpSecret {
        TotpSecret::new(*b"12345678901234567890")
    }

    #[test]
    fn the_codes_are_those_of_rfc_6238() {
        // Appendix B, SHA-1; six digits are the last six of its eight.
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(of_the_rfc().code_at(seconds * 1_000), code, "{seconds}");
        }
    }

    #[test]
    fn the_step_before_and_after_count_and_each_counts_once() {
        let (secret, now) = (of_the_rfc(), 1_234_567_890_000);
        let step = now / 30_000;
        for (shift, fits) in [(-2, false), (-1, true), (0, true), (1, true), (2, false)] {
            let code = secret.code(step + shift);
            assert_eq!(secret.fits(&code, now, 0), fits.then_some(step + shift), "{shift}");
        }
        let code = secret.code(step);
        assert_eq!(secret.fits(&code, now, step), None);
        assert_eq!(secret.fits(" 005 924 ", now, 0), Some(step));
        for bad in ["", "5924", "0059245", "00592x", "٠٠٥٩٢٤"] {
            assert_eq!(secret.fits(bad, now, 0), None, "{bad}");
        }
    }

    #[test]
    fn a_secret_is_written_as_apps_read_it() {
        assert_eq!(of_the_rfc().base32(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        assert!(TotpSecret::parse(&of_the_rfc().base32()) == Some(of_the_rfc()));
        for bad in
            ["", "GEZD", "gezdgnbvgy3tqojqgezdgnbvgy3tqojq", "0EZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"]
        {
            assert!(TotpSecret::parse(bad).is_none(), "{bad}");
        }
        let address = of_the_rfc().address("Acme & Co", "ann@acme.test");
        let wanted = "otpauth://totp/Acme%20%26%20Co:ann%40acme.test\
                      ?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Acme%20%26%20Co";
        assert_eq!(address, wanted);
    }
}
