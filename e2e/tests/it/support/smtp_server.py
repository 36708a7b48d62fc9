"""A submission server of aiosmtpd with TLS and one login, which writes each mail to a folder.

Called with the certificate, its key, the user, the password and the folder; prints its port. With the
address where access tokens are asked about, it takes those too (XOAUTH2).
"""

import asyncio
import base64
import itertools
import pathlib
import ssl
import sys
import urllib.error
import urllib.request

from aiosmtpd.smtp import SMTP, AuthResult

certificate, key, user, password, folder = sys.argv[1:6]
token_info = sys.argv[6] if len(sys.argv) > 6 else None


class Keeper:
    """Writes the envelope's recipients and the mail."""

    numbers = itertools.count()

    async def handle_DATA(self, server, session, envelope):
        name = f"{next(self.numbers):04}"
        place = pathlib.Path(folder)
        text = "".join(f"RCPT {to}\n" for to in envelope.rcpt_tos).encode() + envelope.content
        (place / f"{name}.part").write_bytes(text)
        (place / f"{name}.part").rename(place / f"{name}.eml")
        return "250 taken"


class TokenKeeper(Keeper):
    """Takes access tokens that the provider knows."""

    async def auth_XOAUTH2(self, server, args):
        said = base64.b64decode(args[1]).decode().split("\x01")
        token = said[1].removeprefix("auth=Bearer ")
        try:
            await asyncio.to_thread(urllib.request.urlopen, token_info + token)
        except urllib.error.HTTPError:
            await server.challenge_auth("eyJzdGF0dXMiOiI0MDAifQ==", encode_to_b64=False)
            return AuthResult(success=False, handled=False)
        return AuthResult(success=True)


def knows(server, session, envelope, mechanism, given):
    fits = (given.login, given.password) == (user.encode(), password.encode())
    return AuthResult(success=fits, handled=False)


async def serve():
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)

    def session():
        keeper = TokenKeeper() if token_info else Keeper()
        return SMTP(keeper, auth_required=True, auth_require_tls=False, authenticator=knows)

    loop = asyncio.get_running_loop()
    server = await loop.create_server(session, "127.0.0.1", 0, ssl=context)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(serve())
