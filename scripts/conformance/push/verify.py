"""Subscribes a browser to the notices of a demo, takes what is pushed to it, decrypts it with `http_ece` and verifies
with PyJWT who sent it.

    verify.py BINARY FOLDER
"""

import base64
import http.cookiejar
import http.server
import json
import os
import queue
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import http_ece
import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

TIMEOUT_SECONDS = 60


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class PushService(http.server.BaseHTTPRequestHandler):
    received: "queue.Queue[tuple]" = queue.Queue()
    status = 201

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        PushService.received.put((self.path, self.headers, body))
        self.send_response(PushService.status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Page:
    """Keeps cookies, and sends the token of the forms of its session."""

    def __init__(self, address):
        self.address, self.csrf = address, ""
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self.opener = urllib.request.build_opener(jar)

    def get(self, path):
        return self.send(urllib.request.Request(urllib.parse.urljoin(self.address, path)))

    def post(self, path, **fields):
        body = urllib.parse.urlencode({"csrf": self.csrf, **fields}).encode()
        return self.send(urllib.request.Request(urllib.parse.urljoin(self.address, path), data=body))

    def send(self, request):
        try:
            response = self.opener.open(request, timeout=30)
        except urllib.error.HTTPError as error:
            response = error
        text = response.read().decode()
        token = re.search(r'data-csrf="([0-9a-f]+)"', text)
        if token:
            self.csrf = token[1]
        return response.status, text


class Browser:
    """The keys that a browser makes for a subscription, and what it does with a message."""

    def __init__(self, service, name):
        self.endpoint = f"{service}/{name}"
        self.key, self.auth = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)
        self.public = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    def read(self, server_key):
        path, headers, body = PushService.received.get(timeout=TIMEOUT_SECONDS)
        assert self.endpoint.endswith(path), path
        assert headers["Content-Encoding"] == "aes128gcm" and len(body) <= 4096
        assert 0 < int(headers["Ttl"]) <= 4 * 60 * 60 and headers["Urgency"] in ("normal", "high")
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,32}", headers["Topic"])
        self.verify_sender(headers["Authorization"], server_key)
        text = http_ece.decrypt(body, private_key=self.key, auth_secret=self.auth, version="aes128gcm")
        return json.loads(text)

    def verify_sender(self, said, server_key):
        found = re.fullmatch(r"vapid t=([^,]+), k=([A-Za-z0-9_-]+)", said)
        assert found and found[2] == server_key, said
        key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), unb64(found[2]))
        service = "{0.scheme}://{0.netloc}".format(urllib.parse.urlsplit(self.endpoint))
        claims = jwt.decode(found[1], key, algorithms=["ES256"], audience=service)
        assert claims["exp"] - time.time() <= 24 * 60 * 60
        try:
            jwt.decode(found[1], key, algorithms=["ES256"], audience="https://elsewhere.example")
        except jwt.InvalidAudienceError:
            return
        raise AssertionError("the token is good for another push service")


def call(address, key, path, body=None):
    request = urllib.request.Request(f"{address}/api/v1{path}", headers={"authorization": f"Bearer {key}"})
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("content-type", "application/json")
    return json.loads(urllib.request.urlopen(request, timeout=30).read())


def verify(page, address, live_key, service):
    server_key = json.loads(page.post("/settings/notifications/key")[1])["key"]
    assert len(unb64(server_key)) == 65
    # The owner of the demo has quiet hours.
    page.post("/settings/notifications/how", names="on", digest="daily", digest_time="08:00", zone="UTC")
    browser = Browser(service, "one")
    status, text = page.post(
        "/settings/notifications/browsers",
        endpoint=browser.endpoint,
        p256dh=b64(browser.public),
        auth=b64(browser.auth),
    )
    assert status == 200 and "This one" in text, text
    page.post("/settings/notifications/test")
    assert browser.read(server_key)["title"] == "Test notice"

    listed = call(address, live_key, "/conversations?view=open&limit=1")[0]
    team = call(address, live_key, f"/conversations/{listed['id']}")["team"]
    owner = next(member["id"] for member in team["people"] if member["name"] == "Ines Marti")
    for to in ("none", owner):
        call(address, live_key, f"/conversations/{listed['id']}/assign", {"to": to})
    said = browser.read(server_key)
    assert said["title"] == "Robo assigned you a conversation", said
    assert said["body"] == listed["subject"] and said["url"] == f"/conversations/{listed['id']}", said

    PushService.status = 410
    page.post("/settings/notifications/test")
    browser.read(server_key)
    until = time.monotonic() + TIMEOUT_SECONDS
    while "No browser gets notices yet" not in page.get("/settings/notifications")[1]:
        assert time.monotonic() < until, "a browser that is gone stays subscribed"
        time.sleep(0.2)


def main():
    binary, folder = sys.argv[1:]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), PushService)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    environment = {
        **os.environ,
        "MAILROOM_PUBLIC_URL": address,
        "MAILROOM_DATA": folder,
        "MAILROOM_WEBHOOKS_ALLOW_PRIVATE": "true",
    }
    demo = subprocess.Popen(
        [binary, "demo", "--listen", f"127.0.0.1:{port}", "--smtp-listen", "off", "--lmtp-listen", "off", "--json"],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    try:
        ready = json.loads(demo.stdout.readline())
        page = Page(address)
        page.post(urllib.parse.urlsplit(ready["signInUrl"]).path)
        page.get("/settings/notifications")
        verify(page, address, ready["liveKey"], f"http://127.0.0.1:{server.server_port}/push")
    finally:
        demo.terminate()
        demo.wait(timeout=30)


main()
