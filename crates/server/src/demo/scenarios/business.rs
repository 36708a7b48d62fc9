//! Firms that buy, sell, write about us, or would like to work here.

use super::papers::{CURRICULUM, ROOM_LIST, SHOP_CARD, SHOP_VISIT};
use crate::demo::scenario::SampleInbox::Support;
use crate::demo::scenario::SampleMember::{Ines, Jonas, Priya, Robo};
use crate::demo::scenario::{
    SampleDocument, Scenario, ask, assign, close, day, discard, draft, mail, mail_with, minutes,
    note, reply, tag,
};

pub const STORIES: &[Scenario] = &[
    Scenario {
        inbox: Support,
        reference: None,
        from: ("Ellen Strand", "ellen.strand@hotel-seeblick.example"),
        subject: "Lamps for 42 hotel rooms",
        steps: &[
            mail(
                day(18, 9, 20),
                "Dear Lumen & Holz,\n\n\
                 we are refurbishing our hotel by the lake and would like to have your Tilda \
                 beside every bed. That would be 84 lamps for 42 rooms. Could you make that \
                 many within half a year, and what would the price be?\n\n\
                 Kind regards\n\
                 Ellen Strand\n\
                 Hotel Seeblick",
            ),
            tag(day(18, 9, 25), Robo, &["vip"]),
            assign(day(18, 9, 40), Priya, Ines),
            reply(
                day(18, 11, 15),
                Ines,
                "Dear Ms Strand,\n\n\
                 what a lovely project. 84 lamps are a good size for us: we would make them \
                 in three batches. From 50 lamps on the price is 104 EUR instead of 129, \
                 delivery included.\n\n\
                 For hotels we fit a switch in the base that guests find in the dark, and a \
                 plug of your choice. Would you like to see a sample first?\n\n\
                 Kind regards\n\
                 Ines Marti",
            ),
            mail(
                day(14, 13, 50),
                "Dear Ms Marti,\n\n\
                 a sample would be perfect, in the darker oak if you have it. And is the cord \
                 available in two metres? Our sockets are behind the beds.\n\n\
                 Ellen Strand",
            ),
            reply(
                day(14, 15, 30),
                Ines,
                "The sample leaves tomorrow, in smoked oak with a cord of two metres. Keep it \
                 as long as you need, and let somebody sleep next to it.\n\n\
                 Ines Marti",
            ),
            mail_with(
                day(1, 9, 44),
                "Dear Ms Marti,\n\n\
                 the sample has convinced everyone, even our housekeeper, and she has seen \
                 many lamps. Here is the list of rooms with the number of lamps and the kind \
                 of plug. Four rooms need only one lamp, so it is 80 in total.\n\n\
                 Could you send us a firm offer with dates for the three deliveries? Our \
                 board meets on the last Thursday of the month.\n\n\
                 Ellen Strand",
                &[ROOM_LIST],
            ),
            note(
                day(1, 10, 20),
                Ines,
                "@Jonas can we manage 30 within eight weeks if we leave out the trade fair? I \
                 want to give her dates that hold.",
            ),
            note(
                day(1, 13, 15),
                Jonas,
                "30 in eight weeks is fine, 30 four weeks later and the last 20 four weeks after \
                 that. I need the smoked oak ordered by next week.",
            ),
        ],
    },
    Scenario {
        inbox: Support,
        reference: None,
        from: ("Jan Verhoeven", "redactie@wonenenlicht.example"),
        subject: "Pictures for our next issue",
        steps: &[
            mail(
                day(6, 14, 40),
                "Dear sir or madam,\n\n\
                 I write for the magazine Wonen en Licht. The next issue has a feature on \
                 small lamp makers and we would like to show the Alma on a full page. Do you \
                 have pictures in print quality, and could we ask three short questions about \
                 how the shade is bent? Our deadline is in ten days.\n\n\
                 With kind regards\n\
                 Jan Verhoeven",
            ),
            tag(day(6, 14, 45), Robo, &["press"]),
            assign(day(6, 15, 0), Priya, Ines),
            reply(
                day(5, 9, 10),
                Ines,
                "Dear Jan,\n\n\
                 thank you, we would be glad to be part of it. I have asked our photographer \
                 for the large files and will send you a link to six pictures. You may use \
                 them free of charge with her name beside them.\n\n\
                 Please send the three questions by mail, and Jonas, who bends every shade \
                 himself, will answer them.\n\n\
                 Kind regards\n\
                 Ines Marti",
            ),
        ],
    },
    Scenario {
        inbox: Support,
        reference: None,
        from: ("Kristin Sund", "kristin@sund-hjem.example"),
        subject: "Selling your lamps in our shop",
        steps: &[
            mail_with(
                day(1, 11, 5),
                "Hello,\n\n\
                 I run a small shop for furniture in the old harbour and have admired your \
                 lamps for a long time. I would like to start with six Alma and four Tilda. \
                 Do you sell to shops, and what are your terms?\n\n\
                 We are in the south in March and would gladly come by: the invitation is \
                 attached, and so is my card.\n\n\
                 Best regards\n\
                 Kristin Sund\n\
                 Sund Hjem",
                &[SHOP_VISIT, SHOP_CARD],
            ),
            tag(day(1, 11, 6), Robo, &["trade"]),
            ask(
                day(1, 11, 12),
                "Welcomes Kristin and asks for the papers of a trade account",
                "Hello Kristin,\n\n\
                 thank you, we would be happy to see our lamps in your shop. We do sell to \
                 shops: the discount is 35 % from ten pieces on, payable within 30 days, and \
                 you may return what has not sold after six months.\n\n\
                 To open a trade account for you we need a few papers.\n\n\
                 Kind regards\n\
                 Lumen & Holz",
                &[
                    SampleDocument {
                        label: "Extract from the trade register",
                        description: "Not older than six months",
                        required: true,
                    },
                    SampleDocument {
                        label: "VAT number",
                        description: "A letter from the tax office, or your letterhead",
                        required: true,
                    },
                    SampleDocument {
                        label: "A picture of your shop",
                        description: "We like to know where our lamps hang",
                        required: false,
                    },
                ],
            ),
        ],
    },
    Scenario {
        inbox: Support,
        reference: None,
        from: ("Studio Varga", "eszter@studiovarga.example"),
        subject: "Alma in a darker stain?",
        steps: &[
            mail(
                day(16, 10, 0),
                "Hello,\n\n\
                 we are planning a library and would like to use twelve Alma of 60 cm above \
                 the reading tables. The ash is a little too light for the room. Could you \
                 stain the veneer, close to walnut but without the red?\n\n\
                 Eszter Varga\n\
                 Studio Varga, architects",
            ),
            reply(
                day(16, 13, 25),
                Jonas,
                "Hello Eszter,\n\n\
                 we can. Ash takes stain well, and a brown with a little grey comes close to \
                 what you describe. I will make three small samples from one sheet so that \
                 you can compare them in the room.\n\n\
                 Jonas",
            ),
            mail(
                day(8, 15, 10),
                "The samples are here. Number two is exactly right. How long would twelve \
                 lamps take, and do they come with the long suspension for a ceiling of 4.60 \
                 m?\n\n\
                 Eszter",
            ),
            reply(
                day(8, 16, 45),
                Jonas,
                "Twelve in stain number two take five weeks. The long suspension is 5 m and \
                 can be shortened on site, it is included. I have written \"stain 2, Studio \
                 Varga\" on a sheet and keep it here, so that later orders will match.\n\n\
                 Jonas",
            ),
            mail(
                minutes(460),
                "Perfect. The client has said yes. One last thing: the fire safety officer \
                 asks for a certificate for the veneer. Do you have one?\n\n\
                 Eszter",
            ),
            tag(minutes(450), Robo, &["trade"]),
        ],
    },
    Scenario {
        inbox: Support,
        reference: None,
        from: ("Mila Petrova", "mila.petrova@holzhand.example"),
        subject: "Application as a cabinetmaker",
        steps: &[
            mail_with(
                day(9, 8, 15),
                "Dear Lumen & Holz,\n\n\
                 at the spring market I talked to one of you about joints, and he told me \
                 that you might look for somebody in the workshop. I finished my \
                 apprenticeship as a cabinetmaker two years ago and have worked in a shop for \
                 stairs since then. I would like to go back to smaller things.\n\n\
                 My CV is attached. I could start in two months and would be happy to come \
                 for a trial day.\n\n\
                 Kind regards\n\
                 Mila Petrova",
                &[CURRICULUM],
            ),
            tag(day(9, 8, 20), Robo, &["jobs"]),
            assign(day(9, 9, 0), Priya, Jonas),
            note(
                day(9, 10, 30),
                Jonas,
                "@Ines that is the one with the dovetail question. I would like to invite her.",
            ),
            note(
                day(9, 12, 5),
                Ines,
                "Please do. I am in the workshop on Wednesdays and Thursdays.",
            ),
            reply(
                day(9, 13, 20),
                Jonas,
                "Dear Mila,\n\n\
                 I remember our talk very well. We would like to get to know you: could you \
                 come for a trial day, on a Wednesday or Thursday? We start at half past \
                 seven, there is soup at noon, and of course the day is paid.\n\n\
                 Best wishes\n\
                 Jonas Feld",
            ),
        ],
    },
    Scenario {
        inbox: Support,
        reference: None,
        from: ("Growth Partner Team", "hello@topspot-growth.example"),
        subject: "First place on every search page",
        steps: &[
            mail(
                day(8, 3, 12),
                "Hi there!\n\n\
                 I looked at your website and found 37 errors that keep you from the first \
                 place on the search page. Our team of experts can repair them within 14 \
                 days, or you pay nothing.\n\n\
                 Shall I send you our free report?",
            ),
            draft(
                day(8, 3, 13),
                "Declines the offer politely",
                "Hello,\n\n\
                 thank you for your offer. We are happy with our website and do not need help \
                 with it at the moment.\n\n\
                 Kind regards\n\
                 Lumen & Holz",
            ),
            discard(day(8, 8, 5), Priya, "Advertising, no answer needed"),
            close(day(8, 8, 5), Priya),
        ],
    },
];
