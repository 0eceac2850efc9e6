//! A text that is rendered once, with placeholders that are filled in for each answer.

/// The pieces of the text, each with the index of the placeholder after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    pieces: Vec<(String, usize)>,
    end: String,
}

impl Template {
    /// No placeholder may be part of another.
    pub(crate) fn new(text: &str, placeholders: &[&str]) -> Self {
        let mut pieces = Vec::new();
        let mut rest = text;
        let next = |rest: &str| {
            let found = placeholders
                .iter()
                .zip(0..)
                .filter_map(|(placeholder, index)| Some((rest.find(placeholder)?, index)));
            found.min()
        };
        while let Some((place, index)) = next(rest) {
            let (piece, after) = rest.split_at(place);
            pieces.push((piece.to_owned(), index));
            rest = placeholders
                .get(index)
                .and_then(|placeholder| after.strip_prefix(placeholder))
                .unwrap_or_default();
        }
        Self { pieces, end: rest.to_owned() }
    }

    /// The text with a value for each placeholder, in the order of [`new`](Self::new).
    pub(crate) fn fill(&self, values: &[&str]) -> Vec<u8> {
        let value = |index: usize| values.get(index).copied().unwrap_or_default();
        let pieces = self.pieces.iter().map(|(piece, index)| piece.len() + value(*index).len());
        let mut text = Vec::with_capacity(pieces.sum::<usize>() + self.end.len());
        for (piece, index) in &self.pieces {
            text.extend_from_slice(piece.as_bytes());
            text.extend_from_slice(value(*index).as_bytes());
        }
        text.extend_from_slice(self.end.as_bytes());
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placeholder_is_replaced_by_its_value() {
        let template = Template::new("<1> and <2>, <1> again", &["<1>", "<2>"]);
        assert_eq!(template.fill(&["one", ""]), b"one and , one again");
        assert_eq!(template.fill(&["<2>", "two"]), b"<2> and two, <2> again");
        assert_eq!(Template::new("no gap", &["<1>"]).fill(&["one"]), b"no gap");
        assert_eq!(Template::new("", &["<1>"]).fill(&["one"]), b"");
    }
}
