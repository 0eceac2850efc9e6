//! Offers as bytes: one slip after the other on a sheet.

use order::identity::{Operation, Origin};
use order::ids::{Fingerprint, OperationKey, OrderId, Timestamp};
use order::lifecycle::{Offered, Order};
use order::schedule::Attention;
use order::seller::{PayeesDigest, Username};

/// The first byte of a sheet, so that another way of writing can be told apart.
const FORM: u8 = 1;
/// What a slip takes beside its seller's name.
const FRAME_BYTES: usize = 16 + 3 * 32 + 4 + 1 + 4 * 8 + 2;
const AUTOMATIC: u8 = 0;
const EXPLICIT: u8 = 1;

/// A sheet that is not what we have written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Damaged;

/// One offer on a sheet, of which nothing has been copied yet.
pub(super) struct Slip<'a> {
    pub(super) id: OrderId,
    pub(super) key: OperationKey,
    rest: &'a [u8],
    seller: &'a [u8],
}

pub(super) fn write(offers: &[Order<Offered>]) -> Vec<u8> {
    let mut sheet = Vec::with_capacity(1 + offers.len() * (FRAME_BYTES + 16));
    sheet.push(FORM);
    for offer in offers {
        let Order { id, operation, created_at, updated_at, expires_at, version, .. } = offer;
        let Operation { key, origin, fingerprint, seller, generation } = operation;
        sheet.extend_from_slice(&id.bytes());
        sheet.extend_from_slice(&key.0);
        sheet.extend_from_slice(&fingerprint.0);
        sheet.extend_from_slice(&offer.state.payees.0);
        sheet.extend_from_slice(&generation.to_be_bytes());
        sheet.push(match origin {
            Origin::Automatic => AUTOMATIC,
            Origin::Explicit => EXPLICIT,
        });
        for number in [created_at.0, updated_at.0, expires_at.0, *version] {
            sheet.extend_from_slice(&number.to_be_bytes());
        }
        let seller = seller.as_str().as_bytes();
        let length = u16::try_from(seller.len()).expect("a username has 63 letters at most");
        sheet.extend_from_slice(&length.to_be_bytes());
        sheet.extend_from_slice(seller);
    }
    sheet
}

/// What is on a sheet, one after the other, up to where it is damaged.
pub(super) fn read(sheet: &[u8]) -> impl Iterator<Item = Result<Slip<'_>, Damaged>> {
    let mut rest = sheet.strip_prefix(&[FORM]).ok_or(Damaged);
    std::iter::from_fn(move || match rest {
        Ok([]) => None,
        Ok(mut slips) => {
            let slip = next(&mut slips).ok_or(Damaged);
            rest = slip.as_ref().map_or(Ok(&[]), |_| Ok(slips));
            Some(slip)
        }
        Err(Damaged) => {
            rest = Ok(&[]);
            Some(Err(Damaged))
        }
    })
}

fn next<'a>(slips: &mut &'a [u8]) -> Option<Slip<'a>> {
    let (frame, after) = slips.split_at_checked(FRAME_BYTES)?;
    let mut rest = frame;
    let id = OrderId::from_bytes(take(&mut rest)?);
    let key = OperationKey(take(&mut rest)?);
    let (_, length) = rest.split_last_chunk()?;
    let (seller, after) = after.split_at_checked(u16::from_be_bytes(*length).into())?;
    *slips = after;
    Some(Slip { id, key, rest, seller })
}

fn take<const LENGTH: usize>(bytes: &mut &[u8]) -> Option<[u8; LENGTH]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*first)
}

impl Slip<'_> {
    pub(super) fn offer(&self) -> Result<Order<Offered>, Damaged> {
        self.read().ok_or(Damaged)
    }

    fn read(&self) -> Option<Order<Offered>> {
        let mut rest = self.rest;
        let fingerprint = Fingerprint(take(&mut rest)?);
        let payees = PayeesDigest(take(&mut rest)?);
        let generation = u32::from_be_bytes(take(&mut rest)?);
        let origin = match take(&mut rest)? {
            [AUTOMATIC] => Origin::Automatic,
            [EXPLICIT] => Origin::Explicit,
            [_] => return None,
        };
        let mut number = || take(&mut rest).map(u64::from_be_bytes);
        let (created_at, updated_at) = (Timestamp(number()?), Timestamp(number()?));
        let (expires_at, version) = (Timestamp(number()?), number()?);
        let seller = Username::kept(str::from_utf8(self.seller).ok()?.to_owned());
        Some(Order {
            id: self.id,
            operation: Operation { key: self.key, origin, fingerprint, seller, generation },
            created_at,
            updated_at,
            expires_at,
            version,
            attention: Attention::NONE,
            state: Offered { payees },
        })
    }
}

#[cfg(test)]
mod tests {
    use order::contract::samples::{NOW, offer, offer_of, operation};

    use super::*;

    fn offers() -> Vec<Order<Offered>> {
        let named = Operation {
            origin: Origin::Explicit,
            generation: 7,
            seller: Username::kept("münchen".into()),
            ..operation(2)
        };
        vec![offer(1), Order { version: 3, ..offer_of(named, NOW.plus(5)) }, offer(3)]
    }

    fn all(sheet: &[u8]) -> Result<Vec<Order<Offered>>, Damaged> {
        read(sheet).map(|slip| slip?.offer()).collect()
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        assert_eq!(all(&write(&offers())), Ok(offers()));
        assert_eq!(all(&write(&[])), Ok(Vec::new()));
        let sheet = write(&offers());
        let names: Vec<_> = read(&sheet).map(|slip| slip.map(|slip| (slip.id, slip.key))).collect();
        let expected: Vec<_> = offers().iter().map(|it| Ok((it.id, it.operation.key))).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn a_sheet_that_is_cut_or_of_another_form_is_damaged_and_never_read_wrongly() {
        let sheet = write(&offers());
        let whole = [1, write(&offers()[..1]).len(), write(&offers()[..2]).len(), sheet.len()];
        for length in 0..=sheet.len() {
            let read = all(&sheet[..length]);
            match whole.iter().position(|whole| *whole == length) {
                Some(count) => assert_eq!(read, Ok(offers()[..count].to_vec())),
                None => assert_eq!(read, Err(Damaged), "{length}"),
            }
        }
        let mut other = sheet;
        other[0] = FORM + 1;
        assert_eq!(all(&other), Err(Damaged));
    }
}
