//! Reads UBL invoices and credit notes.

use roxmltree::Node;

use super::node::{amount, at, code, date, text};
use crate::paper::ExtractedFields;

/// The Universal Business Language: invoices and credit notes.
pub fn read(root: Node<'_, '_>) -> ExtractedFields {
    let supplier = at(root, &["AccountingSupplierParty", "Party"]);
    let name = |path: &[&str]| text(supplier.and_then(|supplier| at(supplier, path)));
    let sum = |name: &str| amount(at(root, &["LegalMonetaryTotal", name]));
    ExtractedFields {
        vendor: name(&["PartyLegalEntity", "RegistrationName"])
            .or_else(|| name(&["PartyName", "Name"])),
        amount: sum("TaxInclusiveAmount").or_else(|| sum("PayableAmount")),
        currency: code(at(root, &["DocumentCurrencyCode"])),
        date: date(at(root, &["IssueDate"])),
        due_date: date(at(root, &["DueDate"]))
            .or_else(|| date(at(root, &["PaymentMeans", "PaymentDueDate"]))),
        reference: text(at(root, &["ID"])),
    }
}
