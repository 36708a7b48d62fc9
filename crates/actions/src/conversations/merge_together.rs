//! Merging the conversations that are ticked in a list into the oldest of them.

use std::collections::BTreeMap;

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::ConversationId;
use base::limits::{MERGED_INDEXED, MERGED_MESSAGES, MERGED_TOGETHER};
use db::Tx;
use model::conversations::merges::{self, MergeRefusal};
use model::conversations::{self, Conversation};
use model::messages::originals::cut;

use crate::conversations::triage::{ActKind, TRIAGED_AT_ONCE, TriageAct, begin_act, triage_one};

const _: () = assert!(MERGED_TOGETHER <= TRIAGED_AT_ONCE, "they are undone in one transaction");

/// Characters of a subject that a refusal quotes.
const QUOTED_CHARS: usize = 80;

const TOO_FEW: &str = "Tick two conversations or more to merge them.";
const TOO_MUCH: &str =
    "Together they have too many messages to be merged at once; tick fewer. Nothing was changed.";
const NOT_SEEN: &str =
    "One of them is not there any more, or you cannot see it. Nothing was changed.";

/// Merges conversations into the one whose first message is the oldest: all of them, or none and a
/// sentence that says why. Returns how many went into it.
pub fn merge_together(tx: &mut Tx<'_>, cx: &Cx<'_>, ids: &[String]) -> Result<usize> {
    if ids.len() < 2 {
        return Err(Error::invalid("c", TOO_FEW));
    }
    if ids.len() > MERGED_TOGETHER {
        let sentence = format!("Tick at most {MERGED_TOGETHER} conversations to merge them.");
        return Err(Error::invalid("c", sentence));
    }
    let chosen = load_all(tx, cx, ids)?;
    // Somebody may have merged them since the list was shown.
    let target = oldest(tx, cx, &chosen)?.filter(|_| chosen.len() > 1);
    let Some(target) = target else { return Ok(0) };
    if is_too_much(tx, cx, &chosen)? {
        return Err(Error::invalid("c", TOO_MUCH));
    }
    let undo = begin_act(tx, cx, ActKind::MergedTogether)?;
    let act = TriageAct::Merge(target.id.to_string());
    let mut merged = 0;
    for source in chosen.values().filter(|one| one.id != target.id) {
        // Each one changes the target, and with it what fits the next.
        let into = conversations::load(tx, cx.actor, target.id.as_str())?;
        if let Some(refusal) = merges::counted_refusal(tx, cx.actor.ws, source, &into)? {
            return Err(Error::invalid("c", refusal_sentence(refusal, source, &into)));
        }
        merged += usize::from(triage_one(tx, cx, &undo, &act, source.id.as_str())?);
    }
    Ok(merged)
}

/// True when too many messages are indexed again: each merge writes the index of the whole target. Two
/// have a limit of their own.
fn is_too_much(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    chosen: &BTreeMap<ConversationId, Conversation>,
) -> Result<bool> {
    let ids: Vec<&ConversationId> = chosen.keys().collect();
    let merges = ids.len() as i64 - 1;
    let most = MERGED_INDEXED / merges;
    Ok(merges > 1 && merges::count_messages(tx, cx.actor.ws, &ids, most)? > most)
}

/// Each once, in the order of their ids, by which a merge is also undone.
fn load_all(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    ids: &[String],
) -> Result<BTreeMap<ConversationId, Conversation>> {
    let mut all = BTreeMap::new();
    for id in ids {
        let found = match conversations::load(tx, cx.actor, id) {
            Err(Error::NotFound(_)) => return Err(Error::invalid("c", NOT_SEEN)),
            found => found?,
        };
        all.insert(found.id.clone(), found);
    }
    Ok(all)
}

fn oldest<'a>(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    chosen: &'a BTreeMap<ConversationId, Conversation>,
) -> Result<Option<&'a Conversation>> {
    let mut oldest: Option<(i64, &Conversation)> = None;
    for one in chosen.values() {
        let at = first_message_at(tx, cx.actor.ws, one)?;
        if oldest.is_none_or(|(first, _)| at < first) {
            oldest = Some((at, one));
        }
    }
    Ok(oldest.map(|(_, one)| one))
}

fn first_message_at(tx: &mut Tx<'_>, ws: i64, conversation: &Conversation) -> Result<i64> {
    let first: Option<(i64,)> = tx.opt(
        "SELECT m.at FROM messages m
         WHERE m.ws = ?1 AND m.conversation = ?2 AND m.discarded_at IS NULL
         ORDER BY m.at, m.id LIMIT 1",
        &[&ws, &conversation.id],
    )?;
    Ok(first.map_or(conversation.created_at, |(at,)| at))
}

/// Says which of the ticked ones is in the way.
fn refusal_sentence(refusal: MergeRefusal, source: &Conversation, target: &Conversation) -> String {
    let named = match refusal {
        MergeRefusal::Held if target.held => target,
        MergeRefusal::Removed if target.removed.is_some() => target,
        _ => source,
    };
    let why = match refusal {
        MergeRefusal::SameConversation => "is ticked twice.".to_owned(),
        MergeRefusal::OtherInbox => "is in another inbox than the oldest of them; only \
                                     conversations of one inbox can be merged."
            .to_owned(),
        MergeRefusal::Held => "is held; release it first.".to_owned(),
        MergeRefusal::Removed => "is in the spam or the trash and cannot be merged.".to_owned(),
        MergeRefusal::Warning => {
            "carries a warning; look at it and remove the warning first.".to_owned()
        }
        MergeRefusal::OtherReference => {
            "carries another reference of your app, so it is another matter.".to_owned()
        }
        MergeRefusal::TooLong => {
            format!("cannot be merged: together they have more than {MERGED_MESSAGES} messages.")
        }
    };
    format!("“{}” {why} Nothing was changed.", name_of(named))
}

/// The subject, or who wrote where there is none.
fn name_of(conversation: &Conversation) -> String {
    match conversation.subject.trim() {
        "" => conversation.contact_email.to_string(),
        subject => cut(subject.to_owned(), QUOTED_CHARS),
    }
}
