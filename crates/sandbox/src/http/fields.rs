//! Reads a JSON object field by field and collects all invalid fields.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

pub(crate) struct JsonFields<'a> {
    value: &'a Value,
    known: Vec<&'static str>,
    faults: Map<String, Value>,
}

impl<'a> JsonFields<'a> {
    pub(crate) fn of(value: &'a Value) -> Self {
        Self { value, known: Vec::new(), faults: Map::new() }
    }

    pub(crate) fn text(&mut self, name: &'static str) -> Option<String> {
        self.read(name, "This must be text.", |value| value.as_str().map(str::to_owned))
    }

    pub(crate) fn number(&mut self, name: &'static str, range: RangeInclusive<u64>) -> Option<u64> {
        let words =
            format!("This must be a whole number from {} to {}.", range.start(), range.end());
        self.read(name, &words, |value| value.as_u64().filter(|number| range.contains(number)))
    }

    /// A number that fits a smaller type.
    pub(crate) fn small<T: TryFrom<u64>>(
        &mut self,
        name: &'static str,
        range: RangeInclusive<u64>,
    ) -> Option<T> {
        self.number(name, range).and_then(|number| T::try_from(number).ok())
    }

    pub(crate) fn word<T>(
        &mut self,
        name: &'static str,
        words: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        self.read(name, &format!("Use one of {words}."), |value| value.as_str().and_then(&read))
    }

    pub(crate) fn read<T>(
        &mut self,
        name: &'static str,
        words: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Option<T> {
        self.known.push(name);
        let value = self.value.get(name).filter(|value| !value.is_null())?;
        let found = read(value);
        if found.is_none() {
            self.fault(name, words);
        }
        found
    }

    pub(crate) fn missing(&mut self, name: &'static str) {
        if !self.faults.contains_key(name) {
            self.fault(name, "This field is required.");
        }
    }

    pub(crate) fn fault(&mut self, name: &str, words: &str) {
        self.faults.insert(name.to_owned(), Value::from(vec![words]));
    }

    /// All errors. An unknown field is an error too, because a misspelled field would be
    /// ignored silently.
    pub(crate) fn done(mut self) -> Result<(), Map<String, Value>> {
        match self.value.as_object() {
            None => self.fault("body", "This must be a JSON object."),
            Some(object) => {
                for name in object.keys().filter(|name| !self.known.contains(&name.as_str())) {
                    let words = format!("Unknown field. Known fields: {}.", self.known.join(", "));
                    self.faults.insert(name.clone(), Value::from(vec![words]));
                }
            }
        }
        if self.faults.is_empty() { Ok(()) } else { Err(self.faults) }
    }
}
