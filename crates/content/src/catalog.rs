//! Everything that the site says, loaded and checked at start.

use std::fmt;
use std::path::Path;

use crate::site::Site;

/// All words of the site. Whoever holds one need not check it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalog {
    pub site: Site,
}

/// What is wrong with the content, file by file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentFault {
    pub file: String,
    pub message: String,
}

impl fmt::Display for ContentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.message)
    }
}

const SITE: &str = "site.toml";

impl Catalog {
    /// What is built into the binary.
    pub fn built_in() -> Result<Self, Vec<ContentFault>> {
        Self::read(include_str!("../../../content/site.toml"))
    }

    /// A folder that replaces what is built in.
    pub fn from_folder(folder: &Path) -> Result<Self, Vec<ContentFault>> {
        let text = std::fs::read_to_string(folder.join(SITE))
            .map_err(|error| vec![fault(format!("cannot be read: {error}"))])?;
        Self::read(&text)
    }

    fn read(site: &str) -> Result<Self, Vec<ContentFault>> {
        let site: Site = toml::from_str(site).map_err(|error| vec![fault(error.to_string())])?;
        let mut faults = Vec::new();
        if site.languages.is_empty() {
            faults.push(fault("languages: name at least one".to_owned()));
        }
        for (place, language) in site.languages.iter().enumerate() {
            if site.languages[..place].contains(language) {
                faults.push(fault(format!("languages: {language:?} is named twice")));
            }
        }
        if faults.is_empty() { Ok(Self { site }) } else { Err(faults) }
    }
}

fn fault(message: String) -> ContentFault {
    ContentFault { file: SITE.to_owned(), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_in_is_sound() {
        assert!(Catalog::built_in().is_ok());
    }

    #[test]
    fn a_folder_replaces_what_is_built_in_and_its_faults_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let faults = Catalog::from_folder(folder.path()).unwrap_err();
        assert!(faults[0].to_string().starts_with("site.toml: cannot be read"), "{faults:?}");
        let twice = "name = 'a'\ntagline = 'b'\nlanguages = ['en', 'en']";
        std::fs::write(folder.path().join(SITE), twice).unwrap();
        let faults = Catalog::from_folder(folder.path()).unwrap_err();
        assert_eq!(faults[0].message, "languages: En is named twice");
        std::fs::write(folder.path().join(SITE), twice.replace(", 'en'", "")).unwrap();
        assert_eq!(Catalog::from_folder(folder.path()).unwrap().site.name, "a");
    }
}
