//! What customers and suppliers attach.

use crate::demo::files::Colour::{Card, Crack, DarkWood, Floor, Glow, Linen, Wall, Wood};
use crate::demo::files::{Colour, SampleContent, SampleFile, Slab};

pub const TIMBER_INVOICE: SampleFile = SampleFile {
    name: "rechnung-2207.pdf",
    content: SampleContent::Sheet {
        title: "Rechnung 2207",
        lines: &[
            "Sägewerk Tannrain, Tannrain 3",
            "An: Lumen & Holz",
            "",
            "Eschenfurnier 0.9 mm, 62 m² zu 18.00 EUR       1,116.00 EUR",
            "Lieferung, Lieferschein 5518                      60.00 EUR",
            "Mehrwertsteuer                                    88.80 EUR",
            "",
            "Total                                          1,264.80 EUR",
            "",
            "Zahlbar innert 30 Tagen, 2 % Skonto innert 10 Tagen.",
        ],
    },
};

pub const LED_INVOICE: SampleFile = SampleFile {
    name: "invoice-LX-5521.pdf",
    content: SampleContent::Sheet {
        title: "Invoice LX-5521",
        lines: &[
            "Orbis Lichttechnik",
            "To: Lumen & Holz",
            "",
            "120 LED modules, 2700 K, 7 W, at 6.40 EUR        768.00 EUR",
            "Postage and packing                               14.50 EUR",
            "",
            "Total                                            782.50 EUR",
            "",
            "Payable within 14 days. Thank you for your order.",
        ],
    },
};

pub const CURRICULUM: SampleFile = SampleFile {
    name: "mila-petrova-cv.pdf",
    content: SampleContent::Sheet {
        title: "Mila Petrova",
        lines: &[
            "Cabinetmaker",
            "",
            "Two years at Treppenbau Wieland: stairs, hand rails, fitting on site",
            "Apprenticeship of four years at the joinery Holzhand, with distinction",
            "",
            "Joints by hand and by machine, veneer, oil and shellac",
            "Drawing by computer, CNC router with three axes",
            "Languages: English, German, Bulgarian",
        ],
    },
};

pub const SHOP_VISIT: SampleFile = SampleFile {
    name: "visit.ics",
    content: SampleContent::Invitation(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Sund Hjem//EN\r\nMETHOD:REQUEST\r\n\
         BEGIN:VEVENT\r\nUID:visit-1@sund-hjem.example\r\nDTSTAMP:20261101T090000Z\r\nSEQUENCE:0\r\n\
         DTSTART;TZID=Europe/Oslo:20270311T140000\r\nDTEND;TZID=Europe/Oslo:20270311T153000\r\n\
         SUMMARY:Visit to the workshop\r\nLOCATION:Lumen & Holz\\, the yard behind the mill\r\n\
         DESCRIPTION:We would like to see how the shade of the Alma is bent.\r\n\
         ORGANIZER;CN=Kristin Sund:mailto:kristin@sund-hjem.example\r\n\
         ATTENDEE;CN=Lumen & Holz;PARTSTAT=NEEDS-ACTION:mailto:support@lumen-holz.example\r\n\
         ATTENDEE;CN=Ola Berg;PARTSTAT=ACCEPTED:mailto:ola@sund-hjem.example\r\n\
         END:VEVENT\r\nEND:VCALENDAR\r\n",
    ),
};

pub const SHOP_CARD: SampleFile = SampleFile {
    name: "kristin-sund.vcf",
    content: SampleContent::Contact(
        "BEGIN:VCARD\r\nVERSION:4.0\r\nFN:Kristin Sund\r\nORG:Sund Hjem\r\n\
         TEL:+47 22 55 01 40\r\nEMAIL:kristin@sund-hjem.example\r\nEND:VCARD\r\n",
    ),
};

pub const LEASE_OFFER: SampleFile = SampleFile {
    name: "offer-second-floor.pdf",
    content: SampleContent::Sheet {
        title: "Offer: second floor, 140 square metres",
        lines: &[
            "Rent 9.50 EUR per square metre, 1,330 EUR a month",
            "Heating and lift 180 EUR a month",
            "For five years, with an option for five more",
            "Floor load 500 kg per square metre",
            "",
            "Oskar Thalmann",
        ],
    },
};

pub const OPEN_ITEMS: SampleFile = SampleFile {
    name: "open-items.csv",
    content: SampleContent::Table(
        "invoice,customer,amount,currency,days open\n\
         1066,Hotel Alpenruh,412.00,EUR,148\n\
         1093,Bistro Quai,298.00,EUR,81\n\
         1121,Praxis Sommer,567.00,EUR,66\n\
         1182,Atelier Lind,189.00,EUR,24\n\
         1190,Van Dalen,239.00,EUR,18\n",
    ),
};

/// 42 rooms and 80 lamps.
pub const ROOM_LIST: SampleFile = SampleFile {
    name: "rooms-and-lamps.csv",
    content: SampleContent::Table(
        "floor,rooms,lamps per room,lamps,plug\n\
         1,12,2,24,type F\n\
         2,14,2,28,type F\n\
         3,12,2,24,type F\n\
         4,4,1,4,type C\n",
    ),
};

/// A floor lamp whose base has split.
pub const CRACKED_LAMP: SampleFile = SampleFile {
    name: "IMG_0412.png",
    content: SampleContent::Photo(&[
        FLOOR,
        slab((18, 56), (62, 50), (98, 110), Linen),
        slab((56, 94), (78, 78), (82, 82), DarkWood),
        slab((94, 106), (52, 46), (108, 114), Wood),
        slab((94, 99), (84, 88), (86, 91), Crack),
        slab((99, 103), (86, 80), (89, 83), Crack),
        slab((103, 106), (80, 84), (82, 86), Crack),
    ]),
};

/// An open box with two lamps and an empty place.
pub const PARCEL_PHOTO: SampleFile = SampleFile {
    name: "parcel.png",
    content: SampleContent::Photo(&[
        FLOOR,
        slab((30, 104), (20, 26), (140, 134), Card),
        slab((38, 96), (28, 32), (132, 128), Linen),
        slab((44, 90), (36, 38), (60, 60), DarkWood),
        slab((44, 90), (68, 68), (92, 92), DarkWood),
        slab((50, 60), (42, 42), (54, 54), Glow),
        slab((50, 60), (74, 74), (86, 86), Glow),
        slab((44, 90), (100, 100), (124, 122), Wall),
    ]),
};

/// A pendant lamp above a table.
pub const LAMP_AT_HOME: SampleFile = SampleFile {
    name: "our-evenings.png",
    content: SampleContent::Photo(&[
        FLOOR,
        slab((0, 26), (79, 79), (81, 81), Crack),
        slab((26, 48), (74, 50), (86, 110), Wood),
        slab((48, 51), (54, 58), (106, 102), Glow),
        slab((84, 92), (18, 18), (142, 142), DarkWood),
        slab((92, 120), (26, 28), (33, 33), DarkWood),
        slab((92, 120), (127, 127), (134, 132), DarkWood),
    ]),
};

const FLOOR: Slab = slab((88, 120), (0, 0), (160, 160), Floor);

const fn slab(rows: (i32, i32), left: (i32, i32), right: (i32, i32), colour: Colour) -> Slab {
    Slab { rows, left, right, colour }
}
