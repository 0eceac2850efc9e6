//! The texts of enums in a row.

use order::lifecycle::{Doubt, Standing};
use order::model::identity::Origin;
use order::model::mail::Stage;
use order::model::payment::{Finality, TenderKind};

/// An enum that is stored as text.
pub(super) trait EnumText: Sized {
    fn text(&self) -> &'static str;
    fn read(word: &str) -> Option<Self>;
}

macro_rules! enum_texts {
    ($($noun:ident { $($choice:ident = $word:literal),+ })+) => {
        $(impl EnumText for $noun {
            fn text(&self) -> &'static str {
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

enum_texts! {
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
