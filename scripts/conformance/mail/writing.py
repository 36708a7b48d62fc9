"""Writes mail in the app of a demo as a browser does, and reads what leaves with Python's own parser:
rich text with its plain twin, a picture in the text, the signature, the quoted history, a forwarded
message with its file, a first mail, and the fields that keep threads together.

    writing.py BINARY SCRATCH
"""

import base64
import email
import email.policy
import http.cookiejar
import json
import os
import queue
import re
import socket
import sqlite3
import subprocess
import sys
import urllib.parse
import urllib.request

from aiosmtpd.controller import Controller

TIMEOUT_SECONDS = 60
BOUNDARY = "a-boundary-of-a-browser"
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class ReceivedMail:
    """Accepts every mail and keeps it."""

    def __init__(self):
        self.mails = queue.Queue()

    async def handle_DATA(self, server, session, envelope):
        self.mails.put(envelope)
        return "250 OK"

    def next_to(self, address):
        """The next mail to somebody; notices to the demo's people leave the same way."""
        while True:
            envelope = self.mails.get(timeout=TIMEOUT_SECONDS)
            if envelope.rcpt_tos == [address]:
                return email.message_from_bytes(
                    envelope.original_content, policy=email.policy.default
                )


class App:
    """The app, as a browser without scripts uses it."""

    def __init__(self, binary, data, relay):
        self.data = data
        self.process = subprocess.Popen(
            [binary, "demo", "--listen", "127.0.0.1:0", "--smtp-listen", "off", "--data", data, "--json"],
            env={**os.environ, "MAILROOM_RELAY": f"smtp://127.0.0.1:{relay}?tls=none"},
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        ready = json.loads(self.process.stdout.readline())
        self.address, self.key = ready["address"], ready["liveKey"]
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self.opener = urllib.request.build_opener(cookies)
        link = urllib.parse.urlsplit(ready["signInUrl"]).path
        self.csrf = ""
        self.post(link, {})
        self.csrf = re.search(r'data-csrf="(\w+)"', self.get("/settings/you"))[1]

    def get(self, path):
        return self.opener.open(self.address + path).read().decode()

    def post(self, path, fields):
        body = urllib.parse.urlencode({"csrf": self.csrf, **fields}, doseq=True).encode()
        return self.opener.open(self.address + path, body)

    def upload(self, path, name, kind, content):
        parts = [
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n{self.csrf}\r\n',
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n'
            f"Content-Type: {kind}\r\n\r\n",
        ]
        body = "".join(parts).encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()
        kind = f"multipart/form-data; boundary={BOUNDARY}"
        request = urllib.request.Request(self.address + path, body, {"content-type": kind})
        return json.load(self.opener.open(request))

    def call(self, path):
        headers = {"authorization": f"Bearer {self.key}"}
        request = urllib.request.Request(f"{self.address}/api/v1{path}", headers=headers)
        return json.load(urllib.request.urlopen(request))

    def let_it_leave(self):
        """Ends the undo windows: a test cannot wait for ten minutes."""
        with sqlite3.connect(f"{self.data}/mailroom.db", timeout=30) as database:
            database.execute("UPDATE messages SET sends_at = 1 WHERE status = 'scheduled'")


def kinds(mail):
    return [part.get_content_type() for part in mail.walk()]


def text_of(mail, kind):
    return mail.get_body((kind,)).get_content().replace("\r\n", "\n")


def check_rich_reply(app, received):
    [conversation, *_] = app.call("/conversations?view=open&limit=1")
    contact, path = conversation["contact"]["email"], f"/conversations/{conversation['id']}"
    picture = app.upload(f"{path}/pictures", "so.png", "image/png", PICTURE)
    body = (
        "Dear you,\n\nit was **twice**:\n\n- one\n- [two](https://lumen-holz.example/two)\n\n"
        f"![so.png](cid:{picture['id']})"
    )
    fields = {"seen": "999", "to": contact, "body": body, "format": "markdown"}
    app.post(f"{path}/reply", fields)
    app.let_it_leave()
    mail = received.next_to(contact)
    assert kinds(mail) == [
        "multipart/alternative", "text/plain", "multipart/related", "text/html", "image/png",
    ], kinds(mail)
    assert not mail.defects and not any(part.defects for part in mail.walk())
    plain = text_of(mail, "plain")
    html = text_of(mail, "html")
    twin = "Dear you,\n\nit was twice:\n\n- one\n- two (https://lumen-holz.example/two)\n\n[so.png]\n"
    assert plain.startswith(twin), plain
    assert "**" not in plain and "](" not in plain, plain
    assert "<strong>twice</strong>" in html and "<li>one</li>" in html, html
    [image] = [part for part in mail.walk() if part.get_content_type() == "image/png"]
    assert image.get_content() == PICTURE and image.get_content_disposition() == "inline"
    content_id = image["content-id"].strip("<>")
    assert f'src="cid:{content_id}"' in html, html
    signature = "\n-- \nInes Marti\nLumen & Holz"
    assert plain.count(signature) == 1, plain
    assert re.search(r"\nOn \w{3}, \d+ \w{3} \d{4} at \d\d:\d\d UTC, .* wrote:\n\n> ", plain), plain
    assert "<blockquote" in html and 'type="cite"' in html, html
    references = mail["references"].split()
    assert mail["in-reply-to"].strip() == references[-1], (mail["in-reply-to"], references)
    assert mail["subject"].startswith("Re: "), mail["subject"]
    timeline = app.call(f"/conversations/{conversation['id']}")["timeline"]
    message = [item for item in timeline if item["type"] == "message"][-1]
    assert message["text"] == twin.rstrip("\n"), "the API has the words alone"


def check_forward(app, received):
    for row in app.call("/conversations?view=open&limit=50"):
        page = app.get(f"/conversations/{row['id']}?write=forward")
        found = re.findall(r'name="include" value="(\w+)"', page)
        if found:
            break
    message = re.search(r'name="forwards" value="(\w+)"', page)[1]
    fields = {
        "seen": "999", "to": "Pelz <pelz@bank.example>", "body": "Why?", "format": "markdown",
        "forwards": message, "include": found[:1],
    }
    app.post(f"/conversations/{row['id']}/reply", fields)
    app.let_it_leave()
    mail = received.next_to("pelz@bank.example")
    assert mail["subject"].startswith("Fwd: "), mail["subject"]
    plain = text_of(mail, "plain")
    for line in ("---------- Forwarded message", "From: ", "Date: ", "Subject: ", "To: "):
        assert f"\n{line}" in plain, plain
    assert plain.startswith("Why?\n"), plain
    assert len(list(mail.iter_attachments())) == 1, kinds(mail)
    assert mail["references"], "the conversation's mail is named"


def check_first_mail(app, received):
    inbox = re.search(r'<option value="(mbx_\w+)"', app.get("/new"))[1]
    fields = {
        "mailbox": inbox, "to": "Zoë Grün <zoe@first.example>", "subject": "Über die Lampe",
        "body": "It is here.", "format": "markdown",
    }
    app.post("/new", fields)
    app.let_it_leave()
    mail = received.next_to("zoe@first.example")
    assert mail["subject"] == "Über die Lampe", mail["subject"]
    assert mail["to"].addresses[0].display_name == "Zoë Grün", mail["to"]
    assert mail["in-reply-to"] is None and mail["references"] is None
    assert "wrote:" not in text_of(mail, "plain")


def main(binary, scratch):
    os.makedirs(scratch)
    received = ReceivedMail()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    relay = Controller(received, "127.0.0.1", port, enable_SMTPUTF8=True)
    relay.start()
    app = App(binary, f"{scratch}/data", port)
    try:
        check_rich_reply(app, received)
        check_forward(app, received)
        check_first_mail(app, received)
    finally:
        app.process.terminate()
        app.process.wait(30)
        relay.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
