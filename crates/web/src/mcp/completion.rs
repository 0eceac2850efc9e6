//! How a half-written path, slug or id goes on.

use serde_json::json;

use super::answer::{Kept, Said};
use super::given::Members;
use super::library::Library;
use super::message::{Fault, INVALID_PARAMS};
use super::resources::{ANSWER, PAGE, PRODUCT};

/// What the protocol allows in one answer.
const VALUES_MAX: usize = 100;

pub(super) struct Completion(Vec<Blank>);

/// A template with one place to fill, and all that may stand there.
struct Blank {
    template: String,
    argument: &'static str,
    values: Vec<String>,
}

impl Completion {
    pub(super) fn new(library: &Library) -> Self {
        let catalog = library.catalog();
        Self(vec![
            Blank {
                template: format!("{PAGE}{{+path}}"),
                argument: "path",
                values: library.pages.iter().map(|page| page.path.clone()).collect(),
            },
            Blank {
                template: format!("{PRODUCT}{{slug}}"),
                argument: "slug",
                values: catalog.products.iter().map(|product| product.slug.clone()).collect(),
            },
            Blank {
                template: format!("{ANSWER}{{id}}"),
                argument: "id",
                values: catalog.answers.iter().map(|answer| answer.id.clone()).collect(),
            },
        ])
    }

    pub(super) fn complete(&self, params: &Members<'_>) -> Result<Said, Fault> {
        let text = |object: &str, name: &str| params.object(object)?.text(name);
        let (Some(kind), Some(argument), Some(begun)) =
            (text("ref", "type"), text("argument", "name"), text("argument", "value"))
        else {
            let words = "ref.type, argument.name and argument.value are required.";
            return Err(Fault::new(INVALID_PARAMS, words));
        };
        let fits = |blank: &&Blank| {
            kind == "ref/resource"
                && text("ref", "uri") == Some(&blank.template)
                && argument == blank.argument
        };
        let blank = self.0.iter().find(fits).ok_or_else(|| {
            let words = "No such reference or argument; resources/templates/list has them.";
            Fault::new(INVALID_PARAMS, words)
        })?;
        let fitting = blank.values.iter().filter(|value| value.starts_with(begun));
        let mut values: Vec<&String> = fitting.collect();
        let total = values.len();
        values.truncate(VALUES_MAX);
        let completion = json!({ "values": values, "total": total, "hasMore": total > VALUES_MAX });
        Ok(Said::new(&json!({ "completion": completion }), Kept::No))
    }
}
