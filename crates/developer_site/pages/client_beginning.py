"""A typed client for the Mailroom API, in one file that needs Python 3.11 and nothing else.

Made by Mailroom {version} from its table of operations. Get the newest from your own server:
/developers/clients/mailroom.py

    from mailroom import Mailroom

    mailroom = Mailroom("https://mail.example.com/api/v1", "rk_test_...")
    for conversation in mailroom.list_conversations(view="open"):
        print(conversation["subject"])

Without arguments it takes the address from MAILROOM and the key from MAILROOM_KEY. A request that meets 429, 5xx or
a broken connection is sent again a few times, after as long as Retry-After says; nothing happens twice, because a
write that could has an Idempotency-Key.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import random
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Iterable, Iterator, Mapping
from http.client import HTTPException
from typing import Any, Literal, NotRequired, TypedDict, TypeVar, Union

T = TypeVar("T")

TIMEOUT_SECONDS = 30
# How often a request is sent again, and the longest that the client waits before it does.
RETRIES = 4
MOST_WAIT_SECONDS = 60
FIRST_WAIT_SECONDS = 0.5
# How long a feed without news rests before it asks again.
FEED_WAIT_SECONDS = 5.0


class Unset:
    """The type of what was left out."""


UNSET = Unset()


class MailroomError(Exception):
    """The server refused: decide by `status`, show the sentence."""

    def __init__(self, status: int, sentence: str, retry_after: int | None) -> None:
        super().__init__(f"{status}: {sentence}")
        self.status = status
        self.sentence = sentence
        self.retry_after = retry_after


class Page(list[T]):
    """One page of a list: a list of its items that also says where the next page begins."""

    def __init__(self, items: Iterable[T], cursor: str | None, total: int | None, at_least: int | None) -> None:
        super().__init__(items)
        self.cursor = cursor
        """Where the next page begins; None on the last page. A list of events always has one, once it had events."""
        self.total = total
        """How many the whole list has, where `count=True` was asked for and it was counted to the end."""
        self.at_least = at_least
        """The same where it has more than are counted."""

    @property
    def items(self) -> list[T]:
        return list(self)


class EventFeed(Iterator[T]):
    """Events as they happen, without end. `cursor` is where to go on after the event that was given last: keep it
    when the event is dealt with, and give it to `follow_events` after a restart."""

    def __init__(self, ask: Any, cursor: str | None, start: str, wait_seconds: float) -> None:
        self.cursor = cursor
        self._ask = ask
        self._start = start
        self._wait = wait_seconds
        self._waiting: list[T] = []
        self._after: str | None = cursor

    def __next__(self) -> T:
        while not self._waiting:
            asked = {"cursor": self._after} if self._after is not None else {"start": self._start}
            page: Page[T] = self._ask("/events", {"limit": 100, **asked})
            self._waiting = list(page)
            self._after = page.cursor or self._after
            if not self._waiting:
                self.cursor = self._after
                time.sleep(self._wait)
        event = self._waiting.pop(0)
        if not self._waiting:
            self.cursor = self._after
        return event


def is_genuine(headers: Mapping[str, str], body: bytes, secret: str) -> bool:
    """True when a webhook call is signed with this secret, and not long ago."""
    sent = {name.lower(): value for name, value in headers.items()}
    stamp = sent.get("webhook-timestamp", "")
    if not stamp.isdigit() or abs(time.time() - int(stamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{sent.get('webhook-id', '')}.{stamp}.".encode() + body
    good = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    given = sent.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(one, "v1," + good) for one in given)


def _part(text: str) -> str:
    return urllib.parse.quote(text, safe="")


class _Connection:
    def __init__(self, address: str | None = None, key: str | None = None, *, retries: int = RETRIES) -> None:
        self._address = (address or os.environ["MAILROOM"]).rstrip("/")
        self._key = key or os.environ["MAILROOM_KEY"]
        self._retries = retries

    def _call(
        self,
        method: str,
        path: str,
        fields: Mapping[str, Any],
        idempotency_key: str | None = None,
        raw: bool = False,
    ) -> Any:
        body, _ = self._ask(method, path, fields, idempotency_key)
        return body if raw else json.loads(body)

    def _page(self, path: str, query: Mapping[str, Any]) -> Page[Any]:
        body, headers = self._ask("GET", path, query, None)
        total, at_least = headers.get("X-Total-Count"), headers.get("X-Total-At-Least")
        return Page(
            json.loads(body),
            _cursor(headers.get("Link", "")),
            int(total) if total else None,
            int(at_least) if at_least else None,
        )

    def _each(self, path: str, query: Mapping[str, Any]) -> Iterator[Any]:
        fields = dict(query)
        while True:
            page = self._page(path, fields)
            yield from page
            if not page or page.cursor is None:
                return
            fields["cursor"] = page.cursor

    def _ask(
        self, method: str, path: str, fields: Mapping[str, Any], idempotency_key: str | None
    ) -> tuple[bytes, Mapping[str, str]]:
        given = {name: value for name, value in fields.items() if value is not UNSET}
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        url, data = self._address + path, None
        if method == "GET" and given:
            texts = {name: _query_text(value) for name, value in given.items()}
            url += "?" + urllib.parse.urlencode(texts)
        elif method == "POST":
            data = json.dumps(given).encode()
        request = urllib.request.Request(url, data=data, headers=headers, method=method)
        for tries_left in range(self._retries, -1, -1):
            try:
                with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
                    return answer.read(), answer.headers
            except urllib.error.HTTPError as refusal:
                error = _refusal(refusal)
                wait = _wait(error, self._retries - tries_left)
                if tries_left == 0 or wait is None:
                    raise error from None
            except (OSError, HTTPException):
                if tries_left == 0:
                    raise
                wait = _backoff(self._retries - tries_left)
            time.sleep(wait)
        raise AssertionError("the last try returns or raises")


def _cursor(link: str) -> str | None:
    if 'rel="next"' not in link:
        return None
    following = urllib.parse.urlsplit(link.split(">")[0].lstrip("<")).query
    return urllib.parse.parse_qs(following).get("cursor", [None])[0]


def _query_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _wait(error: MailroomError, tries: int) -> float | None:
    """How long to wait before the request is sent again; None where that is of no use."""
    if error.status != 429 and error.status < 500:
        return None
    if error.retry_after is None:
        return _backoff(tries)
    return error.retry_after if error.retry_after <= MOST_WAIT_SECONDS else None


def _backoff(tries: int) -> float:
    longest: float = min(FIRST_WAIT_SECONDS * 2**tries, MOST_WAIT_SECONDS)
    return longest * random.uniform(0.5, 1)


def _refusal(refusal: urllib.error.HTTPError) -> MailroomError:
    try:
        sentence = json.loads(refusal.read())["error"]
    except (ValueError, KeyError, TypeError):
        sentence = refusal.reason
    wait = refusal.headers.get("Retry-After", "")
    return MailroomError(refusal.code, sentence, int(wait) if wait.isdigit() else None)
