//! How many conversations a list has, at a bounded cost.

use base::error::Result;
use db::Tx;

use super::list_count::{CountEffort, ListCount};
use super::matching::{self, QueryTerms};
use super::sql::Sql;
use super::{ListWalk, in_list, tests_rows};
use crate::Query;

impl ListWalk {
    /// Counts from where the walk stands to the end of the list.
    pub fn count(
        &self,
        tx: &mut Tx<'_>,
        query: Option<&Query>,
        effort: CountEffort,
    ) -> Result<ListCount> {
        match query {
            Some(query) if query.is_empty() => Ok(ListCount::NONE),
            Some(query) if !query.terms.is_empty() || !query.without.is_empty() => {
                let terms = QueryTerms::new(tx, self.ws, query);
                matching::count_matching(tx, self, &terms, effort)
            }
            _ if effort == CountEffort::Quick && self.is_tested() => Ok(ListCount::UNKNOWN),
            _ => self.count_listed(tx, effort.most()),
        }
    }

    /// True when rows are read that may not be in the list, so that counting a few may read all.
    fn is_tested(&self) -> bool {
        let conditions = &self.conditions;
        let has_many = conditions.tag.as_ref().is_some_and(|tag| tag.by_many);
        let has_tests = !conditions.tests.is_empty() || !conditions.circles.is_empty();
        has_many || has_tests || self.lists.iter().any(tests_rows)
    }

    fn count_listed(&self, tx: &mut Tx<'_>, most: usize) -> Result<ListCount> {
        let mut n = 0;
        for list in &self.lists {
            let mut sql = Sql::default();
            let conditions = self.conditions(&mut sql);
            let at = in_list(&mut sql, list, &conditions);
            let after = self.order.after(&mut sql, &self.from);
            let text = format!(
                "SELECT CAST(count(*) AS BIGINT) FROM (
                     SELECT 1 FROM conversations c WHERE {at} AND {after}
                     ORDER BY {} LIMIT {}
                 ) AS counted",
                self.order.by(),
                most + 1
            );
            let counted = sql.all::<(i64,)>(tx, &text)?;
            n += counted.iter().map(|(n,)| *n as usize).sum::<usize>();
            if n > most {
                break;
            }
        }
        Ok(ListCount::up_to(n, most))
    }
}
