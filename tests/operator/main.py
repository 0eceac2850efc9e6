"""The week of an operator, and kill -9 during each command."""

import calendar
import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from decimal import Decimal

from sandbox import MARKED, SPEED, Sandbox, call, new_database, wait_for

DONE = []
# After its last attempt a card may not be submitted again for so long.
GRACE_SECONDS = 420


def shown(what, detail=""):
    DONE.append(what)
    print(f"  {what}{': ' if detail else ''}{detail}", flush=True)


def expect(result, code, *words):
    """Checks a command's exit code, and that it printed these words."""
    text = result.out + result.error
    assert result.code == code, (result.code, text)
    for word in words:
        assert word in text, (word, text)


def lost_order(sandbox, kind="reset_before"):
    """A paid order whose submission has an unknown outcome. An action is rejected if what was shown changes, so the
    payment is final by then."""
    sandbox.fault(kind="list_empty", operation="list")
    sandbox.fault(kind=kind, operation="send", times=1)
    order = sandbox.pay(expected=5)
    sandbox.wait_for_state(order, "unfulfilled_lost")
    wait_for("the payment is final", lambda: sandbox.show(order)["settlement"]["standing"] == "final")
    return order


def wait_for_grace(sandbox, order):
    """Until the provider certainly lists the last attempt: before, a resubmission could mail a second card."""
    text = sandbox.show(order)["card"]["attempted_at"]
    attempted = calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))
    wait_for("the grace period is over", lambda: sandbox.now() > attempted + GRACE_SECONDS + SPEED)


def card_of(sandbox, order):
    cards = call("GET", f"{sandbox.provider}/api/v2/orders/list?per_page=100",
                 headers={"Authorization": "Bearer sandbox-token-that-moves-no-money"})
    for card in cards["data"]:
        if order in json.dumps(card):
            return str(card["id"])
    return None


def unknown_outcome(sandbox):
    order = lost_order(sandbox)
    listed = sandbox.orders("list", "--attention", "--json").json()
    assert order in [one["id"] for one in listed["orders"]], listed
    expect(sandbox.orders("list", "--attention"), 0, order)
    expect(sandbox.orders("resubmit", order), 1, "--yes")
    sandbox.clear_faults()
    return order


def resubmission(sandbox, order):
    wait_for_grace(sandbox, order)
    expect(sandbox.orders("resubmit", order, "--yes"), 0)
    assert sandbox.state(order) == "mailed"
    assert sandbox.status(order)["status"] == "submitted"
    shown("unknown outcome, resubmitted", order)


def found_card(sandbox):
    order = lost_order(sandbox, "reset_after")
    sandbox.clear_faults()
    card = card_of(sandbox, order)
    expect(sandbox.orders("attach", order, "999999", "--yes"), 1, "provider")
    assert sandbox.state(order) == "unfulfilled_lost"
    expect(sandbox.orders("attach", order, card, "--yes"), 0)
    assert sandbox.state(order) == "mailed"
    shown("card found at the provider, attached", f"{order}, card {card}")


def undelivered(sandbox):
    """A card that will not arrive is refunded; nothing but the right transfer counts."""
    order, other = sandbox.pay(), sandbox.pay()
    for one in (order, other):
        card = wait_for("the card is listed", lambda: card_of(sandbox, one))
        call("POST", f"{sandbox.provider}/__sandbox/cards/{card}/fate", {"fate": "fails"})
    call("POST", f"{sandbox.provider}/__sandbox/clock", {"advance_seconds": 7200})
    for one in (order, other):
        sandbox.wait_for_state(one, "unfulfilled_undelivered", seconds=120)
        assert sandbox.status(one)["status"] == "refund_due", sandbox.status(one)
    payment = sandbox.status(order)["payment"]
    seller, charge = payment["pay_to"], int(payment["amount"])
    payer = sandbox.show(order)["payment"]["payer"]
    stranger = "0x" + "77" * 20
    call("POST", f"{sandbox.chain}/__sandbox/8453/accounts/{seller}", {"usdc": "1000000000"})
    before = sandbox.show(order)
    refund = lambda one, hash_: sandbox.orders("refund", one, "--transaction", hash_, "--yes")
    expect(refund(order, "0x12"), 2)
    expect(refund(order, "0x" + "12" * 32), 1, "does not know")
    expect(refund(order, payment["transaction"]), 1, "from the order's seller")
    expect(refund(order, sandbox.transfer(seller, payer, charge - 1)), 1, "less than")
    expect(refund(order, sandbox.transfer(seller, stranger, charge)), 1, "to its payer")
    expect(refund(order, sandbox.transfer(stranger_with_money(sandbox), payer, charge)), 1, "seller")
    assert sandbox.show(order) == before, "a rejected refund changes nothing"
    right = sandbox.transfer(seller, payer, charge)
    stale = {"version": before["version"] - 1, "operator": "ada", "transaction": right}
    status, answer = sandbox.socket_call("POST", f"/v1/orders/{order}/refund", stale)
    assert (status, answer["error"]["code"]) == (409, "order_changed"), (status, answer)
    assert sandbox.show(order) == before
    expect(refund(order, right), 0)
    told = sandbox.status(order)
    assert (told["status"], told["refund"]["transaction"]) == ("refunded", right), told
    expect(refund(other, right), 1, "another order")
    assert sandbox.state(other) == "unfulfilled_undelivered"
    shown("undelivered, refunded; six wrong refunds rejected", order)
    return other, right


def stranger_with_money(sandbox):
    account = "0x" + "88" * 20
    call("POST", f"{sandbox.chain}/__sandbox/8453/accounts/{account}", {"usdc": "1000000000"})
    return account


def alert(sandbox, order):
    listed = lambda: [one["id"] for one in sandbox.orders("list", "--attention", "--json").json()["orders"]]
    assert order in listed()
    expect(sandbox.orders("acknowledge", order, "--note", "the payer is told", "--yes"), 0)
    assert order not in listed()
    events = sandbox.show(order)["events"]
    assert events[-1]["actor"] == "operator:ada" and "the payer is told" in events[-1]["note"], events[-1]
    shown("alert acknowledged", order)


def erase(sandbox):
    order = lost_order(sandbox)
    revealed = sandbox.orders("show", order, "--reveal", "--yes")
    expect(revealed, 0, MARKED[0])
    # The one place where a card may be seen.
    sandbox.printed.remove(revealed.out + revealed.error)
    assert "reveal" in sandbox.show(order)["events"][-1]["note"]
    expect(sandbox.orders("erase", order, "--yes"), 0)
    assert sandbox.status(order)["status"] == "refund_due"
    expect(sandbox.orders("show", order, "--reveal", "--yes"), 1)
    expect(sandbox.orders("resubmit", order, "--yes"), 1)
    sandbox.clear_faults()
    shown("card shown, erased, refund due", order)


def two_at_once(sandbox):
    order = lost_order(sandbox)
    version = sandbox.show(order)["version"]
    answers = []

    def act(name):
        body = {"version": version, "operator": name, "note": "mine"}
        answers.append(sandbox.socket_call("POST", f"/v1/orders/{order}/acknowledge", body))

    threads = [threading.Thread(target=act, args=(name,)) for name in ("ada", "grace")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(status for status, _ in answers) == [200, 409], answers
    sandbox.clear_faults()
    expect(sandbox.orders("erase", order, "--yes"), 0)
    shown("two operators at once: one succeeds, the other is told", order)


def books(sandbox, begun):
    period = ["--from", begun, "--to", "2100-01-01T00:00:00Z"]
    expect(sandbox.run("audit", *period), 0)
    evidence = sandbox.orders("list", "--json").json()["orders"]
    first = evidence[0]["id"]
    document = sandbox.orders("evidence", first)
    expect(document, 0)
    assert document.json()["order"]["id"] == first
    rows = list(csv.DictReader(io.StringIO(sandbox.run("report", *period, "--format", "csv").out)))
    seller = sandbox.status(first)["payment"]["pay_to"]
    chain = {one["transaction"]: int(one["amount"]) for one in sandbox.received(seller)}
    paid = {row["transaction"]: int(Decimal(row["charge"]) * 1_000_000) for row in rows}
    assert paid == chain, (paid, chain)
    assert all(row["country"] == "GB" for row in rows)
    as_json = json.loads(sandbox.run("report", *period, "--format", "json").out)
    assert len(as_json if isinstance(as_json, list) else as_json["orders"]) == len(rows)
    shown("the report matches the chain", f"{len(rows)} orders, {sum(paid.values())} units")
    planted = sandbox.transfer(stranger_with_money(sandbox), seller, 1)
    card = call("POST", f"{sandbox.provider}/api/v2/send/postcard", {
        "front_image_url": "https://images.example.org/sea.jpg", "message": "planted",
        "recipients": [{"name": "P", "address": "1 Road", "city": "X", "province": "NY",
                        "postal_code": "10001", "country": "US"}],
    }, {"Authorization": "Bearer sandbox-token-that-moves-no-money"})
    number = str(card.get("id") or card["data"]["id"])
    found = sandbox.run("audit", *period)
    expect(found, 1, planted, number)
    differences = sandbox.run("audit", *period, "--json").json()["differences"]
    assert sorted(one["code"] for one in differences) == ["unknown_card", "unknown_transfer"], differences
    shown("the audit finds a planted transfer and a planted card")


def backup(sandbox):
    copy = sandbox.folder / "copy.sqlite3"
    expect(sandbox.run("backup", str(copy)), 0)
    assert oct(copy.stat().st_mode & 0o777) == "0o600"
    expect(sandbox.run("backup", str(copy)), 1, "exists")
    stored = copy.read_bytes()
    for word in MARKED:
        assert word.encode() not in stored, word
    shown("backup", f"{copy.stat().st_size} bytes")


def no_personal_data(sandbox):
    events = sandbox.orders("events")
    expect(events, 0)
    sandbox.printed.append(sandbox.listener("/metrics"))
    log = (sandbox.folder / "log").read_text(errors="replace")
    for text in [*sandbox.printed, log]:
        for word in MARKED:
            assert word not in text, (word, text[:2000])
    shown("marked words in no output", f"{len(sandbox.printed)} outputs and the log")


def restore(sandbox):
    """A backup under load, restored elsewhere: every order acknowledged before it is there."""
    acknowledged, ended = [], threading.Event()

    def pay():
        while not ended.is_set():
            acknowledged.append(sandbox.pay())

    payers = [threading.Thread(target=pay) for _ in range(3)]
    begun = time.monotonic()
    for payer in payers:
        payer.start()
    wait_for("30 paid orders", lambda: len(acknowledged) >= 30, seconds=120)
    before = list(acknowledged)
    copy = sandbox.folder / "under-load.sqlite3"
    expect(sandbox.run("backup", str(copy)), 0)
    ended.set()
    for payer in payers:
        payer.join()
    rate = len(acknowledged) / (time.monotonic() - begun)
    elsewhere = sandbox.folder / "elsewhere"
    shutil.copytree(sandbox.folder / "data", elsewhere, ignore=shutil.ignore_patterns("*.sqlite3*", "operator.*"))
    copy.rename(elsewhere / "pennyblack.sqlite3")
    sandbox.kill()
    sandbox.environment["PENNYBLACK_DATA"] = str(elsewhere)
    sandbox.start()
    states = [sandbox.state(order) for order in before]
    assert set(states) <= {"mailed"}, states
    shown("backup under load, restored elsewhere", f"{len(before)} orders, {rate:.1f} paid a second")


def week(sandbox, store="sqlite"):
    begun = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 60))
    in_doubt = unknown_outcome(sandbox)
    found_card(sandbox)
    due, _ = undelivered(sandbox)
    alert(sandbox, due)
    erase(sandbox)
    two_at_once(sandbox)
    sandbox.pay(rail="mpp")
    resubmission(sandbox, in_doubt)
    books(sandbox, begun)
    if store == "sqlite":
        backup(sandbox)
    no_personal_data(sandbox)


def arguments_of(sandbox, name, order):
    """What a command needs beside the order."""
    if name == "acknowledge":
        return ["--note", "seen"]
    if name == "attach":
        return [wait_for("the card is listed", lambda: card_of(sandbox, order))]
    if name == "refund":
        payment = sandbox.status(order)["payment"]
        seller, payer = payment["pay_to"], sandbox.show(order)["payment"]["payer"]
        call("POST", f"{sandbox.chain}/__sandbox/8453/accounts/{seller}", {"usdc": "1000000000"})
        return ["--transaction", sandbox.transfer(seller, payer, int(payment["amount"]))]
    return []


def killed_during(sandbox, name, order, delay):
    more = arguments_of(sandbox, name, order)
    command = subprocess.Popen(
        [sandbox.binary, "orders", name, order, *more, "--yes"],
        cwd=sandbox.folder, env=sandbox.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(delay)
    sandbox.kill()
    command.wait(timeout=30)
    sandbox.start()
    return sandbox.state(order)


def kills(sandbox, instants=(0.02, 0.06, 0.1, 0.3)):
    """The service dies at different instants during each command; the order stays usable."""
    ends = {
        "resubmit": {"unfulfilled_lost", "submitting", "mailed"},
        "attach": {"unfulfilled_lost", "mailed"},
        "refund": {"unfulfilled_lost", "refunded"},
        "acknowledge": {"unfulfilled_lost"},
        "erase": {"unfulfilled_lost", "unfulfilled_erased"},
    }
    for name, states in ends.items():
        found = set()
        for delay in instants:
            order = lost_order(sandbox, "reset_after" if name == "attach" else "reset_before")
            sandbox.clear_faults()
            if name == "resubmit":
                wait_for_grace(sandbox, order)
                # The provider accepts the card and does not answer: the service dies meanwhile.
                sandbox.fault(kind="timeout_after", operation="send", times=1)
            state = killed_during(sandbox, name, order, delay)
            assert state in states, (name, delay, state)
            found.add(state)
            sandbox.clear_faults()
            if name == "resubmit" and state != "unfulfilled_lost":
                sandbox.wait_for_state(order, "mailed")
            report = call("GET", f"{sandbox.provider}/__sandbox/report")
            assert not report["duplicates"] and not report["double_mailings"], report
        shown(f"kill -9 during {name}, {len(instants)} instants", ", ".join(sorted(found)))


def main():
    binary, provider, part = sys.argv[1:4]
    if part in ("all", "short", "postgres"):
        print("on PostgreSQL", flush=True)
        with new_database() as database:
            with_sandbox(binary, provider, lambda sandbox: week(sandbox, "postgres"), database)
    if part != "postgres":
        print("on SQLite", flush=True)
        with_sandbox(binary, provider, lambda sandbox: play(sandbox, part))
    print(f"{len(DONE)} parts passed")


def play(sandbox, part):
    if part in ("all", "short", "week"):
        week(sandbox)
    if part == "short":
        kills(sandbox, (0.1,))
    if part in ("all", "kills"):
        kills(sandbox)
    if part in ("all", "short", "restore"):
        restore(sandbox)


def with_sandbox(binary, provider, use, database=None):
    folder = tempfile.mkdtemp(prefix="pennyblack-operator-")
    sandbox = Sandbox(folder, binary, provider, database)
    try:
        use(sandbox)
    finally:
        sandbox.close()
        if not os.environ.get("KEEP"):
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
