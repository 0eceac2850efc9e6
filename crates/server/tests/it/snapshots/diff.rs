//! The lines in which two texts differ, as `diff -U2` prints them.

const CONTEXT: usize = 2;
/// Above this, the lines between the first and the last difference are printed whole.
const COMPARISONS_MAX: usize = 4_000_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Both,
    Recorded,
    Now,
}

/// Lines with `-` are recorded, lines with `+` are new.
pub(super) fn lines(recorded: &str, now: &str) -> String {
    let (recorded, now): (Vec<&str>, Vec<&str>) =
        (recorded.lines().collect(), now.lines().collect());
    let all = aligned(&recorded, &now);
    let is_near = |place: usize| {
        let (first, last) = (place.saturating_sub(CONTEXT), (place + CONTEXT).min(all.len() - 1));
        all[first..=last].iter().any(|(side, _)| *side != Side::Both)
    };
    let mut text = String::new();
    let mut gap = false;
    for (place, (side, line)) in all.iter().enumerate() {
        if !is_near(place) {
            gap = true;
            continue;
        }
        if std::mem::take(&mut gap) {
            text.push_str("  ...\n");
        }
        let sign = match side {
            Side::Both => ' ',
            Side::Recorded => '-',
            Side::Now => '+',
        };
        text.push_str(&format!("{sign} {line}\n"));
    }
    text
}

fn aligned<'a>(recorded: &[&'a str], now: &[&'a str]) -> Vec<(Side, &'a str)> {
    let shorter = recorded.len().min(now.len());
    let head = (0..shorter).take_while(|place| recorded[*place] == now[*place]).count();
    let backwards = recorded.iter().rev().zip(now.iter().rev()).take(shorter - head);
    let tail = backwards.take_while(|(old, new)| old == new).count();
    let (old, new) = (&recorded[head..recorded.len() - tail], &now[head..now.len() - tail]);
    let both = |lines: &[&'a str]| lines.iter().map(|line| (Side::Both, *line)).collect::<Vec<_>>();
    let middle = if old.len() * new.len() > COMPARISONS_MAX {
        let old = old.iter().map(|line| (Side::Recorded, *line));
        old.chain(new.iter().map(|line| (Side::Now, *line))).collect()
    } else {
        longest_common(old, new)
    };
    [both(&recorded[..head]), middle, both(&recorded[recorded.len() - tail..])].concat()
}

/// The classic table: how many lines the rests of both have in common.
fn longest_common<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(Side, &'a str)> {
    let width = new.len() + 1;
    let mut common = vec![0_u32; (old.len() + 1) * width];
    for row in (0..old.len()).rev() {
        for column in (0..new.len()).rev() {
            common[row * width + column] = if old[row] == new[column] {
                common[(row + 1) * width + column + 1] + 1
            } else {
                common[(row + 1) * width + column].max(common[row * width + column + 1])
            };
        }
    }
    let (mut row, mut column, mut lines) = (0, 0, Vec::new());
    while row < old.len() || column < new.len() {
        if row < old.len() && column < new.len() && old[row] == new[column] {
            lines.push((Side::Both, old[row]));
            (row, column) = (row + 1, column + 1);
        } else if column == new.len()
            || (row < old.len()
                && common[(row + 1) * width + column] >= common[row * width + column + 1])
        {
            lines.push((Side::Recorded, old[row]));
            row += 1;
        } else {
            lines.push((Side::Now, new[column]));
            column += 1;
        }
    }
    lines
}

#[test]
fn only_lines_near_a_difference_are_printed() {
    let recorded = "a\nb\nc\nd\ne\nf\ng\nh\n";
    let now = "a\nb\nc\nd\ne\nF\ng\nh\ni\n";
    assert_eq!(lines(recorded, now), "  ...\n  d\n  e\n- f\n+ F\n  g\n  h\n+ i\n");
    assert_eq!(lines("a\n", "a\n"), "");
    assert_eq!(lines("", "a\n"), "+ a\n");
}
