//! A text that is written once, with gaps that are filled in for each order.

/// The pieces of the text, each with the number of the gap that follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    pieces: Vec<(String, usize)>,
    end: String,
}

impl Form {
    /// Every mark in the text becomes a gap. No mark may be part of another.
    pub(crate) fn of(text: &str, marks: &[&str]) -> Self {
        let mut pieces = Vec::new();
        let mut rest = text;
        let next = |rest: &str| {
            let found =
                marks.iter().zip(0..).filter_map(|(mark, gap)| Some((rest.find(mark)?, gap)));
            found.min()
        };
        while let Some((place, gap)) = next(rest) {
            let (piece, marked) = rest.split_at(place);
            pieces.push((piece.to_owned(), gap));
            rest = marks.get(gap).and_then(|mark| marked.strip_prefix(mark)).unwrap_or_default();
        }
        Self { pieces, end: rest.to_owned() }
    }

    /// The text with a word for each mark, in the sequence in which the marks were given.
    pub(crate) fn fill(&self, words: &[&str]) -> Vec<u8> {
        let word = |gap: usize| words.get(gap).copied().unwrap_or_default();
        let pieces = self.pieces.iter().map(|(piece, gap)| piece.len() + word(*gap).len());
        let mut text = Vec::with_capacity(pieces.sum::<usize>() + self.end.len());
        for (piece, gap) in &self.pieces {
            text.extend_from_slice(piece.as_bytes());
            text.extend_from_slice(word(*gap).as_bytes());
        }
        text.extend_from_slice(self.end.as_bytes());
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_gap_takes_its_word_wherever_it_stands() {
        let form = Form::of("<1> and <2>, <1> again", &["<1>", "<2>"]);
        assert_eq!(form.fill(&["one", ""]), b"one and , one again");
        assert_eq!(form.fill(&["<2>", "two"]), b"<2> and two, <2> again");
        assert_eq!(Form::of("no gap", &["<1>"]).fill(&["one"]), b"no gap");
        assert_eq!(Form::of("", &["<1>"]).fill(&["one"]), b"");
    }
}
