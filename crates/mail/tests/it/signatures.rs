//! Mail that its writer signed or encrypted: what can be read of it is read, and that it is signed is
//! told.

use mail::{Envelope, ParsedMail, SignatureFormat, attached_mail, mail_page, parse};
use mail::{PageAddresses, RemotePictures};

const SIGNED_DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02];
const ENVELOPED_DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x03];
const DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01];

fn element(tag: u8, content: &[&[u8]]) -> Vec<u8> {
    let content = content.concat();
    let length = (content.len() as u16).to_be_bytes();
    [&[tag, 0x82, length[0], length[1]][..], content.as_slice()].concat()
}

/// A message of CMS of this kind around a content, without certificates.
fn cms(kind: &[u8], content: &[u8]) -> Vec<u8> {
    let content = element(0xa0, &[&element(0x04, &[content])]);
    let inner = element(0x30, &[&element(0x06, &[DATA]), &content]);
    let all = element(0x30, &[&[2, 1, 1], &[0x31, 0], &inner]);
    element(0x30, &[&element(0x06, &[kind]), &element(0xa0, &[&all])])
}

fn smime_mail(kind: &[u8], content: &str) -> Vec<u8> {
    let header = b"From: ann@x.example\nSubject: Lamps\n\
        Content-Type: application/pkcs7-mime; name=smime.p7m\n\n";
    [&header[..], &cms(kind, content.as_bytes())].concat()
}

fn read(raw: &[u8]) -> ParsedMail {
    parse(raw, Envelope::default())
}

#[test]
fn what_smime_signed_in_itself_is_read_as_the_mail() {
    let content = "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\
        Content-Type: text/html; charset=iso-8859-1\r\n\r\n<p>Hello</p>\r\n--b\r\n\
        Content-Type: text/csv; name=list.csv\r\n\r\na,b\r\n--b\r\n\
        Content-Type: message/rfc822\r\n\r\nSubject: In\r\n\r\nInner\r\n--b--\r\n";
    let raw = smime_mail(SIGNED_DATA, content);
    let mail = read(&raw);
    assert_eq!((mail.subject.as_str(), mail.text.as_str()), ("Lamps", "Hello"));
    assert_eq!(mail.signature, Some(SignatureFormat::Smime));
    let files: Vec<&str> = mail.attachments.iter().map(|file| file.filename.as_str()).collect();
    assert_eq!(files, ["list.csv", "In.eml"]);
    assert_eq!(mail.attachments[0].bytes, b"a,b");
    assert_eq!(read(&attached_mail(&raw, &[1]).unwrap()).text, "Inner");
    let addresses = PageAddresses { pictures: "/p", remote: RemotePictures::Blocked };
    assert!(mail_page(&raw, &addresses).unwrap().html.contains("<p>Hello</p>"));
}

#[test]
fn what_smime_encrypted_or_what_is_no_mail_stays_a_file() {
    for raw in [
        smime_mail(ENVELOPED_DATA, "Content-Type: text/plain\r\n\r\nHello"),
        smime_mail(SIGNED_DATA, ""),
        b"Content-Type: application/pkcs7-mime; name=smime.p7m\n\n0\x80".to_vec(),
    ] {
        let mail = read(&raw);
        assert_eq!((mail.text.as_str(), mail.attachments.len()), ("", 1));
        assert_eq!(mail.attachments[0].filename, "smime.p7m");
    }
    let encrypted = read(&smime_mail(ENVELOPED_DATA, "x"));
    assert_eq!(encrypted.signature, None);
}

#[test]
fn a_signature_beside_the_text_or_around_it_is_told() {
    let beside = |protocol: &str| {
        format!(
            "Content-Type: multipart/signed; protocol=\"{protocol}\"; boundary=b\n\n--b\n\nHello\n\
             --b\nContent-Type: {protocol}\n\nxyz\n--b--\n"
        )
    };
    let armour = "From: a@x.example\n\n-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nHello\n\
        -----BEGIN PGP SIGNATURE-----\nabc\n-----END PGP SIGNATURE-----\n";
    for (raw, signature) in [
        (beside("application/pgp-signature"), Some(SignatureFormat::OpenPgp)),
        (beside("application/pkcs7-signature"), Some(SignatureFormat::Smime)),
        (beside("application/x-pkcs7-signature"), Some(SignatureFormat::Smime)),
        (beside("application/x-other"), None),
        (armour.to_owned(), Some(SignatureFormat::OpenPgp)),
        (armour.replace("-----BEGIN", "> -----BEGIN"), None),
        ("From: a@x.example\n\nHello\n".to_owned(), None),
    ] {
        let mail = read(raw.as_bytes());
        assert_eq!(mail.signature, signature, "{raw}");
    }
}
