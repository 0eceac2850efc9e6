//! Which known word somebody probably meant.

/// The known word nearest to `word`, if it is near enough to be meant.
pub(crate) fn nearest<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
    most_edits: usize,
) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (edits(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= most_edits)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Letters to insert, delete or replace to make one word the other.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut above: Vec<usize> = (0..=to.len()).collect();
    for (row, letter) in from.chars().enumerate() {
        let mut current = vec![row + 1];
        for (column, other) in to.iter().enumerate() {
            let replaced = above[column] + usize::from(letter != *other);
            let inserted = current[column] + 1;
            let deleted = above[column + 1] + 1;
            current.push(replaced.min(inserted).min(deleted));
        }
        above = current;
    }
    above[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted_both_ways() {
        for (from, to, count) in
            [("", "", 0), ("", "abc", 3), ("lisen", "listen", 1), ("kitten", "sitting", 3)]
        {
            assert_eq!(edits(from, to), count);
            assert_eq!(edits(to, from), count);
        }
    }

    #[test]
    fn only_a_near_word_is_offered() {
        let known = ["server.listen", "server.store", "limits.connections"];
        assert_eq!(nearest("server.lisen", known, 3), Some("server.listen"));
        assert_eq!(nearest("server.stroe", known, 3), Some("server.store"));
        assert_eq!(nearest("weather", known, 3), None);
    }
}
