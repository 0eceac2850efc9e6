//! How the choices in an order are spelled in a row.

use order::lifecycle::{Doubt, Standing};
use order::model::identity::Origin;
use order::model::mail::Stage;
use order::model::payment::{Finality, TenderKind};

/// A choice that is written as a word.
pub(super) trait Word: Sized {
    fn word(&self) -> &'static str;
    fn read(word: &str) -> Option<Self>;
}

macro_rules! words {
    ($($noun:ident { $($choice:ident = $word:literal),+ })+) => {
        $(impl Word for $noun {
            fn word(&self) -> &'static str {
                match self { $(Self::$choice => $word),+ }
            }

            fn read(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$choice),)+
                    _ => None,
                }
            }
        })+
    };
}

words! {
    Origin { Automatic = "automatic", Explicit = "explicit" }
    TenderKind { X402 = "x402", Mpp = "mpp" }
    Finality { Provisional = "provisional", Final = "final" }
    Standing { Provisional = "provisional", Final = "final", Reversed = "reversed" }
    Doubt { None = "none", Earlier = "earlier" }
    Stage {
        Accepted = "accepted",
        Mailed = "mailed",
        Delivered = "delivered",
        Returned = "returned",
        Failed = "failed"
    }
}
