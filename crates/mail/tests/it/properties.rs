//! Rules that hold for any bytes.

use mail::{
    Address, Authentication, Envelope, SenderHistory, check, inspect_text, is_address, parse,
    plus_tag, reply_address, token_of_address, trim,
};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_bytes_are_read_and_can_be_stored(raw in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        storable(&raw)?;
    }

    #[test]
    fn anything_like_a_mail_is_read_and_can_be_stored(raw in mailish()) {
        storable(raw.as_bytes())?;
    }

    #[test]
    fn trimming_only_leaves_out(text in textish()) {
        let trimmed = trim(&text);
        let mut lines = text.lines().map(str::trim_end);
        for line in trimmed.lines() {
            prop_assert!(lines.any(|own| own == line.trim_end()), "{line:?} is not in {text:?}");
        }
    }

    #[test]
    fn plain_words_are_never_cut(text in "([a-z]{1,9}( [a-z]{1,9}){0,5}\n){1,6}") {
        prop_assert_eq!(trim(&text), text.trim());
    }

    #[test]
    fn words_above_history_stay(own in "([a-z]{2,9}( [a-z]{1,9}){0,5}\n){1,6}", which in 0..HISTORY.len()) {
        let text = format!("{own}\n{}", HISTORY[which]);
        prop_assert_eq!(trim(&text), own.trim());
    }

    #[test]
    fn words_below_quotes_are_never_lost(own in "[a-z]{2,9}( [a-z]{1,9}){0,5}", below in "[a-z]{2,9}( [a-z]{1,9}){0,5}") {
        let text = format!("{own}\n\nOn 6 May 2024 at 10:00 Ann <a@x.example> wrote:\n> old\n\n{below}\n");
        let trimmed = trim(&text);
        prop_assert!(trimmed.starts_with(&own) && trimmed.ends_with(&below), "{trimmed:?}");
    }

    #[test]
    fn addresses_keep_their_form(name in ".{0,40}", email in ".{0,80}") {
        let address = Address::new(Some(&name), &email);
        prop_assert!(address.email.chars().count() <= 254);
        prop_assert_eq!(is_address(&address.email), is_address(&address.email.to_uppercase()));
        let (base, reference) = plus_tag(&email);
        // Composing a character again may take it apart into up to three.
        prop_assert!(base.chars().count() <= 3 * email.to_lowercase().chars().count());
        prop_assert!(reference.is_none_or(|reference| reference.len() <= 40));
    }

    #[test]
    fn tokens_lead_back_and_cannot_be_changed(
        secret in proptest::collection::vec(any::<u8>(), 1..40),
        id in "[0-9a-z]{1,26}",
        at in 0usize..60,
        letter in "[0-9a-z]",
    ) {
        let address = reply_address(&secret, "support@acme.example", &format!("cnv_{id}")).unwrap();
        let token = token_of_address(&secret, &address);
        prop_assert_eq!(token, Some(mail::AddressToken::Conversation(format!("cnv_{id}"))));
        let mut changed: Vec<char> = address.chars().collect();
        let place = at % changed.len();
        let letter = letter.chars().next().unwrap();
        if changed[place] != letter {
            changed[place] = letter;
            let changed: String = changed.into_iter().collect();
            prop_assert_eq!(token_of_address(&secret, &changed), None);
        }
    }
}

const HISTORY: &[&str] = &[
    "On 6 May 2024 at 10:00 Ann <a@x.example> wrote:\n> old\n",
    "Le lun. 6 mai 2024 à 16:37, Ann <a@x.example> a écrit :\n\n> vieux\n",
    "Am 06.05.2024 um 16:37 schrieb Ann:\n\nalt\n",
    "-----Original Message-----\nFrom: Ann\nSent: Monday\nTo: Bob\nSubject: x\n\nold\n",
    "De: Ann <a@x.example>\nEnviado: lunes\nPara: Bob\nAsunto: x\n\nviejo\n",
    "在 2024年5月6日，下午4:37，Ann <a@x.example> 写道：\n> 旧\n",
    "> quoted to the end\n> and on\n",
    "-- \nAnn\n",
    "Sent from my iPhone\n",
];

pub fn storable(raw: &[u8]) -> Result<(), TestCaseError> {
    let mail = parse(raw, Envelope::default());
    let names = mail.to.iter().chain(&mail.cc).chain(&mail.from).filter_map(|a| a.name.as_ref());
    let lines = names.chain([&mail.subject]).chain(mail.attachments.iter().map(|f| &f.filename));
    for line in lines {
        prop_assert!(!line.contains(char::is_control), "{line:?}");
    }
    for text in [&mail.text, &mail.original] {
        prop_assert!(
            !text.contains(|c: char| c.is_control() && c != '\n' && c != '\t'),
            "{text:?}"
        );
    }
    prop_assert!(mail.html.is_none_or(|html| !html.contains('\0')));
    prop_assert!(
        mail.attachments.iter().all(|f| !f.filename.is_empty() && !f.filename.contains('/'))
    );
    prop_assert!(mail.from.is_none_or(|from| is_address(&from.email)));
    inspect_text("f", raw);
    let mail = parse(raw, Envelope { sender: Some("") });
    let verdict = check(&mail, &Authentication::default(), &SenderHistory::default());
    prop_assert!(verdict.score.is_finite() && verdict.reasons.len() <= 3);
    Ok(())
}

/// Headers, boundaries and bodies thrown together.
fn mailish() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("From: \"A, b\" <a@x.example>\n".to_owned()),
        Just("Subject: =?utf-8?B?w7w=?= =?iso-2022-jp?Q?=1B$B?=\n".to_owned()),
        Just("Content-Type: multipart/mixed; boundary=b\n".to_owned()),
        Just(
            "Content-Type: multipart/report; report-type=delivery-status; boundary=\"b\"\n"
                .to_owned()
        ),
        Just("Content-Type: text/html; charset=utf-16\n".to_owned()),
        Just("Content-Type: text/plain; format=flowed; delsp=yes\n".to_owned()),
        Just("Content-Type: message/rfc822\n".to_owned()),
        Just("Content-Type: message/delivery-status\n".to_owned()),
        Just("Content-Transfer-Encoding: base64\n".to_owned()),
        Just("Content-Transfer-Encoding: quoted-printable\n".to_owned()),
        Just(
            "Content-Disposition: attachment; filename*0*=utf-8''%2e%2e%2fa; filename*1=b\n"
                .to_owned()
        ),
        Just("Final-Recipient: rfc822;a@x.example\nAction: failed\nStatus: 5.1.1\n".to_owned()),
        Just("References: <a@x> <b\n".to_owned()),
        Just("Return-Path: <>\n".to_owned()),
        Just("--b\n".to_owned()),
        Just("--b--\n".to_owned()),
        Just("\n".to_owned()),
        Just("<blockquote class=gmail_quote><a href=http://1.2.3.4>x.com</a>\n".to_owned()),
        Just("=E2=82=AC=\n".to_owned()),
        Just("> On 6 May 2024 a@x.example wrote:\n".to_owned()),
        "[ -~]{0,60}\n",
        ".{0,30}\n",
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Lines that trimming looks at.
fn textish() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("On 6 May 2024 at 10:00 Ann <a@x.example> wrote:".to_owned()),
        Just("Am 06.05.2024 um 16:37 schrieb Ann:".to_owned()),
        Just("-----Original Message-----".to_owned()),
        Just("From: Ann <a@x.example>".to_owned()),
        Just("Sent: Monday".to_owned()),
        Just("Subject: x".to_owned()),
        Just("> quoted".to_owned()),
        Just(">> deeper, which was long enough to be broken by a program in the".to_owned()),
        Just("A> quoted".to_owned()),
        Just("--".to_owned()),
        Just("_______".to_owned()),
        Just("Sent from my iPhone".to_owned()),
        Just("```".to_owned()),
        Just(String::new()),
        "[a-z ]{0,30}",
        "[ -~]{0,40}",
    ];
    proptest::collection::vec(line, 0..30).prop_map(|lines| lines.join("\n"))
}
