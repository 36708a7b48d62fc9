//! What only Ines sees, and what only test keys see.

use super::papers::LEASE_OFFER;
use crate::demo::scenario::SampleInbox::{Private, Sandbox};
use crate::demo::scenario::SampleMember::{Ines, RoboTest};
use crate::demo::scenario::{Scenario, day, mail, mail_with, note, reply, tag};

pub const STORIES: &[Scenario] = &[
    Scenario {
        inbox: Private,
        reference: None,
        from: ("Oskar Thalmann", "oskar@thalmann-liegenschaften.example"),
        subject: "Lease for the second floor",
        steps: &[
            mail_with(
                day(7, 10, 25),
                "Dear Ines,\n\n\
                 the tailor on the second floor moves out in three months. Before I put the \
                 rooms on the market I wanted to ask you, as you spoke of more space for the \
                 paint shop. My offer is attached. It would be 140 square metres at the same \
                 rent per metre as now.\n\n\
                 Could you let me know by the end of the month?\n\n\
                 Oskar Thalmann",
                &[LEASE_OFFER],
            ),
            reply(
                day(6, 17, 40),
                Ines,
                "Dear Oskar,\n\n\
                 thank you for thinking of us. I am very interested, but I have to do the \
                 sums first. Would the floor carry a spray booth of 900 kg? And may we move \
                 the partition wall?\n\n\
                 Kind regards\n\
                 Ines",
            ),
            mail(
                day(1, 15, 30),
                "Dear Ines,\n\n\
                 the floor carries 500 kg per square metre, so that should be all right if \
                 the booth stands near the outer wall. The partition is yours to move, as \
                 long as you put it back when you leave.\n\n\
                 Take your time, but not too much. A yoga school has asked as well.\n\n\
                 Oskar",
            ),
        ],
    },
    Scenario {
        inbox: Private,
        reference: None,
        from: ("Helga Morgenthaler", "helga.morgenthaler@werkschule-tal.example"),
        subject: "Speaking at the crafts school?",
        steps: &[
            mail(
                day(5, 8, 55),
                "Dear Ines,\n\n\
                 every year we invite somebody who has built a workshop of their own to speak \
                 to the final year. It would be an hour with questions, and they always have \
                 many. Would you like to come next term? There is a small fee and a large \
                 lunch.\n\n\
                 Warm regards\n\
                 Helga",
            ),
            note(
                day(5, 12, 0),
                Ines,
                "Ask Jonas whether he would come along and show how a shade is bent.",
            ),
            reply(
                day(4, 12, 10),
                Ines,
                "Dear Helga,\n\n\
                 I would love to. Any Tuesday is fine for me. May I bring Jonas? He can bend \
                 a shade in front of the class in ten minutes, and nobody will listen to me \
                 any more after that.\n\n\
                 Ines",
            ),
        ],
    },
    Scenario {
        inbox: Sandbox,
        reference: None,
        from: ("Alex Sample", "alex@customer.test"),
        subject: "A first mail in the sandbox",
        steps: &[
            mail(
                day(3, 9, 0),
                "Hello,\n\n\
                 this mail is here so that a test key finds something to work with. Read it, \
                 tag it, answer it: nothing in the sandbox ever leaves for a real customer.\n\n\
                 When does my order arrive?\n\n\
                 Alex",
            ),
            tag(day(3, 9, 10), RoboTest, &["shipping"]),
        ],
    },
    Scenario {
        inbox: Sandbox,
        reference: Some("order-10001"),
        from: ("Kim Example", "kim@customer.test"),
        subject: "Two lamps or three?",
        steps: &[
            mail(
                day(2, 10, 0),
                "Hello, I ordered three lamps and the confirmation says two. Which is right?\n\n\
                 Kim",
            ),
            reply(
                day(2, 10, 20),
                RoboTest,
                "Hello Kim,\n\n\
                 the confirmation was written before you added the third lamp. All three will \
                 be in the parcel.\n\n\
                 Robo",
            ),
            mail(day(1, 10, 40), "Perfect, thank you!"),
        ],
    },
];
