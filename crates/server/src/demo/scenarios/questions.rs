//! Advice, thanks, and a gift.

use super::papers::LAMP_AT_HOME;
use crate::demo::scenario::SampleInbox::Support;
use crate::demo::scenario::SampleMember::{Jonas, Priya};
use crate::demo::scenario::{
    Scenario, approve, close, day, draft, mail, mail_with, minutes, note, reply, rich_reply,
};

pub const STORIES: &[Scenario] = &[
    Scenario {
        inbox: Support,
        reference: None,
        from: ("Ruth Amsler", "ruth@amsler.example"),
        subject: "The lamp is beautiful",
        steps: &[
            mail_with(
                day(13, 19, 48),
                "Dear people at Lumen & Holz,\n\n\
                 I only wanted to say thank you. The Alma has hung above our table for a week \
                 now and we eat later every evening because nobody wants to get up. I attach \
                 a picture.\n\n\
                 It is good to own something of which one can see who made it.\n\n\
                 Ruth Amsler",
                &[LAMP_AT_HOME],
            ),
            note(day(12, 8, 20), Priya, "@Jonas one for the wall in the workshop."),
            rich_reply(
                day(12, 8, 35),
                Priya,
                "Dear Ruth,\n\n\
                 thank you, that is **the nicest mail of the week**. I have printed your picture \
                 and hung it up in the workshop, so that the people who made the lamp can see \
                 where it lives:\n\n\
                 - *Mats*, who bends the veneer\n\
                 - *Elin*, who winds the cable\n\n\
                 How to look after it is [on our site](https://lumen-holz.example/care).",
            ),
            close(day(12, 8, 50), Priya),
        ],
    },
    Scenario {
        inbox: Support,
        reference: None,
        from: ("Henrik Olsen", "henrik@olsen-bygg.example"),
        subject: "Which bulb fits the Alma?",
        steps: &[
            mail(
                day(10, 12, 10),
                "Hi, the bulb of our Alma is broken (a football was involved). Which one do I \
                 need? There is no writing left on the glass.\n\n\
                 Henrik",
            ),
            draft(
                day(10, 12, 12),
                "Names the right bulb for the Alma",
                "Hi Henrik,\n\n\
                 any LED bulb with an E27 thread fits, up to 12 W. We deliver the Alma with a \
                 matt globe of 95 mm, 2700 K and 806 lumen. Matt glass matters: with clear \
                 glass you would see the bulb through the veneer.\n\n\
                 Most hardware shops have it. We also sell it for 9 EUR.\n\n\
                 Kind regards\n\
                 Lumen & Holz",
            ),
            approve(day(10, 12, 30), Priya),
            close(day(9, 8, 0), Priya),
        ],
    },
    Scenario {
        inbox: Support,
        reference: None,
        from: ("Margit Bauer", "margit.bauer@lindenweg.example"),
        subject: "Caring for oiled oak",
        steps: &[
            mail(
                day(19, 8, 12),
                "Good morning,\n\n\
                 we have had the Kante shelf for a year. It has become a little dry and pale \
                 on the sunny side. What do I use for it, and how often? A neighbour says \
                 olive oil, but I do not quite trust him.\n\n\
                 Margit Bauer",
            ),
            reply(
                day(19, 9, 50),
                Jonas,
                "Good morning Ms Bauer,\n\n\
                 you are right not to trust him: olive oil never dries and turns sticky. This \
                 is what we do ourselves, once a year:\n\n\
                 1. Wipe the shelf with a damp cloth and let it dry for an hour.\n\
                 2. Rub it lightly with the fine side of a kitchen sponge, along the grain.\n\
                 3. Put on a thin coat of hard wax oil with a cotton cloth.\n\
                 4. After fifteen minutes take off everything that is still wet.\n\n\
                 Please spread the cloth out to dry before you throw it away, oily cloths can \
                 catch fire by themselves. A small tin lasts for five years.\n\n\
                 Kind regards\n\
                 Jonas Feld",
            ),
            mail(
                day(17, 16, 33),
                "It looks like new! My neighbour has asked for the name of the oil.\n\n\
                 Thank you\n\
                 Margit Bauer",
            ),
            close(day(17, 16, 50), Jonas),
        ],
    },
    Scenario {
        inbox: Support,
        reference: None,
        from: ("Amelie Roth", "amelie@rothundsoehne.example"),
        subject: "Gift card for my sister",
        steps: &[mail(
            minutes(55),
            "Hello,\n\n\
                 my sister turns 40 on Sunday and has been talking about your lamps for \
                 months. I do not know which one she wants. Do you have gift cards, and would \
                 one reach me before Sunday? 200 EUR would be about right.\n\n\
                 Best wishes\n\
                 Amelie",
        )],
    },
];
