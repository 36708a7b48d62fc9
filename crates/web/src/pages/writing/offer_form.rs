//! The form that offers times in a reply: what it shows, and what is posted from it.

use actions::conversation_bookings::MessageOffer;
use actions::conversations::{open_conversation, timeline};
use actions::writing::autosaves::AutosaveKind;
use actions::writing::seen::SeenConversation;
use api::operations::FindSlotsInput;
use api::operations::find_slots;
use base::limits::SLOT_DAYS;
use bookings::types;
use jiff::ToSpan;
use jiff::civil::Date;
use model::messages::written_text::TextFormat;
use translation::t;

use crate::Web;
use crate::forms::form::{FormFields, form};
use crate::layout::responses::PageError;
use crate::layout::wording::{TimeFormat, month_name, weekday};
use crate::pages::conversation::booking_cards::OfferView;
use crate::pages::conversation::timeline::TimelineRow;
use crate::pages::lists::list_query::ListQuery;
use crate::pages::writing::composer::FormValues;
use crate::pages::writing::recipients::{RecipientLines, party_line};
use crate::visitor::Visitor;

/// Free times that the form shows at once; *Later days* leads on.
const TIMES_SHOWN: i64 = 60;
/// Days that it looks ahead at once.
const DAYS_SHOWN: i64 = 14;

/// The form as a page shows it.
#[derive(Default)]
pub struct OfferForm {
    /// Ids and names of what can be booked, and whether it is chosen.
    pub types: Vec<(String, String, bool)>,
    pub days: Vec<OfferDay>,
    pub zone: String,
    /// The first day that is shown, and where earlier and later ones begin.
    pub first: String,
    pub earlier: Option<String>,
    pub later: String,
    pub to: String,
    pub cc: String,
    pub body: String,
    pub is_rich: bool,
    pub problems: Vec<String>,
    pub seen: i64,
}

/// The free times of one day.
pub struct OfferDay {
    pub name: String,
    pub times: Vec<OfferTime>,
}

pub struct OfferTime {
    /// As the form carries it.
    pub value: String,
    pub clock: String,
    pub is_chosen: bool,
}

form! {
    pub struct TimesForm {
        kind: String = "type",
        times: FormValues = "time",
        first: String,
        body: String,
        format: TextFormat,
        recipients: RecipientLines,
        /// Keeps it as a draft that a person approves.
        keep: bool,
        /// Shows another type's times, or those of other days; the value is the first day.
        show: Option<String>,
        seen: SeenConversation,
        from: ListQuery,
    }
}

/// The form as it is opened: with the text that is not finished yet.
pub async fn open(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    asked: &FormFields,
    seen: i64,
) -> Result<OfferForm, PageError> {
    let (kind, first) = (asked.get("type"), asked.get("first"));
    let mut shown = read_free(web, visitor, &kind, &first, &[]).await?;
    let wanted = id.to_owned();
    let part = timeline::TimelinePart::Newest;
    let open = web
        .read(visitor, move |tx, cx, _| {
            open_conversation::read_conversation(tx, cx, &wanted, &part)
        })
        .await?;
    shown.to = party_line(&open.everybody.to);
    shown.cc = party_line(&open.everybody.cc);
    if let Some(saved) = open.autosave.filter(|saved| saved.kind == AutosaveKind::Reply) {
        shown.body = saved.body;
        if !saved.to.is_empty() {
            (shown.to, shown.cc) = (saved.to, saved.cc);
        }
    }
    shown.is_rich = open.writing.format == TextFormat::Markdown;
    shown.seen = seen;
    Ok(shown)
}

/// What can be booked, and the free times of the chosen type from a day on.
pub async fn read_free(
    web: &Web,
    visitor: &Visitor,
    kind: &str,
    first: &str,
    chosen: &[String],
) -> Result<OfferForm, PageError> {
    let zone = visitor.zone.clone();
    let name = zone.iana_name().filter(|name| calendar::zone_named(name).is_some());
    let name = name.unwrap_or("UTC").to_owned();
    let now = jiff::Timestamp::from_millisecond(web.app.clock.now());
    let today = now.unwrap_or(jiff::Timestamp::UNIX_EPOCH).to_zoned(zone.clone()).date();
    let first: Date = first.parse().map_or(today, |first: Date| first.max(today));
    let last = first.saturating_add((DAYS_SHOWN.min(SLOT_DAYS) - 1).days());
    let (wanted, asked_zone) = (kind.to_owned(), name.clone());
    let (kinds, kind, slots) = web
        .read(visitor, move |tx, cx, _| {
            let mut kinds = types::list(tx, cx.actor)?;
            kinds.retain(|kind| kind.active && kind.circle.is_team());
            let found = kinds.iter().find(|kind| kind.id.as_str() == wanted).or(kinds.first());
            let Some(kind) = found.map(|kind| kind.id.to_string()) else {
                return Ok((kinds, String::new(), Vec::new()));
            };
            let input = FindSlotsInput {
                id: kind.clone(),
                from: Some(first.to_string()),
                to: Some(last.to_string()),
                zone: Some(asked_zone.clone()),
                limit: Some(TIMES_SHOWN),
                part: None,
            };
            let slots = find_slots(tx, cx, input)?;
            Ok((kinds, kind, slots))
        })
        .await?;
    let is_cut = slots.len() as i64 == TIMES_SHOWN;
    let mut days: Vec<OfferDay> = Vec::new();
    let mut reached = last;
    for slot in &slots {
        let at = jiff::Timestamp::from_millisecond(slot.starts_at.0);
        let at = at.unwrap_or(jiff::Timestamp::UNIX_EPOCH).to_zoned(zone.clone());
        let day = t!(
            "{weekday} {day} {month}",
            weekday = weekday(at.weekday()),
            day = at.day(),
            month = month_name(at.month()),
        );
        if days.last().is_none_or(|last| last.name != day) {
            days.push(OfferDay { name: day, times: Vec::new() });
        }
        if is_cut {
            reached = at.date();
        }
        let value = slot.starts_at.iso();
        let is_chosen = chosen.contains(&value);
        let time = OfferTime { value, clock: at.strftime("%H:%M").to_string(), is_chosen };
        if let Some(day) = days.last_mut() {
            day.times.push(time);
        }
    }
    let earlier = first.saturating_sub(DAYS_SHOWN.days()).max(today);
    Ok(OfferForm {
        types: kinds
            .into_iter()
            .map(|one| {
                let is_chosen = one.id.as_str() == kind;
                let label = t!("{name}, {minutes} minutes", name = one.name, minutes = one.minutes);
                (one.id.to_string(), label, is_chosen)
            })
            .collect(),
        days,
        zone: name,
        first: first.to_string(),
        earlier: (first > today).then(|| earlier.to_string()),
        later: reached.saturating_add(1.day()).to_string(),
        ..OfferForm::default()
    })
}

/// Puts the offers into their messages.
pub fn show_offers(items: &mut [TimelineRow], offers: &[MessageOffer], times: &TimeFormat) {
    for item in items {
        let TimelineRow::Message(message) = item else { continue };
        let offer = offers.iter().find(|offer| offer.message.as_str() == message.id);
        message.offer = offer.map(|offer| OfferView::of(offer, times));
    }
}
