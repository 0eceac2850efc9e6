//! The site's words, from the binary or from the operator's folder.

use content::catalog::Catalog;
use content::fault::ContentFault;
use web::surface;

use crate::config::Content;

pub(crate) fn load(content: &Content) -> Result<Catalog, Vec<ContentFault>> {
    let elsewhere = surface::paths();
    match &content.folder {
        None => Catalog::built_in(&elsewhere),
        Some(folder) => Catalog::from_folder(folder, &elsewhere),
    }
}
