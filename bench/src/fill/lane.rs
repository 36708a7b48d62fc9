//! The made-up history of one inbox: what happened in it, in order, the same for the same seed.

use std::sync::Arc;

use base::limits::UNDO_LIVE_MS;
use inbound::incoming_mail::IncomingMail;
use mail::{Address, AuthorKind, Dmarc, Mail};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

use crate::fill::words::{Vocabulary, rare_word};

/// The sizes of ten conversations, in messages: 100 together.
pub const SIZES: [usize; 10] = [1, 2, 3, 5, 8, 10, 12, 15, 20, 24];
/// Conversations of an inbox that go on at the same time.
const LIVE: usize = 100;
/// 2025-01-01T00:00:00Z.
pub const BEGINNING: i64 = 1_735_689_600_000;
/// The time that any history is spread over.
const SPAN_MS: i64 = 500 * 24 * 60 * 60_000;
/// Mails that each rare word stands in.
pub const RARE_MAILS: usize = 3;

const FIRST: &[&str] = &[
    "Ann", "Bruno", "Chloé", "David", "Emma", "Farid", "Grace", "Hana", "Ines", "José", "Kofi",
    "Lena", "Marek", "Nora", "Omar", "Priya", "Quinn", "Rosa", "Sven", "Tomás", "Uma", "Viktor",
    "Wendy", "Xenia", "Yusuf", "Zoë",
];
const LAST: &[&str] = &[
    "Adams", "Baker", "Castro", "Dubois", "Evans", "Fischer", "García", "Haas", "Ito", "Jensen",
    "Keller", "Lopez", "Marti", "Novak", "Okafor", "Petrov", "Quist", "Rossi", "Schmidt", "Tanaka",
    "Ueda", "Varga", "Walker", "Xu", "Young", "Zeller",
];

/// Something that happens to a conversation of the inbox, known by its number.
pub struct Act {
    pub at: i64,
    pub conversation: usize,
    pub step: LaneStep,
}

pub enum LaneStep {
    Mail(Box<IncomingMail>),
    /// A reply that was written before the undo window and leaves now.
    Reply(String),
    Tag(Vec<String>),
    Assign,
    Note(String),
    Close,
}

/// A conversation that has had its last message.
pub struct Finished {
    pub conversation: usize,
    pub messages: usize,
}

/// How a conversation is left.
#[derive(Clone, Copy, PartialEq)]
enum Ending {
    Open,
    Waiting,
    Closed,
}

pub struct Lane {
    vocabulary: Arc<Vocabulary>,
    chance: StdRng,
    number: usize,
    address: String,
    messages: usize,
    written: usize,
    begun: usize,
    /// Messages that the conversations begun so far will have.
    planned: usize,
    live: Vec<Live>,
    /// Sizes of the conversations that begin next.
    sizes: Vec<usize>,
    rare: Vec<String>,
    planted: usize,
}

struct Live {
    conversation: usize,
    size: usize,
    written: usize,
    contact: Address,
    subject: String,
    last_message_id: String,
    ending: Ending,
}

impl Lane {
    /// The history of an inbox in so many messages. `rare` are the numbers of its rare words.
    pub fn new(
        vocabulary: Arc<Vocabulary>,
        seed: u64,
        number: usize,
        address: &str,
        messages: usize,
        rare: impl Iterator<Item = usize>,
    ) -> Lane {
        Lane {
            vocabulary,
            chance: StdRng::seed_from_u64(seed.wrapping_mul(1_000).wrapping_add(number as u64)),
            number,
            address: address.to_owned(),
            messages,
            written: 0,
            begun: 0,
            planned: 0,
            live: Vec::new(),
            sizes: Vec::new(),
            rare: rare.map(rare_word).collect(),
            planted: 0,
        }
    }

    /// Writes one more message, with what comes before and after it. `None` when all are written.
    pub fn go_on(&mut self, acts: &mut Vec<Act>) -> Option<Option<Finished>> {
        if self.written == self.messages {
            return None;
        }
        while self.live.len() < LIVE && self.planned < self.messages {
            let live = self.begin();
            self.live.push(live);
        }
        let at = BEGINNING + SPAN_MS / self.messages as i64 * self.written as i64;
        let chosen = self.chance.random_range(0..self.live.len());
        let step = self.message(chosen);
        let Live { conversation, size, written, ending, .. } = self.live[chosen];
        acts.push(Act { at, conversation, step });
        if written == 1 {
            let steps = self.first_look();
            acts.extend(steps.into_iter().map(|step| Act { at: at + 1, conversation, step }));
        }
        if written < size {
            return Some(None);
        }
        if ending == Ending::Closed {
            acts.push(Act { at: at + 2, conversation, step: LaneStep::Close });
        }
        self.live.swap_remove(chosen);
        Some(Some(Finished { conversation, messages: size }))
    }

    fn begin(&mut self) -> Live {
        if self.sizes.is_empty() {
            self.sizes = SIZES.to_vec();
        }
        let next = self.chance.random_range(0..self.sizes.len());
        let size = self.sizes.swap_remove(next).min(self.messages - self.planned);
        self.planned += size;
        let conversation = self.begun;
        self.begun += 1;
        let order = 10_000_000 * (self.number + 1) + conversation;
        let words = self.words(2);
        Live {
            conversation,
            size,
            written: 0,
            contact: self.contact(),
            subject: format!("{words}, order {order}"),
            last_message_id: String::new(),
            ending: match self.chance.random_range(0..10) {
                0..3 => Ending::Open,
                3..6 => Ending::Waiting,
                _ => Ending::Closed,
            },
        }
    }

    fn contact(&mut self) -> Address {
        let first = FIRST.choose(&mut self.chance).copied().unwrap_or_default();
        let last = LAST.choose(&mut self.chance).copied().unwrap_or_default();
        let number = self.chance.random_range(0..self.messages.div_ceil(30));
        let plain = |name: &str| name.chars().filter(char::is_ascii).collect::<String>();
        let domain = self.vocabulary.word_at(1_000 + number % 2_000);
        let email = format!("{}.{}{number}@{domain}.example", plain(first), plain(last));
        Address::new(Some(&format!("{first} {last}")), &email)
    }

    /// The next message of a conversation: theirs first, then mostly theirs, the last by ending.
    fn message(&mut self, chosen: usize) -> LaneStep {
        let text = self.text(chosen);
        let live = &mut self.live[chosen];
        let is_last = live.written + 1 == live.size;
        let ours = live.written > 0
            && match live.ending {
                Ending::Open if is_last => false,
                Ending::Waiting if is_last => true,
                _ => self.chance.random_bool(0.4),
            };
        live.written += 1;
        self.written += 1;
        if ours {
            return LaneStep::Reply(text);
        }
        let message_id = format!("{}.{}@customers.example", self.number, self.written);
        let answers = std::mem::replace(&mut live.last_message_id, message_id.clone());
        let re = if answers.is_empty() { "" } else { "Re: " };
        let mail = Mail {
            message_id: Some(message_id),
            answers: Some(answers).into_iter().filter(|id| !id.is_empty()).collect(),
            from: live.contact.clone(),
            to: vec![Address::new(None, &self.address)],
            cc: Vec::new(),
            delivered_to: self.address.clone(),
            subject: format!("{re}{}", live.subject),
            text,
            quoted: String::new(),
            kind: AuthorKind::Person,
            no_automatic_reply: false,
            dmarc: Dmarc::Pass,
            warning: None,
            attachments: Vec::new(),
            has_html: false,
        };
        LaneStep::Mail(Box::new(IncomingMail {
            mail,
            raw: None,
            content_hash: None,
            attachments: Vec::new(),
            authentication: None,
            joins: None,
        }))
    }

    /// 60 to 200 words in sentences and paragraphs, now and then with a rare one.
    fn text(&mut self, chosen: usize) -> String {
        let words = self.chance.random_range(60..=200);
        let mut text = String::from("Hello,\n\n");
        let mut written = 0;
        while written < words {
            let sentence = self.chance.random_range(6..=14).min(words - written);
            let sentence_text = self.words(sentence);
            text.push_str(&sentence_text);
            text.push_str(if self.chance.random_bool(0.2) { ".\n\n" } else { ". " });
            written += sentence;
        }
        if let Some(rare) = self.rare_word_due() {
            text.push_str(&format!("\n\nSerial number {rare}."));
        }
        let name = self.live[chosen].contact.name.as_deref().unwrap_or_default();
        format!("{}\n\nBest regards, {name}", text.trim_end())
    }

    /// The rare words are spread evenly: each comes once, then each again.
    fn rare_word_due(&mut self) -> Option<String> {
        let plantings = self.rare.len() * RARE_MAILS;
        if self.planted == plantings {
            return None;
        }
        let due = (2 * self.planted + 1) * self.messages / (2 * plantings);
        if self.written < due {
            return None;
        }
        let word = self.rare[self.planted % self.rare.len()].clone();
        self.planted += 1;
        Some(word)
    }

    /// What somebody does on seeing a new conversation.
    fn first_look(&mut self) -> Vec<LaneStep> {
        let mut steps = Vec::new();
        if self.chance.random_bool(0.4) {
            let count = self.chance.random_range(1..=2);
            steps.push(LaneStep::Tag((0..count).map(|_| self.tag()).collect()));
        }
        if self.chance.random_bool(0.25) {
            steps.push(LaneStep::Assign);
        }
        if self.chance.random_bool(0.1) {
            steps.push(LaneStep::Note(self.words(12)));
        }
        steps
    }

    /// Each inbox has tags of its own, so that those who fill two inboxes never wait for a count.
    fn tag(&mut self) -> String {
        let tag = self.chance.random_range(0..8);
        self.vocabulary.word_at(300 + 8 * self.number + tag).to_owned()
    }

    fn words(&mut self, count: usize) -> String {
        let mut text = String::new();
        for place in 0..count {
            let word = self.vocabulary.draw(&mut self.chance);
            match place {
                0 => {
                    let mut mails = word.chars();
                    text.extend(mails.next().into_iter().flat_map(char::to_uppercase));
                    text.push_str(mails.as_str());
                }
                _ => {
                    text.push(' ');
                    text.push_str(word);
                }
            }
        }
        text
    }
}

/// When a reply that leaves at a moment was written.
pub fn written_at(leaves_at: i64) -> i64 {
    leaves_at - UNDO_LIVE_MS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(seed: u64, messages: usize) -> (Vec<Act>, Vec<Finished>) {
        let vocabulary = Arc::new(Vocabulary::new(1));
        let mut lane = Lane::new(vocabulary, seed, 0, "support@bench.example", messages, 5..7);
        let (mut acts, mut finished) = (Vec::new(), Vec::new());
        while let Some(last) = lane.go_on(&mut acts) {
            finished.extend(last);
        }
        (acts, finished)
    }

    fn text(act: &Act) -> Option<&str> {
        match &act.step {
            LaneStep::Mail(incoming) => Some(&incoming.mail.text),
            LaneStep::Reply(text) => Some(text),
            _ => None,
        }
    }

    #[test]
    fn a_history_has_the_messages_asked_for_in_a_tenth_of_the_conversations() {
        let (acts, finished) = history(1, 2_000);
        assert_eq!(acts.iter().filter(|act| text(act).is_some()).count(), 2_000);
        assert_eq!(finished.len(), 200);
        assert_eq!(finished.iter().map(|last| last.messages).sum::<usize>(), 2_000);
    }

    #[test]
    fn the_same_seed_gives_the_same_history() {
        let texts = |seed| {
            let (acts, _) = history(seed, 300);
            acts.iter().filter_map(text).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(texts(4), texts(4));
        assert_ne!(texts(4), texts(5));
    }

    #[test]
    fn each_rare_word_stands_in_a_few_mails() {
        let (acts, _) = history(1, 1_000);
        for word in [rare_word(5), rare_word(6)] {
            let holds = |act: &&Act| text(act).is_some_and(|text| text.contains(&word));
            assert_eq!(acts.iter().filter(holds).count(), RARE_MAILS, "{word}");
        }
    }
}
