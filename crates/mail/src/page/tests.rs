//! What is left of a mail's page.

use super::*;
use crate::limits::{LINK_WORDS, OWN_PICTURES, PAGE_IMAGES};

const BLOCKED: PageAddresses<'_> =
    PageAddresses { pictures: "/m/pictures", remote: RemotePictures::Blocked };
const SHOWN: PageAddresses<'_> = PageAddresses { remote: RemotePictures::Shown, ..BLOCKED };

fn mail(html: &str) -> String {
    format!(
        "From: a@example.com\r\nSubject: x\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{html}"
    )
}

fn page(html: &str) -> MailPage {
    mail_page(mail(html).as_bytes(), &SHOWN).expect("a page")
}

fn body(page: &MailPage) -> &str {
    let (_, body) = page.html.split_once("<body").expect("a body");
    let (_, body) = body.split_once('>').expect("an end of the tag");
    body.strip_suffix("</body></html>").expect("an end")
}

fn show(html: &str) -> String {
    body(&page(html)).to_owned()
}

#[test]
fn nothing_that_acts_is_left() {
    for (html, left) in [
        ("<p>Hi</p>", "<p>Hi</p>"),
        ("<script>alert(1)</script>x", "x"),
        ("<img src=x onerror=alert(1)>", ""),
        ("<svg><script>alert(1)</script></svg>", ""),
        ("<svg onload=alert(1)></svg>", ""),
        ("<iframe src=https://e.example></iframe>", ""),
        ("<form action=https://e.example><input name=a></form>", "<div></div>"),
        ("<a href=javascript:alert(1)>x</a>", "<a>x</a>"),
        ("<a href=/inbox>x</a><img src=/inbox>", "<a>x</a>"),
        ("<base href=https://e.example>", ""),
        ("<meta http-equiv=refresh content='0;url=https://e.example'>", ""),
        ("<link rel=stylesheet href=https://e.example/x.css>", ""),
        ("<style>@import 'https://e.example/x.css'</style>", ""),
        ("<p style=\"position:fixed;top:0\">x</p>", "<p>x</p>"),
        ("<img src=data:image/svg+xml;base64,AAAA>", ""),
        ("<object data=x></object><embed src=x>", ""),
        (
            "<video src=https://e.example style=display:block><source srcset=x>Play</video>",
            "<span style=\"display:none!important\">Play</span>",
        ),
        ("<p class='mailroom-goes a' id=mailroom-x>x</p>", "<p class=\"a\">x</p>"),
    ] {
        assert_eq!(show(html), left, "{html}");
    }
}

#[test]
fn a_mail_keeps_its_looks() {
    let page = page(
        "<html lang=de dir=ltr><head><style>body{background:#eee} .a{color:red}\
         @media (max-width:600px){.a{color:blue}}</style></head>\
         <body bgcolor=#fafafa text=navy class=b style='margin:0'>\
         <table width=600 bgcolor=#fff align=center><tr><td valign=top class=a id=one>x</table>",
    );
    for kept in [
        "<html dir=\"ltr\" lang=\"de\">",
        "body{background:#eee}",
        ".a{color:red}",
        "@media (max-width:600px){\n.a{color:blue}\n}",
        "<body class=\"b\" style=\"background-color:#fafafa;color:navy;margin:0\">",
        "<table align=\"center\" bgcolor=\"#fff\" width=\"600\">",
        "<td class=\"a\" id=\"one\" valign=\"top\">x</td>",
    ] {
        assert!(page.html.contains(kept), "{kept} in {}", page.html);
    }
}

#[test]
fn what_only_outlook_reads_is_dropped_and_what_others_read_stays() {
    for (html, left) in [
        (
            "<!--[if mso]><table><tr><td><![endif]-->a<!--[if mso]></td></tr></table><![endif]-->",
            "a",
        ),
        ("<!--[if !mso]><!-->b<!--<![endif]-->", "b"),
        ("<![if !mso]>c<![endif]>", "c"),
        ("<o:p>d</o:p><v:rect fill=x>e</v:rect>", "de"),
    ] {
        assert_eq!(show(html), left, "{html}");
    }
}

#[test]
fn hidden_words_stay_hidden() {
    let preheader =
        "<div style=\"display:none;max-height:0;overflow:hidden;mso-hide:all\">Look</div>";
    assert_eq!(
        show(preheader),
        "<div style=\"display:none;max-height:0;overflow:hidden\">Look</div>"
    );
}

#[test]
fn remote_pictures_are_blocked_with_a_place_of_their_size_or_asked_for_at_our_address() {
    let html = "<img src=https://e.example/a.png width=600 height=200 alt=Lamp>\
                <td background='http://e.example/b.png'>\
                <p style='background:url(https://e.example/c.png)'>x</p>\
                <style>.h{background-image:url(\"https://e.example/d.png\")}</style>\
                <img src=https://e.example/t.gif width=1 height=1>";
    let blocked = mail_page(mail(html).as_bytes(), &BLOCKED).expect("a page");
    assert!(!blocked.html.contains("e.example") && !blocked.html.contains("<img"));
    assert!(!blocked.html.contains("/m/pictures"));
    assert!(body(&blocked).contains(
        "<span class=\"mailroom-picture\" style=\"width:600px;height:200px;aspect-ratio:600/200\">\
         Lamp</span>"
    ));
    let spacer = mail_page(mail("<img src=//e.example/s width=1 height=30>").as_bytes(), &BLOCKED);
    assert!(body(&spacer.expect("a page")).contains("class=\"mailroom-space\""));
    let shown = mail_page(mail(html).as_bytes(), &SHOWN).expect("a page");
    assert!(!shown.html.contains("e.example"));
    assert!(body(&shown).contains("src=\"/m/pictures/remote/0\""), "{}", shown.html);
    for found in [&blocked, &shown] {
        assert_eq!((found.remote_pictures, found.trackers), (3, 1));
    }
    let address = |number| remote_picture(mail(html).as_bytes(), number);
    assert_eq!(address(0).as_deref(), Some("https://e.example/a.png"));
    assert_eq!(address(2).as_deref(), Some("https://e.example/d.png"));
    assert_eq!(address(3), None, "trackers have no number");
}

const PICTURES: &str = "From: a@example.com\r\nContent-Type: multipart/related; boundary=b\r\n\r\n\
    --b\r\nContent-Type: text/html\r\n\r\n<img src=\"cid:one\"><img src=\"cid:two\">\
    <img src=\"cid:one\"><img src=\"cid:bad\">\r\n\
    --b\r\nContent-Type: image/png\r\nContent-ID: <one>\r\n\
    Content-Transfer-Encoding: base64\r\n\r\niVBORw0KGgo=\r\n\
    --b\r\nContent-Type: image/svg+xml\r\nContent-ID: <bad>\r\n\r\n<svg/>\r\n--b--\r\n";

#[test]
fn pictures_that_the_mail_brought_are_asked_for_by_address() {
    let page = mail_page(PICTURES.as_bytes(), &BLOCKED).expect("a page");
    let picture = "<img src=\"/m/pictures/2\">";
    assert_eq!(body(&page).trim(), picture.repeat(2));
    let found = inline_picture(PICTURES.as_bytes(), 2).expect("a picture");
    assert_eq!((found.content_type, found.bytes.len()), ("image/png", 8));
    for other in [0, 1, 3, 4, 99] {
        assert_eq!(inline_picture(PICTURES.as_bytes(), other), None, "{other}");
    }
}

#[test]
fn the_place_of_a_picture_is_kept_free_unless_the_mail_says_its_size() {
    let shown = |start: &str, attributes: &str, data: &str| {
        let raw = format!(
            "Content-Type: multipart/related; boundary=b\n\n--b\nContent-Type: text/html\n\n\
             {start}<img src=\"cid:one\"{attributes}>\n--b\nContent-Type: image/png\n\
             Content-ID: <one>\nContent-Transfer-Encoding: base64\n\n{data}\n--b--\n"
        );
        body(&mail_page(raw.as_bytes(), &BLOCKED).expect("a page")).trim().to_owned()
    };
    let (small, large) = ("iVBORw0KGgoAAAANSUhEUgAAAlgAAAEs", "iVBORw0KGgoAAAANSUhEUgAACgAAAAUA");
    for (data, size) in [(small, ("600", "300")), (large, ("1280", "640"))] {
        let picture = shown("", "", data);
        let (width, height) = (format!("width=\"{}\"", size.0), format!("height=\"{}\"", size.1));
        assert!(picture.contains(&width) && picture.contains(&height), "{picture}");
        assert!(picture.contains("height:auto"), "{picture}");
    }
    for attributes in [" width=80", " height=40", " style=\"max-width:50%\""] {
        assert!(!shown("", attributes, small).contains("600"), "{attributes}");
    }
    assert!(!shown("<style>img{height:40px}</style>", "", small).contains("600"));
}

#[test]
fn all_pictures_are_taken_apart_at_once_within_a_limit() {
    let found = mail_pictures(PICTURES.as_bytes(), 8).expect("a mail");
    assert_eq!(found.inline.len(), 1);
    assert_eq!((found.inline[0].0, found.size(), found.is_partial), (2, 8, false));
    let found = mail_pictures(PICTURES.as_bytes(), 7).expect("a mail");
    assert!(found.inline.is_empty() && found.is_partial);
    let html = "<img src=\"https://e.example/a.png\"><img src=\"https://e.example/b.png\">";
    let found = mail_pictures(mail(html).as_bytes(), 0).expect("a mail");
    assert_eq!(found.remote, ["https://e.example/a.png", "https://e.example/b.png"]);
}

#[test]
fn a_page_asks_for_so_many_pictures_and_no_more() {
    let count = OWN_PICTURES + 5;
    let tags: String = (0..count).map(|n| format!("<img src=cid:p{n}>")).collect();
    let part = |n| format!("--b\nContent-Type: image/png\nContent-ID: <p{n}>\n\nx\n");
    let parts: String = (0..count).map(part).collect();
    let raw = format!(
        "Content-Type: multipart/related; boundary=b\n\n--b\nContent-Type: text/html\n\n{}\n{parts}--b--\n",
        tags.repeat(20)
    );
    let page = mail_page(raw.as_bytes(), &BLOCKED).expect("a page");
    assert!(page.html.matches("<img").count() <= PAGE_IMAGES);
    assert!(!page.html.contains("/m/pictures/53"), "{}", page.html);
    assert!(page.html.len() < 40_000, "{}", page.html.len());
}

#[test]
fn links_open_apart_and_those_that_show_another_domain_are_marked() {
    let found = page(
        "<a href=https://evil.com/x title=nice>www.bank.com</a> and <a href=https://bank.com>bank.com</a>",
    );
    assert_eq!(
        body(&found),
        "<a href=\"https://evil.com/x\" target=\"_blank\" rel=\"noopener noreferrer nofollow\" \
         title=\"https://evil.com/x\">www.bank.com</a><span class=\"mailroom-goes\">goes to \
         evil.com</span> and <a href=\"https://bank.com/\" target=\"_blank\" rel=\"noopener \
         noreferrer nofollow\" title=\"https://bank.com/\">bank.com</a>"
    );
    assert_eq!(found.marked_links, 1);
    let hidden = page("<a href=https://evil.com>bank.com<i style='display:none'> or so</i></a>");
    assert_eq!(hidden.marked_links, 1);
}

/// Marks of a link to evil.com with these words, in a mail with this sheet.
fn marks(sheet: &str, words: &str) -> usize {
    page(&format!("<style>{sheet}</style><div><a href=https://evil.com/x>{words}</a></div>"))
        .marked_links
}

#[test]
fn words_that_nobody_sees_take_no_mark_away() {
    for words in [
        "bank.com<i style='font-size:0'>x</i>",
        "ba<i style='display:none'>x</i>nk.c<i style='display:none'> y </i>om",
        "bank<i style='font-size:0'> </i>.com",
        "<i style='font-size:0'>evil.com/ </i>bank.com",
        "bank.com<i style='opacity:0'> evil</i>",
        "bank.com<i style='color:transparent'>evil</i>",
        "bank.com<i style='color:#fff'>evil</i>",
        "bank.com<i style='display:inline-block;text-indent:-999px;overflow:hidden'>evil</i>",
        "bank.com<i style='display:inline-block;width:1px;overflow:hidden'>evil</i>",
        "bank.com<i class=a>evil</i>",
        "bank.com<i class=b>evil</i>",
        "bank.com<i class=c>evil</i>",
        "bank.com<i class=d style='font-size:0'>evil</i>",
        "<i class=e style='font-size:0'>bank.com</i>Log in",
        "ba\u{200b}nk.com",
        "bank\u{ff0e}com",
        "bank.com\u{3164}evil",
        "bank.com<br>Log in",
        "bank<div style='display:inline'>.com</div>",
        "bank<br class=a>.com",
        "Log in to www.bank.com",
        "<bdo dir=rtl>moc.knab</bdo>",
        "<i style='unicode-bidi:bidi-override;direction:rtl'>moc.knab</i>",
        "\u{202e}moc.knab\u{202c}",
        "https://bank.com@evil.com/",
        "ann@bank.com",
        "Write to <b>ann</b>@bank.com",
        "bank.</a><a href=https://evil.com/y>com",
        "bank</a><b></b><a href=https://evil.com/y>.com</a><a href=https://evil.com/z>/in",
    ] {
        let sheet = ".a{display:none} @media (min-width:1px){.b{display:none}} \
                     div .c{display:none} .e{font-size:12px!important}";
        assert_eq!(marks(sheet, words), 1, "{words}");
    }
}

#[test]
fn words_that_nobody_sees_make_no_mark() {
    for words in [
        "Log in<i style='font-size:0'>bank.com</i>",
        "<i style='display:none'>bank.com</i> Log in",
        "<i style='opacity:0'>bank.com</i>",
        "<i style='visibility:hidden'>bank.com</i>Log in",
        "<i class=a>bank.com</i>Log in",
        "evil.com",
        "<b>shop</b>.<i>evil</i>.com",
        "ann@evil.com",
        "Only now.<br>It ends",
        "bank.</a> <a href=https://evil.com/y>com",
        "bank.</a><br><a href=https://evil.com/y>com",
        "Log in",
    ] {
        assert_eq!(marks(".a{display:none}", words), 0, "{words}");
    }
    // What a mail program of ours takes off its styles is seen.
    assert_eq!(marks("", "<i style='position:absolute;left:-9999px'>bank.com</i>Log in"), 1);
}

#[test]
fn nothing_around_a_mark_cuts_it_off() {
    let page = page(
        "<div class=x style='height:1em;overflow:hidden'><p>a</p><p>\
         <a href=https://evil.com style='font-size:0;color:transparent'><b style='font-size:12px'>\
         <font color=black>bank.com</font></b></a></p><a href=https://evil.com>bank.com</a></div>",
    );
    assert_eq!(page.marked_links, 2);
    let body = body(&page);
    assert!(body.starts_with("<div class=\"x mailroom-holds\""), "{body}");
    assert_eq!(body.matches("mailroom-holds").count(), 2, "{body}");
    assert_eq!(body.matches("</a><span class=\"mailroom-goes\">").count(), 2, "{body}");
}

#[test]
fn a_flood_of_addresses_costs_little_and_is_marked() {
    let many: String = (0..=LINK_WORDS).map(|n| format!("h{n}.evil.com ")).collect();
    assert_eq!(marks("", &many), 1);
    assert_eq!(marks("", &many[..many.len() / 2]), 0);
}

/// Own words over history, as mail programs write it.
const REPLIES: &[(&str, &str)] = &[
    (
        "Gmail",
        "<div dir=ltr>Own</div><br><div class=gmail_quote><div dir=ltr class=gmail_attr>On Mon, 6 May 2024 \
         Ann wrote:<br></div><blockquote class=gmail_quote><div>Old</div></blockquote></div>",
    ),
    (
        "Apple Mail",
        "<div>Own</div><div><br><blockquote type=cite><div>On 6 May 2024, at 10:00, Ann wrote:</div>\
         <br><div>Old</div></blockquote></div>",
    ),
    (
        "Apple Mail, older",
        "<div>Own</div><br><div><div>On May 6, 2024, at 10:00 AM, Ann &lt;a@x.example&gt; wrote:</div>\
         <blockquote type=cite>Old</blockquote></div>",
    ),
    (
        "Outlook on the web",
        "<div>Own</div><div id=appendonsend></div><hr><div id=divRplyFwdMsg><b>From:</b> Ann<br>\
         <b>Sent:</b> Monday</div><div>Old</div>",
    ),
    (
        "Outlook",
        "<div class=WordSection1><p>Own</p><div style='border:none;border-top:solid #E1E1E1 1.0pt;\
         padding:3.0pt 0cm 0cm 0cm'><p><b>From:</b> Ann</p></div><p>Old</p></div>",
    ),
    (
        "Thunderbird",
        "<p>Own</p><div class=moz-cite-prefix>On 5/6/24 10:00, Ann wrote:<br></div>\
         <blockquote type=cite>Old</blockquote>",
    ),
    (
        "Yahoo",
        "<div>Own</div><div id=yahoo_quoted_1 class=yahoo_quoted><div>On Monday, Ann wrote:</div>\
         <div>Old</div></div>",
    ),
    (
        "Proton",
        "<div>Own</div><div class=protonmail_quote>On Monday, May 6th, Ann wrote:<br>\
         <blockquote class=protonmail_quote type=cite>Old</blockquote></div>",
    ),
    (
        "GMX",
        "<div>Own</div><div name=quote style='margin:10px'><div><b>Gesendet:</b> Montag</div>\
         <div name=quoted-content>Old</div></div>",
    ),
    (
        "a program that marks nothing",
        "<div>Own</div><hr>\n<b>Von:</b> Ann &lt;a@x.example&gt;<br>\n<b>Gesendet:</b> Montag, 6. Mai<br>\n\
         <b>An:</b> Bo<br><b>Betreff:</b> Lampen<br><br><div>Old</div>",
    ),
    (
        "another program",
        "<p>Own</p><p>Am 06.05.2024 um 16:37 schrieb Ann &lt;a@x.example&gt;:</p>\
         <blockquote>Old</blockquote>",
    ),
];

#[test]
fn history_is_folded_behind_one_button() {
    for (program, html) in REPLIES {
        let page = page(html);
        assert!(page.quoted_lines > 0, "{program}: {}", body(&page));
        let (own, folded) = body(&page)
            .split_once("<details class=\"mailroom-quoted\"><summary>")
            .unwrap_or_else(|| panic!("{program}"));
        assert!(own.contains("Own") && !own.contains("Old"), "{program}: {own}");
        assert!(!own.contains("wrote") && !own.contains("schrieb"), "{program}: {own}");
        assert!(folded.contains("Old") && folded.ends_with("</details>"), "{program}: {folded}");
        assert_eq!(folded.matches("<details").count(), 0, "{program}");
    }
}

#[test]
fn forwarded_mail_and_answers_between_the_lines_are_not_folded() {
    for html in [
        "<div>Look</div><div class=gmail_quote><div class=gmail_attr>---------- Forwarded message \
         ---------<br>From: Ann</div><div>News</div></div>",
        "<div>Look</div><blockquote type=cite><div>Begin forwarded message:</div><div>News</div></blockquote>",
        "<p>Look</p><div class=moz-forward-container>-------- Forwarded Message --------<br>News</div>",
        "<div class=gmail_quote><div class=gmail_attr>On Mon Ann wrote:</div><blockquote \
         class=gmail_quote>One?</blockquote><div>Yes</div><blockquote class=gmail_quote>Two?\
         </blockquote><div>No</div></div>",
        "<p>Hi</p><blockquote type=cite>One?</blockquote><p>Yes</p>",
        "<p>As she said:</p><blockquote>Be kind</blockquote>",
        "<p>Look</p><div>---------- Forwarded message ---------</div><div>From: Ann &lt;a@x.example&gt;</div>\
         <div>Date: Monday</div><div>Subject: News</div><div>To: Bo</div><p>News</p>",
        "<p>A new booking:</p><p>From: Ann<br>Phone: 12<br>Subject: News</p>",
        "<blockquote type=cite>Only history</blockquote>",
        "<p>No history</p>",
    ] {
        let page = page(html);
        assert_eq!(page.quoted_lines, 0, "{}", body(&page));
        assert!(!page.html.contains("<details"), "{html}");
    }
    let forwarded = mail(REPLIES[3].1).replace("Subject: x", "Subject: FW: x");
    let page = mail_page(forwarded.as_bytes(), &SHOWN).expect("a page");
    assert_eq!(page.quoted_lines, 0);
}

#[test]
fn a_page_beyond_the_bounds_is_none() {
    let deep = mail(&format!("Hello{}", "<div>".repeat(1_000)));
    assert_eq!(mail_page(deep.as_bytes(), &BLOCKED), None);
    assert_eq!(remote_picture(deep.as_bytes(), 0), None);
}
