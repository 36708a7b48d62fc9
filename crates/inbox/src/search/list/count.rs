//! How many conversations a list has, at a bounded cost.

use db::Tx;

use super::ListWalk;
use super::list_count::ListCount;
use super::matching::{self, QueryTerms};
use super::sql::Sql;
use crate::base::error::Result;
use crate::base::limits::COUNTED_CONVERSATIONS;
use crate::search::Query;

impl ListWalk {
    /// Counts from where the walk stands to the end of the list.
    pub fn count(&self, tx: &mut Tx<'_>, query: Option<&Query>) -> Result<ListCount> {
        match query {
            Some(query) if query.is_empty() => Ok(ListCount::NONE),
            Some(query) if !query.terms.is_empty() || !query.without.is_empty() => {
                let terms = QueryTerms::new(tx, self.ws, query);
                matching::count_matching(tx, self, &terms)
            }
            _ => self.count_listed(tx),
        }
    }

    fn count_listed(&self, tx: &mut Tx<'_>) -> Result<ListCount> {
        let mut n = 0;
        for list in &self.lists {
            let left = (COUNTED_CONVERSATIONS + 1).saturating_sub(n);
            let mut sql = Sql::default();
            let at = self.in_list(&mut sql, list);
            let after = self.order.after(&mut sql, &self.from);
            let text = format!(
                "SELECT CAST(count(*) AS BIGINT) FROM (
                     SELECT 1 FROM conversations c WHERE {at} AND {after}
                     ORDER BY {} LIMIT {left}
                 ) AS counted",
                self.order.by()
            );
            let counted = sql.all::<(i64,)>(tx, &text)?;
            n += counted.iter().map(|(n,)| *n as usize).sum::<usize>();
        }
        Ok(ListCount::up_to_limit(n))
    }
}
