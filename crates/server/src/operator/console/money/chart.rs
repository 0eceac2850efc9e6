//! Bar charts with integer coordinates, as values for the template that draws them.

use minijinja::context;
use minijinja::value::Value;

const BAR_WIDTH: u64 = 8;
const STEP: u64 = 10;
const HEIGHT: u64 = 100;
/// The smallest bar of something that is not zero can still be seen.
const SMALLEST: u64 = 1;

/// One coloured part of a bar.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) class: &'static str,
    pub(super) size: u64,
}

/// Bars that stand on a line, and others that hang from it, on one scale.
pub(super) struct BarChart {
    title: &'static str,
    about: &'static str,
    bars: Vec<Bar>,
}

struct Bar {
    text: String,
    up: Vec<Segment>,
    down: Vec<Segment>,
}

impl BarChart {
    pub(super) const fn new(title: &'static str, about: &'static str) -> Self {
        Self { title, about, bars: Vec::new() }
    }

    /// One more bar, with the text that describes it.
    pub(super) fn push(&mut self, text: String, up: Vec<Segment>, down: Vec<Segment>) {
        self.bars.push(Bar { text, up, down });
    }

    pub(super) fn value(&self, legend: &[(&str, &str)], describe: impl Fn(u64) -> String) -> Value {
        let most = |part: fn(&Bar) -> &Vec<Segment>| {
            self.bars.iter().map(|bar| total(part(bar))).max().unwrap_or(0)
        };
        let (up, down) = (most(|bar| &bar.up), most(|bar| &bar.down));
        let scale = Scale { whole: up.saturating_add(down).max(1) };
        let line = scale.length(up);
        let bars = (0_u64..).zip(&self.bars).map(|(place, bar)| {
            context! { text => bar.text, x => place * STEP, rects => scale.rects(bar, line) }
        });
        let width = STEP * u64::try_from(self.bars.len()).unwrap_or(0);
        let legend =
            legend.iter().map(|(class, label)| context! { class => class, label => label });
        context! {
            title => self.title,
            about => self.about,
            width => width,
            height => HEIGHT,
            line => line,
            step => STEP,
            bar_width => BAR_WIDTH,
            bars => bars.collect::<Vec<_>>(),
            top => describe(up),
            empty => up == 0 && down == 0,
            legend => legend.collect::<Vec<_>>(),
        }
    }
}

fn total(segments: &[Segment]) -> u64 {
    segments.iter().fold(0, |sum, segment| sum.saturating_add(segment.size))
}

struct Scale {
    /// The size that is as high as the chart.
    whole: u64,
}

impl Scale {
    fn length(&self, size: u64) -> u64 {
        let scaled = u128::from(size) * u128::from(HEIGHT) / u128::from(self.whole);
        let scaled = u64::try_from(scaled).unwrap_or(HEIGHT);
        if size == 0 { 0 } else { scaled.max(SMALLEST) }
    }

    /// The parts of a bar, the first one at the line.
    fn rects(&self, bar: &Bar, line: u64) -> Vec<Value> {
        let mut rects = Vec::new();
        let (mut above, mut below) = (line, line);
        for segment in &bar.up {
            let height = self.length(segment.size).min(above);
            above -= height;
            rects.push(rect(segment.class, above, height));
        }
        for segment in &bar.down {
            let height = self.length(segment.size).min(HEIGHT.saturating_sub(below));
            rects.push(rect(segment.class, below, height));
            below += height;
        }
        rects
    }
}

fn rect(class: &'static str, y: u64, height: u64) -> Value {
    context! { class => class, y => y, height => height }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bars(sizes: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let mut chart = BarChart::new("Test", "Test");
        for (up, down) in sizes {
            let segment = |class, size| vec![Segment { class, size }];
            chart.push(String::new(), segment("up", *up), segment("down", *down));
        }
        let value = chart.value(&[], |top| top.to_string());
        let bars = value.get_attr("bars").unwrap();
        let number =
            |value: &Value, name: &str| u64::try_from(value.get_attr(name).unwrap()).unwrap();
        let rects =
            |bar: Value| bar.get_attr("rects").unwrap().try_iter().unwrap().collect::<Vec<_>>();
        let heights = bars.try_iter().unwrap().map(rects).map(|rects: Vec<Value>| {
            for rect in &rects {
                assert!(number(rect, "y") + number(rect, "height") <= HEIGHT);
            }
            (number(&rects[0], "height"), number(&rects[1], "height"))
        });
        heights.collect()
    }

    #[test]
    fn bars_up_and_down_share_one_scale_and_fill_the_height() {
        assert_eq!(bars(&[(300, 0), (150, 100)]), [(75, 0), (37, 25)]);
    }

    #[test]
    fn nothing_has_no_height_and_little_is_still_seen() {
        assert_eq!(bars(&[(0, 0)]), [(0, 0)]);
        assert_eq!(bars(&[(u64::MAX, 0), (1, 0)]), [(100, 0), (1, 0)]);
    }
}
