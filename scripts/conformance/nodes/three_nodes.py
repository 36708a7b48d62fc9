"""Three nodes on one PostgreSQL behind a balancer that gives every request to the next node: whatever a
person, a customer or an agent does in several requests works as on one.

    three_nodes.py BINARY SCRATCH [MOTO_SERVER]     MOTO_SERVER: keeps the blobs in its bucket
"""

import hashlib
import json
import re
import socket
import subprocess
import sys
import time
from base64 import urlsafe_b64encode
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

from cluster import (
    FORM, INBOX, PUBLIC_URL, Api, Balancer, Browser, Node, Postgres, call, clean_environment, conversation_of,
    free_port, listens, send_mail, token_in, until,
)

NODES = 3
# Requests a minute of a key, and how many more are let through while the nodes tell one another.
RATE, RATE_MORE = 60, 20
REPLIES = 10
CALLBACK = "http://127.0.0.1:3118/callback"
VERIFIER = "verifier-" * 6


def main():
    binary, scratch = (Path(argument).resolve() for argument in sys.argv[1:3])
    scratch.mkdir(parents=True)
    started = []
    try:
        environment, blobs = clean_environment(), scratch / "blobs"
        if len(sys.argv) > 3:
            store, environment = start_store(sys.argv[3], environment)
            started.append(store)
            blobs = "s3://mail/rooms"
        postgres = Postgres(scratch / "postgres").create(synchronous_commit="off").start()
        postgres.sql("CREATE DATABASE mailroom")
        shared = {"DATABASE_URL": postgres.url("mailroom"), "BLOBS": blobs, "RELAY": f"file:{scratch / 'outbox'}",
                  "RATE_PER_MINUTE": RATE}
        first = Node(binary, scratch / "one", environment, **shared)
        made = first.command("setup", "--workspace=Acme", "--owner-email=olive@acme.test", "--owner-name=Olive",
                             f"--inbox={INBOX}", "--inbox-name=Support")
        started.append(first.start())
        refuse_wrong_nodes(binary, scratch, environment, shared)
        nodes = [first]
        for name in ("two", "three"):
            node = Node(binary, scratch / name, environment, **shared)
            node.share_key(first)
            nodes.append(node.start())
            started.append(node)
        check(nodes, postgres, made["signInUrl"], scratch / "outbox")
        print(f"{NODES} nodes work as one")
    finally:
        for program in reversed(started):
            program.stop() if isinstance(program, Node) else (program.kill(), program.wait())
        if "postgres" in locals():
            postgres.kill()


def start_store(program, environment):
    port = free_port()
    store = subprocess.Popen([program, "-H", "127.0.0.1", "-p", str(port)], stderr=subprocess.DEVNULL)
    until("the object store listens", lambda: listens(port))
    keys = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}
    status, _, text = call(port, "PUT", "/mail")
    assert status == 200, text
    return store, environment | keys


def refuse_wrong_nodes(binary, scratch, environment, shared):
    """A second node that would not work together with the first says so and does not start."""
    keyless = Node(binary, scratch / "wrong", environment, **shared)
    assert "secret.key is missing" in keyless.refusal()
    (keyless.folder / "secret.key").write_bytes(bytes(32))
    assert "is not the key" in keyless.refusal()
    (keyless.folder / "secret.key").write_bytes((scratch / "one" / "secret.key").read_bytes())
    for other in ({"PUBLIC_URL": None}, {"PUBLIC_URL": "https://elsewhere.acme.test"}):
        said = Node(binary, keyless.folder, environment, **shared | other).refusal()
        assert "the same MAILROOM_PUBLIC_URL" in said, said
    if not str(shared["BLOBS"]).startswith("s3:"):
        said = Node(binary, keyless.folder, environment, **shared | {"BLOBS": scratch / "others"}).refusal()
        assert "is not the folder that this database keeps its files in" in said, said


def check(nodes, postgres, link, outbox):
    port = Balancer([node.port for node in nodes]).port
    # A session of one node is one of all.
    browser = Browser(port, link)
    for _ in range(2 * NODES):
        browser.get("/inbox")
    key = nodes[1].command("key", "create", "--name=Robo", "--scopes=read,write,draft,send", "--by=olive@acme.test")["key"]
    api = Api(port, key)
    send_mail(nodes[0].smtp, "First", attachment=bytes(range(256)) * 2_000)
    conversation = conversation_of(api, "First")
    idempotent(api, conversation)
    pause_everywhere(nodes, conversation)
    live(browser, nodes, api, conversation)
    sent_once(api, nodes, postgres, conversation, outbox)
    uploads(api, postgres, port, conversation, outbox)
    oauth(port, browser)
    rate(port, nodes)
    # Each knows of the others.
    until("all nodes are seen", lambda: all(node.figures().get("mailroom_nodes") == NODES for node in nodes))


def idempotent(api, conversation):
    """A call that is repeated at other nodes happens once."""
    answers = [api("POST", f"/conversations/{conversation}/notes", {"body": "Once"}, Idempotency_Key="once-1")
               for _ in range(2 * NODES)]
    assert all(answer == answers[0] and answer[0] == 201 for answer in answers), answers
    _, read = api("GET", f"/conversations/{conversation}")
    assert len([item for item in read["timeline"] if item["type"] == "note"]) == 1, read["timeline"]


def pause_everywhere(nodes, conversation):
    """An agent that is paused at one node is refused at the next call on every other, and so is a revoked one."""
    made = nodes[0].command("key", "create", "--name=Paula", "--profile=agent", "--scopes=read,write,draft,send",
                            "--by=olive@acme.test")
    at = [Api(node.port, made["key"]) for node in nodes]
    path = f"/conversations/{conversation}"
    for ask in at:
        assert ask("POST", f"{path}/notes", {"body": "Before"})[0] == 201
    # Where it is allowed at all, the message is taken back with the pause.
    nodes[0].command("key", "policy", "Paula", "firstContact=allow")
    status, sent = at[2]("POST", f"{path}/replies", {"body": "Hello", "send": True})
    assert (status, sent["status"]) == (201, "scheduled"), sent
    status, said = at[1]("POST", f"/agents/{made['id']}/pause", {})
    assert status == 200, said
    for ask in (at[0], at[2], at[1]):
        for what, body in (("notes", {"body": "After"}), ("status", {"status": "closed"}),
                           ("replies", {"body": "After", "send": True})):
            status, said = ask("POST", f"{path}/{what}", body)
            assert (status, said["code"]) == (403, "agent_paused"), said
        status, me = ask("GET", "/me")
        assert status == 200 and me["policy"]["paused"], me
        status, drafts = ask("GET", "/messages?status=draft")
        assert status == 200 and sent["messageId"] in [draft["id"] for draft in drafts], drafts
    nodes[2].command("agent", "resume", "Paula")
    for ask in at:
        assert ask("POST", f"{path}/notes", {"body": "Again"})[0] == 201
    assert at[0]("POST", f"/messages/{sent['messageId']}/discard", {})[0] == 200
    nodes[1].command("key", "revoke", made["id"])
    assert [ask("GET", "/me")[0] for ask in at] == [401] * NODES


def live(browser, nodes, api, conversation):
    """An open page hears of what happens on another node, and of an agent that is served there."""
    page = socket.create_connection(("127.0.0.1", nodes[0].port), timeout=60)
    page.sendall(f"GET /live?conversation={conversation} HTTP/1.1\r\nHost: x\r\nCookie: {browser.cookie}\r\n\r\n".encode())
    heard = b""
    while b"event: here" not in heard:
        heard += page.recv(4_096)
    other = Api(nodes[1].port, api.key)
    assert other("POST", f"/conversations/{conversation}/notes", {"body": "From elsewhere"})[0] == 201
    while b"event: changed" not in heard:
        piece = page.recv(4_096)
        assert piece, heard
        heard += piece
    page.close()
    there = Browser.__new__(Browser)
    there.port, there.cookie = nodes[2].port, browser.cookie
    until("the agent is seen on a node that did not serve it",
          lambda: "Robo" in there.get(f"/conversations/{conversation}"), 30)


def sent_once(api, nodes, postgres, conversation, outbox):
    """A reply leaves once, however many nodes look for what is due."""
    for number in range(REPLIES):
        status, sent = api("POST", f"/conversations/{conversation}/replies", {"body": f"Reply {number}.", "send": True})
        assert status == 201, sent
    leave(postgres)
    def left():
        _, read = api("GET", f"/conversations/{conversation}")
        replies = [item for item in read["timeline"] if item.get("direction") == "outbound"]
        return len(replies) == REPLIES and all(item["status"] == "sent" for item in replies)
    until("all replies left", left)
    texts = [mail.read_text(errors="replace") for mail in outbox.glob("*.eml")]
    for number in range(REPLIES):
        assert sum(f"Reply {number}." in text.split("\n--")[0] or f"\nReply {number}.\n" in text
                   for text in texts) == 1, number


def leave(postgres):
    """Ends the time in which a reply can be taken back."""
    postgres.sql("UPDATE messages SET sends_at = 1 WHERE sends_at IS NOT NULL", "mailroom")


def uploads(api, postgres, port, conversation, outbox):
    """Each piece of a customer's file is taken by another node."""
    before = set(outbox.glob("*.eml"))
    status, asked = api("POST", f"/conversations/{conversation}/document-requests",
                        {"documents": [{"label": "Passport"}], "send": True, "message": "For the account."})
    assert status == 201, asked
    leave(postgres)
    mail = until("the request leaves", lambda: next(iter(set(outbox.glob("*.eml")) - before), None))
    text = mail.read_text(errors="replace").replace("=\n", "").replace("=3D", "=")
    path = re.search(re.escape(PUBLIC_URL) + r"(/u/[A-Za-z0-9_-]+)", text).group(1)
    file = b"%PDF-1.4\n" + bytes(ord("a") + n % 26 for n in range(300_000)) + b"\n%%EOF\n"
    wish = {"item": 0, "name": "passport.pdf", "size": len(file), "mark": "passport 1"}
    status, _, begun = call(port, "POST", f"{path}/uploads", json.dumps(wish))
    assert status == 201, begun
    upload, offset = json.loads(begun)["id"], 0
    while offset < len(file):
        piece = file[offset:offset + 70_000]
        status, _, told = call(port, "PATCH", f"{path}/uploads/{upload}", piece, {"Upload-Offset": str(offset)})
        assert status == 200, told
        offset = json.loads(told)["offset"]
        # The same bytes again are a conflict at any node, and change nothing.
        status, _, again = call(port, "PATCH", f"{path}/uploads/{upload}", piece, {"Upload-Offset": "0"})
        assert status == 409 or offset == len(file), again
    page = call(port, "GET", path)[2]
    status, _, told = call(port, "POST", path, urlencode({"csrf": token_in(page) or ""}), FORM)
    assert status in (200, 303), told
    documents = until("the file is a document", lambda: api("GET", "/documents")[1])
    assert [document["filename"] for document in documents if document["filename"] == "passport.pdf"], documents


def oauth(port, browser):
    """Registration, consent, token and refresh are served by different nodes."""
    told = json.dumps({"client_name": "Quill", "redirect_uris": ["http://127.0.0.1/callback"]})
    status, _, text = call(port, "POST", "/register", told, {"Content-Type": "application/json"})
    assert status == 201, text
    client = json.loads(text)["client_id"]
    challenge = urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
    asked = {"response_type": "code", "client_id": client, "redirect_uri": CALLBACK, "code_challenge": challenge,
             "code_challenge_method": "S256", "state": "s"}
    page = browser.get("/authorize?" + urlencode(asked))
    answer = asked | {"csrf": token_in(page), "allow": ["read"], "works": "live", "answer": "allow"}
    status, headers, page = browser.post("/authorize", answer)
    assert status == 303, (status, page[:500])
    code = parse_qs(urlsplit(headers["Location"]).query)["code"][0]
    exchange = {"grant_type": "authorization_code", "code": code, "client_id": client, "redirect_uri": CALLBACK,
                "code_verifier": VERIFIER}
    status, _, text = call(port, "POST", "/token", urlencode(exchange), FORM)
    assert status == 200, text
    tokens = json.loads(text)
    refresh = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"], "client_id": client}
    status, _, text = call(port, "POST", "/token", urlencode(refresh), FORM)
    assert status == 200, text
    # A code works once, whichever node is asked.
    status, _, text = call(port, "POST", "/token", urlencode(exchange), FORM)
    assert status == 400 and json.loads(text)["error"] == "invalid_grant", text


def rate(port, nodes):
    """The limit of a key counts over all nodes."""
    key = nodes[2].command("key", "create", "--name=Busy", "--scopes=read", "--by=olive@acme.test")["key"]
    statuses = []
    for _ in range(NODES * RATE):
        statuses.append(call(port, "GET", "/api/v1/me", headers={"Authorization": f"Bearer {key}"})[0])
        time.sleep(0.01)
    let_in = statuses.count(200)
    assert RATE <= let_in <= RATE + RATE_MORE, let_in
    assert statuses[-1] == 429, statuses[-10:]


if __name__ == "__main__":
    main()
