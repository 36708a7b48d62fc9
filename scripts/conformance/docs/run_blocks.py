"""Runs every code block of README.md and of the pages in docs/, in order, as a reader would.

    run_blocks.py REPO SCRATCH MODULES [BINARY]

MODULES is a node_modules folder with the npm packages that the pages tell the reader to install. With
BINARY the install step is skipped.

The pages run in one folder: README.md first, then the pages it links to, in the order of the links.
Each page gets a shell of its own, in which only MAILROOM_KEY is left over from README.md, and a server
started with `mailroom serve`. A variable that is not set and a command that fails are errors of the
page.

Replaced are port 25 and the folder of the certificate (by a free port and a test folder), and ports
that are in use on this machine. Commands that would contact servers on the Internet run and must fail
with the message listed in FAILS. Sections that begin on a bare machine (WALKED) are left to
scripts/conformance/package/walk.

Also checked: every `mailroom COMMAND` in the text exists, docs/settings.md lists exactly the
program's settings, and every relative link leads to a file and a heading.
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
import tomllib
import urllib.error
import urllib.request
from pathlib import Path
from threading import Timer

# Seconds to wait for a condition, or for one block.
TIMEOUT = 180
# Seconds for a block that compiles.
BUILD_TIMEOUT = 1800
# Commands that contact servers that do not exist: exit status and a pattern of the message.
FAILS = {
    "mailroom inbox imap": (1, "imap.acme.example"),
    "mailroom domain check": (1, "missing|unknown"),
}
# Blocks that would run this script again.
SKIPPED = {"scripts/test"}
# Sections whose shell blocks scripts/conformance/package/walk runs on bare machines: page and heading.
WALKED = {("docs/operating.md", "On Debian, step by step")}
# Pages without blocks to run, whose links are checked too.
LINKED_PAGES = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "bench/README.md")
SERVE = "mailroom serve"


def main():
    repo, scratch, modules = (Path(arg).resolve() for arg in sys.argv[1:4])
    binary = Path(sys.argv[4]).resolve() if len(sys.argv) > 4 else None
    pages = find_pages(repo)
    for page in (*pages, *(repo / name for name in LINKED_PAGES)):
        check_links(page)
    walkthrough = Walkthrough(repo, scratch, modules, binary)
    blocks = 0
    try:
        for page in pages:
            text = page.read_text()
            walked = walked_lines(page.relative_to(repo), text)
            for number, language, block in find_blocks(text):
                if language == "sh" and number in walked:
                    continue
                print(f"   {page.relative_to(repo)}:{number}: {block.splitlines()[0]}", flush=True)
                walkthrough.run(page, language, block)
                blocks += 1
        text = "\n".join(page.read_text() for page in pages)
        commands = sorted(set(re.findall(r"`mailroom ([a-z][^`]*)`", text)))
        for command in commands:
            walkthrough.check_command(command)
        walkthrough.check_settings((repo / "docs/settings.md").read_text())
    finally:
        walkthrough.stop()
    print(f"   {blocks} blocks of {len(pages)} pages ran, {len(commands)} commands of the text exist")


def find_pages(repo):
    """README.md and the pages of docs/ in the order in which README.md links to them."""
    readme = repo / "README.md"
    links = re.findall(r"\]\((docs/[^)#]*\.md)", readme.read_text())
    pages = [repo / link for link in dict.fromkeys(links)]
    # It adds a second workspace, after which commands have to say which one they mean.
    pages.sort(key=lambda page: page.name == "operating.md")
    for page in sorted((repo / "docs").glob("*.md")):
        if page not in pages:
            fail(f"README.md has no link to docs/{page.name}")
    return [readme, *pages]


def check_links(page):
    for path, _, heading in re.findall(r"\]\((?!https?:)([^)#\s]*)(#([^)\s]*))?\)", page.read_text()):
        target = page.parent / path if path else page
        if not target.exists():
            fail(f"{page.name} links to {path}, which does not exist")
        if heading and heading not in anchors(target.read_text()):
            fail(f"{page.name} links to {path}#{heading}, and there is no such heading")


def anchors(text):
    """The anchors of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


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


def walked_lines(page, text):
    """The numbers of the lines in sections that are run elsewhere."""
    lines = set()
    for name, heading in WALKED:
        if name == str(page):
            first, last = section(text, heading)
            lines |= set(range(first, last))
    return lines


def section(text, heading):
    """The numbers of the first line of a section and of the line after its last."""
    lines = text.splitlines()
    if f"## {heading}" not in lines:
        fail(f"there is no section {heading}")
    first = lines.index(f"## {heading}") + 1
    rest = (number for number, line in enumerate(lines, 1) if number > first and line.startswith("## "))
    return first, next(rest, len(lines) + 1)


def fail(sentence):
    raise SystemExit(f"documentation: {sentence}")


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
    last = time.monotonic() + TIMEOUT
    while not is_so():
        if time.monotonic() > last:
            fail(f"timeout: {what}")
        time.sleep(0.2)


class Walkthrough:
    """Runs blocks in one data folder, with at most one server at a time."""

    def __init__(self, repo, scratch, modules, binary):
        self.repo, self.folder, self.binary = repo, scratch, binary
        self.server = self.serving = self.postfix = self.page = None
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
        # A default port that is free is used without a setting, as a reader would.
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

    def open_page(self, page):
        """The first page sets up the workspace; the others begin with its key and a server."""
        if self.page is not None:
            key = self.environment.get("MAILROOM_KEY") or self.shell.run('echo "$MAILROOM_KEY"').strip()
            self.environment["MAILROOM_KEY"] = key
            self.shell.stop()
            self.shell = Shell(self.folder, self.environment)
            if self.serving != SERVE:
                self.serve(SERVE)
        self.page = page

    def write_files(self, programs):
        if self.binary:
            (programs / "mailroom").symlink_to(self.binary)
        for name in ("password.txt", "key.txt", "token.txt"):
            (self.folder / name).write_text("a-secret-of-some-length\n")
        (self.folder / "invoice.pdf").write_bytes(invoice())
        (self.folder / "scan.jpg").write_bytes(b"\xff\xd8\xff\xe0 no picture")
        write_certificate(self.folder / "mail.pem", self.folder / "mail.key")
        # A stand-in for the real program, which would need an account.
        claude = programs / "claude"
        claude.write_text(CLAUDE)
        claude.chmod(0o755)

    def run(self, page, language, block):
        if page != self.page:
            self.open_page(page)
        for there, here in self.replaced.items():
            block = block.replace(there, here)
        match language:
            case "sh":
                self.run_shell(block)
            case "json":
                json.loads(block)
            case "toml":
                tomllib.loads(block)
            case "python":
                (self.folder / "agent.py").write_text(block)
                self.expect_conversations(self.shell.run("python agent.py"))
            case "js":
                self.run_node(block)
            case "text":
                pass
            case _:
                fail(f"a block of the language {language or 'none'} cannot be run")

    def run_shell(self, block):
        command = block.strip()
        if command in SKIPPED:
            return
        if command.startswith("cargo install"):
            if not self.binary:
                self.shell.run(f"(cd '{self.repo}' && {command})", BUILD_TIMEOUT)
            return
        if built := re.match(r"cargo run (.*) -- (.*)$", command):
            command = self.built_command(*built.groups())
        if re.search(r"mailroom (serve|demo)$", command):
            self.serve(command)
            return
        if "postconf" in block and os.getuid() != 0:
            print("   skipped: Postfix runs only as root")
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

    def built_command(self, flags, arguments):
        """Builds what `cargo run` builds, and starts it here, where its data folder belongs."""
        if self.binary:
            return f"mailroom {arguments}"
        self.shell.run(f"(cd '{self.repo}' && cargo build {flags})", BUILD_TIMEOUT)
        target = Path(os.environ.get("CARGO_TARGET_DIR", self.repo / "target")).resolve()
        return f"{target}/release/mailroom {arguments}"

    def serve(self, command):
        self.stop_server()
        self.serving = command
        log = open(self.folder / "server.log", "ab")
        self.server = subprocess.Popen(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        until(f"`{command}` is ready", self.is_ready)

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
        """Debian's Postfix with its default settings, except for folders, port and log."""
        settings, spool, data = (self.folder / name for name in ("postfix", "spool", "data"))
        shutil.copytree("/etc/postfix", settings, symlinks=True)
        spool.mkdir()
        data.mkdir()
        # Its users must be able to enter their folders.
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
        until("Postfix listens", lambda: not is_free(self.postfix_port))
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
            until("the mail arrives through Postfix", is_there)
        except SystemExit:
            print((self.folder / "postfix.log").read_text()[-3000:], file=sys.stderr)
            raise

    def check_command(self, command):
        """The program has the command that the text names."""
        words = []
        for word in command.split():
            if not re.fullmatch(r"[a-z][a-z-]*", word.split("|")[0]):
                break
            words.append(word.split("|")[0])
        if words[0] == "help":
            words = words[1:]
        # The words after the command are its arguments.
        for end in range(len(words), 0, -1):
            asked = subprocess.run(
                ["mailroom", *words[:end], "--help"], env=self.environment, capture_output=True
            )
            if asked.returncode == 0:
                return
        if words:
            fail(f"there is no command `mailroom {command}`")

    def check_settings(self, text):
        """The page lists every setting of the program and no other."""
        asked = subprocess.run(
            ["mailroom", "serve", "--help"], env=self.environment, capture_output=True, text=True
        )
        known = set(re.findall(r"env:\s+(MAILROOM_[A-Z_]+)", asked.stdout))
        listed = set(re.findall(r"`(MAILROOM_[A-Z_]+)`", "".join(re.findall(r"(?m)^\| .*$", text))))
        if known != listed:
            fail(f"docs/settings.md differs from `mailroom serve --help`: {sorted(known ^ listed)}")

    def stop_server(self):
        if self.server is None:
            return
        if self.server.poll() is None:
            os.killpg(self.server.pid, signal.SIGTERM)
        try:
            self.server.wait(TIMEOUT)
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
    """The bash of all shell blocks of a page. Every command that fails is reported."""

    END = "BLOCK-END"
    FAILED = "BLOCK-FAILED"
    BEGIN = f"""
        set -uo pipefail
        trap 'echo "{FAILED} $? $BASH_COMMAND" >&2' ERR
        curl() {{ command curl --fail-with-body --show-error "$@"; }}
    """

    def __init__(self, folder, environment, around=()):
        self.folder = folder
        self.process = subprocess.Popen(
            [*around, "bash", "--noprofile", "--norc"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.process.stdin.write(self.BEGIN)

    def run(self, block, seconds=TIMEOUT, expected=()):
        file = self.folder / "block.sh"
        # The last line keeps a block whose last command fails from failing twice.
        file.write_text(f"{block.rstrip()}\ntrue\n")
        self.process.stdin.write(f". ./block.sh </dev/null\necho; echo {self.END}\n")
        self.process.stdin.flush()
        # Ends a shell that hangs.
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
        self.check(block, said, expected)
        return "".join(line for line in said if not line.startswith(self.FAILED)).strip() + "\n"

    def check(self, block, said, expected):
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
    """A self-signed certificate and its key."""
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
