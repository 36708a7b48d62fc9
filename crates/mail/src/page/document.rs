//! The whole page around what a mail shows.

use super::node::write_attributes;
use super::tidy::TidyPage;

/// Browsers look up the hosts of links before anybody follows them, unless told not to.
const HEAD: &str = "<head><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
                    <meta http-equiv=\"x-dns-prefetch-control\" content=\"off\">";

/// What a mail looks like that says nothing about it. Its own rules count for more.
const USUAL: &str = "html{color-scheme:light}\
    body{margin:16px;font-family:sans-serif;font-size:15px;color:#14201b;\
    background:#fff;overflow-wrap:break-word}\
    img{max-width:100%}pre{white-space:pre-wrap}\
    blockquote{margin:0 0 0 8px;padding-left:12px;border-left:2px solid #c9d2cd}\
    .mailroom-picture,.mailroom-space{display:inline-block;box-sizing:border-box;max-width:100%;\
    overflow:hidden;vertical-align:middle}\
    .mailroom-picture{min-height:20px;font:12px sans-serif;color:#5c6b64;background:#eef1ef;\
    outline:1px solid #d5ddd9;outline-offset:-1px}";

/// What no rule of a mail changes: of important rules, those of the first layer win.
const FIXED: &str = "@layer mailroom{\
    .mailroom-picture{line-height:1.3!important}\
    .mailroom-goes{all:initial!important;direction:ltr!important;unicode-bidi:isolate!important;\
    display:inline!important;position:relative!important;\
    z-index:2147483647!important;margin:0 4px!important;padding:1px 6px!important;\
    border-radius:3px!important;font:12px/1.4 sans-serif!important;color:#8a2a14!important;\
    background:#fbe9e4!important}\
    .mailroom-holds{overflow:visible!important;text-indent:0!important;opacity:1!important}\
    a[title]:focus-visible::after{all:initial!important;content:attr(title)!important;\
    direction:ltr!important;unicode-bidi:isolate!important;overflow-wrap:anywhere!important;\
    margin:0 4px!important;padding:1px 6px!important;border-radius:3px!important;\
    font:12px/1.4 sans-serif!important;color:#084549!important;background:#dcebea!important}\
    details.mailroom-quoted{display:block!important;visibility:visible!important;\
    opacity:1!important;height:auto!important;max-height:none!important;margin:16px 0 0!important}\
    details.mailroom-quoted>summary:first-child{all:initial!important;direction:ltr!important;\
    unicode-bidi:isolate!important;display:inline-block!important;\
    position:relative!important;z-index:2147483647!important;cursor:pointer!important;\
    padding:4px 12px!important;border:1px solid #84948b!important;border-radius:6px!important;\
    font:13px/1.4 sans-serif!important;color:#14201b!important;background:#f4f6f5!important}\
    details.mailroom-quoted>summary:first-child:focus-visible{outline:2px solid #0e6e6e!important}}";

/// The document of a mail whose HTML, as it is shown, is `body`.
pub(super) fn document(tidy: &TidyPage, body: &str) -> String {
    let TidyPage { root, body: attributes, sheet, mode, .. } = tidy;
    let mut page = String::with_capacity(body.len() + sheet.len() + 4_096);
    page.push_str(mode.doctype());
    page.push_str("<html");
    let spoken = root.iter().filter(|(name, _)| matches!(*name, "dir" | "lang"));
    write_attributes(&mut page, &spoken.cloned().collect());
    page.push('>');
    page.push_str(HEAD);
    page.push_str("<style>");
    page.push_str(FIXED);
    page.push_str(USUAL);
    page.push_str(mode.rules());
    page.push_str("</style>");
    if !sheet.is_empty() && !sheet.contains('<') {
        page.push_str("<style>");
        page.push_str(sheet);
        page.push_str("</style>");
    }
    page.push_str("</head><body");
    write_attributes(&mut page, attributes);
    page.push('>');
    page.push_str(body);
    page.push_str("</body></html>");
    page
}
