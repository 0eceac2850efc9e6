"""The table of bad inputs: for each a request, and the statuses that the contract allows for it."""

import base64
import json
import random

# One marked word for each field. None may appear in an answer, a log line, a file or a metric.
MARKED = {
    "front_image_url": "https://images.example.org/zyxpicture.jpg",
    "message": "Zyxmessage",
    "name": "Zyxname",
    "address": "Zyxstreet 4",
    "city": "Zyxcity",
    "province": "Zyxprovince",
    "postal_code": "SW1Y 4JH",
    "country": "GB",
}
MARKS = ["zyxpicture", "Zyxmessage", "Zyxname", "Zyxstreet", "Zyxcity", "Zyxprovince", "Zyxseller", "Zyxheader"]
POSTCARDS = ["/api/x402/postcards/preview", "/api/x402/postcards", "/api/mpp/postcards"]
PAID = POSTCARDS[1:]
JSON = {"Content-Type": "application/json", "Accept": "application/json"}
MCP = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

NOT_TEXT = [None, 7, 1.5, -1, True, [], ["Zyxname"], {}, {"Zyxname": 1}]
BAD_TEXT = ["", " ", "\t\n", "a\u0000b", "a\u0007b", "x" * 5_000, "\ud800"]
BAD_URLS = [
    "zyxpicture", "http://images.example.org/zyxpicture.jpg", "ftp://images.example.org/a.jpg", "file:///etc/passwd",
    "data:image/png;base64,AAAA", "javascript:alert(1)", "https://", "https:///a.jpg", "//images.example.org/a.jpg",
    "https://localhost/a.jpg", "https://localhost./a.jpg", "https://127.0.0.1/a.jpg", "https://127.1/a.jpg",
    "https://0/a.jpg", "https://0.0.0.0/a.jpg", "https://2130706433/a.jpg", "https://0x7f000001/a.jpg",
    "https://0177.0.0.1/a.jpg", "https://10.0.0.1/a.jpg", "https://172.16.0.1/a.jpg", "https://192.168.1.1/a.jpg",
    "https://169.254.169.254/latest/meta-data", "https://100.64.0.1/a.jpg", "https://[::1]/a.jpg", "https://[::]/a.jpg",
    "https://[fe80::1]/a.jpg", "https://[fc00::1]/a.jpg", "https://[::ffff:127.0.0.1]/a.jpg",
    "https://[64:ff9b::7f00:1]/a.jpg", "https://[2002:7f00:1::]/a.jpg", "https://224.0.0.1/a.jpg",
    "https://255.255.255.255/a.jpg", "https://user:Zyxname@images.example.org/a.jpg", "https://images.example.org:22/a.jpg",
    "https://images.example.org:0/a.jpg", "https://images.example.org:99999/a.jpg", "https://intranet/a.jpg",
    "https://a.internal/a.jpg", "https://a.local/a.jpg", "https://images.example.org/a.jpg\r\nHost: b",
    "https://images.example.org/" + "a" * 3_000, "https://exa mple.org/a.jpg", "https://%31%32%37.0.0.1/a.jpg",
    "https://①②⑦.⓪.⓪.①/a.jpg", "https://127。0。0。1/a.jpg", "https://[::1%25lo]/a.jpg", "https:\\\\images.example.org\\a.jpg",
]
BAD_COUNTRIES = ["G", "GBR", "gb ", "ZZ", "XX", "00", "G1", "ÄÖ", "UNITED KINGDOM", "G\u0000"]
BAD_JSON = [
    b"{", b"}", b"[", b"{]", b'{"message"', b'{"message":}', b'{"message":"Zyxmessage"', b'{"message":"Zyxmessage",}',
    b"{'message':'Zyxmessage'}", b"nul", b"NaN", b"Infinity", b'{"a":1}{"b":2}', b'{"message":"\x00"}', b'{"message":"\xff"}',
    b"\xff\xfe{\x00}\x00", b"<xml/>", b"message=Zyxmessage", b"[" * 10_000, b'{"a":' * 200 + b"1" + b"}" * 200,
    b'{"a":1e99999}x', b'{"a":01}', b'{"\\ud800":1', b"--boundary\r\nContent-Disposition: form-data\r\n",
]
NOT_OBJECTS = [b"null", b"true", b"7", b'"Zyxmessage"', b"[]", b'[{"message":"Zyxmessage"}]', b""]
BAD_IDS = [
    "0", "x", "-", "..", "%2e%2e", "%00", "0" * 31, "0" * 33, "G" * 32, "F" * 32, "ABCDEF0123456789" * 2, "%20" * 3, "'--",
    "1%20OR%201=1", "<script>", "0" * 5_000, "%c3%28", "%f0%9f%92%a3", "null", "undefined", "1e9", "0x" + "0" * 30,
    "0" * 32, "f" * 32, "0123456789abcdef" * 2, "0" * 32 + "%0a", "0" * 32 + "?x=%00", "%",
]
BAD_NAMES = [
    "%20", "..", "%2e%2e", "a.b.c.d", "-", "_", "%00", "x" * 300, "vitalik.eth", "@", "@@alice", "alice.eth.", ".eth", "%e2%80%8b",
    "al%e2%80%8bice", "%d0%b0lice", "ALICE%00", "<script>", "'--", "a%2fb", "%f0%9f%92%a3%00", "alice%0d%0aX:y", "xn--80ak6aa92e",
    "%c3%28", "alice@example.org", "alice.wrong.eth", "a" * 64, "%ef%bb%bf", "*", "?x", "%", "javascript:alert(1)",
]
GARBAGE = [
    "", " ", "x", "=", "====", "%%%", "e30", "e30=", "bnVsbA==", "W10=", "eyJ4NDAyVmVyc2lvbiI6MX0=", "A" * 20_000, "\u00e9",
    base64.b64encode(b"\xff\xfe").decode(), base64.b64encode(b"{").decode(), base64.b64encode(b"[" * 5_000).decode(),
    base64.b64encode(json.dumps({"x402Version": 2}).encode()).decode(),
    base64.b64encode(json.dumps({"x402Version": 2, "payload": {}, "accepted": {}}).encode()).decode(),
    base64.b64encode(json.dumps({"x402Version": "2", "payload": "Zyxheader"}).encode()).decode(),
    base64.b64encode(json.dumps({"x402Version": 2, "accepted": {"scheme": "exact"}, "payload": {"signature": "0x"}}).encode()).decode(),
]
BAD_MCP = [
    {}, [], 7, "Zyxmessage", None, {"jsonrpc": "1.0", "id": 1, "method": "ping"}, {"id": 1, "method": "ping"}, {"jsonrpc": "2.0"},
    {"jsonrpc": "2.0", "id": {}, "method": "ping"}, {"jsonrpc": "2.0", "id": 1, "method": 7}, {"jsonrpc": "2.0", "id": 1, "method": ""},
    {"jsonrpc": "2.0", "id": 1, "method": "Zyxname"}, {"jsonrpc": "2.0", "id": 1, "method": "tools/call"},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": 7}, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "rm"}},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_product", "arguments": {}}},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_product", "arguments": {"slug": "../../etc/passwd"}}},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read_public_page_markdown", "arguments": {"path": "/etc/passwd"}}},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read_public_page_markdown", "arguments": {"path": "http://127.0.0.1/"}}},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search_support_faq", "arguments": {"query": "x" * 20_000}}},
    {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "file:///etc/passwd"}},
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": []}, {"jsonrpc": "2.0", "id": 1, "result": {}},
    [{"jsonrpc": "2.0", "id": 1, "method": "ping"}], {"jsonrpc": "2.0", "id": 1, "method": "completion/complete", "params": {}},
]
METHODS = ["PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "FOO", "get"]


def card(**changes):
    """A card of marked words, with these fields changed."""
    fields = {**MARKED, **changes}
    recipient = {name: fields[name] for name in ("name", "address", "city", "province", "postal_code", "country")}
    return {"front_image_url": fields["front_image_url"], "message": fields["message"], "recipient": recipient}


def request(group, method, path, allowed, headers=None, body=None):
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
    return {"group": group, "method": method, "path": path, "allowed": allowed, "headers": headers or {}, "body": body}


def fields():
    for path in POSTCARDS:
        for field in MARKED:
            for value in NOT_TEXT + (BAD_URLS if field == "front_image_url" else BAD_TEXT):
                if field == "province" and value in ("", " ", "\t\n"):
                    continue
                # A lone surrogate is not valid JSON text.
                allowed = {400, 500} if value == "\ud800" else {400}
                yield request("fields", "POST", path, allowed, JSON, card(**{field: value}))
            without = card()
            (without if field in without else without["recipient"]).pop(field)
            yield request("fields", "POST", path, {400}, JSON, without)
        for country in BAD_COUNTRIES:
            yield request("fields", "POST", path, {400}, JSON, card(country=country))
        for name, values in (("seller", [7, [], "", "Zyxseller seller", "a/b"]), ("operation_id", [7, "", "short", "x" * 129, "é" * 20]), ("quote_id", [7, "", "Zyxheader"])):
            for value in values:
                yield request("fields", "POST", path, {400}, JSON, {**card(), name: value})


def bodies():
    for path in POSTCARDS:
        for body in BAD_JSON:
            yield request("malformed bodies", "POST", path, {400, 500}, JSON, body)
        for body in NOT_OBJECTS:
            yield request("malformed bodies", "POST", path, {400}, JSON, body)
        yield request("malformed bodies", "POST", path, {400, 413, 500}, JSON, b'{"message":"' + b"x" * 2_000_000 + b'"}')
    for body in BAD_JSON + NOT_OBJECTS:
        yield request("malformed bodies", "POST", "/mcp", {200, 400, 429, 500}, MCP, body)
        yield request("malformed bodies", "POST", "/agent/auth", {400, 429}, JSON, body)


def credentials():
    for path, names in ((PAID[0], ("PAYMENT-SIGNATURE", "X-Payment")), (PAID[1], ("Authorization", "Payment-Authorization", "Payment-Signature"))):
        for name in names:
            for value in GARBAGE:
                words = value.encode().decode("latin-1")
                if path == PAID[1]:
                    words = "Payment " + words
                yield request("credentials", "POST", path, {400, 402, 431}, {**JSON, name: words}, card())
        for name, value in (("Idempotency-Key", "short"), ("Idempotency-Key", "x" * 200), ("Quote-Id", "Zyxheader"), ("Idempotency-Key", "a b" * 10)):
            yield request("credentials", "POST", path, {400}, {**JSON, name: value}, card())


def paths(documented):
    for number in BAD_IDS:
        yield request("paths", "GET", f"/api/x402/orders/{number}", {200, 400, 404, 414}, JSON)
        yield request("paths", "GET", f"/orders/{number}", {200, 400, 404, 414}, JSON)
    for name in BAD_NAMES:
        yield request("paths", "GET", f"/api/x402/resolve/{name}", {400, 404, 414}, JSON)
    for sku in ("", "?sku=", "?sku=Zyxname", "?sku=../..", "?sku=%00", "?sku=a&sku=b", "?sku=" + "x" * 5_000, "?SKU=a"):
        yield request("paths", "GET", f"/shop/checkout{sku}", {400, 404, 414}, JSON)
    for path in ("/nothing", "/..%2f..%2fetc/passwd", "/%00", "/.env", "/.git/config", "/operator", "/metrics", "/api/", "//", "/api/x402/orders", "/" + "a" * 20_000):
        yield request("paths", "GET", path, {400, 404, 308, 301, 414, 431}, JSON)
    for method in METHODS:
        for path in documented:
            yield request("methods", method, path.replace("{publicOrderId}", "0" * 32).replace("{username}", "demo"), {400, 404, 405, 501}, JSON)


def messages():
    for message in BAD_MCP:
        yield request("MCP", "POST", "/mcp", {200, 202, 400, 429}, MCP, message)
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    for headers in ({"Content-Type": "text/plain", "Accept": MCP["Accept"]}, {"Accept": MCP["Accept"]}, {**MCP, "Accept": "text/html"},
                    {**MCP, "MCP-Protocol-Version": "1"}, {**MCP, "Origin": "https://evil.example"}, {**MCP, "Mcp-Session-Id": "x"}):
        yield request("MCP", "POST", "/mcp", {200, 400, 403, 404, 406, 415, 429}, headers, ping)
    for body in ({}, {"type": "anonymous"}, {"type": "Zyxname", "requested_credential_type": "access_token"}, {"type": 7},
                 {"type": "anonymous", "requested_credential_type": "api_key"}, {"type": "identity_assertion", "assertion": "Zyxname"}):
        yield request("agents", "POST", "/agent/auth", {400, 429}, JSON, body)


# Whole requests as bytes, which a strict parser rejects or answers, and then closes or keeps the connection.
RAW = [
    b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/9.9\r\nHost: a\r\n\r\n", b"GET\r\n\r\n", b"\x00\x01\x02\x03\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    b"GET / HTTP/1.1\nHost: a\n\n", b"GET / HTTP/1.1\r\nHost : a\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n{}{}", b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", b"POST /mcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 200_000 + b"\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\n" + b"A: b\r\n" * 2_000 + b"\r\n", b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
    b"CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nxxxx",
    b"GET http://evil.example/ HTTP/1.1\r\nHost: a\r\n\r\n", b"POST /mcp HTTP/1.1\r\nHost: a\r\nExpect: 200-maybe\r\nContent-Length: 2\r\n\r\n{}",
]


def table(documented, seed):
    """All requests, in an order that the seed determines."""
    every = [*fields(), *bodies(), *credentials(), *paths(documented), *messages()]
    random.Random(seed).shuffle(every)
    return every
