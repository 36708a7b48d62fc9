//! What somebody wrote: plain text, or Markdown with its plain twin.

/// The words of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenText {
    /// Plain text, which the API, lists and the search see.
    pub text: String,
    /// The Markdown that the text was made from; `None` for plain text.
    pub markdown: Option<String>,
}

/// How a text is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextFormat {
    #[default]
    Plain,
    Markdown,
}

impl WrittenText {
    pub fn new(typed: &str, format: TextFormat) -> WrittenText {
        match format {
            TextFormat::Plain => WrittenText { text: typed.to_owned(), markdown: None },
            TextFormat::Markdown => {
                WrittenText { text: mail::markdown_text(typed), markdown: Some(typed.to_owned()) }
            }
        }
    }
}
