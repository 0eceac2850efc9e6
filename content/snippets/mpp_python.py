# pip install "pympp[evm]==0.16.0"
# PAYER_KEY=0x… python mpp_python.py
import asyncio
import os
import sys
from pathlib import Path

from eth_account import Account
from mpp import Receipt
from mpp.client import Mpp
from mpp.methods.evm import BASE_USDC
from mpp.methods.evm import client as evm

BASE_URL = os.environ.get("BASE_URL", "{{ base_url }}")


async def main() -> int:
    payer = Account.from_key(os.environ["PAYER_KEY"])
    # Signs for nothing but USDC on Base, and for no more than this.
    method = evm.charge(currency=BASE_USDC, account=payer, max_amount="3.50")
    async with Mpp(methods=[method]) as client:
        answer = await client.fetch(
            f"{BASE_URL}/api/mpp/postcards",
            method="POST",
            content=Path("card.json").read_bytes(),
            headers={"Content-Type": "application/json"},
        )
    print(answer.status_code, answer.json())
    if receipt := answer.headers.get("Payment-Receipt"):
        print(Receipt.from_payment_receipt(receipt))
    return 0 if answer.is_success else 1


sys.exit(asyncio.run(main()))
