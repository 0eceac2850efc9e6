//! Writes addresses of pictures, honest ones and disguised ones.

use crate::network;
use crate::random::Random;
use crate::unicode::{INVISIBLE, disguises, fold};

pub(crate) struct Sample {
    pub(crate) text: String,
    pub(crate) expectation: Expectation,
}

#[derive(Clone, Copy)]
pub(crate) enum Expectation {
    Pass,
    Fail,
    /// Not known beforehand; the two parsers have to agree.
    Either,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Honest,
    Numbers,
    Brackets,
    PrivateName,
    Trick,
    Patchwork,
    Long,
    Damaged,
}

/// Honest names stand here more than once, to keep the mixture even.
pub(crate) const KINDS: [Kind; 10] = [
    Kind::Honest,
    Kind::Honest,
    Kind::Numbers,
    Kind::Numbers,
    Kind::Brackets,
    Kind::PrivateName,
    Kind::Trick,
    Kind::Patchwork,
    Kind::Long,
    Kind::Damaged,
];

impl Kind {
    pub(crate) fn sample(self, random: &mut Random) -> Sample {
        match self {
            Self::Honest => Sample { text: honest(random), expectation: Expectation::Pass },
            Self::Numbers => {
                let host = disguised(&numbers(random), random);
                Sample { text: around(&host, random), expectation: Expectation::Fail }
            }
            Self::Brackets => {
                let host = brackets(random);
                Sample { text: around(&host, random), expectation: Expectation::Fail }
            }
            Self::PrivateName => {
                let host = disguised(&private_name(random), random);
                Sample { text: around(&host, random), expectation: Expectation::Fail }
            }
            Self::Trick => Sample { text: trick(random), expectation: Expectation::Fail },
            Self::Patchwork => {
                let host = patchwork(random);
                Sample { text: around(&host, random), expectation: Expectation::Either }
            }
            Self::Long => Sample { text: long(random), expectation: Expectation::Either },
            Self::Damaged => Sample { text: damaged(random), expectation: Expectation::Either },
        }
    }
}

const NAMES: [&str; 20] = [
    "example.org",
    "1password.com",
    "bücher.example",
    "xn--bcher-kva.example",
    "例え.テスト",
    "xn--r8jz45g.xn--zckzah",
    "пример.рф",
    "straße.de",
    "δοκιμή.gr",
    "한국.kr",
    "i❤.ws",
    "localhost.example.net",
    "mylocal.org",
    "example.latest",
    "my-home.arpa",
    "10.0.0.1.example.com",
    "0x7f.example.com",
    "r3---sn.example.com",
    "s3.eu-west-1.amazonaws.com",
    "cdn.images.example.co.uk",
];
/// In these, a part that begins with a digit would be ambiguous.
const LEFTWARD_NAMES: [&str; 3] = ["مثال.إختبار", "xn--mgbh0fb.xn--kgbechtv", "דוגמה.example"];
const LABELS: [&str; 8] = ["www", "3", "a-b", "img", "0x", "cdn9", "127", "internal"];
const SUFFIXES: [&str; 14] = [
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
const PATHS: [&str; 12] = [
    "",
    "/",
    "/a.png",
    "/a%20b/%C3%A9.jpg?x=1&y=%2F#top",
    "?size=4x6",
    "#only",
    "/@10.0.0.1/",
    "/:8080",
    "/?u=http://10.0.0.1/",
    "/a/../b//c;d=[e]|f",
    "/ü/例?ö#é",
    "/%zz/%",
];

fn honest_name(random: &mut Random) -> String {
    if random.once_in(10) {
        return random.pick(&LEFTWARD_NAMES).to_owned();
    }
    let mut name = String::new();
    for _ in 0..random.below(3) {
        name = name + random.pick(&LABELS) + ".";
    }
    name + random.pick(&NAMES)
}

fn honest(random: &mut Random) -> String {
    let scheme = random.pick(&["https://", "https://", "HTTPS://", "hTTps://"]);
    let port = random.pick(&["", "", "", ":443", ":", ":0443"]);
    let name = honest_name(random);
    let name = if random.once_in(4) { folded_otherwise(&name, random) } else { name };
    format!("{scheme}{name}{port}{}", random.pick(&PATHS))
}

fn numbers(random: &mut Random) -> String {
    let address = network::version_4(random);
    let text = network::write_version_4(address, random);
    // Not an address to every reader, and to none a name.
    match random.below(16) {
        0 => format!("{}.{text}", random.pick(&LABELS)),
        1 => format!("{text}.0"),
        _ => text,
    }
}

fn brackets(random: &mut Random) -> String {
    let address = network::version_6(random);
    let text = network::write_version_6(address, random);
    match random.below(16) {
        0 => text,
        1 => format!("[{text}"),
        2 => format!("{text}]"),
        3 => format!("[{text}].example.org"),
        4 => escaped(&format!("[{text}]"), random),
        5 => format!("［{text}］"),
        _ => format!("[{text}]"),
    }
}

fn private_name(random: &mut Random) -> String {
    let suffix = random.pick(&SUFFIXES);
    match random.below(4) {
        0 => suffix.to_owned(),
        1 => format!("{}.{suffix}", network::version_4(random)),
        2 => format!("{}.{suffix}", random.pick(&NAMES)),
        _ => format!("{}.{suffix}", random.pick(&LABELS)),
    }
}

/// Any of the ways to write one host so that it looks like another.
fn disguised(host: &str, random: &mut Random) -> String {
    let mut host = host.to_owned();
    if random.once_in(3) {
        host = folded_otherwise(&host, random);
    }
    if random.once_in(8) {
        host = escaped(&host, random);
    }
    if random.once_in(8) {
        let invisible = random.pick(&INVISIBLE);
        host = with_inserted(&host, invisible, random);
    }
    host + random.pick(&["", "", "", "", ".", "..", "。", "％2e"])
}

fn folded_otherwise(host: &str, random: &mut Random) -> String {
    let often = 1 + random.below(4);
    let fold = |letter: char| match disguises(letter) {
        others if !others.is_empty() && random.once_in(often) => random.pick(&others),
        _ => letter,
    };
    host.chars().map(fold).collect()
}

/// Escapes one byte, or all of them, or some twice.
fn escaped(host: &str, random: &mut Random) -> String {
    let chosen = random.below(host.len());
    let is_all = random.once_in(3);
    let sign = random.pick(&["%", "%", "%25"]);
    let mut text = String::new();
    for (place, letter) in host.char_indices() {
        if is_all || (place..place + letter.len_utf8()).contains(&chosen) {
            let bytes = letter.to_string().into_bytes();
            text.extend(bytes.iter().map(|byte| format!("{sign}{byte:02x}")));
        } else {
            text.push(letter);
        }
    }
    text
}

fn with_inserted(text: &str, letter: char, random: &mut Random) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    letters.insert(random.below(letters.len() + 1), letter);
    letters.into_iter().collect()
}

/// The rest of an address around a host that decides the verdict.
fn around(host: &str, random: &mut Random) -> String {
    let port = random.pick(&["", "", "", "", ":443", ":"]);
    format!("https://{host}{port}{}", random.pick(&PATHS))
}

/// An address that would be good, or not, but for one trick which spoils it.
fn trick(random: &mut Random) -> String {
    let path = random.pick(&PATHS);
    let private = network::version_4(random);
    let name = honest_name(random);
    let host = if random.once_in(2) { private.to_string() } else { name.clone() };
    match random.below(8) {
        0 => {
            let user = random.pick(&["", ":", "user", "a:b", "a@b", "%40", "example.org%2f"]);
            format!("https://{user}@{host}{path}")
        }
        1 => format!("https://{name}:443@{private}{path}"),
        2 => {
            let slip = random.pick(&["\\", "\\@", "\\\\", "\\."]);
            format!("https://{name}{slip}{private}{path}")
        }
        3 => {
            let letter =
                random.pick(&['\t', '\n', '\r', '\0', ' ', '\u{a0}', '\u{3000}', '\u{85}']);
            with_inserted(&format!("https://{host}{path}"), letter, random)
        }
        4 => {
            let port = random.pick(&[":80", ":0", ":8443", ":65979", ":443:1", ":４４３", ":-1"]);
            format!("https://{host}{port}{path}")
        }
        5 => {
            let scheme =
                random.pick(&["http", "ftp", "file", "wss", "httpss", "", "ｈttps", "blob"]);
            format!("{scheme}://{host}{path}")
        }
        6 => {
            let start = random.pick(&["https:", "https:/", "https:///", "//", "", "https//"]);
            format!("{start}{host}{path}")
        }
        _ => {
            let end = random.pick(&[".", "..", "。", "%2e", "%00", "／", "＠a", "：80", "_"]);
            format!("https://{host}{end}{path}")
        }
    }
}

/// A host of parts that were never meant for each other.
fn patchwork(random: &mut Random) -> String {
    const PARTS: [&str; 40] = [
        "a",
        "b-c",
        "www",
        "3",
        "127",
        "0",
        "0x7f",
        "0x",
        "08",
        "1e3",
        "0xg",
        "-",
        "-a",
        "a-",
        "",
        "a_b",
        "*",
        "xn--bcher-kva",
        "xn--",
        "xn--a",
        "xn--0",
        "xn--localhost-",
        "xn--i-7iq",
        "bücher",
        "ß",
        "例え",
        "рф",
        "مثال",
        "א1",
        "1א",
        "אa",
        "❤",
        "-ü",
        "ü-",
        "local",
        "ＬＡＮ",
        "arpa",
        "home",
        "ſvc",
        "org",
    ];
    let mut host = random.pick(&PARTS).to_owned();
    for _ in 0..random.below(4) {
        host = host + "." + random.pick(&PARTS);
    }
    if random.once_in(2) { host + "." + random.pick(&NAMES) } else { host }
}

/// Near the limits of a label, of a name, and of an address.
fn long(random: &mut Random) -> String {
    let letter = random.pick(&["a", "a", "ü", "例"]);
    match random.below(3) {
        0 => {
            let label = letter.repeat(50 / letter.len() + random.below(20));
            format!("https://{label}.example.org/")
        }
        1 => {
            let labels = "a23456789.".repeat(24);
            format!("https://{}{}.{labels}org/", letter, "b".repeat(random.below(14)))
        }
        _ => {
            let start = format!("https://example.org{}/", random.pick(&["", ":443"]));
            let written = if letter == "a" { 1 } else { 3 * letter.len() };
            let path = letter.repeat((2_022 + random.below(12)) / written);
            let rest = "x".repeat(random.below(12));
            format!("{start}{path}{rest}{}", random.pick(&["", "#y", "?z"]))
        }
    }
}

/// One of the others with a letter taken out, put in or exchanged, up to three times.
fn damaged(random: &mut Random) -> String {
    const LETTERS: [char; 60] = [
        '@', ':', '/', '?', '#', '[', ']', '%', '.', '-', '_', '~', ',', ';', '!', '$', '&', '\'',
        '(', ')', '*', '+', '=', '"', '<', '>', '{', '}', '|', '^', '`', '\\', '0', '1', '7', '9',
        'a', 'f', 'x', 'X', 'n', 'Z', 'ü', 'Ü', 'ß', '例', 'я', 'א', 'م', '❤', '１', '．', '。',
        '／', '\u{ad}', '\u{200b}', '\t', '\n', '\0', '\u{a0}',
    ];
    let kind = random.pick(&[Kind::Honest, Kind::Numbers, Kind::Brackets, Kind::PrivateName]);
    let text = kind.sample(random).text;
    // Which letters a damaged piece of punycode holds, only the full tables of Unicode tell.
    if text.chars().filter_map(fold).collect::<String>().contains("xn--") {
        return text;
    }
    let mut letters: Vec<char> = text.chars().collect();
    for _ in 0..=random.below(3) {
        let place = random.below(letters.len());
        match random.below(3) {
            0 => drop(letters.remove(place)),
            1 => letters.insert(place, random.pick(&LETTERS)),
            _ => letters[place] = random.pick(&LETTERS),
        }
    }
    letters.into_iter().collect()
}
