//! What the team of the sample workspace knows about a customer.

use actions::conversations::contacts;
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use db::Tx;

/// The customer with an appointment.
const NOOR: &str = "noor@haddad-interiors.example";

/// A note on a contact.
pub fn note(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
    let body = "Furnishes flats for others, so she asks for trade prices. Prefers a call in the \
                afternoon.";
    contacts::add_contact_note(tx, cx, &EmailAddress::new(NOOR), body)
}
