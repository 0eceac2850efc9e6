// Makes the same calls to the emulated chain and to a real node, and compares the results.
//
//   node compare.mjs SANDBOX_BINARY
import { readFileSync } from "node:fs";
import { decodeErrorResult, encodeFunctionData, parseAbi, parseSignature } from "viem";
import { CHAIN, PERMIT2, PROXY, USDC, handIn, prepare, rpc, send, startAnvil, startSandbox, who } from "./nodes.mjs";

const FOREVER = 4_102_444_800n;
const nonce = byte => `0x${byte.repeat(32)}`;
const vectors = JSON.parse(readFileSync(new URL("upto_vectors.json", import.meta.url), "utf8")).vectors;
const vector = vectors.find(vector => vector.network === `eip155:${CHAIN}`);

const proxyAbi = parseAbi([
  "struct TokenPermissions { address token; uint256 amount; }",
  "struct Permit { TokenPermissions permitted; uint256 nonce; uint256 deadline; }",
  "struct Witness { address to; address facilitator; uint256 validAfter; }",
  "struct Permit2612 { uint256 value; uint256 deadline; bytes32 r; bytes32 s; uint8 v; }",
  "function settle(Permit permit, uint256 amount, address owner, Witness witness, bytes signature)",
  "function settleWithPermit(Permit2612 permit2612, Permit permit, uint256 amount, address owner, Witness witness, bytes signature)",
  "function WITNESS_TYPEHASH() view returns (bytes32)",
  "function WITNESS_TYPE_STRING() view returns (string)",
]);
const usdcAbi = parseAbi([
  "function name() view returns (string)",
  "function version() view returns (string)",
  "function decimals() view returns (uint8)",
  "function balanceOf(address) view returns (uint256)",
  "function nonces(address) view returns (uint256)",
  "function authorizationState(address, bytes32) view returns (bool)",
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
  "function transfer(address, uint256) returns (bool)",
  "function transferFrom(address, address, uint256) returns (bool)",
  "function permit(address, address, uint256, uint256, uint8, bytes32, bytes32)",
]);
const threeAbi = parseAbi(["function transferWithAuthorization(address, address, uint256, uint256, uint256, bytes32, uint8, bytes32, bytes32)"]);
const packedAbi = parseAbi(["function transferWithAuthorization(address, address, uint256, uint256, uint256, bytes32, bytes)"]);
const permit2Abi = parseAbi([
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
  "function nonceBitmap(address, uint256) view returns (uint256)",
  "function invalidateUnorderedNonces(uint256, uint256)",
]);
const encode = (abi, functionName, args = []) => encodeFunctionData({ abi, functionName, args });

const domain = { name: "USD Coin", version: "2", chainId: CHAIN, verifyingContract: USDC };
const field = (type, names) => names.map(name => ({ name, type }));
const authorizationType = [...field("address", ["from", "to"]), ...field("uint256", ["value", "validAfter", "validBefore"]), ...field("bytes32", ["nonce"])];
const permitType = [...field("address", ["owner", "spender"]), ...field("uint256", ["value", "nonce", "deadline"])];

async function authorization(changes = {}) {
  const message = { from: who.payer.address, to: who.payee.address, value: 1_000_000n, validAfter: 0n, validBefore: FOREVER, nonce: nonce("01"), ...changes };
  const signature = await who.payer.signTypedData({ domain, types: { TransferWithAuthorization: authorizationType }, primaryType: "TransferWithAuthorization", message });
  return { terms: authorizationType.map(({ name }) => message[name]), signature };
}
const three = ({ terms, signature }) => {
  const { r, s, yParity } = parseSignature(signature);
  return encode(threeAbi, "transferWithAuthorization", [...terms, 27 + yParity, r, s]);
};
const packed = ({ terms, signature }) => encode(packedAbi, "transferWithAuthorization", [...terms, signature]);

async function permit2612(owner, value, used = 0n) {
  const message = { owner: owner.address, spender: PERMIT2, value, nonce: used, deadline: FOREVER };
  const signature = await owner.signTypedData({ domain, types: { Permit: permitType }, primaryType: "Permit", message });
  const { r, s, yParity } = parseSignature(signature);
  return { value, deadline: FOREVER, r, s, v: 27 + yParity };
}

/** An `upto` authorization of any account, as the official client signs it. */
async function promise(owner, changes = {}) {
  const permitted = { token: USDC, amount: 3_500_000n };
  const witness = { to: who.payee.address, facilitator: who.facilitator.address, validAfter: 0n, ...changes.witness };
  const permit = { permitted, nonce: 7n, deadline: FOREVER, ...changes.permit };
  const types = {
    PermitWitnessTransferFrom: [
      { name: "permitted", type: "TokenPermissions" },
      { name: "spender", type: "address" },
      ...field("uint256", ["nonce", "deadline"]),
      { name: "witness", type: "Witness" },
    ],
    TokenPermissions: [{ name: "token", type: "address" }, { name: "amount", type: "uint256" }],
    Witness: [...field("address", ["to", "facilitator"]), ...field("uint256", ["validAfter"])],
  };
  const signature = await owner.signTypedData({
    domain: { name: "Permit2", chainId: CHAIN, verifyingContract: PERMIT2 },
    types,
    primaryType: "PermitWitnessTransferFrom",
    message: { ...permit, spender: PROXY, witness },
  });
  return [permit, 2_117_500n, owner.address, witness, signature];
}

const steps = [];
const read = (name, to, data, from = who.facilitator) => steps.push({ name, to, data, from, kind: "read" });
const write = (name, to, data, from = who.facilitator) => steps.push({ name, to, data, from, kind: "write" });
const told = (name, doing) => steps.push({ name, doing, kind: "told" });
const shown = () => {
  for (const role of ["payer", "newcomer", "payee"]) read(`balance of ${role}`, USDC, encode(usdcAbi, "balanceOf", [who[role].address]));
};

for (const name of ["name", "version", "decimals", "DOMAIN_SEPARATOR"]) read(`usdc ${name}`, USDC, encode(usdcAbi, name));
read("permit2 separator", PERMIT2, encode(permit2Abi, "DOMAIN_SEPARATOR"));
for (const name of ["WITNESS_TYPEHASH", "WITNESS_TYPE_STRING"]) read(`proxy ${name}`, PROXY, encode(proxyAbi, name));
read("an unknown selector", USDC, "0x01020304");
read("nothing there", who.payee.address, "0x01020304");
shown();

// An official vector, signed by the official client.
read("vector by another account", PROXY, vector.settleCalldata, who.poor);
write("vector by its facilitator", PROXY, vector.settleCalldata);
read("vector again", PROXY, vector.settleCalldata);
write("vector again, on chain", PROXY, vector.settleCalldata);
read("bitmap", PERMIT2, encode(permit2Abi, "nonceBitmap", [who.payer.address, BigInt(vector.nonceBitmap.wordPosition)]));
shown();

const settle = args => encode(proxyAbi, "settle", args);
const good = await promise(who.payer);
const bad = (place, value) => good.map((part, index) => (index === place ? value : part));
const zero = `0x${"00".repeat(20)}`;
read("over the ceiling", PROXY, settle(bad(1, 3_500_001n)));
read("zero", PROXY, settle(bad(1, 0n)));
read("no owner", PROXY, settle(bad(2, zero)));
read("no destination", PROXY, settle(bad(3, { ...good[3], to: zero })));
read("too early", PROXY, settle(bad(3, { ...good[3], validAfter: FOREVER })));
read("too late", PROXY, settle(await promise(who.payer, { permit: { deadline: 1n } })));
read("another payee", PROXY, settle(bad(3, { ...good[3], to: who.poor.address })));
read("another owner", PROXY, settle(bad(2, who.poor.address)));
read("a signature of zeroes", PROXY, settle(bad(4, `0x${"00".repeat(65)}`)));
read("half a signature", PROXY, settle(bad(4, "0x1234")));
read("no allowance", PROXY, settle(await promise(who.newcomer)));
const word = encode(permit2Abi, "invalidateUnorderedNonces", [0n, 1n << 9n]);
write("the payer cancels", PERMIT2, word, who.payer);
read("cancelled", PROXY, settle(await promise(who.payer, { permit: { nonce: 9n } })));

// A newcomer without allowance and without gas.
const sponsored = await promise(who.newcomer);
const [exact, short] = [await permit2612(who.newcomer, 3_500_000n), await permit2612(who.newcomer, 3_499_999n)];
read("a permit for another amount", PROXY, encode(proxyAbi, "settleWithPermit", [short, ...sponsored]));
write("with a permit", PROXY, encode(proxyAbi, "settleWithPermit", [exact, ...sponsored]));
read("the permit's nonce", USDC, encode(usdcAbi, "nonces", [who.newcomer.address]));
const { value, deadline, v, r, s } = exact;
read("the permit again", USDC, encode(usdcAbi, "permit", [who.newcomer.address, PERMIT2, value, deadline, v, r, s]));
shown();

// EIP-3009, with both signatures of the function.
const one = await authorization();
write("an authorization", USDC, three(one));
read("its state", USDC, encode(usdcAbi, "authorizationState", [who.payer.address, nonce("01")]));
read("an authorization again", USDC, packed(one));
write("packed", USDC, packed(await authorization({ nonce: nonce("02") })));
read("not yet", USDC, three(await authorization({ nonce: nonce("03"), validAfter: FOREVER - 1n })));
read("expired", USDC, three(await authorization({ nonce: nonce("03"), validBefore: 1n })));
const changed = await authorization({ nonce: nonce("03") });
changed.terms[2] += 1n;
read("another amount", USDC, three(changed));
read("too much", USDC, three(await authorization({ nonce: nonce("03"), value: 10n ** 12n })));
const last = await authorization({ nonce: nonce("04") });
told("pause", node => node.pause(true));
read("paused", USDC, three(last));
told("resume", node => node.pause(false));
told("blacklist", node => node.blacklist(who.payee.address, true));
write("blacklisted", USDC, three(last));
told("unblacklist", node => node.blacklist(who.payee.address, false));
write("and free again", USDC, three(last));
shown();

// Plain transfers.
read("a transfer too large", USDC, encode(usdcAbi, "transfer", [who.payee.address, 1n]), who.poor);
read("a transfer without an allowance", USDC, encode(usdcAbi, "transferFrom", [who.payer.address, who.payee.address, 1n]), who.poor);
write("a transfer", USDC, encode(usdcAbi, "transfer", [who.poor.address, 5n]), who.payer);
shown();

/** The parts that must be equal on both nodes. */
async function answer(node, step) {
  if (step.kind === "told") return void (await step.doing(node));
  if (step.kind === "read") {
    const { result, error } = await rpc(node.url, "eth_call", [{ from: step.from.address, to: step.to, data: step.data }, "latest"]);
    return error ? { code: error.code, data: error.data } : { result };
  }
  const { hash, receipt, error } = await send(node.url, step.from, step.to, step.data);
  if (error) return { refused: error.message };
  const logs = receipt.logs.map(({ address, topics, data, logIndex }) => ({ address, topics, data, logIndex }));
  return { hash, status: receipt.status, type: receipt.type, from: receipt.from, to: receipt.to, logs };
}

/** These errors have no standard code, but wallets match these texts. */
const refusals = [
  ["nonce too low", { nonce: 0 }],
  ["insufficient funds", { value: 10n ** 24n }],
  ["intrinsic gas too low", { gas: 21_000n }],
  ["chain id", { chainId: 137 }],
];

function inWords(told) {
  if (!told?.data || told.data === "0x") return JSON.stringify(told);
  try {
    return `Error(${decodeErrorResult({ abi: parseAbi(["error Error(string)"]), data: told.data }).args[0]})`;
  } catch {
    return JSON.stringify(told);
  }
}

const nodes = [];
let differences = 0;
const compare = (name, [real, ours]) => {
  if (JSON.stringify(real) === JSON.stringify(ours)) return;
  differences += 1;
  console.log(`${name}\n  anvil    ${inWords(real)}\n  sandbox  ${inWords(ours)}`);
};
try {
  nodes.push(await startAnvil(), await startSandbox(process.argv[2]));
  for (const node of nodes) await prepare(node);
  for (const step of steps) {
    const both = [];
    for (const node of nodes) both.push(await answer(node, step));
    compare(step.name, both);
  }
  for (const [words, changes] of refusals) {
    for (const node of nodes) {
      const { error } = await handIn(node.url, who.payer, USDC, vector.settleCalldata, changes);
      const said = error?.message ?? "taken";
      if (said.toLowerCase().includes(words)) continue;
      if (node.name === "sandbox") differences += 1;
      console.log(`a transaction that should be refused with "${words}": ${node.name} said "${said}"`);
    }
  }
  for (const method of ["eth_getBlockByNumber", "eth_feeHistory"]) {
    const params = method === "eth_feeHistory" ? ["0x2", "latest", [50]] : ["latest", true];
    const [real, ours] = await Promise.all(nodes.map(async node => (await rpc(node.url, method, params)).result));
    const missing = Object.keys(real).filter(key => !(key in ours));
    if (missing.length) console.log(`${method}: the sandbox leaves out ${missing.join(", ")}`);
  }
  console.log(`${steps.length + refusals.length} steps on both nodes, ${differences} differences`);
} finally {
  for (const node of nodes) node.stop();
}
process.exitCode = differences ? 1 : 0;
