//! The lines To, Cc and Bcc of a form.

use actions::writing::compose;
use model::messages::recipients::{Party, RecipientList};

use crate::forms::form::{FormFields, FormValue};

/// The lines as they were typed.
#[derive(Clone, Default)]
pub struct RecipientLines {
    pub to: String,
    pub cc: String,
    pub bcc: String,
}

impl FormValue for RecipientLines {
    fn read(fields: &FormFields, _: &str) -> base::error::Result<RecipientLines> {
        Ok(RecipientLines { to: fields.get("to"), cc: fields.get("cc"), bcc: fields.get("bcc") })
    }
}

/// `None` if the form has no such lines.
impl FormValue for Option<RecipientLines> {
    fn read(fields: &FormFields, name: &str) -> base::error::Result<Option<RecipientLines>> {
        fields.has("to").then(|| RecipientLines::read(fields, name)).transpose()
    }
}

impl RecipientLines {
    /// The lines as addresses; the error is a sentence about what is no address, which is
    /// translated where it is shown.
    pub fn parse(&self) -> Result<RecipientList, String> {
        let parse = |line: &str| {
            compose::parties(line).map_err(|part| format!("{part} is not an e-mail address."))
        };
        Ok(RecipientList { to: parse(&self.to)?, cc: parse(&self.cc)?, bcc: parse(&self.bcc)? })
    }
}

/// A line as it is typed: `Bo Li <bo@example.com>`.
pub fn party_line(parties: &[Party]) -> String {
    compose::recipient_line(parties)
}
