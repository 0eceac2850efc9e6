//! Finds the places in a file where mutants can be switched.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::Text;
use crate::edit::{Change, Edit};

/// Another condition, whatever the present one is.
const CONDITION: Change = Change::Value { before: None, after: None };

/// What can be changed, by the offset where cargo-mutants names it.
#[derive(Default)]
pub struct Places {
    /// The bodies of functions: where their first statement begins.
    bodies: BTreeSet<usize>,
    /// Binary expressions by their operator: the whole, and both operands.
    binary: BTreeMap<usize, [Range<usize>; 3]>,
    /// Unary expressions: the whole and the operand.
    unary: BTreeMap<usize, [Range<usize>; 2]>,
    guards: BTreeMap<usize, Range<usize>>,
    /// Match arms: their guard, or the empty place for one.
    arms: BTreeMap<usize, Range<usize>>,
}

impl Places {
    /// The edit for a mutant of this genre at these offsets; none if it cannot be switched.
    pub fn edit(&self, genre: &str, start: usize) -> Option<Edit> {
        let (range, change) = match genre {
            "FnValue" => {
                self.bodies.get(&start)?;
                (start..start, Change::Return)
            }
            "BinaryOperator" => {
                let [whole, left, right] = self.binary.get(&start)?.clone();
                (whole, Change::Value { before: Some(left), after: Some(right) })
            }
            "UnaryOperator" => {
                let [whole, operand] = self.unary.get(&start)?.clone();
                (whole, Change::Value { before: None, after: Some(operand) })
            }
            "MatchArmGuard" => (self.guards.get(&start)?.clone(), CONDITION),
            "MatchArm" => {
                let guard = self.arms.get(&start)?.clone();
                let change = if guard.is_empty() { Change::Arm } else { CONDITION };
                (guard, change)
            }
            _ => return None,
        };
        Some(Edit { range, change, mutants: Vec::new() })
    }
}

pub fn find(file: &syn::File, text: &Text<'_>) -> Places {
    let mut finder = Finder { text, found: Places::default(), constant: 0 };
    finder.visit_file(file);
    finder.found
}

struct Finder<'a> {
    text: &'a Text<'a>,
    found: Places,
    /// How many constants enclose the place.
    constant: u32,
}

impl Finder<'_> {
    fn range(&self, span: Span) -> Range<usize> {
        let (start, end) = (span.start(), span.end());
        self.text.offset(start.line, start.column)..self.text.offset(end.line, end.column)
    }

    fn body(
        &mut self,
        signature: &syn::Signature,
        block: &syn::Block,
        visit: impl FnOnce(&mut Self),
    ) {
        let constant = signature.constness.is_some();
        self.constant += u32::from(constant);
        if let (0, Some(first)) = (self.constant, block.stmts.first()) {
            let start = self.range(first.span()).start;
            self.found.bodies.insert(start);
        }
        visit(self);
        self.constant -= u32::from(constant);
    }

    fn in_constant(&mut self, visit: impl FnOnce(&mut Self)) {
        self.constant += 1;
        visit(self);
        self.constant -= 1;
    }
}

/// Whether the condition binds names, so that it must stay where it is.
fn binds(expression: &syn::Expr) -> bool {
    struct Let(bool);
    impl Visit<'_> for Let {
        fn visit_expr_let(&mut self, _: &syn::ExprLet) {
            self.0 = true;
        }
        fn visit_block(&mut self, _: &syn::Block) {}
        fn visit_expr_closure(&mut self, _: &syn::ExprClosure) {}
        fn visit_expr_match(&mut self, _: &syn::ExprMatch) {}
    }
    let mut found = Let(false);
    found.visit_expr(expression);
    found.0
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.body(&item.sig, &item.block, |finder| visit::visit_item_fn(finder, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.body(&item.sig, &item.block, |finder| visit::visit_impl_item_fn(finder, item));
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        match &item.default {
            Some(block) => {
                self.body(&item.sig, block, |finder| visit::visit_trait_item_fn(finder, item));
            }
            None => visit::visit_trait_item_fn(self, item),
        }
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.in_constant(|finder| visit::visit_item_const(finder, item));
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.in_constant(|finder| visit::visit_item_static(finder, item));
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.in_constant(|finder| visit::visit_impl_item_const(finder, item));
    }

    fn visit_trait_item_const(&mut self, item: &'ast syn::TraitItemConst) {
        self.in_constant(|finder| visit::visit_trait_item_const(finder, item));
    }

    fn visit_expr_const(&mut self, expression: &'ast syn::ExprConst) {
        self.in_constant(|finder| visit::visit_expr_const(finder, expression));
    }

    fn visit_type_array(&mut self, array: &'ast syn::TypeArray) {
        self.in_constant(|finder| visit::visit_type_array(finder, array));
    }

    fn visit_expr_repeat(&mut self, repeat: &'ast syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
        self.in_constant(|finder| finder.visit_expr(&repeat.len));
    }

    fn visit_expr_binary(&mut self, expression: &'ast syn::ExprBinary) {
        if self.constant == 0 && !binds(&expression.left) && !binds(&expression.right) {
            let operator = self.range(expression.op.span()).start;
            let parts = [expression.span(), expression.left.span(), expression.right.span()];
            self.found.binary.insert(operator, parts.map(|span| self.range(span)));
        }
        visit::visit_expr_binary(self, expression);
    }

    fn visit_expr_unary(&mut self, expression: &'ast syn::ExprUnary) {
        if self.constant == 0 {
            let operator = self.range(expression.op.span()).start;
            let parts = [expression.span(), expression.expr.span()];
            self.found.unary.insert(operator, parts.map(|span| self.range(span)));
        }
        visit::visit_expr_unary(self, expression);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if self.constant == 0 {
            let start = self.range(arm.span()).start;
            let pattern = self.range(arm.pat.span());
            match &arm.guard {
                Some((_, guard)) if !binds(guard) => {
                    let guard = self.range(guard.span());
                    self.found.arms.insert(start, guard.clone());
                    self.found.guards.insert(guard.start, guard);
                }
                Some(_) => {}
                None => {
                    self.found.arms.insert(start, pattern.end..pattern.end);
                }
            }
        }
        visit::visit_arm(self, arm);
    }
}
