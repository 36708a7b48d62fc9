//! The kind of a document.

use extraction::{Contents, PaperKind, TextPage, Word};

#[test]
fn a_picture_with_few_words_is_a_photo_and_one_of_a_paper_is_not() {
    let page = |lines: &[&str]| {
        let word = |(at, text): (usize, &&str)| Word {
            text: (*text).to_owned(),
            left: 10.0,
            right: 10.0 + 8.0 * text.len() as f32,
            base: 20.0 + 20.0 * at as f32,
            size: 10.0,
        };
        let words = lines.iter().enumerate().map(word).collect();
        TextPage { width: 600.0, height: 800.0, words }
    };
    let kind = |lines: &[&str]| Contents::from_ocr(vec![page(lines)], true).paper().kind;
    assert_eq!(kind(&[]), PaperKind::Photo);
    assert_eq!(kind(&["EXIT", "2"]), PaperKind::Photo);
    assert_eq!(kind(&["Quittung", "Bar 5,00"]), PaperKind::Receipt);
    assert_eq!(kind(&["Invoice", "Total 5.00"]), PaperKind::Invoice);
}

#[test]
fn what_is_not_about_money_has_no_fields() {
    let text = "Passport\nNationality UTO\nDate of birth 02.03.1990\nInvoice number 12";
    let paper = extraction::open(text.as_bytes()).expect("a text").paper();
    assert_eq!(paper.kind, PaperKind::Id);
    assert_eq!(paper.fields, extraction::ExtractedFields::default());
}
