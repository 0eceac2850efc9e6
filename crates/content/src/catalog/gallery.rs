//! The pictures that the form offers for the front of a card.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::fault::ContentFault;
use crate::product::is_slug;
use crate::site::Language;
use crate::source::ContentSource;

const FOLDER: &str = "gallery";
const FILE: &str = "gallery/gallery.toml";

/// One picture, as a source, at the size of print, and small for the form.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GalleryPicture {
    pub name: String,
    pub svg: String,
    pub jpeg: String,
    pub thumbnail: String,
    title: BTreeMap<Language, String>,
    alt: BTreeMap<Language, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GalleryFile {
    picture: Vec<GalleryPicture>,
}

impl GalleryPicture {
    pub(crate) fn read_all(source: &ContentSource) -> Result<Vec<Self>, Vec<ContentFault>> {
        let text = source.text(FILE).map_err(|fault| vec![fault])?;
        let file: GalleryFile = toml::from_str(&text)
            .map_err(|error| vec![ContentFault::new(FILE, error.to_string())])?;
        let faults: Vec<_> = file.picture.iter().flat_map(|one| one.faults(source)).collect();
        if faults.is_empty() { Ok(file.picture) } else { Err(faults) }
    }

    /// Where the picture is served at the size of print.
    pub fn path(&self) -> String {
        format!("/{FOLDER}/{}", self.jpeg)
    }

    pub fn thumbnail_path(&self) -> String {
        format!("/{FOLDER}/{}", self.thumbnail)
    }

    /// The files that are served, with their paths.
    pub fn files(&self) -> [(String, String); 2] {
        let file = |name: &str| format!("{FOLDER}/{name}");
        [(file(&self.jpeg), self.path()), (file(&self.thumbnail), self.thumbnail_path())]
    }

    pub(crate) fn title(&self, language: Language) -> &str {
        self.title.get(&language).map_or("", String::as_str)
    }

    pub(crate) fn alt(&self, language: Language) -> &str {
        self.alt.get(&language).map_or("", String::as_str)
    }

    fn faults(&self, source: &ContentSource) -> Vec<ContentFault> {
        let mut faults = Vec::new();
        let name = &self.name;
        if !is_slug(name) {
            let message = format!("name: {name:?} is not made of a-z, 0-9 and single hyphens");
            faults.push(ContentFault::new(FILE, message));
        }
        for language in Language::ALL {
            if self.title(language).is_empty() || self.alt(language).is_empty() {
                let message = format!("{name}: title or alt is missing in {}", language.code());
                faults.push(ContentFault::new(FILE, message));
            }
        }
        faults.extend(self.files().into_iter().filter_map(|(file, _)| source.bytes(&file).err()));
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gallery_has_at_least_twelve_pictures() {
        let pictures = GalleryPicture::read_all(&ContentSource::BuiltIn).unwrap();
        assert!(pictures.len() >= 12, "{}", pictures.len());
    }

    #[test]
    fn a_missing_file_or_translation_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(FOLDER)).unwrap();
        let text = "[[picture]]\nname = \"The sea\"\nsvg = \"a.svg\"\njpeg = \"a.jpg\"\n\
                    thumbnail = \"a.webp\"\ntitle = { en = \"Sea\", de = \"Meer\", es = \"Mar\" }\n\
                    alt = { en = \"a\", de = \"b\", es = \"c\", it = \"d\" }\n";
        std::fs::write(folder.path().join(FILE), text).unwrap();
        let faults = GalleryPicture::read_all(&ContentSource::Folder(folder.path().to_owned()));
        let faults: Vec<String> = faults.unwrap_err().iter().map(ToString::to_string).collect();
        assert_eq!(faults.len(), 4, "{faults:?}");
        assert!(faults[0].contains("is not made of"), "{faults:?}");
        assert!(faults[1].contains("missing in it"), "{faults:?}");
        assert!(faults[2].starts_with("gallery/a.jpg: "), "{faults:?}");
    }
}
