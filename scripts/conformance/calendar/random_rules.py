"""Writes feeds with random recurrence rules, the same ones for the same seed."""

import random

ZONES = [
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
    "America/Sao_Paulo",
    "Pacific/Chatham",
    "Africa/Casablanca",
]
WEEKDAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]


def write_feeds(folder, seed, count):
    """`count` files in the folder, each with one series."""
    choose = random.Random(seed)
    for number in range(count):
        lines = [
            "BEGIN:VCALENDAR",
            "VERSION:2.0",
            "BEGIN:VEVENT",
            f"UID:random-{number}@feed.example",
            *series(choose),
            "END:VEVENT",
            "END:VCALENDAR",
        ]
        (folder / f"random_{number:04}.ics").write_bytes("".join(line + "\r\n" for line in lines).encode())


def series(choose):
    frequency = choose.choice(["DAILY", "WEEKLY", "MONTHLY", "MONTHLY", "YEARLY", "YEARLY", "HOURLY"])
    rule = [f"FREQ={frequency}", *parts(choose, frequency)]
    is_day = frequency != "HOURLY" and "BYHOUR" not in " ".join(rule) and choose.random() < 0.15
    year, month = choose.choice([(2005, 1), (2019, 8), (2025, 12), (2026, 9)])
    if frequency == "HOURLY":
        year, month = 2026, 9
    day, hour, minute = choose.randint(1, 27), choose.randint(0, 23), choose.choice([0, 15, 30, 45])
    rule += ending(choose, is_day)
    if is_day:
        return [f"DTSTART;VALUE=DATE:{year}{month:02}{day:02}", "RRULE:" + ";".join(rule)]
    zone = choose.choice(ZONES)
    end = hour * 60 + minute + choose.choice([10, 30, 60, 300])
    end_day, end_hour, end_minute = day + end // 1440, end // 60 % 24, end % 60
    return [
        f"DTSTART;TZID={zone}:{year}{month:02}{day:02}T{hour:02}{minute:02}00",
        f"DTEND;TZID={zone}:{year}{month:02}{end_day:02}T{end_hour:02}{end_minute:02}00",
        "RRULE:" + ";".join(rule),
    ]


def parts(choose, frequency):
    found = []
    if choose.random() < 0.4:
        found.append(f"INTERVAL={choose.randint(2, 5)}")
    if choose.random() < 0.3:
        found.append("BYMONTH=" + some(choose, range(1, 13), 4))
    if choose.random() < 0.4:
        found.append("BYDAY=" + ",".join(weekdays(choose, frequency)))
    if frequency != "WEEKLY" and choose.random() < 0.25:
        days = [1, 2, 10, 13, 15, 28, 29, 30, 31, -1, -2, -15, -31]
        found.append("BYMONTHDAY=" + some(choose, days, 4))
    if frequency == "YEARLY" and choose.random() < 0.2:
        found.append("BYYEARDAY=" + some(choose, [1, 60, 100, 310, 320, 366, -1, -30, -60], 5))
    if frequency in ("DAILY", "WEEKLY") and choose.random() < 0.2:
        found.append("BYHOUR=" + some(choose, range(24), 3))
    has_set = any(part.startswith("BY") for part in found)
    if has_set and frequency not in ("WEEKLY", "HOURLY") and choose.random() < 0.2:
        found.append("BYSETPOS=" + some(choose, [1, 2, 3, -1, -2], 2))
    if choose.random() < 0.3:
        found.append("WKST=" + choose.choice(WEEKDAYS))
    return found


def weekdays(choose, frequency):
    days = choose.sample(WEEKDAYS, choose.randint(1, 3))
    numbers = {"MONTHLY": [-2, -1, 1, 2, 3, 5], "YEARLY": [-2, -1, 1, 2, 20, 44, 50]}.get(frequency)
    if numbers is None or choose.random() < 0.4:
        return days
    return [f"{choose.choice(numbers)}{day}" for day in days]


def ending(choose, is_day):
    chance = choose.random()
    if chance < 0.3:
        return [f"COUNT={choose.choice([1, 5, 30, 300, 2000])}"]
    if chance < 0.5:
        until = f"2027{choose.randint(1, 4):02}{choose.randint(1, 28):02}"
        return [f"UNTIL={until}" if is_day else f"UNTIL={until}T{choose.randint(0, 23):02}0000Z"]
    return []


def some(choose, numbers, most):
    return ",".join(map(str, choose.sample(list(numbers), choose.randint(1, most))))
