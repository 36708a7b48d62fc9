"""Writes mail in the app of a demo as a browser does, and reads what leaves with Python's own parser:
rich text with its plain twin, a picture in the text, the signature, the quoted history, an answer to
all, a forwarded message with its file, a first mail, and the fields that keep threads together. The
HTML is read by two more: by the part of Roundcube that makes mail safe to show, and by w3m, with which
mail programs of the terminal show it.

    writing.py BINARY SCRATCH ROUNDCUBE

ROUNDCUBE is a folder with the contents of Debian's roundcube-core and php-masterminds-html5.
"""

import base64
import email
import email.policy
import html
import http.cookiejar
import json
import os
import queue
import pathlib
import re
import smtplib
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

    def next_to(self, *addresses):
        """The next mail to somebody; notices to the demo's people leave the same way."""
        while True:
            envelope = self.mails.get(timeout=TIMEOUT_SECONDS)
            if sorted(envelope.rcpt_tos) == sorted(addresses):
                return email.message_from_bytes(
                    envelope.original_content, policy=email.policy.default
                )


class App:
    """The app, as a browser without scripts uses it."""

    def __init__(self, binary, data, relay):
        self.data = data
        self.process = subprocess.Popen(
            [binary, "demo", "--listen", "127.0.0.1:0", "--smtp-listen", "127.0.0.1:0", "--data", data,
             "--json"],
            env={**os.environ, "MAILROOM_RELAY": f"smtp://127.0.0.1:{relay}?tls=none"},
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        ready = json.loads(self.process.stdout.readline())
        self.address, self.key, self.smtp = ready["address"], ready["liveKey"], ready["smtp"]
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


class OtherPrograms:
    """Parts of other mail programs that show HTML."""

    def __init__(self, roundcube):
        self.wash = [
            "php", str(pathlib.Path(__file__).with_name("roundcube.php")), roundcube,
        ]

    def roundcube(self, html, pictures):
        """The HTML as Roundcube puts it into its page; pictures by their Content-ID."""
        command = [*self.wash, json.dumps(pictures)]
        return subprocess.run(command, input=html, capture_output=True, text=True, check=True).stdout

    @staticmethod
    def terminal(html):
        """The text as mail programs of the terminal show it."""
        command = ["w3m", "-dump", "-T", "text/html", "-I", "utf-8", "-O", "utf-8", "-cols", "200"]
        return subprocess.run(command, input=html, capture_output=True, text=True, check=True).stdout


def kinds(mail):
    return [part.get_content_type() for part in mail.walk()]


def text_of(mail, kind):
    return mail.get_body((kind,)).get_content().replace("\r\n", "\n")


def check_rich_reply(app, received, programs):
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
    page = text_of(mail, "html")
    twin = "Dear you,\n\nit was twice:\n\n- one\n- two (https://lumen-holz.example/two)\n\n[so.png]\n"
    assert plain.startswith(twin), plain
    assert "**" not in plain and "](" not in plain, plain
    assert "<strong>twice</strong>" in page and "<li>one</li>" in page, page
    [image] = [part for part in mail.walk() if part.get_content_type() == "image/png"]
    assert image.get_content() == PICTURE and image.get_content_disposition() == "inline"
    content_id = image["content-id"].strip("<>")
    assert f'src="cid:{content_id}"' in page, page
    shown = programs.roundcube(page, {f"cid:{content_id}": "shown.png"})
    for part in (
        "<strong>twice</strong>", "<li>one</li>", 'src="shown.png"', "<blockquote",
        '<a href="https://lumen-holz.example/two">two</a>', "Ines Marti",
    ):
        assert part in shown, (part, shown)
    words = programs.terminal(page)
    for line in ("it was twice:", "• one", "• two", "so.png", "Ines Marti"):
        assert re.search(rf"^ *{re.escape(line)}", words, re.MULTILINE), (line, words)
    assert re.search(r"^ {4,}Hello", words, re.MULTILINE), words
    signature = "\n-- \nInes Marti\nLumen & Holz"
    assert plain.count(signature) == 1, plain
    assert re.search(r"\nOn \w{3}, \d+ \w{3} \d{4} at \d\d:\d\d \([A-Z][\w ]+\), .* wrote:\n\n> ", plain), plain
    assert "<blockquote" in page and 'type="cite"' in page, page
    references = mail["references"].split()
    assert mail["in-reply-to"].strip() == references[-1], (mail["in-reply-to"], references)
    assert mail["subject"].startswith("Re: "), mail["subject"]
    timeline = app.call(f"/conversations/{conversation['id']}")["timeline"]
    message = [item for item in timeline if item["type"] == "message"][-1]
    assert message["text"] == twin.rstrip("\n"), "the API has the words alone"


def check_reply_to_all(app, received, programs):
    host, _, port = app.smtp.rpartition(":")
    question = (
        "From: Ann Shop <ann@shop.example>\r\nTo: Support <support@lumen-holz.example>\r\n"
        "Cc: =?utf-8?q?Bo_B=C3=A4r?= <bo@shop.example>\r\nSubject: Two lamps for us\r\n"
        "Message-ID: <all-1@shop.example>\r\n\r\nWhere are they?\r\n"
    )
    with smtplib.SMTP(host, int(port)) as client:
        client.sendmail("ann@shop.example", ["support@lumen-holz.example"], question)
    found = app.call("/conversations?q=" + urllib.parse.quote("Two lamps for us"))
    path = f"/conversations/{found[0]['id']}"
    page = app.get(f"{path}?write=reply")
    asked = {name: html.unescape(re.search(field_pattern(name), page)[1]) for name in ("to", "cc")}
    assert asked == {"to": "Ann Shop <ann@shop.example>", "cc": "Bo Bär <bo@shop.example>"}, asked
    app.post(f"{path}/reply", {"seen": "999", **asked, "body": "On **Tuesday**.", "format": "markdown"})
    app.let_it_leave()
    mail = received.next_to("ann@shop.example", "bo@shop.example")
    assert [str(one) for one in mail["to"].addresses] == ["Ann Shop <ann@shop.example>"], mail["to"]
    assert [one.display_name for one in mail["cc"].addresses] == ["Bo Bär"], mail["cc"]
    assert mail["in-reply-to"].strip() == "<all-1@shop.example>", mail["in-reply-to"]
    sent = text_of(mail, "html")
    assert "<strong>Tuesday</strong>" in programs.roundcube(sent, {}), sent
    assert "On Tuesday." in programs.terminal(sent), sent


def field_pattern(name):
    return rf'<input(?=[^>]* name="{name}")[^>]* value="([^"]*)"'


def check_forward(app, received, programs):
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
    for shown in (programs.roundcube(text_of(mail, "html"), {}), programs.terminal(text_of(mail, "html"))):
        assert "Why?" in shown and "Forwarded message" in shown and "Subject: " in shown, shown
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


def main(binary, scratch, roundcube):
    programs = OtherPrograms(roundcube)
    os.makedirs(scratch)
    received = ReceivedMail()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    relay = Controller(received, "127.0.0.1", port, enable_SMTPUTF8=True)
    relay.start()
    app = App(binary, f"{scratch}/data", port)
    try:
        check_rich_reply(app, received, programs)
        check_reply_to_all(app, received, programs)
        check_forward(app, received, programs)
        check_first_mail(app, received)
    finally:
        app.process.terminate()
        app.process.wait(30)
        relay.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
