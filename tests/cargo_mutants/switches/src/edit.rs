//! Edits of a source text that may contain each other.

use std::ops::Range;

/// One way to change the code at a place.
pub struct Mutant {
    pub number: u32,
    pub replacement: String,
}

/// What is written for the mutants of one place.
pub enum Change {
    /// A value is returned at the beginning of a function.
    Return,
    /// An expression is replaced by what the mutant says, between these operands of it.
    Value { before: Option<Range<usize>>, after: Option<Range<usize>> },
    /// The arm of this pattern never matches.
    Arm,
}

pub struct Edit {
    pub range: Range<usize>,
    pub change: Change,
    pub mutants: Vec<Mutant>,
}

/// Where the text for a mutant is.
type Written = Vec<(u32, Range<usize>)>;

impl Edit {
    /// The order of edits: a place that contains another one comes before it, and a condition before the expression that
    /// it consists of.
    pub fn key(&self) -> (usize, usize, bool) {
        let has_operands = matches!(self.change, Change::Value { after: Some(_), .. });
        (self.range.start, usize::MAX - self.range.end, has_operands)
    }
}

/// The changed text, and where each mutant is in it.
pub fn apply(source: &str, mut edits: Vec<Edit>) -> (String, Written) {
    edits.sort_by_key(Edit::key);
    let mut out = Output { text: String::new(), written: Vec::new() };
    out.copy(source, 0..source.len(), &edits);
    (out.text, out.written)
}

struct Output {
    text: String,
    written: Written,
}

impl Output {
    fn copy(&mut self, source: &str, range: Range<usize>, edits: &[Edit]) {
        let mut at = range.start;
        let mut next = 0;
        while let Some(edit) = edits.get(next) {
            self.text.push_str(&source[at..edit.range.start]);
            next += 1;
            // An empty place contains none.
            let is_inner = |other: &&Edit| other.range.start < edit.range.end;
            let inner = edits[next..].iter().take_while(is_inner).count();
            self.write(source, edit, &edits[next..next + inner]);
            at = edit.range.end;
            next += inner;
        }
        self.text.push_str(&source[at..range.end]);
    }

    fn write(&mut self, source: &str, edit: &Edit, inner: &[Edit]) {
        if matches!(edit.change, Change::Value { .. }) {
            self.text.push('(');
        }
        for Mutant { number, replacement } in &edit.mutants {
            let switch = format!("crate::mutant_is({number})");
            let text = match &edit.change {
                Change::Return => format!("if {switch} {{ return {replacement}; }} "),
                Change::Value { before, after } => {
                    let operand = |range: &Option<Range<usize>>| match range {
                        Some(range) => format!("({})", &source[range.clone()]),
                        None => String::new(),
                    };
                    let (before, after) = (operand(before), operand(after));
                    format!("if {switch} {{ {before} {replacement} {after} }} else ")
                }
                Change::Arm => format!(" if !{switch}"),
            };
            let start = self.text.len();
            self.text.push_str(&text);
            self.written.push((*number, start..self.text.len()));
        }
        if matches!(edit.change, Change::Value { .. }) {
            self.text.push_str("{ ");
            self.copy(source, edit.range.clone(), inner);
            self.text.push_str(" })");
        }
    }
}
