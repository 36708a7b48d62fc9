"""Keeps blobs in an object store of others (moto's S3 server), stops it for a while, and moves away.

    blobs.py BINARY SCRATCH
"""

import json
import os
import signal
import smtplib
import socket
import subprocess
import sys
import time
from email.message import EmailMessage
from pathlib import Path

import boto3

BUCKET, PREFIX, INBOX = "mail", "rooms/one", "support@acme.example"
# Bytes of an attachment that is too large for the database, however well it packs.
LARGE = 600_000
# Seconds to wait for a program to be ready.
READY = 60
# Seconds within which mail is taken while the store is silent.
SOON = 5


def main():
    binary, scratch = (Path(arg).resolve() for arg in sys.argv[1:3])
    scratch.mkdir(parents=True)
    port, smtp, http = free_port(), free_port(), free_port()
    store = subprocess.Popen(["moto_server", "-H", "127.0.0.1", "-p", str(port)], stderr=subprocess.DEVNULL)
    keys = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAILROOM_", "AWS_"))}
    environment |= keys | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}
    bucketed = environment | {"MAILROOM_DATA": str(scratch / "data"), "MAILROOM_BLOBS": f"s3://{BUCKET}/{PREFIX}"}
    server = None
    try:
        until("the object store listens", lambda: listens(port))
        client = boto3.client(
            "s3",
            endpoint_url=environment["AWS_ENDPOINT_URL"],
            region_name="us-east-1",
            aws_access_key_id="key",
            aws_secret_access_key="secret",
        )
        client.create_bucket(Bucket=BUCKET)
        run(binary, bucketed, "setup", "--workspace=Acme", "--owner-email=olive@acme.example",
            "--owner-name=Olive", f"--inbox={INBOX}", "--inbox-name=Support")
        server = subprocess.Popen(
            [binary, "serve", f"--listen=127.0.0.1:{http}", f"--smtp-listen=127.0.0.1:{smtp}"],
            env=bucketed, stderr=open(scratch / "server.log", "ab"),
        )
        until("the server listens", lambda: listens(smtp))
        send(smtp, "first", LARGE)
        names = objects(client)
        assert len([name for name in names if "mailroom-id" not in name]) == 2, names
        assert all(name.startswith(PREFIX + "/") for name in names), names
        assert check(binary, bucketed)["ok"]

        # A store that is silent fails the mail that needs it, and no other.
        store.send_signal(signal.SIGSTOP)
        try:
            send(smtp, "refused", LARGE)
            raise SystemExit("a mail was taken whose attachment could not be kept")
        except smtplib.SMTPDataError as error:
            assert 400 <= error.smtp_code < 500, error
        began = time.monotonic()
        send(smtp, "small", 10)
        assert time.monotonic() - began < SOON, "mail without large files waits for the store"
        store.send_signal(signal.SIGCONT)
        time.sleep(SOON)
        send(smtp, "refused", LARGE)
        assert check(binary, bucketed)["ok"]

        # A missing object is found, and a backup leads away from the store.
        backup = run(binary, bucketed, "backup", str(scratch / "backups"))
        assert backup["blobs"] == 4 and backup["missingBlobs"] == [], backup
        folder = environment | {"MAILROOM_DATA": str(scratch / "restored")}
        restored = run(binary, folder, "restore", str(scratch / "backups"))
        assert restored["check"]["ok"], restored
        gone = next(name for name in objects(client) if "mailroom-id" not in name)
        client.delete_object(Bucket=BUCKET, Key=gone)
        report = check(binary, bucketed)
        assert [finding["kind"] for finding in report["findings"]] == ["missing-blob"], report
        # A node whose store is another one does not start.
        elsewhere = bucketed | {"MAILROOM_BLOBS": f"s3://{BUCKET}/rooms/two"}
        refused = subprocess.run([binary, "check", "--json"], env=elsewhere, capture_output=True, text=True)
        assert "is not the store" in json.loads(refused.stdout)["error"], refused.stdout
    finally:
        store.send_signal(signal.SIGCONT)
        for process in (server, store):
            if process:
                process.terminate()
                process.wait()


def run(binary, environment, *args, expected=0):
    done = subprocess.run([binary, *args, "--json"], env=environment, capture_output=True, text=True)
    assert done.returncode == expected, (args, done.stdout, done.stderr)
    return json.loads(done.stdout)


def check(binary, environment):
    done = subprocess.run([binary, "check", "--json"], env=environment, capture_output=True, text=True)
    return json.loads(done.stdout)


def objects(client):
    listed = client.list_objects_v2(Bucket=BUCKET).get("Contents", [])
    return [entry["Key"] for entry in listed]


def send(port, subject, size):
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "kim@x.example", INBOX, subject
    mail["Message-ID"] = f"<{subject}@x.example>"
    mail.set_content("Hello")
    mail.add_attachment(os.urandom(size), maintype="application", subtype="octet-stream", filename="a.bin")
    with smtplib.SMTP("127.0.0.1", port, timeout=120) as client:
        client.send_message(mail)


def listens(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def until(what, is_so):
    last = time.monotonic() + READY
    while not is_so():
        if time.monotonic() > last:
            raise SystemExit(f"timeout: {what}")
        time.sleep(0.2)


if __name__ == "__main__":
    main()
