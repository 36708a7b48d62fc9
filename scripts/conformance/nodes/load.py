"""Work for an installation. Each worker remembers what was acknowledged, which must be there afterwards."""

import hashlib
import http.client
import random
import smtplib
import threading
import time
from email.message import EmailMessage
from urllib.parse import urlencode

from cluster import FORM, READY, STEP, Api, call, send_mail, token_in

# What a call meets while something is away: no answer, a conflict with its own repetition, or a failure.
BROKEN = (OSError, ValueError, http.client.HTTPException)
TEMPORARY = (0, 409, 429, 500, 502, 503)
# Seconds for one call.
PATIENCE = 10
# Bytes of an attachment that is kept as a file, because it cannot be packed.
LARGE = 150_000
FETCHED_INBOX = "fetched@acme.test"


class Worker(threading.Thread):
    """Works until it is stopped. `problem` is what it met that no fault explains."""

    def __init__(self):
        super().__init__(daemon=True)
        self.stopped, self.failures, self.problem, self.last_success = False, 0, None, 0.0

    def run(self):
        try:
            number = 0
            while not self.stopped:
                number += 1
                self.work(number)
        except Exception as error:
            self.problem = f"{type(self).__name__}: {error!r}"

    def succeeded(self):
        self.last_success = time.monotonic()

    def failed(self):
        self.failures += 1
        time.sleep(STEP)


class ApiLoad(Worker):
    """Writes notes and sends replies, each with an idempotency key."""

    def __init__(self, port, key, conversation, number):
        super().__init__()
        self.api, self.conversation, self.number = Api(port, key), conversation, number
        # A reply's words and the id of its message.
        self.notes, self.replies = [], {}

    def work(self, made):
        words = f"fact {self.number}-{made}."
        kind = "replies" if made % 3 == 0 else "notes"
        body = {"body": words} | ({"send": True} if kind == "replies" else {})
        # Repeated with the same key until it is answered, as a careful client does.
        while not self.stopped:
            try:
                status, said = self.api("POST", f"/conversations/{self.conversation}/{kind}", body, timeout=PATIENCE,
                                        Idempotency_Key=f"fact-{self.number}-{made}")
            except BROKEN:
                status, said = 0, None
            if status == 201:
                self.succeeded()
                if kind == "replies":
                    self.replies[words] = said["messageId"]
                else:
                    self.notes.append(words)
                return
            assert status in TEMPORARY, (status, said)
            self.failed()


class PageLoad(Worker):
    """A person who looks at the inbox and a conversation, and writes a note with the form."""

    def __init__(self, browser, conversation, number):
        super().__init__()
        self.browser, self.conversation, self.number = browser, conversation, number
        self.notes, self.pages = [], 0

    def work(self, made):
        try:
            self.get("/inbox")
            page = self.get(f"/conversations/{self.conversation}")
            # A form is not repeated: whoever does not see it work cannot tell whether it did.
            words = f"typed {self.number}-{made}."
            status = self.post(f"/conversations/{self.conversation}/note", {"csrf": token_in(page), "body": words})
            assert status in (303, *TEMPORARY), status
            if status == 303:
                self.notes.append(words)
                self.succeeded()
            else:
                self.failed()
        except BROKEN:
            self.failed()
        time.sleep(STEP)

    def get(self, path):
        status, _, page = call(self.browser.port, "GET", path, headers={"Cookie": self.browser.cookie}, timeout=PATIENCE)
        if status in TEMPORARY:
            raise OSError(status)
        assert status == 200, (path, status, page[:300])
        self.pages += 1
        return page

    def post(self, path, fields):
        headers = FORM | {"Cookie": self.browser.cookie}
        return call(self.browser.port, "POST", path, urlencode(fields), headers, timeout=PATIENCE)[0]


class MailLoad(Worker):
    """Sends each mail to one node after the other until it is taken. Every fifth has a large attachment."""

    def __init__(self, ports):
        super().__init__()
        # Subjects, and the hashes of attachments by subject.
        self.ports, self.taken, self.attached, self.turn = ports, [], {}, 0

    def work(self, number):
        attachment = random.Random(number).randbytes(LARGE) if number % 5 == 0 else None
        while not self.stopped:
            try:
                self.send(f"mail {number}", f"kim{number}@customer.test", attachment)
                break
            except (OSError, smtplib.SMTPException):
                self.failed()
        time.sleep(STEP)

    def send(self, subject, sender, attachment):
        self.turn += 1
        send_mail(self.ports[self.turn % len(self.ports)], subject, f"Body of {subject}.", sender, attachment)
        self.taken.append(subject)
        if attachment:
            self.attached[subject] = hashlib.sha256(attachment).hexdigest()
        self.succeeded()


class MailboxLoad(Worker):
    """Mail that comes in at a mailbox elsewhere, from which it is fetched."""

    def __init__(self, dovecot):
        super().__init__()
        self.dovecot, self.taken = dovecot, []

    def work(self, number):
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = f"lee{number}@customer.test", FETCHED_INBOX, f"fetched {number}"
        mail["Message-ID"] = f"<fetched-{number}@customer.test>"
        mail.set_content("Hello")
        self.dovecot.deliver(f"{number:08}.campaign", mail.as_bytes())
        self.taken.append(mail["Subject"])
        time.sleep(5 * STEP)


def stop(workers):
    for worker in workers:
        worker.stopped = True
    for worker in workers:
        worker.join(READY)
    late = [type(worker).__name__ for worker in workers if worker.is_alive()]
    return [worker.problem for worker in workers if worker.problem] + [f"{name} did not stop" for name in late]
