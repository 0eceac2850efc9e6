//! The row of the table `keyring`: which keys a database was written with, and on which chains its payments are.

use super::OpenError;
use crate::keys::{Keyring, PaymentChains};

/// The name of the identity key and the chains, as the row has them from now on. An error if the row
/// names other keys or other chains.
pub(super) fn identity(keyring: &Keyring, kept: Option<&str>) -> Result<String, OpenError> {
    let name = keyring.identity_name();
    let kept = kept.unwrap_or(&name);
    let (keys, before) = kept.split_once(' ').unwrap_or((kept, ""));
    // With other keys every order would look new, and no card could be decrypted.
    if keys != name {
        return Err(OpenError::OtherKeys);
    }
    let now = match keyring.payments() {
        None => before,
        Some(PaymentChains::Emulated) => "emulated",
        Some(PaymentChains::Real) => "real",
    };
    // mutant: play-money-becomes-real
    if !before.is_empty() && before != now {
        return Err(OpenError::OtherPayments { has: before.to_owned() });
    }
    Ok(if now.is_empty() { name } else { format!("{name} {now}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keyring(byte: u8) -> Keyring {
        Keyring::from_text(&format!("{byte:02x}").repeat(32)).unwrap()
    }

    #[test]
    fn a_database_is_opened_for_the_chains_of_its_payments_only() {
        let keys = |payments| keyring(1).with_payments(payments);
        let (none, real) = (keys(None), keys(Some(PaymentChains::Real)));
        let emulated = keys(Some(PaymentChains::Emulated));
        let fresh = identity(&none, None).unwrap();
        assert_eq!(identity(&none, Some(&fresh)).unwrap(), fresh);
        for (own, other) in [(&real, &emulated), (&emulated, &real)] {
            let kept = identity(own, Some(&fresh)).unwrap();
            assert_eq!(identity(own, None).unwrap(), kept);
            for keys in [own, &none] {
                assert_eq!(identity(keys, Some(&kept)).unwrap(), kept, "also without payments");
            }
            let refused = identity(other, Some(&kept)).unwrap_err();
            assert!(matches!(refused, OpenError::OtherPayments { .. }), "{refused}");
            assert!(refused.to_string().contains("server.data"), "{refused}");
        }
        let foreign = identity(&keyring(2), Some(&fresh)).unwrap_err();
        assert!(matches!(foreign, OpenError::OtherKeys), "{foreign}");
    }
}
