// Starts real nodes with the contracts that payments need, as the three chains, for another program.
//
//   node start_nodes.mjs
//
// Prints their URLs and the keys of two settlers and of a payer with USDC and an allowance on
// Base, as JSON; exits when its standard input ends.
import { maxUint256, encodeFunctionData, parseAbi, toHex } from "viem";
import { NETWORKS, PERMIT2, USDC, send, startAnvil, who } from "./nodes.mjs";

const PLENTY = 10n ** 15n;
const base = await startAnvil();
const polygon = await startAnvil(NETWORKS.polygon);
const arbitrum = await startAnvil(NETWORKS.arbitrum);
await base.fund(who.payer.address, PLENTY);
const abi = parseAbi(["function approve(address,uint256)"]);
await send(base.url, who.payer, USDC, encodeFunctionData({ abi, functionName: "approve", args: [PERMIT2, maxUint256] }));
const key = account => toHex(account.getHdKey().privateKey);
const urls = { base: base.url, polygon: polygon.url, arbitrum: arbitrum.url };
console.log(JSON.stringify({ ...urls, settler: key(who.facilitator), other: key(who.newcomer), payer: key(who.payer) }));
process.stdin.resume().once("end", () => [base, polygon, arbitrum].forEach(node => node.stop()));
