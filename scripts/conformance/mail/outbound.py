"""Has a demo send mail to a real SMTP server, through a relay with TLS and a password and then
directly to the MX server found by DNS, and verifies the DKIM signature of what arrives with dkimpy.

    outbound.py BINARY SCRATCH
"""

import datetime
import email
import ipaddress
import json
import os
import queue
import socket
import sqlite3
import ssl
import subprocess
import sys
import time
import urllib.request

import dkim
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from dnslib import QTYPE, RR, DNSRecord
from dnslib.server import BaseResolver, DNSLogger, DNSServer

# The server finds a message whose time was moved by polling, within a few seconds.
TIMEOUT_SECONDS = 60
USER, PASSWORD = "ann@acme", "p:a/s+s"
HOST = "mail.lumen-holz.example"


class Zone(BaseResolver):
    """The records of the test, as zone files have them."""

    def __init__(self):
        self.records = []

    def publish(self, text):
        self.records += RR.fromZone(text)

    def resolve(self, request, _):
        reply = request.reply()
        asked = request.q
        same_name = [rr for rr in self.records if rr.rname == asked.qname]
        reply.rr += [rr for rr in same_name if rr.rtype == asked.qtype]
        if not same_name:
            reply.header.rcode = 3
        return reply


class ReceivedMail:
    """Accepts every mail and keeps it."""

    def __init__(self):
        self.mails = queue.Queue()

    async def handle_DATA(self, server, session, envelope):
        self.mails.put((envelope, session.ssl is not None, session.authenticated))
        return "250 OK"


def certificate(folder):
    """A certificate for this machine, and the authority that signs it."""
    now = datetime.datetime.now(datetime.timezone.utc)

    def sign(name, issuer, key, signer, *extensions):
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(issuer)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
        )
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical)
        return builder.sign(signer, hashes.SHA256())

    def name(text):
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    authority_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    authority = sign(
        name("Test CA"), name("Test CA"), authority_key, authority_key,
        (x509.BasicConstraints(ca=True, path_length=None), True),
    )
    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    leaf = sign(name("peer"), name("Test CA"), key, authority_key, (here, False))
    pem = serialization.Encoding.PEM
    with open(f"{folder}/authority.pem", "wb") as file:
        file.write(authority.public_bytes(pem))
    with open(f"{folder}/peer.pem", "wb") as file:
        file.write(leaf.public_bytes(pem))
        file.write(
            key.private_bytes(
                pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/peer.pem")
    return context, f"{folder}/authority.pem"


def knows(server, session, envelope, mechanism, login):
    good = login.login == USER.encode() and login.password == PASSWORD.encode()
    return AuthResult(success=good)


def free_port():
    """The controllers of aiosmtpd do not tell which port they were given."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


class Mailroom:
    """A demo that is started with some settings, and stopped."""

    def __init__(self, binary, data, **settings):
        self.binary, self.data = binary, data
        self.environment = {**os.environ, **settings}

    def run(self, *words, status=0):
        done = subprocess.run(
            [self.binary, *words, "--data", self.data, "--json"],
            env=self.environment, capture_output=True, text=True,
        )
        assert done.returncode == status, f"{done.returncode}: {done.stdout}{done.stderr}"
        return json.loads(done.stdout)

    def __enter__(self):
        self.log = open(f"{self.data}.log", "a")
        self.process = subprocess.Popen(
            [self.binary, "demo", "--listen", "127.0.0.1:0", "--data", self.data, "--json"],
            env=self.environment, stdout=subprocess.PIPE, stderr=self.log, text=True,
        )
        ready = json.loads(self.process.stdout.readline())
        self.address, self.key = ready["address"] + "/api/v1", ready["liveKey"]
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()

    def call(self, path, body=None):
        request = urllib.request.Request(
            self.address + path,
            data=None if body is None else json.dumps(body).encode(),
            headers={"authorization": f"Bearer {self.key}", "content-type": "application/json"},
        )
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def reply(self, conversation, text):
        """A reply whose undo window is over: a test cannot wait for ten minutes."""
        sent = self.call(f"/conversations/{conversation}/replies", {"body": text, "send": True})
        with sqlite3.connect(f"{self.data}/mailroom.db", timeout=30) as database:
            database.execute(
                "UPDATE messages SET sends_at = 1 WHERE id = ?", (sent["messageId"],)
            )
        return sent["messageId"]

    def status(self, conversation, message):
        until = time.monotonic() + TIMEOUT_SECONDS
        while time.monotonic() < until:
            timeline = self.call(f"/conversations/{conversation}")["timeline"]
            status = next(item["status"] for item in timeline if item.get("id") == message)
            if status in ("sent", "failed"):
                return status
            time.sleep(0.2)
        raise AssertionError("the message was neither sent nor failed in time")


def main(binary, scratch):
    os.makedirs(scratch)
    context, authority = certificate(scratch)
    zone = Zone()
    quiet = DNSLogger(logf=lambda _: None)
    names = DNSServer(zone, address="127.0.0.1", port=0, logger=quiet)
    names.start_thread()
    dns = "127.0.0.1:%d" % names.server.server_address[1]

    def ask(name, timeout=5):
        if isinstance(name, bytes):
            name = name.decode()
        host, port = dns.split(":")
        answer = DNSRecord.parse(DNSRecord.question(name, "TXT").send(host, int(port), timeout=5))
        found = [b"".join(rr.rdata.data) for rr in answer.rr if rr.rtype == QTYPE.TXT]
        return found[0] if found else None

    def check(received, message, text):
        local = message.removeprefix("msg_")
        # Notices to the demo's people leave the same way.
        while True:
            envelope, encrypted, authenticated = received.mails.get(timeout=TIMEOUT_SECONDS)
            if f"+b_{local}_" in envelope.mail_from:
                break
        raw = envelope.original_content
        mail = email.message_from_bytes(raw)
        assert encrypted, "the connection was not encrypted"
        assert mail["message-id"].startswith("<msg." + local), mail["message-id"]
        assert "+c_" in mail["reply-to"], mail["reply-to"]
        assert text in mail.get_payload()[0].get_payload(decode=True).decode()
        assert dkim.verify(raw, dnsfunc=ask), "dkimpy does not accept the signature"
        for old, new in ((b"Subject: ", b"Subject: x"), (b"Hello", b"Hullo")):
            assert not dkim.verify(raw.replace(old, new, 1), dnsfunc=ask), "a change went unseen"
        assert not dkim.verify(b"From: evil@x.example\r\n" + raw, dnsfunc=ask), "a From was added"
        return authenticated, envelope

    relay_received, mx_received = ReceivedMail(), ReceivedMail()
    relay = Controller(
        relay_received, "127.0.0.1", free_port(), tls_context=context, require_starttls=True,
        auth_required=True, authenticator=knows, enable_SMTPUTF8=True,
    )
    exchange = Controller(mx_received, "127.0.0.1", free_port(), tls_context=context)
    for controller in (relay, exchange):
        controller.start()

    settings = {
        "SSL_CERT_FILE": authority,
        "MAILROOM_DNS": dns,
        "MAILROOM_PUBLIC_URL": f"https://{HOST}",
        "MAILROOM_WEBHOOKS_ALLOW_PRIVATE": "true",
    }
    login = "ann%40acme:p%3Aa%2Fs%2Bs"
    by_relay = {**settings, "MAILROOM_RELAY": f"smtp://{login}@127.0.0.1:{relay.port}?tls=required"}
    with Mailroom(binary, f"{scratch}/data", **by_relay) as mailroom:
        [domain] = mailroom.run("domain", "list")["domains"]
        unpublished = mailroom.run("domain", "check", domain, status=1)
        assert not unpublished["good"], "nothing is published yet"
        for record in mailroom.run("domain", "dns", domain)["records"]:
            value = record["value"]
            if record["type"] == "TXT":
                pieces = [value[at : at + 200] for at in range(0, len(value), 200)]
                value = " ".join(f'"{piece}"' for piece in pieces)
            zone.publish(f"{record['name']}. 60 IN {record['type']} {value}")
        checked = mailroom.run("domain", "check", domain)
        assert checked["good"], checked
        conversations = mailroom.call("/conversations?view=open&limit=5")
        conversation, other = conversations[0]["id"], conversations[1]["id"]
        message = mailroom.reply(conversation, "Hello, it left on Tuesday. Grüße")
        authenticated, _ = check(relay_received, message, "it left on Tuesday. Grüße")
        assert authenticated, "the password was not used"
        assert mailroom.status(conversation, message) == "sent"

        mailroom.run("domain", "rotate", domain)
        records = mailroom.run("domain", "dns", domain)["records"]
        keys = [record for record in records if record["purpose"] == "dkim"]
        assert len(keys) == 2, keys

    customer = conversations[1]["contact"]["email"].split("@")[1]
    zone.publish(f"{customer}. 60 IN MX 10 mx.{customer}.")
    zone.publish(f"mx.{customer}. 60 IN A 127.0.0.1")
    direct = {**settings, "MAILROOM_RELAY": f"mx:?port={exchange.port}"}
    with Mailroom(binary, f"{scratch}/data", **direct) as mailroom:
        message = mailroom.reply(other, "Hello, straight to you.")
        _, envelope = check(mx_received, message, "straight to you")
        assert envelope.rcpt_tos == [conversations[1]["contact"]["email"]], envelope.rcpt_tos
        assert mailroom.status(other, message) == "sent"

    with open(f"{scratch}/data.log") as log:
        logged = log.read()
    for secret in (PASSWORD, login, "Hello, it left"):
        assert secret not in logged, "a secret or a mail is in the log"
    for controller in (relay, exchange):
        controller.stop()
    names.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
