//! The page of a booking type: what it would be offered at, why other times are not, and its fields.

use std::sync::Arc;

use actions::inboxes::setup;
use askama::Template;
use axum::extract::{Path, State};
use base::error::ValidationErrors;
use base::ids::UserId;
use bookings::types::{self, BookingHost, BookingType, BookingTypeInput};
use bookings::{availability, team_calendar};
use web::Web;
use web::forms::form::{Asked, FormFields, PostedForm};
use web::layout::filters;
use web::layout::flash::Flash;
use web::layout::page_layout::PageLayout;
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::visitor::Visitor;

use crate::booking_types::booking_preview::{TypePreview, next_days};
use crate::booking_types::booking_why::{self, WhyAsked, WhyReader, WhyView};
use crate::booking_types::type_fields::{BookingTypeForm, TypeFields};
use crate::{SettingsPage, location};

#[derive(Template)]
#[template(path = "settings_booking_type.html", whitespace = "minimize")]
struct TypePage {
    frame: PageLayout,
    id: String,
    name: String,
    url: String,
    is_active: bool,
    form: TypeFields,
    is_admin: bool,
    preview: TypePreview,
    /// The reader's, which the times of the preview are in.
    zone: String,
    /// Nothing where nobody is there.
    why: Option<WhyView>,
}

/// What the page is read from.
struct TypeRead {
    kind: BookingType,
    hosts: Vec<BookingHost>,
    people: Vec<(UserId, String)>,
    is_admin: bool,
    url: String,
    preview: TypePreview,
    why: Option<WhyView>,
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Asked(asked): Asked,
) -> PageResult {
    web.show(&visitor, &build(&web, &visitor, &id, &asked).await?)
}

async fn build(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    asked: &FormFields,
) -> Result<TypePage, PageError> {
    let (asked, id, zone) = (WhyAsked::of(asked, visitor), id.to_owned(), visitor.zone.clone());
    let (frame, read) = web
        .page(visitor, location(SettingsPage::Bookings), move |tx, cx, me| {
            let kind = types::load(tx, cx.actor, &id)?;
            let hosts = types::hosts(tx, cx.actor.ws, &kind.id)?;
            let people = setup::list_people(tx, cx)?;
            let is_admin = cx.actor.must_administer().is_ok();
            let window = next_days(cx.now, &zone);
            let loaded = availability::load(tx, cx, &kind, window, None)?;
            let booked = team_calendar::booked_by_type(tx, cx.actor, window)?;
            let booked = booked.get(&kind.id).copied().unwrap_or(0);
            let reader = WhyReader { me: &me.id, is_admin, zone: &zone };
            Ok(TypeRead {
                preview: TypePreview::of(&loaded, window, booked, &zone)?,
                why: booking_why::explain(tx, cx, &kind, (&loaded, window), &asked, &reader)?,
                people: people.into_iter().map(|one| (one.id, one.name)).collect(),
                url: kind.url(cx.public_url),
                hosts,
                is_admin,
                kind,
            })
        })
        .await?;
    Ok(TypePage {
        id: read.kind.id.to_string(),
        form: TypeFields::of(&BookingTypeInput::of(&read.kind, &read.hosts), read.people),
        url: read.url,
        is_active: read.kind.active,
        is_admin: read.is_admin,
        preview: read.preview,
        zone: visitor.zone.iana_name().unwrap_or("UTC").to_owned(),
        why: read.why,
        name: read.kind.name,
        frame,
    })
}

pub async fn change(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<BookingTypeForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let (input, wanted) = (form.input(), id.clone());
    let changed = web.act(&visitor, move |tx, cx, _| {
        let before = types::load(tx, cx.actor, &wanted)?;
        let mut input = input.clone();
        input.mailbox = Some(before.mailbox.clone());
        actions::bookings::change_booking_type(tx, cx, &before.id, &input)?;
        Ok(())
    });
    match changed.await.or_problems()? {
        Ok(()) => web.redirect("/settings/bookings", Flash::BookingsSaved),
        Err(problems) => refuse(&web, &visitor, &id, form, problems).await,
    }
}

/// The page with what was typed and what is wrong with it.
async fn refuse(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    form: BookingTypeForm,
    problems: ValidationErrors,
) -> PageResult {
    let page = build(web, visitor, id, &FormFields::default()).await?;
    let fields = page.form.with_typed(form, problems);
    responses::again(&TypePage { form: fields, ..page })
}
