// Resolves names on a real node, case by case.
import assert from "node:assert/strict";
import {
  concatHex, decodeFunctionData, encodeAbiParameters, encodeFunctionResult, keccak256, namehash, parseAbi, toHex, zeroAddress,
} from "viem";
import { generatePrivateKey, privateKeyToAccount, sign } from "viem/accounts";
import { compile, main, serve, startNode, startService } from "./lib.mjs";

const [, , binary] = process.argv;
const PARENT = "cards.example.eth";
const COINS = { base: 2147492101n, polygon: 2147483785n, arbitrum: 2147525809n, default: 2147483648n, mainnet: 60n };
const account = digit => `0x${digit.repeat(40)}`;
const lower = text => text.toLowerCase();

main(async () => {
  const { node, url } = await startNode();
  const contracts = compile();
  const deploy = async (name, args = []) => {
    const { abi, evm } = contracts[name];
    const hash = await node.deployContract({ abi, bytecode: `0x${evm.bytecode.object}`, args });
    const { contractAddress: address } = await node.waitForTransactionReceipt({ hash });
    return { abi, address };
  };
  const write = async (contract, functionName, args) => {
    const hash = await node.writeContract({ ...contract, functionName, args });
    await node.waitForTransactionReceipt({ hash });
  };
  const step = async (words, test) => {
    // Mined blocks make what was written safe.
    await node.mine({ blocks: 70 });
    await test();
    console.log(`ok  ${words}`);
  };

  const universal = await deploy("UniversalResolver");
  const records = await deploy("RecordResolver");
  const set = async (name, coin, value) => {
    await write(universal, "setResolver", [namehash(name), records.address]);
    await write(records, "setAddr", [namehash(name), COINS[coin], value]);
  };
  const alice = `alice.${PARENT}`;
  const names = { kind: "ens", rpc: [url], universal_resolver: universal.address };

  await set(alice, "base", account("a"));
  await set(alice, "default", account("b"));
  await set(`mainnet.${PARENT}`, "mainnet", account("c"));
  await set(`zero.${PARENT}`, "base", zeroAddress);
  await write(universal, "setResolver", [namehash(`empty.${PARENT}`), records.address]);

  let service = await startService(binary, PARENT, names);
  await step("a plain name, in all its spellings, per network and by default", async () => {
    for (const spelling of ["alice", "@alice", "ALICE", alice]) {
      const { status, body } = await service.resolve(spelling);
      assert.equal(status, 200, JSON.stringify(body));
      assert.equal(body.ens_name, alice);
      assert.equal(body.node, namehash(alice));
      const found = body.networks.map(({ network, address, source }) => [network, lower(address), source]);
      assert.deepEqual(found, [
        ["eip155:8453", account("a"), "chain"],
        ["eip155:137", account("b"), "default"],
        ["eip155:42161", account("b"), "default"],
      ]);
      assert.equal(body.evidence.wildcard, false);
      assert.equal(lower(body.evidence.resolver), lower(records.address));
      const block = await node.getBlock({ blockNumber: BigInt(body.evidence.block_number) });
      assert.equal(body.evidence.block_hash, block.hash);
      const head = await node.getBlockNumber();
      assert.ok(BigInt(body.evidence.block_number) < head, "a safe block is behind the newest");
    }
  });
  await step("viem reads the same", async () => {
    for (const coin of ["base", "default"]) {
      const universalResolverAddress = universal.address;
      const theirs = await node.getEnsAddress({ name: alice, coinType: COINS[coin], universalResolverAddress });
      const { body } = await service.resolve("alice");
      assert.equal(lower(body.networks[coin === "base" ? 0 : 1].address), lower(theirs));
    }
  });
  await step("unset, zero, mainnet only and unknown names are 404", async () => {
    for (const name of ["empty", "zero", "mainnet", "nobody"]) {
      const { status, body } = await service.resolve(name);
      assert.equal(status, 404, `${name}: ${JSON.stringify(body)}`);
      assert.equal(body.error.code, "seller_not_resolved");
    }
  });
  await step("names that only look right are 400", async () => {
    for (const name of ["аlice", "al\u200dice", "ａlice", "alice.other.eth", "a b", "@@alice", "xn--ls8h"]) {
      const { status, body } = await service.resolve(name);
      assert.equal(status, 400, `${name}: ${JSON.stringify(body)}`);
    }
  });
  await step("a change is seen by the next reading, and the last one is kept for a minute", async () => {
    await set(alice, "base", account("d"));
    await node.mine({ blocks: 70 });
    const kept = await service.resolve("alice");
    assert.deepEqual([lower(kept.body.address), kept.body.cached], [account("a"), true]);
    await service.stop();
    service = await startService(binary, PARENT, names);
    const fresh = await service.resolve("alice");
    assert.deepEqual([lower(fresh.body.address), fresh.body.cached], [account("d"), false]);
  });

  const key = generatePrivateKey();
  const seen = [];
  const gateway = async (signingKey, value) => {
    const place = await serve(async (request, text) => {
      seen.push(place);
      const { sender, data } = text ? JSON.parse(text) : fromPath(request.url);
      return [200, JSON.stringify({ data: await signed(signingKey, sender, data, value) })];
    });
    return place;
  };
  const wild = async (label, urls) => {
    const resolver = await deploy("GatewayResolver", [urls, privateKeyToAccount(key).address]);
    await write(universal, "setResolver", [namehash(`${label}.${PARENT}`), zeroAddress]);
    await write(universal, "setResolver", [namehash(PARENT), resolver.address]);
    return resolver;
  };

  await step("a wildcard name over a signing gateway, asked in both ways, as viem reads it", async () => {
    const honest = await gateway(key, account("e"));
    for (const template of [`${honest}/{sender}/{data}`, honest]) {
      const resolver = await wild("any", [template]);
      await node.mine({ blocks: 70 });
      await service.stop();
      service = await startService(binary, PARENT, { ...names, gateways: [honest] });
      const { status, body } = await service.resolve("anybody");
      assert.equal(status, 200, JSON.stringify(body));
      assert.equal(lower(body.address), account("e"));
      assert.equal(lower(body.evidence.resolver), lower(resolver.address));
      assert.equal(body.evidence.wildcard, true);
      assert.deepEqual(body.evidence.ccip_read, { used: true, gateway: "127.0.0.1", trust: "signature" });
      const universalResolverAddress = universal.address;
      const name = `anybody.${PARENT}`;
      const theirs = await node.getEnsAddress({ name, coinType: COINS.base, universalResolverAddress });
      assert.equal(lower(theirs), account("e"));
    }
  });
  await step("an answer signed with another key is rejected", async () => {
    const forger = await gateway(generatePrivateKey(), account("f"));
    await wild("any", [forger]);
    await node.mine({ blocks: 70 });
    await service.stop();
    service = await startService(binary, PARENT, { ...names, gateways: [forger] });
    const { status } = await service.resolve("anybody");
    // Not a 404: the name may have an address that the gateway hides.
    assert.equal(status, 500);
    assert.ok(seen.includes(forger));
  });
  await step("a resolver that points into our own network makes no call", async () => {
    const inside = await gateway(key, account("f"));
    const port = new URL(inside).port;
    const places = [
      inside, `http://localhost:${port}/{data}`, `https://127.0.0.1:${port}/{data}`, "https://10.0.0.1/{data}",
      "http://169.254.169.254/latest/{data}", "https://[::1]/{data}", "file:///etc/passwd",
    ];
    for (const place of places) {
      await wild("any", [place]);
      await node.mine({ blocks: 70 });
      await service.stop();
      service = await startService(binary, PARENT, names);
      const { status, body } = await service.resolve("anybody");
      assert.equal(status, 500, `${place}: ${JSON.stringify(body)}`);
    }
    assert.ok(!seen.includes(inside));
  });
  await step("two nodes that agree are counted, and two that differ are 500", async () => {
    const second = change =>
      serve(async (_, text) => {
        const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: text });
        return [200, change(await answer.text())];
      });
    const honest = await second(text => text);
    const liar = await second(text => text.replaceAll(account("d").slice(2), account("9").slice(2)));
    for (const [other, expected] of [[honest, 200], [liar, 500]]) {
      await service.stop();
      service = await startService(binary, PARENT, { ...names, rpc: [url, other] });
      const { status, body } = await service.resolve("alice");
      assert.equal(status, expected, JSON.stringify(body));
      if (expected === 200) assert.equal(body.evidence.sources_agreeing, 2);
    }
  });
});

function fromPath(path) {
  const [, sender, data] = path.split("/");
  return { sender, data };
}

const EXTENDED = parseAbi(["function resolve(bytes name, bytes data) view returns (bytes)"]);
const RESOLVER = parseAbi(["function addr(bytes32 node, uint256 coinType) view returns (bytes)"]);

/** The answer of a gateway that gives this account for every coin. */
async function signed(key, sender, data, value) {
  const [, inner] = decodeFunctionData({ abi: EXTENDED, data }).args;
  decodeFunctionData({ abi: RESOLVER, data: inner });
  const result = encodeFunctionResult({ abi: RESOLVER, functionName: "addr", result: value });
  // The blocks of this node are ahead of the clock.
  const expires = BigInt(Math.floor(Date.now() / 1000) + 86_400);
  const digest = keccak256(concatHex(["0x1900", sender, toHex(expires, { size: 8 }), keccak256(data), keccak256(result)]));
  const { r, s, v } = await sign({ hash: digest, privateKey: key });
  const types = ["bytes", "uint64", "bytes32", "bytes32", "uint8"].map(type => ({ type }));
  return encodeAbiParameters(types, [result, expires, r, s, Number(v)]);
}
