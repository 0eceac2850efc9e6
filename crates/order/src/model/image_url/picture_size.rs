//! The size of a picture, where its URL names one.
//!
//! The picture itself is not fetched: only the provider does that.

use url::Url;

/// A 4x6 card with its bleed, at 300 dots an inch.
pub const WIDTH: u32 = 1_875;
pub const HEIGHT: u32 = 1_275;

/// Whether the URL asks its server for a picture that is smaller than the print.
pub fn is_too_small(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    let (width, height) = named_size(&url);
    width.is_some_and(|width| width < WIDTH) || height.is_some_and(|height| height < HEIGHT)
}

/// Width and height, for hosts that document them as part of the URL.
fn named_size(url: &Url) -> (Option<u32>, Option<u32>) {
    let segments: Vec<&str> = url.path_segments().into_iter().flatten().collect();
    let last = segments.last().copied().unwrap_or_default();
    match url.host_str() {
        // `/wikipedia/commons/thumb/a/a9/Name.jpg/640px-Name.jpg`
        Some("upload.wikimedia.org") if segments.contains(&"thumb") => {
            let width = last.split_once("px-").and_then(|(width, _)| width.parse().ok());
            (width, None)
        }
        Some("images.unsplash.com" | "images.pexels.com") => {
            let number = |name: &str| {
                let mut pairs = url.query_pairs();
                pairs.find(|(key, _)| key == name).and_then(|(_, value)| value.parse().ok())
            };
            (number("w"), number("h"))
        }
        // `/640/480`, `/id/237/640/480`, and `/640` for a square.
        Some("picsum.photos") => match segments.as_slice() {
            [.., width, height] if width.parse::<u32>().is_ok() => {
                (width.parse().ok(), height.parse().ok())
            }
            [.., side] => (side.parse().ok(), side.parse().ok()),
            [] => (None, None),
        },
        Some(_) | None => (None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_in_the_url_is_compared_with_the_print() {
        let thumb = "https://upload.wikimedia.org/wikipedia/commons/thumb/a/a9/Sea.jpg";
        let unsplash = "https://images.unsplash.com/photo-1";
        for (url, too_small) in [
            (format!("{thumb}/640px-Sea.jpg"), true),
            (format!("{thumb}/1920px-Sea.jpg"), false),
            ("https://upload.wikimedia.org/wikipedia/commons/a/a9/640px-Sea.jpg".into(), false),
            (format!("{unsplash}?w=400"), true),
            (format!("{unsplash}?w=1875&h=1275"), false),
            (format!("{unsplash}?w=1875&h=1274"), true),
            (unsplash.to_owned(), false),
            ("https://picsum.photos/1875/1275".into(), false),
            ("https://picsum.photos/id/237/1874/1275".into(), true),
            ("https://picsum.photos/1275".into(), true),
            ("https://picsum.photos/seed/sea/2000/1400.jpg".into(), false),
            ("https://images.example.org/sea.jpg?w=1".into(), false),
        ] {
            assert_eq!(is_too_small(&url), too_small, "{url}");
        }
    }
}
