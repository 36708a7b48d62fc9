"""Adds a webhook to a running Mailroom, receives test events before, during and after a rotation of
its secret, and verifies each with the Standard Webhooks library for Python. Writes the events to a
file for the libraries of other languages.

    verify.py BINARY DATA EVENTS
"""

import http.server
import json
import queue
import sqlite3
import subprocess
import sys
import threading

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

# The server finds an event that another process queued by polling.
TIMEOUT_SECONDS = 60


class Receiver(http.server.BaseHTTPRequestHandler):
    received: "queue.Queue[dict]" = queue.Queue()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        names = ("webhook-id", "webhook-timestamp", "webhook-signature")
        Receiver.received.put({"body": body, "headers": {name: self.headers[name] for name in names}})
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def main(binary, data, events_file):
    def mailroom(*words):
        done = subprocess.run(
            [binary, *words, "--data", data, "--json"], capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    people = mailroom("user", "list")["people"]
    owner = next(person["email"] for person in people if person["role"] == "owner")
    address = f"http://127.0.0.1:{server.server_port}/hook"
    made = mailroom("webhook", "add", address, "--by", owner, "--test")
    hook, first = made["id"], made["secret"]

    def receive(good, bad):
        event = mailroom("webhook", "test", hook)["event"]
        request = Receiver.received.get(timeout=TIMEOUT_SECONDS)
        assert request["headers"]["webhook-id"] == event, "another event was received"
        assert json.loads(request["body"])["type"] == "webhook.test"
        for secret in good:
            Webhook(secret).verify(request["body"], request["headers"])
        for secret in bad:
            try:
                Webhook(secret).verify(request["body"], request["headers"])
            except WebhookVerificationError:
                continue
            raise AssertionError("a secret that should not sign does")
        return {**request, "good": good, "bad": bad}

    other = "whsec_" + "A" * 43 + "="
    events = [receive([first], [other])]
    second = mailroom("webhook", "rotate", hook)["secret"]
    events.append(receive([second, first], [other]))
    # As if the 24 hours of the old secret were over.
    with sqlite3.connect(f"{data}/mailroom.db", timeout=30) as database:
        database.execute("UPDATE webhooks SET old_secret_until = 0 WHERE id = ?", (hook,))
    events.append(receive([second], [first, other]))
    mailroom("webhook", "delete", hook)
    with open(events_file, "w") as file:
        json.dump(events, file)


main(*sys.argv[1:])
