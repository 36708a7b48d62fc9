//! The condition that conversations have a tag.

use base::error::Result;
use base::ids::TagId;
use db::Tx;

use super::sql::Sql;

/// A tag that more conversations have is tested on each of the list; of a rarer one the
/// conversations are looked up.
const TAGGED_LOOKED_UP: i64 = 2_000;

/// The tags of one name: the team's, and one of a private inbox.
#[derive(Clone)]
pub struct TaggedWith {
    pub ids: Vec<TagId>,
    /// True when more conversations have it than should be looked up.
    pub by_many: bool,
}

impl TaggedWith {
    /// Tells whether many conversations have one of these tags.
    pub fn any_of(tx: &mut Tx<'_>, ws: i64, ids: Vec<TagId>) -> Result<TaggedWith> {
        let mut by_many = false;
        for id in &ids {
            let beyond: Option<(String,)> = tx.opt(
                "SELECT conversation FROM conversation_tags WHERE ws = ?1 AND tag = ?2
                 LIMIT 1 OFFSET ?3",
                &[&ws, id, &TAGGED_LOOKED_UP],
            )?;
            by_many |= beyond.is_some();
        }
        Ok(TaggedWith { ids, by_many })
    }

    pub(super) fn sql(&self, sql: &mut Sql, ws: i64) -> String {
        let ids: Vec<String> = self.ids.iter().map(|id| sql.text(id.as_str())).collect();
        let tagged = format!(
            "SELECT t.conversation FROM conversation_tags t WHERE t.ws = {} AND t.tag IN ({})",
            sql.int(ws),
            ids.join(", ")
        );
        match self.by_many {
            true => format!("EXISTS ({tagged} AND t.conversation = c.id)"),
            false => format!("c.id IN ({tagged})"),
        }
    }
}
