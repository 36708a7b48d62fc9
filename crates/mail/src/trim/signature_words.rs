//! The words of the lines that telephones and programs add.

use phrases::word_lists;

word_lists! {
    "signature_words.txt":
    /// Before a possessive any device counts, however unknown.
    pub(super) SENT_FROM_MY = "sent-from-my";
    /// How such a line begins, before a device or program that is known.
    pub(super) SENT_FROM = "sent-from";
    /// Words that end such a line where the device comes first.
    pub(super) SENT = "sent";
    pub(super) FROM_WORDS = "from-words";
    /// The same in scripts that write without spaces.
    pub(super) SENT_UNSPACED = "sent-unspaced";
    /// What programs offer under every mail.
    pub(super) PROGRAM_OFFERS = "program-offers";
    /// Devices and programs, as words begin.
    pub(super) DEVICES = "devices";
}
