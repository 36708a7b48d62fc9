"""What several nodes are made of: PostgreSQL servers, Mailroom processes and a balancer between them."""

import http.client
import json
import os
import pwd
import re
import shutil
import signal
import smtplib
import socket
import subprocess
import threading
import time
from email.message import EmailMessage
from pathlib import Path
from urllib.parse import quote, urlencode

PUBLIC_URL = "https://mail.acme.test"
INBOX = "support@acme.test"
# Seconds to wait for a program to be ready, on a slow machine.
READY = 120
# Seconds between two looks.
STEP = 0.1


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def listens(port):
    with socket.socket() as client:
        client.settimeout(1)
        return client.connect_ex(("127.0.0.1", port)) == 0


def until(what, is_so, seconds=READY):
    last = time.monotonic() + seconds
    while True:
        found = is_so()
        if found:
            return found
        if time.monotonic() > last:
            raise SystemExit(f"timeout: {what}")
        time.sleep(STEP)


def is_running(folder):
    """True for a process, named by its folder of /proc, that has not ended."""
    try:
        state = (folder / "stat").read_text().rsplit(") ", 1)[1].split()[0]
    except (OSError, IndexError):
        return False
    return state not in "ZX"


def clean_environment():
    return {k: v for k, v in os.environ.items() if not k.startswith(("MAILROOM_", "AWS_"))}


class Postgres:
    """A PostgreSQL of its own, on a port of this machine; durable, as a cluster has to be."""

    def __init__(self, folder, port=None):
        self.folder, self.port = Path(folder), port or free_port()
        self.data = self.folder / "data"
        self.folder.mkdir(parents=True)
        if os.getuid() == 0:
            shutil.chown(self.folder, self.user())
        self.process = None

    @staticmethod
    def user():
        try:
            return pwd.getpwnam("postgres").pw_name
        except KeyError:
            return "nobody"

    @staticmethod
    def programs():
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
        return found[-1].parent if found else Path(shutil.which("initdb")).parent

    def run(self, program, *arguments, check=True):
        command = self.command(program, *arguments)
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        if check and done.returncode != 0:
            raise SystemExit(f"{program}: {done.stdout}{done.stderr}")
        return done

    def command(self, program, *arguments):
        command = [str(self.programs() / program), *map(str, arguments)]
        return ["setpriv", f"--reuid={self.user()}", "--clear-groups", *command] if os.getuid() == 0 else command

    def create(self, **settings):
        self.run("initdb", f"--pgdata={self.data}", "--username=postgres", "--auth=trust", "--encoding=UTF8",
                 "--locale=C")
        self.configure(listen_addresses="127.0.0.1", port=self.port, unix_socket_directories=self.folder,
                       max_connections=200, **settings)
        return self

    def configure(self, **settings):
        with open(self.data / "postgresql.conf", "a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())

    def copy_of(self, primary, name, way=None):
        """Makes this one a standby that follows another, which it reaches by a port of its own or of a proxy."""
        self.run("pg_basebackup", f"--pgdata={self.data}", "--host=127.0.0.1", f"--port={primary.port}",
                 "--username=postgres", "--write-recovery-conf", "--checkpoint=fast")
        self.configure(port=self.port, unix_socket_directories=self.folder, synchronous_standby_names="")
        # Read after the file above, and written by the copy.
        with open(self.data / "postgresql.auto.conf", "a") as file:
            file.write(f"primary_conninfo = 'host=127.0.0.1 port={way or primary.port} user=postgres "
                       f"application_name={name}'\n")
        return self

    def start(self):
        """Waits until it answers. A server that ends before that is started again, as a supervisor does."""
        log = open(self.folder / "server.log", "ab")
        def is_up():
            if self.process is None or self.process.poll() is not None:
                self.process = subprocess.Popen(self.command("postgres", "-D", self.data), cwd=self.folder,
                                                stdout=log, stderr=log, start_new_session=True)
            return self.answers()
        until("PostgreSQL answers", is_up)
        return self

    def answers(self):
        asked = self.run("psql", "-h", self.folder, "-p", self.port, "-U", "postgres", "-qAtc", "SELECT 1", check=False)
        return asked.returncode == 0

    def sql(self, query, database="postgres"):
        return self.run("psql", "-h", self.folder, "-p", self.port, "-U", "postgres", "-qAt", "-d", database,
                        "-c", query).stdout.strip()

    def promote(self):
        self.run("pg_ctl", f"--pgdata={self.data}", "--wait", "promote")

    def signal(self, number):
        """Reaches the server and every process that it started, which are returned."""
        started = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((folder / "stat").read_text().rsplit(") ", 1)[1].split()[1])
            except (OSError, IndexError, ValueError):
                continue
            if parent == self.process.pid:
                started.append(folder)
                try:
                    os.kill(int(folder.name), number)
                except ProcessLookupError:
                    # It ended meanwhile.
                    pass
        os.kill(self.process.pid, number)
        return started

    def kill(self):
        """Ends the server and everything it started at once, as a power cut does."""
        if self.process and self.process.poll() is None:
            # Its processes have groups of their own. Stopped first, so that it starts no other.
            os.kill(self.process.pid, signal.SIGSTOP)
            started = self.signal(signal.SIGKILL)
            self.process.wait()
            # The next server refuses to start while one of them still has the shared memory.
            until("PostgreSQL's processes ended", lambda: not any(map(is_running, started)))
        self.process = None

    def url(self, database="postgres"):
        return f"postgres://postgres@127.0.0.1:{self.port}/{database}"


class Node:
    """One `mailroom serve`."""

    def __init__(self, binary, folder, environment, **settings):
        self.binary, self.folder = binary, Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port, self.smtp, self.metrics = free_port(), free_port(), free_port()
        names = {"DATA": self.folder, "LISTEN": f"127.0.0.1:{self.port}", "SMTP_LISTEN": f"127.0.0.1:{self.smtp}",
                 "METRICS_LISTEN": f"127.0.0.1:{self.metrics}", "PUBLIC_URL": PUBLIC_URL} | settings
        own = {f"MAILROOM_{name}": str(value) for name, value in names.items() if value is not None}
        self.environment, self.data = environment | own, Path(names["DATA"])
        self.process = None

    def start(self):
        log = open(self.folder / "server.log", "ab")
        self.process = subprocess.Popen([self.binary, "serve"], env=self.environment, stdout=log, stderr=log)
        def is_up():
            if self.process.poll() is not None:
                raise SystemExit(f"a node ended:\n{self.log()}")
            return listens(self.port) and is_healthy(self.port)
        until("a node serves", is_up)
        return self

    def refusal(self):
        """What a node says that does not start."""
        done = subprocess.run([self.binary, "serve"], env=self.environment, capture_output=True, text=True, timeout=READY)
        assert done.returncode != 0, "it started"
        return done.stdout + done.stderr

    def command(self, *arguments, statuses=(0,)):
        done = subprocess.run([self.binary, *arguments, "--json"], env=self.environment, capture_output=True, text=True)
        assert done.returncode in statuses, (arguments, done.stdout, done.stderr)
        return json.loads(done.stdout)

    def log(self):
        return (self.folder / "server.log").read_text()

    def figures(self):
        """The metrics: name and labels to value."""
        status, _, text = call(self.metrics, "GET", "/metrics")
        assert status == 200, text
        lines = (line.rsplit(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))
        return {name: float(value) for name, value in lines}

    def share_key(self, other):
        """Gives this node the key that another one made."""
        self.data.mkdir(parents=True, exist_ok=True)
        (self.data / "secret.key").write_bytes((other.data / "secret.key").read_bytes())
        (self.data / "secret.key").chmod(0o600)

    def stop(self, number=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(number)
            self.process.wait()


def is_healthy(port):
    """True when a node is past its start, and not only listens."""
    try:
        return call(port, "GET", "/healthz", timeout=READY)[0] == 200
    except (OSError, http.client.HTTPException):
        return False


class Balancer:
    """Gives each connection to the next node. A node that does not answer is passed over."""

    def __init__(self, ports):
        self.ports, self.turn = list(ports), 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.join, args=(client,), daemon=True).start()

    def join(self, client):
        for _ in self.ports:
            self.turn += 1
            try:
                node = socket.create_connection(("127.0.0.1", self.ports[self.turn % len(self.ports)]), timeout=5)
                break
            except OSError:
                continue
        else:
            return client.close()
        node.settimeout(None)
        for source, target in ((client, node), (node, client)):
            threading.Thread(target=pump, args=(source, target), daemon=True).start()


def pump(source, target):
    try:
        while piece := source.recv(65_536):
            target.sendall(piece)
    except OSError:
        pass
    for end in (target, source):
        try:
            end.shutdown(socket.SHUT_WR if end is target else socket.SHUT_RD)
        except OSError:
            pass


def call(port, method, path, body=None, headers=None, timeout=READY, binary=False):
    """One request on a connection of its own: status, headers and text, or bytes."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request(method, path, body, {"Connection": "close"} | (headers or {}))
        answer = connection.getresponse()
        content = answer.read()
        return answer.status, answer.headers, content if binary else content.decode("utf-8", "replace")
    finally:
        connection.close()


class Api:
    """Calls of one key."""

    def __init__(self, port, key):
        self.port, self.key = port, key

    def __call__(self, method, path, body=None, timeout=READY, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        headers |= {"Authorization": f"Bearer {self.key}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(body)
        while True:
            status, answered, text = call(self.port, method, "/api/v1" + path, body, headers, timeout)
            if status != 429:
                return status, json.loads(text) if text else None
            # A slow machine asks more often before something is so.
            time.sleep(int(answered.get("Retry-After", 1)))


class Browser:
    """A signed-in person."""

    def __init__(self, port, link):
        self.port = port
        path = link.removeprefix(PUBLIC_URL)
        status, _, page = call(port, "GET", path)
        assert status == 200, page
        status, headers, page = call(port, "POST", path, urlencode({"csrf": token_in(page) or ""}), FORM)
        assert status == 303, (status, page)
        self.cookie = "; ".join(cookie.split(";")[0] for cookie in headers.get_all("Set-Cookie"))

    def get(self, path):
        status, _, page = call(self.port, "GET", path, headers={"Cookie": self.cookie})
        assert status == 200, (path, status, page[:500])
        return page

    def post(self, path, fields):
        return call(self.port, "POST", path, urlencode(fields, doseq=True), FORM | {"Cookie": self.cookie})


FORM = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin", "Origin": PUBLIC_URL}


def token_in(page):
    found = re.search(r'name="csrf" value="([^"]*)"', page)
    return found and found.group(1)


def send_mail(port, subject, body="Hello", sender="kim@customer.test", attachment=None):
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = sender, INBOX, subject
    mail["Message-ID"] = f"<{quote(subject)}@customer.test>"
    mail.set_content(body)
    if attachment:
        mail.add_attachment(attachment, maintype="application", subtype="octet-stream", filename="a.bin")
    with smtplib.SMTP("127.0.0.1", port, timeout=READY) as client:
        client.send_message(mail)


def conversation_of(api, subject):
    def found():
        status, listed = api("GET", "/conversations?limit=100")
        assert status == 200, listed
        return next((one["id"] for one in listed if one["subject"] == subject), None)
    return until(f"the mail {subject} is filed", found)
