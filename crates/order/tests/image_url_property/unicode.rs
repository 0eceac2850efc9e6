//! The little of Unicode that decides what a host name in disguise becomes.

/// Characters that disappear from a host name.
pub(crate) const INVISIBLE: [char; 5] = ['\u{ad}', '\u{200b}', '\u{2060}', '\u{feff}', '\u{fe0f}'];

/// Characters that become a dot in a host name.
pub(crate) const DOTS: [char; 4] = ['.', '．', '。', '｡'];

/// Where ten digits stand in sequence, from zero on.
const DIGITS: [u32; 4] = [0xff10, 0x2080, 0x1d7ce, 0x1d7f6];
/// Where the small letters stand in sequence.
const SMALL: [u32; 3] = [0xff41, 0x24d0, 0x1d41a];
/// Where the capital letters stand in sequence.
const CAPITAL: [u32; 3] = [0xff21, 0x24b6, 0x1d400];
/// Those that stand alone.
const ODD: [(char, char); 8] = [
    ('ſ', 's'),
    ('ℓ', 'l'),
    ('\u{212a}', 'k'),
    ('⓪', '0'),
    ('⁰', '0'),
    ('¹', '1'),
    ('②', '2'),
    ('³', '3'),
];

/// The other spellings of a letter or a digit.
pub(crate) fn disguises(plain: char) -> Vec<char> {
    let small = plain.to_ascii_lowercase();
    let mut found = Vec::new();
    if let Some(digit) = plain.to_digit(10) {
        found.extend(DIGITS.iter().filter_map(|zero| char::from_u32(zero + digit)));
    }
    if small.is_ascii_lowercase() {
        let place = u32::from(small) - u32::from('a');
        found.extend(
            SMALL.iter().chain(&CAPITAL).filter_map(|letter_a| char::from_u32(letter_a + place)),
        );
    }
    found.extend(ODD.iter().filter(|(_, folded)| *folded == small).map(|(odd, _)| *odd));
    if plain == '.' {
        found.extend(DOTS);
    }
    found
}

/// What a host name makes of a character; nothing where it disappears.
pub(crate) fn fold(letter: char) -> Option<char> {
    if letter.is_ascii() {
        return Some(letter.to_ascii_lowercase());
    }
    if INVISIBLE.contains(&letter) {
        return None;
    }
    if DOTS.contains(&letter) {
        return Some('.');
    }
    if let Some((_, plain)) = ODD.iter().find(|(odd, _)| *odd == letter) {
        return Some(*plain);
    }
    let code = u32::from(letter);
    let place = |starts: &[u32], count: u32| {
        starts
            .iter()
            .find(|start| (**start..**start + count).contains(&code))
            .map(|start| code - start)
    };
    if let Some(digit) = place(&DIGITS, 10) {
        return char::from_digit(digit, 10);
    }
    if let Some(small) = place(&SMALL, 26).or_else(|| place(&CAPITAL, 26)) {
        return char::from_u32(u32::from('a') + small);
    }
    // The wide forms of all other visible ASCII.
    if (0xff01..=0xff5e).contains(&code) {
        return char::from_u32(code - 0xff01 + 0x21);
    }
    letter.to_lowercase().next()
}

pub(crate) fn is_right_to_left(letter: char) -> bool {
    ('\u{590}'..='\u{8ff}').contains(&letter)
}

/// Symbols that host names may contain although no language writes with them.
pub(crate) fn is_pictograph(letter: char) -> bool {
    ('\u{2600}'..='\u{27bf}').contains(&letter) || ('\u{1f300}'..='\u{1faff}').contains(&letter)
}

const BASE: u32 = 36;
const FIRST_BIAS: u32 = 72;
const FIRST_CODE: u32 = 128;

/// The threshold of RFC 3492 for the digit at this place.
fn threshold(place: u32, bias: u32) -> u32 {
    place.saturating_sub(bias).clamp(1, 26)
}

/// RFC 3492 damps the first step, which is the widest, more than the others.
const FIRST_DAMPING: u32 = 700;
const DAMPING: u32 = 2;

fn adapted(delta: u32, count: u32, damping: u32) -> u32 {
    let mut delta = delta / damping;
    delta += delta / count;
    let mut bias = 0;
    while delta > 455 {
        delta /= 35;
        bias += BASE;
    }
    bias + 36 * delta / (delta + 38)
}

/// The label after `xn--`.
pub(crate) fn to_punycode(label: &[char]) -> Option<String> {
    let mut text: String = label.iter().filter(|letter| letter.is_ascii()).collect();
    let mut written = u32::try_from(text.len()).ok()?;
    let mut damping = FIRST_DAMPING;
    if written > 0 {
        text.push('-');
    }
    let (mut code, mut delta, mut bias) = (FIRST_CODE, 0_u32, FIRST_BIAS);
    while let Some(next) =
        label.iter().map(|letter| u32::from(*letter)).filter(|c| *c >= code).min()
    {
        delta = delta.checked_add((next - code).checked_mul(written + 1)?)?;
        code = next;
        for letter in label.iter().map(|letter| u32::from(*letter)) {
            if letter < code {
                delta += 1;
            }
            if letter == code {
                push_number(&mut text, delta, bias)?;
                bias = adapted(delta, written + 1, damping);
                damping = DAMPING;
                delta = 0;
                written += 1;
            }
        }
        delta += 1;
        code += 1;
    }
    Some(text)
}

fn push_number(text: &mut String, number: u32, bias: u32) -> Option<()> {
    let mut rest = number;
    let mut place = BASE;
    loop {
        let least = threshold(place, bias);
        let digit = if rest < least { rest } else { least + (rest - least) % (BASE - least) };
        let letter = if digit < 26 { digit + u32::from('a') } else { digit - 26 + u32::from('0') };
        text.push(char::from_u32(letter)?);
        if rest < least {
            return Some(());
        }
        rest = (rest - least) / (BASE - least);
        place += BASE;
    }
}

/// Reads a label after `xn--`.
pub(crate) fn from_punycode(text: &str) -> Option<Vec<char>> {
    let (plain, coded) = text.rsplit_once('-').unwrap_or(("", text));
    let mut label: Vec<char> = plain.chars().collect();
    let (mut code, mut at, mut bias) = (FIRST_CODE, 0_u32, FIRST_BIAS);
    let mut damping = FIRST_DAMPING;
    let mut digits = coded.chars().peekable();
    while digits.peek().is_some() {
        let start = at;
        let (mut weight, mut place) = (1_u32, BASE);
        loop {
            let digit = match digits.next()? {
                letter @ 'a'..='z' => u32::from(letter) - u32::from('a'),
                letter => letter.to_digit(10)? + 26,
            };
            at = at.checked_add(digit.checked_mul(weight)?)?;
            let least = threshold(place, bias);
            if digit < least {
                break;
            }
            weight = weight.checked_mul(BASE - least)?;
            place += BASE;
        }
        let count = u32::try_from(label.len()).ok()? + 1;
        bias = adapted(at - start, count, damping);
        damping = DAMPING;
        code = code.checked_add(at / count)?;
        at %= count;
        label.insert(usize::try_from(at).ok()?, char::from_u32(code)?);
        at += 1;
    }
    Some(label)
}
