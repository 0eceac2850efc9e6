//! The official crate recomputes our ids and reads our challenges, problems and receipts.

#[cfg(test)]
mod endpoint;

#[cfg(test)]
mod tests {
    use mpp::{ChargeRequest, PaymentChallenge, PaymentErrorDetails, ReceiptStatus};
    use serde_json::{Value, json};

    use crate::endpoint::{self, BODY, NOW, REALM, SECRET, SELLER, TRANSACTION};

    fn challenge() -> PaymentChallenge {
        let asked = endpoint::asked();
        let header = asked.headers["www-authenticate"].to_str().unwrap();
        PaymentChallenge::from_response(asked.status.as_u16(), header).unwrap()
    }

    #[test]
    fn it_recomputes_our_ids() {
        let read = challenge();
        assert!(read.verify(SECRET));
        assert!(!read.verify("another-secret-of-32-bytes-or-so"));
        type Change = fn(&mut PaymentChallenge);
        let changes: [Change; 4] = [
            |other| other.digest = Some("sha-256=:AAAA:".into()),
            |other| other.realm.push('.'),
            |other| other.expires = None,
            |other| other.opaque = None,
        ];
        for change in changes {
            let mut other = read.clone();
            change(&mut other);
            assert!(!other.verify(SECRET));
        }
        // Two challenges for one body at one moment are two.
        assert_ne!(read.id, challenge().id);
    }

    #[test]
    fn it_reads_our_challenges_whole() {
        let read = challenge();
        assert_eq!((read.realm.as_str(), read.method.as_str()), (REALM, "evm"));
        assert!(read.intent.is_charge());
        assert_eq!(read.description.as_deref(), Some("One 4x6 postcard"));
        assert!(mpp::body_digest::verify(read.digest.as_deref().unwrap(), BODY));
        assert!(!mpp::body_digest::verify(read.digest.as_deref().unwrap(), b"{}"));
        assert_eq!(read.header, None);
        let expires = read.expires_at().unwrap().unix_timestamp();
        assert_eq!(u64::try_from(expires).unwrap(), NOW.0 + 600);
        let request: ChargeRequest = read.request.decode().unwrap();
        assert_eq!(request.amount, "3500000");
        assert_eq!(request.currency, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913");
        assert_eq!(request.recipient, Some(SELLER.to_string()));
        let details = json!({
            "chainId": 8453,
            "credentialTypes": ["authorization"],
            "decimals": 6,
        });
        assert_eq!(request.method_details, Some(details));
        // It writes the terms anew as we wrote them: they are canonical.
        let again = mpp::Base64UrlJson::from_value(&read.request.decode_value().unwrap()).unwrap();
        assert_eq!(again.raw(), read.request.raw());
    }

    #[test]
    fn it_reads_our_problems() {
        let (asked, refused) = (endpoint::asked(), endpoint::refused());
        for (sealed, kind) in [(&asked, "payment-required"), (&refused, "malformed-credential")] {
            let problem: PaymentErrorDetails = serde_json::from_slice(&sealed.body).unwrap();
            let expected = format!("{}/{kind}", mpp::CORE_PROBLEM_TYPE_BASE);
            assert_eq!((problem.problem_type, problem.status), (expected, 402));
            let header = sealed.headers["www-authenticate"].to_str().unwrap();
            let fresh = PaymentChallenge::from_header(header).unwrap();
            assert_eq!(problem.challenge_id, Some(fresh.id));
        }
    }

    #[test]
    fn it_reads_our_receipts() {
        let challenge = challenge();
        let header = endpoint::receipt(&challenge);
        let receipt = mpp::parse_receipt(&header).unwrap();
        assert_eq!(receipt.status, ReceiptStatus::Success);
        assert_eq!((receipt.method.as_str(), receipt.reference.as_str()), ("evm", TRANSACTION));
        assert_eq!(receipt.timestamp, "2026-09-21T14:13:20Z");
        let more = Value::from(receipt.extensions);
        assert_eq!(more, json!({ "chainId": 8453, "challengeId": challenge.id }));
    }
}
