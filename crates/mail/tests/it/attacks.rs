//! Mails made to break their reader.

use std::fs;
use std::time::{Duration, Instant};

use mail::{Envelope, PageAddresses, ParsedMail, PictureUrls, RemotePictures, inspect, parse};

/// The processor's time that a mail made for the purpose may take here, in a debug build.
const LONGEST: Duration = Duration::from_secs(40);

/// The stack of a thread of the server, and of any thread that says nothing about it.
const SMALL_STACK_BYTES: usize = 2 << 20;

fn read(raw: &[u8]) -> ParsedMail {
    in_time(|| parse(raw, Envelope::default()))
}

/// Does something that must not take longer than is allowed.
pub fn in_time<T>(work: impl FnOnce() -> T) -> T {
    let (began, ran_before) = (Instant::now(), ran());
    let done = work();
    let took = match (ran_before, ran()) {
        (Some(before), Some(after)) => after - before,
        _ => began.elapsed(),
    };
    assert!(took < LONGEST, "took {took:?}");
    done
}

/// How long this thread has run, where the system tells: a busy machine must not fail a test.
fn ran() -> Option<Duration> {
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

#[test]
fn names_and_subjects_cannot_inject_headers() {
    let raw = "From: =?utf-8?Q?Ann=0D=0ABcc:_eve@x.example=00?= <ann@x.example>\n\
               To: =?utf-8?B?QQ0KU3ViamVjdDogeA==?= <support@acme.example>\n\
               Subject: =?utf-8?Q?Hi=0D=0A=0D=0ABody?=\n\nhello";
    let mail = read(raw.as_bytes());
    let from = mail.from.unwrap();
    assert_eq!(from.name.as_deref(), Some("Ann Bcc: eve@x.example"));
    assert_eq!(from.email, "ann@x.example");
    assert_eq!(mail.to[0].name.as_deref(), Some("A Subject: x"));
    assert_eq!(mail.subject, "Hi Body");
}

#[test]
fn an_address_cannot_hide_another() {
    for from in
        ["<ann@x.example\r\n>, <eve@y.example>", "<a b@x.example>", "<@x.example>", "@", "<>"]
    {
        let mail = read(format!("From: {from}\n\nhello").as_bytes());
        if let Some(from) = mail.from {
            assert!(mail::is_address(&from.email), "{from:?}");
        }
    }
}

#[test]
fn ten_thousand_parts_are_read_as_far_as_the_limit() {
    let part = "--b\nContent-Type: application/pdf; name=a.pdf\n\nx\n";
    let raw =
        format!("Content-Type: multipart/mixed; boundary=b\n\n{}--b--\n", part.repeat(10_000));
    let mail = read(raw.as_bytes());
    assert_eq!(mail.attachments.len(), 250);
    let texts = format!(
        "Content-Type: multipart/mixed; boundary=b\n\n{}--b--\n",
        "--b\nContent-Type: text/plain\n\nx\n".repeat(10_000)
    );
    assert!(read(texts.as_bytes()).original.len() <= 20_000);
}

/// Runs something where little stack is left, as on a thread of the server.
fn on_small_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(SMALL_STACK_BYTES);
        thread.spawn_scoped(scope, || in_time(work)).expect("a thread").join().expect("no panic")
    })
}

/// Everything that is ever done with a mail.
fn use_whole(raw: &[u8]) -> ParsedMail {
    on_small_stack(|| {
        let addresses = PageAddresses { pictures: "/p", remote: RemotePictures::Shown };
        mail::mail_page(raw, &addresses);
        mail::original(raw);
        mail::whole_text(raw);
        mail::calendar_part(raw);
        mail::forwarded_html(raw, "/p");
        mail::mail_pictures(raw, 1_000_000);
        if let Some(inner) = mail::attached_mail(raw, &[0]) {
            parse(&inner, Envelope::default());
            mail::attached_mail(&inner, &[0, 0]);
        }
        inspect("attack", raw);
        parse(raw, Envelope::default())
    })
}

/// Reads a page for its words and as it is shown.
fn use_page(html: &str) -> ParsedMail {
    let raw = format!("Content-Type: text/html\n\n{html}");
    on_small_stack(|| {
        let addresses = PageAddresses { pictures: "/p", remote: RemotePictures::Shown };
        mail::mail_page(raw.as_bytes(), &addresses);
        parse(raw.as_bytes(), Envelope::default())
    })
}

#[test]
fn mails_within_mails_do_not_exhaust_the_stack() {
    for kind in [
        "message/rfc822",
        "message/ rfc822",
        "message /rfc822",
        "message\n /rfc822",
        "message/\n rfc822",
        "message\r\n\t/\t rfc822",
        "message(a comment)/rfc822",
        "message/(a comment)rfc822",
        "(a)message(b)/(c)rfc822(d); charset=x",
        "MESSAGE/RFC822",
        "message/global",
        "\"message\"/\"rfc822\"",
        "message\\/rfc822",
    ] {
        let raw = format!("Content-Type: {kind}\n\n").repeat(30_000);
        let mail = use_whole(raw.as_bytes());
        assert!(mail.attachments.len() <= 1 && !mail.unread, "{kind}");
        let garbage = format!("Content-Type: {kind}\nnothing\n \n").repeat(20_000);
        use_whole(garbage.as_bytes());
        let spaced = format!("C o n t e n t - T y p e : {kind}\n\n").repeat(20_000);
        use_whole(spaced.as_bytes());
    }
}

#[test]
fn encoded_mails_within_mails_do_not_exhaust_the_stack() {
    use base64::Engine;
    let inner = "Content-Type: message/rfc822\n\n".repeat(60_000);
    let encode = |inner: &str| {
        let text = base64::engine::general_purpose::STANDARD.encode(inner);
        text.as_bytes()
            .chunks(76)
            .map(|line| format!("{}\n", String::from_utf8_lossy(line)))
            .collect::<String>()
    };
    let head = "Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n";
    let once = format!("{head}{}", encode(&inner));
    let twice = format!("{head}{}", encode(&once));
    let thrice = format!("{head}{}", encode(&twice));
    let by_word = once.replacen("base64", "=?us-ascii?q?base64?=", 1);
    let quoted = format!(
        "Content-Type: message/ rfc822\nContent-Transfer-Encoding: quoted-printable\n\n{}",
        inner.replace('/', "=2F")
    );
    for raw in [once, twice, thrice, by_word, quoted] {
        let mail = use_whole(raw.as_bytes());
        assert_eq!(mail.attachments.len(), 1);
        assert_eq!(mail.attachments[0].content_type, "message/rfc822");
    }
}

#[test]
fn an_encoded_mail_is_opened_like_any_other() {
    let raw = "From: a@x.example\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nSee\n--b\n\
               Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n\
               U3ViamVjdDogTGFtcAoKSGVsbG8K\n--b--\n";
    let mail = read(raw.as_bytes());
    assert_eq!((mail.text.as_str(), mail.attachments[0].filename.as_str()), ("See", "Lamp.eml"));
    let inner = mail::attached_mail(raw.as_bytes(), &[0]).expect("a mail");
    assert_eq!(read(&inner).text, "Hello");
}

#[test]
fn digests_within_digests_do_not_exhaust_the_stack() {
    for kind in
        ["multipart/digest", "multipart /digest", "Multipart/ Digest", "multipart(x)/digest"]
    {
        let level = |n: usize| format!("Content-Type: {kind}; boundary=b{n}\n\n--b{n}\n\n");
        let raw: String = (0..10_000).map(level).collect();
        use_whole(raw.as_bytes());
        let same = format!("Content-Type: {kind}; boundary=b\n\n--b\n\n").repeat(20_000);
        use_whole(same.as_bytes());
    }
}

#[test]
fn multiparts_within_multiparts_are_read_as_far_as_the_limit() {
    for kind in ["multipart/mixed", "multipart /mixed", "multipart/\talternative", "multipart"] {
        let level = |n: usize| format!("Content-Type: {kind}; boundary=b{n}\n\n--b{n}\n");
        let raw: String = (0..10_000).map(level).collect();
        use_whole(raw.as_bytes());
    }
    let level = |n: usize| format!("Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n");
    let raw: String = (0..10).map(level).collect::<String>() + "\nHello\n--b9--\n--b8--\n--b7--\n";
    assert_eq!(read(raw.as_bytes()).text, "Hello");
}

#[test]
fn boundaries_that_never_come_are_not_looked_for_forever() {
    for kind in ["multipart/mixed", "multipart /mixed", "multipart(x)/mixed", "multipart/ x"] {
        let part = |n: usize| format!("--b\nContent-Type: {kind}; boundary=never{n}\n\nx\n");
        let parts: String = (0..5_000).map(part).collect();
        let filler = "x\n".repeat(500_000);
        let raw = format!("Content-Type: multipart/mixed; boundary=b\n\n{parts}{filler}\n--b--\n");
        assert!(!use_whole(raw.as_bytes()).unread);
    }
}

#[test]
fn floods_of_parts_and_fields_take_little_time() {
    let whole = |parts: &str| format!("Content-Type: multipart/mixed; boundary=b\n\n{parts}");
    for parts in [
        "--b\n".repeat(200_000),
        "--b\n\n".repeat(200_000),
        "--b--\n".repeat(200_000),
        "--\n".repeat(200_000),
        "--b\nContent-Transfer-Encoding: base64\n\n".repeat(100_000),
        "--b\nContent-Type: message/rfc822\n\nSubject: x\n\n".repeat(80_000),
        format!("--b\n{}\n\n", "a:\n".repeat(200_000)),
        format!("--b\nContent-Type: text/plain{}\n\n", ";a*1=x".repeat(600_000)),
        format!(
            "--b\nContent-Type: text/plain{}; x*={}\n\n",
            ";a=b".repeat(500_000),
            "'".repeat(1_000_000)
        ),
        format!("--b\nContent-Description: {}\n\n", "=?aa?q?x ".repeat(300_000)),
        format!("--b\nContent-Type: text/plain;\n{}\n\n", " a*0=x;\n".repeat(300_000)),
    ] {
        use_whole(whole(&parts).as_bytes());
    }
    for field in [
        format!("Content-Type: text/plain{}", ";a*1=x".repeat(40_000)),
        format!("C o n tent-Type: text/plain{}", ";a*1=x".repeat(40_000)),
        format!("Subject: {}", "=?aa?q?x ".repeat(28_000)),
        format!("To: {}", "=?aa?q?x ".repeat(28_000)),
        format!("To: {}=zz ?=", "=?aa?q?x ".repeat(28_000)),
        format!("To: {}", "(".repeat(250_000)),
        format!("From: {}", "\"".repeat(250_000)),
        format!("Cc: {}", "a:;".repeat(80_000)),
    ] {
        use_whole(format!("{field}\nX: y\n\nhello").as_bytes());
    }
}

#[test]
fn styles_within_styles_do_not_exhaust_the_stack() {
    let mail = |css: &str, html: &str| use_page(&format!("<style>{css}</style>{html}"));
    for open in [
        "@media all{",
        "@media screen{",
        "@media (min-width:1px){",
        "@media{@media{",
        "@supports(x){",
        "@layer a{",
        "a{",
        "{",
        "(",
        "[",
        ":not(",
        ":is(a,",
        "@media all{a{",
        "/*",
        "\\",
        "@import url(",
        "a{b:calc(",
        "a{b:var(--a,",
        "@media not (",
        "}",
        ";",
    ] {
        let read = mail(&open.repeat(8_200), "<p>seen</p>");
        assert!(read.original.contains("seen"), "{open}: {}", read.original);
        let style = open.repeat(2_000).replace('"', "");
        mail("", &format!("<p style=\"{style}\">seen</p>"));
    }
    for open in ["@media all{", "a{", "@media all{a{"] {
        let most = 250_000 / open.len();
        mail(&open.repeat(most), "<p>seen</p>");
        mail(&format!("{}{}", open.repeat(most / 2), "}".repeat(most / 2)), "<p>seen</p>");
    }
    // What stands in conditions that hold everywhere still counts, whatever came before.
    let deep = format!("{}{}", "@media all{".repeat(5_000), "}".repeat(5_000));
    let page = mail(&format!("{deep}@media screen{{i{{display:none}}}}"), "<p>seen <i>hid</i></p>");
    assert_eq!(page.page_text.trim(), "seen");
}

#[test]
fn many_classes_and_rules_take_little_time() {
    let names: Vec<String> = (0..16).map(|n| format!("c{n}")).collect();
    let rules: String = (0..16)
        .flat_map(|first| (0..16).map(move |place| (first, place)))
        .map(|(first, place)| format!(".c{first}{}.x{place}{{color:red}}", ".c1".repeat(14)))
        .collect();
    let many = "a ".repeat(200_000);
    let element = format!("<i class=\"{}\">", names.join(" "));
    for html in [
        format!("<style>{rules}</style><p class=\"c0 c1 {many}\">x"),
        format!("<style>{rules}</style>{}", element.repeat(400_000 / element.len())),
        format!("<style>{}</style><p class=\"{many}\">x", ".a.a{color:red}".repeat(15_000)),
        format!("<style>{}</style><p>x", "a,".repeat(120_000)),
        format!("<p {}>x", "a ".repeat(200_000)),
        format!("<p style=\"{}\">x", "color:red;".repeat(50_000)),
    ] {
        use_page(&html);
    }
}

#[test]
fn texts_within_texts_do_not_exhaust_the_stack() {
    let pictures = PictureUrls { before: "/p/", behind: "" };
    for open in [
        "> ", "- ", "* ", "1. ", "[", "![", "**", "_", "`", "<a ", "(", "[a](", "  - ", "\\", "&",
        "| ",
    ] {
        for text in [open.repeat(8_000), format!("{open}\n").repeat(4_000)] {
            on_small_stack(|| {
                mail::markdown_html(&text, pictures);
                mail::markdown_text(&text);
                mail::markdown_pictures(&text);
                mail::text_blocks(&text);
                mail::trim(&text);
                mail::contact_cards(text.as_bytes());
            });
        }
    }
    for open in [
        "<div>",
        "<b>",
        "<table><tr><td>",
        "<svg>",
        "<math><mi>",
        "<template>",
        "<select>",
        "<ul><li>",
        "<a href=x>",
        "<!--",
        "<![CDATA[",
        "<style>",
        "<p><i>",
        "<object>",
        "<button>",
        "<font color=red>",
        "<ruby><rt>",
    ] {
        use_page(&format!("{}x", open.repeat(200_000 / open.len())));
    }
}

#[test]
fn a_megabyte_of_header_is_cut() {
    let raw = format!("From: a@x.example\nX-Junk: {}\n\nhello", "y".repeat(1_000_000));
    let mail = read(raw.as_bytes());
    assert_eq!(mail.from.unwrap().email, "a@x.example");
    assert_eq!(mail.text, "hello");
    let raw = format!("{}From: a@x.example\n\nhello", "X: y\n".repeat(300_000));
    assert_eq!(read(raw.as_bytes()).text, "hello");
    let raw = format!("To: {}\n\nhello", "a@x.example, ".repeat(80_000));
    assert!(read(raw.as_bytes()).to.len() <= 500);
    let raw = format!("Subject: {}\n\nhello", "=?utf-8?Q?=41?= ".repeat(60_000));
    assert!(read(raw.as_bytes()).subject.chars().count() <= 998);
}

#[test]
fn huge_html_is_bounded() {
    let raw = |html: &str| format!("Content-Type: text/html\n\n{html}").into_bytes();
    assert!(read(&raw(&"<div>".repeat(400_000))).text.is_empty());
    let quotes = read(&raw(&"<blockquote>a".repeat(100_000)));
    assert!(quotes.original.len() <= 1_100_000, "{}", quotes.original.len());
    assert!(read(&raw(&"<a href='http://x.example'>y</a>".repeat(60_000))).links.len() <= 500);
    read(&raw(&format!("<p style=\"{}\">x", "a:b;".repeat(300_000))));
    read(&raw(&"&#x110000;&bogus;<!-- <".repeat(100_000)));
}

#[test]
fn long_lines_and_many_near_misses_take_little_time() {
    for text in [
        "On 6 May 2024 ".repeat(50_000),
        "On 6 May 2024\n".repeat(50_000),
        "From: a@x.example\n".repeat(50_000),
        "----\n".repeat(100_000),
        "> ".repeat(300_000),
        ">\n".repeat(300_000),
        "Sent from my \n".repeat(50_000),
        "On 6 May 2024 at 10:00 a@x.example wrote:\n".repeat(20_000),
        "```\n".repeat(100_000),
        format!("a\n{}> q\nb", "Sent from my iPhone\n".repeat(50_000)),
    ] {
        read(format!("From: mailer-daemon@x.example\n\n{text}").as_bytes());
    }
}

#[test]
fn nothing_unstorable_comes_out() {
    let raw = b"From: A\0nn <ann@x.example>\nSubject: a\0b\x1b[2J\nContent-Type: text/plain\n\nx\0y\x07z\x1b[31m";
    let seen = serde_json::to_string(&inspect("f", raw)).unwrap();
    for bad in ["\\u0000", "\\u0007", "\\u001b"] {
        assert!(!seen.contains(bad), "{seen}");
    }
}
