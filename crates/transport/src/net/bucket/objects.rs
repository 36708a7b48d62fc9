//! What backups need of a bucket beyond single objects: listing them, and objects too large for memory,
//! which are written and read in parts.

use std::fs::File;
use std::io::{self, Read, Write};

use base::files::blob_files::BlobFiles;
use hyper::body::Bytes;
use percent_encoding::percent_decode_str;
use reqwest::{Method, StatusCode};
use roxmltree::{Document, Node};

use super::{Answer, Bucket, Call, NO_CONDITIONS};

/// The bytes of a part of a large object. A store takes 10,000 parts, which are 156 GB, and no part but
/// the last below 5 MB.
pub const PART_BYTES: usize = 16 * 1024 * 1024;
const MOST_PARTS: usize = 10_000;

impl Bucket {
    /// Calls `each` with the names of all objects that begin with `start`. With `flat`, names that go on
    /// behind a further slash are left out.
    pub fn list(&self, start: &str, flat: bool, each: &mut dyn FnMut(String)) -> io::Result<()> {
        let mut next: Option<String> = None;
        loop {
            let page = self.page(start, flat, next.take())?;
            let text = String::from_utf8(page.bytes).map_err(io::Error::other)?;
            let page = Document::parse(&text).map_err(|_| unreadable())?;
            let page = page.root_element();
            for entry in page.children().filter(|node| node.has_tag_name_of("Contents")) {
                let key = child(entry, "Key").ok_or_else(unreadable)?;
                let key = percent_decode_str(key).decode_utf8().map_err(io::Error::other)?;
                each(key.strip_prefix(&self.config.prefix).ok_or_else(unreadable)?.to_owned());
            }
            if child(page, "IsTruncated") != Some("true") {
                return Ok(());
            }
            let token = child(page, "NextContinuationToken").ok_or_else(unreadable)?;
            next = Some(token.to_owned());
        }
    }

    fn page(&self, start: &str, flat: bool, next: Option<String>) -> io::Result<Answer> {
        // In the order of their names, as they are signed.
        let mut query: Vec<(&'static str, String)> = Vec::new();
        query.extend(next.map(|next| ("continuation-token", next)));
        query.extend(flat.then(|| ("delimiter", "/".to_owned())));
        query.push(("encoding-type", "url".into()));
        query.push(("list-type", "2".into()));
        query.push(("prefix", format!("{}{start}", self.config.prefix)));
        let answer = self.call(Call { name: None, query, ..Call::of(Method::GET, "") })?;
        if answer.is_found() { Ok(answer) } else { Err(no_bucket()) }
    }

    /// Writes an object unless there is one of its name; false where there is.
    pub fn write_new(&self, name: &str, bytes: &[u8]) -> io::Result<bool> {
        let body = Bytes::copy_from_slice(bytes);
        let call = Call { body, only_new: true, ..Call::of(Method::PUT, name) };
        match self.call(call)?.status {
            StatusCode::PRECONDITION_FAILED => Ok(false),
            StatusCode::NOT_FOUND => Err(no_bucket()),
            NO_CONDITIONS => self.write(name, bytes.to_vec()).map(|()| true),
            _ => Ok(true),
        }
    }

    /// Writes the rest of a file as one object. It is there as a whole or not at all.
    pub fn write_from(&self, name: &str, mut file: &File) -> io::Result<()> {
        let first = part(&mut file)?;
        if first.len() < PART_BYTES {
            return self.write(name, first);
        }
        let begun = self.call(Call {
            query: vec![("uploads", String::new())],
            ..Call::of(Method::POST, name)
        })?;
        let upload = upload_id(&begun)?;
        let written = self.write_parts(name, &upload, first, file);
        if written.is_err() {
            // Parts that are left cost money until they are removed.
            let _ = self
                .call(Call { query: vec![("uploadId", upload)], ..Call::of(Method::DELETE, name) });
        }
        written
    }

    fn write_parts(
        &self,
        name: &str,
        upload: &str,
        first: Vec<u8>,
        mut file: &File,
    ) -> io::Result<()> {
        let (mut next, mut parts) = (first, String::new());
        for number in 1.. {
            if number > MOST_PARTS {
                return Err(io::Error::other("it is too large for the object store"));
            }
            let answer = self.call(Call {
                query: vec![("partNumber", number.to_string()), ("uploadId", upload.to_owned())],
                body: next.into(),
                ..Call::of(Method::PUT, name)
            })?;
            let etag = answer.etag.filter(|_| answer.status.is_success()).ok_or_else(unreadable)?;
            let etag = etag.replace('&', "&amp;").replace('<', "&lt;");
            parts.push_str(&format!(
                "<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>"
            ));
            next = part(&mut file)?;
            if next.is_empty() {
                break;
            }
        }
        let whole = format!("<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>");
        let done = self.call(Call {
            query: vec![("uploadId", upload.to_owned())],
            body: whole.into(),
            ..Call::of(Method::POST, name)
        })?;
        // A store may begin its answer before it has put the parts together; an error follows then.
        let said = String::from_utf8_lossy(&done.bytes);
        let is_done = Document::parse(said.trim_start())
            .is_ok_and(|said| child(said.root_element(), "ETag").is_some());
        if done.is_found() && is_done {
            return Ok(());
        }
        Err(io::Error::other("the object store did not put the parts of a file together"))
    }

    /// Copies an object to a writer, part by part.
    pub fn read_into(&self, name: &str, out: &mut dyn Write) -> io::Result<()> {
        let mut at = 0;
        loop {
            let range = Some((at, at + PART_BYTES as u64 - 1));
            let answer = self.call(Call { range, ..Call::of(Method::GET, name) })?;
            if !answer.is_found() {
                return Err(io::ErrorKind::NotFound.into());
            }
            out.write_all(&answer.bytes)?;
            at += answer.bytes.len() as u64;
            // A store that knows no ranges answers with everything.
            let size = answer.size.unwrap_or(at);
            if at >= size {
                return Ok(());
            }
            if answer.bytes.is_empty() {
                return Err(unreadable());
            }
        }
    }
}

fn part(file: &mut &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(PART_BYTES as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn upload_id(begun: &Answer) -> io::Result<String> {
    if !begun.is_found() {
        return Err(no_bucket());
    }
    let text = String::from_utf8_lossy(&begun.bytes);
    let page = Document::parse(&text).map_err(|_| unreadable())?;
    child(page.root_element(), "UploadId").map(str::to_owned).ok_or_else(unreadable)
}

/// Stores disagree about namespaces.
trait LocalName {
    fn has_tag_name_of(&self, name: &str) -> bool;
}

impl LocalName for Node<'_, '_> {
    fn has_tag_name_of(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}

fn child<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    node.children().find(|child| child.has_tag_name_of(name))?.text()
}

fn no_bucket() -> io::Error {
    io::Error::other("there is no such bucket")
}

fn unreadable() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the object store's answer cannot be read")
}
