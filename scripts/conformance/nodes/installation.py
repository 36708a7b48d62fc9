"""A whole installation for the fault campaign: nodes, database, blobs, relay, receiver and mailbox, with a
network between them that can fail."""

import signal
import sqlite3
import subprocess
import sys

from cluster import INBOX, READY, Api, Balancer, Browser, Node, Postgres, clean_environment, until
from faults import DATABASE, NODE, SERVICE, Clock, Disk
from load import FETCHED_INBOX
from network import Network
from services import BUCKET, MAILBOX_USER, PREFIX, STORE_KEYS, Authority, Dovecot, Receiver, Relay, Store

OWNER = "olive@acme.test"
DATABASE_NAME = "mailroom"
# Bytes at the end of a log that say why a node ended.
LAST_LINES = 2_000
# What is due later, and is made due now where no node runs that could be at it.
QUEUES = (("messages", "sends_at"), ("deliveries", "next_attempt_at"), ("imap_accounts", "next_attempt_at"))


class SharedDatabase:
    """The tables in PostgreSQL."""

    def __init__(self, installation):
        self.installation = installation

    def column(self, query):
        return self.installation.primary.sql(query, DATABASE_NAME).splitlines()

    def change(self, statement):
        """True when it was done; a server that is away is asked again later."""
        server = self.installation.primary
        return server.run("psql", "-h", server.folder, "-p", server.port, "-U", "postgres", "-d", DATABASE_NAME,
                          "-qc", "SET statement_timeout = '10s'", "-qc", statement, check=False).returncode == 0


class OwnDatabase:
    """The tables in the SQLite file of one node."""

    def __init__(self, file):
        self.file = file

    def column(self, query):
        connection = sqlite3.connect(self.file, timeout=READY)
        try:
            return [str(row[0]) for row in connection.execute(query)]
        finally:
            connection.close()

    def change(self, statement):
        """In a process of its own, because SQLite maps a file into memory, and a disk that cannot be written ends
        whoever writes there with SIGBUS."""
        code = "import sqlite3, sys; sqlite3.connect(sys.argv[1], 5, isolation_level=None).execute(sys.argv[2])"
        return subprocess.run([sys.executable, "-c", code, self.file, statement], capture_output=True).returncode == 0


class Installation:
    def __init__(self, binary, scratch, is_shared, takes_all, moto):
        self.binary, self.scratch, self.is_shared, self.takes_all, self.moto = binary, scratch, is_shared, takes_all, moto
        self.network, self.links, self.skipped = Network(), [], {}
        self.nodes, self.disks, self.clocks, self.services = [], [], [], []
        self.primary = self.standby = self.store = self.imap = None
        self.restarts = 0

    def start_all(self):
        self.authority = Authority(self.scratch / "certificates")
        self.relay = self.service(Relay(self.scratch / "relay", self.authority))
        self.receiver = self.service(Receiver(self.scratch / "receiver"))
        if self.moto:
            self.store = self.service(Store(self.scratch / "store", self.moto))
            self.skipped["kill the object store"] = "moto keeps its objects in memory; it is paused and cut off"
        else:
            self.skipped["object store"] = "no moto_server was named (--store); blobs are in a folder"
        if not self.takes_all:
            self.skipped["failover, expired certificate, two faults at once"] = "only with --faults all"
        self.start_mailbox()
        folder = self.disk("the database" if not self.is_shared else "the blobs", self.scratch)
        self.blobs = f"s3://{BUCKET}/{PREFIX}" if self.store else folder / "blobs"
        if self.is_shared:
            self.start_cluster()
            self.database = SharedDatabase(self)
        else:
            self.data = folder / "data"
            self.data.mkdir()
            self.database = OwnDatabase(self.data / "mailroom.db")
        self.start_nodes()

    def service(self, service):
        self.services.append(service)
        return service.start()

    def start_mailbox(self):
        reason = Dovecot.missing() if self.takes_all else "only with --faults all"
        if reason:
            self.skipped["IMAP"] = reason
            return
        self.imap = self.service(Dovecot(self.scratch / "imap", self.authority))

    def disk(self, name, otherwise):
        """The folder of a disk that faults may happen to, or another folder."""
        kinds = "full, read-only and slow disk"
        if not self.takes_all:
            self.skipped[kinds] = "only with --faults all"
            return otherwise
        if self.store and name == "the blobs":
            return otherwise
        reason = Disk.missing()
        try:
            if not reason:
                self.disks.append(Disk(self.scratch, name.split()[-1]))
                self.disks[-1].name = name
                return self.disks[-1].folder
        except OSError as error:
            reason = f"a disk cannot be mounted: {error}"
        self.skipped[kinds] = reason
        return otherwise

    def start_cluster(self):
        folder = self.disk("the database", self.scratch)
        self.primary = Postgres(folder / "primary").create(wal_level="replica", max_wal_senders=5,
                                                           wal_keep_size="256MB").start()
        self.primary.sql(f"CREATE DATABASE {DATABASE_NAME}")
        # A promoted standby has the old primary's port as its own standby's, so that the ways stay the same.
        self.ways = {self.primary: self.link("standby–primary", self.primary.port)}
        self.standby = Postgres(self.scratch / "standby")
        self.ways[self.standby] = self.link("standby–primary", self.standby.port)
        self.follow(self.standby, self.primary)

    def follow(self, standby, primary):
        """Makes a standby that has every commit before it is acknowledged."""
        standby.copy_of(primary, "standby", self.ways[primary].port).start()
        primary.sql("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
        primary.sql("SELECT pg_reload_conf()")
        until("the standby is synchronous",
              lambda: primary.sql("SELECT sync_state FROM pg_stat_replication") == "sync")

    def start_nodes(self):
        names = ("one", "two", "three") if self.is_shared else ("one",)
        self.clock_library, reason = Clock.build(self.scratch) if self.takes_all else (None, "only with --faults all")
        if reason:
            self.skipped["clock jump"] = reason
        for name in names:
            node = Node(self.binary, self.scratch / name, self.node_environment(name), **self.node_settings(name))
            if not self.nodes:
                self.made = node.command("setup", "--workspace=Acme", f"--owner-email={OWNER}", "--owner-name=Olive",
                                         f"--inbox={INBOX}", "--inbox-name=Support")
            else:
                node.share_key(self.nodes[0])
            self.nodes.append(node.start())
        self.prepare()

    def node_environment(self, name):
        environment = clean_environment() | {"SSL_CERT_FILE": str(self.authority.certificate)}
        if self.store:
            way = self.link("node–store", self.store.port)
            environment |= STORE_KEYS | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{way.port}"}
        if self.clock_library:
            (self.scratch / name).mkdir()
            self.clocks.append(Clock(self.scratch / name, self.clock_library))
            environment |= self.clocks[-1].environment()
        return environment

    def node_settings(self, name):
        relay = self.link("node–relay", self.relay.port)
        settings = {"BLOBS": self.blobs, "RELAY": f"smtps://127.0.0.1:{relay.port}", "RATE_PER_MINUTE": 1_000_000,
                    "WEBHOOKS_ALLOW_PRIVATE": "true"}
        if not self.is_shared:
            return settings | {"DATA": self.data}
        ways = [self.link("node–database", server.port) for server in (self.standby, self.primary)]
        hosts = ",".join(f"127.0.0.1:{way.port}" for way in ways)
        return settings | {"DATABASE_URL": f"postgres://postgres@{hosts}/{DATABASE_NAME}"}

    def prepare(self):
        """What the load needs: a key, a signed-in person, a webhook, a fetched inbox, ways to the nodes."""
        first = self.nodes[0]
        self.port = Balancer([self.link("balancer–node", node.port).port for node in self.nodes]).port
        self.smtp_ports = [self.link("sender–node", node.smtp).port for node in self.nodes]
        self.key = first.command("key", "create", "--name=Robo", "--scopes=read,write,send", f"--by={OWNER}")["key"]
        self.api = Api(self.port, self.key)
        self.browser = Browser(self.port, self.made["signInUrl"])
        way = self.link("node–receiver", self.receiver.port)
        self.webhook = first.command("webhook", "add", f"http://127.0.0.1:{way.port}/events", f"--by={OWNER}")
        if self.imap:
            way = self.link("node–mailbox", self.imap.port)
            first.command("mailbox", "add", FETCHED_INBOX, "--name=Fetched")
            first.command("mailbox", "imap", FETCHED_INBOX, f"--server=imaps://{MAILBOX_USER}@127.0.0.1:{way.port}",
                          f"--password-file={self.imap.folder / 'password'}")

    def link(self, name, port):
        self.links.append(self.network.link(name, port))
        return self.links[-1]

    # What faults happen to.

    def servers(self):
        return [server for server in (self.primary, self.standby) if server]

    def parts(self):
        return self.nodes + self.servers() + self.services

    def mortal(self):
        """Parts that keep what they know when they are killed."""
        return [part for part in self.parts() if part is not self.store]

    def kind_of(self, part):
        if part in self.nodes:
            return "a node"
        if part in self.services:
            return part.name
        return "the primary" if part is self.primary else "the standby"

    def order_of(self, part):
        return NODE if part in self.nodes else DATABASE if part in self.servers() else SERVICE

    def is_in_way_of_mail(self, part):
        return part in self.nodes + self.servers() or part is self.relay

    def kill(self, part):
        part.stop(signal.SIGKILL) if part in self.nodes else part.kill()

    def start(self, part):
        if part.process is not None and part.process.poll() is None:
            return
        def is_started():
            try:
                part.start()
                return True
            except SystemExit:
                # Somebody else may have its port for a moment.
                if part not in self.nodes or "in use" not in part.log()[-LAST_LINES:]:
                    raise
                return False
        until("a part starts", is_started)

    def signal(self, part, number):
        part.process.send_signal(number) if part in self.nodes else part.signal(number)

    def start_ended_servers(self):
        """A server that could not write may have ended, or be about to."""
        for server in self.servers():
            server.start()

    def start_broken_nodes(self):
        """SQLite's file in memory ends a node that cannot write it. Supervisors start it again."""
        for node in self.nodes:
            if node.process.poll() == -signal.SIGBUS:
                self.start(node)

    def ended_by_themselves(self):
        problems = []
        for node in self.nodes:
            status = node.process.poll()
            if status is not None:
                problems.append(f"{node.folder.name} ended by itself with status {status}")
                self.start(node)
        return problems

    def fail_over(self):
        until("the standby is synchronous",
              lambda: self.primary.sql("SELECT sync_state FROM pg_stat_replication") == "sync")
        self.primary.kill()
        self.standby.promote()
        self.primary, self.standby = self.standby, self.primary

    def renew_standby(self):
        subprocess.run(["rm", "-rf", self.standby.data], check=True)
        self.follow(self.standby, self.primary)

    # What is looked at.

    def make_due(self):
        """Lets scheduled messages leave now; those that a node may be at keep their lease."""
        self.database.change("UPDATE messages SET sends_at = 1 WHERE status = 'scheduled' AND sends_at > 1")

    def waiting(self):
        """How much is still to leave."""
        return sum(int(self.database.column(f"SELECT count(*) FROM {table} WHERE {column} IS NOT NULL")[0])
                   for table, column in QUEUES[:2])

    def restart(self):
        """Stops all nodes as an operator does, ends every lease and backoff, and starts them again. Returns what
        went wrong."""
        problems = []
        self.restarts += 1
        for node in self.nodes:
            node.process.terminate()
        for node in self.nodes:
            try:
                node.process.wait(READY)
            except subprocess.TimeoutExpired:
                problems.append(f"{node.folder.name} did not stop")
                node.stop(signal.SIGKILL)
        for table, column in QUEUES:
            statement = f"UPDATE {table} SET {column} = 1 WHERE {column} IS NOT NULL"
            until("what is due later is due now", lambda: self.database.change(statement))
        for node in self.nodes:
            self.start(node)
        return problems

    def logs(self):
        return "".join(node.log() for node in self.nodes)

    def marks(self):
        """How long the log of each node is now."""
        return {node: (node.folder / "server.log").stat().st_size for node in self.nodes}

    def logged_since(self, marks, words):
        """Lines with these words that were logged since."""
        lines = []
        for node, mark in marks.items():
            with open(node.folder / "server.log", "rb") as log:
                log.seek(mark)
                lines += log.read().decode(errors="replace").splitlines()
        return "\n".join(line for line in lines if words in line)

    def stop_all(self):
        for node in self.nodes:
            node.stop(signal.SIGKILL)
        for server in self.servers() + self.services:
            server.kill()
        for disk in self.disks:
            disk.unmount()
