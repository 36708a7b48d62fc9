"""Has a server order its certificate from ACME servers of others: Pebble, which is the test server of Let's Encrypt, and
Caddy's. Pebble refuses good nonces at random and asks at ports of ours. Caddy asks at ports 80 and 443, so it and Mailroom
run in a network namespace of their own (root).

    certificates.py BINARY FOLDER
"""

import json
import os
import re
import smtplib
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

HOST, AUTHORITY = "mail.acme.test", "ca.acme.test"
# Where nobody listens.
NOWHERE = "127.0.0.9"
# Seconds that a certificate of the last round lasts. It is renewed after 40, or 2 earlier.
SHORT_LIFE = 60
# Seconds that anything may take: a server looks every 15 for what is due.
PATIENCE = 120
# Percent of good nonces that Pebble refuses. The client tries each call three times, so more would fail orders by chance.
REFUSED_NONCES = "5"
KEY_ID, KEY = "kid-1", "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W"


def main():
    if sys.argv[1] == "--inside":
        binary, folder = (Path(arg) for arg in sys.argv[2:4])
        return with_caddy(binary, folder)
    binary, folder = (Path(arg).resolve() for arg in sys.argv[1:3])
    folder.mkdir(parents=True)
    with_pebble(binary, folder / "pebble")
    if os.geteuid() != 0:
        raise SystemExit("Caddy's ACME server asks at ports 80 and 443: run this as root.")
    caddy = folder / "caddy"
    caddy.mkdir()
    hosts = caddy / "hosts"
    hosts.write_text(f"127.0.0.1 localhost {HOST} {AUTHORITY}\n")
    inside = 'ip link set lo up && mount --bind "$0" /etc/hosts && exec "$@"'
    command = ["unshare", "--net", "--mount", "sh", "-c", inside, hosts, sys.executable, __file__, "--inside", binary, caddy]
    subprocess.run(command, check=True)


def with_pebble(binary, folder):
    folder.mkdir()
    pebble = Pebble(folder)
    try:
        pebble.start()
        first = Mailroom(binary, folder / "first", pebble)
        try:
            first.start("https", "redirect")
            renewed_and_refused(first, pebble)
        finally:
            first.stop()
        second = Mailroom(binary, folder / "second", pebble)
        try:
            second.start("https")
            second.wait_for_certificate(pebble.root())
            assert second.challenges() == ["tls-alpn-01"], second.challenges()
        finally:
            second.stop()
        pebble.start(certificateValidityPeriod=SHORT_LIFE, externalAccountBindingRequired=True,
                     externalAccountMACKeys={KEY_ID: KEY})
        third = Mailroom(binary, folder / "third", pebble)
        try:
            lapses_and_is_renewed(third, pebble)
        finally:
            third.stop()
    finally:
        pebble.stop()


def renewed_and_refused(mailroom, pebble):
    """A certificate by HTTP, a renewal, a refusal that leaves it, and another by a handshake."""
    first = mailroom.wait_for_certificate(pebble.root())
    assert mailroom.challenges() == ["http-01"], mailroom.challenges()
    mailroom.check_mail(pebble.root())
    assert mailroom.ask("/readyz?verbose")[1].count("certificate order: ok") == 1
    mailroom.run("certificate", "renew")
    second = mailroom.wait_for_certificate(pebble.root(), after=first)
    assert mailroom.count("issued") == 2, mailroom.metrics()
    # The host leads elsewhere.
    pebble.lead(HOST, NOWHERE)
    mailroom.run("certificate", "renew")
    until("a refusal", lambda: mailroom.count("failed") == 1)
    status, said = mailroom.ask("/readyz")
    assert status == 200 and f"the TLS certificate of {HOST} could not be ordered" in said, said
    assert NOWHERE not in said, said
    refusal = [line for line in mailroom.log().splitlines() if "could not be ordered" in line]
    assert len(refusal) == 1 and HOST in refusal[0] and NOWHERE in refusal[0], refusal
    checked = mailroom.run("self-check")
    assert "the last order failed: http-01: " in checked, checked
    assert mailroom.served(pebble.root()) == second
    # The next order is the other way's turn.
    pebble.lead(HOST, "127.0.0.1")
    mailroom.run("certificate", "renew")
    third = mailroom.wait_for_certificate(pebble.root(), after=second)
    assert mailroom.challenges()[-1] == "tls-alpn-01", mailroom.challenges()
    mailroom.stop()
    # It is there from the first connection of the next start on, and no other is ordered.
    mailroom.start("https", "redirect")
    assert mailroom.served(pebble.root()) == third
    assert mailroom.challenges() == ["http-01", "http-01", "http-01", "tls-alpn-01"], mailroom.challenges()


def lapses_and_is_renewed(mailroom, pebble):
    """An account of the operator's, and certificates that last a minute."""
    key = mailroom.folder / "eab.key"
    key.write_text(KEY)
    mailroom.start("https", acme_eab_key_id=KEY_ID, acme_eab_key_file=key)
    first = mailroom.wait_for_certificate(pebble.root())
    assert "ends soon" not in mailroom.ask("/readyz")[1]
    mailroom.wait_for_certificate(pebble.root(), after=first)
    assert mailroom.count("failed") == 0 and mailroom.count("issued") == 2, mailroom.metrics()


def with_caddy(binary, folder):
    caddy = Caddy(folder)
    try:
        caddy.start()
        for name, listeners, challenge in (("http", ("https", "redirect"), "http-01"), ("tls", ("https",), "tls-alpn-01")):
            mailroom = Mailroom(binary, folder / name, caddy, https=443, redirect=80)
            try:
                mailroom.start(*listeners)
                first = mailroom.wait_for_certificate(caddy.root())
                assert mailroom.challenges() == [challenge], mailroom.challenges()
                mailroom.run("certificate", "renew")
                mailroom.wait_for_certificate(caddy.root(), after=first)
            finally:
                mailroom.stop()
    finally:
        caddy.stop()


class Mailroom:
    def __init__(self, binary, folder, authority, https=None, redirect=None):
        folder.mkdir()
        self.binary, self.folder, self.authority = binary, folder, authority
        self.ports = {"https": https or authority.tls_port, "redirect": redirect or authority.http_port}
        self.http, self.smtp, self.figures = free_port(), free_port(), free_port()
        self.process, self.settings = None, {}

    def start(self, *listeners, **settings):
        settings |= {f"{name}_listen": f"127.0.0.1:{self.ports[name]}" for name in listeners}
        settings |= {
            "data": self.folder / "data", "listen": f"127.0.0.1:{self.http}", "smtp_listen": f"127.0.0.1:{self.smtp}",
            "metrics_listen": f"127.0.0.1:{self.figures}", "public_url": f"https://{HOST}", "acme": "true",
            "acme_accept_terms": "true", "acme_email": "you@acme.test", "acme_directory": self.authority.directory,
            "acme_ca_file": self.authority.own_root,
        }
        clean = {name: value for name, value in os.environ.items() if not name.startswith("MAILROOM_")}
        self.settings = clean | {f"MAILROOM_{name.upper()}": str(value) for name, value in settings.items()}
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen([self.binary, "serve"], env=self.settings, stdout=log, stderr=log)
        until("Mailroom listens", lambda: listens(self.http) and listens(self.ports["https"]))

    def stop(self):
        if self.process is not None:
            self.process.terminate()
            self.process.wait(PATIENCE)
            self.process = None

    def run(self, *command):
        done = subprocess.run([self.binary, *command], env=self.settings, capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    def log(self):
        return (self.folder / "log").read_text()

    def challenges(self):
        return re.findall(r'ACME challenge ready.*challenge="([a-z0-9-]+)"', self.log())

    def ask(self, path):
        return get(f"http://127.0.0.1:{self.http}{path}")

    def metrics(self):
        return get(f"http://127.0.0.1:{self.figures}/metrics")[1]

    def count(self, outcome):
        (found,) = re.findall(rf'mailroom_certificate_orders_total{{outcome="{outcome}"}} (\d+)', self.metrics())
        return int(found)

    def served(self, root):
        """The number of the certificate, which has to be good; `None` while it is not. A page is read with it."""
        context = ssl.create_default_context(cafile=root)
        try:
            with socket.create_connection(("127.0.0.1", self.ports["https"]), timeout=PATIENCE) as plain:
                with context.wrap_socket(plain, server_hostname=HOST) as secure:
                    secure.sendall(f"GET /healthz HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n".encode())
                    assert secure.recv(64).startswith(b"HTTP/1.1 200"), "the page over HTTPS"
                    return secure.getpeercert()["serialNumber"]
        except ssl.SSLCertVerificationError:
            return None

    def wait_for_certificate(self, root, after=None):
        until("a certificate", lambda: self.served(root) not in (None, after), lambda: self.log()[-4_000:])
        return self.served(root)

    def check_mail(self, root):
        """STARTTLS has the same certificate."""
        context = ssl.create_default_context(cafile=root)
        with smtplib.SMTP("127.0.0.1", self.smtp) as client:
            client._host = HOST
            client.starttls(context=context)
            assert client.noop()[0] == 250


class Pebble:
    def __init__(self, folder):
        self.folder = folder
        self.port, self.management, self.names, self.mock = (free_port() for _ in range(4))
        self.http_port, self.tls_port = free_port(), free_port()
        self.directory = f"https://127.0.0.1:{self.port}/dir"
        self.own_root = folder / "own-root.pem"
        make_certificate(folder)
        self.processes = []

    def start(self, **configuration):
        self.stop()
        configuration |= {
            "listenAddress": f"127.0.0.1:{self.port}", "managementListenAddress": f"127.0.0.1:{self.management}",
            "certificate": str(self.folder / "own.pem"), "privateKey": str(self.folder / "own.key"),
            "httpPort": self.http_port, "tlsPort": self.tls_port,
        }
        (self.folder / "pebble.json").write_text(json.dumps({"pebble": configuration}))
        off = [flag for name in ("http01", "https01", "tlsalpn01") for flag in (f"-{name}", "")]
        self.launch("names", "pebble-challtestsrv", "-dns01", f"127.0.0.1:{self.names}", "-defaultIPv4", "127.0.0.1",
                    "-defaultIPv6", "", "-management", f"127.0.0.1:{self.mock}", *off)
        self.launch("pebble", "pebble", "-strict", "-config", self.folder / "pebble.json",
                    "-dnsserver", f"127.0.0.1:{self.names}")
        until("Pebble listens", lambda: listens(self.port) and listens(self.management) and listens(self.mock))
        context = ssl.create_default_context(cafile=self.own_root)
        url = f"https://127.0.0.1:{self.management}/roots/0"
        with urllib.request.urlopen(url, context=context, timeout=PATIENCE) as answer:
            (self.folder / "root.pem").write_bytes(answer.read())

    def launch(self, name, *command):
        # Authorizations are not used again, so that each order is proven.
        chances = {"PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": REFUSED_NONCES, "PEBBLE_AUTHZREUSE": "0"}
        with open(self.folder / f"{name}.log", "ab") as log:
            self.processes.append(subprocess.Popen(command, env=os.environ | chances, stdout=log, stderr=log))

    def stop(self):
        for process in self.processes:
            process.terminate()
            process.wait(PATIENCE)
        self.processes = []

    def root(self):
        return self.folder / "root.pem"

    def lead(self, host, address):
        """Has the name lead to another address."""
        body = json.dumps({"host": host, "addresses": [address]}).encode()
        urllib.request.urlopen(f"http://127.0.0.1:{self.mock}/clear-a", data=body, timeout=PATIENCE).close()
        urllib.request.urlopen(f"http://127.0.0.1:{self.mock}/add-a", data=body, timeout=PATIENCE).close()


class Caddy:
    def __init__(self, folder):
        self.folder, self.port, self.process = folder, free_port(), None
        self.directory = f"https://{AUTHORITY}:{self.port}/acme/local/directory"
        self.own_root = folder / "storage/pki/authorities/local/root.crt"
        # Caddy asks at these ports alone.
        self.http_port, self.tls_port = 80, 443

    def start(self):
        configuration = self.folder / "Caddyfile"
        configuration.write_text(
            f"{{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n\thttp_port {free_port()}\n"
            f"\thttps_port {self.port}\n\tstorage file_system {self.folder}/storage\n}}\n"
            f"https://{AUTHORITY}:{self.port} {{\n\ttls internal\n\tacme_server\n}}\n"
        )
        home = {"HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder)}
        with open(self.folder / "caddy.log", "ab") as log:
            command = ["caddy", "run", "--adapter", "caddyfile", "--config", configuration]
            self.process = subprocess.Popen(command, env=os.environ | home, stdout=log, stderr=log)
        until("Caddy listens", lambda: listens(self.port) and self.own_root.exists())

    def stop(self):
        if self.process is not None:
            self.process.terminate()
            self.process.wait(PATIENCE)

    def root(self):
        return self.own_root


def make_certificate(folder):
    """A root, and the certificate by which Pebble proves itself."""
    def openssl(*command):
        done = subprocess.run(["openssl", *command], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    openssl("req", "-x509", *key, "-subj", "/CN=Own root", "-keyout", "own-root.key", "-out", "own-root.pem",
            "-addext", "keyUsage=critical,keyCertSign")
    openssl("req", *key[:-2], "-subj", "/CN=Pebble", "-keyout", "own.key", "-out", "own.csr")
    (folder / "own.cnf").write_text("subjectAltName=IP:127.0.0.1\nbasicConstraints=critical,CA:FALSE\n")
    openssl("x509", "-req", "-in", "own.csr", "-CA", "own-root.pem", "-CAkey", "own-root.key", "-days", "2",
            "-extfile", "own.cnf", "-out", "own.pem")


def get(url):
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as answer:
        return answer.code, answer.read().decode()


def free_port():
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return door.getsockname()[1]


def listens(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def until(what, is_true, told=lambda: ""):
    end = time.monotonic() + PATIENCE
    while not is_true():
        assert time.monotonic() < end, f"{what} did not come within {PATIENCE} seconds: {told()}"
        time.sleep(0.2)


if __name__ == "__main__":
    main()
