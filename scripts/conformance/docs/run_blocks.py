"""Runs every block of README.md in order, as a reader would, in a folder of its own.

    run_blocks.py README SCRATCH MODULES [BINARY]

MODULES is a node_modules folder that has the packages that README tells to install. With BINARY the
install step is left out. All shell blocks share one shell, so a variable that is never set, and a
command that fails, is a fault of README.

Only this is not as it stands there: port 25 and the certificate's folder, which are the machine's,
become a free port and a folder of the test's; and ports that are taken on this machine become free
ones. Commands that would call servers of others run, and must fail with the sentence that says so.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from threading import Timer

# What is waited for comes within this many seconds, or never.
PATIENCE = 180
# One block may take this many seconds; the first one compiles.
BLOCK_SECONDS = 1800
# Commands that ask servers of others, which are not there: their exit status and what they say.
FAILS = {
    "mailroom inbox imap": (1, "imap.acme.example"),
    "mailroom domain check": (1, "missing|unknown"),
}
# What runs this cannot be run by it.
LEFT_OUT = {"scripts/test"}


def main():
    readme, scratch, modules = (Path(arg).resolve() for arg in sys.argv[1:4])
    binary = Path(sys.argv[4]).resolve() if len(sys.argv) > 4 else None
    text = readme.read_text()
    reader = Reader(readme.parent, scratch, modules, binary)
    try:
        blocks = list(find_blocks(text))
        for number, language, block in blocks:
            print(f"   line {number}: {block.splitlines()[0]}", flush=True)
            reader.run(language, block)
        commands = sorted(set(re.findall(r"`mailroom ([a-z][^`]*)`", text)))
        for command in commands:
            reader.knows(command)
    finally:
        reader.stop()
    print(f"   {len(blocks)} blocks ran, {len(commands)} commands of the text are known")


def find_blocks(text):
    """The number of the first line, the language and the text of each block."""
    language, lines, began = None, [], 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("```"):
            lines.append(line)
        elif language is None:
            language, lines, began = line[3:].strip(), [], number + 1
        else:
            yield began, language, "\n".join(lines) + "\n"
            language = None


def fail(sentence):
    raise SystemExit(f"README: {sentence}")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def is_free(port):
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def until(what, is_so):
    last = time.monotonic() + PATIENCE
    while not is_so():
        if time.monotonic() > last:
            fail(f"{what} did not come")
        time.sleep(0.2)


class Reader:
    """Somebody who types what README says."""

    def __init__(self, repo, scratch, modules, binary):
        self.repo, self.folder, self.binary = repo, scratch, binary
        self.server = self.postfix = None
        scratch.mkdir(parents=True)
        programs = scratch / "bin"
        programs.mkdir()
        (scratch / "node_modules").symlink_to(modules)
        self.ports = {port: port if is_free(port) else free_port() for port in (8080, 2525, 2424)}
        self.smtp_port, self.postfix_port = free_port(), free_port()
        environment = {k: v for k, v in os.environ.items() if not k.startswith("MAILROOM_")}
        environment |= {
            "PATH": f"{programs}:{environment['PATH']}",
            "CARGO_INSTALL_ROOT": str(scratch),
            "MAIL_CONFIG": str(scratch / "postfix"),
            "MAILROOM_LISTEN": f"127.0.0.1:{self.ports[8080]}",
            "MAILROOM_SMTP_LISTEN": f"127.0.0.1:{self.ports[2525]}",
        }
        # The usual places are tried as they are.
        for port, name in ((8080, "MAILROOM_LISTEN"), (2525, "MAILROOM_SMTP_LISTEN")):
            if self.ports[port] == port:
                del environment[name]
        self.environment = environment
        self.replaced = {f":{port}": f":{here}" for port, here in self.ports.items()} | {
            "0.0.0.0:25 ": f"127.0.0.1:{self.smtp_port} ",
            "/etc/ssl/mail": f"{scratch}/mail",
        }
        self.write_files(programs)
        self.shell = Shell(scratch, environment)

    def write_files(self, programs):
        if self.binary:
            (programs / "mailroom").symlink_to(self.binary)
        for name in ("password.txt", "key.txt", "token.txt"):
            (self.folder / name).write_text("a-secret-of-some-length\n")
        (self.folder / "invoice.pdf").write_bytes(invoice())
        (self.folder / "scan.jpg").write_bytes(b"\xff\xd8\xff\xe0 no picture")
        write_certificate(self.folder / "mail.pem", self.folder / "mail.key")
        # In place of the real one, which would ask to be signed in: it calls what it is told.
        claude = programs / "claude"
        claude.write_text(CLAUDE)
        claude.chmod(0o755)

    def run(self, language, block):
        for there, here in self.replaced.items():
            block = block.replace(there, here)
        match language:
            case "sh":
                self.run_shell(block)
            case "json":
                json.loads(block)
            case "python":
                (self.folder / "agent.py").write_text(block)
                self.expect_conversations(self.shell.run("python agent.py"))
            case "js":
                self.run_node(block)
            case "text":
                pass
            case _:
                fail(f"a block of {language or 'no language'} is run by nobody")

    def run_shell(self, block):
        command = block.strip()
        if command in LEFT_OUT:
            return
        if command.startswith("cargo install"):
            if not self.binary:
                self.shell.run(f"(cd '{self.repo}' && {command})", BLOCK_SECONDS)
            return
        if re.search(r"mailroom (serve|demo)$", command):
            self.serve(command)
            return
        if "postconf" in block and os.getuid() != 0:
            print("   left out: Postfix runs only as root")
            return
        if "postconf" in block:
            self.start_postfix()
        said = self.shell.run(block, expected=FAILS)
        if "postconf" in block:
            self.write_through_postfix()
        if "read-document" in block:
            first = json.loads(said.splitlines()[0])
            if first.get("kind") != "invoice":
                fail(f"invoice.pdf was read as {first}")

    def serve(self, command):
        self.stop_server()
        log = open(self.folder / "server.log", "ab")
        self.server = subprocess.Popen(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        until(f"an answer of `{command}`", self.is_ready)

    def is_ready(self):
        if self.server.poll() is not None:
            fail("the server ended:\n" + (self.folder / "server.log").read_text()[-3000:])
        try:
            url = f"http://127.0.0.1:{self.ports[8080]}/readyz"
            with urllib.request.urlopen(url, timeout=10) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def run_node(self, block):
        (self.folder / "agent.mjs").write_text(block)
        self.expect_conversations(self.shell.run("node agent.mjs"))
        version = self.shell.run("node --version").strip().lstrip("v").split(".")
        if tuple(map(int, version[:2])) >= (22, 18):
            (self.folder / "agent.mts").write_text(block)
            self.expect_conversations(self.shell.run("node agent.mts"))

    def expect_conversations(self, said):
        if "Where is my order?" not in said:
            fail(f"the example did not list the conversation:\n{said}")

    def start_postfix(self):
        """A Postfix of Debian's, as it is installed, but for its folders, its port and its log."""
        settings, spool, data = (self.folder / name for name in ("postfix", "spool", "data"))
        shutil.copytree("/etc/postfix", settings, symlinks=True)
        spool.mkdir()
        data.mkdir()
        # Its own users have to get through to their folders.
        for folder in (self.folder, *self.folder.parents):
            if folder.stat().st_uid == os.getuid() and folder != Path("/"):
                folder.chmod(folder.stat().st_mode | 0o711)
        shutil.chown(data, "postfix")
        master = settings / "master.cf"
        rows = master.read_text().splitlines()
        rows = [re.sub(r"^smtp(\s+inet)", rf"{self.postfix_port}\1", row) for row in rows]
        master.write_text("\n".join(rows) + "\n")
        own = [
            f"queue_directory={spool}",
            f"data_directory={data}",
            "inet_interfaces=127.0.0.1",
            "inet_protocols=ipv4",
            "myhostname=mx.acme.example",
            "mydestination=",
            f"maillog_file={self.folder}/postfix.log",
            f"maillog_file_prefixes={self.folder}",
        ]
        subprocess.run(["postconf", "-e", *own], env=self.environment, check=True)
        subprocess.run(["postfix", "start"], env=self.environment, check=True)
        self.postfix = True

    def write_through_postfix(self):
        mail = (
            "From: Bo <bo@customer.example>\nTo: support@acme.example\n"
            "Subject: Through Postfix\n\nHello from behind a mail server.\n"
        )
        arguments = [
            "curl", "--silent", "--show-error", "--crlf", f"smtp://127.0.0.1:{self.postfix_port}",
            "--mail-from", "bo@customer.example",
            "--mail-rcpt", "support+tag@acme.example", "--upload-file", "-",
        ]
        until("Postfix", lambda: not is_free(self.postfix_port))
        subprocess.run(arguments, input=mail, text=True, check=True)
        key = self.shell.run(
            "mailroom key create --name Reader --scopes read --by you@acme.example | head -n 1"
        ).strip()
        url = f"http://127.0.0.1:{self.ports[8080]}/api/v1/conversations?q=Postfix"
        request = urllib.request.Request(url, headers={"Authorization": f"Bearer {key}"})

        def is_there():
            with urllib.request.urlopen(request, timeout=30) as answer:
                return len(json.load(answer)) == 1

        try:
            until("the mail that Postfix took", is_there)
        except SystemExit:
            print((self.folder / "postfix.log").read_text()[-3000:], file=sys.stderr)
            raise

    def knows(self, command):
        """A command of the text is one that the program has."""
        words = []
        for word in command.split():
            if not re.fullmatch(r"[a-z][a-z-]*", word.split("|")[0]):
                break
            words.append(word.split("|")[0])
        if words[0] == "help":
            words = words[1:]
        # What follows the command's own words are its arguments.
        for end in range(len(words), 0, -1):
            asked = subprocess.run(
                ["mailroom", *words[:end], "--help"], env=self.environment, capture_output=True
            )
            if asked.returncode == 0:
                return
        if words:
            fail(f"there is no command `mailroom {command}`")

    def stop_server(self):
        if self.server is None:
            return
        if self.server.poll() is None:
            os.killpg(self.server.pid, signal.SIGTERM)
        try:
            self.server.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self.server.pid, signal.SIGKILL)
            self.server.wait()
        self.server = None

    def stop(self):
        self.shell.stop()
        self.stop_server()
        if self.postfix:
            subprocess.run(["postfix", "stop"], env=self.environment, check=False)


class Shell:
    """One bash that all shell blocks share. Every command that fails is noticed."""

    END = "README-END"
    FAILED = "README-FAILED"
    BEGIN = f"""
        set -uo pipefail
        trap 'echo "{FAILED} $? $BASH_COMMAND" >&2' ERR
        curl() {{ command curl --fail-with-body --show-error "$@"; }}
    """

    def __init__(self, folder, environment):
        self.folder = folder
        self.process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.process.stdin.write(self.BEGIN)

    def run(self, block, seconds=PATIENCE, expected=()):
        file = self.folder / "block.sh"
        # The last line keeps a block whose last command fails from failing twice.
        file.write_text(f"{block.rstrip()}\ntrue\n")
        self.process.stdin.write(f". ./block.sh </dev/null\necho; echo {self.END}\n")
        self.process.stdin.flush()
        # A shell that hangs is ended.
        timer = Timer(seconds, os.killpg, (self.process.pid, signal.SIGKILL))
        timer.start()
        said = []
        for line in self.process.stdout:
            if line.strip() == self.END:
                break
            said.append(line)
        timer.cancel()
        if self.process.poll() is not None:
            fail("the shell ended in:\n" + block + "".join(said))
        self.judge(block, said, expected)
        return "".join(line for line in said if not line.startswith(self.FAILED)).strip() + "\n"

    def judge(self, block, said, expected):
        text = "".join(said)
        failures = [line.split(" ", 2)[1:] for line in said if line.startswith(self.FAILED)]
        for status, command in failures:
            known = next((known for known in expected if command.startswith(known)), None)
            if known is None:
                fail(f"`{command.strip()}` failed with {status}:\n{text}")
            wanted, words = expected[known]
            if int(status) != wanted or not re.search(words, text):
                fail(f"`{known}` should say {words!r} and end with {wanted}:\n{text}")
        for known in expected:
            if known in block and not any(command.startswith(known) for _, command in failures):
                fail(f"`{known}` should have failed:\n{text}")

    def stop(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


CLAUDE = """#!/usr/bin/env bash
# claude mcp add --transport http NAME URL --header HEADER: lists the tools there.
set -euo pipefail
test "$1 $2 $3 $4" = 'mcp add --transport http'
test "$7" = --header
curl --silent --fail "$6" --header "$8" \\
    --data '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}' | grep --quiet list_conversations
"""


def invoice():
    """A PDF of one page that says that it is an invoice."""
    lines = ["INVOICE", "Lumen GmbH", "Number: R-2026-118", "Date: 2026-11-03", "Total: EUR 119.00"]
    shown = "".join(f"1 0 0 1 72 {760 - 24 * at} Tm ({line}) Tj " for at, line in enumerate(lines))
    content = f"BT /F1 12 Tf {shown}ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    pdf, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(pdf))
        pdf += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(pdf)
    return pdf + b"xref\n0 6\n0000000000 65535 f \n" + table + end


def write_certificate(certificate_file, key_file):
    """A certificate that is its own authority, and its key."""
    import datetime

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "mail.acme.example")])
    now = datetime.datetime.now(datetime.timezone.utc)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=30))
        .sign(key, hashes.SHA256())
    )
    certificate_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )


if __name__ == "__main__":
    main()
