//! What the command palette finds while somebody types: a few people and conversations, at a cost with a bound.

use base::app::Cx;
use base::error::Result;
use base::limits::{QUERY_CHARS, REFERENCE_CHARS};
use base::reference::is_reference;
use base::states::View;
use db::Tx;
use model::contacts;
use model::messages::recipients::Party;
use search::Query;
use search::list::{ConversationSummary, Filter, ListWalk};

/// With fewer characters nothing is looked for.
const LEAST_CHARS: usize = 2;
/// People that are shown.
const PEOPLE: usize = 4;
/// Conversations that are shown.
const CONVERSATIONS: usize = 8;

/// What fits some letters.
#[derive(Default)]
pub struct PaletteMatches {
    pub people: Vec<Party>,
    pub conversations: Vec<ConversationSummary>,
}

/// The people whose names or addresses begin with what was typed, and the latest conversations that have
/// the words or the reference; the last word may go on. Only what the actor sees.
pub fn palette_matches(tx: &mut Tx<'_>, cx: &Cx<'_>, typed: &str) -> Result<PaletteMatches> {
    let typed: String = typed.trim().chars().take(QUERY_CHARS).collect();
    if typed.chars().count() < LEAST_CHARS {
        return Ok(PaletteMatches::default());
    }
    let mut people = contacts::find(tx, cx, &typed)?;
    people.truncate(PEOPLE);
    let mut conversations = with_reference(tx, cx, &typed)?;
    if let Some(query) = Query::of_words(&typed) {
        let walk = ListWalk::begin(cx.actor, &in_all_views());
        for listed in walk.glance(tx, &query, CONVERSATIONS)? {
            if conversations.iter().all(|known| known.id != listed.summary.id) {
                conversations.push(listed.summary);
            }
        }
    }
    conversations.truncate(CONVERSATIONS);
    Ok(PaletteMatches { people, conversations })
}

/// The conversations with a reference of the team's app, such as an order number.
fn with_reference(tx: &mut Tx<'_>, cx: &Cx<'_>, typed: &str) -> Result<Vec<ConversationSummary>> {
    if typed.chars().count() > REFERENCE_CHARS || !is_reference(typed) {
        return Ok(Vec::new());
    }
    let filter = Filter { reference: Some(typed.to_lowercase()), ..in_all_views() };
    let listed = ListWalk::begin(cx.actor, &filter).next(tx, CONVERSATIONS)?;
    Ok(listed.into_iter().map(|listed| listed.summary).collect())
}

/// Neither spam nor trash.
fn in_all_views() -> Filter {
    Filter { views: View::KEPT.to_vec(), ..Filter::default() }
}
