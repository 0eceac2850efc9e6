//! The site's words, from the binary or from the operator's folder.

use content::catalog::{Catalog, ContentFault};

use crate::config::Content;

pub(crate) fn load(content: &Content) -> Result<Catalog, Vec<ContentFault>> {
    match &content.folder {
        None => Catalog::built_in(),
        Some(folder) => Catalog::from_folder(folder),
    }
}
