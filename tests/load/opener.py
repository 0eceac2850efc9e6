"""Opens idle and slow connections and opens each again when the service closes it, until standard input ends.

  opener.py PORT IDLE SLOW

Idle connections send nothing, or one request and then nothing. Slow ones send a request head or a body at one byte a
second. Prints a line when all are open, and at the end, as JSON, how long connections of each kind stayed open.
"""

import asyncio
import json
import os
import sys
import time

PORT, IDLE, SLOW = (int(word) for word in sys.argv[1:])
# One source address has too few ports for connections that are opened again all the time.
SOURCES = [f"127.0.0.{number}" for number in range(2, 34)]
# Opened at the same moment, so many would overflow the backlog of the listener.
TOGETHER = 200
GET = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"
HEAD = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-slow: " + b"a" * 10_000
BODY = b"POST /api/x402/postcards HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 8000\r\n\r\n"


class Kind:
    def __init__(self, greeting, slow):
        self.greeting, self.slow = greeting, slow
        self.open = self.opened = self.failed = 0
        self.seconds = []


KINDS = {
    "idle without a request": Kind(b"", b""),
    "idle after a request": Kind(GET, b""),
    "slow head": Kind(b"", HEAD),
    "slow body": Kind(BODY, b"a" * 8_000),
}


async def keep(kind, number, gate):
    """One connection, opened again whenever it ends."""
    while True:
        writer = None
        begun = time.monotonic()
        try:
            async with gate:
                source = (SOURCES[number % len(SOURCES)], 0)
                reader, writer = await asyncio.open_connection("127.0.0.1", PORT, local_addr=source, limit=2048)
            begun = time.monotonic()
            kind.open += 1
            kind.opened += 1
            writer.write(kind.greeting)
            await until_closed(kind, reader, writer)
            kind.seconds.append(time.monotonic() - begun)
        except OSError:
            # A reset is also an end; a refusal is counted.
            if writer is None:
                kind.failed += 1
                await asyncio.sleep(0.2)
            else:
                kind.seconds.append(time.monotonic() - begun)
        finally:
            if writer is not None:
                kind.open -= 1
                writer.transport.abort()


async def until_closed(kind, reader, writer):
    reading = asyncio.ensure_future(drain(reader))
    try:
        for byte in kind.slow:
            if reading.done():
                break
            writer.write(bytes([byte]))
            await asyncio.wait([reading], timeout=1)
        await reading
    finally:
        reading.cancel()


async def drain(reader):
    while await reader.read(2048):
        pass


async def main():
    gate = asyncio.Semaphore(TOGETHER)
    wanted = IDLE + SLOW
    names = list(KINDS)
    tasks = []
    for number in range(wanted):
        name = names[number % 2] if number < IDLE else names[2 + number % 2]
        tasks.append(asyncio.ensure_future(keep(KINDS[name], number, gate)))
    while sum(kind.open for kind in KINDS.values()) < 0.95 * wanted:
        await asyncio.sleep(0.1)
    print("open", flush=True)
    loop = asyncio.get_running_loop()
    end = asyncio.Event()
    loop.add_reader(0, lambda: os.read(0, 4096) or end.set())
    counts = []
    while not end.is_set():
        counts.append(sum(kind.open for kind in KINDS.values()))
        await asyncio.wait([asyncio.ensure_future(end.wait())], timeout=1)
    for task in tasks:
        task.cancel()
    found = {
        name: {"opened": kind.opened, "closed": len(kind.seconds), "failed": kind.failed,
               "longest": round(max(kind.seconds, default=0), 2)}
        for name, kind in KINDS.items()
    }
    print(json.dumps({"mean": round(sum(counts) / len(counts)), "kinds": found}), flush=True)
    os._exit(0)


asyncio.run(main())
