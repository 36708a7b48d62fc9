"""A network that can fail: TCP proxies on this machine, one in front of each port that is reached over it."""

import asyncio
import threading

# Bytes that are passed on at a time.
PIECE = 65_536


class Network:
    """The proxies, on an event loop of their own."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def link(self, name, target):
        link = Link(self, name, target)
        self.run(link.listen())
        return link

    def run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()


class Link:
    """The way to one port. It can be cut, silenced (nothing arrives, and nobody is told) or slowed down."""

    def __init__(self, network, name, target):
        self.network, self.name, self.target, self.port = network, name, target, None
        self.is_cut, self.delay, self.ends, self.flows = False, 0.0, set(), None

    async def listen(self):
        self.flows = asyncio.Event()
        self.flows.set()
        server = await asyncio.start_server(self.join, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        # The loop itself keeps no reference.
        self.server = server

    def cut(self):
        """Ends every connection; new ones end at once."""
        async def change():
            self.is_cut = True
            for end in list(self.ends):
                end.transport.abort()
        self.network.run(change())

    def silence(self):
        async def change():
            self.flows.clear()
        self.network.run(change())

    def slow_down(self, seconds):
        self.delay = seconds

    def mend(self):
        async def change():
            self.is_cut, self.delay = False, 0.0
            self.flows.set()
        self.network.run(change())

    async def join(self, reader, writer):
        ends = [writer]
        try:
            if self.is_cut:
                return
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
            ends.append(far_writer)
            self.ends.update(ends)
            await asyncio.gather(self.pump(reader, far_writer), self.pump(far_reader, writer))
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            for end in ends:
                self.ends.discard(end)
                end.transport.abort()

    async def pump(self, source, target):
        while piece := await source.read(PIECE):
            if self.delay:
                await asyncio.sleep(self.delay)
            await self.flows.wait()
            target.write(piece)
            await target.drain()
        await self.flows.wait()
        if target.can_write_eof():
            target.write_eof()
