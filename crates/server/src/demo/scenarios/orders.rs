//! Where a parcel is, when it comes, and what was in it.

use super::papers::PARCEL_PHOTO;
use crate::demo::scenario::SampleInbox::Support;
use crate::demo::scenario::SampleMember::{Jonas, Priya, Robo};
use crate::demo::scenario::{
    Scenario, app_mail, assign, close, day, draft, mail, mail_with, mail_with_html, minutes, note,
    reply, tag,
};

/// As a mail program writes it: a table, a link, a logo at another place and the earlier message.
const BRUNO_ASKS_AGAIN: &str = r#"<html><head><style>
  .order td { padding: 6px 12px; border-bottom: 1px solid #ddd; }
  .order th { padding: 6px 12px; text-align: left; background: #f3efe6; }
</style></head><body style="font-family: Calibri, sans-serif; font-size: 15px">
<p>Hello Priya,</p>
<p>did you hear anything? The electrician is booked for <b>the day after tomorrow</b>. If the lamps
will not make it I have to tell him today.</p>
<table class="order" cellspacing="0">
  <tr><th>Order</th><th>Lamp</th><th>Tracking</th></tr>
  <tr><td>20418</td><td>2 × Alma pendant</td>
    <td><a href="https://tracking.parcel.example/20418">handed to carrier</a></td></tr>
</table>
<p>Bruno</p>
<p style="color: #777; font-size: 13px"><img src="https://www.keller.example/logo.png" width="90"
  height="28" alt="Keller Architects"><br>Keller Architects, Bern</p>
<div class="gmail_quote"><div class="gmail_attr">Priya wrote:</div>
<blockquote class="gmail_quote"><p>Hello Bruno,</p><p>I am sorry that you are left waiting. I have
asked the carrier to look for the parcel and will write to you as soon as I hear from them, tomorrow
at the latest.</p><p>Best wishes<br>Priya</p></blockquote></div>
</body></html>"#;

pub const STORIES: &[Scenario] = &[
    Scenario {
        inbox: Support,
        reference: None,
        from: ("Bruno Keller", "bruno@keller.example"),
        subject: "Where is my order 20418?",
        steps: &[
            app_mail(
                day(8, 6, 30),
                "order-20418",
                "Your order 20418 is on its way",
                "Hello Bruno,\n\n\
                 your two Alma pendant lamps left our workshop today. They usually arrive \
                 within three to five working days.\n\n\
                 Thank you for your order\n\
                 Lumen & Holz",
            ),
            mail(
                day(2, 8, 52),
                "Hello,\n\n\
                 I ordered two Alma lamps and your shop told me last week that they were on \
                 their way. Nothing has come so far, and the tracking page has said \"handed \
                 to carrier\" ever since. Our electrician comes at the end of this week. Can \
                 you find out where the parcel is?\n\n\
                 Thank you\n\
                 Bruno Keller",
            ),
            tag(day(2, 9, 5), Robo, &["shipping"]),
            reply(
                day(2, 9, 31),
                Priya,
                "Hello Bruno,\n\n\
                 I am sorry that you are left waiting. I have asked the carrier to look for \
                 the parcel and will write to you as soon as I hear from them, tomorrow at \
                 the latest.\n\n\
                 Best wishes\n\
                 Priya",
            ),
            assign(day(2, 9, 33), Priya, Robo),
            note(
                day(1, 15, 20),
                Robo,
                "The carrier found the parcel in its depot: the street number was missing on the \
                 label. It goes out again with the next tour. The carrier's reference is \
                 7741-0093.",
            ),
            mail_with_html(
                minutes(95),
                "Hello Priya,\n\n\
                 did you hear anything? The electrician is booked for the day after tomorrow. \
                 If the lamps will not make it I have to tell him today.\n\n\
                 Bruno",
                BRUNO_ASKS_AGAIN,
            ),
            draft(
                minutes(88),
                "Tells Bruno that order 20418 was found and arrives tomorrow",
                "Hello Bruno,\n\n\
                 good news: the carrier found your parcel. The street number was missing on \
                 the label, so it waited in their depot. It is on the next tour and should be \
                 with you tomorrow before 16:00. You can keep the electrician's appointment.\n\n\
                 I am sorry for the worry. If nothing has come by tomorrow evening, please \
                 answer this mail and we will send two new lamps by express.\n\n\
                 Kind regards\n\
                 Lumen & Holz",
            ),
        ],
    },
    Scenario {
        inbox: Support,
        reference: Some("order-20431"),
        from: ("Hanna Lindqvist", "hanna.lindqvist@granvik.example"),
        subject: "Change of delivery address for order 20431",
        steps: &[mail(
            minutes(22),
            "Hello,\n\n\
                 we are moving sooner than planned. Could you please send order 20431 (the \
                 Kante shelf, 120 cm) to our new address?\n\n\
                 Hanna Lindqvist\n\
                 Almvägen 14, 2nd floor\n\
                 412 70 Granvik\n\n\
                 The old address is empty from Saturday on. If the shelf has left already, \
                 tell me and I will ask the neighbours to take it in.\n\n\
                 Thanks a lot\n\
                 Hanna",
        )],
    },
    Scenario {
        inbox: Support,
        reference: None,
        from: ("Marek Dvorak", "marek@dvorak-family.example"),
        subject: "Parcel says delivered, but it is not here",
        steps: &[
            mail(
                day(12, 16, 5),
                "Good afternoon,\n\n\
                 the tracking of order 20397 says \"delivered, left with a neighbour\" since \
                 noon. I asked on our floor and on the two below. Nobody has it. It is a Bo \
                 floor lamp, so not something one overlooks.\n\n\
                 What now?\n\
                 Marek Dvorak",
            ),
            tag(day(12, 16, 20), Robo, &["shipping"]),
            reply(
                day(12, 16, 42),
                Priya,
                "Hello Marek,\n\n\
                 that is annoying, and a Bo is indeed hard to miss. Did the driver leave a \
                 card with a name? If not, I will ask the carrier for the signature and send \
                 it to you.\n\n\
                 Best wishes\n\
                 Priya",
            ),
            mail(
                day(12, 19, 10),
                "No card. I looked in the letter box twice.\n\n\
                 Marek",
            ),
            note(
                day(11, 8, 15),
                Priya,
                "@Jonas which driver had the tour? The depot only answers the phone before nine.",
            ),
            note(
                day(11, 8, 40),
                Jonas,
                "Called them. The parcel was signed for as \"Hofer\". They will send the slip \
                 this morning.",
            ),
            reply(
                day(11, 10, 2),
                Priya,
                "Hello Marek,\n\n\
                 the carrier says that somebody called Hofer signed for the parcel. Does the \
                 name mean anything to you? It may also be the house next door.\n\n\
                 Priya",
            ),
            mail(
                day(11, 17, 45),
                "There is a hairdresser Hofer at number 23. We are number 32! They close at six, \
                 I will go first thing in the morning.",
            ),
            reply(
                day(11, 18, 1),
                Priya,
                "That sounds like the one. Fingers crossed. If it is not there, we start a \
                 search and send you a new lamp without waiting for the result.\n\n\
                 Priya",
            ),
            mail(
                day(10, 9, 20),
                "Found! It stood between two hairdryers and looked quite at home. The box is \
                 not even scratched. Thank you for staying on it, Priya.\n\n\
                 Marek",
            ),
            reply(
                day(10, 9, 48),
                Priya,
                "Wonderful, I am glad it found its way home. I have asked the carrier to \
                 correct the house number in their system.\n\n\
                 Enjoy the lamp!\n\
                 Priya",
            ),
            close(day(10, 10, 5), Priya),
        ],
    },
    Scenario {
        inbox: Support,
        reference: None,
        from: ("Aoife Brennan", "aoife@brennanhouse.example"),
        subject: "Can the table come on a Saturday?",
        steps: &[
            mail(
                day(3, 12, 14),
                "Hi there,\n\n\
                 the Ulme table we ordered (order 20226) should be ready soon. We both work \
                 during the week and the stairs need two people. Is a delivery on a Saturday \
                 possible, and what would it cost?\n\n\
                 Thanks\n\
                 Aoife",
            ),
            assign(day(3, 12, 40), Priya, Jonas),
            reply(
                day(3, 14, 22),
                Jonas,
                "Hi Aoife,\n\n\
                 your table gets its last coat of oil tomorrow and has to rest for a week \
                 after that. We drive out ourselves every second Saturday, and the next tour \
                 passes close to you. It costs nothing extra. We come with two people and \
                 carry it to where it will stand.\n\n\
                 Could you measure the narrowest place of the stairs? The top is 92 cm wide \
                 and does not come apart.\n\n\
                 Kind regards\n\
                 Jonas",
            ),
        ],
    },
    Scenario {
        inbox: Support,
        reference: Some("order-20425"),
        from: ("Tomás Silva", "tomas.silva@casadaponte.example"),
        subject: "Order 20425: one lamp missing from the parcel",
        steps: &[
            mail_with(
                day(1, 10, 31),
                "Dear team,\n\n\
                 the parcel came this morning in good shape, thank you. But we ordered three \
                 Tilda desk lamps and there were only two inside, plus one empty space in the \
                 padding (see the picture). The delivery note says three.\n\n\
                 Could you send the third one? Our office opens in two weeks.\n\n\
                 Best regards\n\
                 Tomás Silva\n\
                 Casa da Ponte, co-working",
                &[PARCEL_PHOTO],
            ),
            tag(day(1, 10, 36), Robo, &["shipping"]),
            note(
                day(1, 11, 2),
                Priya,
                "@Jonas the packing list has three ticks, but stock says there is one Tilda too \
                 many on the shelf. Can you check before I promise anything?",
            ),
            assign(day(1, 11, 2), Priya, Jonas),
            note(
                day(1, 14, 48),
                Jonas,
                "Right, it is still here. My mistake while packing. It can leave with tomorrow's \
                 pickup.",
            ),
        ],
    },
    Scenario {
        inbox: Support,
        reference: Some("order-20440"),
        from: ("Greta Holm", "greta.holm@fjordpost.example"),
        subject: "Please cancel order 20440",
        steps: &[
            mail(
                minutes(41),
                "Hello,\n\n\
                 I placed order 20440 (one Nord stool, natural) an hour ago and saw only \
                 afterwards that my partner had ordered the same one last week. Please cancel \
                 it if that is still possible. Sorry for the trouble!\n\n\
                 Greta Holm",
            ),
            assign(minutes(20), Priya, Priya),
            reply(
                minutes(4),
                Priya,
                "Hello Greta,\n\n\
                 no trouble at all. Order 20440 is cancelled and nothing will be charged. If \
                 your card shows a reservation of 115 EUR, it disappears by itself within a \
                 few days.\n\n\
                 Enjoy the one stool\n\
                 Priya",
            ),
        ],
    },
];
