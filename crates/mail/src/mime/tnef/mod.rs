//! Opens what Outlook packs as `winmail.dat`: the text and the files of a mail in the Transport Neutral
//! Encapsulation Format (MS-OXTNEF).
//!
//! The attributes are read once, from the first to the last. A mail within is handed on packed, as a
//! file that is read when somebody opens it, so that no sender chooses how deep this goes.

mod code_page;
mod compressed_rtf;
mod properties;
mod reader;
mod rtf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use encoding_rs::{Encoding, UTF_16LE, WINDOWS_1252};

use crate::limits::{ATTACHMENTS, HTML_BYTES, TEXT_BYTES, TNEF_ATTRIBUTES};
use crate::text::charset;
use crate::text::clean::clean_subject;
use code_page::encoding_of;
use properties::{OBJECT, TnefProperty, UNICODE, read_properties};
use reader::ByteReader;

const SIGNATURE: u32 = 0x223e_9f78;

/// Whether an attribute is of the message or of a file.
const OF_MESSAGE: u8 = 1;
const OF_FILE: u8 = 2;

/// Attributes (MS-OXTNEF, section 2.1.3.2).
const BODY: u16 = 0x800c;
const CODE_PAGES: u16 = 0x9007;
const FILE_BEGINS: u16 = 0x9002;
const FILE_CONTENT: u16 = 0x800f;
const FILE_PROPERTIES: u16 = 0x9005;
const FILE_TITLE: u16 = 0x8010;
const MESSAGE_CLASS: u16 = 0x8008;
const MESSAGE_PROPERTIES: u16 = 0x9003;

/// Properties (MS-OXPROPS).
const P_ATTACHED_CONTENT: u16 = 0x3701;
const P_ATTACHED_ID: u16 = 0x3712;
const P_ATTACHED_LONG_NAME: u16 = 0x3707;
const P_ATTACHED_NAME: u16 = 0x3704;
const P_ATTACHED_TYPE: u16 = 0x370e;
const P_BODY: u16 = 0x1000;
const P_DISPLAY_NAME: u16 = 0x3001;
const P_HTML: u16 = 0x1013;
const P_INTERNET_CODE_PAGE: u16 = 0x3fde;
const P_RTF: u16 = 0x1009;

/// What stands before a mail within: the identifier of that kind of object.
const MAIL_OBJECT: [u8; 16] = [0x07, 0x03, 0x02, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0x46];

/// Classes of messages that are mail; all others say more than their text and their files.
const MAIL_CLASSES: [&str; 2] = ["IPM.Note", "IPM.Microsoft Mail.Note"];

/// Bytes of a line of base64 before it is encoded.
const LINE_BYTES: usize = 57;

/// What was packed.
#[derive(Debug, Default)]
pub(super) struct TnefPackage {
    pub text: Option<String>,
    pub html: Option<String>,
    pub files: Vec<TnefFile>,
    /// True where nothing is in the package that is not here.
    pub is_whole: bool,
}

#[derive(Debug, Default)]
pub(super) struct TnefFile {
    pub name: Option<String>,
    pub content_type: Option<String>,
    /// The name by which the HTML refers to it.
    pub content_id: Option<String>,
    pub bytes: Vec<u8>,
}

/// Opens a package; `None` for what is none.
pub(super) fn open(bytes: &[u8]) -> Option<TnefPackage> {
    let mut reader = ByteReader::new(bytes);
    if reader.u32()? != SIGNATURE {
        return None;
    }
    let _key = reader.u16()?;
    let mut contents = Contents::new();
    for _ in 0..TNEF_ATTRIBUTES {
        if reader.is_empty() {
            return Some(contents.into_package());
        }
        let Some(attribute) = next_attribute(&mut reader) else { break };
        contents.add(&attribute);
    }
    contents.is_whole = false;
    Some(contents.into_package())
}

struct TnefAttribute<'a> {
    level: u8,
    id: u16,
    bytes: &'a [u8],
}

fn next_attribute<'a>(reader: &mut ByteReader<'a>) -> Option<TnefAttribute<'a>> {
    let level = reader.u8().filter(|level| matches!(*level, OF_MESSAGE | OF_FILE))?;
    let (id, _kind) = (reader.u16()?, reader.u16()?);
    let length = reader.length()?;
    let bytes = reader.take(length)?;
    // The sum of the bytes, which programs get wrong.
    let _sum = reader.u16();
    Some(TnefAttribute { level, id, bytes })
}

/// What was read so far.
struct Contents<'a> {
    code_page: &'static Encoding,
    /// That of the HTML.
    internet_code_page: Option<&'static Encoding>,
    text: Option<String>,
    html: Option<PackedText<'a>>,
    rtf: Option<&'a [u8]>,
    files: Vec<PackedFile<'a>>,
    is_whole: bool,
}

#[derive(Clone, Copy)]
struct PackedText<'a> {
    is_unicode: bool,
    bytes: &'a [u8],
}

#[derive(Default)]
struct PackedFile<'a> {
    long_name: Option<String>,
    title: Option<String>,
    short_name: Option<String>,
    display_name: Option<String>,
    content_type: Option<String>,
    content_id: Option<String>,
    content: Option<&'a [u8]>,
    /// A mail within, packed like the one around it.
    mail: Option<&'a [u8]>,
}

impl<'a> Contents<'a> {
    fn new() -> Contents<'a> {
        Contents {
            code_page: WINDOWS_1252,
            internet_code_page: None,
            text: None,
            html: None,
            rtf: None,
            files: Vec::new(),
            is_whole: true,
        }
    }

    fn add(&mut self, attribute: &TnefAttribute<'a>) {
        let TnefAttribute { level, id, bytes } = *attribute;
        match (level, id) {
            (OF_MESSAGE, CODE_PAGES) => {
                if let Some(number) = ByteReader::new(bytes).u32() {
                    self.code_page = encoding_of(number);
                }
            }
            (OF_MESSAGE, MESSAGE_CLASS) => {
                let class = self.decode(PackedText { is_unicode: false, bytes }, TEXT_BYTES);
                self.is_whole &= MAIL_CLASSES.iter().any(|mail| class.starts_with(mail));
            }
            (OF_MESSAGE, BODY) if self.text.is_none() => {
                let body = PackedText { is_unicode: false, bytes };
                self.text = Some(self.decode(body, TEXT_BYTES));
            }
            (OF_MESSAGE, MESSAGE_PROPERTIES) => {
                self.is_whole &= read_properties(bytes, |property| self.add_property(&property));
            }
            (OF_FILE, FILE_BEGINS) => self.begin_file(),
            (OF_FILE, _) => self.add_to_file(id, bytes),
            _ => {}
        }
    }

    fn add_property(&mut self, property: &TnefProperty<'a>) {
        match property.id {
            P_BODY => self.text = Some(self.decode(packed_text(property), TEXT_BYTES)),
            P_HTML => self.html = Some(packed_text(property)),
            P_RTF => self.rtf = Some(property.value),
            P_INTERNET_CODE_PAGE => {
                self.internet_code_page = property.as_number().map(encoding_of);
            }
            _ => {}
        }
    }

    fn begin_file(&mut self) {
        if self.files.len() < ATTACHMENTS {
            self.files.push(PackedFile::default());
        } else {
            self.is_whole = false;
        }
    }

    /// What belongs to the file that began last.
    fn add_to_file(&mut self, id: u16, bytes: &'a [u8]) {
        if self.files.is_empty() {
            self.begin_file();
        }
        // Of files beyond the limit nothing is read.
        if !self.is_whole && self.files.len() >= ATTACHMENTS {
            return;
        }
        let code_page = self.code_page;
        let Some(file) = self.files.last_mut() else { return };
        match id {
            FILE_TITLE => {
                file.title = short_text(PackedText { is_unicode: false, bytes }, code_page)
            }
            FILE_CONTENT => file.content = Some(bytes),
            FILE_PROPERTIES => {
                self.is_whole &=
                    read_properties(bytes, |property| file.add_property(&property, code_page));
            }
            _ => {}
        }
    }

    fn decode(&self, text: PackedText<'_>, most: usize) -> String {
        decode(text, self.code_page, most)
    }

    fn into_package(self) -> TnefPackage {
        let html_code_page = self.internet_code_page.unwrap_or(self.code_page);
        let html = self.html.map(|html| html_text(html, html_code_page));
        let has_words = |text: &String| !text.trim().is_empty();
        let html = html.filter(has_words);
        let text = self.text.filter(has_words);
        // Where there is another form of the text, that one is closer to what was written.
        let rtf = self.rtf.filter(|_| html.is_none() && text.is_none());
        let of_rtf = rtf.and_then(compressed_rtf::unpack_rtf).map(|rtf| rtf::text_of_rtf(&rtf));
        let count = self.files.len();
        let files: Vec<TnefFile> = self.files.into_iter().filter_map(PackedFile::open).collect();
        TnefPackage {
            is_whole: self.is_whole && files.len() == count,
            text: text.or(of_rtf),
            html,
            files,
        }
    }
}

impl<'a> PackedFile<'a> {
    fn add_property(&mut self, property: &TnefProperty<'a>, code_page: &'static Encoding) {
        let text = || short_text(packed_text(property), code_page);
        match property.id {
            P_ATTACHED_LONG_NAME => self.long_name = text(),
            P_ATTACHED_NAME => self.short_name = text(),
            P_DISPLAY_NAME => self.display_name = text(),
            P_ATTACHED_TYPE => self.content_type = text(),
            P_ATTACHED_ID => self.content_id = text(),
            P_ATTACHED_CONTENT if property.kind == OBJECT => {
                self.mail = property.value.strip_prefix(&MAIL_OBJECT[..]);
                self.content = self.content.or(property.value.get(MAIL_OBJECT.len()..));
            }
            P_ATTACHED_CONTENT => self.content = Some(property.value),
            _ => {}
        }
    }

    /// `None` for a file whose content is elsewhere.
    fn open(self) -> Option<TnefFile> {
        if let Some(packed) = self.mail {
            let subject = self.display_name.or(self.title).unwrap_or_default();
            return Some(TnefFile {
                name: Some(format!("{subject}.eml")).filter(|_| !subject.is_empty()),
                content_type: Some("message/rfc822".to_owned()),
                content_id: None,
                bytes: mail_of_package(&subject, packed),
            });
        }
        Some(TnefFile {
            name: self.long_name.or(self.title).or(self.short_name).or(self.display_name),
            content_type: self.content_type,
            content_id: self.content_id,
            bytes: self.content?.to_vec(),
        })
    }
}

fn packed_text<'a>(property: &TnefProperty<'a>) -> PackedText<'a> {
    PackedText { is_unicode: property.kind == UNICODE, bytes: property.value }
}

/// A text that is a name, a type or the like; `None` for an empty one.
fn short_text(text: PackedText<'_>, code_page: &'static Encoding) -> Option<String> {
    let text = clean_subject(&decode(text, code_page, TEXT_BYTES));
    (!text.is_empty()).then_some(text)
}

/// Texts end with a zero.
fn decode(text: PackedText<'_>, code_page: &'static Encoding, most: usize) -> String {
    let bytes = &text.bytes[..text.bytes.len().min(most)];
    let encoding = if text.is_unicode { UTF_16LE } else { code_page };
    let mut decoded = encoding.decode_without_bom_handling(bytes).0.into_owned();
    if let Some(end) = decoded.find('\0') {
        decoded.truncate(end);
    }
    decoded
}

/// HTML may be in another character set than the package says.
fn html_text(html: PackedText<'_>, code_page: &'static Encoding) -> String {
    if html.is_unicode {
        return decode(html, code_page, HTML_BYTES);
    }
    let bytes = &html.bytes[..html.bytes.len().min(HTML_BYTES)];
    charset::decode(bytes, Some(code_page.name()))
}

/// A mail that holds this package and nothing else.
fn mail_of_package(subject: &str, package: &[u8]) -> Vec<u8> {
    let mut mail = match subject {
        "" => String::new(),
        subject => format!("Subject: =?utf-8?B?{}?=\r\n", STANDARD.encode(subject)),
    };
    mail.push_str(
        "MIME-Version: 1.0\r\nContent-Type: application/ms-tnef\r\n\
         Content-Transfer-Encoding: base64\r\n\r\n",
    );
    for line in package.chunks(LINE_BYTES) {
        STANDARD.encode_string(line, &mut mail);
        mail.push_str("\r\n");
    }
    mail.into_bytes()
}
