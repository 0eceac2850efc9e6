//! Renders Markdown as accessible HTML.

use std::collections::BTreeSet;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};
use serde::Serialize;

/// A text as HTML, with its table of contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RenderedText {
    pub(crate) html: String,
    pub(crate) contents: Vec<ContentsEntry>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ContentsEntry {
    pub(crate) id: String,
    pub(crate) text: String,
}

/// A page. Each level-2 heading starts a `<section>`.
pub(crate) fn page(source: &str) -> RenderedText {
    let events: Vec<Event<'_>> = parser(source).collect();
    let mut writer = HtmlWriter::default();
    for (place, event) in events.iter().enumerate() {
        writer.write(event, &events[place + 1..]);
    }
    writer.finish()
}

/// A short text without headings, such as a description.
pub(crate) fn fragment(source: &str) -> String {
    page(source).html
}

/// The link targets of a text.
pub(crate) fn links(source: &str) -> Vec<String> {
    parser(source)
        .filter_map(|event| {
            let Event::Start(Tag::Link { dest_url, .. }) = event else { return None };
            Some(dest_url.into_string())
        })
        .collect()
}

fn parser(source: &str) -> Parser<'_> {
    Parser::new_ext(source, Options::ENABLE_TABLES)
}

#[derive(Default)]
struct HtmlWriter<'a> {
    events: Vec<Event<'a>>,
    contents: Vec<ContentsEntry>,
    ids: BTreeSet<String>,
    /// The last heading, which labels the tables below it.
    heading: String,
    /// How many tables are below it so far.
    tables: usize,
    sections: usize,
}

impl<'a> HtmlWriter<'a> {
    fn write(&mut self, event: &Event<'a>, rest: &[Event<'a>]) {
        if let Event::Start(Tag::Heading { level, .. }) = event {
            return self.write_heading(*level, rest);
        }
        // Wide tables scroll inside of a box that the keyboard can focus.
        if let Event::Start(Tag::Table(_)) = event {
            let label = self.table_label();
            self.raw(format!(
                "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{label}\">\n"
            ));
        }
        self.events.push(event.clone());
        if let Event::End(TagEnd::Table) = event {
            self.raw("</div>\n".to_owned());
        }
    }

    fn write_heading(&mut self, level: HeadingLevel, rest: &[Event<'a>]) {
        self.heading = words(rest);
        self.tables = 0;
        let id = self.id();
        if level == HeadingLevel::H2 {
            self.section();
            self.contents.push(ContentsEntry { id: id.clone(), text: self.heading.clone() });
        }
        let (classes, attrs) = (Vec::new(), Vec::new());
        let heading = Tag::Heading { level, id: Some(id.into()), classes, attrs };
        self.events.push(Event::Start(heading));
    }

    /// The heading, and a number from the second table on, because screen readers need distinct
    /// region names.
    fn table_label(&mut self) -> String {
        self.tables += 1;
        let heading = escaped(&self.heading);
        if self.tables == 1 { heading.to_string() } else { format!("{heading}, {}", self.tables) }
    }

    fn section(&mut self) {
        let before = if self.sections == 0 { "<section>\n" } else { "</section>\n<section>\n" };
        self.sections += 1;
        self.raw(before.to_owned());
    }

    fn raw(&mut self, html: String) {
        self.events.push(Event::Html(html.into()));
    }

    /// The heading as a fragment identifier, unique on the page.
    fn id(&mut self) -> String {
        let stem = slug(&self.heading);
        let taken = |id: &String| self.ids.contains(id);
        let id = (2..)
            .map(|number| format!("{stem}-{number}"))
            .find(|id| !taken(id))
            .filter(|_| taken(&stem))
            .unwrap_or(stem);
        self.ids.insert(id.clone());
        id
    }

    fn finish(mut self) -> RenderedText {
        if self.sections > 0 {
            self.raw("</section>\n".to_owned());
        }
        let mut written = String::new();
        html::push_html(&mut written, self.events.into_iter());
        let html = written.replace("<pre><code", "<pre tabindex=\"0\"><code");
        RenderedText { html, contents: self.contents }
    }
}

/// The text of a heading.
fn words(events: &[Event<'_>]) -> String {
    let mut words = String::new();
    for event in events {
        if let Event::End(TagEnd::Heading(_)) = event {
            break;
        }
        if let Event::Text(text) | Event::Code(text) = event {
            words.push_str(text);
        }
    }
    words
}

pub(crate) fn slug(text: &str) -> String {
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|letter: char| !letter.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    if words.is_empty() { "section".to_owned() } else { words.join("-") }
}

pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_tables_below_one_heading_have_distinct_labels() {
        let table = "| a | b |\n|---|---|\n| 1 | 2 |\n\n";
        let html = page(&format!("## Prices\n\n{table}Words.\n\n{table}## Days\n\n{table}")).html;
        for label in ["Prices", "Prices, 2", "Days"] {
            assert_eq!(html.matches(&format!("aria-label=\"{label}\"")).count(), 1, "{label}");
        }
    }
}
