//! `GET /booking-types`: what customers can book.

use base::app::Cx;
use base::error::Result;
use base::security::scopes::Scope;
use bookings::types;
use db::Tx;

use crate::booking_json::BookingTypeJson;
use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer};

pub const OPERATION: Operation = Operation {
    name: "list_booking_types",
    method: Method::Get,
    path: "/booking-types",
    tool: Some(Tool {
        name: "list_booking_types",
        about: "What customers can book.",
        help: "Lists what customers can book: name, length, place, who is there and the page on \
                which it is booked. Use it before find_slots, reply with booking or create_booking, \
                which take a type's id. The customer notices nothing.",
        hints: &[],
        example: r#"{}"#,
        list: Some("bookingTypes"),
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Read),
    access: Access::Read,
    idempotent: true,
    title: "List booking types",
    about: "Every booking type that can be booked and that this key can see, by name.",
    fields: &[],
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<Vec<BookingTypeJson>>(),
    example_input: "",
    example_output: r#"[{
        "id": "bkt_01kag0v1b3n5m7k9j2h4g6f8ds",
        "name": "First talk",
        "slug": "first-talk",
        "minutes": 30,
        "description": "What you need, and what we can do.",
        "place": "By telephone",
        "hosts": [{ "id": "usr_01kag0t8m4s6y2t9r5w1q3n7xe", "name": "Ines" }],
        "url": "https://mail.acme.example/b/acme/first-talk",
        "active": true
    }]"#,
    run: |tx, cx, _| answer(&list_booking_types(tx, cx)?),
};

pub fn list_booking_types(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<BookingTypeJson>> {
    let mut listed = Vec::new();
    for kind in types::list(tx, cx.actor)?.into_iter().filter(|kind| kind.active) {
        let hosts = types::hosts(tx, cx.actor.ws, &kind.id)?;
        listed.push(BookingTypeJson::new(kind, hosts, cx.public_url));
    }
    Ok(listed)
}
