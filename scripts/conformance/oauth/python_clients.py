"""The whole flow of OAuth as Python clients have it.

    python_clients.py CLIENT SERVER BROWSER [DOCUMENT]

CLIENT is mcp (the official one) or authlib. With DOCUMENT, the address of a document about the client, it
does not register. BROWSER is browser.mjs.
"""

import asyncio
import sys
import urllib.error
import urllib.parse
import urllib.request

import httpx2
import requests
from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

TIMEOUT_SECONDS = 60


def visit(browser, url):
    asked = f"{browser}/visit?url={urllib.parse.quote(url, safe='')}"
    try:
        return urllib.request.urlopen(asked, timeout=TIMEOUT_SECONDS).read().decode()
    except urllib.error.HTTPError as error:
        raise AssertionError(error.read().decode()) from None


def parameters(url):
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))


class Kept:
    """What the official client keeps."""

    def __init__(self):
        self.tokens = self.client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


async def official(server, browser, document):
    kept = Kept()
    ended = []

    async def redirect(url):
        ended.append(await asyncio.to_thread(visit, browser, url))

    async def called_back():
        told = parameters(ended[-1])
        return AuthorizationCodeResult(code=told["code"], state=told["state"], iss=told["iss"])

    async def work():
        provider = OAuthClientProvider(
            server_url=f"{server}/mcp",
            client_metadata=OAuthClientMetadata(
                client_name="Judge mcp", redirect_uris=[f"{browser}/callback"],
                grant_types=["authorization_code", "refresh_token"], response_types=["code"],
                token_endpoint_auth_method="none",
            ),
            storage=kept,
            redirect_handler=redirect,
            callback_handler=called_back,
            client_metadata_url=document,
        )
        async with (
            httpx2.AsyncClient(auth=provider, timeout=TIMEOUT_SECONDS) as http,
            Client(streamable_http_client(f"{server}/mcp", http_client=http)) as client,
        ):
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert "reply" in names and "record_sent" not in names, names
            me = await client.call_tool("whoami", {})
            assert not me.is_error, me

    await work()
    assert len(ended) == 1, ended
    wanted = kept.client.client_id == document if document else kept.client.client_id.startswith("ocl_")
    assert wanted, kept.client
    # An access token that has ended is replaced with the refresh token: nobody is asked again.
    old = kept.tokens
    kept.tokens = old.model_copy(update={"access_token": "ro_" + "0" * 48, "expires_in": -1})
    await work()
    assert kept.tokens.access_token != old.access_token, "no new token"
    if len(ended) == 1:
        assert kept.tokens.refresh_token != old.refresh_token


def with_authlib(server, browser, document):
    metadata = requests.get(f"{server}/.well-known/oauth-authorization-server", timeout=TIMEOUT_SECONDS).json()
    AuthorizationServerMetadata(metadata)["issuer"]
    client_id = document
    if not document:
        about = {"client_name": "Judge authlib", "redirect_uris": [f"{browser}/callback"]}
        registered = requests.post(metadata["registration_endpoint"], json=about, timeout=TIMEOUT_SECONDS)
        assert registered.status_code == 201, registered.text
        client_id = registered.json()["client_id"]
    client = OAuth2Session(
        client_id, redirect_uri=f"{browser}/callback", scope="read write draft",
        code_challenge_method="S256", token_endpoint=metadata["token_endpoint"],
        token_endpoint_auth_method="none", revocation_endpoint_auth_method="none",
    )
    verifier = generate_token(48)
    url, state = client.create_authorization_url(metadata["authorization_endpoint"], code_verifier=verifier)
    ended = visit(browser, url)
    assert parameters(ended)["iss"] == metadata["issuer"], ended
    tokens = client.fetch_token(
        metadata["token_endpoint"], authorization_response=ended, state=state, code_verifier=verifier
    )
    assert tokens["scope"] == "read write draft", tokens
    assert works(server, tokens["access_token"])
    fresh = client.refresh_token(metadata["token_endpoint"])
    assert fresh["refresh_token"] != tokens["refresh_token"]
    assert works(server, fresh["access_token"])
    gone = client.revoke_token(
        metadata["revocation_endpoint"], token=fresh["refresh_token"], token_type_hint="refresh_token"
    )
    assert gone.status_code == 200, gone.text
    assert not works(server, fresh["access_token"])


def works(server, token):
    answer = requests.post(
        f"{server}/mcp", timeout=TIMEOUT_SECONDS,
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}},
        headers={
            "authorization": f"Bearer {token}", "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2025-11-25",
        },
    )
    assert answer.status_code in (200, 401), answer.text
    return answer.status_code == 200


def main(which, server, browser, document=None):
    if which == "mcp":
        asyncio.run(official(server, browser, document))
    else:
        with_authlib(server, browser, document)


if __name__ == "__main__":
    main(*sys.argv[1:])
