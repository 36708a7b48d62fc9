use std::io::Cursor;

use proptest::prelude::*;

use super::*;

fn looked(bytes: &[u8], name: &str) -> Result<Form, Refusal> {
    look(&mut Cursor::new(bytes), bytes.len() as u64, name).expect("memory can be read")
}

/// A packed folder with these entries, none of them packed or, if asked for, all locked.
fn folder(entries: &[(&str, &[u8])], flags: u16) -> Vec<u8> {
    let (mut bytes, mut list) = (Vec::new(), Vec::new());
    for (name, content) in entries {
        let at = bytes.len() as u32;
        let sizes = (content.len() as u32).to_le_bytes();
        let mut common = Vec::new();
        common.extend_from_slice(&flags.to_le_bytes());
        common.extend_from_slice(&[0; 10]);
        common.extend_from_slice(&sizes);
        common.extend_from_slice(&sizes);
        common.extend_from_slice(&(name.len() as u16).to_le_bytes());
        common.extend_from_slice(&[0; 2]);
        bytes.extend_from_slice(b"PK\x03\x04\x14\0");
        bytes.extend_from_slice(&common);
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(content);
        list.extend_from_slice(b"PK\x01\x02\x14\0\x14\0");
        list.extend_from_slice(&common);
        list.extend_from_slice(&[0; 10]);
        list.extend_from_slice(&at.to_le_bytes());
        list.extend_from_slice(name.as_bytes());
    }
    let start = bytes.len() as u32;
    bytes.extend_from_slice(&list);
    bytes.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    let count = (entries.len() as u16).to_le_bytes();
    bytes.extend_from_slice(&count);
    bytes.extend_from_slice(&count);
    bytes.extend_from_slice(&(list.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&start.to_le_bytes());
    bytes.extend_from_slice(&[0; 2]);
    bytes
}

const TYPES: (&str, &[u8]) = ("[Content_Types].xml", b"<Types/>");
const WORD: (&str, &[u8]) = ("word/document.xml", b"<w/>");

fn open_text(content: &'static [u8], more: &[(&str, &[u8])]) -> Vec<u8> {
    let mut entries: Vec<(&str, &[u8])> = vec![
        ("mimetype", b"application/vnd.oasis.opendocument.text".as_slice()),
        ("content.xml", content),
    ];
    entries.extend_from_slice(more);
    folder(&entries, 0)
}

fn jpeg() -> Vec<u8> {
    let mut bytes = vec![0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2];
    bytes.extend([0xff, 0xc0, 0, 11, 8, 0, 16, 0, 16, 1, 1, 0x11, 0]);
    bytes.extend([0xff, 0xda, 0, 8, 1, 1, 0, 0, 0x3f, 0, 0x55, 0xaa, 0xff, 0xd9]);
    bytes
}

fn png() -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0crc0".to_vec();
    bytes.extend_from_slice(b"\0\0\0\0IEND\xaeB`\x82");
    bytes
}

fn heic() -> Vec<u8> {
    let mut bytes = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic".to_vec();
    bytes.extend_from_slice(b"\0\0\0\x0cmdatabcd");
    bytes
}

fn pdf() -> Vec<u8> {
    crate::pdf::sheet("INVOICE", &["Total 12.00"])
}

#[test]
fn what_is_taken_is_known_by_its_bytes() {
    let word = folder(&[TYPES, WORD], 0);
    let sheet = folder(&[TYPES, ("xl/workbook.xml", b"<x/>")], 0);
    let slides = folder(&[TYPES, ("ppt/presentation.xml", b"<p/>")], 0);
    let invoice = b"<?xml version='1.0'?><!-- a bill --><rsm:CrossIndustryInvoice/>";
    for (bytes, name, form) in [
        (pdf(), "invoice.pdf", Form::Pdf),
        (pdf(), "INVOICE.PDF", Form::Pdf),
        (pdf(), "scan 0012", Form::Pdf),
        (pdf(), "scan.0012", Form::Pdf),
        (jpeg(), "photo.jpg", Form::Jpeg),
        (jpeg(), "photo.HEIC", Form::Jpeg),
        (png(), "shot.png", Form::Png),
        (heic(), "IMG_1.heic", Form::Heif),
        (b"GIF89a\x01\0\x01\0\0\0\0;".to_vec(), "a.gif", Form::Gif),
        (b"RIFF\x10\0\0\0WEBPVP8 \0\0\0\0....".to_vec(), "a.webp", Form::Webp),
        (b"II*\0\x08\0\0\0\0\0\0\0".to_vec(), "fax.tif", Form::Tiff),
        (word, "letter.docx", Form::Docx),
        (sheet, "books.xlsx", Form::Xlsx),
        (slides, "talk.pptx", Form::Pptx),
        (open_text(b"<?xml version='1.0'?>", &[]), "letter.odt", Form::Odt),
        (b"Dear all,\nhere.".to_vec(), "letter.txt", Form::Text),
        (b"a;b\n1;2\n".to_vec(), "table.csv", Form::Csv),
        (invoice.to_vec(), "xrechnung.xml", Form::Xml),
    ] {
        assert_eq!(looked(&bytes, name), Ok(form), "{name}");
    }
}

#[test]
fn what_is_not_taken_says_why() {
    let locked_pdf = [pdf(), b"trailer << /Encrypt 12 0 R >> startxref 0 %%EOF".to_vec()].concat();
    let direct = [pdf(), b"<</Encrypt<</V 4>>>> startxref 0 %%EOF".to_vec()].concat();
    let cut_pdf = [b"%PDF-1.7 ".as_slice(), &[b'x'; 20_000]].concat();
    let ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    let locked_ole = [ole.clone(), vec![0; 70_000], utf16("EncryptedPackage")].concat();
    let macros = folder(&[TYPES, WORD, ("word/vbaProject.bin", b"x")], 0);
    let basic = open_text(b"<?xml?>", &[("Basic/script-lc.xml", b"<x/>")]);
    let page = b"<?xml version='1.0'?>\n<!-- x -->\n<svg xmlns='x' onload='run()'/>";
    let styled = b"<?xml version='1.0'?><?xml-stylesheet href='x.xsl'?><bill/>";
    for (bytes, name, refusal) in [
        (Vec::new(), "empty.pdf", Refusal::Empty),
        (locked_pdf, "locked.pdf", Refusal::Locked),
        (direct, "locked.pdf", Refusal::Locked),
        (cut_pdf, "cut.pdf", Refusal::Damaged),
        (jpeg()[..20].to_vec(), "cut.jpg", Refusal::Damaged),
        (jpeg()[..jpeg().len() - 2].to_vec(), "cut.jpg", Refusal::Damaged),
        (png()[..40].to_vec(), "cut.png", Refusal::Damaged),
        (heic()[..30].to_vec(), "cut.heic", Refusal::Damaged),
        (folder(&[TYPES, WORD], 0)[..60].to_vec(), "cut.docx", Refusal::Damaged),
        (folder(&[TYPES, WORD], 1), "locked.docx", Refusal::Locked),
        (open_text(b"\x9a\x01\x33secret", &[]), "locked.odt", Refusal::Locked),
        (macros, "letter.docx", Refusal::Macros),
        (basic, "letter.odt", Refusal::Macros),
        (folder(&[TYPES, WORD], 0), "letter.docm", Refusal::Macros),
        (folder(&[("a.exe", b"MZ")], 0), "all.zip", Refusal::Archive),
        (b"Rar!\x1a\x07\x01\0".to_vec(), "all.rar", Refusal::Archive),
        (ole, "old.doc", Refusal::OldOffice),
        (locked_ole, "locked.docx", Refusal::Locked),
        (b"MZ\x90\0".to_vec(), "invoice.pdf", Refusal::Program),
        (b"\x7fELF\x02".to_vec(), "photo.jpg", Refusal::Program),
        (b"#!/bin/sh\nrm".to_vec(), "notes.txt", Refusal::Program),
        (b"WScript.Echo 1".to_vec(), "invoice.pdf.vbs", Refusal::Program),
        (b"alert(1)".to_vec(), "a.js", Refusal::Program),
        (b"<!DOCTYPE html><script>x</script>".to_vec(), "page.html", Refusal::WebPage),
        (b"<html>hello".to_vec(), "notes.txt", Refusal::WebPage),
        (page.to_vec(), "picture.svg", Refusal::WebPage),
        (page.to_vec(), "bill.xml", Refusal::WebPage),
        (styled.to_vec(), "bill.xml", Refusal::WebPage),
        (b"{\\rtf1 hello}".to_vec(), "letter.rtf", Refusal::Unknown),
        (b"\0\0\0\x18ftypisom\0\0\0\0".to_vec(), "film.mp4", Refusal::Unknown),
        (b"\x01\x02\x03\x04".to_vec(), "thing.bin", Refusal::Unknown),
        (jpeg(), "invoice.pdf", Refusal::Misnamed(Form::Jpeg)),
        (pdf(), "photo.jpg", Refusal::Misnamed(Form::Pdf)),
        (pdf(), "letter.docx", Refusal::Misnamed(Form::Pdf)),
        (folder(&[TYPES, WORD], 0), "books.xlsx", Refusal::Misnamed(Form::Docx)),
    ] {
        assert_eq!(looked(&bytes, name), Err(refusal), "{name}");
        assert!(refusal.sentence().ends_with('.'), "{refusal:?}");
    }
}

#[test]
fn a_pdf_that_speaks_of_locks_is_not_locked() {
    for words in ["/EncryptMetadata false", "(the /Encrypt entry)", "/Encrypt none 1 R"] {
        let bytes = [pdf(), words.as_bytes().to_vec(), b" startxref 0 %%EOF".to_vec()].concat();
        assert_eq!(looked(&bytes, "a.pdf"), Ok(Form::Pdf), "{words}");
    }
}

#[test]
fn a_lock_is_found_where_two_pieces_meet() {
    for before in 65_500..65_560 {
        let mut bytes = b"%PDF-1.7\n".to_vec();
        bytes.resize(before, b' ');
        bytes.extend_from_slice(b"/Encrypt 7 0 R startxref 9 %%EOF");
        assert_eq!(looked(&bytes, "a.pdf"), Err(Refusal::Locked), "{before}");
    }
}

proptest! {
    #[test]
    fn no_bytes_break_a_check(
        start in 0usize..9,
        bytes in prop::collection::vec(any::<u8>(), 0..600),
        cut in 0usize..600,
        name in "[a-z]{0,4}\\.(pdf|jpg|png|heic|docx|odt|xml|txt|tif|webp)",
    ) {
        let starts = [pdf(), jpeg(), png(), heic(), folder(&[TYPES, WORD], 0),
            open_text(b"<x/>", &[]), b"<?xml ".to_vec(), b"RIFF....WEBP".to_vec(), Vec::new()];
        let mut all = starts[start].clone();
        all.truncate(cut);
        all.extend_from_slice(&bytes);
        let _ = looked(&all, &name);
    }
}
