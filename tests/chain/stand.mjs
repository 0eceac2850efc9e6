// A real node that looks like Base to a payment, for whoever asks from another program.
//
//   node stand.mjs
//
// Prints its address and the keys of a settler, of another one and of a payer with
// plenty and an allowance, as JSON; ends when its input does.
import { maxUint256, encodeFunctionData, parseAbi, toHex } from "viem";
import { PERMIT2, USDC, send, startAnvil, who } from "./nodes.mjs";

const PLENTY = 10n ** 15n;
const node = await startAnvil();
await node.fund(who.payer.address, PLENTY);
const abi = parseAbi(["function approve(address,uint256)"]);
await send(node.url, who.payer, USDC, encodeFunctionData({ abi, functionName: "approve", args: [PERMIT2, maxUint256] }));
const key = account => toHex(account.getHdKey().privateKey);
console.log(JSON.stringify({ url: node.url, settler: key(who.facilitator), other: key(who.newcomer), payer: key(who.payer) }));
process.stdin.resume().once("end", () => node.stop());
