//! What Outlook packs as `winmail.dat`: its files and its text are those of the mail, whatever bytes
//! it is made of.

use mail::{AttachedFile, Envelope, ParsedMail, attached_mail, inline_picture, parse, whole_text};
use proptest::prelude::*;

use crate::properties::storable;

/// Attributes, with their level before them.
const BODY: (u8, u32) = (1, 0x0002_800c);
const CODE_PAGES: (u8, u32) = (1, 0x0006_9007);
const MESSAGE_CLASS: (u8, u32) = (1, 0x0007_8008);
const MESSAGE_PROPERTIES: (u8, u32) = (1, 0x0006_9003);
const FILE_BEGINS: (u8, u32) = (2, 0x0006_9002);
const FILE_TITLE: (u8, u32) = (2, 0x0001_8010);
const FILE_CONTENT: (u8, u32) = (2, 0x0006_800f);
const FILE_PROPERTIES: (u8, u32) = (2, 0x0006_9005);

/// Types of properties.
const OBJECT: u16 = 0x000d;
const TEXT: u16 = 0x001e;
const UNICODE: u16 = 0x001f;
const BINARY: u16 = 0x0102;

const MAIL_OBJECT: [u8; 16] = [7, 3, 2, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0x46];

/// RTF as it stands in a package without compression (MS-OXRTFCP).
const RTF: &[u8] =
    b"\x40\0\0\0\x34\0\0\0MELA\0\0\0\0{\\rtf1\\ansi\\ansicpg1252 Gr\\'fc\\'dfe\\par Ann}";

fn package(attributes: &[((u8, u32), &[u8])]) -> Vec<u8> {
    let mut bytes = vec![0x78, 0x9f, 0x3e, 0x22, 1, 0];
    for ((level, id), content) in attributes {
        bytes.push(*level);
        bytes.extend(id.to_le_bytes());
        bytes.extend((content.len() as u32).to_le_bytes());
        bytes.extend_from_slice(content);
        let sum = content.iter().fold(0u16, |sum, byte| sum.wrapping_add(u16::from(*byte)));
        bytes.extend(sum.to_le_bytes());
    }
    bytes
}

fn properties(all: &[(u16, u16, &[u8])]) -> Vec<u8> {
    let mut bytes = (all.len() as u32).to_le_bytes().to_vec();
    for (kind, id, value) in all {
        bytes.extend(kind.to_le_bytes());
        bytes.extend(id.to_le_bytes());
        if *id >= 0x8000 {
            bytes.extend([[7u8; 16].as_slice(), &[1, 0, 0, 0, 4, 0, 0, 0, b'K', 0, 0, 0]].concat());
        }
        bytes.extend([1, 0, 0, 0]);
        bytes.extend((value.len() as u32).to_le_bytes());
        bytes.extend_from_slice(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    bytes
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect()
}

/// A mail that is nothing but a package.
fn bare(package: &[u8]) -> Vec<u8> {
    [&b"From: ann@x.example\nContent-Type: application/ms-tnef; name=winmail.dat\n\n"[..], package]
        .concat()
}

/// A mail with words beside a package, and a file after it.
fn beside_words(package: &[u8]) -> Vec<u8> {
    let before =
        b"From: ann@x.example\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nSee below\n\
        --b\nContent-Type: application/octet-stream; name=WINMAIL.DAT\n\n";
    let after = b"\n--b\nContent-Type: text/csv; name=last.csv\n\na,b\n--b--\n";
    [&before[..], package, after].concat()
}

/// Two files and a text in every form.
fn full_package() -> Vec<u8> {
    let words = properties(&[
        (UNICODE, 0x8001, &utf16("of no use")),
        (BINARY, 0x1009, RTF),
        (BINARY, 0x1013, b"<p>Hello <img src=\"cid:logo@x\"></p>"),
    ]);
    let name = utf16("Rechnung März.pdf");
    let bill = properties(&[(UNICODE, 0x3707, &name), (TEXT, 0x3704, b"RECHNU~1.PDF\0")]);
    let logo = properties(&[(TEXT, 0x370e, b"image/png\0"), (TEXT, 0x3712, b"logo@x\0")]);
    package(&[
        (CODE_PAGES, &1252u64.to_le_bytes()),
        (MESSAGE_CLASS, b"IPM.Note\0"),
        (MESSAGE_PROPERTIES, &words),
        (FILE_BEGINS, &[0; 14]),
        (FILE_TITLE, b"RECHNU~1.PDF\0"),
        (FILE_CONTENT, b"%PDF-1.7"),
        (FILE_PROPERTIES, &bill),
        (FILE_BEGINS, &[0; 14]),
        (FILE_TITLE, b"logo\0"),
        (FILE_CONTENT, b"\x89PNG"),
        (FILE_PROPERTIES, &logo),
    ])
}

fn read(raw: &[u8]) -> ParsedMail {
    parse(raw, Envelope::default())
}

fn names(files: &[AttachedFile]) -> Vec<&str> {
    files.iter().map(|file| file.filename.as_str()).collect()
}

#[test]
fn the_files_of_a_package_stand_where_it_stood() {
    let mail = read(&beside_words(&full_package()));
    assert_eq!(names(&mail.attachments), ["Rechnung März.pdf", "logo", "last.csv"]);
    let [bill, logo, _] = mail.attachments.as_slice() else { panic!("three files") };
    assert_eq!(
        (bill.content_type.as_str(), &bill.bytes[..]),
        ("application/pdf", &b"%PDF-1.7"[..])
    );
    assert_eq!((logo.content_type.as_str(), &logo.bytes[..]), ("image/png", &b"\x89PNG"[..]));
    assert_eq!(logo.content_id.as_deref(), Some("logo@x"));
    // The words beside it count, and nothing is there twice.
    assert_eq!((mail.text.as_str(), mail.html), ("See below", None));
}

#[test]
fn the_text_of_a_package_is_that_of_a_mail_without_words() {
    let raw = bare(&full_package());
    let mail = read(&raw);
    assert_eq!(mail.text, "Hello");
    assert!(mail.html.is_some_and(|html| html.contains("cid:logo@x")));
    let picture = (0..10).find_map(|number| inline_picture(&raw, number)).unwrap();
    assert_eq!(picture.content_type, "image/png");
    let plain = package(&[(CODE_PAGES, &1251u64.to_le_bytes()), (BODY, b"\xcf\xf0\xe8\0")]);
    assert_eq!(read(&bare(&plain)).text, "При");
    let words = properties(&[(UNICODE, 0x1000, &utf16("Grüße €"))]);
    assert_eq!(whole_text(&bare(&package(&[(MESSAGE_PROPERTIES, &words)]))), "Grüße €");
    let words = properties(&[(BINARY, 0x1009, RTF)]);
    assert_eq!(read(&bare(&package(&[(MESSAGE_PROPERTIES, &words)]))).text, "Grüße\nAnn");
}

#[test]
fn a_mail_within_a_package_is_a_file_that_opens_as_a_mail() {
    let content = [&MAIL_OBJECT[..], &full_package()].concat();
    let inner = properties(&[(TEXT, 0x3001, b"Your lamps\0"), (OBJECT, 0x3701, &content)]);
    let raw = bare(&package(&[(FILE_BEGINS, &[0; 14]), (FILE_PROPERTIES, &inner)]));
    let mail = read(&raw);
    assert_eq!(names(&mail.attachments), ["Your lamps.eml"]);
    assert_eq!(mail.attachments[0].content_type, "message/rfc822");
    let opened = attached_mail(&raw, &[0]).unwrap();
    assert_eq!(opened, mail.attachments[0].bytes);
    let opened = read(&opened);
    assert_eq!((opened.subject.as_str(), opened.text.as_str()), ("Your lamps", "Hello"));
    assert_eq!(names(&opened.attachments), ["Rechnung März.pdf", "logo"]);
}

#[test]
fn a_package_that_holds_more_than_was_read_stays_before_its_files() {
    let full = full_package();
    let cut = &full[..full.len() - 100];
    let mail = read(&beside_words(cut));
    assert_eq!(names(&mail.attachments)[..2], ["WINMAIL.DAT", "Rechnung März.pdf"]);
    assert_eq!(mail.attachments[0].bytes, cut);
    let meeting = package(&[
        (MESSAGE_CLASS, b"IPM.Schedule.Meeting.Request\0"),
        (FILE_TITLE, b"plan.txt\0"),
        (FILE_CONTENT, b"10:00"),
    ]);
    assert_eq!(names(&read(&bare(&meeting)).attachments), ["winmail.dat", "plan.txt"]);
    assert_eq!(names(&read(&bare(b"no package")).attachments), ["winmail.dat"]);
}

#[test]
fn files_types_and_words_are_bounded() {
    let file: [((u8, u32), &[u8]); 3] =
        [(FILE_BEGINS, &[0; 14]), (FILE_TITLE, b"a.txt\0"), (FILE_CONTENT, b"x")];
    let many = read(&bare(&package(&file.repeat(2_000)))).attachments;
    assert_eq!(many.len(), 250);
    let types = properties(&[(TEXT, 0x370e, b"multipart/mixed\0"), (TEXT, 0x3707, b"../a.pdf\0")]);
    let odd = package(&[(FILE_CONTENT, b"x"), (FILE_PROPERTIES, &types)]);
    let odd = read(&bare(&odd)).attachments;
    assert_eq!(
        (odd[0].filename.as_str(), odd[0].content_type.as_str()),
        ("a.pdf", "application/pdf")
    );
    // A reference of two bytes stands for 16.
    let run = [0xff].into_iter().chain([0, 0x0e].repeat(8)).cycle().take(4 << 20);
    let rtf = [&b"\0\0\0\0\0\0\0\0LZFu\0\0\0\0"[..], &run.collect::<Vec<u8>>()].concat();
    let words = properties(&[(BINARY, 0x1009, &rtf)]);
    assert!(read(&bare(&package(&[(MESSAGE_PROPERTIES, &words)]))).original.len() <= 512 * 1024);
}

/// Reads any bytes as a package; what is found is no larger than what was sent allows.
fn check(package: &[u8]) -> Result<(), TestCaseError> {
    for raw in [bare(package), beside_words(package)] {
        storable(&raw)?;
        let mail = read(&raw);
        let size: usize = mail.attachments.iter().map(|file| file.bytes.len()).sum();
        prop_assert!(size <= 8 * raw.len() + 300 * mail.attachments.len(), "{size}");
        prop_assert!(mail.original.len() <= 40 * raw.len() + 1_000);
        for number in 0..mail.attachments.len().min(3) {
            if let Some(inner) = attached_mail(&raw, &[number]) {
                storable(&inner)?;
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_bytes_are_read_as_a_package(rest in proptest::collection::vec(any::<u8>(), 0..600)) {
        check(&[&full_package()[..6], &rest].concat())?;
    }

    #[test]
    fn any_properties_are_read(values in proptest::collection::vec(any::<u8>(), 0..600)) {
        let all = [(MESSAGE_PROPERTIES, &values[..]), (FILE_PROPERTIES, &values[..])];
        check(&package(&all))?;
    }

    #[test]
    fn any_rtf_is_read(rest in proptest::collection::vec(any::<u8>(), 0..600), is_packed in any::<bool>()) {
        let kind: &[u8] = if is_packed { b"LZFu" } else { b"MELA" };
        let rtf = [&[0; 8][..], kind, &[0; 4], &rest].concat();
        let words = properties(&[(BINARY, 0x1009, &rtf)]);
        check(&package(&[(MESSAGE_PROPERTIES, &words)]))?;
    }

    #[test]
    fn a_cut_or_changed_package_is_read_as_far_as_it_goes(
        end in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        value in any::<u8>(),
    ) {
        let inner = [&MAIL_OBJECT[..], &full_package()].concat();
        let inner = properties(&[(OBJECT, 0x3701, &inner)]);
        let mail = package(&[(FILE_BEGINS, &[0; 14]), (FILE_PROPERTIES, &inner)]);
        let mut whole = [&full_package()[..], &mail[6..]].concat();
        let at = at.index(whole.len());
        whole[at] = value;
        check(&whole)?;
        check(&whole[..end.index(whole.len())])?;
    }
}
