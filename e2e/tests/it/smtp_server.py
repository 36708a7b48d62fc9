"""A submission server of aiosmtpd with TLS and one login, which writes each mail to a folder.

Called with the certificate, its key, the user, the password and the folder; prints its port.
"""

import asyncio
import itertools
import pathlib
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult

certificate, key, user, password, folder = sys.argv[1:]


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


def knows(server, session, envelope, mechanism, given):
    fits = (given.login, given.password) == (user.encode(), password.encode())
    return AuthResult(success=fits, handled=False)


async def serve():
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)

    def session():
        return SMTP(Keeper(), auth_required=True, auth_require_tls=False, authenticator=knows)

    loop = asyncio.get_running_loop()
    server = await loop.create_server(session, "127.0.0.1", 0, ssl=context)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(serve())
