//! `GET /reports`: the figures of the reports page.

use base::app::Cx;
use base::error::{Error, Result};
use base::ids::MailboxId;
use base::security::scopes::Scope;
use db::Tx;
use reports::{ReportFigures, ReportSpan, figures};

use crate::fields::{DATE, filled_text, text};
use crate::input::input;
use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer, parse_input};

/// Characters of an id in a query.
const ID_CHARS: usize = 200;
/// Characters of a zone's name; the longest has 30.
const ZONE_CHARS: usize = 60;

pub const OPERATION: Operation = Operation {
    name: "get_reports",
    method: Method::Get,
    path: "/reports",
    tool: Some(Tool {
        name: "get_reports",
        about: "Figures of the team's work.",
        help: "Reads how the team did in a span of days, compared with the span before: mail in and \
                out, time to the first answer and to closing, what waits now, topics, tags, people and \
                agents, what became of drafts, missed targets, documents, and how customers who were \
                asked found it. Use it when somebody asks how it goes; for single conversations use \
                list_conversations. The customer notices nothing.",
        hints: &[],
        example: r#"{"from": "2026-10-16", "to": "2026-11-12"}"#,
        list: None,
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Read),
    access: Access::ReadReplica,
    idempotent: true,
    title: "Read reports",
    about: "The figures of the reports page, of the inboxes that this key can see. They come from \
            counters that are a few seconds behind, and cost the same however much mail there is.",
    fields: GetReportsInput::FIELDS,
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<ReportFigures>(),
    example_input: "",
    example_output: r#"{
        "from": "2026-11-09", "to": "2026-11-09", "zone": "UTC", "mailbox": null, "days": 1,
        "received": 23, "receivedBefore": 19, "sent": 21, "sentBefore": 18,
        "begun": 12, "begunBefore": 11, "closed": 9, "closedBefore": 10,
        "firstAnswer": {"count": 11, "median": 3720, "medianBefore": 4800, "p90": 11640, "p90Before": 13560},
        "timeToClose": {"count": 9, "median": 86400, "medianBefore": 90000, "p90": 259200, "p90Before": null},
        "targets": {"kept": 10, "keptBefore": 9, "missed": 1, "missedBefore": 0},
        "documents": {"asked": 4, "askedBefore": 0, "received": 3, "receivedBefore": 0},
        "satisfaction": {
            "asked": 12, "askedBefore": 0, "count": 5, "countBefore": 0, "average": 4.2, "averageBefore": null,
            "byScore": [
                {"score": 5, "count": 3}, {"score": 4, "count": 1}, {"score": 3, "count": 0},
                {"score": 2, "count": 1}, {"score": 1, "count": 0}
            ],
            "inboxes": [{
                "id": "mbx_01kag0v1b3n5m7k9j2h4g6f8ds", "name": "Clients", "count": 5, "average": 4.2
            }],
            "topics": [{
                "id": "tpc_01kag0v1b3n5m7k9j2h4g6f8ds", "kind": "topic", "name": "Refunds",
                "count": 5, "good": 4, "average": 4.2
            }],
            "answeredBy": [
                {"id": null, "kind": "people", "name": "People alone", "count": 4, "good": 4, "average": null},
                {"id": null, "kind": "drafted", "name": "Drafting helper", "count": 1, "good": 0, "average": null}
            ]
        },
        "waiting": {"open": 7, "oldest": "2026-11-09T08:12:00.000Z"},
        "steps": [{
            "from": "2026-11-09", "received": 23, "receivedBefore": 19, "sent": 21, "missed": 1, "kept": 10,
            "firstAnswerMedian": 3720, "firstAnswerP90": 11640
        }],
        "hours": [
            [0,0,0,0,0,0,0,1,4,6,5,2,1,1,1,1,1,0,0,0,0,0,0,0], [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],
            [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0], [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],
            [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0], [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],
            [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]
        ],
        "inboxes": [{
            "id": "mbx_01kag0v1b3n5m7k9j2h4g6f8ds", "name": "Clients",
            "received": 23, "receivedBefore": 19, "sent": 21, "sentBefore": 18
        }],
        "topics": [
            {"id": "tpc_01kag0v1b3n5m7k9j2h4g6f8ds", "name": "Refunds", "conversations": 5, "before": 3},
            {"id": null, "name": "No topic", "conversations": 7, "before": 8}
        ],
        "tags": [{"id": "tag_01kag0v1b3n5m7k9j2h4g6f8ds", "name": "vip", "conversations": 2, "before": 1}],
        "members": [{"id": "usr_01kag0v1b3n5m7k9j2h4g6f8ds", "name": "Ines Hallgren", "sent": 14, "closed": 9}],
        "drafts": [{"id": null, "name": "Drafting helper", "asItWas": 3, "edited": 2, "discarded": 1}]
    }"#,
    run: |tx, cx, input| answer(&get_reports(tx, cx, &parse_input(input)?)?),
};

input! {
    #[derive(Clone, Debug, Default)]
    pub struct GetReportsInput {
        /// The first day; the last 28 days if left out.
        #[optional(DATE)]
        pub from: Option<String>,
        /// The last day; today if left out.
        #[optional(DATE)]
        pub to: Option<String>,
        /// Only this inbox (an id such as mbx_…).
        #[optional(text(ID_CHARS))]
        pub mailbox: Option<String>,
        /// The time zone of days and hours, such as Europe/Berlin; UTC if left out.
        #[optional(filled_text(ZONE_CHARS))]
        pub zone: Option<String>,
    }
}

pub fn get_reports(tx: &mut Tx<'_>, cx: &Cx<'_>, input: &GetReportsInput) -> Result<ReportFigures> {
    let zone = input.zone.as_deref();
    let span = ReportSpan::parse(input.from.as_deref(), input.to.as_deref(), zone, cx.now)?;
    let mailbox = match input.mailbox.as_deref() {
        None => None,
        Some(id) => Some(MailboxId::parse(id).ok_or_else(|| {
            Error::invalid(
                "mailbox",
                "is not an inbox that you can see (list_mailboxes lists them)",
            )
        })?),
    };
    figures(tx, cx, &span, mailbox.as_ref())
}
