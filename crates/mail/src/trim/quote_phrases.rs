//! The words by which mail programs of many languages announce an earlier mail.

use phrases::word_lists;

word_lists! {
    "quote_phrases.txt":
    /// "wrote", as it stands in the line over an earlier mail. A verb is compared with
    /// whole words.
    pub(super) WROTE = "wrote";
    /// The same for scripts that write without spaces: found anywhere in the line.
    pub(super) WROTE_ANYWHERE = "wrote-anywhere";
    /// How the line over an earlier mail begins where the verb alone would be too weak a
    /// sign.
    pub(super) STARTS = "starts";
    /// A person who tells what they wrote themselves announces no earlier mail.
    pub(super) FIRST_PERSON = "first-person";
    /// What stands between dashes over an earlier or forwarded mail.
    pub(super) ORIGINAL = "original";
    /// Lines without dashes over a forwarded mail.
    pub(super) FORWARDED = "forwarded";
    /// Words of a line over a mail that is passed on, however it is written.
    pub(super) PASSED_ON = "passed-on";
    /// Asks of ours and of other help desks, under which everything is history.
    pub(super) REPLY_ABOVE = "reply-above";
}
