// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

// The part of ENS that a lookup meets, small enough to be read: a registry with a Universal
// Resolver over it, a resolver with records, and a wildcard resolver behind a gateway.

error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);

struct Request {
    address sender;
    string[] urls;
    bytes data;
}

interface BatchGateway {
    function query(Request[] memory requests) external view returns (bool[] memory failures, bytes[] memory responses);
}

interface ExtendedResolver {
    function supportsInterface(bytes4 id) external view returns (bool);
    function resolve(bytes memory name, bytes memory data) external view returns (bytes memory);
}

contract UniversalResolver {
    error ResolverNotFound(bytes name);
    error ResolverNotContract(bytes name, address resolver);
    error UnsupportedResolverProfile(bytes4 selector);
    error ResolverError(bytes errorData);
    error HttpError(uint16 status, string message);

    mapping(bytes32 node => address) public resolvers;

    struct Visit {
        address resolver;
        bool extended;
        bytes4 profile;
        string[] gateways;
    }

    function setResolver(bytes32 node, address resolver) external {
        resolvers[node] = resolver;
    }

    /// The resolver of the name, or of the nearest name above it.
    function findResolver(bytes memory name) public view returns (address resolver, bytes32 node, uint256 offset) {
        node = nodeOf(name, 0);
        while (true) {
            resolver = resolvers[nodeOf(name, offset)];
            uint256 length = uint8(name[offset]);
            if (resolver != address(0) || length == 0) break;
            offset += length + 1;
        }
    }

    function resolve(bytes calldata name, bytes calldata data) external view returns (bytes memory, address) {
        string[] memory gateways = new string[](1);
        gateways[0] = "https://bundles.invalid/";
        return resolveWithGateways(name, data, gateways);
    }

    function resolveWithGateways(bytes memory name, bytes memory data, string[] memory gateways)
        public
        view
        returns (bytes memory, address)
    {
        (address resolver,, uint256 offset) = findResolver(name);
        if (resolver == address(0)) revert ResolverNotFound(name);
        if (resolver.code.length == 0) revert ResolverNotContract(name, resolver);
        bool extended = ExtendedResolver(resolver).supportsInterface(ExtendedResolver.resolve.selector);
        if (offset > 0 && !extended) revert ResolverNotFound(name);
        bytes memory question = extended ? abi.encodeCall(ExtendedResolver.resolve, (name, data)) : data;
        (bool good, bytes memory said) = resolver.staticcall(question);
        return (conclude(Visit(resolver, extended, bytes4(data), gateways), good, said), resolver);
    }

    /// What a gateway said, judged by the resolver that sent us there.
    function resolveCallback(bytes calldata response, bytes calldata extraData)
        external
        view
        returns (bytes memory, address)
    {
        (Visit memory visit, bytes4 callback, bytes memory extra) = abi.decode(extraData, (Visit, bytes4, bytes));
        (bool[] memory failures, bytes[] memory responses) = abi.decode(response, (bool[], bytes[]));
        if (failures[0]) revert HttpError(502, "gateway");
        (bool good, bytes memory said) =
            visit.resolver.staticcall(abi.encodeWithSelector(callback, responses[0], extra));
        return (conclude(visit, good, said), visit.resolver);
    }

    function conclude(Visit memory visit, bool good, bytes memory said) internal view returns (bytes memory) {
        if (good && said.length == 0) revert UnsupportedResolverProfile(visit.profile);
        if (good) return visit.extended ? abi.decode(said, (bytes)) : said;
        if (bytes4(said) != OffchainLookup.selector) revert ResolverError(said);
        (address sender, string[] memory urls, bytes memory data, bytes4 callback, bytes memory extra) =
            abi.decode(withoutSelector(said), (address, string[], bytes, bytes4, bytes));
        if (sender != visit.resolver) revert ResolverError(said);
        Request[] memory requests = new Request[](1);
        requests[0] = Request(sender, urls, data);
        revert OffchainLookup(
            address(this),
            visit.gateways,
            abi.encodeCall(BatchGateway.query, (requests)),
            this.resolveCallback.selector,
            abi.encode(visit, callback, extra)
        );
    }

    function nodeOf(bytes memory name, uint256 offset) internal pure returns (bytes32) {
        uint256 length = uint8(name[offset]);
        if (length == 0) return 0;
        bytes memory label = new bytes(length);
        for (uint256 place = 0; place < length; place++) {
            label[place] = name[offset + 1 + place];
        }
        return keccak256(abi.encodePacked(nodeOf(name, offset + 1 + length), keccak256(label)));
    }

    function withoutSelector(bytes memory said) internal pure returns (bytes memory rest) {
        rest = new bytes(said.length - 4);
        for (uint256 place = 0; place < rest.length; place++) {
            rest[place] = said[place + 4];
        }
    }
}

contract RecordResolver {
    mapping(bytes32 node => mapping(uint256 coinType => bytes)) records;

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == 0xf1cb7e06;
    }

    function setAddr(bytes32 node, uint256 coinType, bytes calldata account) external {
        records[node][coinType] = account;
    }

    function addr(bytes32 node, uint256 coinType) external view returns (bytes memory) {
        return records[node][coinType];
    }
}

contract GatewayResolver {
    string[] urls;
    address immutable signer;

    constructor(string[] memory urls_, address signer_) {
        urls = urls_;
        signer = signer_;
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == ExtendedResolver.resolve.selector;
    }

    function resolve(bytes calldata name, bytes calldata data) external view returns (bytes memory) {
        bytes memory question = abi.encodeCall(ExtendedResolver.resolve, (name, data));
        revert OffchainLookup(address(this), urls, question, this.check.selector, question);
    }

    function check(bytes calldata response, bytes calldata question) external view returns (bytes memory) {
        (bytes memory result, uint64 expires, bytes32 r, bytes32 s, uint8 v) =
            abi.decode(response, (bytes, uint64, bytes32, bytes32, uint8));
        require(expires >= block.timestamp, "too old");
        bytes32 digest =
            keccak256(abi.encodePacked(hex"1900", address(this), expires, keccak256(question), keccak256(result)));
        require(ecrecover(digest, v, r, s) == signer, "not signed by the gateway");
        return result;
    }
}
