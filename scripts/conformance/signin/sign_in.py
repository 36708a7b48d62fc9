"""Signs in to a demo with passkeys and codes of other libraries.

    sign_in.py BINARY FOLDER

Passkeys are made of the types of `fido2`, whose own server verifies each ceremony before Mailroom does. Codes of the
authenticator app come from `pyotp`, or also from `oathtool` where it is installed.
"""

import base64
import html
import http.cookiejar
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import pyotp
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from fido2.cose import ES256, RS256, EdDSA
from fido2.server import Fido2Server
from fido2.webauthn import (
    AttestationObject,
    AttestedCredentialData,
    AuthenticationResponse,
    AuthenticatorAssertionResponse,
    AuthenticatorAttestationResponse,
    AuthenticatorData,
    CollectedClientData,
    PublicKeyCredentialRpEntity,
    RegistrationResponse,
)

SITE = "localhost"


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Browser:
    """Keeps cookies, and sends the token of the forms of its session."""

    def __init__(self, address):
        self.address = address
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self.opener = urllib.request.build_opener(jar)
        self.csrf = ""

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
        return response.status, urllib.parse.urlsplit(response.url).path, text

    def is_signed_in(self):
        return self.get("/settings/you")[1] == "/settings/you"


class Device:
    """An authenticator with one passkey."""

    def __init__(self, kind):
        self.kind, self.id = kind, os.urandom(32)
        self.key = {
            ES256: lambda: ec.generate_private_key(ec.SECP256R1()),
            EdDSA: ed25519.Ed25519PrivateKey.generate,
            RS256: lambda: rsa.generate_private_key(65537, 2048),
        }[kind]()
        self.cose = kind.from_cryptography_key(self.key.public_key())
        self.verifier = Fido2Server(PublicKeyCredentialRpEntity(id=SITE, name="Mailroom"), verify_origin=lambda _: True)

    def sign(self, data):
        if self.kind is ES256:
            return self.key.sign(data, ec.ECDSA(hashes.SHA256()))
        if self.kind is EdDSA:
            return self.key.sign(data)
        return self.key.sign(data, padding.PKCS1v15(), hashes.SHA256())

    def authenticator_data(self, credential=b""):
        flags = AuthenticatorData.FLAG.UP | AuthenticatorData.FLAG.UV
        if credential:
            flags |= AuthenticatorData.FLAG.AT
        digest = hashes.Hash(hashes.SHA256())
        digest.update(SITE.encode())
        return AuthenticatorData.create(digest.finalize(), flags, 0, credential)

    def enrol(self, browser, name):
        options = json.loads(browser.post("/settings/sign-in/passkeys/challenge")[2])
        assert self.kind.ALGORITHM in [param["alg"] for param in options["pubKeyCredParams"]]
        self.person = unb64(options["user"]["id"])
        said = CollectedClientData.create("webauthn.create", options["challenge"], browser.address)
        data = self.authenticator_data(AttestedCredentialData.create(b"\0" * 16, self.id, self.cose))
        whole = AuthenticatorAttestationResponse(
            client_data=said, attestation_object=AttestationObject.create("none", data, {})
        )
        state = {"challenge": options["challenge"], "user_verification": "required"}
        made = self.verifier.register_complete(state, RegistrationResponse(raw_id=self.id, response=whole))
        self.credential = made.credential_data
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        spki = self.key.public_key().public_bytes(serialization.Encoding.DER, form)
        return browser.post(
            "/settings/sign-in/passkeys",
            name=name,
            id=b64(self.id),
            client_data=b64(said),
            authenticator_data=b64(data),
            public_key=b64(spki),
            algorithm=self.kind.ALGORITHM,
        )

    def sign_in(self, browser):
        options = json.loads(browser.post("/sign-in/passkey/challenge")[2])
        assert "allowCredentials" not in options
        said = CollectedClientData.create("webauthn.get", options["challenge"], browser.address)
        data = self.authenticator_data()
        signature = self.sign(data + said.hash)
        answer = AuthenticatorAssertionResponse(
            client_data=said, authenticator_data=data, signature=signature, user_handle=self.person
        )
        state = {"challenge": options["challenge"], "user_verification": "required"}
        self.verifier.authenticate_complete(
            state, [self.credential], AuthenticationResponse(raw_id=self.id, response=answer)
        )
        browser.post(
            "/sign-in/passkey",
            id=b64(self.id),
            client_data=b64(said),
            authenticator_data=b64(data),
            signature=b64(signature),
            user_handle=b64(self.person),
        )


def passkeys(browser, address):
    for kind in [ES256, EdDSA, RS256]:
        device = Device(kind)
        status, path, text = device.enrol(browser, kind.__name__)
        assert (status, path) == (200, "/settings/sign-in") and kind.__name__ in text, (status, path)
        other = Browser(address)
        device.sign_in(other)
        assert other.is_signed_in(), kind
        key = re.search(r"/settings/sign-in/passkeys/(pky_\w+)/remove", text)[1]
        browser.post(f"/settings/sign-in/passkeys/{key}/remove")
        other = Browser(address)
        device.sign_in(other)
        assert not other.is_signed_in(), kind


def codes(browser, sign_in_link):
    text = browser.post("/settings/sign-in/totp")[2]
    secret = html.unescape(re.search(r'aria-label="Secret of the app">([A-Z2-7 ]+)<', text)[1]).replace(" ", "")
    text = browser.post("/settings/sign-in/totp/confirm", code=code(secret, 0))[2]
    recovery = re.findall(r"<li><code>([0-9a-z]{5}-[0-9a-z]{5})</code>", text)
    assert len(recovery) == 10, text
    # The code of this step is used; the one of the next counts already.
    for typed in [code(secret, 30), recovery[0]]:
        link = urllib.parse.urlsplit(sign_in_link()).path
        other = Browser(browser.address)
        assert other.post(link)[1] == "/sign-in/code"
        assert not other.is_signed_in()
        other.post("/sign-in/code", code=typed)
        assert other.is_signed_in(), typed


def code(secret, ahead):
    at = int(time.time()) + ahead
    of_pyotp = pyotp.TOTP(secret).at(at)
    if shutil.which("oathtool"):
        asked = ["oathtool", "--totp", "--base32", f"--now=@{at}", secret]
        assert subprocess.check_output(asked, text=True).strip() == of_pyotp
    return of_pyotp


def main():
    binary, folder = sys.argv[1:]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://{SITE}:{port}"
    environment = {**os.environ, "MAILROOM_PUBLIC_URL": address, "MAILROOM_DATA": folder}
    demo = subprocess.Popen(
        [binary, "demo", "--listen", f"127.0.0.1:{port}", "--smtp-listen", "off", "--lmtp-listen", "off", "--json"],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    try:
        ready = json.loads(demo.stdout.readline())
        browser = Browser(address)
        browser.post(urllib.parse.urlsplit(ready["signInUrl"]).path)
        assert browser.is_signed_in()
        people = json.loads(subprocess.check_output([binary, "user", "list", "--json"], env=environment))["people"]
        owner = next(person["email"] for person in people if person["role"] == "owner")

        def sign_in_link():
            made = subprocess.check_output([binary, "user", "link", owner, "--json"], env=environment)
            return json.loads(made)["signInUrl"]

        passkeys(browser, address)
        codes(browser, sign_in_link)
    finally:
        demo.terminate()
        demo.wait(timeout=30)


main()
