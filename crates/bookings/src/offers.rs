//! Times that a reply offers: a link under its text, and the times as links. What the customer picks
//! belongs to the conversation.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{BookingTypeId, ConversationId, MessageId};
use base::limits::{BOOKING_GUEST_NAME_CHARS, NEXT_TIMES, OFFER_MS, OFFERED_TIMES};
use base::time::Moment;
use db::{Json, Tx};
use jiff::tz::TimeZone;
use mail::{MailSection, MailSectionRow};
use model::conversations::Conversation;
use model::guests::guest_tokens::{GuestToken, GuestTokenHash};
use model::messages::mail_language;
use model::messages::recipients::Party;
use model::times::calendar_words::date_and_clock;
use model::times::local_times::LocalTimes;
use translation::{Reader, t};

use super::types::{self, BookingType};
use super::{availability, zone_or_utc};

/// What a reply offers (`booking` of the operation `reply`).
#[derive(Clone, Debug)]
pub struct OfferInput {
    pub type_id: String,
    pub times: Vec<Moment>,
}

db::row! {
    /// The offer of one message.
    #[derive(Clone, Debug)]
    pub struct BookingOffer from "o" {
        pub ws: i64,
        pub message: MessageId,
        pub conversation: ConversationId,
        pub type_id: BookingTypeId = "o.type",
        pub times: Json<Vec<i64>>,
        pub guest_name: Option<String>,
        pub guest_email: String,
        pub expires_at: Option<i64>,
    }
}

/// An offer that was checked, to be written with its message.
pub struct CheckedOffer {
    kind: BookingType,
    times: Vec<i64>,
}

/// Checks that there is such a type and that the times are free.
pub fn check(tx: &mut Tx<'_>, cx: &Cx<'_>, input: &OfferInput) -> Result<CheckedOffer> {
    let kind = types::load_active(tx, cx.actor, &input.type_id).map_err(|_| {
        Error::invalid("booking.typeId", "is not a booking type (see GET /booking-types)")
    })?;
    let mut times: Vec<i64> = input.times.iter().map(|time| time.0).collect();
    times.sort_unstable();
    times.dedup();
    if times.len() > OFFERED_TIMES {
        let sentence = format!("must be at most {OFFERED_TIMES} items");
        return Err(Error::invalid("booking.times", sentence));
    }
    for at in &times {
        let loaded = availability::load(tx, cx, &kind, (*at, *at + 1_000), None)?;
        if loaded.free_at(*at)?.is_none() {
            let next = availability::next_free(tx, cx, &kind, *at, NEXT_TIMES, None)?;
            let next: Vec<String> = next.iter().map(|one| Moment(one.starts_at).iso()).collect();
            let sentence = format!(
                "{} is not free; the next free times are {}",
                Moment(*at).iso(),
                if next.is_empty() { "none".to_owned() } else { next.join(", ") }
            );
            return Err(Error::invalid("booking.times", sentence));
        }
    }
    Ok(CheckedOffer { kind, times })
}

/// Writes the offer of a message. Its link works once the message is scheduled.
pub fn create(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &MessageId,
    guest: Option<&Party>,
    offer: &CheckedOffer,
) -> Result<()> {
    let token = token(tx, cx, message)?;
    let (name, email) = match guest {
        Some(party) => (party.name.clone(), party.email.clone()),
        None => (conversation.contact_name.clone(), conversation.contact_email.to_string()),
    };
    let is_contact = conversation.contact_email == email.as_str();
    let name = name.or_else(|| conversation.contact_name.clone().filter(|_| is_contact));
    // A name that no booking may have is asked for on the page.
    let is_name = |name: &String| {
        let chars = name.trim().chars().count();
        (1..=BOOKING_GUEST_NAME_CHARS).contains(&chars) && !name.contains('\0')
    };
    let name = name.filter(is_name);
    tx.exec(
        "INSERT INTO booking_offers (
            ws, message, conversation, type, times, guest_name, guest_email, token_hash
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        &[
            &cx.actor.ws,
            message,
            &conversation.id,
            &offer.kind.id,
            &Json(&offer.times),
            &name,
            &email,
            &token.hash(),
        ],
    )?;
    Ok(())
}

/// The offer of a message, if it has one.
pub fn of_message(tx: &mut Tx<'_>, ws: i64, message: &MessageId) -> Result<Option<BookingOffer>> {
    Ok(tx.opt(
        &format!(
            "SELECT {} FROM booking_offers o WHERE o.ws = ?1 AND o.message = ?2",
            BookingOffer::COLUMNS
        ),
        &[&ws, message],
    )?)
}

/// The offer behind a link, while it works.
pub fn with_token(tx: &mut Tx<'_>, hash: GuestTokenHash, now: i64) -> Result<Option<BookingOffer>> {
    Ok(tx.opt(
        &format!(
            "SELECT {} FROM booking_offers o WHERE o.token_hash = ?1 AND o.expires_at > ?2",
            BookingOffer::COLUMNS
        ),
        &[&hash, &now],
    )?)
}

/// Opens the link of a message's offer; returns what stands under its text, or `None` without an
/// offer.
pub fn open(tx: &mut Tx<'_>, cx: &Cx<'_>, message: &MessageId) -> Result<Option<OfferLines>> {
    let Some(offer) = of_message(tx, cx.actor.ws, message)? else { return Ok(None) };
    tx.exec(
        "UPDATE booking_offers SET expires_at = ?3 WHERE ws = ?1 AND message = ?2",
        &[&cx.actor.ws, message, &(cx.now + OFFER_MS)],
    )?;
    let kind = types::of_booking(tx, cx.actor.ws, &offer.type_id)?;
    let times = still_free(tx, cx, &kind, &offer.times)?;
    lines_of(tx, cx, &offer, times).map(Some)
}

/// The offer in the text of a message, as the message's HTML shows it; `None` where the text has none, or one that
/// somebody changed.
pub fn mail_section(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &MessageId,
    text: &str,
) -> Result<Option<MailSection>> {
    let Some(offer) = of_message(tx, cx.actor.ws, message)? else { return Ok(None) };
    let lines = lines_of(tx, cx, &offer, offer.times.0.clone())?;
    // Times that were over or taken when the text was written are not in it.
    let is_offered = |at: &i64| text.lines().any(|line| line.ends_with(&lines.link_at(*at)));
    let times = lines.times.iter().copied().filter(is_offered).collect();
    let lines = OfferLines { times, ..lines };
    // The language may have become known since.
    let readers = [lines.reader.clone(), Reader::default()];
    let sections = readers.into_iter().map(|reader| reader.run(|| lines.section()));
    let mut written = sections.filter(|section| text.contains(section.lines.trim()));
    Ok(written.next())
}

/// The lines of an offer of these times, on the customer's clock where it is known, else on the host's.
fn lines_of(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    offer: &BookingOffer,
    times: Vec<i64>,
) -> Result<OfferLines> {
    let ws = cx.actor.ws;
    let zone = match LocalTimes::of_customer(tx, ws, &offer.conversation)? {
        Some(customer) => customer.zone,
        None => {
            let hosts = types::hosts(tx, ws, &offer.type_id)?;
            zone_or_utc(hosts.first().and_then(|host| host.zone.as_deref()).unwrap_or("UTC"))
        }
    };
    let link = format!("{}/b/o/{}", cx.public_url, token(tx, cx, &offer.message)?.as_str());
    let reader = mail_language::of_conversation(tx, ws, &offer.conversation)?;
    Ok(OfferLines { link, times, zone, reader })
}

/// A reply may wait for long until somebody lets it leave: times that are over or taken are left out.
fn still_free(tx: &mut Tx<'_>, cx: &Cx<'_>, kind: &BookingType, times: &[i64]) -> Result<Vec<i64>> {
    let mut free = Vec::new();
    for at in times {
        let loaded = availability::load(tx, cx, kind, (*at, *at + 1_000), None)?;
        if loaded.free_at(*at)?.is_some() {
            free.push(*at);
        }
    }
    Ok(free)
}

/// What stands under the text of a reply that offers times.
pub struct OfferLines {
    link: String,
    times: Vec<i64>,
    zone: TimeZone,
    /// The customer, in whose language they are.
    reader: Reader,
}

impl OfferLines {
    /// The text with the link and the times below it. One that has them already stays as it is.
    pub fn below(&self, text: &str) -> String {
        if text.contains(&self.link) {
            return text.to_owned();
        }
        format!("{}\n\n{}", text.trim_end(), self.reader.run(|| self.lines()))
    }

    fn link_at(&self, at: i64) -> String {
        format!("{}?at={}", self.link, at / 1_000)
    }

    /// What stands over the times. Customers read it.
    fn heading(&self) -> String {
        t!("Pick one of these times ({zone}):", zone = self.zone.iana_name().unwrap_or("UTC"))
    }

    /// Customers read it.
    fn section(&self) -> MailSection {
        let row = |at: &i64| MailSectionRow {
            title: date_and_clock(*at, &self.zone),
            description: String::new(),
            url: self.link_at(*at),
        };
        let (heading, button) = match self.times.is_empty() {
            true => (t!("Pick a time that suits you:").to_owned(), t!("Pick a time")),
            false => (self.heading(), t!("Pick another time")),
        };
        MailSection {
            lines: self.lines(),
            heading,
            rows: self.times.iter().map(row).collect(),
            remark: String::new(),
            button: button.to_owned(),
            url: self.link.clone(),
        }
    }

    /// Customers read it.
    fn lines(&self) -> String {
        let link = &self.link;
        if self.times.is_empty() {
            return format!("{}\n", t!("Pick a time that suits you: {link}", link));
        }
        let mut lines = format!("{}\n", self.heading());
        for at in &self.times {
            let local = date_and_clock(*at, &self.zone);
            lines.push_str(&format!("- {local}: {}\n", self.link_at(*at)));
        }
        lines.push_str(&format!("\n{}\n", t!("Or another one: {link}", link)));
        lines
    }
}

fn token(tx: &mut Tx<'_>, cx: &Cx<'_>, message: &MessageId) -> Result<GuestToken> {
    GuestToken::derive(tx, cx, &format!("offer {message}"))
}

#[cfg(test)]
mod tests {
    use translation::Language;

    use super::*;

    #[test]
    fn link_and_times_stand_under_the_text_once() {
        let lines = OfferLines {
            link: "https://m.example/b/o/x".into(),
            times: vec![1_795_600_800_000],
            zone: TimeZone::UTC,
            reader: Reader::default(),
        };
        let text = lines.below("When suits you?\n");
        assert!(
            text.starts_with("When suits you?\n\nPick one of these times (UTC):\n- "),
            "{text}"
        );
        assert!(text.contains(": https://m.example/b/o/x?at=1795600800\n"), "{text}");
        assert!(text.ends_with("Or another one: https://m.example/b/o/x\n"), "{text}");
        assert_eq!(lines.below(&text), text);
        let section = lines.section();
        assert_eq!((section.rows.len(), section.url.as_str()), (1, "https://m.example/b/o/x"));
        for part in [&section.rows[0].title, &section.rows[0].url, &section.heading] {
            assert!(text.contains(part.as_str()), "{part}: {text}");
        }
        let german = Reader::new(Language::parse("de").unwrap());
        let text = OfferLines { reader: german, ..lines }.below("Wann passt es?");
        assert!(
            text.contains("Wählen Sie eine dieser Zeiten (UTC):\n- Mittwoch, 25. Nov"),
            "{text}"
        );
    }
}
