//! The command-line client, before the URL of the site is filled in.

use crate::fault::ContentFault;
use crate::source::ContentSource;

const FILE: &str = "client/pennyblack.mjs";
/// Replaced by the URL of the site. JavaScript uses braces itself, so the file is not a template.
const PLACEHOLDER: &str = "{{ base_url }}";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientScript {
    source: String,
}

impl ClientScript {
    pub(crate) fn read(source: &ContentSource) -> Result<Self, ContentFault> {
        let source = source.text(FILE)?;
        if source.matches(PLACEHOLDER).count() == 1 {
            Ok(Self { source })
        } else {
            let message = format!("must contain {PLACEHOLDER} once, as its server");
            Err(ContentFault::new(FILE, message))
        }
    }

    /// The client of the site at this URL.
    pub fn for_site(&self, base_url: &str) -> String {
        self.source.replacen(PLACEHOLDER, base_url, 1)
    }
}
