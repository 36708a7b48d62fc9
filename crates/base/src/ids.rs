//! Identifiers: one type per prefix (API section 2.1), and the one source of chance.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use db::{Arg, Column, FromColumn, Value};
use rand::rngs::StdRng;
use rand::{Rng, RngCore, SeedableRng};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

const BASE32: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
pub const LETTERS_AND_DIGITS: &[u8; 62] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

macro_rules! id {
    ($name:ident, $prefix:literal) => {
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub struct $name(String);

        impl $name {
            pub const PREFIX: &'static str = $prefix;

            pub fn new(ids: &Ids, now: i64) -> $name {
                $name(format!("{}{}", $prefix, ids.next(now)))
            }

            /// `None` for what cannot be an id of this kind, and so cannot exist.
            pub fn parse(text: &str) -> Option<$name> {
                let rest = text.strip_prefix($prefix)?;
                let plain = |b: u8| b.is_ascii_digit() || b.is_ascii_lowercase();
                (!rest.is_empty() && rest.len() <= 100 && rest.bytes().all(plain))
                    .then(|| $name(text.to_owned()))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Arg for $name {
            fn value(&self) -> Value<'_> {
                Value::Text(&self.0)
            }
        }

        impl FromColumn for $name {
            const WANTED: &'static str = concat!("an id starting ", $prefix);
            fn from_column(column: Column<'_>) -> Option<Self> {
                match column {
                    Column::Text(text) => $name::parse(text),
                    _ => None,
                }
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": concat!("^", $prefix, "[0-9a-z]+$") })
            }
        }
    };
}

id!(WorkspaceId, "wsp_");
id!(UserId, "usr_");
id!(AgentId, "agt_");
id!(MailboxId, "mbx_");
id!(ConversationId, "cnv_");
id!(MessageId, "msg_");
id!(NoteId, "not_");
id!(TagId, "tag_");
id!(DocumentId, "doc_");
id!(RequestId, "req_");
id!(EventId, "evt_");
id!(WebhookId, "whk_");
id!(SessionId, "ses_");
id!(AttachmentId, "enc_");
id!(SavedReplyId, "sav_");
id!(AnswerId, "ans_");
id!(AuditId, "aud_");
id!(ServiceId, "svc_");
id!(UploadId, "upl_");
id!(UndoId, "und_");
id!(ViewId, "viw_");
id!(TopicId, "tpc_");
id!(RuleId, "rul_");
id!(BookingId, "bkg_");
id!(BookingTypeId, "bkt_");
id!(BusyCalendarId, "cal_");
id!(TeamId, "tem_");
id!(PasskeyId, "pky_");
id!(ContactNoteId, "cno_");
id!(SubscriptionId, "psh_");
id!(ContactFormId, "frm_");
id!(LinkId, "lnk_");

impl AnswerId {
    /// A saved reply's id among the answers.
    pub fn of_saved_reply(reply: &SavedReplyId) -> AnswerId {
        let place = &reply.as_str()[SavedReplyId::PREFIX.len()..];
        AnswerId::parse(&format!("{}{place}", AnswerId::PREFIX))
            .expect("ids differ in their prefix")
    }

    /// The saved reply that has this id among the answers, if it is one.
    pub fn saved_reply(&self) -> Option<SavedReplyId> {
        let place = &self.as_str()[AnswerId::PREFIX.len()..];
        SavedReplyId::parse(&format!("{}{place}", SavedReplyId::PREFIX))
    }
}

/// Someone who can write or be assigned: a person or an agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub enum MemberId {
    User(UserId),
    Agent(AgentId),
}

impl MemberId {
    pub fn parse(text: &str) -> Option<MemberId> {
        let user = UserId::parse(text).map(MemberId::User);
        user.or_else(|| AgentId::parse(text).map(MemberId::Agent))
    }

    pub fn as_str(&self) -> &str {
        match self {
            MemberId::User(id) => id.as_str(),
            MemberId::Agent(id) => id.as_str(),
        }
    }
}

impl<'de> Deserialize<'de> for MemberId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<MemberId, D::Error> {
        let text = String::deserialize(deserializer)?;
        let id = MemberId::parse(&text);
        id.ok_or_else(|| serde::de::Error::custom(<MemberId as FromColumn>::WANTED))
    }
}

impl Arg for MemberId {
    fn value(&self) -> Value<'_> {
        Value::Text(self.as_str())
    }
}

impl FromColumn for MemberId {
    const WANTED: &'static str = "an id starting usr_ or agt_";
    fn from_column(column: Column<'_>) -> Option<Self> {
        match column {
            Column::Text(text) => MemberId::parse(text),
            _ => None,
        }
    }
}

/// The only source of randomness. Ids it makes sort by the time and order they were made in.
pub struct Ids(Mutex<Source>);

struct Source {
    chance: StdRng,
    millisecond: i64,
    counter: u16,
}

impl Ids {
    pub fn random() -> Ids {
        Ids::from(StdRng::from_os_rng())
    }

    pub fn with_seed(seed: u64) -> Ids {
        Ids::from(StdRng::seed_from_u64(seed))
    }

    fn from(chance: StdRng) -> Ids {
        Ids(Mutex::new(Source { chance, millisecond: 0, counter: 0 }))
    }

    /// A UUID of version 7 in lower-case base32: milliseconds, a counter within them, chance.
    fn next(&self, now: i64) -> String {
        let mut source = self.source();
        if now > source.millisecond {
            source.millisecond = now;
            source.counter = 0;
        } else if source.counter < 0xfff {
            source.counter += 1;
        } else {
            source.millisecond += 1;
            source.counter = 0;
        }
        let mut random = [0u8; 10];
        source.chance.fill_bytes(&mut random);
        let [high, low] = source.counter.to_be_bytes();
        random[0] = high;
        random[1] = low;
        let millis = source.millisecond.max(0).unsigned_abs();
        let uuid = uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid();
        base32(uuid.as_u128())
    }

    /// An unguessable word of letters and digits.
    pub fn secret(&self, chars: usize) -> String {
        let mut source = self.source();
        (0..chars)
            .map(|_| char::from(LETTERS_AND_DIGITS[source.chance.random_range(0..62)]))
            .collect()
    }

    /// An unguessable word of lower-case letters and digits, 5 bits each.
    pub fn token(&self, chars: usize) -> String {
        let mut source = self.source();
        (0..chars).map(|_| char::from(BASE32[source.chance.random_range(0..32)])).collect()
    }

    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.source().chance.fill_bytes(&mut bytes);
        bytes
    }

    /// A number within these bounds, both included.
    pub fn between(&self, least: i64, most: i64) -> i64 {
        self.source().chance.random_range(least..=most)
    }

    fn source(&self) -> std::sync::MutexGuard<'_, Source> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// 128 bits as 26 characters that sort as the number does.
fn base32(bits: u128) -> String {
    (0..26).rev().map(|place| char::from(BASE32[(bits >> (place * 5)) as usize & 31])).collect()
}

/// What stands behind the prefix of an id that is the same however often it is made: of a time, by which
/// it sorts like the others, and of what the thing is known by elsewhere.
pub fn repeatable_id(at: i64, known_by: &str) -> String {
    let hash = Sha256::digest(known_by);
    let rest = hash.iter().take(10).fold(0u128, |bits, byte| (bits << 8) | u128::from(*byte));
    let millis = u128::from(at.max(0).unsigned_abs()) & 0xffff_ffff_ffff;
    base32((millis << 80) | rest)
}

/// A number as `width` base-32 characters.
pub fn short_base32(number: i64, width: u32) -> String {
    (0..width)
        .rev()
        .map(|place| char::from(BASE32[(number >> (place * 5)) as usize & 31]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_in_the_order_they_were_made() {
        let ids = Ids::with_seed(1);
        let mut made: Vec<String> = (0..10_000).map(|i| ids.next(1_000 + i / 5_000)).collect();
        let order = made.clone();
        made.sort();
        made.dedup();
        assert_eq!(made, order);
        assert!(made.iter().all(|id| id.len() == 26));
    }

    #[test]
    fn a_repeatable_id_is_the_same_each_time_and_sorts_by_its_time() {
        let made = repeatable_id(1_704_103_200_000, "zammad 1");
        assert_eq!(made, repeatable_id(1_704_103_200_000, "zammad 1"));
        assert_ne!(made, repeatable_id(1_704_103_200_000, "zammad 2"));
        assert!(made < repeatable_id(1_704_103_200_001, "zammad 1"));
        assert!(made > repeatable_id(1_704_103_199_999, "zammad 1"));
        assert!(NoteId::parse(&format!("{}{made}", NoteId::PREFIX)).is_some());
    }

    #[test]
    fn only_the_right_prefix_and_plain_characters_make_an_id() {
        assert!(ConversationId::parse("cnv_0a").is_some());
        for bad in ["cnv_", "msg_0a", "cnv_A", "cnv_a\0", "cnv_é", "", "cnv_a b"] {
            assert!(ConversationId::parse(bad).is_none(), "{bad:?}");
        }
    }
}
