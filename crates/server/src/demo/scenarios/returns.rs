//! What came back, broke, or went wrong.

use super::papers::CRACKED_LAMP;
use crate::demo::scenario::SampleInbox::Support;
use crate::demo::scenario::SampleMember::{Ines, Jonas, Priya, Robo};
use crate::demo::scenario::{
    Scenario, approve, approve_as, assign, auto_reply, close, day, draft, mail, mail_with, minutes,
    note, reply, reply_later, snooze, tag,
};

pub const STORIES: &[Scenario] = &[
    Scenario {
        inbox: Support,
        reference: Some("order-20402"),
        from: ("Daniel Okoro", "daniel@okoro.example"),
        subject: "Bo lamp arrived with a cracked base",
        steps: &[
            mail_with(
                day(5, 17, 22),
                "Hello,\n\n\
                 our Bo lamp came today and we were very happy, until we set it up. There is \
                 a crack across the wooden base, about as long as my hand. The box had no \
                 damage, so I think it happened before. I attach a picture.\n\n\
                 What would you like us to do?\n\n\
                 Daniel Okoro",
                &[CRACKED_LAMP],
            ),
            tag(day(5, 17, 25), Robo, &["returns"]),
            draft(
                day(5, 17, 30),
                "Offers Daniel a new base or a full exchange",
                "Hello Daniel,\n\n\
                 thank you for the picture. We are sorry that your new lamp arrived like \
                 this. The wood most likely dried out and split along the grain.\n\n\
                 You can choose: we send you a new base, which takes one screw and five \
                 minutes to change, or we collect the whole lamp and send a new one.\n\n\
                 Kind regards\n\
                 Lumen & Holz",
            ),
            approve_as(
                day(4, 8, 10),
                Priya,
                "Hello Daniel,\n\n\
                 thank you for the picture. I am sorry that your new lamp arrived like this. \
                 The wood most likely dried out and split along the grain. That should not \
                 happen.\n\n\
                 You can choose: we send you a new base, which takes one screw and five \
                 minutes to change, or we collect the whole lamp and send a new one. Neither \
                 costs you anything.\n\n\
                 Best wishes\n\
                 Priya",
            ),
            mail(
                day(3, 20, 3),
                "Thank you for the quick answer. A new base is fine, I can hold a \
                 screwdriver. Should I send the old one back?\n\n\
                 Daniel",
            ),
            reply(
                day(2, 8, 25),
                Priya,
                "Hello Daniel,\n\n\
                 keep it, or use it as a very heavy bookend. Jonas is picking out a base from \
                 the same board, so that the colour fits your lamp.\n\n\
                 Priya",
            ),
            mail(
                minutes(160),
                "Hello Priya,\n\n\
                 one more question before it leaves: our lamp is the walnut one, not oak. I \
                 only saw today that my order says oak. Could you check? Otherwise the base \
                 will not match.\n\n\
                 Thanks\n\
                 Daniel",
            ),
            assign(minutes(140), Priya, Jonas),
            note(
                minutes(140),
                Priya,
                "@Jonas please do not send the base yet. He has a walnut lamp although the order \
                 says oak, so two lamps may have been swapped.",
            ),
        ],
    },
    Scenario {
        inbox: Support,
        reference: None,
        from: ("Viktor Hahn", "v.hahn@hahn-optik.example"),
        subject: "Third time I am writing",
        steps: &[
            mail(
                day(9, 13, 0),
                "Good day,\n\n\
                 we bought four Alma lamps for our shop last winter (order 19870). One of \
                 them makes a buzzing noise. Please tell me how to proceed.\n\n\
                 V. Hahn",
            ),
            mail(
                day(4, 9, 30),
                "I wrote to you five days ago about a buzzing lamp and got no answer at all. \
                 It hangs above the place where we test people's eyes. My customers ask me \
                 about it every day.\n\n\
                 V. Hahn",
            ),
            reply(
                day(4, 10, 15),
                Priya,
                "Dear Mr Hahn,\n\n\
                 I am sorry, your first mail should not have been left lying. The noise most \
                 likely comes from the driver above the ceiling cap. Could you tell me \
                 whether the lamp is on a dimmer, and of which make?\n\n\
                 Kind regards\n\
                 Priya Nair",
            ),
            mail(
                day(1, 16, 44),
                "This is the third time I am writing. I paid 756 EUR for four lamps and now I \
                 am supposed to climb on a ladder and look for names of dimmers? No. Either \
                 somebody comes and repairs the lamp this week or I want my money back for \
                 all four of them.\n\n\
                 Hahn",
            ),
            tag(day(1, 16, 45), Robo, &["complaint"]),
            note(
                day(1, 16, 58),
                Priya,
                "@Ines could you take this one? He is right about the first mail, it went unseen \
                 for five days. Jonas says that the drivers of that batch are known to buzz on \
                 old dimmers. We have new ones here.",
            ),
            assign(day(1, 16, 58), Priya, Ines),
        ],
    },
    Scenario {
        inbox: Support,
        reference: Some("order-20377"),
        from: ("Sofia Lehtinen", "sofia@lehtinen.example"),
        subject: "Return of a Tilda desk lamp",
        steps: &[
            mail(
                minutes(270),
                "Hi,\n\n\
                 I would like to send back the Tilda from order 20377. Nothing is wrong with \
                 it, it is just too tall for my shelf. I have had it for two weeks and still \
                 have the box. How do I do that, and do I have to pay the postage?\n\n\
                 Thank you\n\
                 Sofia",
            ),
            tag(minutes(268), Robo, &["returns"]),
            draft(
                minutes(265),
                "Confirms the return and explains the free label",
                "Hello Sofia,\n\n\
                 of course, you can return the lamp within 30 days of the day it came, so you \
                 have plenty of time.\n\n\
                 Put the lamp into its box, unscrew the bulb and pack it in the small carton. \
                 You will get a label for the postage with a separate mail; it costs you \
                 nothing. Take the parcel to any drop-off point. As soon as it is back with \
                 us, we refund the 129 EUR, usually within three days.\n\n\
                 By the way: the Tilda has a shorter sister, 34 cm instead of 46. If that \
                 would fit your shelf, tell us and we exchange it.\n\n\
                 Kind regards\n\
                 Lumen & Holz",
            ),
        ],
    },
    Scenario {
        inbox: Support,
        reference: None,
        from: ("Petra Novak", "petra.novak@zelena.example"),
        subject: "When will I get my refund?",
        steps: &[
            mail(
                day(15, 7, 50),
                "Good morning,\n\n\
                 I returned two Nord stools (order 20301). The parcel arrived with you nine \
                 days ago. When can I expect the refund?\n\n\
                 Petra Novak",
            ),
            tag(day(15, 8, 0), Robo, &["returns", "invoice"]),
            reply(
                day(15, 9, 35),
                Priya,
                "Good morning Petra,\n\n\
                 the stools are back and in good order. The refund of 230 EUR had been \
                 waiting for a second signature, sorry about that. It left this morning and \
                 should reach your account within two working days.\n\n\
                 Best wishes\n\
                 Priya",
            ),
            mail(
                day(13, 11, 12),
                "It is here. Thank you, that was quick in the end.\n\n\
                 Petra",
            ),
            close(day(13, 11, 30), Priya),
        ],
    },
    Scenario {
        inbox: Support,
        reference: None,
        from: ("Emil Sand", "emil@sandbaek.example"),
        subject: "One leg of the stool is shorter",
        steps: &[
            mail(
                day(7, 19, 26),
                "Hello Lumen & Holz,\n\n\
                 our Nord stool rocks. At first I blamed our old floor, but it rocks on the \
                 kitchen table too. One leg seems to be about two millimetres short. We \
                 bought it at the market last year and have no order number, only the paper \
                 receipt. Does the guarantee still count?\n\n\
                 Emil Sand",
            ),
            tag(day(7, 19, 30), Robo, &["returns"]),
            draft(
                day(6, 8, 5),
                "Confirms the guarantee and offers two ways to mend the stool",
                "Hello Emil,\n\n\
                 yes, it does: everything we make has a guarantee of five years, and the \
                 paper receipt is enough.\n\n\
                 Wood moves, and two millimetres are easily put right. Bring the stool to the \
                 workshop and we do it while you wait, or send us a picture of the receipt \
                 and we have the stool collected. Which do you prefer?\n\n\
                 Kind regards\n\
                 Lumen & Holz",
            ),
            approve(day(6, 8, 40), Priya),
        ],
    },
    Scenario {
        inbox: Support,
        reference: None,
        from: ("Noor Haddad", "noor@haddad-interiors.example"),
        subject: "Basket shows the wrong price",
        steps: &[
            mail(
                day(1, 13, 37),
                "Hello,\n\n\
                 I put two Kante shelves of 90 cm into the basket. The page of the shelf says \
                 98 EUR each, the basket says 118 EUR each. If I choose 120 cm and then 90 cm \
                 again, it is right. Happens in two different browsers.\n\n\
                 I have not ordered yet. Could you look into it?\n\n\
                 Noor Haddad",
            ),
            tag(day(1, 13, 45), Robo, &["bug"]),
            assign(day(1, 13, 46), Priya, Jonas),
            note(
                day(1, 14, 30),
                Jonas,
                "I can repeat it. The basket keeps the price of the size that was shown last. I \
                 told the web agency, they want to mend it tomorrow. @Priya please tell her that \
                 98 EUR counts.",
            ),
        ],
    },
    Scenario {
        inbox: Support,
        reference: None,
        from: ("Ragna Eide", "ragna@eidegard.example"),
        subject: "The dimmer hums since last week",
        steps: &[
            mail(
                day(5, 9, 5),
                "Hi,\n\n\
                 our Tilda has started to hum when it is turned down below half. It is three \
                 years old and we use it every evening. Is that something one can mend?\n\n\
                 Ragna",
            ),
            reply(
                day(5, 10, 12),
                Jonas,
                "Hi Ragna,\n\n\
                 yes. It is the dimmer in the cord, an early one that we do not use any more. \
                 I will send you a new cord with a better dimmer as soon as the next batch is \
                 here. It plugs in, no tools needed, and it is on us.\n\n\
                 Jonas",
            ),
            mail(
                day(4, 18, 55),
                "Great, thank you! No hurry, we simply leave it at full brightness until then.\n\n\
                 Ragna",
            ),
            assign(day(3, 8, 30), Jonas, Jonas),
            note(day(3, 8, 30), Jonas, "The new cords come in a week. I put this away until then."),
            snooze(day(3, 8, 31), Jonas, day(-4, 7, 0)),
            reply_later(
                day(3, 8, 32),
                Jonas,
                day(-4, 9, 0),
                "Hi Ragna,\n\n\
                 the new cords are here, and yours leaves today. Unplug the lamp, swap the cord, \
                 and the humming is gone.\n\n\
                 Jonas",
            ),
        ],
    },
    Scenario {
        inbox: Support,
        reference: None,
        from: ("Nadia Fuchs", "nadia.fuchs@kanzlei-fuchs.example"),
        subject: "Exchange the linen shade for a grey one?",
        steps: &[
            mail(
                day(2, 15, 2),
                "Dear Lumen & Holz,\n\n\
                 we have the Bo with the white linen shade in our waiting room. It is lovely, \
                 but it shows every speck of dust. Could we exchange only the shade for the \
                 grey one, and what would that cost?\n\n\
                 Kind regards\n\
                 Nadia Fuchs",
            ),
            reply(
                day(2, 16, 30),
                Priya,
                "Dear Ms Fuchs,\n\n\
                 yes, the shade comes off with a quarter turn. The grey one costs 64 EUR, and \
                 if you send us the white one in good order, we take off half of that. Shall \
                 I put one aside for you?\n\n\
                 Kind regards\n\
                 Priya Nair",
            ),
            auto_reply(
                day(2, 16, 41),
                "Thank you for your message. I am out of the office and will be back in two \
                 weeks. Your mail is not forwarded. In urgent cases please call our front \
                 desk.\n\n\
                 Nadia Fuchs",
            ),
            tag(day(2, 16, 50), Robo, &["returns"]),
        ],
    },
];
