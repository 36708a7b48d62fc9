"""Compares the busy times of odd feeds with those that recurring-ical-events finds in them.

    expansion.py PROGRAM FEEDS            PROGRAM: the example check-calendar
    expansion.py PROGRAM FEEDS --write    also writes what recurring-ical-events finds beside each feed

Beside each feed FEEDS/NAME.ics is its busy list NAME.busy, which the tests of the crate compare with
theirs. The feeds of BY_HAND are read otherwise there; their lists are written by hand. After them come
feeds with random rules.
"""

import subprocess
import sys
import tempfile
import zoneinfo
from datetime import date, datetime, time, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import recurring_ical_events
from icalendar import Calendar
from random_rules import write_feeds

# The pinned zones, not the machine's.
zoneinfo.reset_tzpath(to=[])

SEED, RANDOM_FEEDS = 20260101, 300
FROM = datetime(2026, 10, 1, tzinfo=timezone.utc)
TO = datetime(2027, 4, 15, tzinfo=timezone.utc)
HOST_ZONE = "Europe/Berlin"
HOST = "host@feed.example"

BY_HAND = {
    "until_date": "UNTIL as a date includes that day; there it ends at midnight in UTC",
    "weekno_without_day": "the weekday comes from DTSTART (RFC 5545 3.3.10); there it is the whole week",
    "yearly_weekno_wkst": "2026 has 52 weeks that begin on Sunday; there the last one has no days in 2027",
    "monthly_mixed_days": "weekdays with and without a number are either, there they are both at once",
    "duration_over_change": "hours of a DURATION are elapsed time (RFC 5545 3.3.6); there they are clock time",
}


def main():
    program, folder, *options = sys.argv[1:]
    feeds = sorted(Path(folder).glob("*.ics"))
    assert len(feeds) >= 60, f"only {len(feeds)} feeds"
    wrong = 0
    ours = busy_here(program, feeds)
    for feed in feeds:
        expected = feed.with_suffix(".busy")
        if feed.stem not in BY_HAND:
            judged = busy_there(feed)
            if "--write" in options:
                expected.write_text("".join(line + "\n" for line in judged))
            wrong += differs(feed.stem, "recurring-ical-events", judged, ours[feed.stem])
        wrong += differs(feed.stem, expected.name, expected.read_text().splitlines(), ours[feed.stem])
    print(f"{len(feeds)} feeds compared, {len(BY_HAND)} of them by hand")
    with tempfile.TemporaryDirectory() as scratch:
        wrong += compare_random(program, Path(scratch))
    sys.exit(1 if wrong else 0)


def compare_random(program, folder):
    write_feeds(folder, SEED, RANDOM_FEEDS)
    feeds = sorted(folder.glob("*.ics"))
    ours = busy_here(program, feeds)
    wrong, compared, intervals = 0, 0, 0
    for feed in feeds:
        try:
            judged = busy_there(feed)
        except IndexError:
            # dateutil fails at some numbered weekdays.
            continue
        compared, intervals = compared + 1, intervals + len(judged)
        if differs(feed.stem, "recurring-ical-events", judged, ours[feed.stem]):
            wrong += 1
            print(feed.read_text())
    print(f"{compared} random rules compared, {intervals} intervals")
    return wrong + (compared < 0.9 * RANDOM_FEEDS)


def busy_here(program, feeds):
    """The lines of the program by the name of their feed."""
    answer = subprocess.run(
        [program, "busy", stamp(FROM), stamp(TO), HOST_ZONE, HOST, *feeds],
        check=True,
        capture_output=True,
        text=True,
    )
    found = {}
    for line in answer.stdout.splitlines():
        if line.startswith("# "):
            lines = found[line[2:]] = []
        else:
            lines.append(line)
    return found


def busy_there(feed):
    calendar = Calendar.from_ical(feed.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    floating = ZoneInfo(str(calendar.get("X-WR-TIMEZONE", HOST_ZONE)))
    # Days of the host's zone begin before those of UTC.
    near = timedelta(days=2)
    events = recurring_ical_events.of(calendar, skip_bad_series=True).between(FROM - near, TO + near)
    lines = []
    for event in events:
        start, end = instant(event["DTSTART"].dt, floating), instant(event["DTEND"].dt, floating)
        if end <= start:
            # A change of the clock has swallowed it; it keeps its length.
            end = start + (event["DTEND"].dt - event["DTSTART"].dt)
        if not is_free(event) and start < end and start < TO and FROM < end:
            lines.append((start, end, str(event["UID"])))
    return [f"{stamp(start)} {stamp(end)} {uid}" for start, end, uid in sorted(lines)]


def is_free(event):
    people = event.get("ATTENDEE", [])
    declined = [
        person
        for person in (people if isinstance(people, list) else [people])
        if person.lower() == f"mailto:{HOST}" and person.params.get("PARTSTAT") == "DECLINED"
    ]
    return bool(
        declined
        or event.get("TRANSP") == "TRANSPARENT"
        or event.get("STATUS") == "CANCELLED"
        or event.get("X-MICROSOFT-CDO-BUSYSTATUS") == "FREE"
    )


def instant(value, floating):
    if not isinstance(value, datetime):
        assert isinstance(value, date)
        value = datetime.combine(value, time(), ZoneInfo(HOST_ZONE))
    elif value.tzinfo is None:
        value = value.replace(tzinfo=floating)
    return value.astimezone(timezone.utc)


def stamp(value):
    return value.strftime("%Y-%m-%dT%H:%M:%SZ")


def differs(name, judge, expected, ours):
    if expected == ours:
        return False
    print(f"{name}: not the same as {judge}")
    for line in sorted(set(expected) - set(ours)):
        print(f"    missing {line}")
    for line in sorted(set(ours) - set(expected)):
        print(f"    added   {line}")
    return True


main()
