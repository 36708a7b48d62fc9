//! Offering times in a reply, from the app.

use std::sync::Arc;

use actions::writing::compose::{self, NewReply};
use actions::writing::seen::DecisionOutcome;
use axum::extract::{Path, State};
use base::limits::OFFERED_TIMES;
use base::time::Moment;
use bookings::offers::OfferInput;
use model::messages::written_text::TextFormat;
use outbound::scheduling::MessageTimes;
use translation::t;

use crate::Web;
use crate::forms::form::PostedForm;
use crate::layout::flash::Flash;
use crate::layout::responses::{self, FormOutcome, PageResult, see_other};
use crate::pages::conversation;
use crate::pages::writing::offer_form::{OfferForm, TimesForm, read_free};
use crate::pages::writing::recipients::RecipientLines;
use crate::pages::writing::unsent;
use crate::visitor::Visitor;

pub async fn offer(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<TimesForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    if let Some(first) = &form.show {
        return again(&web, &visitor, &id, &form, first, Vec::new()).await;
    }
    let (message, offer) = match read_offer(&form) {
        Ok(offer) => offer,
        Err(sentence) => {
            return again(&web, &visitor, &id, &form, &form.first, vec![sentence]).await;
        }
    };
    unsent::fit_files(&web, &visitor, Some(&id), "", &message).await?;
    let (wanted, seen) = (id.clone(), form.seen);
    let outcome = web
        .act(&visitor, move |tx, cx, _| {
            compose::offer_times(tx, cx, &wanted, &message, &offer, seen)
        })
        .await;
    let problems = match outcome.or_problems()? {
        Ok(DecisionOutcome::Done(_)) if form.keep => {
            return web.redirect(&form.from.conversation(&id), Flash::Kept);
        }
        Ok(DecisionOutcome::Done(result)) => {
            let mut response = see_other(&form.from.conversation(&id));
            web.set_undo(&mut response, &visitor, &result.message_id);
            return Ok(response);
        }
        Ok(DecisionOutcome::Meanwhile(newer)) => {
            let by = newer.by;
            vec![t!("{by} wrote meanwhile. Nothing was sent; read it and send again.", by)]
        }
        Err(problems) => problems
            .0
            .into_iter()
            .map(|problem| match problem.field.as_str() {
                "booking.times" => {
                    t!("A time that you chose is not free any more. Choose among these.").to_owned()
                }
                "booking.typeId" => {
                    t!("It cannot be booked any more. Choose another type.").to_owned()
                }
                _ => problem.sentence,
            })
            .collect(),
    };
    again(&web, &visitor, &id, &form, &form.first, problems).await
}

/// The reply and its offer; the error is a sentence, which is translated where it is shown: the
/// reader's language is not known yet.
fn read_offer(form: &TimesForm) -> Result<(NewReply, OfferInput), String> {
    let recipients = form.recipients.parse()?;
    if form.times.0.len() > OFFERED_TIMES {
        return Err(format!("Offer at most {OFFERED_TIMES} times. The link has all the others."));
    }
    let time = |text: &String| serde_json::from_value::<Moment>(text.as_str().into()).ok();
    let times: Option<Vec<Moment>> = form.times.0.iter().map(time).collect();
    let times = times.ok_or_else(|| "Choose among the free times.".to_owned())?;
    let message = NewReply {
        body: form.body.clone(),
        format: form.format,
        recipients,
        close: false,
        send: !form.keep,
        forwards: None,
        secure: None,
        times: MessageTimes::default(),
    };
    Ok((message, OfferInput { type_id: form.kind.clone(), times }))
}

/// The page again, with what was typed and chosen.
async fn again(
    web: &Web,
    visitor: &Visitor,
    id: &str,
    form: &TimesForm,
    first: &str,
    problems: Vec<String>,
) -> PageResult {
    let mut page = conversation::build(web, visitor, id, &form.from.fields(), |_, _| None).await?;
    let RecipientLines { to, cc, .. } = form.recipients.clone();
    page.offering = Some(OfferForm {
        to,
        cc,
        body: form.body.clone(),
        is_rich: form.format == TextFormat::Markdown,
        seen: page.next_number(),
        problems,
        ..read_free(web, visitor, &form.kind, first, &form.times.0).await?
    });
    responses::again(&page)
}
