//! Which pictures of a provider we pass on to callers.

use order::model::mail::Preview;
use order::ports::Unanswered;

use crate::http::Address;

/// Two sides, and room for a provider that draws each in a few sizes.
const PREVIEWS_MAX: usize = 8;

/// Where a provider's pictures may lie: an origin, and a folder in it. An origin
/// alone would be too little where a provider rents a shelf in a large store.
#[derive(Clone, Debug)]
pub struct PreviewPlaces(Vec<Address>);

impl PreviewPlaces {
    pub const fn new(places: Vec<Address>) -> Self {
        Self(places)
    }

    /// Addresses that are written down in our own source; others are left out.
    pub(super) fn known(texts: &[&str]) -> Self {
        Self(texts.iter().filter_map(|text| Address::parse(text).ok()).collect())
    }

    /// All of the pictures, if there are some and each may be passed on.
    pub(super) fn judge(&self, urls: &[String]) -> Result<Preview, Unanswered> {
        if urls.is_empty() || urls.len() > PREVIEWS_MAX {
            return Err(Unanswered::Unusable);
        }
        let judged = urls.iter().map(|url| {
            let address = Address::parse(url).ok()?;
            let known = self.0.iter().any(|place| address.is_below(place));
            known.then(|| address.to_text())
        });
        let urls = judged.collect::<Option<Vec<String>>>().ok_or(Unanswered::Unusable)?;
        Ok(Preview { urls })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pictures_in_known_places_are_passed_on() {
        let places = PreviewPlaces::known(&[
            "https://store.example.org/shelf/",
            "https://pictures.example.org",
            "http://127.0.0.1:8700",
        ]);
        let judge = |url: &str| places.judge(&[url.to_owned()]).map(|preview| preview.urls);
        for good in [
            "https://store.example.org/shelf/1.png",
            "https://pictures.example.org/a/b.png?signature=1",
            "http://127.0.0.1:8700/1.svg",
        ] {
            assert_eq!(judge(good), Ok(vec![good.to_owned()]));
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
            assert_eq!(judge(bad), Err(Unanswered::Unusable), "{bad}");
        }
    }

    #[test]
    fn one_bad_picture_or_none_or_too_many_spoil_the_preview() {
        let places = PreviewPlaces::known(&["https://pictures.example.org"]);
        let good = "https://pictures.example.org/1.png".to_owned();
        let bad = "https://evil.example/1.png".to_owned();
        assert!(places.judge(&vec![good.clone(); PREVIEWS_MAX]).is_ok());
        for urls in [vec![], vec![good.clone(), bad], vec![good; PREVIEWS_MAX + 1]] {
            assert_eq!(places.judge(&urls), Err(Unanswered::Unusable));
        }
    }
}
