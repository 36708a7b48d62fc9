//! The words that papers use.

use phrases::word_lists;

word_lists! {
    "words.txt":
    /// Labels of the day a paper was made.
    pub DATE = "date";
    /// Labels that may be those of the day a paper was made, when nothing better is
    /// there.
    pub ANY_DATE = "any-date";
    /// Labels of the day by which to pay.
    pub DUE = "due";
    /// Labels of other days: deliveries, orders, periods, versions.
    pub OTHER_DATE = "other-date";
    /// Labels of an invoice's number.
    pub NUMBER = "number";
    /// Names of the paper itself, behind which its number may stand.
    pub TITLE = "title";
    /// What may stand between a paper's name and its number.
    pub NUMBER_MARK = "number-mark";
    /// Headings of whoever sends the paper.
    pub SELLER = "seller";
    /// Headings of whoever gets it.
    pub BUYER = "buyer";
    /// What a company's name ends in, or has in it.
    pub COMPANY = "company";
    /// Words that no vendor's name begins with, or that make a line something else.
    pub NOT_A_NAME = "not-a-name";
    /// Labels of what a paper is about in the end, taxes and all.
    pub GROSS = "gross";
    /// Labels of what is still to be paid; less than the whole when something was paid
    /// before.
    pub TO_PAY = "to-pay";
    /// Labels of a total of some kind.
    pub TOTAL = "total";
    /// Words beside which a total is not the whole: before taxes, or the taxes
    /// themselves.
    pub NOT_THE_WHOLE = "not-the-whole";
    /// Words beside which taxes are in it after all.
    pub WITH_TAX = "with-tax";
}
