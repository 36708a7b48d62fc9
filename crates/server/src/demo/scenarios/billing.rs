//! Invoices that come in, invoices that went out, and mail that only looks like one.

use mail::{Dmarc, Risk};

use super::papers::{LED_INVOICE, OPEN_ITEMS, TIMBER_INVOICE};
use crate::demo::scenario::SampleInbox::Billing;
use crate::demo::scenario::SampleMember::{Ines, Jonas, Priya, Robo};
use crate::demo::scenario::{
    SampleRisk, Scenario, approve, assign, close, day, draft, mail, mail_with, minutes, note, open,
    reply, risky, secure_reply, tag,
};

pub const STORIES: &[Scenario] = &[
    Scenario {
        inbox: Billing,
        reference: None,
        from: ("Sägewerk Tannrain", "buchhaltung@tannrain.example"),
        subject: "Rechnung 2207, Eschenfurnier",
        steps: &[
            mail_with(
                day(1, 6, 45),
                "Sehr geehrte Damen und Herren\n\n\
                 im Anhang erhalten Sie die Rechnung 2207 für die Lieferung Eschenfurnier der \
                 letzten Woche. Zahlbar innert 30 Tagen, bei Zahlung innert 10 Tagen gewähren \
                 wir 2 % Skonto.\n\n\
                 Freundliche Grüsse\n\
                 Buchhaltung Sägewerk Tannrain",
                &[TIMBER_INVOICE],
            ),
            tag(day(1, 6, 46), Robo, &["invoice"]),
            note(
                day(1, 6, 46),
                Robo,
                "In short: invoice 2207 for ash veneer, 1,264.80 EUR, due in 30 days; 2 % less \
                 when paid within 10 days. It matches delivery note 5518.",
            ),
            assign(day(1, 8, 20), Jonas, Ines),
        ],
    },
    Scenario {
        inbox: Billing,
        reference: None,
        from: ("Orbis Lichttechnik", "invoices@orbis-licht.example"),
        subject: "Invoice LX-5521 for LED modules",
        steps: &[
            mail_with(
                day(14, 7, 10),
                "Dear customer,\n\n\
                 please find attached invoice LX-5521 for 120 LED modules, 2700 K. The goods \
                 left our warehouse yesterday.\n\n\
                 With kind regards\n\
                 Orbis Lichttechnik, accounts",
                &[LED_INVOICE],
            ),
            tag(day(14, 7, 11), Robo, &["invoice"]),
            note(
                day(12, 13, 0),
                Ines,
                "Paid from the business account. Delivery complete, Jonas counted 120.",
            ),
            close(day(12, 13, 1), Ines),
        ],
    },
    Scenario {
        inbox: Billing,
        reference: Some("invoice-1204"),
        from: ("Atelier Rossi", "studio@atelierrossi.example"),
        subject: "Invoice with our VAT number, please",
        steps: &[
            mail(
                minutes(310),
                "Good morning,\n\n\
                 invoice 1204 for the three Alma lamps was made out to me personally. Our \
                 accountant needs it in the name of the firm, with the VAT number:\n\n\
                 Atelier Rossi srl\n\
                 Via dei Tessitori 8\n\
                 IT 0123 456 789\n\n\
                 Could you send a corrected one? It is already paid.\n\n\
                 Thank you\n\
                 Chiara Rossi",
            ),
            tag(minutes(305), Robo, &["invoice"]),
            draft(
                minutes(301),
                "Promises the corrected invoice 1204 by tomorrow",
                "Good morning Chiara,\n\n\
                 thank you for the details. We will cancel invoice 1204 and make out a new \
                 one to Atelier Rossi srl with your VAT number. You will have it by tomorrow; \
                 the payment is carried over, so there is nothing for you to do.\n\n\
                 Could you please check the number once more? Italian VAT numbers have eleven \
                 digits after IT, and we counted ten in your mail.\n\n\
                 Kind regards\n\
                 Lumen & Holz",
            ),
        ],
    },
    Scenario {
        inbox: Billing,
        reference: None,
        from: ("Joost van Dalen", "joost@vandalen-tandartsen.example"),
        subject: "Reminder for invoice 1178, but we have paid",
        steps: &[
            mail(
                day(11, 8, 33),
                "Hello,\n\n\
                 today we got a reminder for invoice 1178 (478 EUR). We paid it three weeks \
                 ago. The bank confirms that it was booked. Could you check on your side \
                 before the next reminder comes?\n\n\
                 Regards\n\
                 Joost van Dalen",
            ),
            tag(day(11, 8, 40), Robo, &["invoice"]),
            note(
                day(11, 9, 15),
                Robo,
                "The payment is there: 478.00 EUR came in with the reference 1187 instead of \
                 1178, so it was not matched.",
            ),
            reply(
                day(11, 9, 40),
                Ines,
                "Dear Joost,\n\n\
                 you are right, and I am sorry for the reminder. Your payment came in on \
                 time, but with two digits of the number swapped, so our system did not see \
                 it. It is booked now and the reminder is void.\n\n\
                 Kind regards\n\
                 Ines Marti",
            ),
            mail(
                day(11, 10, 30),
                "Ah, that was my typing then. Thank you for finding it!\n\n\
                 Joost",
            ),
            close(day(11, 10, 45), Ines),
        ],
    },
    Scenario {
        inbox: Billing,
        reference: None,
        from: ("Orbis Lichttechnik", "accounting@orbis-licht-service.example"),
        subject: "Our new bank account",
        steps: &[
            risky(
                day(2, 11, 8),
                "Dear customer,\n\n\
                 due to an audit our old bank account can no longer receive payments. Please \
                 use the following account for all open invoices from today:\n\n\
                 Account holder: Orbis Service\n\
                 Account: XX00 0000 0000 1234 5678\n\n\
                 We kindly ask you to settle open amounts within two days so that the next \
                 delivery is not delayed. Please confirm by return mail.\n\n\
                 Accounting department",
                SampleRisk {
                    risk: Risk::Suspicious,
                    reasons: &[
                        "The sender's domain differs from that of earlier mail by this firm.",
                        "It announces a new bank account.",
                        "It asks for payment within two days.",
                    ],
                    dmarc: Dmarc::Absent,
                    hold: false,
                },
            ),
            note(
                day(2, 11, 30),
                Priya,
                "@Ines this looks odd: a different domain, and they never wrote from \
                 \"accounting\" before. I did not answer.",
            ),
            assign(day(2, 11, 31), Priya, Ines),
            note(
                day(2, 13, 10),
                Ines,
                "Called Orbis on the number from our contract. They did not send this and have \
                 not changed banks. Please nobody pay or answer. I keep it open until they have \
                 reported it.",
            ),
        ],
    },
    Scenario {
        inbox: Billing,
        reference: None,
        from: ("Treuhand Lindenau", "office@treuhand-lindenau.example"),
        subject: "Open items of last month",
        steps: &[
            mail_with(
                day(3, 14, 15),
                "Hello Ines,\n\n\
                 attached is the list of open items for last month. Three of them have been \
                 open for more than 60 days. Could you tell me which of these you would still \
                 like to remind, and which we should write off?\n\n\
                 Best regards\n\
                 Beatrice Kunz\n\
                 Treuhand Lindenau",
                &[OPEN_ITEMS],
            ),
            assign(day(3, 14, 20), Ines, Ines),
            reply(
                day(3, 16, 5),
                Ines,
                "Hello Beatrice,\n\n\
                 thank you. Please remind 1093 and 1121 once more, they always pay in the \
                 end. 1066 is the hotel that closed, write that one off. Did the 89.60 from \
                 the market come through your books or mine? I cannot find it.\n\n\
                 Ines",
            ),
        ],
    },
    Scenario {
        inbox: Billing,
        reference: Some("order-20411"),
        from: ("Ola Berg", "ola.berg@nordavind.example"),
        subject: "Can we pay in two instalments?",
        steps: &[
            mail(
                day(4, 20, 12),
                "Hello,\n\n\
                 we love the Ulme table, and it is a lot of money to spend at once. Would it \
                 be possible to pay half when we order and the other half on delivery?\n\n\
                 Ola and Ingrid Berg",
            ),
            draft(
                day(3, 7, 30),
                "Agrees to pay half now and half on delivery",
                "Hello Ola, hello Ingrid,\n\n\
                 yes, that is possible for everything that we make to order: half with the \
                 order, half when the table stands in your home. There is no extra charge.\n\n\
                 If that suits you, answer with a short yes and you will get the first \
                 invoice over 740 EUR.\n\n\
                 Kind regards\n\
                 Lumen & Holz",
            ),
            approve(day(3, 9, 2), Ines),
        ],
    },
    Scenario {
        inbox: Billing,
        reference: None,
        from: ("Mail Administrator", "no-reply@storage-alert.example"),
        subject: "Your mailbox is full: confirm your account today",
        steps: &[risky(
            minutes(360),
            "Dear user billing@lumen-holz.example,\n\n\
                 your mailbox has used 98 % of its storage. Incoming messages will be deleted \
                 today at 18:00 unless you confirm that the account is still in use.\n\n\
                 Confirm my account now: https://mail.lumen-holz.example \
                 (http://login.quota-check.example/verify?u=billing)\n\n\
                 You need your current password to confirm. This message was created \
                 automatically.\n\n\
                 Mail Administrator",
            SampleRisk {
                risk: Risk::Phishing,
                reasons: &[
                    "The sender's domain says that this mail is not from them.",
                    "The link leads to login.quota-check.example, not to the address shown.",
                    "It threatens to delete mail today.",
                ],
                dmarc: Dmarc::Fail,
                hold: true,
            },
        )],
    },
    Scenario {
        inbox: Billing,
        reference: None,
        from: ("Helena Osei", "helena@osei-studio.example"),
        subject: "Refund for order 20377",
        steps: &[
            mail(
                day(2, 9, 5),
                "Hello,\n\nyou wrote that the refund for order 20377 is on its way. Which account does \
                 it go to? I have moved to another bank.\n\nHelena Osei",
            ),
            secure_reply(
                day(2, 10, 12),
                Ines,
                "Hello Helena,\n\nwe still have your account ending in 3002. Please write the new IBAN \
                 on this page, not by mail, and we will change it today.\n\nInes",
            ),
            open(day(2, 11, 40)),
        ],
    },
];
