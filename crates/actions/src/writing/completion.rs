//! Completing addresses while somebody types them, and finding people.

use base::app::Cx;
use base::error::Result;
use base::limits::QUERY_CHARS;
use db::Tx;
use model::contacts;
use model::messages::recipients::Party;

/// The people whose name or address begins with what was asked, the latest first. Only those from
/// inboxes that the actor sees.
pub fn find_people(tx: &mut Tx<'_>, cx: &Cx<'_>, asked: &str) -> Result<Vec<Party>> {
    let asked: String = asked.chars().take(QUERY_CHARS).collect();
    contacts::find(tx, cx, &asked)
}

/// Those of them who are offered as recipients of a mail.
pub fn complete_recipient(tx: &mut Tx<'_>, cx: &Cx<'_>, typed: &str) -> Result<Vec<Party>> {
    let typed: String = typed.chars().take(QUERY_CHARS).collect();
    contacts::complete(tx, cx, &typed)
}
