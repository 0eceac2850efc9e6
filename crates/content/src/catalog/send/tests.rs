//! Mistakes in the texts and in the list of countries.

use super::*;

fn read(texts: &str, countries: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("send")).unwrap();
    std::fs::write(folder.path().join(TEXTS), texts).unwrap();
    std::fs::write(folder.path().join(COUNTRIES), countries).unwrap();
    let read = SendTexts::read(&ContentSource::Folder(folder.path().to_owned()));
    read.err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

const TEXTS_OF_ALL: &str = "[en]\na = \"A\"\n[de]\na = \"A\"\n[es]\na = \"A\"\n[it]\na = \"A\"\n";
const COUNTRIES_OF_ALL: &str = "en = [\"DE Germany\"]\nde = [\"DE Deutschland\"]\n\
                                es = [\"DE Alemania\"]\nit = [\"DE Germania\"]\n";

#[test]
fn complete_texts_are_valid() {
    assert_eq!(read(TEXTS_OF_ALL, COUNTRIES_OF_ALL), [""; 0]);
}

#[test]
fn a_text_that_a_language_lacks_is_reported() {
    let texts = TEXTS_OF_ALL.replace("[it]\na", "[it]\nb");
    let faults = read(&texts, COUNTRIES_OF_ALL);
    assert!(faults.contains(&"send/texts.toml: it.a: is missing".to_owned()), "{faults:?}");
    assert!(faults.contains(&"send/texts.toml: en.b: is missing".to_owned()), "{faults:?}");
}

#[test]
fn a_country_that_a_language_lacks_or_repeats_is_reported() {
    let other = COUNTRIES_OF_ALL.replace("DE Alemania", "FR Francia");
    let expected = "send/countries.toml: es: must have the countries of en, each once";
    assert_eq!(read(TEXTS_OF_ALL, &other), [expected]);
    let twice = COUNTRIES_OF_ALL.replace("\"DE Germany\"", "\"DE Germany\", \"DE Germany\"");
    let faults = read(TEXTS_OF_ALL, &twice);
    assert!(faults.iter().any(|fault| fault.contains("names a country twice")), "{faults:?}");
    let nameless = COUNTRIES_OF_ALL.replace("DE Germania", "Germania");
    let faults = read(TEXTS_OF_ALL, &nameless);
    assert!(faults[0].contains("is not a code, a space and a name"), "{faults:?}");
}

#[test]
fn every_text_has_the_placeholders_of_its_original() {
    let texts = SendTexts::read(&ContentSource::BuiltIn).unwrap();
    let placeholders = |text: &str| {
        let mut found: Vec<String> = text.split('{').skip(1).map(str::to_owned).collect();
        found.iter_mut().for_each(|one| one.truncate(one.find('}').unwrap_or(0)));
        found.sort_unstable();
        found
    };
    for language in [Language::De, Language::Es, Language::It] {
        for (key, text) in texts.texts(language) {
            let original = &texts.texts(Language::En)[key];
            assert_eq!(placeholders(text), placeholders(original), "{} {key}", language.code());
        }
    }
}
