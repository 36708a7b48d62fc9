"""Lets clients of others in by OAuth, with a real browser that clicks "Allow": the official MCP clients for
Python and TypeScript, MCP Inspector, mcp-remote, oauth4webapi, authlib, and the conformance suite's two
scenarios for authorization servers. Each client registers itself, and then is named by a document.

    judge.py BINARY SCRATCH NODE CHROMIUM

NODE is the folder with the JavaScript clients. With MAILROOM_TEST_POSTGRES in the environment everything runs
on PostgreSQL too, in a database of its own.
"""

import datetime
import http.server
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from dnslib import A, QTYPE, RR
from dnslib.server import BaseResolver, DNSLogger, DNSServer

HERE = Path(__file__).parent
TIMEOUT_SECONDS = 90
# Clients that are let in at the same time; most of the time they wait.
AT_ONCE = 2
# The name of the site that has the documents, and where it leads. A client's id has no port, so the site
# listens at the usual one, on an address of this machine that nothing else uses.
SITE, SITE_ADDRESS, SITE_PORT = "clients.judge.test", "127.77.0.1", 443
# What the documents list: Claude Code's name no port, Inspector's and mcp-remote's have paths of their own.
REDIRECTS = [
    "http://127.0.0.1/callback",
    "http://localhost/callback",
    "http://127.0.0.1/oauth/callback",
    "http://localhost/oauth/callback",
]


class DocumentSite:
    """Serves a document about each client that is asked for, over HTTPS with an authority of its own."""

    def __init__(self, scratch):
        self.authority = scratch / "authority.pem"
        chain = scratch / "site.pem"
        make_certificates(self.authority, chain)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain)
        self.server = http.server.ThreadingHTTPServer((SITE_ADDRESS, SITE_PORT), DocumentHandler)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        silent = DNSLogger(logf=lambda _: None)
        self.dns = DNSServer(EveryNameLeadsHere(), address="127.0.0.1", port=0, logger=silent)
        self.dns.start_thread()
        self.dns_address = "127.0.0.1:%d" % self.dns.server.server_address[1]

    def address(self, client):
        return f"https://{SITE}/{client}.json"


class DocumentHandler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        document = json.dumps({
            "client_id": f"https://{SITE}{self.path}",
            "client_name": "Judge" + self.path.removesuffix(".json").replace("/", " "),
            "client_uri": f"https://{SITE}",
            "redirect_uris": REDIRECTS,
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        }).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(document)))
        self.end_headers()
        self.wfile.write(document)

    def log_message(self, *_):
        pass


class EveryNameLeadsHere(BaseResolver):
    def resolve(self, request, handler):
        reply = request.reply()
        if request.q.qtype == QTYPE.A:
            reply.add_answer(RR(request.q.qname, QTYPE.A, ttl=60, rdata=A(SITE_ADDRESS)))
        return reply


def make_certificates(authority_file, chain_file):
    now = datetime.datetime.now(datetime.timezone.utc)

    def certificate(name, key, issuer, issuer_key, is_authority):
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]))
            .issuer_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, issuer)]))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        )
        if not is_authority:
            names = x509.SubjectAlternativeName([x509.DNSName(name)])
            builder = builder.add_extension(names, critical=False)
        return builder.sign(issuer_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    root_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority_file.write_bytes(certificate("Judge", root_key, "Judge", root_key, True))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    chain_file.write_bytes(private + certificate(SITE, key, "Judge", root_key, False))


class Demo:
    """A server with a sample workspace, and its owner in a browser."""

    def __init__(self, binary, folder, node, chromium, site, database):
        environment = {
            **os.environ,
            "MAILROOM_DNS": site.dns_address,
            "MAILROOM_WEBHOOKS_ALLOW_PRIVATE": "true",
            "MAILROOM_RATE_PER_MINUTE": "100000",
            "SSL_CERT_FILE": str(site.authority),
        }
        if database:
            environment["MAILROOM_DATABASE_URL"] = database
        folder.mkdir(parents=True)
        self.log = open(folder / "server.log", "w")
        self.process = subprocess.Popen(
            [binary, "demo", "--listen", "127.0.0.1:0", "--smtp-listen", "off",
             "--data", folder / "data", "--json"],
            env=environment, stdout=subprocess.PIPE, stderr=self.log, text=True,
        )
        ready = json.loads(self.process.stdout.readline())
        self.address = ready["address"]
        self.person = subprocess.Popen(
            ["node", node / "browser.mjs", ready["signInUrl"], chromium],
            stdout=subprocess.PIPE, text=True,
        )
        self.browser = self.person.stdout.readline().strip()
        assert self.browser, "the browser did not start"

    def visit(self, url):
        asked = f"{self.browser}/visit?url={urllib.parse.quote(url, safe='')}"
        return urllib.request.urlopen(asked, timeout=TIMEOUT_SECONDS).read().decode()

    def stop(self):
        for process in (self.person, self.process):
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=TIMEOUT_SECONDS)
        self.log.close()


def run(*command, env=None, feed=None):
    done = subprocess.run(
        [str(part) for part in command], env=env, input=feed, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_SECONDS,
    )
    assert done.returncode == 0, f"{command[0]}: {done.stdout[-4000:]}"
    return done.stdout


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def own_home(scratch):
    """Clients keep tokens in the home folder. The desktop's command that opens pages does nothing: they print
    the address as well, and what is printed is what is visited."""
    home = scratch / uuid.uuid4().hex
    commands = home / "commands"
    commands.mkdir(parents=True)
    opener = commands / "xdg-open"
    opener.write_text("#!/bin/sh\n")
    opener.chmod(0o755)
    return {
        **os.environ,
        "HOME": str(home), "BROWSER": str(opener),
        "PATH": f"{commands}:{os.environ['PATH']}",
        # Without a terminal Inspector opens no page unless told to.
        "MCP_AUTO_OPEN_ENABLED": "true",
        "MCP_INSPECTOR_SECRET_STORE": "file",
    }


def await_listener(link):
    """Some clients print the link before they listen for its answer."""
    port = urllib.parse.urlsplit(urllib.parse.parse_qs(urllib.parse.urlsplit(link).query)["redirect_uri"][0]).port
    patience = time.monotonic() + TIMEOUT_SECONDS
    while True:
        try:
            socket.create_connection(("localhost", port), timeout=1).close()
            return
        except OSError:
            if time.monotonic() > patience:
                raise
            time.sleep(0.1)


class LinkFollower:
    """Reads what a client prints, and visits the first page of ours that it names."""

    def __init__(self, demo, stream):
        self.demo, self.stream, self.said = demo, stream, ""
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        gone = False
        for line in self.stream:
            self.said += line
            link = re.search(re.escape(self.demo.address) + r"/authorize\?[^\s\"]+", line)
            if link and not gone:
                gone = True
                threading.Thread(target=self.visit, args=(link[0],), daemon=True).start()

    def visit(self, link):
        try:
            await_listener(link)
            self.demo.visit(link)
        except OSError as error:
            self.said += f"visiting {link}: {error}"


def inspector(demo, scratch, document):
    home = own_home(scratch)
    callback = f"http://127.0.0.1:{free_port()}/oauth/callback"
    command = ["mcp-inspector", "--cli", f"{demo.address}/mcp", "--transport", "http",
               "--callback-url", callback, "--method", "tools/list"]
    if document:
        command += ["--client-metadata-url", document]
    assert '"reply"' in follow_link(command, home, demo)
    # The second run has tokens, and asks nobody.
    assert '"reply"' in run(*command, "--stored-auth-only", env=home)


def follow_link(command, env, demo):
    """Runs a client that prints where its user is to go, goes there, and returns what it prints."""
    process = subprocess.Popen(
        [str(part) for part in command], env=env, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )
    guard = threading.Timer(TIMEOUT_SECONDS, process.kill)
    guard.start()
    follower = LinkFollower(demo, process.stdout)
    status = process.wait()
    guard.cancel()
    follower.thread.join(timeout=TIMEOUT_SECONDS)
    assert status == 0, follower.said[-4000:]
    return follower.said


def mcp_remote(demo, scratch, document):
    home = own_home(scratch)
    command = ["mcp-remote", f"{demo.address}/mcp", str(free_port()), "--transport", "http-only",
               "--auth-timeout", str(TIMEOUT_SECONDS)]
    if document:
        command += ["--client-metadata-url", document]
    process = subprocess.Popen(
        command, env=home, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    follower = LinkFollower(demo, process.stderr)
    guard = threading.Timer(TIMEOUT_SECONDS, process.kill)
    guard.start()

    def ask(number, method, params):
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if number:
            message["id"] = number
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        while number:
            line = process.stdout.readline()
            assert line, follower.said[-4000:]
            answer = json.loads(line)
            if answer.get("id") == number:
                return answer["result"]

    who = {"name": "judge", "version": "1"}
    ask(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": who})
    ask(None, "notifications/initialized", {})
    names = [tool["name"] for tool in ask(2, "tools/list", {})["tools"]]
    assert "reply" in names and "record_sent" not in names, names
    told = ask(3, "tools/call", {"name": "whoami", "arguments": {}})
    assert not told.get("isError"), told
    process.terminate()
    process.wait(timeout=TIMEOUT_SECONDS)
    guard.cancel()


def conformance(demo, scratch, document):
    port = free_port()
    client = document
    if not document:
        about = {"client_name": "Suite", "redirect_uris": [f"http://127.0.0.1:{port}/callback"]}
        request = urllib.request.Request(
            f"{demo.address}/register", json.dumps(about).encode(), {"content-type": "application/json"}
        )
        client = json.load(urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS))["client_id"]
    said = follow_link(
        ["conformance", "authorization", "--url", demo.address, "--client-id", client, "--port", port],
        own_home(scratch), demo,
    )
    assert "FAILURE" not in said, said


def judge(demo, scratch, node, site):
    def node_client(which):
        return lambda document: run(
            "node", node / "node_clients.mjs", which, demo.address, demo.browser, *filter(None, [document])
        )

    def python_client(which):
        return lambda document: run(
            sys.executable, HERE / "python_clients.py", which, demo.address, demo.browser,
            *filter(None, [document])
        )

    clients = {
        "sdk": node_client("sdk"),
        "client": node_client("client"),
        "oauth4webapi": node_client("oauth4webapi"),
        "mcp": python_client("mcp"),
        "authlib": python_client("authlib"),
        "inspector": lambda document: inspector(demo, scratch, document),
        "mcp-remote": lambda document: mcp_remote(demo, scratch, document),
        "conformance": lambda document: conformance(demo, scratch, document),
    }

    def both_ways(name):
        for how, document in (("registers", None), ("document", site.address(name))):
            began = time.monotonic()
            clients[name](document)
            print(f"   {name}, {how}: {time.monotonic() - began:.1f} s", flush=True)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for done in [pool.submit(both_ways, name) for name in clients]:
            done.result()


def databases(scratch):
    """The databases to run on: a name, the address to give to the server, and how to drop it."""
    yield "SQLite", None
    postgres = os.environ.get("MAILROOM_TEST_POSTGRES")
    if not postgres:
        return
    name = f"judge_{uuid.uuid4().hex[:12]}"
    run(postgres_program("psql"), postgres, "--quiet", "--command", f"CREATE DATABASE {name}")
    try:
        yield "PostgreSQL", postgres.rsplit("/", 1)[0] + f"/{name}"
    finally:
        run(postgres_program("psql"), postgres, "--quiet", "--command", f"DROP DATABASE {name} WITH (FORCE)")


def postgres_program(name):
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


def main(binary, scratch, node, chromium):
    scratch, node = Path(scratch), Path(node)
    scratch.mkdir(parents=True, exist_ok=True)
    site = DocumentSite(scratch)
    for name, database in databases(scratch):
        print(f"   on {name}", flush=True)
        demo = Demo(binary, scratch / name, node, chromium, site, database)
        try:
            judge(demo, scratch, node, site)
        finally:
            demo.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
