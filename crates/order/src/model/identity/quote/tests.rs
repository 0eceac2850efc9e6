//! Properties of quotes and their ids.

use super::*;
use crate::model::card::Draft;
use crate::model::money::CEILING;
use crate::testing::fakes::cards::{card, card_to};
use crate::testing::fakes::fault_schedule::SeededRng;

const NOW: Timestamp = Timestamp(1_790_000_000);
const UP_TO: Price = Price::UpTo(CEILING);

fn identity() -> Identity {
    Identity::new([7; 32])
}

fn quote(card: &Postcard) -> CardQuote {
    identity().quote(card, UP_TO, Cents(200), NOW).unwrap()
}

#[test]
fn a_quote_states_the_charge_and_its_id_proves_it_for_an_hour() {
    let card = card("hello");
    let quote = quote(&card);
    assert_eq!((quote.charge, quote.maximum), (Usdc::from_atomic(2_420_000), CEILING));
    assert_eq!((quote.country.as_str(), quote.expires_at), ("GB", NOW.plus(3_600)));
    let quoted = identity().quoted(quote.id, &card).unwrap();
    assert_eq!((quoted.most, quoted.expires_at), (quote.charge, quote.expires_at));
    assert!(!quoted.is_expired(NOW.plus(3_599)));
    assert!(quoted.is_expired(NOW.plus(3_600)));
    let fixed = identity().quote(&card, Price::Fixed(CEILING), Cents(200), NOW).unwrap();
    assert_eq!(fixed.charge, CEILING);
    assert_eq!(identity().quote(&card, UP_TO, Cents(290), NOW), Err(AboveCeiling));
}

#[test]
fn an_id_with_any_other_bit_is_not_ours() {
    let card = card("hello");
    let QuoteId(bytes) = quote(&card).id;
    for bit in 0..QUOTE_BYTES * 8 {
        let mut forged = bytes;
        forged[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(identity().quoted(QuoteId(forged), &card), None, "bit {bit}");
    }
}

#[test]
fn an_id_is_for_one_card_and_one_secret() {
    let mine = card("hello");
    let id = quote(&mine).id;
    assert_eq!(Identity::new([8; 32]).quoted(id, &mine), None);
    for other in [card("goodbye"), card_to("DE", "hello")] {
        assert_eq!(identity().quoted(id, &other), None);
    }
}

/// For many costs, times and cards: the id proves what was quoted, is read back from its text, and
/// no other card, charge or time shares it.
#[test]
fn an_id_proves_exactly_what_was_quoted() {
    let mut rng = SeededRng::new(21);
    let mut earlier: Vec<(QuoteId, Postcard)> = Vec::new();
    for number in 0..500_u64 {
        let card = card(&format!("card {}", number / 3));
        let (cost, now) = (Cents(1 + rng.below(289)), Timestamp(NOW.0 + rng.below(1_000_000)));
        let quote = identity().quote(&card, UP_TO, cost, now).unwrap();
        let quoted = identity().quoted(quote.id, &card).unwrap();
        assert_eq!(Ok(quoted.most), UP_TO.charge(cost));
        assert_eq!(quoted.expires_at, now.plus(QUOTE_VALID_SECONDS));
        let text = quote.id.to_string();
        assert_eq!(text.parse(), Ok(quote.id));
        assert!(text.len() == 64 && !text.bytes().any(|byte| byte.is_ascii_uppercase()), "{text}");
        for (id, of) in &earlier {
            assert_eq!(identity().quoted(*id, &card).is_some(), *of == card);
        }
        earlier.push((quote.id, card));
    }
}

#[test]
fn other_texts_are_not_ids() {
    let id = quote(&card("hello")).id.to_string();
    let upper = id.to_uppercase();
    let (short, long, odd) = (&id[1..], format!("{id}0"), format!("{}g", &id[1..]));
    for text in ["", short, &long, &odd, &upper, &"é".repeat(32)] {
        assert_eq!(text.parse::<QuoteId>(), Err(NotAQuoteId), "{text}");
    }
}

/// Two cards with the same price at the same time differ in the tag alone, which is a keyed digest.
#[test]
fn an_id_contains_no_personal_data() {
    let marked = Postcard::parse(&Draft {
        front_image_url: Some("https://images.example.org/MARKED.jpg"),
        message: Some("MARKED"),
        name: Some("MARKED"),
        address: Some("MARKED"),
        city: Some("MARKED"),
        province: Some("MARKED"),
        postal_code: Some("MARKED"),
        country: Some("GB"),
    });
    let (marked, plain) = (quote(&marked.unwrap()), quote(&card("hello")));
    assert_eq!(marked.id.0[..2 * NUMBER_BYTES], plain.id.0[..2 * NUMBER_BYTES]);
    assert_ne!(marked.id, plain.id);
    assert!(!marked.id.0.windows(6).any(|bytes| bytes == b"MARKED"));
    let printed = format!("{marked:?}");
    assert!(!printed.contains("MARKED") && !printed.contains("GB"), "{printed}");
}
