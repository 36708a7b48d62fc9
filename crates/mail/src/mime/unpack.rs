//! Puts what a program packed into one part among the parts of the mail: the text and the files of
//! `winmail.dat`, and the mail that an S/MIME signature is put around.
//!
//! Each is opened once, and nothing in it is opened again, but for `winmail.dat` in what was signed.

use mail_parser::{
    Attribute, ContentType, Header, HeaderName, HeaderValue, Message, MessagePart, MimeHeaders,
    PartType,
};

use super::smime::signed_content;
use super::tnef::{self, TnefFile, TnefPackage};
use crate::files::content_type;
use crate::limits::TNEF_PACKAGES;
use crate::text::filename::type_of_name;

/// The place of a part that does not stand in the bytes of the mail.
const NOWHERE: u32 = u32::MAX;
const PACKAGE_NAME: &str = "winmail.dat";
const UNKNOWN_TYPE: (&str, &str) = ("application", "octet-stream");

pub(super) fn unpack(message: &mut Message<'_>) {
    open_signature(message);
    open_packages(message);
}

/// True for a part in which S/MIME keeps a whole mail, encrypted or signed.
pub(super) fn is_smime(part: &MessagePart<'_>) -> bool {
    matches!(content_type(part).as_str(), "application/pkcs7-mime" | "application/x-pkcs7-mime")
}

/// A signed mail takes the place of the signature, where the mail has no words beside it.
fn open_signature(message: &mut Message<'_>) {
    if has_words(message) {
        return;
    }
    let is_signature = |id: &u32| part_of(message, *id).is_some_and(is_smime);
    let Some(place) = message.attachments.iter().position(is_signature) else { return };
    let signature = part_of(message, message.attachments[place]);
    let content = signature.and_then(|signature| signed_content(signature.contents()));
    let Some(content) = content else { return };
    let Some(signed) = super::read_entities(&content) else { return };
    if signed.text_body.is_empty() && signed.html_body.is_empty() && signed.attachments.is_empty() {
        return;
    }
    let first = message.parts.len() as u32;
    let renumber = |ids: Vec<u32>| ids.into_iter().map(move |id| first + id);
    message.text_body.extend(renumber(signed.text_body));
    message.html_body.extend(renumber(signed.html_body));
    message.attachments.splice(place..=place, renumber(signed.attachments));
    message.parts.extend(signed.parts.into_iter().map(|part| {
        let mut part = part.into_owned();
        if let PartType::Multipart(children) = &mut part.body {
            children.iter_mut().for_each(|id| *id += first);
        }
        MessagePart { offset_header: NOWHERE, offset_body: NOWHERE, offset_end: NOWHERE, ..part }
    }));
}

fn open_packages(message: &mut Message<'_>) {
    let ids = message.attachments.iter().copied();
    let packages: Vec<u32> = ids
        .filter(|id| part_of(message, *id).is_some_and(is_package))
        .take(TNEF_PACKAGES)
        .collect();
    for id in packages {
        let package = part_of(message, id).and_then(|part| tnef::open(part.contents()));
        if let Some(package) = package {
            add_package(message, id, package);
        }
    }
}

/// The files stand where the package stood. It stays before them where something in it could not be
/// read.
fn add_package(message: &mut Message<'_>, id: u32, package: TnefPackage) {
    if !has_words(message) {
        let text = package.text.map(|text| add_part(message, PartType::Text(text.into())));
        let html = package.html.map(|html| add_part(message, PartType::Html(html.into())));
        message.text_body.extend(text.or(html));
        message.html_body.extend(html.or(text));
    }
    let first = message.parts.len() as u32;
    message.parts.extend(package.files.into_iter().map(file_part));
    let files = first..message.parts.len() as u32;
    let Some(place) = message.attachments.iter().position(|other| *other == id) else { return };
    let after = place + 1;
    let from = if package.is_whole { place } else { after };
    message.attachments.splice(from..after, files);
}

fn part_of<'a, 'x>(message: &'a Message<'x>, id: u32) -> Option<&'a MessagePart<'x>> {
    message.parts.get(id as usize)
}

fn is_package(part: &MessagePart<'_>) -> bool {
    let is_named = part.attachment_name().is_some_and(|it| it.eq_ignore_ascii_case(PACKAGE_NAME));
    is_named
        || matches!(content_type(part).as_str(), "application/ms-tnef" | "application/vnd.ms-tnef")
}

fn has_words(message: &Message<'_>) -> bool {
    let mut ids = message.text_body.iter().chain(&message.html_body);
    ids.any(|id| match part_of(message, *id).map(|part| &part.body) {
        Some(PartType::Text(text) | PartType::Html(text)) => !text.trim().is_empty(),
        _ => false,
    })
}

/// Returns its number.
fn add_part(message: &mut Message<'_>, body: PartType<'static>) -> u32 {
    message.parts.push(unpacked_part(Vec::new(), body));
    message.parts.len() as u32 - 1
}

fn unpacked_part(headers: Vec<Header<'static>>, body: PartType<'static>) -> MessagePart<'static> {
    MessagePart {
        headers,
        body,
        offset_header: NOWHERE,
        offset_body: NOWHERE,
        offset_end: NOWHERE,
        ..MessagePart::default()
    }
}

fn file_part<'x>(file: TnefFile) -> MessagePart<'x> {
    let TnefFile { name, content_type, content_id, bytes } = file;
    let of_name = name.as_deref().and_then(type_of_name);
    let named = content_type.as_deref().filter(|named| says_something(named)).or(of_name);
    let (c_type, c_subtype) = named.and_then(|it| it.split_once('/')).unwrap_or(UNKNOWN_TYPE);
    let attribute = |value: String| Attribute { name: "name".into(), value: value.into() };
    let value = HeaderValue::ContentType(ContentType {
        c_type: c_type.to_ascii_lowercase().into(),
        c_subtype: Some(c_subtype.to_ascii_lowercase().into()),
        attributes: name.map(|name| vec![attribute(name)]),
    });
    let mut headers = vec![header(HeaderName::ContentType, value)];
    if let Some(id) = content_id {
        headers.push(header(HeaderName::ContentId, HeaderValue::Text(id.into())));
    }
    unpacked_part(headers, PartType::Binary(bytes.into()))
}

/// False for types that say nothing of a file, and for one that no file is.
fn says_something(content_type: &str) -> bool {
    let lower = content_type.to_ascii_lowercase();
    lower != "application/octet-stream" && !lower.starts_with("multipart/")
}

fn header(name: HeaderName<'static>, value: HeaderValue<'static>) -> Header<'static> {
    Header { name, value, offset_field: 0, offset_start: 0, offset_end: 0 }
}
