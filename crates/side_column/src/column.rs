//! The column: sections that fold, each with what there is to know.

use std::sync::Arc;

use actions::conversations::side_column::{SideContent, side_content};
use actions::workspace::fields::FieldSheet;
use askama::Template;
use axum::extract::{Path, State};
use base::error::ValidationErrors;
use base::limits::LINK_URL_CHARS;
use bookings::zone_or_utc;
use customer_panel::PanelCase;
use model::fields::stored_values::FieldEntry;
use model::fields::{CustomField, FieldKind};
use translation::{sentence, t};
use web::Web;
use web::forms::form::{Asked, FormFields};
use web::layout::filters;
use web::layout::hrefs::contact_href;
use web::layout::page_layout::{PageLayout, PageLocation};
use web::layout::responses::{self, PageError, PageResult};
use web::layout::wording::{Avatar, DisplayTime, TimeFormat, language_name, status_label};
use web::pages::conversation::targets::{TargetView, target};
use web::pages::custom_fields::{FieldsForm, FieldsFormPlace};
use web::pages::lists::conversation_list::subject;
use web::pages::lists::list_query::ListQuery;
use web::visitor::{CsrfToken, Visitor};

use crate::links::LinkLine;

/// Words of an earlier reply that are shown.
const BEFORE_WORDS: usize = 30;

/// The column beside a conversation.
#[derive(Template)]
#[template(path = "side_column.html", whitespace = "minimize")]
pub struct SideColumn {
    csrf: CsrfToken,
    id: String,
    /// The query of the list that the conversation stands beside.
    from: String,
    name: String,
    email: String,
    contact_href: String,
    avatar: Avatar,
    language: String,
    clock: String,
    contact_fields: Vec<FieldLine>,
    pub fields: FieldsForm,
    own_fields: Vec<FieldLine>,
    links: Vec<LinkLine>,
    /// What was typed that is no item, and why.
    typed_link: String,
    link_error: String,
    /// What the app of the owner is called, where one is asked about this conversation.
    app: Option<String>,
    company: String,
    colleagues: Vec<(String, String)>,
    others: Vec<OtherLine>,
    offers: Vec<(String, String)>,
    before: Vec<BeforeLine>,
    target: Option<TargetView>,
    targets: Vec<(&'static str, DisplayTime)>,
    followers: Vec<(Avatar, String)>,
    is_followed: bool,
}

/// A field with what it is; empty where it is not set.
struct FieldLine {
    label: String,
    value: String,
    is_link: bool,
    is_choice: bool,
}

struct OtherLine {
    href: String,
    subject: String,
    status: &'static str,
    time: DisplayTime,
}

struct BeforeLine {
    href: String,
    subject: String,
    about: String,
    gist: String,
}

/// The column as a page of its own.
#[derive(Template)]
#[template(path = "side_page.html", whitespace = "minimize")]
pub struct SidePage {
    frame: PageLayout,
    back: String,
    pub column: SideColumn,
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Asked(asked): Asked,
) -> PageResult {
    if asked.has("part") {
        return responses::page(&part(&web, &visitor, id, asked).await?);
    }
    web.show(&visitor, &build(&web, &visitor, id, &asked).await?)
}

/// The column alone.
async fn part(
    web: &Web,
    visitor: &Visitor,
    id: String,
    asked: FormFields,
) -> Result<SideColumn, PageError> {
    let from = ListQuery::of_page(&asked);
    let (content, app, now) = web
        .read(visitor, move |tx, cx, _| {
            let content = side_content(tx, cx, &id)?;
            Ok((content, app_name(customer_panel::question(tx, cx, &id)?), cx.now))
        })
        .await?;
    let times = TimeFormat::new(now, visitor.zone.clone());
    Ok(SideColumn::new(content, app, &visitor.csrf, &from, &times))
}

/// The column as a page.
pub async fn build(
    web: &Web,
    visitor: &Visitor,
    id: String,
    asked: &FormFields,
) -> Result<SidePage, PageError> {
    let from = ListQuery::of_page(asked);
    let location = PageLocation::new(t!("About this conversation"));
    let (frame, (content, app)) = web
        .page(visitor, location, move |tx, cx, _| {
            let content = side_content(tx, cx, &id)?;
            Ok((content, app_name(customer_panel::question(tx, cx, &id)?)))
        })
        .await?;
    let back = from.conversation(content.conversation.id.as_str());
    let column = SideColumn::new(content, app, &frame.csrf, &from, &frame.times);
    Ok(SidePage { back, column, frame })
}

fn app_name(case: PanelCase) -> Option<String> {
    match case {
        PanelCase::Off => None,
        PanelCase::Asks(question) => Some(question.name().to_owned()),
    }
}

impl SideColumn {
    fn new(
        content: SideContent,
        app: Option<String>,
        csrf: &CsrfToken,
        from: &ListQuery,
        times: &TimeFormat,
    ) -> SideColumn {
        let SideContent { conversation, contact, contact_fields, own_fields, .. } = content;
        let email = conversation.contact_email.to_string();
        let named = conversation.contact_name.clone().filter(|name| !name.is_empty());
        let name = named.unwrap_or_else(|| email.clone());
        let zone = contact.as_ref().and_then(|contact| contact.time_zone.as_deref());
        let clock = zone.map(|zone| TimeFormat::new(times.now, zone_or_utc(zone)).clock(times.now));
        let language = contact.as_ref().and_then(|contact| contact.language.clone());
        let company = mail::organisation(&email).unwrap_or_default();
        let colleagues = contact.map(|contact| contact.colleagues).unwrap_or_default();
        let colleagues = colleagues.into_iter().map(|party| {
            let href = contact_href(&party.email);
            (href, party.name.unwrap_or(party.email))
        });
        let others = content.others.into_iter().map(|other| OtherLine {
            href: format!("/conversations/{}", other.id),
            subject: subject(&other.subject),
            status: status_label(other.status, false).text,
            time: times.short(other.last_message_at),
        });
        let offers = content.offers.into_iter().map(|one| (one.id.to_string(), one.title));
        let before = content.answered_before.into_iter().map(|one| BeforeLine {
            href: format!("/conversations/{}", one.id),
            subject: subject(&one.subject),
            about: t!(
                "{contact}, {when} · answered by {by}",
                contact = one.contact,
                when = times.short(one.at).text,
                by = one.by
            ),
            gist: one.text.split_whitespace().take(BEFORE_WORDS).collect::<Vec<_>>().join(" "),
        });
        let due = [
            (t!("Answer by"), conversation.answer_due_at),
            (t!("Closed by"), conversation.resolve_due_at),
        ];
        let targets = due.into_iter().filter_map(|(word, at)| Some((word, times.long(at?))));
        let place = FieldsFormPlace {
            csrf: csrf.to_string(),
            from: from.as_str().to_owned(),
            action: format!("/conversations/{}/fields", conversation.id),
        };
        SideColumn {
            csrf: csrf.clone(),
            from: from.as_str().to_owned(),
            contact_href: contact_href(&email),
            avatar: Avatar::customer(&name),
            language: language.map(language_name).unwrap_or_default(),
            clock: clock.unwrap_or_default(),
            contact_fields: lines(&contact_fields, times),
            own_fields: lines(&own_fields, times),
            links: content.links.into_iter().map(LinkLine::of).collect(),
            typed_link: String::new(),
            link_error: String::new(),
            fields: FieldsForm::new(place, own_fields),
            app,
            company,
            colleagues: colleagues.collect(),
            others: others.collect(),
            offers: offers.collect(),
            before: before.collect(),
            target: target(conversation.answer_due_at, conversation.resolve_due_at, times),
            targets: targets.collect(),
            followers: content
                .followers
                .into_iter()
                .map(|name| (Avatar::person(&name), name))
                .collect(),
            is_followed: content.is_followed,
            id: conversation.id.to_string(),
            name,
            email,
        }
    }
}

impl SideColumn {
    /// Shows again what was typed as the address of an item.
    pub fn refuse_link(&mut self, typed: String, problems: &ValidationErrors) {
        self.typed_link = typed;
        let rule = problems.first_sentence();
        self.link_error = t!("The address {rule}.", rule = sentence(&rule));
    }
}

/// Every field with what it is, in the words of people.
fn lines(sheet: &FieldSheet, times: &TimeFormat) -> Vec<FieldLine> {
    let line = |field: &CustomField| {
        let stored = sheet.values.iter().find(|entry| entry.key == field.key);
        FieldLine {
            label: field.label(),
            value: stored.map(|entry| value_words(entry, times)).unwrap_or_default(),
            is_link: field.kind == FieldKind::Link,
            is_choice: field.kind == FieldKind::Choice,
        }
    };
    sheet.fields.iter().map(line).collect()
}

fn value_words(entry: &FieldEntry, times: &TimeFormat) -> String {
    match (entry.kind, entry.value.number) {
        (FieldKind::Boolean, _) if entry.value.text == "true" => t!("Yes").into(),
        (FieldKind::Boolean, _) => t!("No").into(),
        (FieldKind::Date, Some(day)) => times.day(day),
        _ => entry.value.text.clone(),
    }
}
