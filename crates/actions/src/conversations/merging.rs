//! Which conversations one can be merged into, for the page that asks.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use base::ids::ConversationId;
use base::states::{Status, View};
use db::Tx;
use model::conversations::merges;
use model::conversations::{self, Conversation};
use search::Query;
use search::list::{Filter, ListWalk};

/// Conversations that the page offers.
pub const MERGE_OFFERS: usize = 20;
/// Other conversations of a contact that are looked at.
const OF_CONTACT: i64 = 50;

db::row! {
    /// A conversation that another one can be merged into.
    #[derive(Clone, Debug)]
    pub struct MergeOffer from "conversations" {
        pub id: ConversationId,
        pub subject: String,
        pub snippet: String,
        pub status: Status,
        pub contact_name: Option<String>,
        pub contact_email: EmailAddress,
        pub last_message_at: i64,
    }
}

/// Those that a conversation can be merged into: what a search finds, or else the others of its contact,
/// the open ones first.
pub fn merge_offers(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &str,
    q: &str,
) -> Result<(Conversation, Vec<MergeOffer>)> {
    let source = conversations::load(tx, cx.actor, id)?;
    let found = match Query::parse(q, cx.now) {
        Some(query) => matching(tx, cx, &source, &query)?,
        None => of_contact(tx, cx, &source)?,
    };
    let mut offers = Vec::new();
    for id in found {
        let other = conversations::load_itself(tx, cx.actor, id.as_str())?;
        if other.merged_into.is_none() && merges::refusal(&source, &other).is_none() {
            offers.push(offer(tx, cx, &other.id)?);
        }
    }
    offers.truncate(MERGE_OFFERS);
    Ok((source, offers))
}

fn offer(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &ConversationId) -> Result<MergeOffer> {
    let sql =
        format!("SELECT {} FROM conversations WHERE ws = ?1 AND id = ?2", MergeOffer::COLUMNS);
    Ok(tx.one(&sql, &[&cx.actor.ws, id])?)
}

fn matching(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    source: &Conversation,
    query: &Query,
) -> Result<Vec<ConversationId>> {
    let filter = Filter {
        views: View::KEPT.to_vec(),
        mailbox: Some(source.mailbox.clone()),
        ..Filter::default()
    };
    let found = ListWalk::begin(cx.actor, &filter).next_matching(tx, query, MERGE_OFFERS + 1)?;
    Ok(found.listed.into_iter().map(|listed| listed.summary.id).collect())
}

fn of_contact(tx: &mut Tx<'_>, cx: &Cx<'_>, source: &Conversation) -> Result<Vec<ConversationId>> {
    let (first, second) = cx.actor.circles.pair();
    let found: Vec<(ConversationId, Status)> = tx.all(
        "SELECT id, status FROM conversations
         WHERE ws = ?1 AND contact_email = ?2 AND num > 0 AND circle IN (?3, ?4) AND id <> ?5
           AND merged_into IS NULL
         ORDER BY last_message_at DESC, id DESC LIMIT ?6",
        &[&cx.actor.ws, &source.contact_email, first, second, &source.id, &OF_CONTACT],
    )?;
    let (open, rest): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|(_, status)| *status != Status::Closed);
    Ok(open.into_iter().chain(rest).map(|(id, _)| id).collect())
}

/// Undoes a merge, from the line that tells of it.
pub fn undo_merge(tx: &mut Tx<'_>, cx: &Cx<'_>, source: &str) -> Result<ConversationId> {
    Ok(merges::undo_merge(tx, cx, source)?.id)
}

/// The conversations that were merged into one, and can come back.
pub fn merged_into(tx: &mut Tx<'_>, cx: &Cx<'_>, target: &str) -> Result<Vec<ConversationId>> {
    let target = conversations::load(tx, cx.actor, target)?;
    merges::merged_into(tx, cx.actor.ws, &target.id)
}
