//! The document library: search, preview, and correcting what was read.

use std::sync::Arc;

use actions::conversations::corrections;
use actions::writing::library::{self, LibraryCard, LibraryDocument};
use api::fields::check_query;
use api::operations::search_documents;
use api::operations::{SEARCH_DOCUMENTS, SearchDocumentsInput};
use api::wire::Document;
use askama::Template;
use axum::extract::{Path, State};
use base::error::{Error, ValidationError};
use base::ids::DocumentId;
use base::limits::DOCUMENT_READ_BYTES;
use model::documents::{DocumentFields, DocumentKind};
use translation::{sentence, t, text_in_context};

use crate::Web;
use crate::forms::form::{Asked, FormFields, PostedForm, form};
use crate::layout::filters;
use crate::layout::flash::Flash;
use crate::layout::page_layout::{PageLayout, PageLocation};
use crate::layout::responses::{self, FormOutcome, PageError, PageResult};
use crate::layout::wording::{DisplayTime, TimeFormat, number, size};
use crate::pages::mail_files::files::is_picture;
use crate::visitor::Visitor;

/// Documents on one page.
const SHOWN: i64 = 24;

#[derive(Template)]
#[template(path = "documents.html", whitespace = "minimize")]
struct LibraryPage {
    frame: PageLayout,
    q: String,
    kind: String,
    kinds: Vec<(&'static str, &'static str)>,
    problem: String,
    cards: Vec<CardView>,
    next: Option<String>,
    detail: Option<DetailView>,
}

struct CardView {
    href: String,
    current: bool,
    picture: Option<String>,
    title: String,
    sum: Option<String>,
    kind: &'static str,
    about: String,
    read: bool,
}

pub struct DetailView {
    id: String,
    title: String,
    kind: &'static str,
    picture: Option<String>,
    /// A picture, or a PDF, which the browser's own viewer shows in a window of its own.
    is_shown: bool,
    facts: Vec<(&'static str, Option<String>)>,
    file: String,
    from: Option<(String, String)>,
    when: DisplayTime,
    uploaded: bool,
    corrected: bool,
    correcting: bool,
    form: CorrectionView,
}

/// The form of a correction, as the page shows it.
struct CorrectionView {
    kind: String,
    kinds: Vec<(&'static str, &'static str)>,
    /// The fields: their names in the form, their labels and their values.
    values: [(&'static str, &'static str, String); 6],
    problems: Vec<String>,
}

impl CorrectionView {
    fn of(form: CorrectionForm) -> CorrectionView {
        CorrectionView {
            kind: form.kind,
            kinds: kinds(),
            values: [
                ("vendor", t!("Vendor"), form.vendor),
                ("amount", t!("Amount"), form.amount),
                ("currency", t!("Currency"), form.currency),
                ("date", t!("Date"), form.date),
                ("dueDate", text_in_context("document", "Due"), form.due_date),
                ("reference", text_in_context("document", "Reference"), form.reference),
            ],
            problems: Vec::new(),
        }
    }
}

fn kinds() -> Vec<(&'static str, &'static str)> {
    DocumentKind::ALL.iter().map(|kind| (kind.as_str(), kind_name(Some(*kind)))).collect()
}

fn kind_name(kind: Option<DocumentKind>) -> &'static str {
    match kind {
        Some(DocumentKind::Invoice) => text_in_context("document", "Invoice"),
        Some(DocumentKind::Receipt) => text_in_context("document", "Receipt"),
        Some(DocumentKind::Statement) => text_in_context("document", "Statement"),
        Some(DocumentKind::Contract) => text_in_context("document", "Contract"),
        Some(DocumentKind::Id) => text_in_context("document", "Identity"),
        Some(DocumentKind::Tax) => text_in_context("document", "Tax"),
        Some(DocumentKind::Photo) => text_in_context("document", "Photo"),
        Some(DocumentKind::Other) => text_in_context("document", "Other"),
        None => text_in_context("document", "Not read"),
    }
}

/// A document's title in the reader's language. One without distinguishing fields has its file's name.
fn title(
    kind: Option<DocumentKind>,
    fields: &DocumentFields,
    title: &str,
    filename: &str,
) -> String {
    let name = match kind {
        _ if title == filename => return title.to_owned(),
        None | Some(DocumentKind::Id | DocumentKind::Photo | DocumentKind::Other) => {
            return title.to_owned();
        }
        Some(DocumentKind::Tax) => text_in_context("document", "Tax paper"),
        Some(kind) => kind_name(Some(kind)),
    };
    let named = match &fields.reference {
        Some(reference) => format!("{name} {reference}"),
        None => name.to_owned(),
    };
    let parts = [Some(named), fields.vendor.clone(), sum(fields)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// What is wrong with a field, which English names as the API does.
fn problem(found: &ValidationError) -> String {
    let field = match found.field.as_str() {
        "kind" => text_in_context("field", "kind"),
        "vendor" => text_in_context("field", "vendor"),
        "amount" => text_in_context("field", "amount"),
        "currency" => text_in_context("field", "currency"),
        "date" => text_in_context("field", "date"),
        "dueDate" => text_in_context("field", "dueDate"),
        "reference" => text_in_context("field", "reference"),
        field => field,
    };
    format!("{field}: {}", sentence(&found.sentence))
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    let page = build(&web, &visitor, &asked, None).await?;
    web.show(&visitor, &page)
}

/// The page; `typed` is a correction that was refused.
async fn build(
    web: &Web,
    visitor: &Visitor,
    asked: &FormFields,
    typed: Option<CorrectionView>,
) -> Result<LibraryPage, PageError> {
    let q = asked.get("q").trim().to_owned();
    let (input, problem) = match check(asked, &q).or_problems()? {
        Ok(input) => (Some(input), String::new()),
        Err(problems) => {
            let first = problems.0.into_iter().next();
            (None, first.as_ref().map(problem).unwrap_or_default())
        }
    };
    let wanted = match asked.opt("doc") {
        Some(id) => Some(DocumentId::parse(&id).ok_or(Error::NotFound("document"))?),
        None => None,
    };
    let location = PageLocation::at(t!("Documents"), "/documents");
    let (frame, (found, cards, detail)) = web
        .page(visitor, location, move |tx, cx, _| {
            let detail = match &wanted {
                Some(id) => Some(library::look_at_document(tx, cx, id)?),
                None => None,
            };
            let page = match &input {
                Some(input) => Some(search_documents(tx, cx, input)?),
                None => None,
            };
            let items = page.iter().flat_map(|page| &page.items);
            let ids: Vec<_> = items.map(|document| &document.id).collect();
            let cards = library::cards(tx, cx, &ids)?;
            Ok((page, cards, detail))
        })
        .await?;
    let (items, cursor) = found.map(|page| (page.items, page.next)).unwrap_or_default();
    let shown = detail.as_ref().map(|detail| detail.id.clone());
    let views = items.iter().map(|document| {
        let current = shown.as_ref() == Some(&document.id);
        card_view(document, cards.get(&document.id), asked, current, &frame.times)
    });
    let views = views.collect();
    let correcting = asked.has("correct") || typed.is_some();
    let draws = web.page_renderer.can_draw();
    Ok(LibraryPage {
        q,
        kind: asked.get("kind"),
        kinds: kinds(),
        problem,
        cards: views,
        next: cursor.map(|cursor| href(asked, &[("cursor", &cursor)])),
        detail: detail.map(|found| detail_view(found, &frame.times, correcting, typed, draws)),
        frame,
    })
}

/// The input after the API's own checks.
fn check(asked: &FormFields, q: &str) -> base::error::Result<SearchDocumentsInput> {
    let mut pairs = vec![("q".to_owned(), q.to_owned())];
    for name in ["kind", "cursor"] {
        pairs.extend(asked.opt(name).map(|value| (name.to_owned(), value)));
    }
    check_query(SEARCH_DOCUMENTS.fields, &pairs).map_err(Error::Invalid)?;
    Ok(SearchDocumentsInput {
        q: Some(q.to_owned()).filter(|q| !q.is_empty()),
        kind: DocumentKind::parse(&asked.get("kind")),
        conversation: None,
        from: None,
        limit: Some(SHOWN),
        cursor: asked.opt("cursor"),
    })
}

/// The address of the library with the same search and further parameters.
fn href(asked: &FormFields, more: &[(&str, &str)]) -> String {
    let kept = asked.pairs().iter().filter(|(name, value)| {
        ["q", "kind", "cursor"].contains(&name.as_str())
            && !value.is_empty()
            && more.iter().all(|(new, _)| new != name)
    });
    let query = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(kept)
        .extend_pairs(more)
        .finish();
    format!("/documents?{query}")
}

fn card_view(
    document: &Document,
    card: Option<&LibraryCard>,
    asked: &FormFields,
    current: bool,
    times: &TimeFormat,
) -> CardView {
    let has_preview = |card: &&LibraryCard| {
        let is_shown = is_picture(&card.content_type) || card.content_type == "application/pdf";
        is_shown && card.size <= DOCUMENT_READ_BYTES
    };
    let picture = card.filter(has_preview);
    let who = document.fields.vendor.clone();
    let who = who.or_else(|| card.map(|card| card.contact.clone())).unwrap_or_default();
    CardView {
        href: format!("{}#detail", href(asked, &[("doc", document.id.as_str())])),
        current,
        picture: picture.map(|_| format!("/documents/{}/preview", document.id)),
        title: title(document.kind, &document.fields, &document.title, &document.filename),
        sum: sum(&document.fields),
        kind: kind_name(document.kind),
        about: format!("{who} · {}", times.short(document.created_at.0).text),
        read: document.kind.is_some(),
    }
}

fn sum(fields: &DocumentFields) -> Option<String> {
    let amount = fields.amount?;
    let currency = fields.currency.as_deref().unwrap_or_default();
    Some(format!("{} {currency}", number(amount, 2)).trim_end().to_owned())
}

fn detail_view(
    found: LibraryDocument,
    times: &TimeFormat,
    correcting: bool,
    typed: Option<CorrectionView>,
    draws: bool,
) -> DetailView {
    let fields = &found.fields;
    let form = typed.unwrap_or_else(|| {
        CorrectionView::of(CorrectionForm {
            kind: found.kind.map_or("other", DocumentKind::as_str).to_owned(),
            vendor: fields.vendor.clone().unwrap_or_default(),
            amount: fields.amount.map(|n| n.to_string()).unwrap_or_default(),
            currency: fields.currency.clone().unwrap_or_default(),
            date: fields.date.clone().unwrap_or_default(),
            due_date: fields.due_date.clone().unwrap_or_default(),
            reference: fields.reference.clone().unwrap_or_default(),
        })
    });
    let is_shown = is_picture(&found.content_type);
    DetailView {
        id: found.id.to_string(),
        kind: kind_name(found.kind),
        picture: match found.content_type.as_str() {
            "application/pdf" if draws => Some(format!("/documents/{}/page", found.id)),
            _ => is_shown.then(|| format!("/documents/{}/scaled", found.id)),
        },
        is_shown: is_shown || found.content_type == "application/pdf",
        facts: vec![
            (t!("Vendor"), fields.vendor.clone()),
            (t!("Amount"), sum(fields)),
            (t!("Date"), fields.date.clone()),
            (text_in_context("document", "Due"), fields.due_date.clone()),
            (text_in_context("document", "Reference"), fields.reference.clone()),
        ],
        file: format!("{}, {}", found.filename, size(found.size)),
        from: found.conversation().map(|(id, subject, contact)| {
            (
                format!("/conversations/{id}"),
                format!("{contact}, {}", crate::pages::lists::conversation_list::subject(subject)),
            )
        }),
        when: times.long(found.created_at),
        uploaded: found.uploaded,
        corrected: found.corrected,
        correcting,
        title: title(found.kind, fields, &found.title, &found.filename),
        form,
    }
}

form! {
    /// A correction of what was read in a document.
    pub struct CorrectionForm {
        kind: String,
        vendor: String,
        amount: String,
        currency: String,
        date: String,
        due_date: String = "dueDate",
        reference: String,
    }
}

/// Replaces what was read in a document by what a person says.
pub async fn correct(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<CorrectionForm>,
) -> PageResult {
    let PostedForm { visitor, mut form } = posted;
    (form.date, form.due_date) =
        (visitor.iso_past_day(&form.date), visitor.iso_day(&form.due_date));
    let document = DocumentId::parse(&id).ok_or(Error::NotFound("document"))?;
    let outcome = match correction(&form) {
        Ok((kind, values)) => {
            web.act(&visitor, move |tx, cx, _| {
                corrections::correct_document(tx, cx, &document, kind, &values)
            })
            .await
        }
        Err(problem) => Err(PageError::Domain(problem)),
    };
    match outcome.or_problems()? {
        Ok(()) => web.redirect(&format!("/documents?doc={id}#detail"), Flash::Corrected),
        Err(problems) => {
            let problems = problems.0.iter().map(|found| format!("{}.", problem(found))).collect();
            let typed = CorrectionView { problems, ..CorrectionView::of(form) };
            let asked = FormFields::read(format!("doc={id}").as_bytes());
            responses::again(&build(&web, &visitor, &asked, Some(typed)).await?)
        }
    }
}

fn correction(form: &CorrectionForm) -> base::error::Result<(DocumentKind, DocumentFields)> {
    let kind = DocumentKind::parse(&form.kind)
        .ok_or_else(|| Error::invalid("kind", "choose one of the list"))?;
    let text = |typed: &str| Some(typed.trim().to_owned()).filter(|text| !text.is_empty());
    let amount = match text(&form.amount) {
        Some(typed) => {
            let plain = typed.replace([' ', '\''], "").replace(',', ".");
            Some(plain.parse::<f64>().map_err(|_| Error::invalid("amount", "must be a number"))?)
        }
        None => None,
    };
    Ok((
        kind,
        DocumentFields {
            vendor: text(&form.vendor),
            amount,
            currency: text(&form.currency).map(|code| code.to_uppercase()),
            date: text(&form.date),
            due_date: text(&form.due_date),
            reference: text(&form.reference),
        },
    ))
}

#[cfg(test)]
mod tests {
    use translation::{Language, Reader};

    use super::*;

    #[test]
    fn a_title_is_in_the_readers_language_and_a_files_name_stays() {
        let fields = DocumentFields {
            vendor: Some("Lumen Holz".into()),
            amount: Some(1240.5),
            currency: Some("EUR".into()),
            reference: Some("4711".into()),
            ..DocumentFields::default()
        };
        let stored = "Invoice 4711, Lumen Holz, 1240.50 EUR";
        let german = Reader::new(Language::parse("de").expect("German"));
        let said =
            |stored: &str| title(Some(DocumentKind::Invoice), &fields, stored, "Invoice.pdf");
        assert_eq!(said(stored), stored);
        assert_eq!(german.run(|| said(stored)), "Rechnung 4711, Lumen Holz, 1240,50 EUR");
        assert_eq!(german.run(|| said("Invoice.pdf")), "Invoice.pdf");
        let tax = || title(Some(DocumentKind::Tax), &fields, "Tax paper 4711", "scan.pdf");
        assert!(german.run(tax).starts_with("Steuerunterlage 4711, "));
    }
}
