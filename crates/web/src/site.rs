//! Everything that can be read here, written before the doors open.

use content::fault::ContentFault;
use order::model::ids::Timestamp;

use crate::premises::Premises;
use crate::publish::{self, Published};

/// The premises and what is written about them.
pub struct Site {
    pub(crate) premises: Premises,
    pub(crate) published: Published,
}

impl Site {
    /// Takes all cores for a moment; some documents say how long they hold
    /// from `opened_at` on.
    pub fn write(premises: Premises, opened_at: Timestamp) -> Result<Self, ContentFault> {
        let published = publish::everything(&premises, opened_at.0)?;
        Ok(Self { premises, published })
    }
}
