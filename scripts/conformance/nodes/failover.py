"""PostgreSQL as a primary with a synchronous standby under three nodes: the primary is killed in the middle
of work, the standby promoted. Nothing acknowledged is lost, nothing is sent twice, and the service is back
within ten seconds of the promotion. With PgBouncer in between, a node says why it does not start.

    failover.py BINARY SCRATCH [SECONDS]       SECONDS: how long there is load before and after
"""

import json
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

from cluster import (
    INBOX, READY, STEP, Api, Balancer, Node, Postgres, clean_environment, conversation_of, free_port, listens,
    send_mail, until,
)
from load import ApiLoad

WORKERS = 4
# Seconds after the promotion within which the service answers again.
BACK_WITHIN = 10


def main():
    binary, scratch = (Path(argument).resolve() for argument in sys.argv[1:3])
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 5
    scratch.mkdir(parents=True)
    servers, nodes = [], []
    try:
        primary = Postgres(scratch / "primary").create(wal_level="replica", max_wal_senders=5).start()
        servers.append(primary)
        primary.sql("CREATE DATABASE mailroom")
        standby = Postgres(scratch / "standby").copy_of(primary, "standby").start()
        servers.append(standby)
        # No commit is acknowledged before the standby has it.
        primary.sql("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
        primary.sql("SELECT pg_reload_conf()")
        until("the standby is synchronous",
              lambda: primary.sql("SELECT sync_state FROM pg_stat_replication") == "sync")
        refuse_poolers(binary, scratch, primary)
        url = f"postgres://postgres@127.0.0.1:{primary.port},127.0.0.1:{standby.port}/mailroom"
        shared = {"DATABASE_URL": url, "BLOBS": scratch / "blobs", "RELAY": f"file:{scratch / 'outbox'}",
                  "RATE_PER_MINUTE": 1_000_000}
        environment = clean_environment()
        nodes.append(Node(binary, scratch / "one", environment, **shared))
        nodes[0].command("setup", "--workspace=Acme", "--owner-email=olive@acme.test", "--owner-name=Olive",
                         f"--inbox={INBOX}", "--inbox-name=Support")
        nodes[0].start()
        for name in ("two", "three"):
            node = Node(binary, scratch / name, environment, **shared)
            node.share_key(nodes[0])
            nodes.append(node.start())
        run(nodes, primary, standby, scratch / "outbox", seconds)
    finally:
        for node in nodes:
            node.stop()
        for server in servers:
            server.kill()


def run(nodes, primary, standby, outbox, seconds):
    port = Balancer([node.port for node in nodes]).port
    key = nodes[0].command("key", "create", "--name=Robo", "--scopes=read,write,send", "--by=olive@acme.test")["key"]
    send_mail(nodes[0].smtp, "First")
    conversation = conversation_of(Api(port, key), "First")
    workers = [ApiLoad(port, key, conversation, number) for number in range(WORKERS)]
    for worker in workers:
        worker.start()
    mover = threading.Event()
    def leave_at_once():
        while not mover.wait(STEP):
            server = primary if primary.process else standby
            server.run("psql", "-h", server.folder, "-p", server.port, "-U", "postgres", "-d", "mailroom", "-qc",
                       "UPDATE messages SET sends_at = 1 WHERE sends_at > 1", check=False)
    threading.Thread(target=leave_at_once, daemon=True).start()
    time.sleep(seconds)
    primary.kill()
    time.sleep(2)
    promoted = time.monotonic()
    standby.promote()
    back = until("the service is back", lambda: all(worker.last_success > promoted for worker in workers) and
                 max(worker.last_success for worker in workers) - promoted)
    first = min(worker.last_success for worker in workers) - promoted
    assert first < BACK_WITHIN, f"the service was back after {first:.1f} seconds"
    time.sleep(seconds)
    for worker in workers:
        worker.stopped = True
    for worker in workers:
        worker.join(READY)
    api = Api(port, key)
    facts = [note for worker in workers for note in worker.notes]
    replies = [reply for worker in workers for reply in worker.replies]
    until("every reply left", lambda: standby.sql(
        "SELECT count(*) FROM messages WHERE sends_at IS NOT NULL", "mailroom") == "0")
    mover.set()
    notes = standby.sql("SELECT body FROM notes", "mailroom").splitlines()
    lost = [fact for fact in facts if notes.count(fact) != 1]
    assert not lost, f"acknowledged and not there once: {lost}"
    mails = [mail.read_text(errors="replace") for mail in outbox.glob("*.eml")]
    written = {reply: sum(f"\n{reply}" in mail.replace("\r", "").split("\nOn ")[0] for mail in mails) for reply in replies}
    wrong = {reply: times for reply, times in written.items() if times != 1}
    assert not wrong, f"not sent once: {wrong}"
    failures = sum(worker.failures for worker in workers)
    print(json.dumps({"notes": len(facts), "replies": len(replies), "failedCalls": failures,
                      "secondsUntilBack": round(first, 2), "secondsUntilAllBack": round(back, 2)}))


def refuse_poolers(binary, scratch, primary):
    """PgBouncer keeps no session for a client in transaction mode: a node says so and does not start."""
    if not shutil.which("pgbouncer"):
        print("PgBouncer is not installed: not tried")
        return
    port, folder = free_port(), scratch / "pgbouncer"
    folder.mkdir()
    for ignored in ("extra_float_digits", "extra_float_digits, options"):
        (folder / "pgbouncer.ini").write_text(
            f"[databases]\n* = host=127.0.0.1 port={primary.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
            f"listen_port = {port}\nauth_type = any\nunix_socket_dir =\npool_mode = transaction\n"
            f"ignore_startup_parameters = {ignored}\n"
            f"[databases]\nmailroom = host=127.0.0.1 port={primary.port} user=postgres\n")
        shutil.chown(folder, Postgres.user())
        command = ["setpriv", f"--reuid={Postgres.user()}", "--clear-groups", "pgbouncer", folder / "pgbouncer.ini"]
        pooler = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=open(folder / "log", "ab"))
        try:
            until("PgBouncer listens", lambda: listens(port))
            url = f"postgres://postgres@127.0.0.1:{port}/mailroom"
            said = Node(binary, scratch / "pooled", clean_environment(), DATABASE_URL=url).refusal()
            assert "a connection pooler such as PgBouncer" in said, said
        finally:
            pooler.terminate()
            pooler.wait()


if __name__ == "__main__":
    main()
