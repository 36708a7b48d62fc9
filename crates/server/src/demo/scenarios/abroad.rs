//! Mail in German, French, Spanish and Japanese, answered in the same language where somebody can.

use crate::demo::scenario::SampleInbox::Support;
use crate::demo::scenario::SampleMember::{Ines, Jonas, Priya, Robo};
use crate::demo::scenario::{Scenario, assign, close, day, draft, mail, minutes, note, reply, tag};

pub const STORIES: &[Scenario] = &[
    Scenario {
        inbox: Support,
        reference: Some("order-20389"),
        from: ("Lucía Romero", "lucia@romero-lopez.example"),
        subject: "Pedido 20389: ¿cuándo llega?",
        steps: &[
            mail(
                day(6, 11, 20),
                "Hola:\n\n\
                 Hice el pedido 20389 (una lámpara Alma de 60 cm) hace casi tres semanas. En \
                 la página pone que el plazo es de diez días. La habitación de mi hija sigue \
                 a oscuras. ¿Me pueden decir cuándo sale?\n\n\
                 Un saludo\n\
                 Lucía Romero",
            ),
            tag(day(6, 11, 30), Robo, &["shipping"]),
            note(
                day(6, 11, 30),
                Robo,
                "In short: order 20389, one Alma 60 cm, is late. She asks when it leaves. The \
                 order waits for ash veneer.",
            ),
            reply(
                day(6, 13, 5),
                Ines,
                "Hola, Lucía:\n\n\
                 Tiene toda la razón, y lo siento. La chapa de fresno llegó con retraso y por \
                 eso las Alma grandes salen más tarde. La suya está hoy en el taller, se \
                 barniza mañana y sale el viernes. Le devolvemos los gastos de envío.\n\n\
                 Muchas gracias por su paciencia\n\
                 Ines Marti",
            ),
        ],
    },
    Scenario {
        inbox: Support,
        reference: None,
        from: ("Familie Aumann", "aumann@sonnhalde.example"),
        subject: "Lieferzeit für den Tisch Ulme",
        steps: &[
            mail(
                day(17, 18, 40),
                "Guten Abend,\n\n\
                 wir interessieren uns für den Tisch Ulme, 200 x 92 cm. Auf der Website steht \
                 \"auf Bestellung\". Mit welcher Lieferzeit müssen wir rechnen, und können \
                 wir vorher ein Holzmuster sehen?\n\n\
                 Freundliche Grüsse\n\
                 Karin und Peter Aumann",
            ),
            reply(
                day(16, 9, 12),
                Jonas,
                "Guten Tag Frau Aumann, guten Tag Herr Aumann\n\n\
                 ein Ulme braucht bei uns sechs bis acht Wochen. Ein Muster schicken wir \
                 Ihnen gern: ein Stück Ulme, geölt, etwa so gross wie eine Postkarte. Sie \
                 dürfen es behalten. An welche Adresse darf es gehen?\n\n\
                 Freundliche Grüsse\n\
                 Jonas Feld",
            ),
            mail(
                day(16, 12, 31),
                "Sehr gern: Sonnhalde 7, bei Aumann. Vielen Dank für die schnelle Antwort!\n\n\
                 Karin Aumann",
            ),
            reply(
                day(16, 14, 2),
                Jonas,
                "Das Muster ist unterwegs. Wenn Sie sich entscheiden, genügt eine Antwort auf \
                 diese Mail, dann bekommen Sie von uns ein Angebot mit festem Termin.\n\n\
                 Jonas Feld",
            ),
            close(day(16, 14, 20), Jonas),
        ],
    },
    Scenario {
        inbox: Support,
        reference: None,
        from: ("Camille Perrin", "camille.perrin@atelier-des-quais.example"),
        subject: "Livraison à Lyon et montage",
        steps: &[
            mail(
                minutes(190),
                "Bonjour,\n\n\
                 nous aimerions commander deux lampadaires Bo et une table Ulme pour notre \
                 nouvel atelier à Lyon. Livrez-vous en France, et est-ce que quelqu'un peut \
                 monter la table sur place ? Nous sommes au troisième étage, avec un \
                 ascenseur assez petit (80 cm de large).\n\n\
                 Merci d'avance\n\
                 Camille Perrin",
            ),
            assign(minutes(185), Priya, Robo),
            draft(
                minutes(182),
                "Explains delivery to Lyon in French and asks for the size of the lift",
                "Bonjour Camille,\n\n\
                 oui, nous livrons en France. Les deux lampadaires Bo partent par \
                 transporteur, sous cinq jours ouvrés. La table Ulme est fabriquée sur \
                 commande en six à huit semaines. Nous la livrons nous-mêmes et nous la \
                 montons chez vous, c'est compris dans le prix.\n\n\
                 Le plateau mesure 92 cm de large et ne se démonte pas : il faudra donc \
                 passer par l'escalier. Pourriez-vous nous donner la largeur de l'escalier à \
                 l'endroit le plus étroit ?\n\n\
                 Bien cordialement\n\
                 Lumen & Holz",
            ),
        ],
    },
    Scenario {
        inbox: Support,
        reference: None,
        from: ("佐藤 美咲", "misaki.sato@hinata.example"),
        subject: "日本への発送について",
        steps: &[
            mail(
                day(1, 5, 15),
                "はじめまして。札幌に住んでいる佐藤と申します。\n\n\
                 デスクランプ「Tilda」を購入したいのですが、日本への発送は可能でしょうか。送料\
                 と、おおよその日数も教えてください。\n\n\
                 また、日本の電圧は100Vですが、そのまま使えますか。プラグの形も違うと思います\
                 ので、アダプターが必要かどうかも知りたいです。\n\n\
                 どうぞよろしくお願いいたします。\n\
                 佐藤 美咲",
            ),
            note(
                day(1, 5, 16),
                Robo,
                "In short: she would like one Tilda sent to Sapporo. She asks for the postage and \
                 the time it takes, whether it runs on 100 V, and whether the plug fits. @Priya \
                 the data sheet says 100 to 240 V; I know nothing about the plug.",
            ),
        ],
    },
];
