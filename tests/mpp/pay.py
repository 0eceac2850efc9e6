"""Pays for one card with the official client for Python: pay.py URL KEY < BODY. The answer is one line of JSON."""

import asyncio
import json
import sys

from eth_account import Account
from mpp.client import Mpp
from mpp.methods.evm import BASE_USDC
from mpp.methods.evm import client as evm


async def main(url: str, key: str) -> None:
    method = evm.charge(currency=BASE_USDC, account=Account.from_key(key), max_amount="3.5")
    headers = {"content-type": "application/json"}
    async with Mpp(methods=[method]) as client:
        response = await client.fetch(url, method="POST", headers=headers, content=sys.stdin.read())
    receipt = response.headers.get("payment-receipt")
    print(json.dumps({"status": response.status_code, "receipt": receipt, "said": response.json()}))


asyncio.run(main(*sys.argv[1:]))
