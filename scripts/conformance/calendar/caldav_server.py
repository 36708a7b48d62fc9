"""Mailroom's CalDAV client against Radicale, filled by the caldav library.

    caldav_server.py BINARY SCRATCH

Reads an account with two calendars and a single calendar, with basic authentication: series, a moved
and a cancelled instance, free and whole-day events, other zones. An unchanged calendar costs no second
reading, a changed one is read again, and a wrong password is refused.
"""

import datetime
import json
import os
import pathlib
import socket
import subprocess
import sys
import time
import urllib.request
from zoneinfo import ZoneInfo

import caldav

USER, PASSWORD = "ines", "an app password"
BERLIN = ZoneInfo("Europe/Berlin")


def main():
    binary, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
    scratch.mkdir(parents=True, exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (scratch / "users").write_text(f"{USER}:{PASSWORD}\n")
    (scratch / "password").write_text(f"{PASSWORD}\n")
    (scratch / "wrong").write_text("something else\n")
    server = subprocess.Popen(
        [
            sys.executable, "-m", "radicale",
            "--server-hosts", f"127.0.0.1:{port}",
            "--auth-type", "htpasswd",
            "--auth-htpasswd-filename", str(scratch / "users"),
            "--auth-htpasswd-encryption", "plain",
            "--storage-filesystem-folder", str(scratch / "collections"),
            "--logging-level", "warning",
        ]
    )
    try:
        url = f"http://127.0.0.1:{port}/"
        wait_for(url)
        check(binary, scratch, url)
    finally:
        server.terminate()
        server.wait(10)
    print("Radicale's calendars are read as they were written.")


def wait_for(url):
    for _ in range(200):
        try:
            urllib.request.urlopen(url, timeout=1)
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.05)
    sys.exit("Radicale does not start.")


def check(binary, scratch, url):
    # The first Monday that is at least a week away.
    today = datetime.date.today()
    monday = today + datetime.timedelta(days=14 - today.weekday())

    def at(days, hour, minute=0, zone=BERLIN):
        day = monday + datetime.timedelta(days=days)
        return datetime.datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone)

    client = caldav.DAVClient(url=url, username=USER, password=PASSWORD)
    principal = client.principal()
    work, private = principal.make_calendar(name="Work"), principal.make_calendar(name="Private")
    work.save_event(
        uid="series@judge.test", summary="Stand-up", dtstart=at(0, 9), dtend=at(0, 9, 30),
        rrule={"FREQ": "WEEKLY", "COUNT": 4},
    )
    work.save_event(
        uid="free@judge.test", summary="Lunch", dtstart=at(0, 12), dtend=at(0, 13), transp="TRANSPARENT"
    )
    work.save_event(
        uid="york@judge.test", summary="Call", dtstart=at(1, 10, zone=ZoneInfo("America/New_York")),
        dtend=at(1, 11, zone=ZoneInfo("America/New_York")),
    )
    day = monday + datetime.timedelta(days=2)
    private.save_event(
        uid="day@judge.test", summary="Away", dtstart=day, dtend=day + datetime.timedelta(days=1)
    )
    private.save_event(
        uid="off@judge.test", summary="Cancelled", dtstart=at(3, 9), dtend=at(3, 10), status="CANCELLED"
    )

    series = [(at(7 * week, 9), at(7 * week, 9, 30)) for week in range(4)]
    call = (at(1, 10, zone=ZoneInfo("America/New_York")), at(1, 11, zone=ZoneInfo("America/New_York")))
    away = (at(2, 0), at(3, 0))
    whole = tried(binary, scratch, url)
    expect(whole["busy"], [*series, call, away], "an account")
    one = tried(binary, scratch, str(work.url))
    expect(one["busy"], [*series, call], "one calendar")

    again = tried(binary, scratch, url, etag=whole["etag"])
    if again != {"unchanged": True}:
        sys.exit(f"An unchanged account is read again: {again}")
    work.save_event(uid="new@judge.test", summary="New", dtstart=at(4, 15), dtend=at(4, 16))
    changed = tried(binary, scratch, url, etag=whole["etag"])
    expect(changed["busy"], [*series, call, away, (at(4, 15), at(4, 16))], "a changed account")

    synchronise(scratch, url, at(4, 17), at(4, 18))
    synchronised = tried(binary, scratch, url)
    expect(
        synchronised["busy"],
        [*series, call, away, (at(4, 15), at(4, 16)), (at(4, 17), at(4, 18))],
        "an account with a calendar of vdirsyncer",
    )

    refused = run(binary, scratch, url, "", "wrong")
    if refused.returncode == 0 or "app password" not in refused.stderr:
        sys.exit(f"A wrong password is not refused: {refused.stdout}{refused.stderr}")


def synchronise(scratch, url, start, end):
    """Has vdirsyncer write a calendar of one event."""
    folder = scratch / "vdir" / "synchronised"
    folder.mkdir(parents=True)
    local = "%Y%m%dT%H%M%S"
    (folder / "event.ics").write_bytes(
        "\r\n".join([
            "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//judge//EN", "BEGIN:VEVENT", "UID:vdir@judge.test",
            "DTSTAMP:20260101T000000Z",
            f"DTSTART:{start.astimezone(datetime.timezone.utc).strftime(local)}Z",
            f"DTEND:{end.astimezone(datetime.timezone.utc).strftime(local)}Z",
            "SUMMARY:Synchronised", "END:VEVENT", "END:VCALENDAR", "",
        ]).encode()
    )
    (scratch / "vdirsyncer.conf").write_text(f"""
[general]
status_path = "{scratch / "vdir-status"}"
[pair calendars]
a = "here"
b = "there"
collections = ["synchronised"]
[storage here]
type = "filesystem"
path = "{scratch / "vdir"}"
fileext = ".ics"
[storage there]
type = "caldav"
url = "{url}"
username = "{USER}"
password = "{PASSWORD}"
""")
    program = pathlib.Path(sys.executable).parent / "vdirsyncer"
    for step in ["discover", "sync"]:
        command = [program, "--config", scratch / "vdirsyncer.conf", step]
        subprocess.run(command, input="y\n" * 8, text=True, check=True, capture_output=True, timeout=60)


def tried(binary, scratch, url, etag=""):
    done = run(binary, scratch, url, etag, "password")
    if done.returncode:
        sys.exit(f"{url}: {done.stderr}")
    return json.loads(done.stdout)


def run(binary, scratch, url, etag, password):
    command = [
        binary, "booking", "calendar", "try", "--caldav", url, "--user", USER,
        "--password-file", str(scratch / password), "--zone", "Europe/Berlin", "--etag", etag,
    ]
    environment = {**os.environ, "MAILROOM_WEBHOOKS_ALLOW_PRIVATE": "true"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)


def expect(found, wanted, what):
    def instant(moment):
        return moment.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")

    wanted = sorted([instant(start), instant(end)] for start, end in wanted)
    if found != wanted:
        sys.exit(f"{what}: found {found}, wanted {wanted}")


main()
