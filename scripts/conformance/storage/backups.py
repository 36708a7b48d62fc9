"""Backs an installation up to an object store of others (moto's S3 server), sealed and in parts, lets the
store fail meanwhile, and restores it.

    backups.py BINARY SCRATCH
"""

import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import boto3

from blobs import INBOX, free_port, listens, run, send, until

BUCKET, PREFIX = "copies", "one/two"
PLACE = f"s3://{BUCKET}/{PREFIX}"
# Mails with an attachment that is kept as a file: more objects than a page of the list has.
MAILS, LARGE = 24, 600_000
PAGE = 10
# Bytes in the database that do not pack, so that the tables are written in parts of 16 MB.
NOISE = 40_000_000
# Seconds that the store is silent in the midst of a backup.
SILENCE = 6


def main():
    binary, scratch = (Path(arg).resolve() for arg in sys.argv[1:3])
    scratch.mkdir(parents=True)
    port, smtp, http = free_port(), free_port(), free_port()
    # Lists come in small pages.
    settings = os.environ | {"MOTO_S3_DEFAULT_MAX_KEYS": str(PAGE)}
    store = subprocess.Popen(
        ["moto_server", "-H", "127.0.0.1", "-p", str(port)], env=settings, stderr=subprocess.DEVNULL
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAILROOM_", "AWS_"))}
    environment |= {
        "BACKUP_AWS_ACCESS_KEY_ID": "key",
        "BACKUP_AWS_SECRET_ACCESS_KEY": "secret",
        "BACKUP_AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
    }
    first = environment | {"MAILROOM_DATA": str(scratch / "data")}
    server = None
    try:
        until("the object store listens", lambda: listens(port))
        client = boto3.client(
            "s3",
            endpoint_url=environment["BACKUP_AWS_ENDPOINT_URL"],
            region_name="us-east-1",
            aws_access_key_id="key",
            aws_secret_access_key="secret",
        )
        run(binary, first, "setup", "--workspace=Acme", "--owner-email=olive@acme.example",
            "--owner-name=Olive", f"--inbox={INBOX}", "--inbox-name=Support")
        refused = fails(binary, first, "backup", PLACE)
        assert "no such bucket" in refused, refused
        client.create_bucket(Bucket=BUCKET)
        assert "holds no backups" in fails(binary, first, "restore", PLACE)
        server = subprocess.Popen(
            [binary, "serve", f"--listen=127.0.0.1:{http}", f"--smtp-listen=127.0.0.1:{smtp}"],
            env=first, stderr=open(scratch / "server.log", "ab"),
        )
        until("the server listens", lambda: listens(smtp))
        for number in range(MAILS):
            send(smtp, f"mail{number}", LARGE)
        server.terminate()
        server.wait()
        server = None
        with sqlite3.connect(scratch / "data" / "mailroom.db") as database:
            (ws,) = database.execute("SELECT ws FROM workspaces").fetchone()
            noise = [(ws, *blob(os.urandom(1_000_000))) for _ in range(NOISE // 1_000_000)]
            database.executemany("INSERT INTO blobs (ws, hash, size, packed) VALUES (?, ?, ?, ?)", noise)

        # The first holds everything; the second only what is new.
        passphrase = scratch / "passphrase"
        passphrase.write_text("open sesame\n")
        sealed = ["backup", PLACE, f"--passphrase-file={passphrase}"]
        backup = run(binary, first, *sealed)
        assert backup["blobs"] == backup["newBlobs"] == 2 * MAILS, backup
        names = objects(client)
        assert all(name.startswith(PREFIX + "/") for name in names), names
        assert not any("lock" in name for name in names), names
        tables = f"{PREFIX}/{backup['name']}.tables.zst"
        size = client.head_object(Bucket=BUCKET, Key=tables)["ContentLength"]
        assert size > 2 * 16 * 1024 * 1024, size
        body = client.get_object(Bucket=BUCKET, Key=tables)["Body"].read()
        assert b"acme.example" not in body
        assert not client.list_multipart_uploads(Bucket=BUCKET).get("Uploads"), "parts are left"

        # A store that is silent for a while does not end a backup.
        pause = threading.Thread(target=be_silent, args=(store,))
        pause.start()
        again = run(binary, first, *sealed, "--keep=1/1/0")
        pause.join()
        assert again["newBlobs"] == 0 and again["removed"] == [backup["name"]], again

        # Somebody else who writes is waited for, and one who broke off is not.
        lock = f"{PREFIX}/mailroom-lock.json"
        for minutes, is_held in ((5, True), (-1, False)):
            at = datetime.now(timezone.utc) + timedelta(minutes=minutes)
            held = json.dumps({"writer": "another", "until": at.strftime("%Y-%m-%dT%H:%M:%SZ")})
            client.put_object(Bucket=BUCKET, Key=lock, Body=held.encode())
            if is_held:
                assert "Another backup" in fails(binary, first, *sealed)
            else:
                run(binary, first, *sealed, "--keep=1")

        # What was interrupted goes on with the blobs that are there.
        kept = [name for name in objects(client) if "/blobs/" in name]
        client.delete_object(Bucket=BUCKET, Key=kept[0])
        left = f"{PREFIX}/2026-01-01T00-00-00-000Z.tables.zst"
        client.put_object(Bucket=BUCKET, Key=left, Body=b"broken off")
        resumed = run(binary, first, *sealed, "--keep=1")
        assert resumed["newBlobs"] == 1, resumed
        assert left not in objects(client)

        second = environment | {"MAILROOM_DATA": str(scratch / "restored")}
        wrong = scratch / "wrong"
        wrong.write_text("open barley\n")
        assert "not the passphrase" in fails(binary, second, "restore", PLACE, f"--passphrase-file={wrong}")
        # One damaged object is found where it lies; everything else comes back.
        verify = ["backup", "verify", PLACE, f"--passphrase-file={passphrase}"]
        assert run(binary, first, *verify)["ok"] is True
        broken = next(name for name in objects(client) if "/blobs/" in name)
        client.put_object(Bucket=BUCKET, Key=broken, Body=b"broken")
        verified = run(binary, first, *verify, expected=3)
        [damaged] = verified["backups"][0]["damagedBlobs"]
        restore = ["restore", PLACE, f"--passphrase-file={passphrase}"]
        refused = run(binary, second, *restore, expected=3)
        assert [one["blob"] for one in refused["damagedBlobs"]] == [damaged["blob"]], refused
        restored = run(binary, second, *restore, "--skip-damaged")
        assert restored["tables"] == resumed["tables"], restored
        assert {finding["kind"] for finding in restored["check"]["findings"]} == {"missing-blob"}, restored
        assert not any((scratch / "restored" / "backup-spool").iterdir()), "files are left in the spool"
    finally:
        store.send_signal(signal.SIGCONT)
        for process in (server, store):
            if process:
                process.terminate()
                process.wait()


def blob(data):
    """The hash, the size, and a Zstandard frame of blocks that are not compressed."""
    frame, most = b"\x28\xb5\x2f\xfd\xa0" + len(data).to_bytes(4, "little"), 128 * 1024
    for at in range(0, len(data), most):
        block = data[at:at + most]
        is_last = at + most >= len(data)
        frame += (len(block) << 3 | is_last).to_bytes(3, "little") + block
    return hashlib.sha256(data).hexdigest(), len(data), frame


def be_silent(store):
    time.sleep(0.3)
    store.send_signal(signal.SIGSTOP)
    time.sleep(SILENCE)
    store.send_signal(signal.SIGCONT)


def fails(binary, environment, *args):
    done = subprocess.run([binary, *args, "--json"], env=environment, capture_output=True, text=True)
    assert done.returncode != 0, (args, done.stdout)
    return json.loads(done.stdout)["error"]


def objects(client):
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET)
    return [entry["Key"] for page in pages for entry in page.get("Contents", [])]


if __name__ == "__main__":
    main()
