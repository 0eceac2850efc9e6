//! The back of a card as HTML: the message, around the area that Lob prints itself.
//!
//! The message is text. It is placed between tags only, and every character with a meaning in
//! HTML or templates is escaped as a number.

use crate::provider::card_text::lines;

/// With the bleed, in inches, from Lob's own measures: the card is 6.25 by 4.25,
/// of which the outer quarter may be cut, and the area for address and postage
/// is 3.2835 by 2.375 in the lower right corner, 0.275 and 0.25 from the edges.
/// The first float keeps the second, which is that area, down in its corner.
const STYLE: &str = "\
*{margin:0;padding:0}\
body{width:6.25in;height:4.25in;background:#fff}\
.sheet{position:absolute;left:.25in;top:.25in;width:5.75in;height:3.75in;overflow:hidden;\
color:#222;font-family:Georgia,serif;line-height:1.25;overflow-wrap:anywhere}\
.push{float:right;width:0;height:1.275in}\
.official{float:right;clear:right;width:3.41in;height:2.475in}\
.wide{font-size:12pt}.medium{font-size:10pt}.small{font-size:8pt}";

/// The whole page for one message.
pub(super) fn page(message: &str) -> String {
    let size = match (lines(message, 28), lines(message, 34)) {
        (0..=18, _) => "wide",
        (_, 0..=21) => "medium",
        _ => "small",
    };
    let text = escape(message);
    format!(
        "<!doctype html><html><head><meta charset=\"utf-8\"><style>{STYLE}</style></head><body>\
         <div class=\"sheet {size}\"><div class=\"push\"></div><div class=\"official\"></div>\
         <p>{text}</p></div></body></html>"
    )
}

/// Braces are escaped too: Lob replaces merge variables in double braces.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 64);
    for letter in text.chars() {
        match letter {
            '\n' => safe.push_str("<br>"),
            '&' | '<' | '>' | '"' | '\'' | '`' | '=' | '{' | '}' | '$' | '\\' | '/' => {
                safe.push_str(&format!("&#{};", u32::from(letter)));
            }
            _ => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::card_text::fits;

    /// What stands between the paragraph's tags.
    fn inside(message: &str) -> String {
        let page = page(message);
        let (_, rest) = page.split_once("<p>").unwrap();
        let (text, end) = rest.rsplit_once("</p>").unwrap();
        assert_eq!(end, "</div></body></html>");
        text.to_owned()
    }

    #[test]
    fn hostile_text_stays_text() {
        for hostile in [
            "<script>fetch('https://evil.example')</script>",
            "</p></div><img src=x onerror=alert(1)>",
            "<!--",
            "]]>",
            "{{recipient_name}} {{{secret}}} {% include x %} ${7*7}",
            "\"><iframe src=file:///etc/passwd>",
            "&lt;script&gt;",
            "&#60;script&#62;",
            "</style><style>.official{display:none}",
            "<link rel=stylesheet href=//evil.example/x.css>",
        ] {
            let text = inside(hostile);
            for forbidden in ['<', '>', '"', '\'', '{', '}', '=', '$', '`', '/'] {
                assert!(!text.contains(forbidden), "{forbidden} of {hostile} in {text}");
            }
            // Every ampersand begins a character reference, so nothing is decoded twice.
            for after in text.split('&').skip(1) {
                let (number, _) = after.split_once(';').unwrap();
                assert!(number.strip_prefix('#').unwrap().parse::<u32>().is_ok(), "{text}");
            }
            assert_eq!(read(&text), hostile);
        }
    }

    /// Reads text as a browser does.
    fn read(html: &str) -> String {
        let mut text = String::new();
        for (place, part) in html.split('&').enumerate() {
            match part.split_once(';').filter(|_| place > 0) {
                Some((number, rest)) => {
                    let number = number.trim_start_matches('#').parse().unwrap();
                    text.push(char::from_u32(number).unwrap());
                    text.push_str(rest);
                }
                None => text.push_str(part),
            }
        }
        text
    }

    #[test]
    fn every_declaration_names_a_property_of_css() {
        const PROPERTIES: [&str; 16] = [
            "margin",
            "padding",
            "width",
            "height",
            "background",
            "position",
            "left",
            "top",
            "overflow",
            "color",
            "font-family",
            "line-height",
            "overflow-wrap",
            "float",
            "clear",
            "font-size",
        ];
        let blocks = STYLE.split('{').skip(1).map(|block| block.split('}').next().unwrap());
        for declaration in blocks.flat_map(|block| block.split(';')) {
            let (name, _) = declaration.split_once(':').unwrap();
            assert!(PROPERTIES.contains(&name), "{declaration}");
        }
    }

    #[test]
    fn lines_and_letters_of_every_script_are_kept() {
        assert_eq!(inside("Dear Ada,\n\nyours"), "Dear Ada,<br><br>yours");
        assert_eq!(inside("Grüße 🚀 你好 שלום"), "Grüße 🚀 你好 שלום");
    }

    #[test]
    fn a_message_of_full_length_fits_and_a_ladder_of_lines_does_not() {
        assert!(fits(&"word ".repeat(200)));
        assert!(fits(&"a\n".repeat(26)));
        assert!(!fits(&"a\n".repeat(27)));
        assert!(page(&"word ".repeat(200)).contains("sheet small"));
        assert!(page("Hello.").contains("sheet wide"));
    }

    #[test]
    fn a_page_of_the_longest_message_is_within_what_lob_reads() {
        // Every character of it as a number.
        assert!(page(&"\"".repeat(1_000)).len() < 10_000);
    }
}
