//! The pictures of a page: those that the mail brought, by number of their part, and those from
//! elsewhere, by number in the order in which the page first names them.

use std::collections::HashMap;

use mail_parser::{Message, MessagePart, MimeHeaders};
use url::Url;

use super::css::{DeclaredSize, PictureAddresses, declared_size};
use super::picture_size::picture_size;
use super::{PageAddresses, RemotePictures};
use crate::files::content_type;
use crate::limits::{
    LINK_TARGET_BYTES, OWN_PICTURE_BYTES, OWN_PICTURES, REMOTE_PICTURES, TRACKER_PX,
};

/// Pixels of the longer side of a picture as it is shown; a larger one is scaled.
const SHOWN_PICTURE_PX: u32 = 1_280;

/// What becomes of the address of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PictureSource {
    /// It is asked for at this address of ours.
    Shown(String),
    /// It is elsewhere and is not fetched.
    Blocked,
    /// It leads nowhere.
    Missing,
}

/// The pictures that a page has named so far.
pub(super) struct PagePictures<'a> {
    addresses: PageAddresses<'a>,
    own: HashMap<String, usize>,
    /// Width and height of those whose place the page may keep free, by number.
    sizes: HashMap<usize, (u32, u32)>,
    remote: Vec<String>,
    numbers: HashMap<String, usize>,
    pub trackers: usize,
}

impl<'a> PagePictures<'a> {
    pub fn new(message: &Message<'_>, addresses: PageAddresses<'a>) -> PagePictures<'a> {
        let mut own = HashMap::new();
        let mut sizes = HashMap::new();
        for picture in own_pictures(message) {
            for name in picture.names {
                own.entry(name).or_insert(picture.number);
            }
            let part = message.parts.get(picture.number);
            let size = part.and_then(|part| picture_size(part.contents()));
            sizes.extend(size.map(|size| (picture.number, size)));
        }
        // A style sheet may size pictures; what stood in its way would bend them.
        if !sizes.is_empty() && has_style_sheet(message) {
            sizes.clear();
        }
        let (remote, numbers) = (Vec::new(), HashMap::new());
        PagePictures { addresses, own, sizes, remote, numbers, trackers: 0 }
    }

    /// Width and height as a picture that the mail brought is shown, where its page says neither.
    pub fn size(&self, address: &str) -> Option<(u32, u32)> {
        let number = self.own.get(&own_name(address.trim()))?;
        let (width, height) = *self.sizes.get(number)?;
        let longest = width.max(height);
        if longest <= SHOWN_PICTURE_PX {
            return Some((width, height));
        }
        let shown = |side: u32| {
            let side = u64::from(side) * u64::from(SHOWN_PICTURE_PX) / u64::from(longest);
            u32::try_from(side).unwrap_or(SHOWN_PICTURE_PX).max(1)
        };
        Some((shown(width), shown(height)))
    }

    pub fn source(&mut self, address: &str) -> PictureSource {
        let address = address.trim();
        if let Some(number) = self.own.get(&own_name(address)) {
            return PictureSource::Shown(format!("{}/{number}", self.addresses.pictures));
        }
        let Some(number) = self.remote_number(address) else { return PictureSource::Missing };
        match self.addresses.remote {
            RemotePictures::Blocked => PictureSource::Blocked,
            RemotePictures::Shown => {
                PictureSource::Shown(format!("{}/remote/{number}", self.addresses.pictures))
            }
        }
    }

    /// True for a picture from elsewhere.
    pub fn is_remote(&self, address: &str) -> bool {
        let address = address.trim();
        !self.own.contains_key(&own_name(address)) && remote_url(address).is_some()
    }

    /// The addresses of the pictures from elsewhere; the place of each is its number.
    pub fn into_remote(self) -> Vec<String> {
        self.remote
    }

    pub fn remote_count(&self) -> usize {
        self.remote.len()
    }

    fn remote_number(&mut self, address: &str) -> Option<usize> {
        let url = remote_url(address)?;
        if let Some(number) = self.numbers.get(&url) {
            return Some(*number);
        }
        let number = self.remote.len();
        if number == REMOTE_PICTURES {
            return None;
        }
        self.remote.push(url.clone());
        self.numbers.insert(url, number);
        Some(number)
    }
}

fn has_style_sheet(message: &Message<'_>) -> bool {
    let html = message.body_html(0).unwrap_or_default();
    html.as_bytes().windows(6).any(|word| word.eq_ignore_ascii_case(b"<style"))
}

/// The whole address of a picture that can be fetched. One with a password in it has no place in a
/// mail.
fn remote_url(address: &str) -> Option<String> {
    if address.len() > LINK_TARGET_BYTES {
        return None;
    }
    let url = match address.strip_prefix("//") {
        Some(rest) => Url::parse(&format!("https://{rest}")).ok()?,
        None => Url::parse(address).ok()?,
    };
    let fetched = matches!(url.scheme(), "http" | "https") && url.has_host();
    let bare = url.username().is_empty() && url.password().is_none();
    (fetched && bare).then(|| url.to_string())
}

impl PictureAddresses for PagePictures<'_> {
    fn background(&mut self, address: &str) -> Option<String> {
        match self.source(address) {
            PictureSource::Shown(address) => Some(address),
            PictureSource::Blocked | PictureSource::Missing => None,
        }
    }
}

/// True for a picture that shows nothing and is there to be fetched: too small to be seen on both
/// sides, or hidden.
pub(super) fn is_tracker(width: Option<&str>, height: Option<&str>, style: &str) -> bool {
    let DeclaredSize { width: wide, height: high } = declared_size(style);
    let attribute = |value: Option<&str>| {
        let value = value?.trim();
        value.strip_suffix("px").unwrap_or(value).parse::<f64>().ok()
    };
    let wide = wide.or_else(|| attribute(width));
    let high = high.or_else(|| attribute(height));
    let unseen = match (wide, high) {
        (Some(wide), Some(high)) => {
            (wide <= TRACKER_PX && high <= TRACKER_PX) || wide <= 0.0 || high <= 0.0
        }
        // A lone size is that of both sides.
        (Some(one), None) | (None, Some(one)) => one <= TRACKER_PX,
        (None, None) => false,
    };
    let style: String =
        style.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_ascii_lowercase()).collect();
    unseen || style.contains("display:none") || style.contains("visibility:hidden")
}

/// A picture that a mail brought for its page.
pub(super) struct OwnPicture {
    pub number: usize,
    /// How the page may name it: by Content-ID, or by Content-Location (RFC 2557).
    names: Vec<String>,
    pub content_type: &'static str,
}

pub(super) fn own_pictures(message: &Message<'_>) -> impl Iterator<Item = OwnPicture> {
    let pictures = message.parts.iter().enumerate().filter_map(|(number, part)| {
        let id = part.content_id().map(|id| format!("cid:{}", id.trim_matches(['<', '>'])));
        let names: Vec<String> = id.into_iter().chain(location(part)).collect();
        let content_type = picture_type(part)?;
        (!names.is_empty()).then_some(OwnPicture { number, names, content_type })
    });
    pictures.take(OWN_PICTURES)
}

fn location(part: &MessagePart<'_>) -> Option<String> {
    let location: String = part.content_location()?.split_whitespace().collect();
    (!location.is_empty() && location.len() <= LINK_TARGET_BYTES).then_some(location)
}

/// The type of a part that browsers show as a picture and do nothing else with.
fn picture_type(part: &MessagePart<'_>) -> Option<&'static str> {
    const SAFE: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
    let named = content_type(part);
    let named = if named == "image/jpg" { "image/jpeg" } else { named.as_str() };
    let fits = part.contents().len() <= OWN_PICTURE_BYTES;
    SAFE.into_iter().find(|safe| *safe == named).filter(|_| fits)
}

/// The name by which a page asks for a picture that the mail brought.
fn own_name(address: &str) -> String {
    let id = address.get(..4).filter(|scheme| scheme.eq_ignore_ascii_case("cid:"));
    match id {
        Some(_) => format!("cid:{}", percent_decoded(&address[4..])),
        None => address.split_whitespace().collect(),
    }
}

/// A Content-ID as a `cid:` address writes it (RFC 2392).
fn percent_decoded(id: &str) -> String {
    let bytes = id.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = id.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (bytes[at], code) {
            (b'%', Some(byte)) => {
                decoded.push(byte);
                at += 3;
            }
            (byte, _) => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pictures(remote: RemotePictures) -> PagePictures<'static> {
        let raw = "Content-Type: multipart/related; boundary=b\n\n\
            --b\nContent-Type: text/html\n\nx\n\
            --b\nContent-Type: image/png\nContent-ID: <a@b c>\n\nx\n\
            --b\nContent-Type: image/png\nContent-Location: logo.png\n\nx\n\
            --b\nContent-Type: image/svg+xml\nContent-ID: <bad>\n\nx\n--b--\n";
        let message = crate::parser::PARSER.parse(raw.as_bytes()).unwrap();
        PagePictures::new(&message, PageAddresses { pictures: "/p", remote })
    }

    #[test]
    fn a_picture_that_the_mail_brought_is_found_by_id_or_location() {
        let mut pictures = pictures(RemotePictures::Blocked);
        let shown = |number: usize| PictureSource::Shown(format!("/p/{number}"));
        assert_eq!(pictures.source("cid:a@b%20c"), shown(2));
        assert_eq!(pictures.source("CID:a@b c"), shown(2));
        assert_eq!(pictures.source(" logo.png "), shown(3));
        for missing in ["cid:bad", "cid:other", "cid:a%", "other.png", "/inbox", "data:image/png,x"]
        {
            assert_eq!(pictures.source(missing), PictureSource::Missing, "{missing}");
        }
        assert_eq!(pictures.remote_count(), 0);
    }

    #[test]
    fn pictures_from_elsewhere_have_a_number_each_and_are_blocked_until_asked_for() {
        let mut blocked = pictures(RemotePictures::Blocked);
        assert_eq!(blocked.source("https://x.example/a"), PictureSource::Blocked);
        let mut shown = pictures(RemotePictures::Shown);
        let address = |number: usize| PictureSource::Shown(format!("/p/remote/{number}"));
        assert_eq!(shown.source("https://x.example/a"), address(0));
        assert_eq!(shown.source("//x.example/b"), address(1));
        assert_eq!(shown.source("https://x.example/a"), address(0));
        for never in ["ftp://x.example/a", "https://u:p@x.example/", "file:///etc/passwd"] {
            assert_eq!(shown.source(never), PictureSource::Missing, "{never}");
        }
        assert_eq!(shown.into_remote(), ["https://x.example/a", "https://x.example/b"]);
    }

    #[test]
    fn trackers_are_told_by_their_size() {
        for (width, height, style) in [
            (Some("1"), Some("1"), ""),
            (Some("0"), Some("0"), ""),
            (Some("1px"), None, ""),
            (None, None, "width: 1px; height: 1px !important"),
            (None, None, "display: none"),
            (Some("600"), Some("0"), ""),
        ] {
            assert!(is_tracker(width, height, style), "{width:?} {height:?} {style}");
        }
        for (width, height, style) in [
            (Some("1"), Some("20"), ""),
            (Some("600"), Some("1"), ""),
            (Some("100%"), None, ""),
            (None, None, ""),
            (None, None, "width:100px"),
        ] {
            assert!(!is_tracker(width, height, style), "{width:?} {height:?} {style}");
        }
    }
}
