//! Renaming a tag everywhere, or merging it with another.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::TagId;
use base::limits::{TAG_CHARS, thousands};
use db::Tx;
use model::conversations::tags::{self, TagListing, TagName};
use model::installation::audit_log::{self, Action};

/// Gives a tag another name on every conversation that has it. If another tag has that name, the
/// two become one.
pub fn rename_tag(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &TagId, name: &str) -> Result<()> {
    cx.actor.must_administer()?;
    let ws = cx.actor.ws;
    let tag = tags::seen_by(tx, cx.actor, id)?.ok_or(Error::NotFound("tag"))?;
    let wanted = TagName::new(name);
    let chars = wanted.name.chars().count();
    if chars == 0 || chars > TAG_CHARS || wanted.name.contains('\0') {
        return Err(Error::invalid("name", format!("A tag has 1 to {TAG_CHARS} characters.")));
    }
    let twin =
        tags::find_by_name(tx, ws, &tag.circle, &wanted.folded)?.filter(|twin| twin.id != *id);
    let (action, new, done) = match twin {
        Some(twin) => {
            let done = tags::merge(tx, cx, (id, &tag.name), (&twin.id, &twin.name))?;
            (Action::TagsMerged, twin.name, done)
        }
        None => {
            let done = tags::respell(tx, cx, id, &tag.name, &wanted.name)?;
            tx.exec_soon(
                "UPDATE tags SET name = ?3, folded = ?4 WHERE ws = ?1 AND id = ?2",
                &[&ws, id, &wanted.name, &wanted.folded],
            )?;
            let renamed = TagListing { name: wanted.name.clone(), ..tag.clone() };
            tags::absorb_private(tx, cx, &renamed)?;
            (Action::TagRenamed, wanted.name, done)
        }
    };
    if !done {
        let most = thousands(tags::RENAMED as usize);
        let sentence = format!("A tag on more than {most} conversations cannot be renamed.");
        return Err(Error::invalid("name", sentence));
    }
    audit_log::record(tx, cx, &tag.circle, action, &tag.name, &new)
}
