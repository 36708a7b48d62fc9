//! The code that proves the address of a post. It is bound to the page that the post was sent from, so no cookie
//! is needed, also in a frame on another site.
//!
//! Customers read these texts.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use base::limits::{CODE_MS, DAY_MS, FORM_CODES_PER_ADDRESS_DAY, WRONG_CODES_PER_DAY};
use db::Tx;
use model::guests::guest_forms::GuestFormId;
use model::people::notices::{self, CustomerNotice, Notice};
use model::people::one_time_codes::{self, CodeEntry, CodeHolder, CodeRequest, SentCode};
use model::times::local_times::LocalTimes;
use translation::t;

use crate::forms::PublicForm;
use crate::posts::FiledPost;

/// What the purposes of all these codes begin with.
const PURPOSE: &str = "contact form";

/// The page of a post: its stamp, and the network that it is asked from.
#[derive(Clone, Debug)]
pub struct PostPage {
    pub stamp: GuestFormId,
    pub place: String,
}

impl PostPage {
    fn purpose(&self, form: &PublicForm) -> String {
        format!("{PURPOSE} {} {}", form.form.id, self.stamp.as_str())
    }

    fn holder<'a>(&'a self, purpose: &'a str, post: &'a FiledPost) -> CodeHolder<'a> {
        CodeHolder {
            purpose,
            email: post.email.as_str(),
            browser: self.stamp.hash("contact form code"),
            place: &self.place,
        }
    }
}

/// Mails a code to the address that was typed. The answer is when the next can be asked for, if there
/// were enough. `words` has the subject and text of the mail in the reader's language.
pub fn mail_code(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    (public, post): (&PublicForm, &FiledPost),
    page: &PostPage,
    words: &dyn Fn(&str, &str) -> (String, String),
) -> Result<Option<i64>> {
    if let Some(until) = must_wait_until(tx, cx, &post.email, &page.place)? {
        return Ok(Some(until));
    }
    let purpose = page.purpose(public);
    match one_time_codes::request(tx, cx, &page.holder(&purpose, post))? {
        CodeRequest::Wait(until) => Ok(Some(until)),
        CodeRequest::Issued(code) => {
            let times = LocalTimes::of(tx, cx.actor.ws, &public.form.mailbox)?;
            let (subject, text) = words(&code, &times.clock(cx.now + CODE_MS));
            let notice = CustomerNotice {
                mailbox: &public.form.mailbox,
                from_name: &public.firm,
                email: post.email.as_str(),
                answers: None,
                conversation: None,
                calendar: None,
                notice: Notice { subject: &subject, text: &text },
            };
            notices::write_to_customer(tx, cx, &public.form.circle, &notice)?;
            Ok(None)
        }
    }
}

/// When forms may mail the next code to an address for this network; `None` for at once. A program that sends one form
/// after the other has as many pages as it likes, so the limits of a page do not bound what an address gets.
fn must_wait_until(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    email: &EmailAddress,
    place: &str,
) -> Result<Option<i64>> {
    let asked: Vec<(i64, String)> = tx.all(
        "SELECT sent_at, place FROM one_time_codes
         WHERE ws = ?1 AND email = ?2 AND sent_at > ?3 AND purpose LIKE ?4",
        &[&cx.actor.ws, email, &(cx.now - DAY_MS), &format!("{PURPOSE} %")],
    )?;
    let most = (place, FORM_CODES_PER_ADDRESS_DAY);
    Ok(one_time_codes::end_of_wait(&asked, cx.now, DAY_MS, most))
}

/// Subject and text of the mail with a code: no link beside it, and the code in no subject.
pub fn code_words(firm: &str, code: &str, until: &str) -> (String, String) {
    let subject = t!("Your code for {firm}", firm);
    let code = t!("Your code: {code}", code);
    let how = t!(
        "Enter it on the page from which you wrote to {firm}. It is valid until {until}, once, and only \
         on that page.",
        firm,
        until
    );
    let otherwise = t!(
        "If you did not write to {firm}, ignore this mail: without the code nobody takes the message for \
         yours.",
        firm
    );
    (subject, format!("{code}\n\n{how}\n\n{otherwise}\n"))
}

/// Tries a code.
pub fn enter(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    (public, post): (&PublicForm, &FiledPost),
    page: &PostPage,
    typed: &str,
) -> Result<CodeEntry> {
    let purpose = page.purpose(public);
    if one_time_codes::wrong_today(tx, cx, &purpose)? >= WRONG_CODES_PER_DAY {
        return Ok(CodeEntry::RunOut);
    }
    one_time_codes::enter(tx, cx, &page.holder(&purpose, post), typed)
}

/// The newest code of the page.
pub fn find_sent(
    tx: &mut Tx<'_>,
    public: &PublicForm,
    page: &PostPage,
) -> Result<Option<SentCode>> {
    let browser = page.stamp.hash("contact form code");
    one_time_codes::find_sent(tx, public.actor.ws, &page.purpose(public), browser)
}
