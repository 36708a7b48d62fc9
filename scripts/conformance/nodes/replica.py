"""A node that reads reports and the audit log from a standby of its PostgreSQL. Nobody misses what was just changed,
and a revoked key reads nothing. The primary answers while the standby is killed, paused or promoted. With SQLite a node
says why it does not start.

    replica.py BINARY SCRATCH
"""

import json
import sys
from pathlib import Path

from cluster import INBOX, Api, Browser, Node, Postgres, call, clean_environment, send_mail, until

# Changes that are read back at once.
CHANGES = 10
# Reads while the standby is away.
READS = 20
# Seconds for one of them, on a slow machine.
PATIENCE = 60
OWNER = "olive@acme.test"


def main():
    binary, scratch = (Path(argument).resolve() for argument in sys.argv[1:3])
    scratch.mkdir(parents=True)
    # PostgreSQL has a user of its own, who must be able to enter it.
    scratch.chmod(0o755)
    servers, node = [], None
    try:
        primary = Postgres(scratch / "primary").create(wal_level="replica", max_wal_senders=5).start()
        servers.append(primary)
        primary.sql("CREATE DATABASE mailroom")
        standby = Postgres(scratch / "standby").copy_of(primary, "standby")
        # What was read there can be told from its log.
        standby.configure(log_statement="all")
        servers.append(standby.start())
        refuse_sqlite(binary, scratch, standby)
        node = Node(binary, scratch / "node", clean_environment(), DATABASE_URL=primary.url("mailroom"),
                    DATABASE_REPLICA_URL=standby.url("mailroom"), BLOBS=scratch / "blobs",
                    RELAY=f"file:{scratch / 'outbox'}", RATE_PER_MINUTE=1_000_000)
        made = node.command("setup", "--workspace=Acme", f"--owner-email={OWNER}", "--owner-name=Olive",
                            f"--inbox={INBOX}", "--inbox-name=Support")
        check(node.start(), standby, made["signInUrl"])
    finally:
        if node:
            node.stop()
        for server in servers:
            server.kill()


def check(node, standby, link):
    wait_until(node, "the replica is used")
    key, browser = make_key(node, "Robo"), Browser(node.port, link)
    api = Api(node.port, key["key"])
    send_mail(node.smtp, "First")
    counted(api, 1)
    browser.get("/reports")
    browser.get("/reports.csv")
    read_back(node, browser)
    read_there = {table: log_of(standby).count(f"FROM {table}") for table in ("report_days", "audit_log")}
    assert all(read_there.values()), read_there
    refuse_revoked(node)
    kill(node, standby, api, browser)
    standby.start()
    wait_until(node, "the replica is used")
    pause(node, standby, api)
    promote(node, standby, api)
    reads = 'mailroom_replica_reads_total{answered_by="%s"}'
    figures = until("the metrics say so", lambda: (found := node.figures()).get("mailroom_replica_up") == 0 and found)
    by = {who: figures[reads % who] for who in ("replica", "database")}
    assert all(by.values()), by
    print(json.dumps({"readOnStandby": read_there, "answeredBy": by}))


def read_back(node, browser):
    """What is written to the primary is on the next page, which the standby answers."""
    for number in range(CHANGES):
        make_key(node, f"Helper {number}")
        page = browser.get("/settings/audit")
        assert f"Helper {number}" in page, f"change {number} is not in the audit log"


def refuse_revoked(node):
    key = make_key(node, "Gone")
    api = Api(node.port, key["key"])
    assert api("GET", "/reports")[0] == 200
    node.command("key", "revoke", key["id"])
    assert api("GET", "/reports")[0] == 401


def kill(node, standby, api, browser):
    """Every request is answered, from the first on."""
    standby.kill()
    for _ in range(READS):
        status, report = api("GET", "/reports", timeout=PATIENCE)
        assert (status, report["received"]) == (200, 1), (status, report)
        browser.get("/settings/audit")
    wait_until(node, "it cannot be reached")
    status, _, said = call(node.port, "GET", "/readyz")
    assert status == 200 and "the replica of the database is not used: it cannot be reached" in said, (status, said)


def pause(node, standby, api):
    """A standby that follows no more is not asked."""
    standby.sql("SELECT pg_wal_replay_pause()")
    send_mail(node.smtp, "Second")
    counted(api, 2)
    wait_until(node, "it is too far behind")


def promote(node, standby, api):
    """A standby that goes its own way is not asked."""
    standby.promote()
    wait_until(node, "it is no standby")
    send_mail(node.smtp, "Third")
    counted(api, 3)


def refuse_sqlite(binary, scratch, standby):
    said = Node(binary, scratch / "sqlite", clean_environment(), DATABASE_REPLICA_URL=standby.url("mailroom")).refusal()
    assert "database_replica_url: needs a database on PostgreSQL" in said, said


def make_key(node, name):
    return node.command("key", "create", f"--name={name}", "--scopes=read", f"--by={OWNER}")


def counted(api, mails):
    """Reports count a moment after a mail came in."""
    def is_so():
        status, report = api("GET", "/reports", timeout=PATIENCE)
        assert status == 200, report
        return report["received"] == mails
    until(f"{mails} mails are counted", is_so)


def wait_until(node, sentence):
    """The last line about the replica says so."""
    def is_so():
        lines = [line for line in node.log().splitlines() if "the replica is" in line]
        return lines and sentence in lines[-1]
    until(sentence, is_so)


def log_of(server):
    return (server.folder / "server.log").read_text(errors="replace")


if __name__ == "__main__":
    main()
