"""Compares slots with those computed by Python's zoneinfo, for every day of five years in seven zones.

    slots.py PROGRAM        PROGRAM: the example check-calendar
"""

import json
import subprocess
import sys
import zoneinfo
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

# The pinned zones, not the machine's.
zoneinfo.reset_tzpath(to=[])

ZONES = [
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "Asia/Kathmandu",
    "America/Sao_Paulo",
    "Pacific/Chatham",
    "America/New_York",
    "Europe/Berlin",
]
# Five years of rules to come, the years in which Sao Paulo had a gap at midnight, and the day that
# Samoa did not have.
PERIODS = [(zone, "2026-01-01", "2030-12-31") for zone in ZONES] + [
    ("America/Sao_Paulo", "2015-01-01", "2019-12-31"),
    ("Pacific/Apia", "2011-01-01", "2012-12-31"),
]
DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
# Ordinary hours, hours around the changes of the clock, and a whole day.
HOURS = [
    {"weekly": {"mon-fri": "09:00-12:00,13:00-17:00"}, "minutes": 30, "step": 30},
    {"weekly": {"mon-sun": "00:00-04:00"}, "minutes": 45, "step": 15, "before": 10, "after": 20},
    {"weekly": {"sat-mon": "01:30-02:30,22:15-24:00", "wed": "22:00-03:00"}, "minutes": 20, "step": 20},
]


def main():
    questions = [question(zone, first, last, hours) for zone, first, last in PERIODS for hours in HOURS]
    answer = subprocess.run(
        [sys.argv[1], "slots"],
        input="\n".join(json.dumps(question) for question in questions),
        check=True,
        capture_output=True,
        text=True,
    )
    compared, wrong = 0, 0
    for asked, line in zip(questions, answer.stdout.splitlines(), strict=True):
        expected, ours = expected_starts(asked), json.loads(line)
        compared += len(expected)
        if expected != ours:
            wrong += 1
            print(f"{asked['zone']} {asked['weekly']}: {len(expected)} slots expected, {len(ours)} found")
            print("    missing", sorted(set(expected) - set(ours))[:5])
            print("    added  ", sorted(set(ours) - set(expected))[:5])
    print(f"{compared} slots compared in {len(questions)} questions")
    sys.exit(1 if wrong or compared < 100_000 else 0)


def question(zone, first, last, hours):
    """Busy every ninth day for three hours, and off every tenth."""
    days = all_days(first, last)
    busy = [
        {
            "start": stamp(datetime(day.year, day.month, day.day, 10, 20, tzinfo=timezone.utc)),
            "end": stamp(datetime(day.year, day.month, day.day, 13, 20, tzinfo=timezone.utc)),
        }
        for day in days[::9]
    ]
    return {
        "zone": zone,
        "from": first,
        "to": last,
        "weekly": "; ".join(f"{days} {ranges}" for days, ranges in hours["weekly"].items()),
        "hours": hours["weekly"],
        "except": {str(day): "" for day in days[::10]},
        "busy": busy,
        "minutes": hours["minutes"],
        "step": hours["step"],
        "before": hours.get("before", 0),
        "after": hours.get("after", 0),
    }


def expected_starts(asked):
    length, step = timedelta(minutes=asked["minutes"]), timedelta(minutes=asked["step"])
    before, after = timedelta(minutes=asked["before"]), timedelta(minutes=asked["after"])
    busy = [(parse(one["start"]), parse(one["end"])) for one in asked["busy"]]
    first_of_all, end_of_all = bounds(asked)
    starts = set()
    for start, end in windows(asked):
        while start + length <= end:
            is_free = not any(s < start + length + after and start - before < e for s, e in near(busy, start))
            if is_free and first_of_all <= start < end_of_all:
                starts.add(start)
            start += step
    return [stamp(start) for start in sorted(starts)]


def windows(asked):
    """In UTC. The day before reaches into the first one."""
    zone = ZoneInfo(asked["zone"])
    for day in all_days(asked["from"], asked["to"], before=1):
        if str(day) in asked["except"]:
            continue
        for days, ranges in asked["hours"].items():
            if day.weekday() not in weekdays(days):
                continue
            for one in ranges.split(","):
                start, end = one.split("-")
                end_day = day + timedelta(days=1) if end == "24:00" or end < start else day
                yield moment(day, start, zone), moment(end_day, end.replace("24:", "00:"), zone)


def weekdays(text):
    first, _, last = text.partition("-")
    first, last = DAYS.index(first), DAYS.index(last or first)
    return {(first + n) % 7 for n in range((last - first) % 7 + 1)}


def moment(day, clock, zone):
    hour, minute = map(int, clock.split(":"))
    local = datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone)
    return local.astimezone(timezone.utc)


def bounds(asked):
    zone = ZoneInfo(asked["zone"])
    after = date.fromisoformat(asked["to"]) + timedelta(days=1)
    return moment(date.fromisoformat(asked["from"]), "00:00", zone), moment(after, "00:00", zone)


def near(busy, start):
    """The busy ranges are nine days apart, and in order."""
    at = (start - busy[0][0]).days // 9
    return busy[max(at - 1, 0) : at + 3]


def all_days(first, last, before=0):
    first, last = date.fromisoformat(first), date.fromisoformat(last)
    return [first + timedelta(days=n) for n in range(-before, (last - first).days + 1)]


def parse(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def stamp(value):
    return value.strftime("%Y-%m-%dT%H:%M:%SZ")


main()
