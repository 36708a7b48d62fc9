"""Adds a webhook to a running Mailroom, hears test events before, during and after a rotation of
its secret, and lets the Python library of the scheme verify each. What was heard is written down
for the libraries of other languages.

    verify.py BINARY DATA HEARD
"""

import http.server
import json
import queue
import sqlite3
import subprocess
import sys
import threading

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

# An event that another process plans is found by the clock.
PATIENCE_SECONDS = 60


class Receiver(http.server.BaseHTTPRequestHandler):
    heard: "queue.Queue[dict]" = queue.Queue()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        names = ("webhook-id", "webhook-timestamp", "webhook-signature")
        Receiver.heard.put({"body": body, "headers": {name: self.headers[name] for name in names}})
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def main(binary, data, heard_file):
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

    def hear(good, bad):
        event = mailroom("webhook", "test", hook)["event"]
        request = Receiver.heard.get(timeout=PATIENCE_SECONDS)
        assert request["headers"]["webhook-id"] == event, "another event was heard"
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
    heard = [hear([first], [other])]
    second = mailroom("webhook", "rotate", hook)["secret"]
    heard.append(hear([second, first], [other]))
    # A day passes.
    with sqlite3.connect(f"{data}/mailroom.db", timeout=30) as database:
        database.execute("UPDATE webhooks SET old_secret_until = 0 WHERE id = ?", (hook,))
    heard.append(hear([second], [first, other]))
    mailroom("webhook", "delete", hook)
    with open(heard_file, "w") as file:
        json.dump(heard, file)


main(*sys.argv[1:])
