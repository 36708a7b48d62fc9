//! Tests of the file checks.

use std::io::Cursor;

use proptest::prelude::*;

use crate::documents::file_checks::*;

fn check(bytes: &[u8], name: &str) -> Result<FileFormat, FileRefusal> {
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
    crate::documents::pdf::sheet("INVOICE", &["Total 12.00"])
}

#[test]
fn what_is_taken_is_known_by_its_bytes() {
    let word = folder(&[TYPES, WORD], 0);
    let sheet = folder(&[TYPES, ("xl/workbook.xml", b"<x/>")], 0);
    let slides = folder(&[TYPES, ("ppt/presentation.xml", b"<p/>")], 0);
    let invoice = b"<?xml version='1.0'?><!-- a bill --><rsm:CrossIndustryInvoice/>";
    for (bytes, name, form) in [
        (pdf(), "invoice.pdf", FileFormat::Pdf),
        (pdf(), "INVOICE.PDF", FileFormat::Pdf),
        (pdf(), "scan 0012", FileFormat::Pdf),
        (pdf(), "scan.0012", FileFormat::Pdf),
        (jpeg(), "photo.jpg", FileFormat::Jpeg),
        (jpeg(), "photo.HEIC", FileFormat::Jpeg),
        (png(), "shot.png", FileFormat::Png),
        (heic(), "IMG_1.heic", FileFormat::Heif),
        (b"GIF89a\x01\0\x01\0\0\0\0;".to_vec(), "a.gif", FileFormat::Gif),
        (b"RIFF\x10\0\0\0WEBPVP8 \0\0\0\0....".to_vec(), "a.webp", FileFormat::Webp),
        (b"II*\0\x08\0\0\0\0\0\0\0".to_vec(), "fax.tif", FileFormat::Tiff),
        (word, "letter.docx", FileFormat::Docx),
        (sheet, "books.xlsx", FileFormat::Xlsx),
        (slides, "talk.pptx", FileFormat::Pptx),
        (open_text(b"<?xml version='1.0'?>", &[]), "letter.odt", FileFormat::Odt),
        (b"Dear all,\nhere.".to_vec(), "letter.txt", FileFormat::Text),
        (b"a;b\n1;2\n".to_vec(), "table.csv", FileFormat::Csv),
        (invoice.to_vec(), "xrechnung.xml", FileFormat::Xml),
    ] {
        assert_eq!(check(&bytes, name), Ok(form), "{name}");
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
        (Vec::new(), "empty.pdf", FileRefusal::Empty),
        (locked_pdf, "locked.pdf", FileRefusal::Locked),
        (direct, "locked.pdf", FileRefusal::Locked),
        (cut_pdf, "cut.pdf", FileRefusal::Damaged),
        (jpeg()[..20].to_vec(), "cut.jpg", FileRefusal::Damaged),
        (jpeg()[..jpeg().len() - 2].to_vec(), "cut.jpg", FileRefusal::Damaged),
        (png()[..40].to_vec(), "cut.png", FileRefusal::Damaged),
        (heic()[..30].to_vec(), "cut.heic", FileRefusal::Damaged),
        (folder(&[TYPES, WORD], 0)[..60].to_vec(), "cut.docx", FileRefusal::Damaged),
        (folder(&[TYPES, WORD], 1), "locked.docx", FileRefusal::Locked),
        (open_text(b"\x9a\x01\x33secret", &[]), "locked.odt", FileRefusal::Locked),
        (macros, "letter.docx", FileRefusal::Macros),
        (basic, "letter.odt", FileRefusal::Macros),
        (folder(&[TYPES, WORD], 0), "letter.docm", FileRefusal::Macros),
        (folder(&[("a.exe", b"MZ")], 0), "all.zip", FileRefusal::Archive),
        (b"Rar!\x1a\x07\x01\0".to_vec(), "all.rar", FileRefusal::Archive),
        (ole, "old.doc", FileRefusal::OldOffice),
        (locked_ole, "locked.docx", FileRefusal::Locked),
        (b"MZ\x90\0".to_vec(), "invoice.pdf", FileRefusal::Program),
        (b"\x7fELF\x02".to_vec(), "photo.jpg", FileRefusal::Program),
        (b"#!/bin/sh\nrm".to_vec(), "notes.txt", FileRefusal::Program),
        (b"WScript.Echo 1".to_vec(), "invoice.pdf.vbs", FileRefusal::Program),
        (b"alert(1)".to_vec(), "a.js", FileRefusal::Program),
        (b"<!DOCTYPE html><script>x</script>".to_vec(), "page.html", FileRefusal::WebPage),
        (b"<html>hello".to_vec(), "notes.txt", FileRefusal::WebPage),
        (page.to_vec(), "picture.svg", FileRefusal::WebPage),
        (page.to_vec(), "bill.xml", FileRefusal::WebPage),
        (styled.to_vec(), "bill.xml", FileRefusal::WebPage),
        (b"{\\rtf1 hello}".to_vec(), "letter.rtf", FileRefusal::Unknown),
        (b"\0\0\0\x18ftypisom\0\0\0\0".to_vec(), "film.mp4", FileRefusal::Unknown),
        (b"\x01\x02\x03\x04".to_vec(), "thing.bin", FileRefusal::Unknown),
        (jpeg(), "invoice.pdf", FileRefusal::Misnamed(FileFormat::Jpeg)),
        (pdf(), "photo.jpg", FileRefusal::Misnamed(FileFormat::Pdf)),
        (pdf(), "letter.docx", FileRefusal::Misnamed(FileFormat::Pdf)),
        (folder(&[TYPES, WORD], 0), "books.xlsx", FileRefusal::Misnamed(FileFormat::Docx)),
    ] {
        assert_eq!(check(&bytes, name), Err(refusal), "{name}");
        assert!(refusal.sentence().ends_with('.'), "{refusal:?}");
    }
}

#[test]
fn a_pdf_that_speaks_of_locks_is_not_locked() {
    for words in ["/EncryptMetadata false", "(the /Encrypt entry)", "/Encrypt none 1 R"] {
        let bytes = [pdf(), words.as_bytes().to_vec(), b" startxref 0 %%EOF".to_vec()].concat();
        assert_eq!(check(&bytes, "a.pdf"), Ok(FileFormat::Pdf), "{words}");
    }
}

#[test]
fn a_lock_is_found_where_two_pieces_meet() {
    for before in 65_500..65_560 {
        let mut bytes = b"%PDF-1.7\n".to_vec();
        bytes.resize(before, b' ');
        bytes.extend_from_slice(b"/Encrypt 7 0 R startxref 9 %%EOF");
        assert_eq!(check(&bytes, "a.pdf"), Err(FileRefusal::Locked), "{before}");
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
        let _ = check(&all, &name);
    }
}
