//! What an import came to, as it is printed.

use std::collections::{BTreeMap, BTreeSet};

use base::states::Direction;
use inbound::history::ImportOutcome;
use inbound::imported_conversations::ConversationOutcome;
use serde_json::{Value, json};

/// Mails that were passed over and are named in the report.
const NAMED: usize = 100;

/// What an import came to.
#[derive(Default)]
pub struct ImportReport {
    pub found: usize,
    pub received: usize,
    pub sent: usize,
    pub known: usize,
    pub conversations: usize,
    pub attachments: usize,
    pub notes: usize,
    pub tags: usize,
    pub assigned: usize,
    /// People who have conversations elsewhere and cannot have them here.
    pub unknown_assignees: BTreeSet<String>,
    /// Mails that say what another with the same Message-ID says, and were not imported.
    pub same_content: Vec<String>,
    /// Mails that were not imported, and why.
    pub passed_over: BTreeMap<String, String>,
}

impl ImportReport {
    pub fn pass_over(&mut self, place: String, reason: String) {
        self.passed_over.insert(place, reason);
    }

    pub fn count(&mut self, outcome: ImportOutcome) {
        match outcome {
            ImportOutcome::Filed { direction, begins, attachments } => {
                match direction {
                    Direction::Inbound => self.received += 1,
                    Direction::Outbound => self.sent += 1,
                }
                self.conversations += usize::from(begins);
                self.attachments += attachments;
            }
            ImportOutcome::Known | ImportOutcome::SameContent => self.known += 1,
            ImportOutcome::Completed { attachments } => {
                self.known += 1;
                self.attachments += attachments;
            }
        }
    }

    /// Counts a mail, and names one that is not imported although no other has the same bytes.
    pub fn count_mail(&mut self, place: String, outcome: ImportOutcome) {
        if outcome == ImportOutcome::SameContent {
            self.same_content.push(place);
        }
        self.count(outcome);
    }

    pub fn count_conversation(&mut self, outcome: ConversationOutcome) {
        outcome.mails.into_iter().for_each(|mail| self.count(mail));
        self.notes += outcome.notes;
        self.attachments += outcome.note_files;
        self.tags += outcome.tags;
        self.assigned += usize::from(outcome.is_assigned);
        self.unknown_assignees.extend(outcome.unknown_assignee);
    }

    pub fn answer(&self, mailbox: &str, dry_run: bool) -> Value {
        let passed_over = self.passed_over.iter().take(NAMED);
        let passed_over: Vec<_> =
            passed_over.map(|(place, reason)| json!({ "mail": place, "reason": reason })).collect();
        json!({
            "mailbox": mailbox,
            "dryRun": dry_run,
            "found": self.found,
            "imported": self.received + self.sent,
            "received": self.received,
            "sent": self.sent,
            "known": self.known,
            "skipped": self.passed_over.len(),
            "conversations": self.conversations,
            "attachments": self.attachments,
            "notes": self.notes,
            "tags": self.tags,
            "assigned": self.assigned,
            "unknownAssignees": self.unknown_assignees,
            "passedOver": passed_over,
            "sameContent": self.same_content.iter().take(NAMED).collect::<Vec<_>>(),
        })
    }

    pub fn words(&self, mailbox: &str, dry_run: bool) -> String {
        let verb = if dry_run { "would be" } else { "are" };
        let mut said = format!(
            "{} mails found; {} {verb} imported into {mailbox} ({} received, {} sent, {} attachments); {} \
             were there already; {} passed over.",
            self.found,
            self.received + self.sent,
            self.received,
            self.sent,
            self.attachments,
            self.known,
            self.passed_over.len(),
        );
        if !dry_run {
            said.push_str(&format!(" {} conversations began.", self.conversations));
        }
        if self.notes > 0 {
            said.push_str(&format!(" {} notes {verb} imported.", self.notes));
        }
        if self.tags + self.assigned > 0 {
            let (tags, assigned) = (self.tags, self.assigned);
            let verb = if dry_run { "would be" } else { "were" };
            said.push_str(&format!(
                " {tags} tags {verb} put on, {assigned} conversations assigned."
            ));
        }
        if !self.unknown_assignees.is_empty() {
            let people: Vec<&str> =
                self.unknown_assignees.iter().take(NAMED).map(String::as_str).collect();
            said.push_str(&format!(
                "\n  Not on the team, or without this inbox, so that theirs are unassigned: {}",
                people.join(", ")
            ));
        }
        for place in self.same_content.iter().take(NAMED) {
            said.push_str(&format!(
                "\n  {place}: a mail with the same Message-ID and content is there; only what servers added \
                 differs"
            ));
        }
        for (place, reason) in self.passed_over.iter().take(NAMED) {
            said.push_str(&format!("\n  {place}: {reason}"));
        }
        said
    }
}
