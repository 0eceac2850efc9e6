# pip install "x402[evm,extensions,httpx]==2.25.0"
# PAYER_KEY=0x… python x402_python.py
import asyncio
import os
import sys
from pathlib import Path

from eth_account import Account
from x402 import x402Client
from x402.http import decode_payment_response_header
from x402.http.clients.httpx import x402HttpxClient
from x402.mechanisms.evm.upto import UptoEvmScheme

BASE_URL = os.environ.get("BASE_URL", "{{ base_url }}")


async def main() -> int:
    payer = Account.from_key(os.environ["PAYER_KEY"])
    client = x402Client().register("eip155:*", UptoEvmScheme(payer))
    # The client refuses everything above one dollar unless it is told otherwise.
    client.set_spend_controls({"max_amount_per_payment": "$3.50"})
    async with x402HttpxClient(client, timeout=180) as http:
        answer = await http.post(
            f"{BASE_URL}/api/x402/postcards",
            content=Path("card.json").read_bytes(),
            headers={"Content-Type": "application/json"},
        )
    print(answer.status_code, answer.json())
    if settlement := answer.headers.get("PAYMENT-RESPONSE"):
        print(decode_payment_response_header(settlement).model_dump(exclude_none=True))
    return 0 if answer.is_success else 1


sys.exit(asyncio.run(main()))
