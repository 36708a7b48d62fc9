//! Acts on selected conversations, what opens after one, and undoing the latest.

use std::sync::Arc;

use actions::conversations::triage::{self, TRIAGED_AT_ONCE, TriageAct};
use actions::conversations::{after_triage, undo_triage};
use axum::extract::{Path, State};
use base::app::Cx;
use base::error::Error;
use base::ids::UndoId;
use base::limits::{TAG_CHARS, TRIAGED};
use db::Tx;

use crate::Web;
use crate::forms::form::{PostedForm, form};
use crate::layout::flash::Flash;
use crate::layout::responses::{PageError, PageResult};
use crate::pages::conversation::merging::merge_together;
use crate::pages::conversation::snooze_times::MORNING;
use crate::pages::lists::conversation_list::ConversationFilter;
use crate::pages::lists::list_query::ListQuery;
use crate::visitor::Visitor;

form! {
    pub struct TriageForm {
        /// The button that was pressed, where it says no more than what to do.
        act: String,
        /// Whom it is given to: the button of a menu.
        assign: String,
        /// The name of a tag as it was typed, and one of the list.
        tag: String,
        choose: String,
        /// A moment that the page offered, in milliseconds.
        until: Option<i64>,
        /// A day and time of the reader's own choice.
        at: String,
        /// The conversations that are ticked.
        chosen: Vec<String> = "c",
        /// Every conversation of the list, ticked or not.
        all: bool,
        from: ListQuery,
    }
}

impl TriageForm {
    fn act(&self, visitor: &Visitor) -> base::error::Result<TriageAct> {
        let tag = self.tag.trim();
        if let Some(act) = watching(&self.act) {
            return Ok(act);
        }
        if !self.choose.is_empty() {
            return Ok(TriageAct::AddTags(vec![self.choose.clone()]));
        }
        Ok(match self.act.as_str() {
            "close" => TriageAct::Close,
            "reopen" => TriageAct::Reopen,
            "unread" => TriageAct::MarkUnread,
            "spam" => TriageAct::Spam,
            "block" => TriageAct::SpamAndBlock,
            "delete" => TriageAct::Delete,
            "restore" => TriageAct::Restore,
            "tag" if tag.is_empty() || tag.chars().count() > TAG_CHARS || tag.contains('\0') => {
                let sentence = format!("Say a tag of 1 to {TAG_CHARS} characters.");
                return Err(Error::invalid("tag", sentence));
            }
            "tag" => TriageAct::AddTags(vec![tag.to_owned()]),
            "until" => TriageAct::Snooze(visitor.day_and_time(&self.at, MORNING)?),
            _ => match (self.assign.as_str(), self.until) {
                ("", Some(until)) => TriageAct::Snooze(until),
                ("", None) => return Err(Error::invalid("act", "Choose what to do.")),
                (to, _) => TriageAct::Assign(to.to_owned()),
            },
        })
    }
}

/// Acts on what was ticked, batch after batch.
pub async fn act(State(web): State<Arc<Web>>, posted: PostedForm<TriageForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    if form.act == "merge" {
        let chosen = chosen_ids(&web, &visitor, &form).await?;
        return merge_together(&web, &visitor, chosen, &form.from).await;
    }
    let act = form.act(&visitor)?;
    let chosen = chosen_ids(&web, &visitor, &form).await?;
    if chosen.is_empty() {
        return Err(Error::invalid("c", "Tick one conversation or more.").into());
    }
    let (beginning, selected) = (act.clone(), chosen.clone());
    let begin = move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &_| {
        triage::check_selection(tx, cx, &beginning, &selected)?;
        triage::begin_triage(tx, cx, &beginning)
    };
    let undo = web.act(&visitor, begin).await?;
    let mut changed = 0;
    for batch in chosen.chunks(TRIAGED_AT_ONCE) {
        let (undo, act, batch) = (undo.clone(), act.clone(), batch.to_vec());
        let work =
            move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &_| triage::triage(tx, cx, &undo, &act, &batch);
        changed += web.act(&visitor, work).await?;
    }
    let flash = if changed == 0 { Flash::NothingTriaged } else { Flash::Triaged };
    web.redirect(&form.from.list(), flash)
}

/// The conversations that are ticked, or all of the list.
async fn chosen_ids(
    web: &Web,
    visitor: &Visitor,
    form: &TriageForm,
) -> Result<Vec<String>, PageError> {
    if form.all {
        return all_of_list(web, visitor, &form.from).await;
    }
    Ok(form.chosen.iter().take(TRIAGED).cloned().collect())
}

async fn all_of_list(
    web: &Web,
    visitor: &Visitor,
    list: &ListQuery,
) -> Result<Vec<String>, PageError> {
    let filter = ConversationFilter::from_query(&list.fields())?;
    web.read(visitor, move |tx, cx, _| filter.ids(tx, cx, TRIAGED)).await
}

/// Acts on the conversation that is open, and says what opens next: the one below it in the list, or
/// the list.
pub async fn act_on_open(
    web: &Web,
    visitor: &Visitor,
    act: TriageAct,
    id: &str,
    from: &ListQuery,
) -> PageResult {
    let filter = ConversationFilter::from_query(&from.fields())?;
    let wanted = id.to_owned();
    let work = move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &_| {
        let next = if after_triage::opens_list(tx, cx)? {
            None
        } else {
            filter.next_after(tx, cx, &wanted)?
        };
        let undo = triage::begin_triage(tx, cx, &act)?;
        triage::triage_one(tx, cx, &undo, &act, &wanted)?;
        Ok(next)
    };
    match web.act(visitor, work).await? {
        Some(next) => web.redirect(&from.conversation(&next), Flash::Triaged),
        None => web.redirect(&from.list(), Flash::Triaged),
    }
}

/// Acts on the conversation that is open, and stays there.
pub async fn act_and_stay(
    web: &Web,
    visitor: &Visitor,
    act: TriageAct,
    id: &str,
    from: &ListQuery,
) -> PageResult {
    let wanted = id.to_owned();
    let work = move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &_| {
        let undo = triage::begin_triage(tx, cx, &act)?;
        triage::triage_one(tx, cx, &undo, &act, &wanted)
    };
    let flash = if web.act(visitor, work).await? { Flash::Triaged } else { Flash::NothingTriaged };
    web.redirect(&from.conversation(id), flash)
}

form! {
    pub struct WatchForm {
        /// `pin`, `unpin`, `follow` or `unfollow`.
        act: String,
        from: ListQuery,
    }
}

/// Pins or follows the conversation that is open, or ends it.
pub async fn watch(
    State(web): State<Arc<Web>>,
    Path(id): Path<String>,
    posted: PostedForm<WatchForm>,
) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let act = watching(&form.act).ok_or_else(|| Error::invalid("act", "Choose what to do."))?;
    act_and_stay(&web, &visitor, act, &id, &form.from).await
}

/// The act of a button that concerns only the reader.
fn watching(act: &str) -> Option<TriageAct> {
    match act {
        "pin" => Some(TriageAct::Pin),
        "unpin" => Some(TriageAct::Unpin),
        "follow" => Some(TriageAct::Follow),
        "unfollow" => Some(TriageAct::Unfollow),
        _ => None,
    }
}

form! {
    pub struct UndoForm {
        /// The act that is undone.
        undo: String,
        from: ListQuery,
    }
}

/// Undoes the latest act, batch after batch.
pub async fn undo(State(web): State<Arc<Web>>, posted: PostedForm<UndoForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let id = UndoId::parse(&form.undo).ok_or(Error::NotFound("act"))?;
    let batches = TRIAGED.div_ceil(TRIAGED_AT_ONCE) + 1;
    let mut some = false;
    for _ in 0..batches {
        let wanted = id.clone();
        let work =
            move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &_| undo_triage::undo_triage(tx, cx, &wanted);
        if !web.act(&visitor, work).await? {
            break;
        }
        some = true;
    }
    let flash = if some { Flash::Undone } else { Flash::NothingToUndo };
    web.redirect(&form.from.list(), flash)
}

form! {
    pub struct OpensForm {
        /// True for the list, false for the next conversation.
        list: bool,
    }
}

/// Chooses what opens after an act.
pub async fn choose(State(web): State<Arc<Web>>, posted: PostedForm<OpensForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let work = move |tx: &mut Tx<'_>, cx: &Cx<'_>, _: &_| {
        after_triage::choose_what_opens(tx, cx, form.list)
    };
    web.act(&visitor, work).await?;
    web.redirect("/settings/you", Flash::Saved)
}
