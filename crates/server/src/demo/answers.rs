//! The answers of the sample workspace, and the draft that the helper made of one.

use actions::inboxes::drafting::set_drafting;
use actions::writing::answers::{AnswerInput, add_answer};
use base::app::{App, Cx};
use base::error::{Error, Result};
use base::ids::ConversationId;
use base::limits::MINUTE_MS;
use db::Tx;
use drafting::case::newest_case;
use drafting::writing::{DraftMethod, HelperDraft, write_draft};
use model::mailboxes::DraftingMode;
use model::messages::helper_drafts::DraftSource;
use model::messages::placeholders::fill;
use model::messages::written_text::{TextFormat, WrittenText};

use super::people::SamplePeople;
use super::scenario::{SampleInbox, SampleMember};

/// The subject of the conversation that has the helper's draft.
pub const DRAFTED: &str = "Gift card for my sister";
/// How long ago it was made, in minutes.
const DRAFTED_AGO: i64 = 54;
/// Calls of a language model a day; none is set up in the demo.
const CALLS: i64 = 200;

/// Title, language and text.
const ANSWERS: &[(&str, &str, &str)] = &[
    (
        "Gift cards",
        "en",
        "Hello {{first_name|there}},\n\nyes, we have gift cards over any amount from 20 EUR. You order \
         one on our site, and it comes by e-mail within the hour, as a PDF to print or to pass on. It is \
         valid for three years.\n\nKind regards\n{{my_first_name}}",
    ),
    (
        "Which bulb fits the Alma",
        "en",
        "Hello {{first_name|there}},\n\nany LED bulb with an E27 thread fits, up to 12 W. We deliver the \
         Alma with a matt globe of 95 mm, 2700 K and 806 lumen.\n\nKind regards\n{{my_first_name}}",
    ),
    (
        "Caring for oiled oak",
        "en",
        "Hello {{first_name|there}},\n\nonce a year: wipe the wood with a damp cloth, let it dry for an \
         hour, rub it lightly along the grain, and put on a thin coat of hard wax oil. After fifteen \
         minutes take off what is still wet.\n\nKind regards\n{{my_first_name}}",
    ),
    (
        "Rückgabe",
        "de",
        "Guten Tag {{first_name|}},\n\nSie können alles, was nicht nach Maß gefertigt ist, innerhalb von \
         30 Tagen zurückgeben. Das Etikett für die Rücksendung ist kostenlos.\n\nFreundliche Grüße\n\
         {{my_first_name}}",
    ),
];

/// Writes the answers and switches drafting on in the support inbox.
fn add_answers(tx: &mut Tx<'_>, cx: &Cx<'_>, people: &SamplePeople) -> Result<Vec<DraftSource>> {
    let mut added = Vec::new();
    for (title, language, body) in ANSWERS {
        let input = AnswerInput {
            title: (*title).to_owned(),
            body: (*body).to_owned(),
            language: (*language).to_owned(),
            ..AnswerInput::default()
        };
        added.push(DraftSource { answer: add_answer(tx, cx, &input)?, title: (*title).to_owned() });
    }
    let support = &people.inbox(SampleInbox::Support).id;
    set_drafting(tx, cx, support, DraftingMode::Answers, CALLS)?;
    Ok(added)
}

/// Writes the answers, and the helper's draft to a conversation.
pub fn draft_reply(
    tx: &mut Tx<'_>,
    app: &App,
    now: i64,
    people: &SamplePeople,
    conversation: &ConversationId,
) -> Result<()> {
    let owner = people.member(SampleMember::Ines);
    let answers = add_answers(tx, &app.cx(owner), people)?;
    let actor = people.mailroom(SampleInbox::Support);
    let cx = Cx { now: now - DRAFTED_AGO * MINUTE_MS, ..app.cx(&actor) };
    let case = newest_case(tx, &actor, conversation)?.ok_or(Error::NotFound("conversation"))?;
    let (title, _, body) = ANSWERS[0];
    let text = fill(body, |name| case.value_of(name));
    let draft = HelperDraft {
        written: WrittenText::new(&text, TextFormat::Markdown),
        summary: format!("The team's answer “{title}”, as on earlier mail like this."),
        sources: answers.into_iter().take(1).collect(),
        method: DraftMethod::Answers,
        score: 1.0,
        model: String::new(),
        tokens: 0,
        took_ms: 0,
    };
    write_draft(tx, &cx, &case, &draft).map(drop)
}
