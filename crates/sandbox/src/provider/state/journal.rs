//! The journal of calls, with the hash of the body and never the body.

use std::collections::VecDeque;

use order::model::ids::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::provider::dates;
use crate::provider::fault::kind::ProviderFault;
use crate::provider::fault::operation::ProviderOperation;
use crate::provider::state::card::ProviderApi;
use crate::provider::state::secret::hex;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderCall {
    /// Counts from one and is never reset.
    pub number: u64,
    pub at: Timestamp,
    pub api: ProviderApi,
    /// None for an unknown call.
    pub operation: Option<ProviderOperation>,
    /// None if no response was sent.
    pub status: Option<u16>,
    pub fault: Option<ProviderFault>,
    pub body_sha256: String,
    /// The cards in the response.
    pub cards: Vec<u64>,
}

#[derive(Default)]
pub(crate) struct ProviderJournal {
    lines: VecDeque<ProviderCall>,
    written: u64,
}

/// A finished call.
pub(crate) struct CallRecord<'a> {
    pub(crate) api: ProviderApi,
    pub(crate) operation: Option<ProviderOperation>,
    pub(crate) status: Option<u16>,
    pub(crate) fault: Option<ProviderFault>,
    pub(crate) body: &'a [u8],
    pub(crate) cards: Vec<u64>,
}

impl ProviderJournal {
    pub(crate) fn write(&mut self, call: CallRecord<'_>, at: Timestamp, kept: usize) {
        self.written += 1;
        self.lines.push_back(ProviderCall {
            number: self.written,
            at,
            api: call.api,
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

    pub(crate) fn lines(&self) -> impl Iterator<Item = &ProviderCall> {
        self.lines.iter()
    }

    pub(crate) fn clear(&mut self) {
        self.lines.clear();
    }
}

impl ProviderCall {
    pub(crate) fn written(&self) -> Value {
        json!({
            "number": self.number,
            "at": dates::instant(self.at),
            "surface": self.api.written(),
            "operation": self.operation.map(ProviderOperation::written),
            "status": self.status,
            "fault": self.fault.map(ProviderFault::written),
            "body_sha256": self.body_sha256,
            "cards": self.cards,
        })
    }
}
