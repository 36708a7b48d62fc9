//! Invoices that carry their own data: CII (ZUGFeRD, Factur-X, XRechnung), UBL (XRechnung, PEPPOL)
//! and FatturaPA. Elements are found by their local names, whatever prefix a program gave them.

mod cii;
mod fattura;
mod node;
mod ubl;

use roxmltree::{Document, ParsingOptions};

use crate::limits::{XML_BYTES, XML_NODES};
use crate::paper::ExtractedFields;
use crate::plain;

/// What an XML file says, when it is an invoice.
pub fn read(bytes: &[u8]) -> Option<ExtractedFields> {
    if bytes.len() > XML_BYTES {
        return None;
    }
    let text = plain::decode(bytes);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    // An invoice needs no document type, and entities are how small files become large.
    let options = ParsingOptions { allow_dtd: false, nodes_limit: XML_NODES, ..Default::default() };
    let document = Document::parse_with_options(text, options).ok()?;
    let root = document.root_element();
    let fields = match root.tag_name().name() {
        "CrossIndustryInvoice" | "CrossIndustryDocument" => cii::read(root),
        "Invoice" | "CreditNote" => ubl::read(root),
        "FatturaElettronica" | "FatturaElettronicaSemplificata" => fattura::read(root),
        _ => return None,
    };
    (fields.reference.is_some() || fields.amount.is_some()).then_some(fields)
}

#[cfg(test)]
mod tests;
