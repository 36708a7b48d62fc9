"""What was acknowledged, and what the relay and the receiver wrote down, compared with what the database keeps."""

import base64
import hmac
import json
from dataclasses import dataclass
from email.parser import HeaderParser

# How the Message-ID of a message begins. Mail of the service itself begins otherwise.
MESSAGE = "msg."
# Seconds by which a time in the database may be early: it has milliseconds, those of the relay have more.
ROUNDED = 0.001


class Times(dict):
    """How often each value comes."""

    def __init__(self, values):
        super().__init__()
        for value in values:
            self[value] = self[value] + 1

    def __missing__(self, _):
        return 0


def lost_facts(column, notes, mails, attached):
    """Acknowledged notes, mails and attachments that are not there once."""
    bodies, subjects = Times(column("SELECT body FROM notes")), Times(column("SELECT subject FROM conversations"))
    files = set(column("SELECT c.subject || ' ' || d.hash FROM documents d "
                       "JOIN conversations c ON c.ws = d.ws AND c.id = d.conversation"))
    lost = [note for note in notes if bodies[note] != 1] + [mail for mail in mails if subjects[mail] != 1]
    return lost + [f"file of {subject}" for subject, hash in attached.items() if f"{subject} {hash}" not in files]


# Mail.

def mail_name(text):
    """The Message-ID of a mail up to its domain."""
    return (HeaderParser().parsestr(text)["Message-ID"] or "").strip().strip("<>").split("@")[0]


def message_of(name):
    """The id of the message whose Message-ID it is."""
    return "msg_" + name.removeprefix(MESSAGE).split(".")[0]


def accepted_mails(received):
    """The names of the mails that the relay accepted, each with the times at which it did."""
    times = {}
    for when, text in received:
        times.setdefault(mail_name(text), []).append(when)
    return times


def unsent_replies(accepted, replies):
    """Words of replies that never left."""
    left = {message_of(name) for name in accepted if name.startswith(MESSAGE)}
    return [words for words, message in replies.items() if message not in left]


@dataclass
class Interruption:
    """A time in which mail that the relay has accepted may not be recorded as sent: when it began and ended, in
    seconds of the clock, and the names of the mails that were not recorded when it began."""

    begins: float
    ends: float
    pending: set

    def explains(self, name, before, after):
        """True when a mail that the relay accepted may leave again because of it. Mail that was recorded before it
        began may not, nor may mail that was accepted after it ended."""
        was_open = name in self.pending if before < self.begins else before <= self.ends
        return was_open and after >= self.begins


def repeat_problems(accepted, interruptions, most):
    """Mails that left again, where that is not explained: each interruption makes a mail leave again once at the
    most, and no more mails than are sent at one time."""
    problems, explained = [], [0 for _ in interruptions]
    for name, times in accepted.items():
        unused = list(enumerate(interruptions))
        for before, after in zip(times, times[1:]):
            cause = next((one for one in unused if one[1].explains(name, before, after)), None)
            if cause:
                unused.remove(cause)
                explained[cause[0]] += 1
            else:
                problems.append(f"{name} left again after {after - before:.3f} seconds, and nothing explains it")
    return problems + [f"{count} mails left again after one interruption, more than the {most} of one time"
                       for count in explained if count > most]


def left_again(accepted):
    """How many mails the relay accepted beyond the first of each."""
    return sum(len(times) - 1 for times in accepted.values())


def late_problems(accepted, recorded):
    """Mails that left once more after they were recorded as sent. `recorded` has the time of that by name."""
    return [f"{name} left again {times[-1] - recorded[name]:.3f} seconds after it was recorded"
            for name, times in accepted.items()
            if len(times) > 1 and name in recorded and times[-1] > recorded[name] + ROUNDED]


# Events.

def event_problems(column, secret, events, messages):
    """Events that did not arrive, or not signed and as they are kept, and messages (by the words that name them)
    without exactly one event that they were sent. Returns also how many events were to be delivered."""
    problems, received, key = [], {}, base64.b64decode(secret.removeprefix("whsec_"))
    kept = dict(line.split(" ", 1) for line in column("SELECT id || ' ' || body FROM events"))
    for event in events:
        signed = f"{event['id']}.{event['timestamp']}.{event['body']}".encode()
        proof = base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
        if f"v1,{proof}" not in event["signature"].split():
            problems.append(f"{event['id']} has a wrong signature")
        received[event["id"]] = event["body"]
    delivered = column("SELECT event FROM deliveries")
    problems += [f"{event} did not arrive" for event in delivered if event not in received]
    problems += [f"{event} arrived changed" for event in received if received[event] != kept.get(event)]
    contents = [json.loads(body) for body in kept.values()]
    sent = Times(content["data"]["message_id"] for content in contents if content["type"] == "message.sent")
    problems += [f"{words} has {sent[message]} events" for words, message in messages.items() if sent[message] != 1]
    return problems, len(delivered)
