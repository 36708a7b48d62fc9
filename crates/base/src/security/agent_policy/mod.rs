//! What an agent may do beside its scopes: limits that hold whatever the program behind its key wants.
//!
//! Each field is declared once, in `policy!`: its name on the wire, its value, and what it is by each
//! profile. JSON, the command line, the settings page and the audit log follow.

mod values;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ValidationErrors;
use crate::string_enum::string_enum;

pub use values::{AmountLimit, BulkLimit, PolicyValue};

/// What a number of a policy may be.
pub const MOST_AN_HOUR: i64 = 10_000;
pub const MOST_CONVERSATIONS: i64 = 10_000;
pub const MOST_MINUTES: i64 = 60;
pub const MOST_UNDO_MINUTES: i64 = 1_440;
pub const MOST_AMOUNT: i64 = 1_000_000_000_000;
/// Domains that a policy lists.
pub const MOST_DOMAINS: usize = 50;

string_enum! {
    /// Whose key it is by default: that of an agent with a model behind it, or of a program of one's own.
    PolicyProfile { Agent = "agent", Program = "program" }
}

string_enum! {
    /// Whom an agent may write to.
    RecipientRule {
        Conversation = "conversation",
        Contacts = "contacts",
        Domains = "domains",
        Anyone = "anyone",
    }
}

string_enum! {
    /// What becomes of the first message to somebody whom nobody on the team has written to.
    FirstContactRule { Approve = "approve", Allow = "allow" }
}

string_enum! {
    /// Where links in an agent's words may lead.
    LinkRule { Own = "own", Conversation = "conversation", Anyone = "anyone" }
}

string_enum! {
    /// When an agent's messages may leave.
    HoursRule { Office = "office", Always = "always" }
}

string_enum! {
    /// What an agent may do with mail that is marked as a risk or an injection.
    MarkedMailRule { HandOver = "handOver", Draft = "draft", Allow = "allow" }
}

string_enum! {
    /// What becomes of API keys, card numbers and account numbers in an agent's words.
    SecretRule { Protected = "protected", Draft = "draft", Allow = "allow" }
}

string_enum! {
    /// Why an agent was paused.
    PauseReason { Person = "person", Itself = "itself", Bulk = "bulk" }
}

/// Declares the policy once: field, name on the wire, type, by the profiles `agent` and `program`, and
/// what it is about.
macro_rules! policy {
    ($($(#[$meta:meta])* $field:ident $rule:ident $name:literal: $type:ty = $agent:expr, $program:expr;)*) => {
        /// The limits of one key or connected app. `None` is no limit.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct AgentPolicy {
            $($(#[$meta])* #[serde(rename = $name)] pub $field: $type,)*
        }

        string_enum! {
            /// A rule of a policy, by the name of its field.
            PolicyRule { $($rule = $name),* }
        }

        impl AgentPolicy {
            /// The policy that a key begins with.
            pub fn of(profile: PolicyProfile) -> AgentPolicy {
                match profile {
                    PolicyProfile::Agent => AgentPolicy { $($field: $agent,)* },
                    PolicyProfile::Program => AgentPolicy { $($field: $program,)* },
                }
            }

            /// Changes one field to what somebody typed.
            fn set(&mut self, rule: PolicyRule, typed: &str) -> Result<(), String> {
                match rule {
                    $(PolicyRule::$rule => self.$field = <$type as PolicyValue>::parse(typed)?,)*
                }
                Ok(())
            }

            /// A field as it is typed.
            pub fn to_typed(&self, rule: PolicyRule) -> String {
                match rule {
                    $(PolicyRule::$rule => PolicyValue::to_typed(&self.$field),)*
                }
            }
        }
    };
}

policy! {
    /// Whom it may write to.
    recipients Recipients "recipients": RecipientRule = RecipientRule::Conversation, RecipientRule::Anyone;
    /// The domains of `recipients` `domains`.
    domains Domains "domains": Vec<String> = Vec::new(), Vec::new();
    /// What becomes of the first message to somebody.
    first_contact FirstContact "firstContact": FirstContactRule = FirstContactRule::Approve, FirstContactRule::Allow;
    /// Messages that it may send in an hour; over it they are drafts.
    messages_per_hour MessagesPerHour "messagesPerHour": Option<i64> = Some(60), None;
    /// Drafts that it may write in an hour.
    drafts_per_hour DraftsPerHour "draftsPerHour": Option<i64> = Some(120), None;
    /// Bookings that it may make, move and cancel in an hour.
    bookings_per_hour BookingsPerHour "bookingsPerHour": Option<i64> = Some(20), None;
    /// So many conversations changed in so many minutes pause it.
    bulk_per_minutes BulkPerMinutes "bulkPerMinutes": Option<BulkLimit> = Some(BulkLimit { conversations: 50, minutes: 5 }), None;
    /// Where its links may lead.
    links Links "links": LinkRule = LinkRule::Conversation, LinkRule::Anyone;
    /// Whether files may go out with its messages.
    files Files "files": bool = true, true;
    /// A sum of money above which a person approves.
    amount_above AmountAbove "amountAbove": Option<AmountLimit> = None, None;
    /// When its messages may leave.
    hours Hours "hours": HoursRule = HoursRule::Always, HoursRule::Always;
    /// What it may do with marked mail.
    marked_mail MarkedMail "markedMail": MarkedMailRule = MarkedMailRule::HandOver, MarkedMailRule::Allow;
    /// Messages to one customer in 24 hours.
    per_customer_per_day PerCustomerPerDay "perCustomerPerDay": Option<i64> = None, None;
    /// How many minutes its messages and bookings can be stopped; null is as long as messages of people,
    /// and not at all for bookings.
    undo_minutes UndoMinutes "undoMinutes": Option<i64> = Some(crate::limits::UNDO_MINUTES), None;
    /// What becomes of keys, card and account numbers in its words.
    secrets Secrets "secrets": SecretRule = SecretRule::Protected, SecretRule::Allow;
}

impl AgentPolicy {
    /// The profile that it is word for word; `None` once a field was changed.
    pub fn profile(&self) -> Option<PolicyProfile> {
        PolicyProfile::ALL.iter().copied().find(|profile| AgentPolicy::of(*profile) == *self)
    }

    /// The policy with other values, each `field=value` as typed. Every problem comes at once.
    pub fn with(&self, typed: &[(String, String)]) -> Result<AgentPolicy, ValidationErrors> {
        let mut policy = self.clone();
        let mut errors = ValidationErrors::default();
        for (name, value) in typed {
            let Some(rule) = PolicyRule::parse(name) else {
                let names = PolicyRule::NAMES.join(", ");
                errors.add(name, format!("is no field of a policy; they are {names}"));
                continue;
            };
            if let Err(sentence) = policy.set(rule, value.trim()) {
                errors.add(name, sentence);
            }
        }
        let errors = errors.and(policy.problems());
        if errors.0.is_empty() { Ok(policy) } else { Err(errors) }
    }

    /// Everything that is wrong with it, one sentence for each field.
    pub fn problems(&self) -> ValidationErrors {
        let mut errors = ValidationErrors::default();
        let numbers = [
            (PolicyRule::MessagesPerHour, self.messages_per_hour, MOST_AN_HOUR),
            (PolicyRule::DraftsPerHour, self.drafts_per_hour, MOST_AN_HOUR),
            (PolicyRule::BookingsPerHour, self.bookings_per_hour, MOST_AN_HOUR),
            (PolicyRule::PerCustomerPerDay, self.per_customer_per_day, MOST_AN_HOUR),
        ];
        for (rule, number, most) in numbers {
            if number.is_some_and(|number| !(0..=most).contains(&number)) {
                errors.add(
                    rule.as_str(),
                    format!("must be none, or a whole number from 0 to {most}"),
                );
            }
        }
        let undo = crate::limits::UNDO_MINUTES..=MOST_UNDO_MINUTES;
        if self.undo_minutes.is_some_and(|minutes| !undo.contains(&minutes)) {
            let (least, most) = (undo.start(), undo.end());
            let sentence = format!("must be none, or a whole number from {least} to {most}");
            errors.add(PolicyRule::UndoMinutes.as_str(), sentence);
        }
        if let Some(bulk) = self.bulk_per_minutes.filter(|bulk| !bulk.is_sound()) {
            let BulkLimit { conversations, minutes } = bulk;
            let sentence = format!(
                "must be 1 to {MOST_CONVERSATIONS} conversations in 1 to {MOST_MINUTES} minutes, such as \
                 50/5, not {conversations}/{minutes}"
            );
            errors.add(PolicyRule::BulkPerMinutes.as_str(), sentence);
        }
        if let Some(sentence) = self.amount_above.as_ref().and_then(AmountLimit::problem) {
            errors.add(PolicyRule::AmountAbove.as_str(), sentence);
        }
        self.add_problems_of_domains(&mut errors);
        errors
    }

    fn add_problems_of_domains(&self, errors: &mut ValidationErrors) {
        let name = PolicyRule::Domains.as_str();
        let is_wrong =
            |domain: &&String| !domain.contains('.') || mail::DomainName::parse(domain).is_none();
        if let Some(wrong) = self.domains.iter().find(is_wrong) {
            errors.add(name, format!("{wrong} is no domain; write it like customer.example"));
        }
        if self.domains.len() > MOST_DOMAINS {
            errors.add(name, format!("at most {MOST_DOMAINS} domains"));
        }
        if self.recipients == RecipientRule::Domains && self.domains.is_empty() {
            errors.add(name, "must name at least one domain, because recipients is domains");
        }
    }

    /// As it is kept in a row.
    pub fn to_row(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// A key from before there were policies has none in its row: it is a program's.
    pub fn from_stored(text: Option<&str>) -> Result<AgentPolicy, serde_json::Error> {
        match text {
            None => Ok(AgentPolicy::of(PolicyProfile::Program)),
            Some(text) => serde_json::from_str(text),
        }
    }

    /// The fields in which it differs from another, as `field=value`, for the audit log.
    pub fn changes_from(&self, before: &AgentPolicy) -> Vec<String> {
        let changed =
            PolicyRule::ALL.iter().filter(|rule| self.to_typed(**rule) != before.to_typed(**rule));
        changed.map(|rule| format!("{}={}", rule.as_str(), self.to_typed(*rule))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn as_typed(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_policy_is_read_back_as_it_was_written() {
        for profile in PolicyProfile::ALL {
            let policy = AgentPolicy::of(*profile);
            let row = policy.to_row().unwrap();
            assert_eq!(AgentPolicy::from_stored(Some(&row)).unwrap(), policy);
            assert_eq!(policy.profile(), Some(*profile));
            assert!(policy.problems().0.is_empty());
            let all: Vec<(String, String)> = PolicyRule::ALL
                .iter()
                .map(|rule| (rule.as_str().to_owned(), policy.to_typed(*rule)))
                .collect();
            assert_eq!(AgentPolicy::of(PolicyProfile::Agent).with(&all), Ok(policy));
        }
        let old = AgentPolicy::from_stored(None).unwrap();
        assert_eq!(old.profile(), Some(PolicyProfile::Program));
    }

    #[test]
    fn what_is_typed_changes_the_fields_that_it_names() {
        let agent = AgentPolicy::of(PolicyProfile::Agent);
        let changed = agent
            .with(&as_typed(&[
                ("recipients", "domains"),
                ("domains", "Keller.example, other.example"),
                ("messagesPerHour", "none"),
                ("bulkPerMinutes", "10/2"),
                ("amountAbove", "50 eur"),
                ("files", "false"),
            ]))
            .unwrap();
        assert_eq!(changed.domains, ["keller.example", "other.example"]);
        assert_eq!(changed.messages_per_hour, None);
        assert_eq!(changed.bulk_per_minutes, Some(BulkLimit { conversations: 10, minutes: 2 }));
        let amount = AmountLimit { currency: "EUR".into(), value: 50.0 };
        assert_eq!(changed.amount_above, Some(amount));
        assert!(!changed.files && changed.profile().is_none());
        assert_eq!(
            changed.changes_from(&agent),
            [
                "recipients=domains",
                "domains=keller.example, other.example",
                "messagesPerHour=none",
                "bulkPerMinutes=10/2",
                "files=false",
                "amountAbove=50 EUR",
            ]
        );
    }

    #[test]
    fn a_sum_has_a_known_currency_and_a_sane_value() {
        let with = |typed: &str| {
            AgentPolicy::of(PolicyProfile::Agent).with(&as_typed(&[("amountAbove", typed)]))
        };
        for (typed, currency, value) in
            [("0 eur", "EUR", 0.0), ("12.5 KWD", "KWD", 12.5), ("1000000000000 VND", "VND", 1e12)]
        {
            let amount = with(typed).unwrap().amount_above;
            assert_eq!(amount, Some(AmountLimit { currency: currency.into(), value }), "{typed}");
        }
        assert_eq!(with("none").unwrap().amount_above, None);
        for typed in [
            "50",
            "50EUR",
            "50 ABC",
            "50 XXX",
            "50 BTC",
            "50 EURO",
            "50 €",
            "-1 EUR",
            "NaN EUR",
            "inf EUR",
            "1e13 EUR",
            "fifty EUR",
        ] {
            let problems = with(typed).unwrap_err();
            assert_eq!(problems.0.len(), 1, "{typed}");
            assert_eq!(problems.0[0].field, "amountAbove", "{typed}");
        }
    }

    #[test]
    fn every_problem_is_named_at_once() {
        let agent = AgentPolicy::of(PolicyProfile::Agent);
        let problems = agent
            .with(&as_typed(&[
                ("recipients", "everybody"),
                ("colour", "red"),
                ("draftsPerHour", "-1"),
                ("undoMinutes", "1"),
                ("bulkPerMinutes", "0/5"),
                ("domains", "not a domain"),
            ]))
            .unwrap_err();
        let mut fields: Vec<&str> = problems.0.iter().map(|one| one.field.as_str()).collect();
        fields.sort_unstable();
        assert_eq!(
            fields,
            ["bulkPerMinutes", "colour", "domains", "draftsPerHour", "recipients", "undoMinutes"]
        );
    }
}
