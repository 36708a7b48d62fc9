//! Reads Cross Industry Invoices (ZUGFeRD, Factur-X, XRechnung).

use roxmltree::Node;

use super::node::{amount, at, code, date, text, within};
use crate::paper::ExtractedFields;

/// The Cross Industry Invoice, in the names of its first and its later versions.
pub fn read(root: Node<'_, '_>) -> ExtractedFields {
    let either = |names: [&str; 2]| names.iter().find_map(|name| within(root, name));
    let head = either(["ExchangedDocument", "HeaderExchangedDocument"]);
    let settlement =
        either(["ApplicableHeaderTradeSettlement", "ApplicableSupplyChainTradeSettlement"]);
    let sums = [
        "SpecifiedTradeSettlementHeaderMonetarySummation",
        "SpecifiedTradeSettlementMonetarySummation",
    ];
    let sums = sums.iter().find_map(|name| at(settlement?, &[name]));
    let sum = |name: &str| amount(sums.and_then(|sums| at(sums, &[name])));
    let day = |holder: Option<Node<'_, '_>>, name: &str| {
        let moment = at(holder?, &[name])?;
        date(moment.descendants().find(|inner| inner.text().is_some_and(|t| !t.trim().is_empty())))
    };
    let terms = settlement.and_then(|settlement| {
        settlement.children().find(|child| {
            child.tag_name().name() == "SpecifiedTradePaymentTerms"
                && at(*child, &["DueDateDateTime"]).is_some()
        })
    });
    ExtractedFields {
        vendor: text(within(root, "SellerTradeParty").and_then(|seller| at(seller, &["Name"]))),
        amount: sum("GrandTotalAmount").or_else(|| sum("DuePayableAmount")),
        currency: code(settlement.and_then(|s| at(s, &["InvoiceCurrencyCode"]))),
        date: day(head, "IssueDateTime"),
        due_date: day(terms, "DueDateDateTime"),
        reference: text(head.and_then(|head| at(head, &["ID"]))),
    }
}
