"""The official Python client, version 1: with the handshake only."""

import asyncio
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ResourceTemplateReference

from walk import address, walk


async def main():
    async with streamable_http_client(address()) as (reading, writing, _):
        async with ClientSession(reading, writing) as session:
            about = await session.initialize()

            def complete(template, argument):
                return session.complete(ResourceTemplateReference(type="ref/resource", uri=template), argument)

            return await walk("Python 1.x", "legacy", about.serverInfo, about.protocolVersion, session, complete)


sys.exit(1 if asyncio.run(main()) else 0)
