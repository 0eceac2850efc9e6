//! Draws lines of handwriting as SVG paths with small irregularities.

use std::fmt::Write;

use crate::provider::picture::glyphs::{Glyph, glyph};
use crate::provider::picture::handwriting::{LINE, RISE, TextLayout, advance, measured};
use crate::provider::picture::jitter::Jitter;
use crate::provider::picture::svg::escaped;

/// Drawn in tenths of a unit, so that small letters keep their shape.
const FINE: i64 = 10;

/// Where the first line begins.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) left: i64,
    pub(crate) top: i64,
}

/// The lines as paths; characters without a glyph as text.
pub(crate) fn drawn(setting: &TextLayout, place: Place, jitter: &mut Jitter) -> String {
    let TextLayout { lines, size } = setting;
    let mut top = place.top * FINE + RISE * size * FINE / 100;
    let width = (size * FINE * 6 / 100).max(FINE);
    let mut drawing = format!(
        "<g transform=\"scale(.1)\" fill=\"none\" stroke=\"#1f2a55\" stroke-width=\"{width}\" \
         stroke-linecap=\"round\" stroke-linejoin=\"round\">"
    );
    for line in lines {
        let pen = Pen {
            left: place.left * FINE + jitter.between(-4, 10) * size * FINE / 100,
            baseline: top,
            size: *size,
            // Handwriting rises a little along the line.
            climb: jitter.between(2, 11),
        };
        pen.write(line, jitter, &mut drawing);
        top += LINE * size * FINE / 100;
    }
    drawing.push_str("</g>");
    drawing
}

struct Pen {
    left: i64,
    baseline: i64,
    size: i64,
    /// Thousandths of the way along.
    climb: i64,
}

impl Pen {
    fn write(&self, line: &str, jitter: &mut Jitter, drawing: &mut String) {
        let mut path = String::new();
        let mut along = 0;
        let mut letters = line.chars().peekable();
        while let Some(letter) = letters.next() {
            if let Some(glyph) = glyph(letter) {
                let lean = (jitter.between(-2, 2), jitter.between(-2, 2));
                self.stroke(glyph, along, lean, jitter, &mut path);
                along += advance(letter);
                continue;
            }
            // Adjacent characters without glyphs stay together, so that joined scripts and
            // emoji sequences render correctly.
            let mut run = String::from(letter);
            while let Some(next) = letters.next_if(|next| *next == ' ' || glyph(*next).is_none()) {
                run.push(next);
            }
            self.print(run.trim_end(), along, drawing);
            along += measured(&run);
        }
        if !path.is_empty() {
            write!(drawing, "<path d=\"{path}\"/>").expect("writing to a String cannot fail");
        }
    }

    /// Through the middles of the points, bent towards the points themselves.
    fn stroke(
        &self,
        glyph: &Glyph,
        along: i64,
        lean: (i64, i64),
        jitter: &mut Jitter,
        path: &mut String,
    ) {
        for stroke in &glyph.strokes {
            let mut previous: Option<(i64, i64)> = None;
            let last = stroke.len() - 1;
            for (number, (x, y)) in stroke.iter().enumerate() {
                let shaken = (x + lean.0 + jitter.between(-1, 1), y + lean.1);
                let (x, y) = self.place(along, shaken);
                let middle =
                    |from: (i64, i64)| (i64::midpoint(from.0, x), i64::midpoint(from.1, y));
                match previous {
                    None => write!(path, "M{x} {y}"),
                    Some(bend) if number == last => {
                        write!(path, "Q{} {} {x} {y}", bend.0, bend.1)
                    }
                    Some(_) if number == 1 => Ok(()),
                    Some(bend) => {
                        let (middle_x, middle_y) = middle(bend);
                        write!(path, "Q{} {} {middle_x} {middle_y}", bend.0, bend.1)
                    }
                }
                .expect("writing to a String cannot fail");
                previous = Some((x, y));
            }
        }
    }

    fn place(&self, along: i64, (x, y): (i64, i64)) -> (i64, i64) {
        // It leans to the right by an eighth of its height.
        let across = (along + x + y / 8) * self.size * FINE / 100;
        let up = y * self.size * FINE / 100 + across * self.climb / 1_000;
        (self.left + across, self.baseline - up)
    }

    fn print(&self, run: &str, along: i64, drawing: &mut String) {
        let (x, y) = self.place(along, (0, 0));
        let size = 66 * self.size * FINE / 100;
        let width = measured(run) * self.size * FINE / 100;
        write!(
            drawing,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" textLength=\"{width}\" \
             lengthAdjust=\"spacingAndGlyphs\" fill=\"#1f2a55\" stroke=\"none\" \
             font-family=\"'Segoe Print','Bradley Hand','Noto Sans',sans-serif\">{}</text>",
            escaped(run)
        )
        .expect("writing to a String cannot fail");
    }
}
