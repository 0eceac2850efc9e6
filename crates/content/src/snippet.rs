//! Example programs on pages. Each is a file that runs unchanged.

use std::collections::BTreeMap;

use crate::fault::ContentFault;
use crate::source::ContentSource;

const FOLDER: &str = "snippets";
/// Replaced by the URL of the site. Programs use braces themselves, so they are not templates.
const PLACEHOLDER: &str = "{{ base_url }}";

/// By file name without the extension, as pages refer to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippets(BTreeMap<String, Snippet>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Snippet {
    /// The info string of the code fence.
    language: &'static str,
    text: String,
}

impl Snippets {
    pub(crate) fn read(source: &ContentSource) -> Result<Self, Vec<ContentFault>> {
        let names = source.names(FOLDER).map_err(|fault| vec![fault])?;
        let (mut snippets, mut faults) = (BTreeMap::new(), Vec::new());
        for name in names {
            match Snippet::read(source, &name) {
                Ok((stem, snippet)) => {
                    if snippets.insert(stem, snippet).is_some() {
                        let file = format!("{FOLDER}/{name}");
                        faults.push(ContentFault::new(&file, "another snippet has the same name"));
                    }
                }
                Err(fault) => faults.push(fault),
            }
        }
        if faults.is_empty() { Ok(Self(snippets)) } else { Err(faults) }
    }

    /// Every program as a code fence, with the URL of the site filled in.
    pub(crate) fn fenced(&self, base_url: &str) -> BTreeMap<&str, String> {
        let fence = |Snippet { language, text }: &Snippet| {
            format!("```{language}\n{}\n```", text.trim_end().replace(PLACEHOLDER, base_url))
        };
        self.0.iter().map(|(name, snippet)| (name.as_str(), fence(snippet))).collect()
    }
}

impl Snippet {
    fn read(source: &ContentSource, name: &str) -> Result<(String, Self), ContentFault> {
        let file = format!("{FOLDER}/{name}");
        let text = source.text(&file)?;
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        let language = match extension {
            "sh" => "sh",
            "mts" => "ts",
            "py" => "python",
            _ => return Err(ContentFault::new(&file, "must end in .sh, .mts or .py")),
        };
        Ok((stem.to_owned(), Self { language, text }))
    }
}
