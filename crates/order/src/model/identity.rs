//! Which requests are the same operation, and what its orders are called.

use ring::hmac::{self, Context, HMAC_SHA256, Key};

use crate::model::card::Postcard;
use crate::model::ids::{Fingerprint, OperationId, OperationKey, OrderId};
use crate::model::redacted::redacted_debug;
use crate::model::seller::Username;

pub mod quote;

/// The secret from which operation keys and order ids are derived. Postal addresses can be
/// guessed, so a plain hash of one would reveal who was sent a card; a keyed one does not.
///
/// It is the one key that must never change: a repeated request would be taken
/// for a new one, and its payer asked to pay again.
#[derive(Clone)]
pub struct Identity {
    /// Keyed once: a challenge derives two values, and keying is half of the work of each.
    key: Key,
    /// The same, with the key of the tags in order ids.
    tag_key: Key,
    /// The same, with the key of quotes.
    quote_key: Key,
}

/// Of the 16 bytes of an order id, those that its operation decides. The rest is their tag.
const NAME_BYTES: usize = 10;

/// One operation: what the caller wants done once, however often it is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    pub key: OperationKey,
    pub origin: Origin,
    /// A digest of the whole request. An identifier of the caller's own may come with another
    /// request later; without one, the key itself depends on the request.
    pub fingerprint: Fingerprint,
    pub seller: Username,
    /// How many orders of this operation have ended before this one.
    pub generation: u32,
}

impl Operation {
    /// Whether a request of the same key asks for the same card.
    pub fn is_same_request(&self, other: &Self) -> bool {
        match self.origin {
            Origin::Automatic => self.key == other.key,
            Origin::Explicit => self.fingerprint == other.fingerprint,
        }
    }
}

/// Where an operation's identity comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The same card from the same seller is the same operation.
    Automatic,
    /// The caller named it.
    Explicit,
}

impl Identity {
    pub fn new(key: [u8; 32]) -> Self {
        let key = Key::new(HMAC_SHA256, &key);
        let derived = |label| Key::new(HMAC_SHA256, hmac::sign(&key, label).as_ref());
        let (tag_key, quote_key) = (derived(b"order tag key"), derived(b"quote key"));
        Self { key, tag_key, quote_key }
    }

    /// The first generation of the operation that a request belongs to. It is
    /// not scoped to the way of paying: the same card by x402 and by MPP is one
    /// operation.
    pub fn operation(
        &self,
        seller: &Username,
        card: &Postcard,
        named: Option<&OperationId>,
    ) -> Operation {
        let name = seller.as_str().as_bytes();
        let (origin, key, fingerprint) = match named {
            None => {
                let key = self.mac(&[b"auto", name, &card.canonical()]);
                (Origin::Automatic, key, Fingerprint(key))
            }
            Some(id) => {
                let key = self.mac(&[b"explicit", name, id.as_str().as_bytes()]);
                (Origin::Explicit, key, self.body(seller, card))
            }
        };
        let key = OperationKey(key);
        Operation { key, origin, fingerprint, seller: seller.clone(), generation: 0 }
    }

    /// Whether a request to an operation's seller is for the card of that operation. A request
    /// without an identifier matches by its card, under whatever identifier it was paid.
    pub(crate) fn is_for(
        &self,
        operation: &Operation,
        card: &Postcard,
        named: Option<&OperationId>,
    ) -> bool {
        let asked = self.operation(&operation.seller, card, named);
        match (operation.origin, asked.origin) {
            (Origin::Explicit, Origin::Automatic) => {
                operation.fingerprint == self.body(&operation.seller, card)
            }
            (Origin::Automatic, Origin::Automatic)
            | (Origin::Automatic | Origin::Explicit, Origin::Explicit) => {
                operation.key == asked.key && operation.is_same_request(&asked)
            }
        }
    }

    fn body(&self, seller: &Username, card: &Postcard) -> Fingerprint {
        Fingerprint(self.mac(&[b"body", seller.as_str().as_bytes(), &card.canonical()]))
    }

    /// The same operation and generation always give the same order id, at any time and in
    /// any process, so nothing has to be stored for an offer.
    pub fn order_id(&self, operation: &Operation) -> OrderId {
        // Each part has but one length, so none is written, and no list of parts begins
        // with these letters: it begins with a short one's length.
        let mut mac = Context::with_key(&self.key);
        mac.update(b"order");
        mac.update(&operation.key.0);
        mac.update(&operation.generation.to_be_bytes());
        let mac = mac.sign();
        let name = mac.as_ref().first_chunk().expect("10 of 32 bytes");
        self.tagged(name)
    }

    /// Whether this is the id of an order of ours, paid or not. The chance that an id made
    /// up by others is taken for one is 2^-48.
    pub fn has_issued(&self, id: OrderId) -> bool {
        let bytes = id.bytes();
        let (name, _) = bytes.split_first_chunk().expect("10 of 16 bytes");
        // mutant: any-id-is-ours
        self.tagged(name) == id
    }

    fn tagged(&self, name: &[u8; NAME_BYTES]) -> OrderId {
        let tag = hmac::sign(&self.tag_key, name);
        let mut id = [0; 16];
        let (front, back) = id.split_at_mut(NAME_BYTES);
        front.copy_from_slice(name);
        for (byte, tag) in back.iter_mut().zip(tag.as_ref()) {
            *byte = *tag;
        }
        OrderId::from_bytes(id)
    }

    /// Each part is preceded by its length, so parts cannot run together.
    fn mac(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac = Context::with_key(&self.key);
        for part in parts {
            let length = u64::try_from(part.len()).expect("a length fits 64 bits");
            mac.update(&length.to_be_bytes());
            mac.update(part);
        }
        mac.sign().as_ref().try_into().expect("HMAC-SHA-256 has 32 bytes")
    }
}

redacted_debug!(Identity);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fakes::cards::card;

    fn operation(seller: &str, message: &str, named: Option<&str>) -> Operation {
        let named = named.map(|id| id.parse().unwrap());
        let seller = Username::kept(seller.into());
        Identity::new([7; 32]).operation(&seller, &card(message), named.as_ref())
    }

    #[test]
    fn the_same_card_from_the_same_seller_is_the_same_operation() {
        assert_eq!(operation("alice", "hello", None), operation("alice", "hello", None));
        assert_ne!(operation("alice", "hello", None).key, operation("bob", "hello", None).key);
        assert_ne!(operation("alice", "hello", None).key, operation("alice", "bye", None).key);
    }

    #[test]
    fn only_a_named_operation_can_be_asked_for_differently() {
        let (one, other) = (operation("alice", "hello", None), operation("alice", "bye", None));
        // As it was written before the key served for both.
        let kept = Operation { fingerprint: other.fingerprint, ..one.clone() };
        assert!(kept.is_same_request(&one));
        let named = Some("birthday-2026-ada");
        let (one, other) = (operation("alice", "hello", named), operation("alice", "bye", named));
        assert!(one.is_same_request(&one) && !one.is_same_request(&other));
    }

    #[test]
    fn a_named_operation_keeps_its_key_and_shows_that_the_card_changed() {
        let named = Some("birthday-2026-ada");
        let (one, other) = (operation("alice", "hello", named), operation("alice", "bye", named));
        assert_eq!(one.key, other.key);
        assert_ne!(one.fingerprint, other.fingerprint);
        assert_ne!(one.key, operation("alice", "hello", None).key);
        assert_ne!(one.key, operation("bob", "hello", named).key);
    }

    #[test]
    fn an_order_id_depends_on_the_secret_the_operation_and_the_generation() {
        let (one, two) = (Identity::new([1; 32]), Identity::new([2; 32]));
        let first = operation("alice", "hello", None);
        let second = Operation { generation: 1, ..first.clone() };
        assert_eq!(one.order_id(&first), one.order_id(&first));
        assert_ne!(one.order_id(&first), two.order_id(&first));
        assert_ne!(one.order_id(&first), one.order_id(&second));
    }

    #[test]
    fn an_id_is_known_to_be_ours_and_one_with_any_other_bit_is_not() {
        let (ours, theirs) = (Identity::new([1; 32]), Identity::new([2; 32]));
        let id = ours.order_id(&operation("alice", "hello", None));
        assert!(ours.has_issued(id));
        assert!(!theirs.has_issued(id));
        for bit in 0..128 {
            let mut bytes = id.bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(!ours.has_issued(OrderId::from_bytes(bytes)), "bit {bit}");
        }
    }
}
