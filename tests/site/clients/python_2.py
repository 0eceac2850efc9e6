"""The official Python client, version 2: with the handshake, with version discovery, and with a pinned version."""

import asyncio
import sys

from mcp import Client
from mcp_types import SERVER_INFO_META_KEY, Implementation, ResourceTemplateReference

from walk import MODERN, address, plain, walk


def signature(answer):
    return Implementation.model_validate(plain(answer)["_meta"][SERVER_INFO_META_KEY])


async def visit(title, era, mode):
    async with Client(address(), mode=mode) as client:

        def complete(template, argument):
            return client.complete(ResourceTemplateReference(type="ref/resource", uri=template), argument)

        # A pinned client gets no server info at connect, but every answer has it.
        server = client.server_info or signature(await client.list_tools())
        return await walk(f"Python 2.x {title}", era, server, client.protocol_version, client, complete)


async def main():
    wrong = await visit("with a handshake", "legacy", "legacy")
    wrong += await visit("as it comes", "modern", "auto")
    return wrong + await visit("pinned", "modern", MODERN)


sys.exit(1 if asyncio.run(main()) else 0)
