// Smart wallets as payers: how each is deployed, how it approves Permit2, and how it signs.
import { concat, encodeFunctionData, encodePacked, hashTypedData, maxUint256, pad, parseAbi, serializeErc6492Signature, toHex, zeroAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { PERMIT2 } from "../chain/nodes.mjs";
import { DOLLARS } from "../x402/buyer.mjs";
import { USDC, who } from "../x402/chains.mjs";
import { safeDeployment } from "./contracts.mjs";

const ETHER = 10n ** 18n;
export const newKey = () => privateKeyToAccount(generatePrivateKey());
const approval = encodeFunctionData({ abi: parseAbi(["function approve(address,uint256)"]), functionName: "approve", args: [PERMIT2, maxUint256] });

/** Owners in the order in which a Safe reads their signatures. */
const sorted = owners => [...owners].sort((one, other) => (BigInt(one.address) < BigInt(other.address) ? -1 : 1));
const signAll = async (owners, sign) => concat(await Promise.all(sorted(owners).map(sign)));

/** A Safe's signature of typed data: its owners sign the hash as a message of this Safe (ERC-1271). */
function safeSigner(chain, address, owners) {
  const signTypedData = data => {
    const types = { SafeMessage: [{ name: "message", type: "bytes" }] };
    const domain = { chainId: chain.id, verifyingContract: address };
    const message = { message: hashTypedData(data) };
    return signAll(owners, owner => owner.signTypedData({ domain, types, primaryType: "SafeMessage", message }));
  };
  return { address, signTypedData };
}

/** The Safe's own transaction that approves Permit2. */
async function approveBySafe(chain, contracts, address, owners) {
  const types = { SafeTx: ["address to", "uint256 value", "bytes data", "uint8 operation", "uint256 safeTxGas", "uint256 baseGas", "uint256 gasPrice", "address gasToken", "address refundReceiver", "uint256 nonce"].map(field => ({ type: field.split(" ")[0], name: field.split(" ")[1] })) };
  const message = { to: USDC[chain.id], value: 0n, data: approval, operation: 0, safeTxGas: 0n, baseGas: 0n, gasPrice: 0n, gasToken: zeroAddress, refundReceiver: zeroAddress, nonce: 0n };
  const domain = { chainId: chain.id, verifyingContract: address };
  const signatures = await signAll(owners, owner => owner.signTypedData({ domain, types, primaryType: "SafeTx", message }));
  const { nonce, ...fields } = message;
  await chain.write(who.minter, address, contracts.safe.abi, "execTransaction", [...Object.values(fields), signatures]);
}

/** The same as a user operation through the entry point: that is what makes the account one of ERC-4337. */
async function approveByUserOperation(chain, contracts, address, owners) {
  const { safe4337, entryPoint } = contracts;
  const limits = (high, low) => concat([pad(toHex(high), { size: 16 }), pad(toHex(low), { size: 16 })]);
  const callData = encodeFunctionData({ abi: safe4337.abi, functionName: "executeUserOp", args: [USDC[chain.id], 0n, approval, 0] });
  const period = encodePacked(["uint48", "uint48"], [0, 0]);
  const operation = { sender: address, nonce: 0n, initCode: "0x", callData, accountGasLimits: limits(500_000n, 500_000n), preVerificationGas: 100_000n, gasFees: limits(1n, 10_000_000_000n), paymasterAndData: "0x", signature: period };
  const hash = await chain.reader.readContract({ address: safe4337.address, abi: safe4337.abi, functionName: "getOperationHash", args: [operation] });
  operation.signature = concat([period, await signAll(owners, owner => owner.sign({ hash }))]);
  await chain.hand.setBalance({ address, value: ETHER });
  await chain.write(who.minter, entryPoint.address, entryPoint.abi, "handleOps", [[operation], who.minter.address]);
}

let salts = 0n;

/** A Safe with USDC; deployed, and with an allowance for Permit2, unless `deployed` is false. */
export async function createSafe(chain, contracts, { owners = [newKey()], kind = "safe", deployed = true } = {}) {
  salts += 1n;
  const deployment = safeDeployment(contracts, owners.map(({ address }) => address), BigInt(owners.length), kind, salts);
  const { result: address } = await chain.reader.simulateContract({ ...deployment, account: who.minter });
  await chain.fund(address, 10n * DOLLARS);
  const approve = kind === "erc4337" ? approveByUserOperation : approveBySafe;
  const signer = safeSigner(chain, address, owners);
  const deploy = async () => {
    await chain.write(who.minter, deployment.address, deployment.abi, deployment.functionName, deployment.args);
    await approve(chain, contracts, address, owners);
  };
  if (deployed) await deploy();
  /** As Base Account signs: with how the account is deployed (ERC-6492). */
  const wrapped = { address, signTypedData: async data => serializeErc6492Signature({ address: deployment.address, data: encodeFunctionData(deployment), signature: await signer.signTypedData(data) }) };
  return { ...signer, owners, wrapped, deploy };
}

/** The minimal ERC-4337 account of the reference implementation, which confirms no signatures. */
export async function createSimpleAccount(chain, { simpleAccountFactory: { address: factory, abi }, simpleAccountAbi }) {
  const owner = newKey();
  const call = { address: factory, abi, functionName: "createAccount", args: [owner.address, 0n] };
  // Only the entry point's helper may create accounts.
  const creator = await chain.reader.readContract({ address: factory, abi, functionName: "senderCreator" });
  await chain.as(creator, { to: factory, data: encodeFunctionData(call) });
  const address = await chain.reader.readContract({ address: factory, abi, functionName: "getAddress", args: [owner.address, 0n] });
  await chain.fund(address, 10n * DOLLARS);
  await chain.hand.setBalance({ address: owner.address, value: ETHER });
  await chain.write(owner, address, simpleAccountAbi, "execute", [USDC[chain.id], 0n, approval]);
  return { address, signTypedData: data => owner.signTypedData(data) };
}

/** An account with a key, USDC, gas and an allowance. */
export async function createKeyAccount(chain) {
  const account = newKey();
  await chain.fund(account.address, 10n * DOLLARS);
  await chain.hand.setBalance({ address: account.address, value: ETHER });
  await chain.allow(account);
  return account;
}

/** The account runs the code of this contract from now on (EIP-7702). */
export async function delegate(chain, account, contractAddress) {
  const authorization = await chain.wallet(account).signAuthorization({ contractAddress, executor: "self" });
  await chain.send(account, { authorizationList: [authorization], to: account.address });
}
