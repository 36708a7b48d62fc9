//! Extraction by rules over words and their positions, for documents without structured data.
//!
//! Each field has its own file. A rule proposes values with a score; the best one wins. Rules know
//! how papers are made in general (labels and what stands near them, sums that add up, letterheads)
//! and nothing about any one sender.

mod amount;
pub mod currency;
mod dates;
mod kind;
mod made;
mod money;
mod numbers;
mod reference;
mod sheet;
mod tokens;
mod vendor;
mod words;

use crate::layout::TextPage;
use crate::paper::{ExtractedDocument, ExtractedFields, PaperKind};
pub use dates::{Order, days};
pub use numbers::numbers;
use sheet::Sheet;
pub use tokens::fold;

pub fn judge(pages: &[TextPage], is_picture: bool) -> ExtractedDocument {
    let sheet = Sheet::of(pages);
    match kind::kind(&sheet, is_picture) {
        kind if kind.has_fields() => ExtractedDocument { kind, fields: fields(&sheet, kind) },
        // A number and a sum make an invoice, whatever it calls itself.
        PaperKind::Other if reference::is_labelled(&sheet) && amount::is_labelled(&sheet) => {
            ExtractedDocument {
                kind: PaperKind::Invoice,
                fields: fields(&sheet, PaperKind::Invoice),
            }
        }
        kind => ExtractedDocument { kind, fields: ExtractedFields::default() },
    }
}

fn fields(sheet: &Sheet, kind: PaperKind) -> ExtractedFields {
    let reference = reference::reference(sheet);
    // A statement has a sum for every day and a contract for every case.
    let amount = match kind {
        PaperKind::Invoice | PaperKind::Receipt => amount::amount(sheet),
        _ => None,
    };
    let currency = money::currency(sheet, amount.as_ref().map(|amount| amount.row));
    let order = dates::order_of(sheet.texts()).unwrap_or_else(|| usual_order(currency));
    let days = made::days(sheet, order, reference.as_ref());
    ExtractedFields {
        vendor: vendor::vendor(sheet),
        amount: amount.map(|amount| money::amount_owed(sheet, amount.value)),
        currency: currency.map(str::to_owned),
        date: days.date.map(|day| day.to_string()),
        due_date: days.due.map(|day| day.to_string()),
        reference: reference.map(|reference| reference.text),
    }
}

/// The currencies that a line names.
pub fn named_currencies(line: &str) -> Vec<&'static str> {
    let named = currency::find_all(line, &tokens::tokens(line));
    named.into_iter().map(|(code, _)| code).collect()
}

/// Who pays in dollars of the United States writes the month first; nearly nobody else does.
fn usual_order(currency: Option<&str>) -> Order {
    match currency {
        Some("USD") => Order::MonthFirst,
        _ => Order::DayFirst,
    }
}
