//! Office hours, automatic reply and targets of an inbox.

use std::sync::Arc;

use actions::inboxes::office_hours::{self, OfficeHoursInput};
use actions::sign_in::sessions;
use askama::Template;
use axum::extract::{Path, State};
use base::app::Cx;
use base::error::Error;
use base::ids::MailboxId;
use db::Tx;
use model::mailboxes::office_hours::OfficeHours;
use model::mailboxes::{self, weekly_hours};
use translation::t;
use web::Web;
use web::forms::field_errors::FieldErrors;
use web::forms::form::PostedForm;
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::visitor::Visitor;

use crate::inboxes::holidays::{HolidayChoice, holiday_choices, next_holidays};
use crate::{SettingsPage, location};

/// An inbox in the list of office hours.
pub struct HoursRow {
    pub id: String,
    pub name: String,
    pub hours: String,
    pub zone: String,
    pub has_reply: bool,
    pub targets: String,
}

#[derive(Template)]
#[template(path = "settings_hours.html", whitespace = "minimize")]
struct HoursPage {
    frame: PageLayout,
    id: String,
    name: String,
    form: OfficeHoursInput,
    zones: Vec<String>,
    places: Vec<HolidayChoice>,
    next_holidays: String,
    errors: FieldErrors,
}

/// The inboxes that the actor may see, with their hours.
pub fn hours_rows(tx: &mut Tx<'_>, cx: &Cx<'_>) -> base::error::Result<Vec<HoursRow>> {
    let mut rows = Vec::new();
    for inbox in mailboxes::all_seen_by(tx, cx.actor)? {
        let hours = model::mailboxes::office_hours::of(tx, cx.actor.ws, &inbox.id)?;
        rows.push(HoursRow {
            id: inbox.id.to_string(),
            name: inbox.name,
            hours: hours.as_ref().map(|one| weekly_hours::words(&one.weekly)).unwrap_or_default(),
            zone: hours.as_ref().map(|one| one.zone.clone()).unwrap_or_default(),
            has_reply: hours.as_ref().is_some_and(|one| !one.away_reply.is_empty()),
            targets: hours.as_ref().map(target_words).unwrap_or_default(),
        });
    }
    Ok(rows)
}

fn target_words(hours: &OfficeHours) -> String {
    let all = [
        hours.answer_minutes.map(|it| t!("answer in {time}", time = span_words(it))),
        hours.answer_urgent.map(|it| t!("urgent in {time}", time = span_words(it))),
        hours.resolve_minutes.map(|it| t!("close in {time}", time = span_words(it))),
        hours.resolve_urgent.map(|it| t!("urgent closed in {time}", time = span_words(it))),
    ];
    all.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// `30 min`, `4 h`, `1 h 30`.
fn span_words(minutes: i64) -> String {
    match (minutes / 60, minutes % 60) {
        (0, minutes) => format!("{minutes} min"),
        (hours, 0) => format!("{hours} h"),
        (hours, minutes) => format!("{hours} h {minutes:02}"),
    }
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    let page = build(&web, &visitor, &id, None).await?;
    web.show(&visitor, &page)
}

async fn build(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    typed: Option<OfficeHoursInput>,
) -> Result<HoursPage, PageError> {
    let mailbox = MailboxId::parse(id).ok_or(Error::NotFound("inbox"))?;
    let read = move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &sessions::SignedIn| {
        cx.actor.must_administer()?;
        let seen = mailboxes::seen_by(tx, cx.actor, &mailbox)?.ok_or(Error::NotFound("inbox"))?;
        let hours = model::mailboxes::office_hours::of(tx, cx.actor.ws, &seen.id)?;
        Ok((seen.name, hours))
    };
    let (frame, (name, hours)) = web.page(visitor, location(SettingsPage::Rules), read).await?;
    let form = typed.unwrap_or_else(|| match hours {
        Some(hours) => OfficeHoursInput {
            weekly: weekly_hours::words(&hours.weekly),
            ..OfficeHoursInput::of(&hours)
        },
        None => OfficeHoursInput { zone: zone_name(&frame), ..OfficeHoursInput::default() },
    });
    Ok(HoursPage {
        id: id.to_owned(),
        name,
        zones: calendar::zone_names(),
        places: holiday_choices(&form.place),
        next_holidays: next_holidays(&form.place, frame.times.now),
        errors: FieldErrors::default(),
        frame,
        form,
    })
}

/// The zone of the reader's browser, where it has a name.
fn zone_name(frame: &PageLayout) -> String {
    frame.times.zone.iana_name().unwrap_or("UTC").to_owned()
}

pub async fn save(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<OfficeHoursInput>,
) -> PageResult {
    let PostedForm { visitor, form: mut input } = posted;
    input.holidays = visitor.iso_days(&input.holidays);
    let mailbox = MailboxId::parse(&id).ok_or(Error::NotFound("inbox"))?;
    let own = input.clone();
    let saved = web
        .act(&visitor, move |tx, cx, _| office_hours::set_office_hours(tx, cx, &mailbox, &own))
        .await;
    match saved.or_problems()? {
        Ok(()) => web.redirect("/settings/rules", Flash::HoursSaved),
        Err(problems) => {
            let mut page = build(&web, &visitor, &id, Some(input)).await?;
            let fields = ["weekly", "zone", "holidays", "place", "reply"];
            page.errors = FieldErrors::of(problems, &fields, "targets");
            responses::again(&page)
        }
    }
}
