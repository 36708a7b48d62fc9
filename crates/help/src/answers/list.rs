//! The list of answers, and the import of a file.

use std::sync::Arc;

use actions::sign_in::sessions::SignedIn;
use actions::writing::answer_files;
use actions::writing::answers::{self, AnswerListing, ImportResult, StaleAnswer};
use askama::Template;
use axum::extract::State;
use base::app::Cx;
use base::error::Error;
use db::Tx;
use model::mailboxes::{self, Mailbox};
use model::messages::answers::{AnswerAudience, HelpState, TeamAnswer};
use translation::t;
use web::Web;
use web::forms::form::Asked;
use web::forms::multipart::{FormFiles, FormUpload};
use web::layout::filters;
use web::layout::page_layout::{PageLayout, PageLocation};
use web::layout::responses::{self, FormOutcome, PageError, PageResult};
use web::layout::wording::DisplayTime;
use web::visitor::Visitor;

/// Characters of an answer that the list shows.
const GIST_WORDS: usize = 24;

#[derive(Template)]
#[template(path = "answers.html", whitespace = "minimize")]
struct AnswersPage {
    frame: PageLayout,
    answers: Vec<AnswerRow>,
    query: String,
    /// Which are shown: empty for those in use, `public`, `review`, `stale` or `retired`.
    show: String,
    /// How many there are: in use, public, to review, stale, retired.
    counts: [usize; 5],
    import_error: String,
    imported: Option<ImportResult>,
}

struct AnswerRow {
    id: String,
    title: String,
    gist: String,
    language: String,
    uses: i64,
    changed: DisplayTime,
    inboxes: String,
    /// What is unusual: class, icon and words.
    marks: Vec<(&'static str, &'static str, String)>,
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    let page = build(&web, &visitor, &asked.get("q"), &asked.get("show")).await?;
    web.show(&visitor, &page)
}

async fn build(
    web: &Web,
    visitor: &Visitor,
    query: &str,
    show: &str,
) -> Result<AnswersPage, PageError> {
    let location = PageLocation::at(t!("Answers"), "/answers");
    let (frame, (listed, inboxes)) = web
        .page(visitor, location, |tx, cx, _| {
            Ok((answers::list_answers(tx, cx)?, mailboxes::all_seen_by(tx, cx.actor)?))
        })
        .await?;
    let is_retired = |one: &AnswerListing| one.answer.retired_at.is_some();
    let counts = [
        listed.iter().filter(|one| !is_retired(one)).count(),
        listed.iter().filter(|one| one.answer.is_public()).count(),
        listed.iter().filter(|one| waits_for_review(&one.answer)).count(),
        listed.iter().filter(|one| one.stale.is_some()).count(),
        listed.iter().filter(|one| is_retired(one)).count(),
    ];
    let wanted = query.to_lowercase();
    let is_shown = |one: &&AnswerListing| {
        let text = format!("{} {}", one.answer.title, one.answer.body).to_lowercase();
        let fits = wanted.split_whitespace().all(|word| text.contains(word));
        fits && match show {
            "public" => one.answer.is_public(),
            "review" => waits_for_review(&one.answer),
            "stale" => one.stale.is_some(),
            "retired" => is_retired(one),
            _ => !is_retired(one),
        }
    };
    Ok(AnswersPage {
        answers: listed.iter().filter(is_shown).map(|one| row(one, &inboxes, &frame)).collect(),
        frame,
        query: query.to_owned(),
        show: show.to_owned(),
        counts,
        import_error: String::new(),
        imported: None,
    })
}

fn waits_for_review(answer: &TeamAnswer) -> bool {
    answer.audience == AnswerAudience::Everybody
        && answer.help_state == HelpState::Review
        && answer.retired_at.is_none()
}

fn row(one: &AnswerListing, inboxes: &[Mailbox], frame: &PageLayout) -> AnswerRow {
    let answer = &one.answer;
    let mut marks = Vec::new();
    let until = answer.valid_until.map(|until| frame.times.short(until).text);
    match (one.stale, until) {
        (Some(StaleAnswer::PastItsDate), Some(until)) => {
            let words = t!("Ended {until}, helpers leave it out", until);
            marks.push(("danger", "wait", words));
        }
        (Some(StaleAnswer::LookAgain), _) => {
            marks.push(("warn", "wait", t!("To be looked at again").to_owned()));
        }
        (Some(StaleAnswer::Unused), _) => {
            let words = t!("Neither used nor changed for half a year");
            marks.push(("warn", "wait", words.to_owned()));
        }
        (_, Some(until)) => marks.push(("", "wait", t!("Valid until {until}", until))),
        (_, None) => {}
    }
    if answer.is_public() {
        marks.push(("", "globe", t!("Public").to_owned()));
    } else if waits_for_review(answer) {
        marks.push(("act", "approve", t!("To be reviewed").to_owned()));
    }
    let named = inboxes.iter().filter(|inbox| answer.inboxes.contains(&inbox.id));
    let named: Vec<&str> = named.map(|inbox| inbox.name.as_str()).collect();
    AnswerRow {
        id: answer.id.to_string(),
        title: answer.title.clone(),
        gist: answer.body.split_whitespace().take(GIST_WORDS).collect::<Vec<_>>().join(" "),
        language: answer.language.clone(),
        uses: one.uses,
        changed: frame.times.short(answer.changed_at),
        inboxes: match named.as_slice() {
            [] => t!("All inboxes").to_owned(),
            named => named.join(", "),
        },
        marks,
    }
}

/// Takes in a file of answers.
pub async fn import(State(web): State<Arc<Web>>, upload: FormUpload<()>) -> PageResult {
    let FormUpload { visitor, files, .. } = upload;
    let imported = match files {
        FormFiles::Kept(mut files) if files.len() == 1 => {
            let read = answer_files::read_answer_file(&files.remove(0).bytes);
            match read {
                Ok(answers) => {
                    let import = move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &SignedIn| {
                        answers::import_answers(tx, cx, &answers)
                    };
                    web.act(&visitor, import).await
                }
                Err(error) => Err(error.into()),
            }
        }
        _ => Err(Error::invalid("file", "Choose one file.").into()),
    };
    let mut page = build(&web, &visitor, "", "").await?;
    match imported.or_problems()? {
        Ok(result) => {
            page.imported = Some(result);
            web.show(&visitor, &page)
        }
        Err(problems) => {
            page.import_error = problems.sentences();
            responses::again(&page)
        }
    }
}
