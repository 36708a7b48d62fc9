//! `POST /conversations/{id}/links`: links a conversation to an item of an issue tracker.

use base::app::Cx;
use base::error::Result;
use base::limits::LINK_URL_CHARS;
use base::security::scopes::Scope;
use db::Tx;
use model::linked_items;

use crate::conversation_json::LinkJson;
use crate::fields::filled_text;
use crate::input::input;
use crate::operations::{Access, Method, Operation, ScopeRule, Tool, answer, parse_input};

pub const OPERATION: Operation = Operation {
    name: "link_item",
    method: Method::Post,
    path: "/conversations/{id}/links",
    tool: Some(Tool {
        name: "link_item",
        about: "Links an issue by its URL.",
        help: "Links a conversation to an issue, pull or merge request of GitHub, GitLab, Jira or \
                Linear by the address of its page. Use it when what the customer wrote is worked \
                on there. get_conversation lists links with title and state, as far as the \
                tracker told them. The customer notices nothing.",
        hints: &[],
        example: r#"{
            "id": "cnv_01kag0z8m4s6y2t9r5w1q3n7xe",
            "url": "https://github.com/acme/shop/issues/12"
        }"#,
        list: None,
        destructive: false,
    }),
    scope: ScopeRule::Always(Scope::Write),
    access: Access::Write,
    idempotent: true,
    title: "Link an item",
    about: "Links a conversation to an issue, pull or merge request of GitHub, GitLab, Jira or Linear by \
            the address of its page, also of a GitHub, GitLab or Jira of one's own. An item that is \
            linked already stays as it is.",
    fields: LinkItemInput::FIELDS,
    body_optional: false,
    success: 200,
    output: |schemas| schemas.subschema_for::<LinkJson>(),
    example_input: r#"{ "url": "https://github.com/acme/shop/issues/12" }"#,
    example_output: r#"{
        "id": "lnk_01kag10a1b2c3d4e5f6g7h8j9k",
        "url": "https://github.com/acme/shop/issues/12",
        "kind": "github",
        "name": "acme/shop#12",
        "title": null,
        "state": null
    }"#,
    run: |tx, cx, input| answer(&link_item(tx, cx, &parse_input(input)?)?),
};

input! {
    #[derive(Clone, Debug)]
    struct LinkItemInput {
        /// The page of the item.
        #[required(filled_text(LINK_URL_CHARS))]
        url: String,
    } beside {
        id: String,
    }
}

fn link_item(tx: &mut Tx<'_>, cx: &Cx<'_>, input: &LinkItemInput) -> Result<LinkJson> {
    Ok(linked_items::link(tx, cx, &input.id, &input.url)?.into())
}
