//! `PublicImageUrl`: the URL of a picture that the provider fetches.

use std::fmt;

use url::{Host, ParseError, Url};

pub mod picture_size;
#[cfg(test)]
mod tests;

/// Proxies cut or refuse longer URLs.
const LONGEST_URL_BYTES: usize = 2_048;

/// The limits of the domain name system (RFC 1035, section 2.3.4). A name takes 255 bytes on
/// the wire, of which the first length and the root take two.
const LONGEST_NAME_BYTES: usize = 253;
const LONGEST_LABEL_BYTES: usize = 63;

/// Names that the public domain name system never answers, and a private network may.
/// `cluster.local` is inside `local`; it is here because people search for it.
const PRIVATE_SUFFIXES: [&str; 14] = [
    "localhost",
    "local",
    "internal",
    "lan",
    "home.arpa",
    "onion",
    "test",
    "invalid",
    "corp",
    "home",
    "intranet",
    "localdomain",
    "svc",
    "cluster.local",
];

/// An `https` URL on a public host name. It holds the parser's own serialization, so that the
/// provider fetches exactly what was checked.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicImageUrl(String);

impl PublicImageUrl {
    pub fn parse(text: &str) -> Result<Self, NotPublic> {
        judge_characters(text)?;
        judge_authority(raw_authority(text)?)?;
        let mut url = Url::parse(text).map_err(reason)?;
        if url.port().is_some() {
            return Err(NotPublic::Port);
        }
        match url.host() {
            Some(Host::Domain(name)) => judge_name(name)?,
            // mutant: address-literal-passes
            Some(Host::Ipv4(_) | Host::Ipv6(_)) => return Err(NotPublic::AddressLiteral),
            None => return Err(NotPublic::NotAUrl),
        }
        // A fragment is never sent to a server: it can only carry something unread, and make
        // two URLs of one picture unequal.
        url.set_fragment(None);
        if url.as_str().len() > LONGEST_URL_BYTES {
            return Err(NotPublic::TooLong);
        }
        Ok(Self(url.into()))
    }

    /// A URL that was parsed earlier and comes from the store.
    pub(crate) fn kept(text: String) -> Self {
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A URL may name a person or open a private album, so `Debug` does not print it.
impl fmt::Debug for PublicImageUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("PublicImageUrl").finish_non_exhaustive()
    }
}

/// Why a URL is not accepted: one variant for each thing that a caller can correct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotPublic {
    TooLong,
    ForbiddenCharacter,
    NotAUrl,
    NotHttps,
    UserInfo,
    PercentInHost,
    Port,
    AddressLiteral,
    TrailingDot,
    PrivateSuffix,
    SingleLabel,
    BadHostName,
}

impl std::error::Error for NotPublic {}

impl fmt::Display for NotPublic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::TooLong => {
                "The image URL is longer than 2,048 bytes once its special characters are \
                 percent-encoded; use a shorter one."
            }
            Self::ForbiddenCharacter => {
                "The image URL contains a space, a backslash or a control character; \
                 percent-encode it in the path, or remove it."
            }
            Self::NotAUrl => {
                "The image URL is not a complete address; write https://, a host name and a \
                 path, as in https://images.example.org/front.png."
            }
            Self::NotHttps => "The image URL does not begin with https://; serve the image there.",
            Self::UserInfo => {
                "The image URL contains a user name or a password before the host; remove \
                 everything up to the @, and use an image that can be read without a login."
            }
            Self::PercentInHost => {
                "The image URL has a percent sign in its host; write the host name plainly."
            }
            Self::Port => {
                "The image URL names a port other than 443; remove the port and serve the image \
                 on the usual one."
            }
            Self::AddressLiteral => {
                "The image URL has a numeric network address for a host; use a public host name."
            }
            Self::TrailingDot => "The host of the image URL ends with a dot; remove that last dot.",
            Self::PrivateSuffix => {
                "The host of the image URL belongs to a private network; put the image on a host \
                 that the whole internet can reach."
            }
            Self::SingleLabel => {
                "The host of the image URL is a single word; write its full public name, as in \
                 images.example.org."
            }
            Self::BadHostName => {
                "The host of the image URL is not a valid host name; use letters, digits and \
                 inner hyphens, at most 63 bytes between two dots and 253 in all, and a last \
                 part that begins with a letter."
            }
        })
    }
}

/// The parser drops tabs and line ends, trims spaces and turns a backslash into a slash. Other
/// parsers may not, so a URL that needs such corrections is refused.
fn judge_characters(text: &str) -> Result<(), NotPublic> {
    if text.len() > LONGEST_URL_BYTES {
        return Err(NotPublic::TooLong);
    }
    let forbidden = |letter: char| letter.is_control() || letter.is_whitespace() || letter == '\\';
    // Nearly every URL has only these, which are quick to check.
    let usual = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if !usual && text.contains(forbidden) {
        return Err(NotPublic::ForbiddenCharacter);
    }
    Ok(())
}

/// What stands between `https://` and the path, as it was written. The parser would also take
/// `https:host` and `https:///host`, which other parsers read differently.
fn raw_authority(text: &str) -> Result<&str, NotPublic> {
    let (scheme, rest) = text.split_once(':').ok_or(NotPublic::NotAUrl)?;
    if !scheme.eq_ignore_ascii_case("https") {
        return Err(NotPublic::NotHttps);
    }
    let rest = rest.strip_prefix("//").ok_or(NotPublic::NotAUrl)?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.is_empty() {
        return Err(NotPublic::NotAUrl);
    }
    Ok(authority)
}

/// These two leave no trace after parsing: an empty user name vanishes, and escapes in the host
/// are decoded.
fn judge_authority(authority: &str) -> Result<(), NotPublic> {
    if authority.contains('@') {
        return Err(NotPublic::UserInfo);
    }
    if authority.contains('%') {
        return Err(NotPublic::PercentInHost);
    }
    Ok(())
}

/// Checks a host name that the parser has already lowered, mapped and turned into ASCII.
fn judge_name(name: &str) -> Result<(), NotPublic> {
    // Certificates and caches disagree whether `example.org.` is `example.org`. It is refused
    // rather than trimmed because nothing here may differ from what the parser wrote.
    if name.ends_with('.') {
        return Err(NotPublic::TrailingDot);
    }
    if PRIVATE_SUFFIXES.iter().any(|suffix| is_within(name, suffix)) {
        return Err(NotPublic::PrivateSuffix);
    }
    let (_, last) = name.rsplit_once('.').ok_or(NotPublic::SingleLabel)?;
    // Every top-level domain begins with a letter, and no number that any resolver reads does.
    let is_named = last.starts_with(|letter: char| letter.is_ascii_lowercase());
    if !is_named || name.len() > LONGEST_NAME_BYTES || !name.split('.').all(is_label) {
        return Err(NotPublic::BadHostName);
    }
    Ok(())
}

fn is_within(name: &str, suffix: &str) -> bool {
    name.strip_suffix(suffix).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Letters, digits and inner hyphens. The parser has checked the content of a punycode label.
fn is_label(label: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=LONGEST_LABEL_BYTES).contains(&label.len())
        && label.bytes().all(is_letter)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

fn reason(error: ParseError) -> NotPublic {
    match error {
        ParseError::InvalidIpv4Address | ParseError::InvalidIpv6Address => {
            NotPublic::AddressLiteral
        }
        ParseError::InvalidPort => NotPublic::Port,
        ParseError::IdnaError | ParseError::InvalidDomainCharacter => NotPublic::BadHostName,
        ParseError::EmptyHost
        | ParseError::RelativeUrlWithoutBase
        | ParseError::RelativeUrlWithCannotBeABaseBase
        | ParseError::SetHostOnCannotBeABaseUrl
        | ParseError::Overflow => NotPublic::NotAUrl,
        // The parser's list is open, so the compiler asks for this arm.
        _ => NotPublic::NotAUrl,
    }
}
