//! Finds the known name that is most similar to a misspelled one.

/// The known name with the smallest edit distance to `name`, if that is at most `edits_max`.
pub(crate) fn nearest_name<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    edits_max: usize,
) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (edits(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= edits_max)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The Levenshtein distance.
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
    fn the_edit_distance_is_symmetric() {
        for (from, to, count) in
            [("", "", 0), ("", "abc", 3), ("lisen", "listen", 1), ("kitten", "sitting", 3)]
        {
            assert_eq!(edits(from, to), count);
            assert_eq!(edits(to, from), count);
        }
    }

    #[test]
    fn only_a_similar_name_is_suggested() {
        let known = ["server.listen", "server.store", "limits.connections"];
        assert_eq!(nearest_name("server.lisen", known, 3), Some("server.listen"));
        assert_eq!(nearest_name("server.stroe", known, 3), Some("server.store"));
        assert_eq!(nearest_name("weather", known, 3), None);
    }
}
