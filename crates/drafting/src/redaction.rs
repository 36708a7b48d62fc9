//! Takes names and numbers out of what leaves for a language model, and puts them back afterwards.

use super::named_entities::{NamedEntityKind, named_entities};

/// The tokens that stand for what was taken out, in the order in which they were met.
#[derive(Debug, Default)]
pub struct Redaction {
    names: Vec<String>,
    hidden: Vec<HiddenValue>,
}

struct HiddenValue {
    kind: NamedEntityKind,
    token: String,
    value: String,
}

base::debug_without_secrets!(HiddenValue { kind });

impl Redaction {
    /// `names` are those of the customer, of others on the mail and of the team.
    pub fn new(names: Vec<String>) -> Redaction {
        Redaction { names, hidden: Vec::new() }
    }

    /// The text with tokens such as `[NAME-1]` instead of names, numbers, addresses and links. The
    /// same value has the same token everywhere.
    pub fn hide(&mut self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        let mut done = 0;
        for particular in named_entities(text, &self.names) {
            let value = &text[particular.start..particular.end];
            if particular.kind == NamedEntityKind::Date && !value.chars().any(char::is_numeric) {
                continue;
            }
            shown.push_str(&text[done..particular.start]);
            shown.push_str(self.token(particular.kind, value));
            done = particular.end;
        }
        shown.push_str(&text[done..]);
        shown
    }

    fn token(&mut self, kind: NamedEntityKind, value: &str) -> &str {
        let known = self.hidden.iter().position(|one| one.kind == kind && one.value == value);
        let place = known.unwrap_or_else(|| {
            let number = 1 + self.hidden.iter().filter(|one| one.kind == kind).count();
            let token = format!("[{}-{number}]", word(kind));
            self.hidden.push(HiddenValue { kind, token, value: value.to_owned() });
            self.hidden.len() - 1
        });
        &self.hidden[place].token
    }

    /// The text with the values instead of their tokens. A value is not read for tokens again; a
    /// token that nothing was taken out for stays, and is grounded in nothing.
    pub fn restore(&self, text: &str) -> String {
        let mut restored = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('[') {
            restored.push_str(&rest[..at]);
            rest = &rest[at..];
            match self.hidden.iter().find(|one| rest.starts_with(&one.token)) {
                Some(one) => {
                    restored.push_str(&one.value);
                    rest = &rest[one.token.len()..];
                }
                None => {
                    restored.push('[');
                    rest = &rest[1..];
                }
            }
        }
        restored.push_str(rest);
        restored
    }

    /// How many values were taken out.
    pub fn count(&self) -> usize {
        self.hidden.len()
    }
}

fn word(kind: NamedEntityKind) -> &'static str {
    match kind {
        NamedEntityKind::Name => "NAME",
        NamedEntityKind::Number => "NUMBER",
        NamedEntityKind::Date => "DATE",
        NamedEntityKind::Address => "ADDRESS",
        NamedEntityKind::Link => "LINK",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn redaction() -> Redaction {
        Redaction::new(vec!["Giulia Pellegrini".into()])
    }

    #[test]
    fn names_and_numbers_do_not_leave_and_come_back() {
        let mut redaction = redaction();
        let text = "I am Giulia Pellegrini. HM-2026-1044 was taken on 9 November and again, \
                    HM-2026-1044! Write to giulia@wines.example or call +49 40 5550 1141. Giulia";
        let hidden = redaction.hide(text);
        assert_eq!(
            hidden,
            "I am [NAME-1]. [NUMBER-1] was taken on [DATE-1] and again, [NUMBER-1]! Write to \
             [ADDRESS-1] or call [NUMBER-2]. [NAME-2]"
        );
        assert_eq!(redaction.restore(&hidden), text);
    }

    #[test]
    fn a_token_that_a_customer_wrote_is_hidden_like_any_number() {
        let mut redaction = redaction();
        let hidden = redaction.hide("Giulia: tell me [NAME-7] and [NUMBER-1]");
        assert!(!hidden.contains("NAME-7"), "{hidden}");
        assert_eq!(redaction.restore(&hidden), "Giulia: tell me [NAME-7] and [NUMBER-1]");
        assert_eq!(redaction.restore("[NAME-9] ["), "[NAME-9] [");
    }

    proptest! {
        #[test]
        fn whatever_is_hidden_comes_back(text in "[a-zA-Z0-9 .,@:/\\[\\]-]{0,200}") {
            let mut redaction = redaction();
            let hidden = redaction.hide(&text);
            prop_assert_eq!(redaction.restore(&hidden), text);
        }
    }
}
