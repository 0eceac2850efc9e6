//! Loads the site's content, from the binary or from the operator's folder.

use content::catalog::Catalog;
use content::fault::ContentFault;
use web::surface;

use crate::config::ContentConfig;

pub(crate) fn load(content: &ContentConfig) -> Result<Catalog, Vec<ContentFault>> {
    let endpoints = surface::paths();
    match &content.folder {
        None => Catalog::built_in(&endpoints),
        Some(folder) => Catalog::from_folder(folder, &endpoints),
    }
}

/// What `serve` and `check` print about invalid content.
pub(crate) fn error_message(faults: &[ContentFault]) -> String {
    let list = faults.iter().fold(String::new(), |text, fault| format!("{text}  {fault}\n"));
    format!("The content is invalid.\n\n{list}")
}
