//! Every limit of reading a mail, by name and with its unit. A mail beyond one is still read, as
//! far as the limit goes.

/// Bytes of a mail whose parts are read; of a larger one, only the header.
pub const MAIL_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of a mail's header that are read.
pub const HEADER_BYTES: usize = 256 * 1024;
/// Parts of a mail that are read; an attached mail is one.
pub const MAIL_PARTS: usize = 10_000;
/// Multiparts within multiparts.
pub const MULTIPART_DEPTH: usize = 50;
/// Bytes of a boundary (RFC 2046 allows 70).
pub const BOUNDARY_BYTES: usize = 512;
/// Bytes of a part's header that are read.
pub const PART_HEADER_BYTES: usize = 64 * 1024;
/// Bytes of all parts' headers together that are read.
pub const PART_HEADERS_BYTES: usize = 2 * 1024 * 1024;
/// Bytes of a field that names a type, a file or the like; a longer one is left out.
pub const MIME_FIELD_BYTES: usize = 8 * 1024;
/// Bytes of one field that a reader may have to walk in search of the ends of encoded words.
pub const ENCODED_WORD_SEARCH_BYTES: usize = 1024 * 1024;
/// Bytes of text that are kept of a mail.
pub const TEXT_BYTES: usize = 512 * 1024;
/// Bytes of quoted and forwarded text that are kept of a mail, to find it by.
pub const QUOTED_BYTES: usize = 64 * 1024;
/// Bytes of HTML that are kept of a mail and read for its text.
pub const HTML_BYTES: usize = 2 * 1024 * 1024;
/// Elements open at once in HTML; deeper ones count as their ancestor's.
pub const HTML_DEPTH: usize = 2_000;
/// Elements of HTML that are read for its text.
pub const HTML_TAGS: usize = 200_000;
/// Links of a mail that are looked at.
pub const LINKS: usize = 500;
/// Characters of a link's visible text that are looked at.
pub const LINK_TEXT_CHARS: usize = 500;
/// Bytes of a link's target that are looked at.
pub const LINK_TARGET_BYTES: usize = 4_096;
/// Files of a mail that are kept.
pub const ATTACHMENTS: usize = 250;
/// Characters of a file's name.
pub const FILENAME_CHARS: usize = 120;
/// Addresses of one field that are kept.
pub const ADDRESSES: usize = 500;
/// Characters of a person's name in a header.
pub const NAME_CHARS: usize = 200;
/// Characters of a subject.
pub const SUBJECT_CHARS: usize = 998;
/// Ancestors of a mail that are kept, the nearest first.
pub const REFERENCES: usize = 50;
/// Bytes of a Message-ID; a longer one cannot have been sent.
pub const MESSAGE_ID_BYTES: usize = 998;
/// `Received` fields from which on a mail goes in circles.
pub const HOPS: usize = 50;
/// Recipients of a bounce that are told.
pub const BOUNCED_RECIPIENTS: usize = 100;
/// Bytes of a mail's HTML that is shown as a page, once it is written anew.
pub const PAGE_BYTES: usize = 4 * 1024 * 1024;
/// Elements of a mail's HTML that is shown as a page.
pub const PAGE_TAGS: usize = 20_000;
/// Elements open at once in a mail's HTML that is shown as a page.
pub const PAGE_DEPTH: usize = 600;
/// Pictures of a page, whether the mail brought them or not; further ones are left out.
pub const PAGE_IMAGES: usize = 500;
/// Bytes of an attribute's value in a page; a longer attribute is left out.
pub const PAGE_ATTRIBUTE_BYTES: usize = 16 * 1024;
/// Different pictures that a mail brought and that its page asks for.
pub const OWN_PICTURES: usize = 50;
/// Bytes of a picture that a mail brought and that is shown in its page.
pub const OWN_PICTURE_BYTES: usize = 5 * 1024 * 1024;
/// Different pictures from elsewhere that a page may ask for.
pub const REMOTE_PICTURES: usize = 200;
/// Bytes of style sheets of a mail that are read for its page.
pub const STYLE_BYTES: usize = 512 * 1024;
/// Rules of one style sheet that are kept.
pub const STYLE_RULES: usize = 3_000;
/// Functions within functions in a value of CSS.
pub const STYLE_FUNCTION_DEPTH: usize = 4;
/// Pixels of a length in CSS or of an attribute; a longer one is left out.
pub const STYLE_LENGTH_PX: f64 = 10_000.0;
/// Pixels of a shadow; a larger one would cover what stands around its element.
pub const STYLE_SHADOW_PX: f64 = 60.0;
/// Tokens of one selector.
pub const SELECTOR_PARTS: usize = 40;
/// Columns or rows that a cell takes.
pub const CELL_SPAN: usize = 1_000;
/// Pixels up to which a picture on both sides is nothing to see, but tells that a mail was read.
pub const TRACKER_PX: f64 = 2.0;
/// Characters of a link's target that are shown when it is pointed at.
pub const LINK_TITLE_CHARS: usize = 300;
/// Addresses in the words of a page's links that are compared with where the links lead.
pub const LINK_WORDS: usize = 20_000;
/// Lines over a quotation that may announce it.
pub const QUOTE_LEAD_LINES: usize = 4;
/// Fields of a header that are shown.
pub const HEADER_FIELDS: usize = 200;
/// Characters of a field of a header that are shown.
pub const HEADER_FIELD_CHARS: usize = 2_000;
/// Mails within mails that are opened one from another.
pub const ATTACHED_MAIL_DEPTH: usize = 3;
/// Links of a plain text.
pub const TEXT_LINKS: usize = 2_000;
/// Bytes of a vCard file.
pub const VCARD_BYTES: usize = 1024 * 1024;
/// People in a vCard file.
pub const VCARDS: usize = 100;
/// Phones, and e-mail addresses, of a vCard.
pub const VCARD_VALUES: usize = 20;
/// Characters of a value in a vCard.
pub const VCARD_CHARS: usize = 300;
/// Bytes of a calendar invitation.
pub const INVITATION_BYTES: usize = 1024 * 1024;
/// Packages of the kind of `winmail.dat` that are opened in one mail.
pub const TNEF_PACKAGES: usize = 10;
/// Attributes of such a package that are read.
pub const TNEF_ATTRIBUTES: usize = 20_000;
/// Bytes of RTF that are unpacked and read for their text.
pub const RTF_BYTES: usize = 2 * 1024 * 1024;
/// Groups within groups of RTF.
pub const RTF_DEPTH: usize = 200;
