//! The parts of the pages that show conversations, each a template of its own: a template is one function, and
//! compiling one takes far longer than compiling its parts.

use askama::Template;

use crate::layout::filters;
use crate::layout::page_layout::PageLayout;
use crate::pages::conversation::booking_cards::BookingCard;
use crate::pages::conversation::conversation_view::ConvoView;
use crate::pages::conversation::message_cards::MessageCard;
use crate::pages::conversation::timeline::{MessageProgress, MessageView, TimelineRow};
use crate::pages::lists::conversation_list::ListView;
use crate::pages::writing::composer::Composer;
use crate::pages::writing::offer_form::OfferForm;
use crate::pages::writing::request_form::AskForm;

#[derive(Template)]
#[template(path = "list.html", whitespace = "minimize")]
pub struct ListPart<'a> {
    list: &'a ListView,
}

#[derive(Template)]
#[template(path = "conversation_head.html", whitespace = "minimize")]
pub struct ConversationHead<'a> {
    pub frame: &'a PageLayout,
    pub convo: &'a ConvoView,
}

#[derive(Template)]
#[template(path = "conversation_timeline.html", whitespace = "minimize")]
pub struct ConversationTimeline<'a> {
    pub frame: &'a PageLayout,
    pub convo: &'a ConvoView,
    pub bookings: &'a [BookingCard],
    /// True while the reader writes below it, so that nothing in it takes the focus.
    pub is_writing: bool,
}

impl ConversationTimeline<'_> {
    fn message<'m>(&'m self, message: &'m MessageView) -> MessageItem<'m> {
        MessageItem { frame: self.frame, convo: self.convo, message, is_writing: self.is_writing }
    }
}

#[derive(Template)]
#[template(path = "message.html", whitespace = "minimize")]
struct MessageItem<'a> {
    frame: &'a PageLayout,
    convo: &'a ConvoView,
    message: &'a MessageView,
    is_writing: bool,
}

#[derive(Template)]
#[template(path = "message_parts.html", whitespace = "minimize")]
pub struct MessageParts<'a> {
    frame: &'a PageLayout,
    message: &'a MessageView,
}

#[derive(Template)]
#[template(path = "composer.html", whitespace = "minimize")]
pub struct ComposerSheet<'a> {
    frame: &'a PageLayout,
    composer: &'a Composer,
}

#[derive(Template)]
#[template(path = "asking.html", whitespace = "minimize")]
pub struct AskSheet<'a> {
    pub frame: &'a PageLayout,
    pub convo: &'a ConvoView,
    pub asking: &'a AskForm,
}

#[derive(Template)]
#[template(path = "offering.html", whitespace = "minimize")]
pub struct OfferSheet<'a> {
    pub frame: &'a PageLayout,
    pub convo: &'a ConvoView,
    pub offering: &'a OfferForm,
}

impl ListView {
    pub fn part(&self) -> ListPart<'_> {
        ListPart { list: self }
    }
}

impl MessageView {
    /// What is shown of it below its head.
    pub fn parts<'a>(&'a self, frame: &'a PageLayout) -> MessageParts<'a> {
        MessageParts { frame, message: self }
    }
}

impl Composer {
    pub fn sheet<'a>(&'a self, frame: &'a PageLayout) -> ComposerSheet<'a> {
        ComposerSheet { frame, composer: self }
    }
}
