//! The lines To, Cc and Bcc of a form.

use inbox::Party;
use inbox::actions;

use crate::web::form::{FormFields, FormValue};

/// The lines as they were typed.
#[derive(Clone, Default)]
pub struct RecipientLines {
    pub to: String,
    pub cc: String,
    pub bcc: String,
}

impl FormValue for RecipientLines {
    fn read(fields: &FormFields, _: &str) -> inbox::Result<RecipientLines> {
        Ok(RecipientLines { to: fields.get("to"), cc: fields.get("cc"), bcc: fields.get("bcc") })
    }
}

/// `None` if the form has no such lines.
impl FormValue for Option<RecipientLines> {
    fn read(fields: &FormFields, name: &str) -> inbox::Result<Option<RecipientLines>> {
        fields.has("to").then(|| RecipientLines::read(fields, name)).transpose()
    }
}

impl RecipientLines {
    /// To, Cc and Bcc; the error is a sentence about what is no address.
    pub fn parse(&self) -> Result<[Vec<Party>; 3], String> {
        let parse = |line: &str| {
            actions::parties(line).map_err(|part| format!("{part} is not an e-mail address."))
        };
        Ok([parse(&self.to)?, parse(&self.cc)?, parse(&self.bcc)?])
    }
}

/// A line as it is typed: `Bo Li <bo@example.com>`.
pub fn party_line(parties: &[Party]) -> String {
    let one = |party: &Party| match &party.name {
        Some(name) if !name.is_empty() && !name.contains(['<', '>', ',', ';', '"']) => {
            format!("{name} <{}>", party.email)
        }
        _ => party.email.clone(),
    };
    parties.iter().map(one).collect::<Vec<_>>().join(", ")
}
