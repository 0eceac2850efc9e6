//! Programs that pages show: each is a file that can be run as it lies.

use std::collections::BTreeMap;

use crate::fault::ContentFault;
use crate::source::Source;

const FOLDER: &str = "snippets";
/// Where a program names the site. Programs have braces of their own, so no
/// template is made of them.
const MARK: &str = "{{ base_url }}";

/// By the name of the file without its ending, as pages call them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippets(BTreeMap<String, Snippet>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Snippet {
    /// What a fence calls the language.
    language: &'static str,
    text: String,
}

impl Snippets {
    pub(crate) fn read(source: &Source) -> Result<Self, Vec<ContentFault>> {
        let names = source.names(FOLDER).map_err(|fault| vec![fault])?;
        let (mut snippets, mut faults) = (BTreeMap::new(), Vec::new());
        for name in names {
            match Snippet::read(source, &name) {
                Ok((stem, snippet)) => {
                    if snippets.insert(stem, snippet).is_some() {
                        let file = format!("{FOLDER}/{name}");
                        faults.push(ContentFault::new(&file, "another snippet has that name"));
                    }
                }
                Err(fault) => faults.push(fault),
            }
        }
        if faults.is_empty() { Ok(Self(snippets)) } else { Err(faults) }
    }

    /// Every program between fences, for the site at this address.
    pub(crate) fn fenced(&self, base_url: &str) -> BTreeMap<&str, String> {
        let fence = |Snippet { language, text }: &Snippet| {
            format!("```{language}\n{}\n```", text.trim_end().replace(MARK, base_url))
        };
        self.0.iter().map(|(name, snippet)| (name.as_str(), fence(snippet))).collect()
    }
}

impl Snippet {
    fn read(source: &Source, name: &str) -> Result<(String, Self), ContentFault> {
        let file = format!("{FOLDER}/{name}");
        let text = source.text(&file)?;
        let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
        let language = match ending {
            "sh" => "sh",
            "mts" => "ts",
            "py" => "python",
            _ => return Err(ContentFault::new(&file, "ends in none of .sh, .mts and .py")),
        };
        Ok((stem.to_owned(), Self { language, text }))
    }
}
