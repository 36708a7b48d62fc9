"""Has invitations written from difficult words and reads them with icalendar.

    invitations.py PROGRAM CALENDARS

PROGRAM is the example check-calendar. CALENDARS is a file to write: what was written and what it must say,
for invitations.mjs, which reads it with ical.js.
"""

import json
import subprocess
import sys

from icalendar import Calendar

WORDS = [
    "A first talk about your books",
    "Commas, semicolons; colons: and \\ backslashes",
    "Lines\nand\r\nmore lines\rof every kind",
    "ENDS\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nSUMMARY:injected",
    'Quotes "here" and \'there\' ^n ^^',
    "Grüße aus 東京 🎉 " * 12,
    "x" * 300,
    "\u2028separators\u2029and\u0085next line\x00\x07",
]


def main():
    calendars = []
    for words in WORDS:
        for other in WORDS[:3]:
            calendars += check(words, other)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(calendars, file)
    print(f"{len(WORDS) * 3} bookings compared")


def check(summary, name):
    """Compares what is written for one booking; answers it with what it must say."""
    calendars = []
    booking = {
        "uid": "bkg_4d81k2@hallgren-moss.example",
        "sequence": 3,
        "stamp": "2026-11-12T08:19:05Z",
        "start": "2026-11-16T10:00:00Z",
        "end": "2026-11-16T10:30:00Z",
        "summary": summary,
        "location": name,
        "description": summary + name,
        "url": "https://mail.hallgren-moss.example/b/m/EXAMPLE",
        "organizer": name,
        "guest": summary,
        "host": name,
        "from": "clients@hallgren-moss.example",
        "to": "jonas@adeyemi-frames.example",
        "hostAddress": "marit@hallgren-moss.example",
    }
    program = subprocess.run(
        [sys.argv[1], "invitation"], input=json.dumps(booking), check=True, capture_output=True, text=True
    )
    written = json.loads(program.stdout)
    for kind, method, status in [
        ("invitation", "REQUEST", "CONFIRMED"),
        ("cancellation", "CANCEL", "CANCELLED"),
        ("feed", "PUBLISH", "TENTATIVE"),
    ]:
        text = written[kind]
        for line in text.encode().split(b"\r\n"):
            assert len(line) <= 75 and b"\n" not in line and b"\r" not in line, line
            line.decode()
        calendar = Calendar.from_ical(text)
        assert calendar["METHOD"] == method and calendar["VERSION"] == "2.0", calendar
        (event,) = calendar.walk("VEVENT")
        assert not event.errors, event.errors
        assert event["UID"] == booking["uid"] and event["SEQUENCE"] == 3
        assert event["STATUS"] == status, event
        assert event["DTSTART"].dt.isoformat() == "2026-11-16T10:00:00+00:00", event
        assert event["DTEND"].dt.isoformat() == "2026-11-16T10:30:00+00:00", event
        assert event["SUMMARY"] == plain(summary), (event["SUMMARY"], summary)
        assert event["LOCATION"] == plain(name), event
        assert event["DESCRIPTION"] == plain(summary + name), event
        assert event["URL"] == booking["url"], event
        if kind != "feed":
            assert event["ORGANIZER"] == "mailto:clients@hallgren-moss.example", event
            guest, host = event["ATTENDEE"]
            assert guest == "mailto:jonas@adeyemi-frames.example", event
            assert host == "mailto:marit@hallgren-moss.example", event
            for attendee in guest, host:
                assert attendee.params["PARTSTAT"] == "ACCEPTED", event
                assert attendee.params["RSVP"] == "FALSE", event
        calendars.append({
            "text": text,
            "method": method,
            "status": status,
            "uid": booking["uid"],
            "sequence": booking["sequence"],
            "start": booking["start"],
            "end": booking["end"],
            "summary": plain(summary),
            "location": plain(name),
            "description": plain(summary + name),
            "url": booking["url"],
            "organizer": None if kind == "feed" else "mailto:clients@hallgren-moss.example",
            "attendees": [] if kind == "feed" else [
                "mailto:jonas@adeyemi-frames.example", "mailto:marit@hallgren-moss.example",
            ],
        })
    return calendars


def plain(words):
    """Line ends are one kind of line end, and control characters are left out."""
    words = words.replace("\r\n", "\n")
    for separator in "\r\u2028\u2029\u0085":
        words = words.replace(separator, "\n")
    return "".join(c for c in words if c == "\n" or c.isprintable() or ord(c) > 0xA0)


main()
