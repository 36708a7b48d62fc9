//! Everything on a customer's own page as one ZIP file: a JSON of their conversations and times, and the files. Bounded:
//! what is too large for one download is named in the JSON and can be taken from its conversation.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use base::limits::OWN_DATA_BYTES;
use base::time::Moment;
use db::Tx;
use serde_json::{Value, json};

use crate::conversations::{bookings, list};
use crate::messages::{self, CustomerFile, CustomerLetter};
use crate::workspace::CustomerWorkspace;
use crate::zip::ZipFile;

/// The download of an address.
pub fn own_data(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    workspace: &CustomerWorkspace,
    email: &EmailAddress,
) -> Result<Vec<u8>> {
    let mut zip = ZipFile::new();
    let (mut conversations, mut text_bytes) = (Vec::new(), 0);
    for listed in list(tx, workspace, email)? {
        let read = messages::read(tx, cx, workspace, (email, listed.id.as_str()))?;
        let mut letters = Vec::new();
        for letter in &read.letters {
            let mut files = Vec::new();
            for file in &letter.files {
                files.push(add_file(tx, cx, (workspace, &listed.id.to_string()), &mut zip, file)?);
            }
            text_bytes += letter.text.len() as i64;
            letters.push(letter_json(letter, files, text_bytes <= OWN_DATA_BYTES));
        }
        conversations.push(json!({
            "id": read.id,
            "subject": read.subject,
            "messages": letters,
        }));
    }
    let times = bookings(tx, cx, email)?
        .into_iter()
        .map(|booking| json!({ "name": booking.name, "startsAt": Moment(booking.starts_at) }));
    let all = json!({
        "email": email,
        "workspace": workspace.name,
        "at": Moment(cx.now),
        "conversations": conversations,
        "bookings": times.collect::<Vec<_>>(),
    });
    zip.add("your-data.json", serde_json::to_string_pretty(&all)?.as_bytes());
    Ok(zip.finish())
}

fn letter_json(letter: &CustomerLetter, files: Vec<Value>, has_room: bool) -> Value {
    json!({
        "at": Moment(letter.at),
        "from": letter.author,
        "mine": letter.is_mine,
        "proven": letter.is_proven,
        "protected": letter.is_protected,
        "text": has_room.then_some(&letter.text),
        "files": files,
    })
}

/// Puts a file in, if there is room, and says where it stands.
fn add_file(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    (workspace, folder): (&CustomerWorkspace, &str),
    zip: &mut ZipFile,
    file: &CustomerFile,
) -> Result<Value> {
    let name = format!("{folder}/{}-{}", file.id, file.filename);
    let has_room = zip.has_room() && zip.bytes() as i64 + file.size <= OWN_DATA_BYTES;
    if has_room {
        let stored = messages::file_reference(tx, workspace.ws, file.clone())?;
        if let Ok(stored) = stored.read(tx, cx) {
            zip.add(&name, &stored.bytes);
            return Ok(json!({ "filename": file.filename, "size": file.size, "in": name }));
        }
    }
    Ok(json!({ "filename": file.filename, "size": file.size, "in": null }))
}
