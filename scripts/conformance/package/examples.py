"""Tries the example configurations of the package with the programs they are for, in front of a server.

    examples.py BINARY EXAMPLES SCRATCH

EXAMPLES is the folder of the configurations. Replaced are ports, the certificate's place and, for Caddy,
where the certificate comes from. nginx and Caddy: a page, the address of the client, live pages, and the
largest form with files. Postfix: mail in, a recipient who is not there, and mail out. A program that is not
installed is named and left out, and so is Postfix where this does not run as root.
"""

import http.client
import json
import os
import re
import shutil
import signal
import smtplib
import socket
import socketserver
import sqlite3
import ssl
import subprocess
import sys
import threading
import time
from pathlib import Path

TIMEOUT = 120
NAME = "mail.acme.example"
PUBLIC_URL = f"https://{NAME}"
OWNER, INBOX = "you@acme.example", "support@acme.example"
# A client that is told apart from the proxy, which connects from 127.0.0.1.
CLIENT = "127.0.0.2"
# What it says of itself, and is not believed.
FORGED = "203.0.113.9"
# What all files of one request may have together, in as many files as it takes.
FILE_BYTES, FILES = 25 * 1024 * 1024, 8
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def main():
    binary, examples, scratch = (Path(arg).resolve() for arg in sys.argv[1:4])
    scratch.mkdir(parents=True, exist_ok=True)
    write_certificate(scratch)
    for name, start in (("nginx", start_nginx), ("caddy", start_caddy)):
        if not shutil.which(name):
            print(f"NOT tried: {name} is not installed")
            continue
        folder = scratch / name
        folder.mkdir()
        with Mailroom(binary, folder, PUBLIC_URL, f"file:{folder}/outbox") as mailroom:
            with start(examples, scratch, folder, mailroom) as proxy:
                check_proxy(mailroom, proxy)
        print(f"   {name}: page, client, live page and the largest form")
    if not shutil.which("postfix") or not Path("/etc/postfix/main.cf").exists():
        print("NOT tried: postfix is not installed")
    elif os.getuid() != 0:
        print("NOT tried: Postfix runs only as root")
    else:
        check_postfix(binary, examples, scratch / "postfix")
        print("   postfix: mail in, an unknown recipient and mail out")


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def until(what, found):
    last = time.monotonic() + TIMEOUT
    while not (value := found()):
        assert time.monotonic() < last, f"timeout: {what}"
        time.sleep(0.1)
    return value


def listens(port):
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def write_certificate(scratch):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-days", "2", "-subj", f"/CN={NAME}",
         "-addext", f"subjectAltName=DNS:{NAME}", "-keyout", scratch / "key.pem", "-out", scratch / "cert.pem"],
        check=True, capture_output=True,
    )


class Started:
    """A program that is ended with the block."""

    def __init__(self, command, log, **options):
        self.log = log
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=open(log, "ab"), stderr=subprocess.STDOUT,
            start_new_session=True, **options,
        )

    def wait_for(self, port):
        def ready():
            assert self.process.poll() is None, self.log.read_text()[-3000:]
            return listens(port)

        until(f"port {port} is open: {self.log}", ready)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


class Mailroom(Started):
    """A new installation that serves."""

    def __init__(self, binary, folder, public_url, relay):
        self.binary, self.data = binary, folder / "data"
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("MAILROOM_")}
        self.environment.pop("RUST_LOG", None)
        self.run("setup", "--workspace", "Acme", "--owner-email", OWNER, "--owner-name", "You",
                 "--inbox", INBOX, "--inbox-name", "Support")
        self.port, self.smtp, self.lmtp = free_port(), free_port(), free_port()
        command = [
            binary, "serve", "--data", self.data, "--public-url", public_url, "--relay", relay,
            "--listen", f"127.0.0.1:{self.port}", "--smtp-listen", f"127.0.0.1:{self.smtp}",
            "--lmtp-listen", f"127.0.0.1:{self.lmtp}",
        ]
        super().__init__(command, folder / "server.log", env=self.environment)
        self.wait_for(self.port)
        made = self.run("key", "create", "--name", "Robo", "--scopes", "read,write,draft,send", "--by", OWNER)
        self.key = made["key"]

    def run(self, *words):
        done = subprocess.run(
            [self.binary, *words, "--data", self.data, "--json"],
            env=self.environment, capture_output=True, text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        connection.request(method, f"/api/v1{path}", json.dumps(body) if body else None, headers)
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status < 300, (answer.status, text)
        return json.loads(text)

    def subjects(self):
        return [conversation["subject"] for conversation in self.call("GET", "/conversations")]

    def mail(self, subject):
        with smtplib.SMTP("127.0.0.1", self.smtp) as server:
            server.sendmail("ann@customer.example", INBOX, letter(subject))

    def leave(self, message):
        """Ends the time in which a message can be taken back: nobody waits for ten minutes."""
        with sqlite3.connect(self.data / "mailroom.db", timeout=60) as database:
            database.execute("UPDATE messages SET sends_at = 1 WHERE id = ?", (message,))


def letter(subject):
    return f"From: Ann <ann@customer.example>\r\nTo: {INBOX}\r\nSubject: {subject}\r\n\r\nHello\r\n"


class Proxy(Started):
    """A proxy and the way to it, as a browser at another address would take it."""

    def __init__(self, command, log, port, certificate):
        super().__init__(command, log)
        self.port, self.trust = port, ssl.create_default_context(cafile=certificate)
        self.wait_for(port)

    def connect(self):
        stream = socket.create_connection(("127.0.0.1", self.port), TIMEOUT, (CLIENT, 0))
        connection = http.client.HTTPSConnection(NAME, timeout=TIMEOUT)
        connection.sock = self.trust.wrap_socket(stream, server_hostname=NAME)
        return connection

    def ask(self, method, path, body=None, headers=()):
        connection = self.connect()
        connection.request(method, path, body, {"X-Forwarded-For": FORGED, **dict(headers)})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode(errors="replace")


def start_nginx(examples, scratch, folder, mailroom):
    port = free_port()
    example = (examples / "nginx.conf").read_text()
    example = example.replace("/etc/ssl/mail.pem", f"{scratch}/cert.pem").replace("/etc/ssl/mail.key", f"{scratch}/key.pem")
    example = replaced(example, "listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;")
    example = replaced(example, "listen [::]:443 ssl;", "")
    example = replaced(example, "127.0.0.1:8080", f"127.0.0.1:{mailroom.port}")
    places = "".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    # The user of its workers has to enter the folder, and to write there.
    for parent in (folder, *folder.parents):
        if parent.stat().st_uid == os.getuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o711)
    user = "user root;" if os.getuid() == 0 else ""
    configuration = folder / "nginx.conf"
    configuration.write_text(
        f"daemon off; {user} pid {folder}/pid; error_log stderr; events {{}}\n"
        f"http {{ access_log off; {places}\n{example}\n}}\n"
    )
    subprocess.run(["nginx", "-t", "-q", "-c", configuration], check=True)
    return Proxy(["nginx", "-c", configuration], folder / "proxy.log", port, scratch / "cert.pem")


def start_caddy(examples, scratch, folder, mailroom):
    port = free_port()
    example = (examples / "Caddyfile").read_text()
    subprocess.run(
        ["caddy", "validate", "--adapter", "caddyfile", "--config", examples / "Caddyfile"],
        check=True, capture_output=True, env=os.environ | {"HOME": str(folder), "XDG_DATA_HOME": str(folder)},
    )
    example = replaced(
        example, f"{NAME} {{", f"https://{NAME}:{port} {{\n\tbind 127.0.0.1\n\ttls {scratch}/cert.pem {scratch}/key.pem"
    )
    example = replaced(example, "127.0.0.1:8080", f"127.0.0.1:{mailroom.port}")
    configuration = folder / "Caddyfile"
    configuration.write_text(
        f"{{\n\tadmin off\n\tauto_https disable_redirects\n\tstorage file_system {folder}/storage\n}}\n{example}"
    )
    command = ["env", f"HOME={folder}", f"XDG_CONFIG_HOME={folder}", "caddy", "run", "--adapter", "caddyfile",
               "--config", configuration]
    return Proxy(command, folder / "proxy.log", port, scratch / "cert.pem")


def replaced(text, old, new):
    assert old in text, f"the example has no {old}"
    return text.replace(old, new)


def check_proxy(mailroom, proxy):
    check_page(mailroom, proxy)
    session = sign_in(mailroom, proxy)
    check_live_page(mailroom, proxy, session)
    check_uploads(mailroom, proxy)


def check_page(mailroom, proxy):
    status, headers, page = proxy.ask("GET", "/sign-in")
    assert status == 200 and "<form" in page, (status, page)
    # The log names the client as the proxy saw it, whatever the client says of itself.
    line = f"request{{id={headers['x-request-id']} client={CLIENT}}}"
    assert line in mailroom.log.read_text(), (line, mailroom.log.read_text()[-2000:])


def sign_in(mailroom, proxy):
    link = mailroom.run("user", "link", OWNER)["signInUrl"]
    path = re.sub(r"^https?://[^/]+", "", link)
    status, headers, text = proxy.ask("POST", path, "csrf=", FORM)
    assert status == 303, (status, text)
    cookie = headers["set-cookie"]
    # Only sent over https, because the public URL is.
    assert cookie.startswith("__Host-") and "Secure" in cookie, cookie
    return {"Cookie": cookie.split(";")[0]}


def check_live_page(mailroom, proxy, session):
    connection = proxy.connect()
    connection.request("GET", "/live", headers=session)
    answer = connection.getresponse()
    assert answer.status == 200, answer.status
    # Each line comes when it is written, though the answer has no end.
    assert answer.readline() == b"event: here\n"
    mailroom.mail("Live through the proxy")
    while (line := answer.readline()) != b"event: changed\n":
        assert line, "the live page ended"
    connection.close()


def check_uploads(mailroom, proxy):
    conversation = mailroom.call("GET", "/conversations")[0]["id"]
    asked = mailroom.call("POST", f"/conversations/{conversation}/document-requests",
                          {"documents": [{"label": "Passport"}], "send": True, "message": "For the account."})
    text = next(entry["text"] for entry in mailroom.call("GET", f"/conversations/{conversation}")["timeline"]
                if entry.get("id") == asked["messageId"])
    path = re.search(re.escape(PUBLIC_URL) + r"(/u/[A-Za-z0-9_-]+)", text)[1]
    mailroom.leave(asked["messageId"])
    until("the upload page opens", lambda: proxy.ask("GET", path)[0] == 200)
    head = ('--b\r\nContent-Disposition: form-data; name="file"; filename="{}.pdf"\r\n'
            "Content-Type: application/pdf\r\n\r\n")
    file = b"%PDF-1.4\n" + b"a" * (FILE_BYTES - len(b"%PDF-1.4\n\n%%EOF\n")) + b"\n%%EOF\n"
    heads = [head.format(number).encode() for number in range(FILES)]
    size = sum(len(head) + len(file) + 2 for head in heads) + len(b"--b--\r\n")

    def parts():
        for head in heads:
            yield head
            yield file
            yield b"\r\n"
        yield b"--b--\r\n"

    headers = {"Content-Type": "multipart/form-data; boundary=b", "Content-Length": str(size)}
    status, _, text = proxy.ask("POST", f"{path}/items/0", parts(), headers)
    assert status == 303, (status, text[:500])
    page = proxy.ask("GET", path)[2]
    assert all(f"{number}.pdf" in page for number in range(FILES)), page


def check_postfix(binary, examples, folder):
    folder.mkdir(parents=True)
    sink, port = Sink(), free_port()
    relay = f"smtp://127.0.0.1:{port}?tls=none"
    with Mailroom(binary, folder, PUBLIC_URL, relay) as mailroom, Postfix(folder, port, sink.port) as postfix:
        example = (examples / "postfix").read_text()
        example = replaced(example, "127.0.0.1:2424", f"127.0.0.1:{mailroom.lmtp}")
        settings = re.findall(r"(?m)^#   (MAILROOM_\w+)=(.*)$", example)
        expected = {"MAILROOM_SMTP_LISTEN": "off", "MAILROOM_LMTP_LISTEN": f"127.0.0.1:{mailroom.lmtp}",
                    "MAILROOM_RELAY": "smtp://127.0.0.1?tls=none"}
        assert dict(settings) == expected, settings
        postfix.run("sh", "-e", "-c", example)
        postfix.wait_for()
        # From another machine, whose mail is not relayed elsewhere.
        with smtplib.SMTP("127.0.0.1", port, source_address=(CLIENT, 0), timeout=TIMEOUT) as client:
            client.sendmail("ann@customer.example", INBOX.replace("@", "+A-17@"), letter("Through Postfix"))
            for to, code in (("nobody@acme.example", "550"), ("ann@elsewhere.example", "454")):
                try:
                    client.sendmail("ann@customer.example", to, letter("Not here"))
                    raise AssertionError(f"mail to {to} was taken")
                except smtplib.SMTPRecipientsRefused as refused:
                    answer = refused.recipients[to]
                    assert str(answer[0]) in (code, "554"), answer
        until("the mail comes in through Postfix", lambda: mailroom.subjects() == ["Through Postfix"])
        conversation = mailroom.call("GET", "/conversations")[0]["id"]
        sent = mailroom.call("POST", f"/conversations/{conversation}/replies", {"body": "It left.", "send": True})
        mailroom.leave(sent["messageId"])
        sender, recipient, text = sink.next()
        assert recipient == "ann@customer.example" and "It left." in text, (sender, recipient, text)


class Postfix:
    """Debian's Postfix with its own settings, but for folders, port and log, and with one server for all mail out."""

    def __init__(self, folder, port, sink):
        self.folder, self.port = folder, port
        settings, spool, data = (folder / name for name in ("settings", "spool", "postfix-data"))
        shutil.copytree("/etc/postfix", settings, symlinks=True)
        spool.mkdir()
        data.mkdir()
        shutil.chown(data, "postfix")
        # Its users must be able to enter their folders.
        for parent in (folder, *folder.parents):
            if parent.stat().st_uid == os.getuid() and parent != Path("/"):
                parent.chmod(parent.stat().st_mode | 0o711)
        master = settings / "master.cf"
        rows = [re.sub(r"^smtp(\s+inet)", rf"{port}\1", row) for row in master.read_text().splitlines()]
        master.write_text("\n".join(rows) + "\n")
        self.environment = os.environ | {"MAIL_CONFIG": str(settings)}
        self.run(
            "postconf", "-e", f"queue_directory={spool}", f"data_directory={data}", "inet_interfaces=127.0.0.1",
            "inet_protocols=ipv4", "myhostname=mx.acme.example", "mydestination=", "mynetworks=127.0.0.1/32",
            f"relayhost=[127.0.0.1]:{sink}", "smtp_tls_security_level=none", "smtp_dns_support_level=disabled",
            f"maillog_file={folder}/postfix.log", f"maillog_file_prefixes={folder}",
            # The probe of a recipient may take long on a slow machine.
            "address_verify_poll_count=100", "address_verify_poll_delay=1s",
        )

    def run(self, *command):
        subprocess.run(command, env=self.environment, check=True, capture_output=True)

    def wait_for(self):
        until("Postfix listens", lambda: listens(self.port))

    def __enter__(self):
        self.run("postfix", "start")
        return self

    def __exit__(self, kind, *_):
        if kind:
            print((self.folder / "postfix.log").read_text()[-3000:], file=sys.stderr)
        subprocess.run(["postfix", "stop"], env=self.environment, check=False, capture_output=True)


class Sink(socketserver.ThreadingTCPServer):
    """An SMTP server that keeps what it gets."""

    allow_reuse_address = daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), SinkSession)
        self.port, self.mails, self.arrived = self.server_address[1], [], threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def next(self):
        assert self.arrived.wait(TIMEOUT), "no mail left through Postfix"
        return self.mails[0]


class SinkSession(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(b"220 sink\r\n")
        sender = recipient = ""
        while line := self.rfile.readline().decode(errors="replace").strip():
            word = line.split(":")[0].upper()
            if word == "MAIL FROM":
                sender = re.search("<(.*?)>", line)[1]
            elif word == "RCPT TO":
                recipient = re.search("<(.*?)>", line)[1]
            elif word == "DATA":
                self.wfile.write(b"354 go on\r\n")
                text = []
                while (part := self.rfile.readline().decode(errors="replace")).strip("\r\n") != ".":
                    text.append(part)
                self.server.mails.append((sender, recipient, "".join(text)))
                self.server.arrived.set()
            self.wfile.write(b"221 bye\r\n" if word == "QUIT" else b"250 ok\r\n")
            if word == "QUIT":
                return


if __name__ == "__main__":
    main()
