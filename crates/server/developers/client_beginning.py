"""A typed client for the Mailroom API, in one file that needs Python 3.11 and nothing else.

Made by Mailroom {version} from its table of operations. Get the newest from your own server:
/developers/clients/mailroom.py

    from mailroom import Mailroom

    mailroom = Mailroom("https://mail.example.com/api/v1", "rk_test_...")
    for conversation in mailroom.list_conversations(view="open"):
        print(conversation["subject"])

Without arguments it takes the address from MAILROOM and the key from MAILROOM_KEY.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NotRequired, TypedDict, Union

TIMEOUT_SECONDS = 30


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
    def __init__(self, address: str | None = None, key: str | None = None) -> None:
        self._address = (address or os.environ["MAILROOM"]).rstrip("/")
        self._key = key or os.environ["MAILROOM_KEY"]

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

    def _each(self, path: str, query: Mapping[str, Any]) -> Iterator[Any]:
        fields = dict(query)
        while True:
            body, link = self._ask("GET", path, fields, None)
            items = json.loads(body)
            yield from items
            if not items or "cursor=" not in link:
                return
            following = urllib.parse.urlsplit(link.split(">")[0].lstrip("<")).query
            fields["cursor"] = urllib.parse.parse_qs(following)["cursor"][0]

    def _ask(
        self, method: str, path: str, fields: Mapping[str, Any], idempotency_key: str | None
    ) -> tuple[bytes, str]:
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
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
                return answer.read(), answer.headers.get("Link", "")
        except urllib.error.HTTPError as refusal:
            raise _refusal(refusal) from None


def _query_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _refusal(refusal: urllib.error.HTTPError) -> MailroomError:
    try:
        sentence = json.loads(refusal.read())["error"]
    except (ValueError, KeyError, TypeError):
        sentence = refusal.reason
    wait = refusal.headers.get("Retry-After", "")
    return MailroomError(refusal.code, sentence, int(wait) if wait.isdigit() else None)
