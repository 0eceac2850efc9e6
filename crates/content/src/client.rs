//! The command-line client as it was written, before it knows which site hands it out.

use crate::fault::ContentFault;
use crate::source::Source;

const FILE: &str = "client/pennyblack.mjs";
/// Where the file names the server that it asks. JavaScript has braces of its
/// own, so no template is made of it.
const MARK: &str = "{{ base_url }}";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    source: String,
}

impl Client {
    pub(crate) fn read(source: &Source) -> Result<Self, ContentFault> {
        let source = source.text(FILE)?;
        if source.matches(MARK).count() == 1 {
            Ok(Self { source })
        } else {
            let message = format!("must say {MARK} once, where it names its server");
            Err(ContentFault::new(FILE, message))
        }
    }

    /// The program that asks the site at this address.
    pub fn of_site(&self, base_url: &str) -> String {
        self.source.replacen(MARK, base_url, 1)
    }
}
