//! A handwriting font of pen strokes, which renders alike everywhere.

use std::collections::HashMap;
use std::sync::OnceLock;

/// One letter. The baseline is at 0, small letters are 40 high, capitals 70.
pub(crate) struct Glyph {
    pub(crate) width: i64,
    /// Points that the pen is drawn towards; one that is written twice is a corner.
    pub(crate) strokes: Vec<Vec<(i64, i64)>>,
}

pub(crate) fn glyph(letter: char) -> Option<&'static Glyph> {
    static HAND: OnceLock<HashMap<char, Glyph>> = OnceLock::new();
    HAND.get_or_init(written).get(&plain(letter))
}

/// Typographic variants share a glyph.
const fn plain(letter: char) -> char {
    match letter {
        '’' | '‘' | '´' | '`' | '‚' => '\'',
        '“' | '”' | '„' | '«' | '»' => '"',
        '‐' | '‑' => '-',
        '\u{a0}' | '\t' => ' ',
        '❤' => '♥',
        _ => letter,
    }
}

fn written() -> HashMap<char, Glyph> {
    let mut hand: HashMap<char, Glyph> = HashMap::new();
    for line in STROKES.lines().filter(|line| !line.is_empty()) {
        let mut letters = line.chars();
        if let (Some(letter), Some(glyph)) = (letters.next(), read(letters.as_str())) {
            hand.insert(letter, glyph);
        }
    }
    hand.insert(' ', Glyph { width: 24, strokes: Vec::new() });
    for pair in TWINS.split_whitespace().collect::<Vec<_>>() {
        copy(&mut hand, pair, |glyph| Glyph { width: glyph.width, strokes: glyph.strokes.clone() });
    }
    for pair in TALL.split_whitespace() {
        copy(&mut hand, pair, |glyph| stretched(glyph, 135, 175));
    }
    for (accent, pairs) in ACCENTS {
        for pair in pairs.split_whitespace() {
            copy(&mut hand, pair, |glyph| accented(glyph, accent));
        }
    }
    hand
}

/// `äa` makes the first letter of the second.
fn copy(hand: &mut HashMap<char, Glyph>, pair: &str, make: impl Fn(&Glyph) -> Glyph) {
    let mut letters = pair.chars();
    if let (Some(new), Some(old)) = (letters.next(), letters.next())
        && let Some(glyph) = hand.get(&old).map(make)
    {
        hand.insert(new, glyph);
    }
}

fn stretched(glyph: &Glyph, across: i64, up: i64) -> Glyph {
    let point = |(x, y): &(i64, i64)| (x * across / 100, y * up / 100);
    Glyph {
        width: glyph.width * across / 100,
        strokes: glyph.strokes.iter().map(|stroke| stroke.iter().map(point).collect()).collect(),
    }
}

/// An accent is drawn for a letter 36 wide and 40 high; above a taller one it
/// sits higher. A dot on an i makes way for it.
fn accented(glyph: &Glyph, accent: &str) -> Glyph {
    let top = |stroke: &Vec<(i64, i64)>| stroke.iter().map(|(_, y)| *y).max().unwrap_or(0);
    let dotted = glyph.width < 20 && glyph.strokes.len() == 2;
    let kept = if dotted { 1 } else { glyph.strokes.len() };
    let mut strokes: Vec<Vec<(i64, i64)>> = glyph.strokes[..kept].to_vec();
    let height = strokes.iter().map(top).max().unwrap_or(40);
    let marks = read(accent).map(|glyph| glyph.strokes).unwrap_or_default();
    for mark in marks {
        let above = mark.iter().all(|(_, y)| *y > 40);
        let lift = if above { height - 40 } else { 0 };
        let aside = (glyph.width - 36) / 2;
        strokes.push(mark.iter().map(|(x, y)| (x + aside, y + lift)).collect());
    }
    Glyph { width: glyph.width, strokes }
}

fn read(line: &str) -> Option<Glyph> {
    let (width, strokes) = line.trim().split_once(':')?;
    let point = |text: &str| {
        let (x, y) = text.split_once(',')?;
        Some((x.parse().ok()?, y.parse().ok()?))
    };
    let stroke = |text: &str| text.split_whitespace().map(point).collect::<Option<Vec<_>>>();
    Some(Glyph {
        width: width.trim().parse().ok()?,
        strokes: strokes.split('|').map(stroke).collect::<Option<Vec<_>>>()?,
    })
}

const STROKES: &str = include_str!("handwriting.txt");

/// Letters that look like another.
const TWINS: &str = "аa еe оo рp сc уy хx кk иu іi ѕs јj АA ВB ЕE КK МM НH ОO РP СC ТT ХX УY ІI ЅS \
                     ıi ҐГ αa οo";

/// Capitals that are the small letter, grown.
const TALL: &str = "Гг Дд Жж Зз Лл Пп Фф Цц Чч Ъъ Ыы Ьь Ээ Юю Яя Єє Ææ Œœ";

const ACCENTS: &[(&str, &str)] = &[
    ("0:11,54 12,56 | 25,54 26,56", "äa ëe ïi öo üu ÿy ÄA ËE ÏI ÖO ÜU ŸY ёe ЁE їi ЇI"),
    ("0:14,50 20,56 26,62", "áa ée íi óo úu ýy ćc ĺl ńn ŕr śs źz ÁA ÉE ÍI ÓO ÚU ÝY ĆC ŃN ŚS ŹZ"),
    ("0:10,62 16,56 23,50", "àa èe ìi òo ùu ÀA ÈE ÌI ÒO ÙU"),
    ("0:9,50 14,56 18,61 18,61 23,55 28,50", "âa êe îi ôo ûu ŵw ŷy ÂA ÊE ÎI ÔO ÛU"),
    ("0:8,52 13,58 19,54 25,51 30,57", "ãa ñn õo ĩi ũu ÃA ÑN ÕO"),
    ("0:9,61 14,55 18,50 18,50 23,56 28,61", "čc ďd ěe ľl ňn řr šs ťt žz ČC ĎD ĚE ŇN ŘR ŠS ŤT ŽZ"),
    ("0:19,62 13,58 15,51 22,51 25,57 18,62", "åa ůu ÅA ŮU"),
    ("0:9,53 18,54 28,53", "āa ēe īi ōo ūu ĀA ĒE ĪI ŌO ŪU"),
    ("0:9,60 13,52 20,50 26,54 28,60", "ăa ğg ŏo ĂA ĞG йи ЙИ ўy"),
    ("0:18,54 19,56", "żz ėe ġg ċc ŻZ ĖE İI"),
    ("0:10,50 16,60 | 22,50 28,60", "őo űu ŐO ŰU"),
    ("0:18,0 19,-8 25,-12 17,-20 11,-17", "çc şs ţt șs țt ÇC ŞS ŢT ȘS ȚT ķk ļl ņn ŗr ģg"),
    ("0:26,0 21,-10 24,-18 32,-17", "ąa ęe įi ųu ĄA ĘE"),
    ("0:4,-4 18,20 33,46", "øo ØO"),
    ("0:6,26 18,38 30,48", "łl ŁL"),
    ("0:16,56 26,57 40,57", "đd"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_languages_of_the_site_have_glyphs() {
        let sample = "The quick brown fox jumps over the lazy dog 0123456789 \
            THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG .,;:!?'\"-–—()/&@#%+=*_$€£…[]<>{}|\\~^•·°©\
            äöüßÄÖÜẞ áéíóúñ¿¡ÁÉÍÓÚÑ àèìòùçÀÈÌÒÙÇ âêîôûëïœæ ãõ åøÅØ čďěňřšťůžý łąęćńóśźż őű ăâîșț ğışİ\
            абвгдеёжзийклмнопрстуфхцчшщъыьэюя АБВГДЕЁЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ іїєґ ♥❤’“”„«»";
        let unknown: String = sample.chars().filter(|letter| glyph(*letter).is_none()).collect();
        assert_eq!(unknown, "");
    }

    #[test]
    fn every_line_of_the_glyph_file_parses() {
        for line in STROKES.lines().filter(|line| !line.is_empty()) {
            let mut letters = line.chars();
            letters.next();
            let glyph = read(letters.as_str()).unwrap_or_else(|| panic!("{line}"));
            assert!(
                glyph.width > 0 && glyph.strokes.iter().all(|stroke| stroke.len() > 1),
                "{line}"
            );
        }
    }

    #[test]
    fn other_characters_have_no_glyph() {
        for letter in ['漢', '🐌', 'ש', '\u{200d}'] {
            assert!(glyph(letter).is_none(), "{letter}");
        }
    }
}
