//! Bearer tokens of Coinbase's platform, for one endpoint and two minutes.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use order::model::ids::Timestamp;
use ring::signature::Ed25519KeyPair;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::http::{CallError, CallErrorKind, HttpUrl};

const SECONDS: u64 = 120;

/// An API key of Coinbase's platform. `Debug` does not show it.
pub struct CdpKey {
    id: String,
    pair: Ed25519KeyPair,
}

/// Why a key is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CdpKeyError {
    NoId,
    NotBase64,
    /// An ECDSA key is PEM text; ours is base64 of 64 bytes.
    NotEd25519,
    /// Seed and public key do not match.
    Mistyped,
}

impl std::error::Error for CdpKeyError {}

impl fmt::Display for CdpKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoId => "The key has no id; copy the id that stands beside the secret.",
            Self::NotBase64 => {
                "The secret is not base64; copy it whole, from a key of the type Ed25519."
            }
            Self::NotEd25519 => {
                "The secret is not 64 bytes long; make a key of the type Ed25519 and copy it whole."
            }
            Self::Mistyped => "The secret is mistyped; copy it again.",
        })
    }
}

impl CdpKey {
    /// The id, and the secret as the platform shows it: base64 of the seed and
    /// the public key.
    pub fn new(id: &str, secret: &str) -> Result<Self, CdpKeyError> {
        if id.trim().is_empty() {
            return Err(CdpKeyError::NoId);
        }
        let bytes = STANDARD.decode(secret.trim()).map(Zeroizing::new);
        let bytes = bytes.map_err(|_| CdpKeyError::NotBase64)?;
        if bytes.len() != 64 {
            return Err(CdpKeyError::NotEd25519);
        }
        let (seed, public) = bytes.split_at(32);
        let pair = Ed25519KeyPair::from_seed_and_public_key(seed, public);
        Ok(Self { id: id.trim().to_owned(), pair: pair.map_err(|_| CdpKeyError::Mistyped)? })
    }

    /// The header value for this method and URL.
    pub(super) fn bearer(
        &self,
        method: &str,
        place: &HttpUrl,
        now: Timestamp,
    ) -> Result<Zeroizing<String>, CallError> {
        let mut nonce = [0; 16];
        getrandom::fill(&mut nonce).map_err(|_| CallError::Refused(CallErrorKind::Unsendable))?;
        let head = json!({
            "alg": "EdDSA",
            "kid": self.id,
            "nonce": nonce.map(|byte| format!("{byte:02x}")).concat(),
            "typ": "JWT",
        });
        let claims = json!({
            "iss": "cdp",
            "sub": self.id,
            "nbf": now.0,
            "exp": now.plus(SECONDS).0,
            "uris": [format!("{method} {}", place.without_scheme())],
        });
        Ok(Zeroizing::new(format!("Bearer {}", self.signed(&part(&head), &part(&claims)))))
    }

    fn signed(&self, head: &str, claims: &str) -> String {
        let words = format!("{head}.{claims}");
        let signature = URL_SAFE_NO_PAD.encode(self.pair.sign(words.as_bytes()));
        format!("{words}.{signature}")
    }
}

fn part(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

impl fmt::Debug for CdpKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CdpKey").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{ED25519, KeyPair, UnparsedPublicKey};

    use super::*;

    /// The key of RFC 8037, appendix A: seed and public key.
    const SEED: &str = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A";
    const PUBLIC: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";

    fn secret() -> String {
        let half = |text| URL_SAFE_NO_PAD.decode(text).unwrap();
        STANDARD.encode([half(SEED), half(PUBLIC)].concat())
    }

    fn key() -> CdpKey {
        CdpKey::new("key-1", &secret()).unwrap()
    }

    fn parts(token: &str) -> (Value, Value) {
        let mut parts = token.split('.').map(|part| URL_SAFE_NO_PAD.decode(part).unwrap());
        let mut next = || serde_json::from_slice(&parts.next().unwrap()).unwrap();
        (next(), next())
    }

    #[test]
    fn the_signature_matches_the_example_of_rfc_8037() {
        let claims = URL_SAFE_NO_PAD.encode("Example of Ed25519 signing");
        assert_eq!(
            key().signed("eyJhbGciOiJFZERTQSJ9", &claims),
            "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.\
             hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
        );
    }

    #[test]
    fn a_token_is_for_one_endpoint_and_two_minutes() {
        let place = HttpUrl::parse(super::super::CDP).unwrap().below(&["settle"]);
        let bearer = key().bearer("POST", &place, Timestamp(1_794_700_000)).unwrap();
        let token = bearer.strip_prefix("Bearer ").unwrap();
        let (head, claims) = parts(token);
        assert_eq!((&head["alg"], &head["kid"]), (&json!("EdDSA"), &json!("key-1")));
        assert_eq!(head["nonce"].as_str().map(str::len), Some(32));
        assert_eq!(
            claims,
            json!({
                "iss": "cdp",
                "sub": "key-1",
                "nbf": 1_794_700_000_u64,
                "exp": 1_794_700_120_u64,
                "uris": ["POST api.cdp.coinbase.com/platform/v2/x402/settle"],
            })
        );
        let (words, signature) = token.rsplit_once('.').unwrap();
        let public = UnparsedPublicKey::new(&ED25519, key().pair.public_key().as_ref().to_vec());
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        public.verify(words.as_bytes(), &signature).unwrap();
        let again = key().bearer("POST", &place, Timestamp(1_794_700_000)).unwrap();
        assert_ne!(again, bearer, "no two tokens are the same");
    }

    #[test]
    fn an_invalid_key_is_rejected_with_its_reason() {
        let fault = |id, secret: &str| CdpKey::new(id, secret).unwrap_err();
        assert_eq!(fault(" ", &secret()), CdpKeyError::NoId);
        assert_eq!(fault("key-1", "-----BEGIN EC PRIVATE KEY-----"), CdpKeyError::NotBase64);
        assert_eq!(fault("key-1", "AAAA"), CdpKeyError::NotEd25519);
        let mistyped = secret().replacen('n', "m", 1);
        assert_eq!(fault("key-1", &mistyped), CdpKeyError::Mistyped);
        assert_eq!(format!("{:?}", key()), "CdpKey { .. }");
    }
}
