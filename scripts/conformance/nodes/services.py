"""What an installation talks to, each a process of its own that can be killed and paused: a relay with TLS, a
webhook receiver, an object store (moto) and an IMAP server (Dovecot). Relay and receiver write down what they
accept before they answer.

    services.py relay PORT FOLDER CERTIFICATE KEY
    services.py receiver PORT FOLDER
"""

import asyncio
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import time
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cluster import call, free_port, listens, until

# Bytes of a mail, at the most.
MAIL_BYTES = 64 << 20
# Where the keys of an object store that asks for none come from.
STORE_KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
BUCKET, PREFIX = "mail", "rooms"
MAILBOX_USER, MAILBOX_PASSWORD = "ann", "open sesame"
NOBODY = 65_534


class Authority:
    """A certificate authority, and certificates of it for this machine."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True)
        (self.folder / "index.txt").write_text("")
        (self.folder / "openssl.cnf").write_text(
            "[req]\ndistinguished_name = name\n[name]\n"
            "[root]\nbasicConstraints = critical, CA:TRUE\nkeyUsage = critical, keyCertSign\n"
            "subjectKeyIdentifier = hash\n"
            "[leaf]\nbasicConstraints = critical, CA:FALSE\nsubjectAltName = IP:127.0.0.1, DNS:localhost\n"
            "[ca]\ndefault_ca = own\n[own]\n"
            f"database = {self.folder}/index.txt\nnew_certs_dir = {self.folder}\nrand_serial = yes\n"
            "default_md = sha256\npolicy = any\nunique_subject = no\n[any]\ncommonName = supplied\n")
        self.certificate = self.folder / "root.pem"
        self.openssl("req", "-x509", *self.new_key("root.key"), "-extensions", "root", "-subj", "/CN=Campaign",
                     "-days", "30", "-out", self.certificate)

    def openssl(self, *arguments):
        command = ["openssl", arguments[0], "-config", self.folder / "openssl.cnf", *arguments[1:]]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"openssl {arguments[0]}: {done.stdout}{done.stderr}")

    def new_key(self, name):
        return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", self.folder / name]

    def issue(self, name, has_expired=False):
        """The files of a certificate and its key."""
        certificate, key, request = (self.folder / f"{name}.{end}" for end in ("pem", "key", "csr"))
        self.openssl("req", "-new", *self.new_key(key.name), "-subj", f"/CN={name}", "-out", request)
        now = datetime.now(timezone.utc)
        last = now + timedelta(days=-1 if has_expired else 20)
        begins, ends = ((now - timedelta(days=2)).strftime("%Y%m%d%H%M%SZ"), last.strftime("%Y%m%d%H%M%SZ"))
        self.openssl("ca", "-batch", "-notext", "-keyfile", self.folder / "root.key", "-cert", self.certificate,
                     "-extensions", "leaf", "-startdate", begins, "-enddate", ends, "-in", request, "-out", certificate)
        return certificate, key


class Service:
    """A program that listens on a port."""

    def __init__(self, name, folder, command, port):
        self.name, self.folder, self.command, self.port, self.process = name, Path(folder), command, port, None
        self.folder.mkdir(parents=True, exist_ok=True)

    def start(self):
        log = open(self.folder / "log", "ab")
        command = [str(word) for word in self.command]
        def is_up():
            # It ends where somebody else has its port for a moment.
            if self.process is None or self.process.poll() is not None:
                self.process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
            return listens(self.port)
        until(f"{self.name} listens", is_up)
        return self

    def signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    def kill(self):
        if self.process:
            self.signal(signal.SIGKILL)
            self.process.wait()
            self.process = None


class Relay(Service):
    """Takes mail over TLS; each is a file named by the time."""

    def __init__(self, folder, authority):
        port, self.mails = free_port(), Path(folder) / "mails"
        self.mails.mkdir(parents=True)
        self.good, self.expired = authority.issue("relay"), authority.issue("expired", has_expired=True)
        super().__init__("the relay", folder, [], port)
        self.use(self.good)

    def use(self, certificate):
        self.command = [sys.executable, __file__, "relay", self.port, self.mails, *certificate]

    def received(self):
        """When, and the text of each mail that was accepted."""
        for file in sorted(self.mails.glob("*.eml")):
            yield int(file.name.split("-")[0]) / 1e9, file.read_text(errors="replace").replace("\r", "")


class Receiver(Service):
    """Takes events; each is a line of a file."""

    def __init__(self, folder):
        port = free_port()
        super().__init__("the receiver", folder, [sys.executable, __file__, "receiver", port, folder], port)

    def events(self):
        file = self.folder / "events.jsonl"
        lines = file.read_text().splitlines() if file.exists() else []
        return [json.loads(line) for line in lines]


class Store(Service):
    """moto's S3 server. It keeps objects in memory, so it cannot be killed without losing them."""

    def __init__(self, folder, program):
        port = free_port()
        super().__init__("the object store", folder, [program, "-H", "127.0.0.1", "-p", port], port)

    def start(self):
        super().start()
        status, _, text = call(self.port, "PUT", f"/{BUCKET}")
        assert status == 200, text
        return self

    def read(self, name):
        return self.ask("GET", name)

    def write(self, name, data):
        self.ask("PUT", name, data)

    def ask(self, method, name, data=None):
        # moto wants to see a signature and does not verify it.
        signed = {"Authorization": "AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/s3/aws4_request, "
                                   "SignedHeaders=host, Signature=0"}
        status, _, content = call(self.port, method, f"/{BUCKET}/{PREFIX}/{name}", data, signed, binary=True)
        assert status == 200, (method, name, status, content)
        return content


class Dovecot(Service):
    """An IMAP server with one mailbox."""

    def __init__(self, folder, authority):
        folder, port = Path(folder), free_port()
        certificate, key = authority.issue("imap")
        super().__init__("the IMAP server", folder, ["dovecot", "-F", "-c", folder / "dovecot.conf"], port)
        folder.chmod(0o755)
        for place in ("mail", "mail/ann", "mail/ann/new", "mail/ann/cur", "mail/ann/tmp"):
            (folder / place).mkdir()
            os.chown(folder / place, NOBODY, NOBODY)
        (folder / "users").write_text(f"{MAILBOX_USER}:{{PLAIN}}{MAILBOX_PASSWORD}\n")
        (folder / "password").write_text(MAILBOX_PASSWORD + "\n")
        (folder / "dovecot.conf").write_text(
            f"base_dir = {folder}/run\nstate_dir = {folder}/state\nlog_path = {folder}/dovecot.log\n"
            f"protocols = imap\nlisten = 127.0.0.1\nfirst_valid_uid = 1\nauth_failure_delay = 0\nssl = yes\n"
            f"ssl_cert = <{certificate}\nssl_key = <{key}\nmail_location = maildir:{folder}/mail/%u\n"
            "auth_mechanisms = plain login\nnamespace inbox {\n inbox = yes\n}\n"
            "service anvil {\n chroot =\n}\nservice imap-login {\n chroot =\n inet_listener imap {\n port = 0\n }\n"
            f" inet_listener imaps {{\n port = {port}\n ssl = yes\n }}\n}}\n"
            f"passdb {{\n driver = passwd-file\n args = {folder}/users\n}}\n"
            f"userdb {{\n driver = static\n args = uid={NOBODY} gid={NOBODY} home={folder}/home\n}}\n")

    @staticmethod
    def missing():
        """Why there cannot be one, or nothing."""
        if os.getuid() != 0:
            return "needs root"
        has_imap = any(Path(folder, "imap-login").exists() for folder in ("/usr/lib/dovecot", "/usr/libexec/dovecot"))
        return None if shutil.which("dovecot") and has_imap else "dovecot-imapd is not installed"

    def deliver(self, name, mail):
        """Puts a mail into the mailbox, as a mail server that receives it does."""
        written = self.folder / "mail/ann/tmp" / name
        written.write_bytes(mail)
        os.chown(written, NOBODY, NOBODY)
        written.rename(self.folder / "mail/ann/new" / name)


async def serve_mail(port, folder, certificate, key):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    number = 0

    async def accept(data):
        nonlocal number
        number += 1
        name = f"{time.time_ns()}-{os.getpid()}-{number}.eml"
        partial = Path(folder) / f".{name}"
        partial.write_bytes(data)
        partial.rename(Path(folder) / name)

    async def talk(reader, writer):
        async def say(line):
            writer.write(line.encode() + b"\r\n")
            await writer.drain()
        await say("220 relay.test")
        while line := await reader.readline():
            word = line.split(None, 1)[0].upper() if line.split() else b""
            if word == b"EHLO":
                await say("250-relay.test\r\n250-8BITMIME\r\n250 SMTPUTF8")
            elif word == b"DATA":
                await say("354 Go on")
                await accept(await reader.readuntil(b"\r\n.\r\n"))
                await say("250 Taken")
            elif word == b"QUIT":
                return await say("221 Bye")
            else:
                await say("250 OK")

    async def session(reader, writer):
        try:
            await talk(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(session, "127.0.0.1", port, ssl=context, limit=MAIL_BYTES)
    await server.serve_forever()


def serve_events(port, folder):
    lock = threading.Lock()
    file = open(Path(folder) / "events.jsonl", "a")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            told = {name: self.headers[f"webhook-{name}"] for name in ("id", "timestamp", "signature")}
            with lock:
                file.write(json.dumps(told | {"body": body}) + "\n")
                file.flush()
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 128

    Server(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    kind, listen, place, *files = sys.argv[1:]
    if kind == "relay":
        asyncio.run(serve_mail(int(listen), place, *files))
    else:
        serve_events(int(listen), place)
