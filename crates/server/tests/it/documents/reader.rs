//! The built-in reader, in its own process.

use serde_json::json;

use super::files::{INVOICE, invoice_xml, pdf, pdf_with_xml, scan};
use super::{built_in, shown};

#[tokio::test]
async fn a_text_layer_is_read_by_its_layout() {
    let read = built_in().read_bytes(pdf(INVOICE)).await;
    let fields = json!({
        "vendor": "Lumen Holz GmbH", "amount": 1190.0, "currency": "EUR", "date": "2026-11-02",
        "dueDate": "2026-11-16", "reference": "R-2026-118",
    });
    assert_eq!(shown(&read), json!({ "kind": "invoice", "fields": fields }));
}

#[tokio::test]
async fn what_a_file_says_for_machines_comes_before_what_it_shows() {
    let fields = json!({
        "vendor": "Lumen Holz GmbH", "amount": 99.9, "currency": "EUR", "date": "2026-11-03",
        "reference": "X-42",
    });
    for bytes in [pdf_with_xml(INVOICE, &invoice_xml()), invoice_xml().into_bytes()] {
        let read = built_in().read_bytes(bytes).await;
        assert_eq!(shown(&read), json!({ "kind": "invoice", "fields": fields }));
    }
}

#[tokio::test]
async fn kinds_are_told_apart_in_six_languages() {
    for (expected, lines) in [
        ("invoice", ["Invoice 12", "Total 5.00"]),
        ("invoice", ["Rechnung 12", "Summe 5,00 EUR"]),
        ("invoice", ["Facture 12", "Total TTC 5,00 EUR"]),
        ("invoice", ["Factura 12", "Total 5,00 EUR"]),
        ("invoice", ["Fattura n. 12", "Totale 5,00 EUR"]),
        ("invoice", ["Factuur 12", "Totaal 5,00 EUR"]),
        ("receipt", ["Quittung", "Bar 5,00 EUR"]),
        ("receipt", ["Ticket de caisse", "Merci"]),
        ("statement", ["Kontoauszug", "Neuer Saldo 5,00 EUR"]),
        ("statement", ["Account statement", "Closing balance 5.00"]),
        ("contract", ["Mietvertrag", "zwischen den Vertragsparteien"]),
        ("contract", ["Contratto", "Le parti convengono"]),
        ("tax", ["Einkommensteuerbescheid", "Finanzamt Hamburg"]),
        ("tax", ["Avis d'imposition", "Direction generale des finances"]),
        ("id", ["Passport", "P<UTOKLEIN<<MARA<<<<<<<<<<<<<<<<<<<<<<<<<<<<"]),
        ("id", ["Personalausweis", "Staatsangehorigkeit DEUTSCH"]),
        ("other", ["Dear Mara, the lamp is here.", "Come and see it."]),
    ] {
        let texts: Vec<(f32, f32, &str)> = lines
            .iter()
            .enumerate()
            .map(|(at, line)| (60.0, 60.0 + 20.0 * at as f32, *line))
            .collect();
        let read = shown(&built_in().read_bytes(pdf(&texts)).await);
        assert_eq!(read["kind"], expected, "{lines:?}: {read}");
    }
}

#[tokio::test]
async fn what_cannot_be_read_says_so_in_a_sentence() {
    for (bytes, expected) in [
        (&b""[..], "The file is empty."),
        (b"%PDF-1.4 nothing more", "The file is damaged and cannot be opened."),
        (b"PK\x03\x04\0\0\0\0", "Files of this kind are not read."),
        (b"\x89PNG\r\n\x1a\n\0\0", "The file is damaged and cannot be opened."),
    ] {
        let read = built_in().read_bytes(bytes.to_vec()).await;
        assert_eq!(shown(&read), json!({ "unreadable": expected }));
    }
}

#[tokio::test]
async fn a_picture_without_words_is_a_photo() {
    let read = shown(&built_in().read_bytes(bitmap(64, 64, &[200; 64 * 64])).await);
    assert_eq!(read, json!({ "kind": "photo", "fields": {} }));
}

/// Needs tesseract, which `scripts/test` installs.
#[tokio::test]
async fn a_scan_and_a_photo_of_an_invoice_are_read_by_looking() {
    let lines =
        ["LUMEN", "", "INVOICE", "", "INVOICE NO 4711", "DATE 2026-11-02", "", "TOTAL EUR 124.56"];
    let (width, height, gray) = super::letters::draw(&lines);
    for bytes in [scan(width, height, &gray), bitmap(width, height, &gray)] {
        let read = shown(&built_in().read_bytes(bytes).await);
        assert_eq!(read["kind"], "invoice", "{read}");
        assert_eq!(read["fields"]["vendor"], "LUMEN", "{read}");
        assert_eq!(read["fields"]["amount"], 124.56, "{read}");
        assert_eq!(read["fields"]["reference"], "4711", "{read}");
        assert_eq!(read["fields"]["date"], "2026-11-02", "{read}");
    }
}

/// A picture in the BMP format, in shades of gray.
fn bitmap(width: usize, height: usize, gray: &[u8]) -> Vec<u8> {
    let row = width.div_ceil(4) * 4;
    let (start, size) = (14 + 40 + 1024, row * height);
    let mut file = b"BM".to_vec();
    for value in [start + size, 0, start, 40, width, height, 1 | 8 << 16, 0, size, 0, 0, 256, 0] {
        file.extend((value as u32).to_le_bytes());
    }
    file.extend((0..=255u8).flat_map(|level| [level, level, level, 0]));
    for line in gray.chunks(width).rev() {
        file.extend(line);
        file.extend(vec![0; row - width]);
    }
    file
}
