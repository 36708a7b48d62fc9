//! Any text as the style sheet and the styles of a mail, over elements that have names to be found by:
//! read for its words and shown as a page.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mail::{PageAddresses, RemotePictures, mail_page, text_of_html};

fuzz_target!(|input: (&str, &str, &str)| {
    let (sheet, classes, style) = input;
    let classes = classes.replace('"', "");
    let style = style.replace('"', "");
    let html = format!(
        "<style>{sheet}</style><table><tr><td class=\"{classes}\" id=\"a\"><p class=\"a b c\" \
         style=\"{style}\">one<i>two</i></td></tr></table><div class=a><span>three</span></div>"
    );
    let _ = text_of_html(&html);
    let mail = format!("Content-Type: text/html; charset=utf-8\n\n{html}");
    let addresses = PageAddresses { pictures: "/p", remote: RemotePictures::Shown };
    if let Some(page) = mail_page(mail.as_bytes(), &addresses) {
        assert!(!page.html.to_ascii_lowercase().contains("<script"));
    }
});
