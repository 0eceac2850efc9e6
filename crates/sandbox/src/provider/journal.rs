//! Every call that was made, by its hash: never what it said.

use std::collections::VecDeque;

use order::model::ids::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::calendar;
use super::card::Surface;
use super::fault::kind::Kind;
use super::fault::operation::Operation;
use super::secret::hex;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Counts from one and never begins again.
    pub number: u64,
    pub at: Timestamp,
    pub surface: Surface,
    /// None for a call that nobody here answers to.
    pub operation: Option<Operation>,
    /// None if the caller was left without one.
    pub status: Option<u16>,
    pub fault: Option<Kind>,
    pub body_sha256: String,
    /// The cards that the answer was about.
    pub cards: Vec<u64>,
}

#[derive(Default)]
pub(crate) struct Journal {
    lines: VecDeque<Line>,
    written: u64,
}

/// What is known of a call once it is over.
pub(crate) struct Call<'a> {
    pub(crate) surface: Surface,
    pub(crate) operation: Option<Operation>,
    pub(crate) status: Option<u16>,
    pub(crate) fault: Option<Kind>,
    pub(crate) body: &'a [u8],
    pub(crate) cards: Vec<u64>,
}

impl Journal {
    pub(crate) fn write(&mut self, call: Call<'_>, at: Timestamp, kept: usize) {
        self.written += 1;
        self.lines.push_back(Line {
            number: self.written,
            at,
            surface: call.surface,
            operation: call.operation,
            status: call.status,
            fault: call.fault,
            body_sha256: hex(&Sha256::digest(call.body)),
            cards: call.cards,
        });
        while self.lines.len() > kept {
            self.lines.pop_front();
        }
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter()
    }

    pub(crate) fn clear(&mut self) {
        self.lines.clear();
    }
}

impl Line {
    pub(crate) fn written(&self) -> Value {
        json!({
            "number": self.number,
            "at": calendar::instant(self.at),
            "surface": self.surface.written(),
            "operation": self.operation.map(Operation::written),
            "status": self.status,
            "fault": self.fault.map(Kind::written),
            "body_sha256": self.body_sha256,
            "cards": self.cards,
        })
    }
}
