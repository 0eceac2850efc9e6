//! Which outcomes are possible in which states, as data.

/// The states in which a call can meet an order, with the heading of their column. The fault walk
/// and the simulation do not reach `unfulfilled_erased` and `refunded`: only an operator's action
/// leads there, and its tests are in `operator/tests`.
pub(super) const STATES: [(&str, &str); 9] = [
    ("offered", "offered"),
    ("settling", "settling"),
    ("unconfirmed", "unconf."),
    ("submitting", "submit."),
    ("unfulfilled_refused", "refused"),
    ("unfulfilled_lost", "lost"),
    ("unfulfilled_undelivered", "undeliv."),
    ("mailed", "mailed"),
    ("lapsed", "lapsed"),
];

/// One outcome of one call, and the states in which it can occur.
#[derive(Debug)]
pub(super) struct PossibleRow {
    pub(super) call: &'static str,
    pub(super) outcome: &'static str,
    /// One mark for each of [`STATES`]: `+` in the fault walk and in the simulation, `s` in the
    /// simulation only, `r` in the simulation if processes race, which is too rare to be demanded,
    /// and `.` never.
    pub(super) states: &'static str,
    /// Why the states with a dot are impossible.
    pub(super) impossible: &'static str,
}

const fn row(
    call: &'static str,
    outcome: &'static str,
    states: &'static str,
    impossible: &'static str,
) -> PossibleRow {
    PossibleRow { call, outcome, states, impossible }
}

const NONE: &str = "";
const SUBMITTED_SOON: &str = "a card is submitted within a minute of the write of `submitting`, and until then \
                              another process can only write `unfulfilled_lost`";
const UNPAID: &str = "an order is unpaid again only when its payment can never move";

// A table, which rustfmt would spread over many pages.
#[rustfmt::skip]
pub(super) const POSSIBLE: &[PossibleRow] = &[
    row("resolve",   "answered",                 "+ + + + + + s + s", NONE),
    row("resolve",   "lost before",              "+ + + + + + s + s", NONE),
    row("newest",    "answered",                 "+ + + + + + s + s", NONE),
    row("newest",    "lost before",              "+ + + + + + s + s", NONE),
    row("find",      "answered",                 "+ + + + + + s + s", NONE),
    row("find",      "lost before",              "+ + + + + + s + r", NONE),
    row("bound",     "answered",                 "+ + + + + + s + s", NONE),
    row("bound",     "lost before",              "+ + + + + + s + s", NONE),
    row("offer",     "answered",                 "s r r r r s r s r", NONE),
    row("offer",     "lost before",              "s r r r r r r r r", NONE),
    row("quote",     "answered",                 "+ s r s r r r s s", NONE),
    row("quote",     "lost before",              "+ s r r r r r s r", NONE),
    row("prepare",   "ready",                    "+ + + s r s r s s", NONE),
    row("prepare",   "rejected",                 "s s s s r s r s r", NONE),
    row("prepare",   "lost before",              "+ + + s r r r s r", NONE),
    row("record",    "written",                  "+ + + + + + s + .", "a lapsed order is followed by one with another id"),
    row("record",    "moved",                    "s s s s s s s s s", NONE),
    row("record",    "payment bound",            "s . . . . . . . .", "only the first write of a payment binds it"),
    row("record",    "lost before",              "+ + + + + + s + r", NONE),
    row("record",    "lost after",               "+ + + + + + s + r", NONE),
    row("record",    "crash before",             "+ + + + + + s + r", NONE),
    row("record",    "crash after",              "+ + + + + + s + r", NONE),
    row("claim",     "claimed",                  ". + + + + + s + .", "an unpaid order is never due"),
    row("claim",     "lost before",              ". + + + + + s + .", "an unpaid order is never due"),
    row("settle",    "settled",                  ". + + s s s s s .", UNPAID),
    row("settle",    "reverted",                 "s s s s s s s s r", NONE),
    row("settle",    "refused",                  "r + + s r s r s r", NONE),
    row("settle",    "lost before",              "r + + s s s r s r", NONE),
    row("settle",    "lost after",               "r + + s s s r s r", NONE),
    row("settle",    "late",                     "r + + s r s r s r", NONE),
    row("settle",    "crash after",              "r + + s r s r s r", NONE),
    row("trace",     "provisional",              ". + + + + + s s .", UNPAID),
    row("trace",     "final",                    ". + + + + + s + .", UNPAID),
    row("trace",     "open",                     "r + + s s s s s r", NONE),
    row("trace",     "void",                     "s + + s s s r s r", NONE),
    row("trace",     "lost before",              "s + + + + + r + r", NONE),
    row("submit",    "accepted",                 ". . . + . s . . .", SUBMITTED_SOON),
    row("submit",    "refused",                  ". . . + . r . . .", SUBMITTED_SOON),
    row("submit",    "lost before",              ". . . + . r . . .", SUBMITTED_SOON),
    row("submit",    "lost after",               ". . . + . r . . .", SUBMITTED_SOON),
    row("submit",    "late",                     ". . . + . r . . .", SUBMITTED_SOON),
    row("submit",    "crash after",              ". . . + . r . . .", SUBMITTED_SOON),
    row("find card", "none",                     "s r r + + + s s r", NONE),
    row("find card", "not listed yet",           "r r r + r + r + r", NONE),
    row("find card", "one",                      "r r r + r + r + r", NONE),
    row("find card", "several",                  "r r r r r r r r r", NONE),
    row("find card", "lost before",              "r r r + + + s + r", NONE),
    row("track",     "accepted",                 "r r r r r r r + r", NONE),
    row("track",     "mailed",                   "r r r r r r r s r", NONE),
    row("track",     "delivered",                "r r r r r r r s r", NONE),
    row("track",     "failed",                   "s r r r r r s s r", NONE),
    row("track",     "lost before",              "r r r r r r s + r", NONE),
    row("cancel",    "cancelled",                "s r r r r r r s r", NONE),
    row("cancel",    "too late",                 "r r r r r r r s r", NONE),
    row("cancel",    "lost before",              "r r r r r r r s r", NONE),
    row("process",   "is killed",                "s s s s s s s s s", NONE),
    row("process",   "is taken for dead",        "s s s s s s s s s", NONE),
    row("clock",     "is right",                 "s s s s s s s s s", NONE),
    row("clock",     "is 40 s ahead",            "s s s s s s s s s", NONE),
    row("clock",     "is 40 s behind",           "s s s s s s s s s", NONE),
    row("clock",     "is 1 h ahead",             "s s s s s s s s s", NONE),
    row("clock",     "is 1 h behind",            "s s s s s s s s s", NONE),
    row("clock",     "is 1 day ahead",           "s s s s s s s s s", NONE),
    row("clock",     "is 1 day behind",          "s s s s s s s s s", NONE),
    row("clock",     "is 10 years ahead",        "s s s s s s s s s", NONE),
    row("clock",     "is 10 years behind",       "s s s s s s s s s", NONE),
    row("clock",     "goes back during a claim", ". s s s s s s s .", "an unpaid order is never claimed"),
    row("chain",     "takes back",               ". s s s s s s s .", "no payment of an unpaid order has moved"),
    row("chain",     "takes back for good",      ". s s s s s s s .", "no payment of an unpaid order has moved"),
    row("provider",  "fails a card",             "r r r s r s r s r", NONE),
    row("price",     "changes",                  "s s s s s s s s s", NONE),
    row("seller",    "moves",                    "s s s s s s s s s", NONE),
    row("payer",     "asks",                     "s r r r r s s s s", NONE),
    row("payer",     "pays",                     "s s s s s s s s s", NONE),
    row("payer",     "repeats at once",          "s s s s s s s s s", NONE),
    row("payer",     "signs again at once",      "s s s s s s s s s", NONE),
    row("payer",     "uses any signed payment",  "s s s s s s s s s", NONE),
    row("payer",     "uses the other protocol",  "s s s s s s s s s", NONE),
];
