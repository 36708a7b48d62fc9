//! What of an answer is the writer's own.

use mail::trim;

/// Each text is what was sent; `│` stands before the lines that must stay.
fn check(marked: &str) {
    let lines: Vec<&str> = marked.trim_matches('\n').lines().map(str::trim_start).collect();
    let text: Vec<&str> = lines.iter().map(|line| line.strip_prefix('│').unwrap_or(line)).collect();
    let own = lines.iter().filter_map(|line| line.strip_prefix('│')).map(str::trim_end);
    let own: Vec<&str> = own.collect();
    for end in ["\n", "\r\n"] {
        assert_eq!(trim(&text.join(end)), own.join("\n"), "of {:?}", text.join(end));
    }
}

#[test]
fn an_answer_above_quotes_is_the_answer() {
    check(
        "
        │Thank you!
        │
        │Ann

        On Mon, May 6, 2024 at 4:37 PM Acme Support <
        support@acme.example> wrote:

        > Dear Ann,
        > it is on its way.
        ",
    );
}

#[test]
fn an_answer_below_quotes_is_the_answer() {
    check(
        "
        Am 06.05.2024 um 16:37 schrieb Acme:
        > Dear Ann,
        > it is on its way.

        │It has arrived.
        ",
    );
}

#[test]
fn answers_between_quotes_keep_what_they_answer() {
    check(
        "
        │Hello,
        On 6 May 2024 at 16:37, Acme wrote:
        │> Red?
        │Yes.
        │> Blue?
        │No.
        > Greetings
        ",
    );
}

#[test]
fn history_without_quote_signs_goes_with_its_header() {
    check(
        "
        │It works now.

        ________________________________
        From: Acme Support <support@acme.example>
        Sent: Monday, May 6, 2024 4:37 PM
        To: Ann
        Subject: Lamp

        Dear Ann, does it work?
        ",
    );
    check(
        "
        │Es geht.

        -----Ursprüngliche Nachricht-----
        Von: Acme
        Gesendet: Montag
        An: Ann
        Betreff: Lampe

        Geht es?
        ",
    );
}

#[test]
fn what_stands_under_a_forward_alone_is_kept() {
    check(
        "
        ---------- Forwarded message ---------
        From: Bob <bob@x.example>
        Date: Mon, May 6, 2024
        Subject: Broken
        lamp
        To: Ann

        │The lamp is broken.
        ",
    );
}

#[test]
fn signatures_go_and_names_stay() {
    check(
        "
        │Please call me.
        │
        │Best regards
        │Ann Lee

        -- \u{20}
        Ann Lee, Lamps Ltd.
        ",
    );
    check(
        "
        │On my way.

        Sent from my iPhone
        ",
    );
    check(
        "
        │Anna

        Von meinem iPhone gesendet

        Am 06.05.2024 um 16:37 schrieb Acme <a@acme.example>:

        > alt
        ",
    );
}

#[test]
fn words_below_quotes_stay_also_under_a_signature() {
    check(
        "
        │First.
        │
        Sent from my iPhone

        On 6 May 2024 at 16:37, Acme <a@acme.example> wrote:

        │> Red?
        │
        │Yes.
        ",
    );
    check(
        "
        │First.
        │
        │-- \u{20}
        │Ann
        │
        │> Red?
        │
        │Yes.
        ",
    );
}

#[test]
fn words_below_a_telephones_line_stay_when_nothing_stands_above_it() {
    check(
        "
        │Sent from my iPhone
        │
        │Here is my answer, below it.
        ",
    );
}

#[test]
fn what_people_write_with_lines_and_fields_is_theirs() {
    check(
        "
        │My points:
        │----
        │1. The lamp is dark
        │2. The cord is short
        │====
        │From: Berlin
        │To: Paris
        │Date: 6 May
        │
        │On the other hand, I wrote to you before.
        │-- no answer yet
        │Sent from my desk, which is easier.
        ",
    );
}

#[test]
fn a_quote_that_is_introduced_is_the_writers_own() {
    check(
        "
        │The screen says:
        │> error 42
        ",
    );
    check(
        "
        │Nothing works.

        > Does it work?
        ",
    );
}

#[test]
fn code_is_never_history() {
    check(
        "
        │Look:
        │```
        │> On 6 May 2024 at 10:00 Ann <a@x.example> wrote:
        │--
        │Sent from my iPhone
        │```
        │Is that right?
        ",
    );
}

#[test]
fn a_mail_of_history_alone_has_no_words() {
    assert_eq!(trim("> On 6 May 2024 at 10:00 Ann <a@x.example> wrote:\n>\n>> Hello"), "");
    assert_eq!(trim("> Only a quote, from nowhere."), "> Only a quote, from nowhere.");
    assert_eq!(trim("-- \nAnn"), "--\nAnn");
    assert_eq!(trim("  \n\n "), "");
}

#[test]
fn everything_below_the_ask_to_reply_above_goes() {
    check(
        "
        │Yes, please.

        ##- Please type your reply above this line -##

        Your request 12 was updated.
        ",
    );
}

#[test]
fn signed_text_loses_its_armour() {
    let text = "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nHello\n- -- dashes\n\
                -----BEGIN PGP SIGNATURE-----\nabc\n-----END PGP SIGNATURE-----\n";
    assert_eq!(trim(text), "Hello\n-- dashes");
}

#[test]
fn a_name_and_an_address_without_a_date_announce_a_mail() {
    check(
        "
        │It has arrived, thank you.

        Acme Support <support@acme.example> wrote:
        Dear Ann,
        it is on its way.
        ",
    );
}

#[test]
fn the_mark_of_a_help_desk_goes_with_its_line() {
    check(
        "
        │It has arrived.

        {#HS:2034567-1234#}
        ",
    );
    check(
        "
        │It has arrived.

        Bitte schreiben Sie Ihre Antwort oberhalb dieser Linie.
        Guten Tag, die Lampe ist unterwegs.
        ",
    );
}

#[test]
fn an_answer_wholly_inside_a_quote_is_the_answer() {
    let text = "> It has arrived.\n>\n> On 6 May 2024 at 16:37, Acme <a@acme.example> wrote:\n>> Dear \
                Ann,\n>> it is on its way.\n";
    assert_eq!(trim(text), "It has arrived.");
    let history = "> Dear Ann,\n> it is on its way.\n";
    assert!(!trim(history).is_empty(), "nothing announces an earlier mail");
}
