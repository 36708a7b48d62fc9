//! Unforgeable tokens in outgoing mail, which route replies and bounces back: an HMAC-SHA256 with
//! the workspace's secret, cut to 80 bits or more.

use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::headers::address::{is_address, normal_address};

const BASE32: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Bytes of the mark in a Message-ID: 24 characters.
const ID_MARK_BYTES: usize = 15;
/// Bytes of the mark in an address, where room is short: 16 characters.
const ADDRESS_MARK_BYTES: usize = 10;
/// Characters before the `@` of an address (RFC 5321, section 4.5.3.1).
const LOCAL_CHARS: usize = 64;
/// Characters of an id behind its prefix.
const ID_CHARS: usize = 40;

/// The field in which our mail carries the loop mark.
pub const LOOP_FIELD: &str = "X-Mailroom-Loop";

/// The target of a token in an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressToken {
    /// The id of the conversation that an answer to this address belongs to.
    Conversation(String),
    /// The id of the message that a bounce to this address is about.
    Bounce(String),
}

/// The Message-ID of a message of ours, without angle brackets: its id and a mark, in the form
/// `msg.ID.MARK@DOMAIN`.
pub fn signed_message_id(secret: &[u8], message: &str, domain: &str) -> String {
    let domain = domain.to_lowercase();
    let mark = mark::<ID_MARK_BYTES>(secret, "message-id", &[message, &domain]);
    format!("{}.{mark}@{domain}", message.replacen('_', ".", 1))
}

/// The id of our message that a Message-ID belongs to; `None` when we did not make it.
pub fn message_of_id(secret: &[u8], header_id: &str) -> Option<String> {
    let (left, domain) = crate::headers::ids::bare_message_id(header_id).rsplit_once('@')?;
    let (id, mark) = left.rsplit_once('.')?;
    let message = with_prefix("msg_", id.strip_prefix("msg.")?)?;
    let domain = domain.to_lowercase();
    verify::<ID_MARK_BYTES>(secret, "message-id", &[&message, &domain], mark).then_some(message)
}

/// The address of an inbox that files an answer into a conversation. `None` for an inbox whose own
/// name leaves no room for a token.
pub fn reply_address(secret: &[u8], inbox: &str, conversation: &str) -> Option<String> {
    signed_address(secret, inbox, "c", conversation.strip_prefix("cnv_")?)
}

/// The return path of a message: bounces to it are about this message and no other.
pub fn return_path(secret: &[u8], inbox: &str, message: &str) -> Option<String> {
    signed_address(secret, inbox, "b", message.strip_prefix("msg_")?)
}

/// The token in an address; `None` when it has none or the token is forged.
pub fn token_of_address(secret: &[u8], address: &str) -> Option<AddressToken> {
    let address = normal_address(address);
    let (local, domain) = address.rsplit_once('@')?;
    let (base, tag) = local.split_once('+')?;
    let (kind, rest) = tag.split_once('_')?;
    let (id, mark) = rest.rsplit_once('_')?;
    let token = match kind {
        "c" => AddressToken::Conversation(with_prefix("cnv_", id)?),
        "b" => AddressToken::Bounce(with_prefix("msg_", id)?),
        _ => return None,
    };
    let inbox = format!("{base}@{domain}");
    verify::<ADDRESS_MARK_BYTES>(secret, kind, &[id, &inbox], mark).then_some(token)
}

/// What a message of ours carries in [`LOOP_FIELD`], so that a copy of it is known when it comes
/// back to us: its id and a mark, in the form `ID.MARK`. `None` for what is no id of a message.
pub fn loop_mark(secret: &[u8], message: &str) -> Option<String> {
    let id = message.strip_prefix("msg_")?;
    Some(format!("{id}.{}", mark::<ID_MARK_BYTES>(secret, "loop", &[message])))
}

/// The id of our message that a loop mark was made for; `None` when we did not make it. Whoever got
/// the message can copy its mark: that a mail is that message, its sender and text must show.
pub fn message_of_loop_mark(secret: &[u8], value: &str) -> Option<String> {
    let (id, mark) = value.trim().split_once('.')?;
    let message = with_prefix("msg_", id)?;
    verify::<ID_MARK_BYTES>(secret, "loop", &[&message], mark).then_some(message)
}

fn signed_address(secret: &[u8], inbox: &str, kind: &str, id: &str) -> Option<String> {
    let inbox = normal_address(inbox);
    let (local, domain) = inbox.rsplit_once('@').filter(|_| is_address(&inbox))?;
    if local.contains('+') {
        return None;
    }
    let mark = mark::<ADDRESS_MARK_BYTES>(secret, kind, &[id, &inbox]);
    let signed = format!("{local}+{kind}_{id}_{mark}");
    (signed.len() <= LOCAL_CHARS).then(|| format!("{signed}@{domain}"))
}

fn with_prefix(prefix: &str, id: &str) -> Option<String> {
    let plain = |b: u8| b.is_ascii_digit() || b.is_ascii_lowercase();
    let fits = (1..=ID_CHARS).contains(&id.len()) && id.bytes().all(plain);
    fits.then(|| format!("{prefix}{id}"))
}

/// An HMAC over a purpose and its parts, each behind its length, so that no two lists of parts
/// read the same.
fn hmac(secret: &[u8], purpose: &str, parts: &[&str]) -> Hmac<Sha256> {
    let mut hmac = Hmac::<Sha256>::new_from_slice(secret).expect("a key may have any length");
    for part in std::iter::once(&purpose).chain(parts) {
        hmac.update(&(part.len() as u64).to_be_bytes());
        hmac.update(part.as_bytes());
    }
    hmac
}

fn mark<const BYTES: usize>(secret: &[u8], purpose: &str, parts: &[&str]) -> String {
    let whole = hmac(secret, purpose, parts).finalize().into_bytes();
    encode(&whole[..BYTES])
}

fn verify<const BYTES: usize>(secret: &[u8], purpose: &str, parts: &[&str], mark: &str) -> bool {
    let Some(bytes) = decode(mark).filter(|bytes| bytes.len() == BYTES) else { return false };
    hmac(secret, purpose, parts).verify_truncated_left(&bytes).is_ok()
}

/// Five bytes as eight characters.
fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(5) * 8);
    for group in bytes.chunks(5) {
        let bits = group.iter().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
        for place in (0..8).rev() {
            text.push(char::from(BASE32[(bits >> (place * 5)) as usize & 31]));
        }
    }
    text
}

fn decode(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(8) || text.len() > 64 {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 8 * 5);
    for group in text.as_bytes().chunks(8) {
        let mut bits = 0u64;
        for letter in group {
            let value = BASE32.iter().position(|known| known == letter)?;
            bits = bits << 5 | value as u64;
        }
        bytes.extend_from_slice(&bits.to_be_bytes()[3..]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plus_tag;

    const SECRET: &[u8] = b"a workspace's secret";
    const MESSAGE: &str = "msg_01hxyz0123456789abcdefghjk";
    const CONVERSATION: &str = "cnv_01hxyz0123456789abcdefghjk";

    #[test]
    fn our_message_ids_lead_back_to_the_message() {
        let id = signed_message_id(SECRET, MESSAGE, "Acme.example");
        assert!(id.starts_with("msg.01hxyz0123456789abcdefghjk."), "{id}");
        assert_eq!(message_of_id(SECRET, &format!("<{id}>")).as_deref(), Some(MESSAGE));
        assert_eq!(message_of_id(b"another secret", &id), None);
        assert_eq!(message_of_id(SECRET, &id.replace("acme", "evil")), None);
        assert_eq!(message_of_id(SECRET, &id.replace("01hxyz", "01hxyy")), None);
        assert_eq!(message_of_id(SECRET, &id[1..]), None);
    }

    #[test]
    fn reply_addresses_and_return_paths_cannot_be_made_up() {
        let reply = reply_address(SECRET, "Support@acme.example", CONVERSATION).expect("it fits");
        let bounce = return_path(SECRET, "support@acme.example", MESSAGE).expect("it fits");
        assert_eq!(
            token_of_address(SECRET, &reply.to_uppercase()),
            Some(AddressToken::Conversation(CONVERSATION.into()))
        );
        assert_eq!(token_of_address(SECRET, &bounce), Some(AddressToken::Bounce(MESSAGE.into())));
        for forged in [
            reply.replace("support", "sales"),
            reply.replace("+c_", "+b_"),
            reply.replace("_01hxyz", "_01hxyy"),
            "support+c_01hxyz_0000000000000000@acme.example".to_owned(),
            "support+c__@acme.example".to_owned(),
            "support+inv-2041@acme.example".to_owned(),
        ] {
            assert_eq!(token_of_address(SECRET, &forged), None, "{forged}");
        }
        assert_eq!(token_of_address(b"another secret", &reply), None);
    }

    #[test]
    fn a_token_is_never_taken_for_a_reference_and_always_fits() {
        let reply = reply_address(SECRET, "support@acme.example", CONVERSATION).expect("it fits");
        assert_eq!(plus_tag(&reply), ("support@acme.example".into(), None));
        let long = format!("{}@acme.example", "x".repeat(60));
        assert_eq!(reply_address(SECRET, &long, CONVERSATION), None);
        assert_eq!(reply_address(SECRET, "support+x@acme.example", CONVERSATION), None);
    }

    #[test]
    fn a_loop_mark_is_of_one_message_and_no_other() {
        let mark = loop_mark(SECRET, MESSAGE).expect("it is a message");
        assert_eq!(message_of_loop_mark(SECRET, &format!(" {mark}")).as_deref(), Some(MESSAGE));
        let (_, of_all) = mark.split_once('.').expect("it has two parts");
        for forged in [mark.replace("01hxyz", "01hxyy"), of_all.to_owned(), String::new()] {
            assert_eq!(message_of_loop_mark(SECRET, &forged), None, "{forged}");
        }
        assert_eq!(message_of_loop_mark(b"another secret", &mark), None);
        assert_eq!(loop_mark(SECRET, "cnv_01hxyz"), None);
    }
}
