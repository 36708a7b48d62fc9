"""PostgreSQL as a primary with a synchronous standby under three nodes: the primary is killed in the middle
of work, the standby promoted. Nothing acknowledged is lost, nothing is sent twice that was recorded as sent, and
the service is back within ten seconds of the promotion. With PgBouncer in between, a node says why it does not
start.

    failover.py BINARY SCRATCH [SECONDS]       SECONDS: how long there is load before and after
"""

import json
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

from campaign import IN_FLIGHT, ROUNDS, becomes
from cluster import (
    READY, STEP, Node, Postgres, clean_environment, conversation_of, free_port, listens, send_mail, until,
)
from evidence import (
    MESSAGE, Interruption, Times, accepted_mails, event_problems, late_problems, left_again, lost_facts, mail_name,
    message_of, repeat_problems, unsent_replies,
)
from installation import DATABASE_NAME, Installation
from load import ApiLoad, MailLoad, stop

WORKERS = 4
# Seconds between the end of the primary and the promotion.
AWAY = 2
# Seconds after the promotion within which the service answers again.
BACK_WITHIN = 10
# Seconds in which something leaves, or what waits waits for the end of a lease.
LEAVES_WITHIN = 1
# What a worker says in a reply, as the relay gets it.
REPLY = re.compile(r"^fact \d+-\d+\.", re.MULTILINE)


def main():
    binary, scratch = (Path(argument).resolve() for argument in sys.argv[1:3])
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 5
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    scratch.mkdir(parents=True)
    # PostgreSQL has a user of its own, who must be able to enter it.
    scratch.chmod(0o755)
    site = DirectInstallation(binary, scratch, is_shared=True, takes_all=False, moto=None)
    try:
        site.start_all()
        report = Failover(site, seconds).run()
    finally:
        site.stop_all()
    print(json.dumps(report, ensure_ascii=False))
    if report["problems"]:
        raise SystemExit(f"{len(report['problems'])} problems")


class DirectInstallation(Installation):
    """Three nodes that reach everything without a proxy: nothing but the database fails."""

    def link(self, name, port):
        return SimpleNamespace(name=name, port=port)

    def start_nodes(self):
        refuse_poolers(self.binary, self.scratch, self.primary)
        super().start_nodes()

    def node_settings(self, name):
        """The primary is named first, so that afterwards the first server of the URL is the dead one."""
        hosts = ",".join(f"127.0.0.1:{server.port}" for server in (self.primary, self.standby))
        return super().node_settings(name) | {"DATABASE_URL": f"postgres://postgres@{hosts}/{DATABASE_NAME}"}


class Failover:
    def __init__(self, site, seconds):
        self.site, self.seconds, self.problems, self.interruptions = site, seconds, [], []
        # When each worker was answered again, in seconds after the promotion.
        self.back = {}

    def run(self):
        site = self.site
        send_mail(site.nodes[0].smtp, "First")
        conversation = conversation_of(site.api, "First")
        self.workers = [ApiLoad(site.port, site.key, conversation, number) for number in range(WORKERS)]
        self.mails = MailLoad(site.smtp_ports)
        everybody = [*self.workers, self.mails]
        for worker in everybody:
            worker.start()
        settled = threading.Event()
        threading.Thread(target=self.let_leave, args=(settled,), daemon=True).start()
        try:
            time.sleep(self.seconds)
            # However slow the machine is, there is something to lose and to send again.
            until("every worker did something", lambda: self.all_work(everybody) and self.mails.taken and
                  all(worker.replies for worker in self.workers) and any(site.relay.mails.glob("*.eml")))
            self.interrupt(lambda: self.fail_over(everybody))
            time.sleep(self.seconds)
            self.problems += stop(everybody)
            self.settle()
        finally:
            settled.set()
        return self.verify()

    def let_leave(self, settled):
        """Nobody waits for the time in which a reply can be taken back."""
        while not settled.wait(STEP):
            self.site.make_due()

    def all_work(self, everybody):
        problems = [worker.problem for worker in everybody if worker.problem]
        if problems:
            raise SystemExit("; ".join(problems))
        return True

    def interrupt(self, strike):
        """Does what may come between the relay's answer and its recording. A mail that is not pending any more was
        recorded, and on the standby too: PostgreSQL shows no commit before the standby has it."""
        begins = time.time()
        pending = self.pending()
        strike()
        self.interruptions.append(Interruption(begins, time.time(), pending))

    def pending(self):
        """The names of the mails that are not recorded as sent."""
        mails = self.site.database.column("SELECT header_id FROM messages WHERE sends_at IS NOT NULL "
                                          "UNION ALL SELECT 'notice.' || id FROM notices")
        return {mail.split("@")[0] for mail in mails}

    def fail_over(self, everybody):
        site = self.site
        site.primary.kill()
        time.sleep(AWAY)
        promoted = time.monotonic()
        site.standby.promote()
        site.primary, site.standby = site.standby, site.primary
        def all_are_back():
            for worker in everybody:
                if worker.last_success > promoted:
                    self.back.setdefault(worker, worker.last_success - promoted)
            return self.all_work(everybody) and len(self.back) == len(everybody)
        until("the service is back", all_are_back, 2 * READY)

    def settle(self):
        """Waits until everything left. What the nodes have in their hands they record first. The rest waits for the
        end of leases that nobody uses; these end at once where the nodes are started again."""
        self.problems += self.site.ended_by_themselves()
        if not becomes(self.is_recorded):
            self.problems.append("mail that the relay accepted is not recorded as sent")
        if self.drains():
            return
        for _ in range(ROUNDS):
            self.interrupt(self.restart)
            if becomes(lambda: self.site.waiting() == 0):
                return
        self.problems.append(f"{self.site.waiting()} messages and events did not leave")

    def is_recorded(self):
        if self.site.database.column("SELECT count(*) FROM messages WHERE status = 'scheduled'") != ["0"]:
            return False
        pending = {name for name in self.pending() if name.startswith(MESSAGE)}
        return pending.isdisjoint(accepted_mails(self.site.relay.received()))

    def drains(self):
        """Waits for as long as less and less waits; true when nothing does."""
        left = self.site.waiting()
        while left:
            time.sleep(LEAVES_WITHIN)
            before, left = left, self.site.waiting()
            if left >= before:
                return False
        return True

    def restart(self):
        self.problems += self.site.restart()

    # What must be so in the end.

    def verify(self):
        site, column = self.site, self.site.database.column
        notes = [note for worker in self.workers for note in worker.notes]
        replies = {words: message for worker in self.workers for words, message in worker.replies.items()}
        received = list(site.relay.received())
        accepted = accepted_mails(received)
        lost = lost_facts(column, notes, self.mails.taken, self.mails.attached) + unsent_replies(accepted, replies)
        self.problems += [f"lost: {fact}" for fact in lost]
        self.verify_sent_once(received, accepted, replies)
        # Also of those that nobody was told of.
        messages = {name: message_of(name) for name in accepted if name.startswith(MESSAGE)}
        problems, events = event_problems(column, site.webhook["secret"], site.receiver.events(), replies | messages)
        self.problems += problems
        answered = [self.back[worker] for worker in self.workers]
        if max(answered) >= BACK_WITHIN:
            self.problems.append(f"the service was back after {max(answered):.1f} seconds, not within {BACK_WITHIN}")
        return {"notes": len(notes), "replies": len(replies), "mails": len(self.mails.taken), "events": events,
                "failedCalls": sum(worker.failures for worker in self.workers), "failedMails": self.mails.failures,
                "secondsUntilBack": round(min(answered), 2), "secondsUntilAllBack": round(max(answered), 2),
                "secondsUntilMailTaken": round(self.back[self.mails], 2), "accepted": len(received),
                "pendingAtKill": len(self.interruptions[0].pending), "leftAgain": left_again(accepted),
                "restarts": site.restarts, "problems": self.problems}

    def verify_sent_once(self, received, accepted, replies):
        """No mail left again but those that were not recorded yet, and no reply became two messages."""
        recorded = dict(line.rsplit(" ", 1) for line in self.site.database.column(
            "SELECT m.header_id || ' ' || m.at FROM messages m WHERE m.status = 'sent'"))
        recorded = {mail.split("@")[0]: int(at) / 1_000 for mail, at in recorded.items()}
        self.problems += late_problems(accepted, recorded)
        self.problems += repeat_problems(accepted, self.interruptions, IN_FLIGHT * len(self.site.nodes))
        texts = {mail_name(text): text.split("\nOn ")[0] for _, text in received}
        said = Times(words for text in texts.values() for words in set(REPLY.findall(text)))
        self.problems += [f"{said[words]} messages say: {words}" for words in replies if said[words] != 1]


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
