//! Which preview URLs of a provider are returned to callers.

use order::model::mail::Preview;
use order::ports::Unanswered;

use crate::http::HttpUrl;

/// Two sides, each in a few sizes.
const PREVIEWS_MAX: usize = 8;

/// Allowed locations of previews: an origin and a folder. The origin alone is not enough for a
/// shared object store.
#[derive(Clone, Debug)]
pub struct PreviewLocations(Vec<HttpUrl>);

impl PreviewLocations {
    pub const fn new(places: Vec<HttpUrl>) -> Self {
        Self(places)
    }

    /// URLs from our own source; invalid ones are left out.
    pub(super) fn known(texts: &[&str]) -> Self {
        Self(texts.iter().filter_map(|text| HttpUrl::parse(text).ok()).collect())
    }

    /// All previews, if there are some and each is in an allowed location.
    pub(super) fn check(&self, urls: &[String]) -> Result<Preview, Unanswered> {
        if urls.is_empty() || urls.len() > PREVIEWS_MAX {
            return Err(Unanswered::Unusable);
        }
        let checked = urls.iter().map(|url| {
            let address = HttpUrl::parse(url).ok()?;
            let known = self.0.iter().any(|place| address.is_below(place));
            known.then(|| address.to_text())
        });
        let urls = checked.collect::<Option<Vec<String>>>().ok_or(Unanswered::Unusable)?;
        Ok(Preview { urls })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_previews_in_allowed_locations_are_returned() {
        let places = PreviewLocations::known(&[
            "https://store.example.org/shelf/",
            "https://pictures.example.org",
            "http://127.0.0.1:8700",
        ]);
        let check = |url: &str| places.check(&[url.to_owned()]).map(|preview| preview.urls);
        for good in [
            "https://store.example.org/shelf/1.png",
            "https://pictures.example.org/a/b.png?signature=1",
            "http://127.0.0.1:8700/1.svg",
        ] {
            assert_eq!(check(good), Ok(vec![good.to_owned()]));
        }
        for bad in [
            "https://store.example.org/other/1.png",
            "https://store.example.org/shelf/../other/1.png",
            "https://store.example.org/shelf/%2e%2e/other/1.png",
            "https://store.example.org/shelfish/1.png",
            "https://store.example.org:444/shelf/1.png",
            "http://store.example.org/shelf/1.png",
            "https://pictures.example.org.evil.example/1.png",
            "https://pictures.example.org@evil.example/1.png",
            "http://pictures.example.org/1.png",
            "http://127.0.0.1:8701/1.svg",
            "https://127.0.0.1:8700/1.svg",
            "http://169.254.169.254/latest",
            "javascript:alert(1)",
            "data:image/png;base64,AAAA",
            "//pictures.example.org/1.png",
            "",
        ] {
            assert_eq!(check(bad), Err(Unanswered::Unusable), "{bad}");
        }
    }

    #[test]
    fn one_bad_url_or_none_or_too_many_reject_the_preview() {
        let places = PreviewLocations::known(&["https://pictures.example.org"]);
        let good = "https://pictures.example.org/1.png".to_owned();
        let bad = "https://evil.example/1.png".to_owned();
        assert!(places.check(&vec![good.clone(); PREVIEWS_MAX]).is_ok());
        for urls in [vec![], vec![good.clone(), bad], vec![good; PREVIEWS_MAX + 1]] {
            assert_eq!(places.check(&urls), Err(Unanswered::Unusable));
        }
    }
}
