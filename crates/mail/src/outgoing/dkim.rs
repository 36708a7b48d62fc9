//! DKIM signatures on the mail we send (RFC 6376): `rsa-sha256`, `relaxed/relaxed`. The time is an
//! argument, so that every try of a mail has the same bytes.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use rsa::RsaPrivateKey;
use rsa::pkcs1::EncodeRsaPrivateKey;
use rsa::pkcs8::EncodePublicKey;
use rsa::rand_core::{CryptoRng, Error, RngCore};
use sha2::{Digest, Sha256};

const KEY_BITS: usize = 2048;
/// Characters of a line of the signature's own field.
const LINE_CHARS: usize = 72;

/// The signed header fields. The first five are oversigned, so that none can be added to a signed
/// mail.
const SIGNED_WHATEVER: &[&str] = &["from", "to", "cc", "subject", "reply-to"];
const SIGNED: &[&str] = &[
    "date",
    "message-id",
    "in-reply-to",
    "references",
    "mime-version",
    "content-type",
    "content-transfer-encoding",
    "auto-submitted",
];

/// A key that signs a domain's mail. Its secret is in no log.
#[derive(Clone, PartialEq, Eq)]
pub struct DkimKey {
    secret: Vec<u8>,
    public: String,
}

impl fmt::Debug for DkimKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DkimKey")
    }
}

impl DkimKey {
    /// Makes a key from chance: this fills bytes with it. It takes a while.
    pub fn generate(chance: impl FnMut(&mut [u8])) -> Option<DkimKey> {
        let key = RsaPrivateKey::new(&mut KeyRng(chance), KEY_BITS).ok()?;
        let secret = key.to_pkcs1_der().ok()?.as_bytes().to_vec();
        let public = key.to_public_key().to_public_key_der().ok()?;
        Some(DkimKey { secret, public: STANDARD.encode(public.as_bytes()) })
    }

    /// A key as it was kept.
    pub fn from_stored(secret: Vec<u8>, public: String) -> DkimKey {
        DkimKey { secret, public }
    }

    pub fn secret(&self) -> &[u8] {
        &self.secret
    }

    /// The public half, as it stands in [`dkim_record`].
    pub fn public(&self) -> &str {
        &self.public
    }
}

/// The TXT record of a key at `SELECTOR._domainkey.DOMAIN`.
pub fn dkim_record(public: &str) -> String {
    format!("v=DKIM1; k=rsa; p={public}")
}

/// The mail with a signature of the domain in front; `None` when the key cannot sign.
pub fn dkim_sign(
    mail: &[u8],
    domain: &str,
    selector: &str,
    key: &DkimKey,
    seconds: i64,
) -> Option<Vec<u8>> {
    let (head, body) = match mail.windows(4).position(|four| four == b"\r\n\r\n") {
        Some(end) => (&mail[..end + 2], &mail[end + 4..]),
        None => (mail, &[][..]),
    };
    let fields = fields(head);
    let (names, mut signed) = signed_fields(&fields);
    let body_hash = STANDARD.encode(Sha256::digest(relaxed_body(body)));
    let field = format!(
        "DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d={domain};\r\n\ts={selector}; \
         t={seconds};\r\n\th={names};\r\n\tbh={body_hash};\r\n\tb=",
        names = names.join(":\r\n\t "),
    );
    signed.extend_from_slice(&relaxed_field(field.as_bytes()));
    let signature = STANDARD.encode(signature(key, &signed)?);
    let mut whole = field.into_bytes();
    for (place, line) in signature.as_bytes().chunks(LINE_CHARS).enumerate() {
        if place > 0 {
            whole.extend_from_slice(b"\r\n\t ");
        }
        whole.extend_from_slice(line);
    }
    whole.extend_from_slice(b"\r\n");
    whole.extend_from_slice(mail);
    Some(whole)
}

fn signature(key: &DkimKey, signed: &[u8]) -> Option<Vec<u8>> {
    let pair = RsaKeyPair::from_der(&key.secret).ok()?;
    let mut signature = vec![0; pair.public().modulus_len()];
    pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), signed, &mut signature).ok()?;
    Some(signature)
}

/// The fields of a header, each with its folded lines and without its last line end.
fn fields(head: &[u8]) -> Vec<&[u8]> {
    let mut fields = Vec::new();
    let mut start = 0;
    for end in memchr::memmem::find_iter(head, b"\r\n") {
        let folded = matches!(head.get(end + 2), Some(b' ' | b'\t'));
        if !folded {
            fields.push(&head[start..end]);
            start = end + 2;
        }
    }
    fields
}

/// The names for `h=`, and the canonical fields in the same order; of fields with one name the
/// last comes first (RFC 6376, section 5.4.2).
fn signed_fields(fields: &[&[u8]]) -> (Vec<String>, Vec<u8>) {
    let (mut names, mut signed) = (Vec::new(), Vec::new());
    for name in SIGNED_WHATEVER.iter().chain(SIGNED) {
        for field in fields.iter().rev().filter(|field| has_name(field, name)) {
            names.push((*name).to_owned());
            signed.extend_from_slice(&relaxed_field(field));
            signed.extend_from_slice(b"\r\n");
        }
        if SIGNED_WHATEVER.contains(name) {
            names.push((*name).to_owned());
        }
    }
    (names, signed)
}

fn has_name(field: &[u8], name: &str) -> bool {
    let end = memchr::memchr(b':', field).unwrap_or(0);
    field[..end].trim_ascii().eq_ignore_ascii_case(name.as_bytes())
}

/// A field as RFC 6376 relaxes it (section 3.4.2), without a line end.
fn relaxed_field(field: &[u8]) -> Vec<u8> {
    let colon = memchr::memchr(b':', field).unwrap_or(field.len());
    let (name, value) = field.split_at(colon);
    let mut relaxed = name.trim_ascii().to_ascii_lowercase();
    relaxed.push(b':');
    let words = value.get(1..).unwrap_or_default();
    let words = words.split(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
    for (place, word) in words.filter(|word| !word.is_empty()).enumerate() {
        if place > 0 {
            relaxed.push(b' ');
        }
        relaxed.extend_from_slice(word);
    }
    relaxed
}

/// A body as RFC 6376 relaxes it (section 3.4.4).
fn relaxed_body(body: &[u8]) -> Vec<u8> {
    let mut relaxed = Vec::with_capacity(body.len());
    let mut empty_lines = 0;
    let mut rest = body;
    while !rest.is_empty() {
        let end = memchr::memmem::find(rest, b"\r\n");
        let line = relaxed_line(&rest[..end.unwrap_or(rest.len())]);
        rest = end.map_or(&[], |end| &rest[end + 2..]);
        if line.is_empty() {
            empty_lines += 1;
            continue;
        }
        relaxed.extend_from_slice(&b"\r\n".repeat(std::mem::take(&mut empty_lines)));
        relaxed.extend_from_slice(&line);
        relaxed.extend_from_slice(b"\r\n");
    }
    relaxed
}

fn relaxed_line(line: &[u8]) -> Vec<u8> {
    let mut relaxed = Vec::with_capacity(line.len());
    let mut space = false;
    for byte in line {
        if matches!(byte, b' ' | b'\t') {
            space = true;
            continue;
        }
        if std::mem::take(&mut space) {
            relaxed.push(b' ');
        }
        relaxed.push(*byte);
    }
    relaxed
}

/// Adapts a random-byte function to `RngCore` for key generation.
struct KeyRng<F>(F);

impl<F: FnMut(&mut [u8])> RngCore for KeyRng<F> {
    fn next_u32(&mut self) -> u32 {
        let mut bytes = [0; 4];
        (self.0)(&mut bytes);
        u32::from_le_bytes(bytes)
    }

    fn next_u64(&mut self) -> u64 {
        let mut bytes = [0; 8];
        (self.0)(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        (self.0)(bytes);
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        (self.0)(bytes);
        Ok(())
    }
}

impl<F: FnMut(&mut [u8])> CryptoRng for KeyRng<F> {}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 6376, section 3.4.5.
    #[test]
    fn fields_and_bodies_are_relaxed_as_the_standard_shows() {
        assert_eq!(relaxed_field(b"A: X"), b"a:X");
        assert_eq!(relaxed_field(b"B : Y\t\r\n\tZ  "), b"b:Y Z");
        assert_eq!(relaxed_body(b" C \r\nD \t E\r\n\r\n\r\n"), b" C\r\nD E\r\n");
        assert_eq!(relaxed_body(b"\r\n\r\n"), b"");
        assert_eq!(relaxed_body(b"a\r\n\r\nb"), b"a\r\n\r\nb\r\n");
    }

    #[test]
    fn fields_are_taken_with_their_folds_and_the_last_of_a_name_first() {
        let head = b"To: a\r\nSubject: one\r\n two\r\nto: b\r\nX-Other: 1\r\n";
        let (names, signed) = signed_fields(&fields(head));
        assert_eq!(names.join(":"), "from:to:to:to:cc:subject:subject:reply-to");
        assert_eq!(signed, b"to:b\r\nto:a\r\nsubject:one two\r\n");
    }

    #[test]
    fn a_key_signs_the_same_mail_at_the_same_time_the_same_way_and_shows_no_secret() {
        let mut block = Sha256::digest(b"a seed");
        let chance = |bytes: &mut [u8]| {
            for chunk in bytes.chunks_mut(32) {
                block = Sha256::digest(block);
                chunk.copy_from_slice(&block[..chunk.len()]);
            }
        };
        let Some(key) = DkimKey::generate(chance) else { panic!("no key") };
        let mail = b"From: a@x.example\r\nSubject: Hi\r\n\r\nHello\r\n";
        let sign = |seconds| dkim_sign(mail, "x.example", "mr1", &key, seconds).expect("signed");
        assert_eq!(sign(1), sign(1));
        assert_ne!(sign(1), sign(2));
        let text = String::from_utf8(sign(1)).expect("ASCII");
        assert!(text.starts_with("DKIM-Signature: v=1; a=rsa-sha256;"), "{text}");
        assert!(text.ends_with("\r\nFrom: a@x.example\r\nSubject: Hi\r\n\r\nHello\r\n"), "{text}");
        assert!(text.lines().all(|line| line.len() <= 100), "{text}");
        assert_eq!(format!("{key:?}"), "DkimKey");
    }
}
