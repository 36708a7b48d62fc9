"""Random faults under load. Three nodes on a PostgreSQL with a synchronous standby, or one node on SQLite, with a
relay, a webhook receiver, and where they are there an object store and an IMAP server; everything is reached
over a network that can fail. Parts are killed, paused, cut off and slowed down, again and again, while mail comes
in, notes are written, replies sent and pages read. Afterwards every acknowledged fact is looked for. The seed
decides what happens and when.

    campaign.py BINARY SCRATCH SEED SECONDS [--database sqlite] [--faults all] [--store MOTO_SERVER]
                [--kills NUMBER] [--operations NUMBER]

`--faults all` adds full, read-only and slow disks, clock jumps, failovers, expired certificates, and damaged blobs
and rows in the middle of work; some need root. The run goes on until the time is over, and so many kills and
acknowledged operations have happened.
"""

import argparse
import hashlib
import json
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

from cluster import READY, STEP, call, conversation_of, send_mail, until
from evidence import MESSAGE, accepted_mails, event_problems, left_again, lost_facts, unsent_replies
from faults import Faults
from installation import Installation
from load import BROKEN, LARGE, ApiLoad, MailboxLoad, MailLoad, PageLoad, stop

WORKERS = 4
# Messages that a node sends at one time, any of which may leave once more when it is interrupted.
IN_FLIGHT = 8
# How often everything that waits is made due again until nothing waits.
ROUNDS = 5
# Set in the process that has mounts of its own.
OWN_MOUNTS = "CAMPAIGN_OWN_MOUNTS"


def main():
    options = parsed()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if options.faults == "all" and os.getuid() == 0 and OWN_MOUNTS not in os.environ:
        # Disks that are mounted go with the process, however it ends.
        os.execvpe("unshare", ["unshare", "--mount", sys.executable, *sys.argv], os.environ | {OWN_MOUNTS: "1"})
    options.scratch.mkdir(parents=True)
    # PostgreSQL and Dovecot have users of their own, who must be able to enter it.
    options.scratch.chmod(0o755)
    site = Installation(options.binary, options.scratch, options.database == "postgres", options.faults == "all",
                        options.store)
    try:
        site.start_all()
        report = Campaign(site, options).run()
    finally:
        site.stop_all()
    print(json.dumps(report, ensure_ascii=False))
    for kind, reason in report["skipped"].items():
        print(f"skipped: {kind}: {reason}")
    if report["problems"]:
        raise SystemExit(f"{len(report['problems'])} problems")


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=lambda text: Path(text).resolve())
    parser.add_argument("scratch", type=lambda text: Path(text).resolve())
    parser.add_argument("seed", type=int)
    parser.add_argument("seconds", type=float)
    parser.add_argument("--database", choices=("postgres", "sqlite"), default="postgres")
    parser.add_argument("--faults", choices=("usual", "all"), default="usual")
    parser.add_argument("--store", type=lambda text: Path(text).resolve())
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--operations", type=int, default=0)
    return parser.parse_args()


class Campaign:
    def __init__(self, site, options):
        self.site, self.options, self.chance = site, options, random.Random(options.seed)
        # Replies that no worker sent: their words and the ids of their messages.
        self.own_replies, self.problems, self.leaving = {}, [], threading.Lock()

    def run(self):
        site, options = self.site, self.options
        for number in range(WORKERS + 2):
            send_mail(site.nodes[0].smtp, f"First {number}", sender=f"first{number}@customer.test")
        conversations = [conversation_of(site.api, f"First {number}") for number in range(WORKERS + 2)]
        self.own = conversations[-1]
        self.workers = [ApiLoad(site.port, site.key, conversations[number], number) for number in range(WORKERS)]
        self.pages, self.mails = PageLoad(site.browser, conversations[WORKERS], WORKERS), MailLoad(site.smtp_ports)
        # However slow the machine is, there are two attachments to compare.
        for number in range(2):
            self.mails.send(f"attached {number}", f"attached{number}@customer.test", self.chance.randbytes(LARGE))
        self.fetched = MailboxLoad(site.imap) if site.imap else None
        everybody = [*self.workers, self.pages, self.mails, *filter(None, [self.fetched])]
        for worker in everybody:
            worker.start()
        leaving = threading.Event()
        threading.Thread(target=self.let_leave, args=(leaving,), daemon=True).start()
        began = time.monotonic()
        faults = Faults(self.chance, site, options.faults == "all")
        def goes_on():
            return (time.monotonic() < began + options.seconds or faults.kills < options.kills
                    or self.operations() < options.operations)
        try:
            faults.run(goes_on, self.trials() if options.faults == "all" else [])
        finally:
            self.problems += stop(everybody)
            leaving.set()
        self.settle()
        # The same once more in peace, also in a short run.
        for trial in (self.corrupt_blob, self.poisoned_message, self.poisoned_conversation):
            faults.attempt(trial)
        self.settle()
        self.problems += faults.findings
        return self.verify(faults)

    def let_leave(self, stopped):
        """Nobody waits for the time in which a reply can be taken back."""
        while not stopped.wait(2 * STEP):
            with self.leaving:
                self.site.make_due()

    def operations(self):
        return len(self.notes()) + len(self.replies()) + len(self.mails.taken)

    def notes(self):
        return [note for worker in [*self.workers, self.pages] for note in worker.notes]

    def replies(self):
        sent = dict(self.own_replies)
        for worker in self.workers:
            sent |= worker.replies
        return sent

    def settle(self):
        """Waits until nothing is left to do, with every part whole."""
        for _ in range(ROUNDS):
            self.problems += self.site.restart()
            if becomes(lambda: self.site.waiting() == 0 and not self.unfetched()):
                return
        self.problems.append(f"{self.site.waiting()} messages and events did not leave")

    def unfetched(self):
        if not self.fetched:
            return []
        subjects = set(self.site.database.column("SELECT subject FROM conversations"))
        return [subject for subject in self.fetched.taken if subject not in subjects]

    # Faults that are looked at while they last.

    def trials(self):
        return [self.corrupt_blob, self.poisoned_message, self.poisoned_conversation, self.expired_certificate]

    def corrupt_blob(self):
        """Of two attachments one is damaged: it alone cannot be had, and the check names it."""
        damaged, whole = self.chance.sample(sorted(self.mails.attached), 2)
        hash, problems = self.mails.attached[damaged], []
        blob = self.read_blob(hash)
        place, bit = self.chance.randrange(len(blob)), 1 << self.chance.randrange(8)
        self.write_blob(hash, blob[:place] + bytes([blob[place] ^ bit]) + blob[place + 1:])
        status, text = self.download(damaged)
        if status == 200:
            problems.append(f"a damaged blob was handed out (byte {place})")
        elif b'"error"' not in text:
            problems.append(f"a damaged blob is no clear error: {status} {text[:200]}")
        if self.download(whole) != (200, self.mails.attached[whole]):
            problems.append("another blob than the damaged one cannot be read")
        found = self.site.nodes[0].command("check", statuses=(0, 1))["findings"]
        if [(finding["kind"], finding["id"]) for finding in found] != [("damaged-blob", hash)]:
            problems.append(f"the check found something else than the damaged blob: {found}")
        self.write_blob(hash, blob)
        if self.download(damaged) != (200, hash):
            problems.append("a blob that is whole again cannot be read")
        return problems

    def read_blob(self, hash):
        name = f"{hash[:2]}/{hash}"
        return self.site.store.read(name) if self.site.store else (self.site.blobs / name).read_bytes()

    def write_blob(self, hash, data):
        name = f"{hash[:2]}/{hash}"
        if self.site.store:
            self.site.store.write(name, data)
        else:
            (self.site.blobs / name).write_bytes(data)

    def download(self, subject):
        """The attachment of a mail: status, and the hash of the bytes or what is said instead."""
        [document] = self.site.database.column(
            "SELECT d.id FROM documents d JOIN conversations c ON c.ws = d.ws AND c.id = d.conversation "
            f"WHERE c.subject = '{subject}'")
        headers = {"Authorization": f"Bearer {self.site.key}"}
        status, _, data = call(self.site.port, "GET", f"/api/v1/documents/{document}/file", headers=headers, binary=True)
        return status, hashlib.sha256(data).hexdigest() if status == 200 else data

    def change(self, statement):
        until(statement, lambda: self.site.database.change(statement))

    def poisoned_message(self):
        """Of two replies one has recipients that nobody can read: it alone fails, and is named."""
        site, database, change = self.site, self.site.database, self.change
        marks, problems = site.marks(), []
        with self.leaving:
            poisoned, other = self.reply("poisoned"), self.reply("beside it")
            [kept] = database.column(f"SELECT to_list FROM messages WHERE id = '{poisoned}'")
            change(f"UPDATE messages SET to_list = '[{{', sends_at = 1 WHERE id = '{poisoned}'")
        if not becomes(lambda: poisoned in site.logged_since(marks, "job attempt failed")):
            problems.append("a poisoned message is not named in the log")
        change(f"UPDATE messages SET sends_at = 1 WHERE id = '{other}' AND status = 'scheduled'")
        if not becomes(lambda: database.column(f"SELECT status FROM messages WHERE id = '{other}'") == ["sent"]):
            problems.append("a poisoned message holds up another one")
        for path in ("/conversations?limit=100", "/events?limit=1"):
            if site.api("GET", path)[0] != 200:
                problems.append(f"a poisoned message fails {path}")
        change(f"UPDATE messages SET to_list = '{kept}', sends_at = 1 WHERE id = '{poisoned}' AND to_list = '[{{'")
        return problems

    def poisoned_conversation(self):
        """A conversation has tags that nobody can read: lists leave it out and name it, and the others are there."""
        site, problems, marks = self.site, [], self.site.marks()
        [poisoned, kept] = site.database.column(
            "SELECT id FROM conversations WHERE subject = 'attached 0' "
            "UNION ALL SELECT tags FROM conversations WHERE subject = 'attached 0'")
        self.change(f"UPDATE conversations SET tags = '[{{' WHERE id = '{poisoned}'")
        for path, is_empty in (("limit=100", False), ("from=attached0@customer.test", True)):
            status, listed = site.api("GET", f"/conversations?view=all&{path}")
            if status != 200 or is_empty != (listed == []) or poisoned in [one["id"] for one in listed]:
                problems.append(f"a poisoned conversation fails a list: {status}")
        if not becomes(lambda: poisoned in site.logged_since(marks, "unreadable conversation")):
            problems.append("a poisoned conversation is not named in the log")
        status, _ = site.api("GET", f"/conversations/{poisoned}")
        if status != 500:
            problems.append(f"a poisoned conversation is read: {status}")
        status = call(site.port, "GET", "/inbox", headers={"Cookie": site.browser.cookie})[0]
        if status != 200:
            problems.append(f"a poisoned conversation fails the inbox: {status}")
        self.change(f"UPDATE conversations SET tags = '{kept}' WHERE id = '{poisoned}' AND tags = '[{{'")
        return problems

    def expired_certificate(self):
        """Nothing leaves through a relay whose certificate has expired, and it is said why."""
        site, problems, marks = self.site, [], self.site.marks()
        site.relay.kill()
        site.relay.use(site.relay.expired)
        site.relay.start()
        before = sum(1 for _ in site.relay.received())
        self.reply("certificate")
        if not becomes(lambda: "certificate" in site.logged_since(marks, "message deferred").lower()):
            problems.append("an expired certificate of the relay is not named in the log")
        if sum(1 for _ in site.relay.received()) != before:
            problems.append("mail left although the relay's certificate has expired")
        site.relay.kill()
        site.relay.use(site.relay.good)
        site.relay.start()
        return problems

    def reply(self, words):
        words = f"{words} {len(self.own_replies)}."
        def sent():
            status, said = self.site.api("POST", f"/conversations/{self.own}/replies", {"body": words, "send": True},
                                         Idempotency_Key=words.replace(" ", "-"))
            return said["messageId"] if status == 201 else None
        self.own_replies[words] = until("a reply is taken", lambda: patiently(sent))
        return self.own_replies[words]

    # What must be so in the end.

    def verify(self, faults):
        site, problems, notes = self.site, self.problems, self.notes()
        mails = self.mails.taken + (self.fetched.taken if self.fetched else [])
        lost = lost_facts(site.database.column, notes, mails, self.mails.attached)
        left, again = self.verify_replies()
        lost += left
        events = self.verify_events()
        interruptions = faults.repeats + site.restarts * len(site.nodes)
        if again > IN_FLIGHT * interruptions:
            problems.append(f"{again} mails left again, more than {interruptions} interruptions explain")
        problems += [f"lost: {fact}" for fact in lost]
        check = site.nodes[0].command("check", statuses=(0, 1))
        problems += [f"check: {finding['sentence']}" for finding in check["findings"]]
        if "panicked at" in site.logs():
            problems.append("a node panicked")
        for node in site.nodes:
            until("a node is ready", lambda: call(node.port, "GET", "/readyz")[0] == 200)
        for path in ("/inbox", f"/conversations/{self.own}"):
            site.browser.get(path)
        return {"seed": self.options.seed, "database": self.options.database, "faults": faults.counts,
                "kills": faults.kills, "operations": self.operations(), "notes": len(notes),
                "replies": len(self.replies()), "mails": len(self.mails.taken),
                "fetched": len(self.fetched.taken) if self.fetched else 0, "pages": self.pages.pages, "events": events,
                "failedCalls": sum(worker.failures for worker in [*self.workers, self.pages, self.mails]),
                "leftAgain": again, "check": check["ok"], "skipped": site.skipped, "problems": problems}

    def verify_replies(self):
        """Replies that never left, and how many mails left again."""
        accepted = {name: times for name, times in accepted_mails(self.site.relay.received()).items()
                    if name.startswith(MESSAGE)}
        return unsent_replies(accepted, self.replies()), left_again(accepted)

    def verify_events(self):
        """Every event that is to be delivered arrived, signed and as it is kept; how many there are."""
        site = self.site
        problems, delivered = event_problems(site.database.column, site.webhook["secret"], site.receiver.events(),
                                             self.replies())
        self.problems += problems
        return delivered


def patiently(ask):
    try:
        return ask()
    except BROKEN:
        return None


def becomes(is_so):
    """True as soon as it is so, false when it is not within a long time."""
    last = time.monotonic() + READY
    while not patiently(is_so):
        if time.monotonic() > last:
            return False
        time.sleep(STEP)
    return True


if __name__ == "__main__":
    main()
