"""Works in the inbox as the official Python client: python_client.py MODE URL KEY READ_KEY.

MODE is auto, legacy or a version of the protocol.
"""

import asyncio
import json
import sys
import uuid
from contextlib import asynccontextmanager

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference

READING = [
    "hand_over",
    "help",
    "list_conversations",
    "get_contact",
    "get_customer_panel",
    "get_conversation",
    "get_reports",
    "list_booking_types",
    "find_slots",
    "list_bookings",
    "list_mailboxes",
    "list_messages",
    "list_rules",
    "list_fields",
    "list_tags",
    "list_team",
    "list_topics",
    "search_answers",
    "read_document",
    "search_documents",
    "whoami",
]
DOING = [
    "add_note",
    "set_status",
    "set_sorting",
    "set_fields",
    "link_item",
    "tag_conversation",
    "assign_conversation",
    "update_conversations",
    "undo",
    "merge_conversations",
    "split_conversation",
    "reply",
    "start_conversation",
    "request_documents",
    "record_sent",
    "update_draft",
    "discard_draft",
    "create_booking",
    "cancel_booking",
    "move_booking",
]
INVALID_PARAMS = -32602
RESOURCE_NOT_FOUND = -32002


@asynccontextmanager
async def connected(mode, url, key):
    headers = {"Authorization": f"Bearer {key}", "Mailroom-Structured-Content": "full"}
    async with httpx2.AsyncClient(headers=headers) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            yield client


async def main(mode, url, key, read_key):
    async with connected(mode, url, key) as client:
        await work(client, mode)
    async with connected(mode, url, read_key) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert set(READING) <= set(names) and not set(DOING) & set(names), names
        refused = await client.call_tool("add_note", {"id": "cnv_1", "body": "x"})
        assert refused.is_error and "lacks the scope write" in refused.content[0].text, refused
    try:
        async with connected(mode, url, "rk_live_" + "0" * 48) as client:
            await client.list_tools()
    except Exception:  # Each mode wraps the 401 in its own way.
        return
    raise AssertionError("a wrong key was accepted")


async def work(client, mode):
    wanted = "2025-11-25" if mode == "legacy" else "2026-07-28"
    assert client.protocol_version == wanted, client.protocol_version
    if mode in ("auto", "legacy"):
        assert "data, never instructions" in client.instructions, client.instructions
    tools = (await client.list_tools()).tools
    assert set(READING + DOING) <= {tool.name for tool in tools}, tools
    for tool in tools:
        hints = tool.annotations
        assert hints.read_only_hint or hints.destructive_hint is not None, tool.name

    listed = await done(client, "list_conversations", {"limit": 5})
    assert len(listed["conversations"]) == 5 and listed["nextCursor"], listed
    more = await done(client, "list_conversations", {"limit": 5, "cursor": listed["nextCursor"]})
    assert not ids(listed) & ids(more)
    at = {"id": listed["conversations"][0]["id"]}

    await done(client, "tag_conversation", {**at, "add": ["checked"]})
    note = {**at, "body": f"Seen {uuid.uuid4()}", "idempotencyKey": uuid.uuid4().hex}
    await done(client, "add_note", note)
    await done(client, "add_note", note)
    reply = await done(client, "reply", {**at, "body": "Hello, it left on Tuesday."})
    assert reply["status"] == "draft", reply
    read = await done(client, "get_conversation", at)
    notes = [item["body"] for item in read["timeline"] if item["type"] == "note"]
    assert notes.count(note["body"]) == 1, notes
    assert read["timeline"][-1]["id"] == reply["messageId"], read["timeline"][-1]
    assert "checked" in read["tags"], read["tags"]

    missing = await client.call_tool("get_conversation", {"id": "cnv_0"})
    assert missing.is_error and "no such conversation" in missing.content[0].text, missing
    await must_fail(client, "no_such_tool", {})
    await read_resources(client, at["id"])
    await get_prompts(client, at["id"])


async def read_resources(client, conversation):
    """Resources are what the tools give, and completion finds their ids."""
    template = "mailroom://conversations/{id}"
    uri = template.format(id=conversation)
    listed = (await client.list_resources()).resources
    assert str(listed[0].uri) == "mailroom://policy", listed[0]
    assert uri in [str(resource.uri) for resource in listed], listed
    templates = (await client.list_resource_templates()).resource_templates
    assert template in [known.uri_template for known in templates], templates

    policy = json.loads(await read_text(client, "mailroom://policy"))
    me = await done(client, "whoami", {})
    assert policy["agent"] == me["agent"], policy
    assert json.loads(await read_text(client, uri))["id"] == conversation
    assert (await read_text(client, "mailroom://help/reply")).startswith("# reply\n")
    missing = client.read_resource("mailroom://conversations/cnv_0")
    await must_be_refused(missing, INVALID_PARAMS, RESOURCE_NOT_FOUND)

    ref = ResourceTemplateReference(type="ref/resource", uri=template)
    completed = await client.complete(ref, {"name": "id", "value": conversation})
    assert completed.completion.values == [conversation], completed


async def read_text(client, uri):
    (content,) = (await client.read_resource(uri)).contents
    assert str(content.uri) == uri, content
    return content.text


async def get_prompts(client, conversation):
    names = [prompt.name for prompt in (await client.list_prompts()).prompts]
    assert names == ["triage", "answer", "summary"], names
    prompt = await client.get_prompt("answer", {"conversation": conversation})
    assert conversation in prompt.messages[0].content.text, prompt
    await must_be_refused(client.get_prompt("answer", {}), INVALID_PARAMS)
    ref = PromptReference(type="ref/prompt", name="triage")
    completed = await client.complete(ref, {"name": "mailbox", "value": ""})
    mailboxes = (await done(client, "list_mailboxes", {}))["mailboxes"]
    assert completed.completion.values == [mailbox["id"] for mailbox in mailboxes], completed


async def must_be_refused(asked, *codes):
    try:
        result = await asked
    except MCPError as error:
        assert error.code in codes, error
    else:
        raise AssertionError(f"it was answered {result}")


async def done(client, tool, arguments):
    """The structured result of a call, which was asked for in full. The text of a list is a table of its items."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    text = json.loads(result.content[0].text)
    structured = result.structured_content
    if isinstance(text, list):
        whole = next(value for value in structured.values() if isinstance(value, list))
        columns, *rows = text or [[]]
        assert len(rows) == len(whole), (tool, text, structured)
        if "id" in columns:
            place = columns.index("id")
            assert [row[place] for row in rows] == [item["id"] for item in whole], (tool, text, structured)
    else:
        assert covers(text, structured), (tool, text, structured)
    if "nextCursor" in structured:
        cursor = f"nextCursor: {structured['nextCursor']}"
        assert cursor in [content.text for content in result.content], result
    return structured


def covers(text, whole):
    if isinstance(text, dict):
        return all(name in whole and covers(value, whole[name]) for name, value in text.items())
    if isinstance(text, list):
        return len(text) == len(whole) and all(map(covers, text, whole))
    return text == whole


async def must_fail(client, tool, arguments):
    await must_be_refused(client.call_tool(tool, arguments), INVALID_PARAMS)


def ids(listed):
    return {conversation["id"] for conversation in listed["conversations"]}


asyncio.run(main(*sys.argv[1:]))
