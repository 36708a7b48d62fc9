//! Drafts and messages of an agent: refused, turned into a draft that waits for a person, or as asked.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use base::ids::{AgentId, MessageId};
use base::security::agent_policy::{
    AgentPolicy, AmountLimit, FirstContactRule, HoursRule, LinkRule, MarkedMailRule, PolicyRule,
    RecipientRule, SecretRule,
};
use db::Tx;
use mail::{DomainName, MoneyAmount, money_amounts};

use super::changes::{self, ConversationAct};
use super::recent_acts::{self, ActKind};
use super::unusual::{self, JudgedMessage};
use super::{HAND_OVER, PolicyNote, limits_of, refusal};
use crate::conversations::Conversation;
use crate::mailboxes::office_hours;
use crate::messages::recipients::{Party, RecipientList};

/// Refuses a draft that the policy of whoever writes it forbids. One that it allows is counted once it is
/// written, by [`count_draft`].
pub fn admit_draft(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &JudgedMessage<'_>,
) -> Result<()> {
    let Some((agent, policy)) = limits_of(cx.actor) else { return Ok(()) };
    admit_words(policy, conversation, message)?;
    if recent_acts::is_used_up(tx, cx, agent, ActKind::Draft, policy.drafts_per_hour)? {
        let most = policy.drafts_per_hour.unwrap_or_default();
        let sentence =
            format!("This key has written {most} drafts within an hour, which is all it may.");
        return Err(refusal(PolicyRule::DraftsPerHour, sentence));
    }
    Ok(())
}

/// Refuses another text of a draft that the policy of whoever writes it forbids.
pub fn admit_rewriting(
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &JudgedMessage<'_>,
) -> Result<()> {
    match limits_of(cx.actor) {
        Some((_, policy)) => admit_words(policy, conversation, message),
        None => Ok(()),
    }
}

pub fn count_draft(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    draft: &MessageId,
) -> Result<()> {
    match limits_of(cx.actor) {
        Some((agent, policy)) if policy.drafts_per_hour.is_some() => {
            note(tx, cx, agent, ActKind::Draft, conversation, draft)
        }
        _ => Ok(()),
    }
}

/// What becomes of a message that is to leave at a time: `None` as asked, else why it is a draft. What may
/// not even be a draft is refused there.
pub fn judge_sending(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &JudgedMessage<'_>,
    leaves_at: i64,
) -> Result<Option<PolicyNote>> {
    let Some((agent, policy)) = limits_of(cx.actor) else { return Ok(None) };
    admit_words(policy, conversation, message)?;
    let judged = Judged { agent, policy, conversation, message, leaves_at };
    for judge in [
        Judged::marked_mail,
        Judged::recipients,
        Judged::first_contact,
        Judged::words,
        Judged::files_and_money,
        Judged::hours,
        Judged::rates,
    ] {
        if let Some(note) = judge(&judged, tx, cx)? {
            return Ok(Some(note));
        }
    }
    Ok(None)
}

/// Counts a message, and the mail that each of its recipients gets.
pub fn count_message(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    message: &MessageId,
    recipients: &RecipientList,
) -> Result<()> {
    let Some((agent, policy)) = limits_of(cx.actor) else { return Ok(()) };
    if policy.messages_per_hour.is_some() || policy.per_customer_per_day.is_some() {
        note(tx, cx, agent, ActKind::Message, conversation, message)?;
    }
    if policy.bulk_per_minutes.is_some() {
        // Who writes to very many at once is stopped like who changes them, and what has not left is taken back.
        changes::admit_change(tx, cx, conversation.notice_place(), false, ConversationAct::Change)?;
    }
    count_mails(tx, cx, recipients.everybody().map(Party::address), message.as_str())
}

/// Counts what leaves to each of some people, where their mail is limited.
pub(super) fn count_mails(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    to: impl IntoIterator<Item = EmailAddress>,
    id: &str,
) -> Result<()> {
    let Some((agent, policy)) = limits_of(cx.actor) else { return Ok(()) };
    if policy.per_customer_per_day.is_none() {
        return Ok(());
    }
    for address in to {
        recent_acts::note(tx, cx, agent, ActKind::Mailed, address.as_str(), id)?;
    }
    Ok(())
}

/// Why an agent may not mail one of some people today: it has as often as it may.
pub(super) fn enough_mails(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    to: impl IntoIterator<Item = EmailAddress>,
) -> Result<Option<String>> {
    let Some((agent, policy)) = limits_of(cx.actor) else { return Ok(None) };
    let Some(most) = policy.per_customer_per_day else { return Ok(None) };
    recent_acts::take_turn(tx, cx.actor.ws, agent)?;
    for address in to {
        if recent_acts::mails_to(tx, cx, agent, &address, most.max(1))? >= most {
            return Ok(Some(format!(
                "This key has mailed {address} {most} times within a day, which is all it may"
            )));
        }
    }
    Ok(None)
}

fn note(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    agent: &AgentId,
    kind: ActKind,
    conversation: &Conversation,
    message: &MessageId,
) -> Result<()> {
    recent_acts::note(tx, cx, agent, kind, conversation.id.as_str(), message.as_str())
}

/// What is refused whether it is sent or not.
fn admit_words(
    policy: &AgentPolicy,
    conversation: &Conversation,
    message: &JudgedMessage<'_>,
) -> Result<()> {
    if policy.marked_mail == MarkedMailRule::HandOver && conversation.is_marked() {
        return Err(refusal(PolicyRule::MarkedMail, HAND_OVER));
    }
    if policy.secrets == SecretRule::Protected
        && let Some(secret) = message.plain_secrets().first()
    {
        let name = unusual::secret_name(*secret);
        let sentence = match message.is_secure {
            true => format!(
                "The subject has {name} in it and stands in plain mail, although the text is on a \
                 protected page. Leave it out of the subject."
            ),
            false => format!(
                "The text has {name} in it, which plain mail must not have. Write it with secure: true, \
                 so that it stands on a protected page, or leave it out."
            ),
        };
        return Err(refusal(PolicyRule::Secrets, sentence));
    }
    if policy.secrets == SecretRule::Protected
        && let Some(secret) = message.summary_secrets().first()
    {
        let name = unusual::secret_name(*secret);
        let sentence = format!(
            "The summary has {name} in it, which stands on protected pages alone. Leave it out of the summary."
        );
        return Err(refusal(PolicyRule::Secrets, sentence));
    }
    Ok(())
}

/// A message of an agent with its limits.
struct Judged<'a> {
    agent: &'a AgentId,
    policy: &'a AgentPolicy,
    conversation: &'a Conversation,
    message: &'a JudgedMessage<'a>,
    leaves_at: i64,
}

type Judgement = Result<Option<PolicyNote>>;

fn draft(rule: PolicyRule, why: impl AsRef<str>) -> Judgement {
    let sentence = format!("{}, so it waits as a draft for a person.", why.as_ref());
    Ok(Some(PolicyNote::new(rule, sentence)))
}

impl Judged<'_> {
    fn marked_mail(&self, _: &mut Tx<'_>, _: &Cx<'_>) -> Judgement {
        if self.policy.marked_mail == MarkedMailRule::Draft && self.conversation.is_marked() {
            return draft(PolicyRule::MarkedMail, "The conversation is marked as a risk");
        }
        Ok(None)
    }

    fn recipients(&self, tx: &mut Tx<'_>, cx: &Cx<'_>) -> Judgement {
        let strangers =
            forbidden_recipients(tx, cx, self.policy, self.conversation, self.message.recipients)?;
        match strangers.as_slice() {
            [] => Ok(None),
            [one, ..] => {
                let who = recipient_words(self.policy.recipients);
                draft(
                    PolicyRule::Recipients,
                    format!("This key writes only to {who}, and {one} is not one"),
                )
            }
        }
    }

    fn first_contact(&self, tx: &mut Tx<'_>, cx: &Cx<'_>) -> Judgement {
        if self.policy.first_contact == FirstContactRule::Allow {
            return Ok(None);
        }
        let first = unusual::first_contacts(tx, cx, self.conversation, self.message.recipients)?;
        match first.first() {
            Some(one) => draft(
                PolicyRule::FirstContact,
                format!("Nobody on the team has written to {one} before"),
            ),
            None => Ok(None),
        }
    }

    fn words(&self, tx: &mut Tx<'_>, cx: &Cx<'_>) -> Judgement {
        let words = self.message.words.all();
        if let Some(host) =
            forbidden_hosts(tx, cx, self.policy.links, self.conversation, &words)?.first()
        {
            let why = format!("The text has a link to {host}, which this key may not link to");
            return draft(PolicyRule::Links, why);
        }
        if self.policy.secrets == SecretRule::Draft
            && let Some(secret) = self.message.plain_secrets().first()
        {
            let why = format!("The text has {} in it", unusual::secret_name(*secret));
            return draft(PolicyRule::Secrets, why);
        }
        Ok(None)
    }

    fn files_and_money(&self, _: &mut Tx<'_>, _: &Cx<'_>) -> Judgement {
        if !self.policy.files && self.message.has_files {
            return draft(PolicyRule::Files, "This key may send no files");
        }
        let Some(limit) = &self.policy.amount_above else { return Ok(None) };
        match sum_above(limit, &self.message.words.all()) {
            Some(sum) => draft(
                PolicyRule::AmountAbove,
                format!(
                    "The text names {} {}, and above {} {} a person approves",
                    sum.written, sum.currency, limit.value, limit.currency
                ),
            ),
            None => Ok(None),
        }
    }

    fn hours(&self, tx: &mut Tx<'_>, cx: &Cx<'_>) -> Judgement {
        if self.policy.hours == HoursRule::Office
            && office_hours::is_closed(tx, cx.actor.ws, &self.conversation.mailbox, self.leaves_at)?
        {
            return draft(PolicyRule::Hours, "This key sends only in office hours");
        }
        Ok(None)
    }

    fn rates(&self, tx: &mut Tx<'_>, cx: &Cx<'_>) -> Judgement {
        let Judged { agent, policy, message, .. } = self;
        if let Some(why) = enough_mails(tx, cx, message.recipients.everybody().map(Party::address))?
        {
            return draft(PolicyRule::PerCustomerPerDay, why);
        }
        if recent_acts::is_used_up(tx, cx, agent, ActKind::Message, policy.messages_per_hour)? {
            let most = policy.messages_per_hour.unwrap_or_default();
            let why = format!("This key has sent {most} messages within an hour");
            return draft(PolicyRule::MessagesPerHour, why);
        }
        Ok(None)
    }
}

/// A sum in a text that a person has to approve.
pub(super) fn sum_above(limit: &AmountLimit, words: &str) -> Option<MoneyAmount> {
    // What another currency is worth is not known here.
    let is_above = |sum: &MoneyAmount| sum.currency != limit.currency || sum.value > limit.value;
    money_amounts(words).into_iter().find(is_above)
}

pub(super) fn recipient_words(rule: RecipientRule) -> &'static str {
    match rule {
        RecipientRule::Conversation => "people of the conversation",
        RecipientRule::Contacts => "people whom the team has written to",
        RecipientRule::Domains => "people of the conversation and of its listed domains",
        RecipientRule::Anyone => "anybody",
    }
}

/// Recipients that a policy does not allow.
pub(super) fn forbidden_recipients(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    policy: &AgentPolicy,
    conversation: &Conversation,
    recipients: &RecipientList,
) -> Result<Vec<String>> {
    if policy.recipients == RecipientRule::Anyone {
        return Ok(Vec::new());
    }
    let mut forbidden = Vec::new();
    for party in recipients.everybody() {
        if !may_write_to(tx, cx, policy, conversation, party)? {
            forbidden.push(party.email.clone());
        }
    }
    Ok(forbidden)
}

fn may_write_to(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    policy: &AgentPolicy,
    conversation: &Conversation,
    party: &Party,
) -> Result<bool> {
    if unusual::is_of_conversation(tx, cx, conversation, &party.address())? {
        return Ok(true);
    }
    match policy.recipients {
        RecipientRule::Conversation => Ok(false),
        RecipientRule::Contacts => {
            unusual::is_known(tx, cx, &conversation.circle, &party.address())
        }
        RecipientRule::Domains => Ok(is_of_domains(&policy.domains, &party.address())),
        RecipientRule::Anyone => Ok(true),
    }
}

pub(super) fn is_of_domains(domains: &[String], address: &EmailAddress) -> bool {
    let Some(own) = DomainName::of_address(address.as_str()) else { return false };
    let domains = domains.iter().filter_map(|domain| DomainName::parse(domain));
    domains.into_iter().any(|domain| own.is_within(&domain))
}

/// Hosts that a policy does not let links lead to.
pub(super) fn forbidden_hosts(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    rule: LinkRule,
    conversation: &Conversation,
    words: &str,
) -> Result<Vec<String>> {
    match rule {
        LinkRule::Own => unusual::hosts_besides_own(tx, cx, words),
        LinkRule::Conversation => unusual::foreign_hosts(tx, cx, conversation, words),
        LinkRule::Anyone => Ok(Vec::new()),
    }
}
