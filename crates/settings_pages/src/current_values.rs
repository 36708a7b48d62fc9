//! What is set now, for the overview of the settings: the names that stand on its pages.

use std::collections::HashMap;

use actions::inboxes::contact_forms::list_contact_forms;
use actions::integrations::connected_apps::list_apps;
use actions::integrations::keys::list_keys;
use actions::integrations::webhooks::list_webhooks;
use actions::people::roster::list_roster;
use actions::people::teams::list_teams;
use actions::sign_in::sessions::SignedIn;
use actions::workspace::rules::list_rules_named;
use actions::writing::saved_replies::list_saved_replies;
use api::operations::{list_fields, list_tags};
use base::app::Cx;
use base::error::Result;
use db::Tx;
use model::conversations::topics;
use model::fields::label;
use model::mailboxes;
use translation::t;

use crate::SettingsPage;
use crate::people_pages::people::role_word;

/// The most names that the overview shows of a page.
const NAMES: usize = 3;

/// What is set on the pages that the reader may open, by their addresses. Pages that have nothing to
/// name are left out.
pub(crate) fn current_values(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    me: &SignedIn,
) -> Result<HashMap<&'static str, String>> {
    let mut values = HashMap::new();
    for (page, href, for_admins) in SettingsPage::ALL {
        if *for_admins && !me.administers() {
            continue;
        }
        let names = names_on(tx, cx, me, *page)?;
        if !names.is_empty() {
            values.insert(*href, first_names(&names));
        }
    }
    Ok(values)
}

fn names_on(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    me: &SignedIn,
    page: SettingsPage,
) -> Result<Vec<String>> {
    Ok(match page {
        SettingsPage::You => vec![me.email.to_string(), role_word(me.role).to_owned()],
        SettingsPage::People => list_roster(tx, cx)?.into_iter().map(|one| one.name).collect(),
        SettingsPage::Teams => list_teams(tx, cx)?.into_iter().map(|one| one.name).collect(),
        SettingsPage::Fields => list_fields(tx, cx)?.iter().map(|one| label(&one.key)).collect(),
        SettingsPage::Inboxes => {
            mailboxes::all_seen_by(tx, cx.actor)?.into_iter().map(|one| one.name).collect()
        }
        SettingsPage::Tags => list_tags(tx, cx)?.into_iter().map(|one| one.name).collect(),
        SettingsPage::Replies => {
            list_saved_replies(tx, cx)?.into_iter().map(|one| one.name).collect()
        }
        SettingsPage::Forms => {
            list_contact_forms(tx, cx)?.into_iter().map(|one| one.title).collect()
        }
        SettingsPage::Rules => {
            list_rules_named(tx, cx)?.0.into_iter().map(|one| one.name).collect()
        }
        SettingsPage::Helpers => {
            topics::all(tx, cx.actor.ws)?.into_iter().map(|one| one.name).collect()
        }
        SettingsPage::Keys => {
            let keys = list_keys(tx, cx)?.into_iter().filter(|one| one.revoked_at.is_none());
            keys.map(|one| one.name).collect()
        }
        SettingsPage::Apps => list_apps(tx, cx)?.into_iter().map(|one| one.name).collect(),
        SettingsPage::Webhooks => list_webhooks(tx, cx)?.into_iter().map(|one| one.url).collect(),
        _ => Vec::new(),
    })
}

/// The first names, and how many more there are.
fn first_names(names: &[String]) -> String {
    let first = names[..names.len().min(NAMES)].join(", ");
    match names.len().saturating_sub(NAMES) {
        0 => first,
        more => format!("{first} {}", t!("and {more} more", more)),
    }
}
