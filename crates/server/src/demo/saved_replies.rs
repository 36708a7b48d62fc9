//! The saved replies of the sample workspace, in folders, some of them used already.

use actions::writing::autosaves::AutosaveKey;
use actions::writing::saved_replies::{self, SavedReplyInput};
use base::app::Cx;
use base::error::Result;
use db::Tx;

/// Name, folder, text and how often it was put into a message.
const REPLIES: [(&str, &str, &str, usize); 5] = [
    (
        "Thanks, we are on it",
        "",
        "Hello {{first_name|there}},\n\nthank you for writing. We look into it and come back to you by \
         tomorrow.\n\nKind regards\n{{my_first_name}}",
        12,
    ),
    (
        "Where is my parcel",
        "Orders",
        "Hello {{first_name|there}},\n\nyour order {{field.order|that you write about}} has left our \
         warehouse. The parcel service mails you a link to follow it.\n\nKind regards\n{{my_first_name}}",
        7,
    ),
    (
        "Return label",
        "Orders",
        "Hello {{first_name|there}},\n\nthe label for your return comes in a mail of its own. Please put \
         {{reference|your order number}} into the parcel.\n\nKind regards\n{{my_first_name}}",
        4,
    ),
    (
        "Retoure",
        "Deutsch",
        "Guten Tag {{name}}\n\nDas Etikett für die Retoure kommt in einer eigenen E-Mail.\n\n\
         Freundliche Grüsse\n{{my_name}}",
        1,
    ),
    (
        "Trade prices",
        "Business",
        "Hello {{first_name|there}},\n\nyour prices: {{field.prices|Retail}}. Payment within \
         {{field.payment_terms|14 days}}.\n\nKind regards\n{{my_first_name}}",
        0,
    ),
];

pub fn add(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
    for (name, folder, body, uses) in REPLIES {
        let input = SavedReplyInput { name: name.into(), folder: folder.into(), body: body.into() };
        let id = saved_replies::save_reply(tx, cx, &input, &[])?;
        for _ in 0..uses {
            saved_replies::put_in_saved_reply(tx, cx, &AutosaveKey::New, &id)?;
        }
    }
    Ok(())
}
