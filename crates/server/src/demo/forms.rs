//! The customers' own page and the contact form of the sample workspace: an order number after one answer, pictures
//! after another, in two languages.

use actions::inboxes::contact_forms::add_contact_form;
use actions::workspace::customer_page::set_customer_page;
use base::app::Cx;
use base::error::Result;
use contact_forms::form_texts::{FormTexts, parse_texts};
use contact_forms::{ContactFormInput, FormCondition, FormField, FormFieldKind, FormProof};
use customers::CustomerPageMode;
use db::Tx;
use model::mailboxes;

use super::SamplePlace;

/// Characters of chance in the address of the form of one sample beside others.
const SLUG_CHARS: usize = 16;
const CHOICES: [&str; 4] = ["An order", "A return", "A lamp for a project", "Something else"];
const GERMAN: &str = "[de]
title = Schreiben Sie uns
intro = Wir antworten an Werktagen, meistens innerhalb von vier Stunden.
thanks = Vielen Dank. Wir lesen es und antworten per E-Mail.
field.about = Worum geht es?
field.about.1 = Eine Bestellung
field.about.2 = Eine Rücksendung
field.about.3 = Eine Leuchte für ein Projekt
field.about.4 = Etwas anderes
field.order_number = Bestellnummer
field.pictures = Bilder von dem, was zurückgeht
field.keep = Sie dürfen meine Adresse aufbewahren, um mir zu antworten
";

pub fn add(tx: &mut Tx<'_>, cx: &Cx<'_>, place: SamplePlace) -> Result<()> {
    let inboxes = mailboxes::all_seen_by(tx, cx.actor)?;
    let Some(support) = inboxes.into_iter().find(|inbox| inbox.name == "Support") else {
        return Ok(());
    };
    let field = |key: &str, label: &str, kind: FormFieldKind, required: bool| FormField {
        key: key.to_owned(),
        label: label.to_owned(),
        kind,
        required,
        choices: CHOICES.map(str::to_owned).to_vec(),
        becomes: None,
        when: None,
    };
    let after = |field: FormField, answer: &str| FormField {
        when: FormCondition::parse(&format!("about={answer}")),
        ..field
    };
    let order = field("order_number", "Order number", FormFieldKind::Reference, false);
    let pictures = field("pictures", "Pictures of what goes back", FormFieldKind::Files, false);
    let terms = "You may keep my address to answer me";
    // The address of a form is one of the whole installation.
    let slug = match place {
        SamplePlace::Alone => "contact".to_owned(),
        SamplePlace::In(_) => format!("contact-{}", cx.ids.token(SLUG_CHARS)),
    };
    let input = ContactFormInput {
        mailbox: support.id,
        slug,
        title: "Write to us".to_owned(),
        intro: "We answer on working days, mostly within four hours.".to_owned(),
        thanks: "Thank you. We read it and answer by e-mail.".to_owned(),
        fields: vec![
            field("about", "What is it about?", FormFieldKind::Choice, true),
            after(order, "An order"),
            after(pictures, "A return"),
            field("keep", terms, FormFieldKind::Consent, true),
        ],
        sites: vec!["shop.lumen-holz.example".to_owned()],
        tag: String::new(),
        proof: FormProof::Doubt,
        texts: parse_texts(GERMAN).unwrap_or_else(|_| FormTexts::new()),
    };
    add_contact_form(tx, cx, &input)?;
    match place {
        SamplePlace::Alone => set_customer_page(tx, cx, CustomerPageMode::On),
        // No code would leave it.
        SamplePlace::In(_) => Ok(()),
    }
}
