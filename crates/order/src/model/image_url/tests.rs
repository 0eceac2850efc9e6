//! Addresses of pictures that must pass, and the disguises that must not.

use super::NotPublic::*;
use super::*;

/// Good addresses, each with the spelling that is kept.
const GOOD: [(&str, &str); 37] = [
    ("https://example.org", "https://example.org/"),
    ("https://example.org/a.png", "https://example.org/a.png"),
    ("HTTPS://EXAMPLE.ORG/A.PNG", "https://example.org/A.PNG"),
    ("https://example.org:443/a.png", "https://example.org/a.png"),
    ("https://example.org:00443/a.png", "https://example.org/a.png"),
    ("https://example.org:/a.png", "https://example.org/a.png"),
    ("https://3.example.org/a.png", "https://3.example.org/a.png"),
    ("https://1password.com/a.png", "https://1password.com/a.png"),
    ("https://0x7f.example.org/", "https://0x7f.example.org/"),
    ("https://127.0.0.1.example.org/", "https://127.0.0.1.example.org/"),
    ("https://10-0-0-1.example.org/", "https://10-0-0-1.example.org/"),
    ("https://r3---sn-p5qlsnz6.example.com/", "https://r3---sn-p5qlsnz6.example.com/"),
    ("https://a.b.c.d.e.f.g.example.museum/", "https://a.b.c.d.e.f.g.example.museum/"),
    ("https://bücher.example/ü.png", "https://xn--bcher-kva.example/%C3%BC.png"),
    ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
    ("https://XN--BCHER-KVA.example/", "https://xn--bcher-kva.example/"),
    ("https://例え.テスト/", "https://xn--r8jz45g.xn--zckzah/"),
    ("https://пример.рф/", "https://xn--e1afmkfd.xn--p1ai/"),
    ("https://مثال.إختبار/", "https://xn--mgbh0fb.xn--kgbechtv/"),
    ("https://straße.de/", "https://xn--strae-oqa.de/"),
    ("https://i❤.ws/", "https://xn--i-7iq.ws/"),
    ("https://example。org/", "https://example.org/"),
    ("https://ｅｘａｍｐｌｅ.org/", "https://example.org/"),
    ("https://soft\u{ad}hyphen.org/", "https://softhyphen.org/"),
    ("https://localhost.example.org/", "https://localhost.example.org/"),
    ("https://mylocal.org/", "https://mylocal.org/"),
    ("https://internal.example.org/", "https://internal.example.org/"),
    ("https://example.latest/", "https://example.latest/"),
    ("https://example.vlan/", "https://example.vlan/"),
    ("https://my-home.arpa/", "https://my-home.arpa/"),
    ("https://example.org/a%20b%2Fc.png", "https://example.org/a%20b%2Fc.png"),
    ("https://example.org/?a=%C3%A9&b=1+2", "https://example.org/?a=%C3%A9&b=1+2"),
    ("https://example.org?size=4x6", "https://example.org/?size=4x6"),
    ("https://example.org/a/../b/./c.png", "https://example.org/b/c.png"),
    ("https://example.org/@user:8080/[a]", "https://example.org/@user:8080/[a]"),
    ("https://example.org/?u=http://10.0.0.1/", "https://example.org/?u=http://10.0.0.1/"),
    ("https://example.org/a.png#%zz@10.0.0.1", "https://example.org/a.png"),
];

fn written_as(text: &str) -> String {
    match PublicImageUrl::parse(text) {
        Ok(url) => url.as_str().to_owned(),
        Err(reason) => panic!("{text:?} was refused: {reason}"),
    }
}

fn refused(expected: NotPublic, texts: &[&str]) {
    for text in texts {
        match PublicImageUrl::parse(text) {
            Ok(url) => panic!("{text:?} passed as {}", url.as_str()),
            Err(reason) => assert_eq!(reason, expected, "{text:?}"),
        }
    }
}

/// Takes hosts with spaces between, and tries each with and without a path.
fn hosts_refused(expected: NotPublic, hosts: &str) {
    for host in hosts.split(' ') {
        refused(expected, &[&format!("https://{host}"), &format!("https://{host}/a.png?b#c")]);
    }
}

#[test]
fn good_addresses_pass_and_are_kept_as_the_parser_writes_them() {
    for (text, kept) in GOOD {
        assert_eq!(written_as(text), kept);
        assert_eq!(written_as(kept), kept, "what was kept is read the same again");
    }
}

#[test]
fn an_address_in_dotted_decimal_is_refused_though_it_be_public() {
    hosts_refused(AddressLiteral, "10.0.0.1 127.0.0.1:443 169.254.169.254 0.0.0.0 8.8.8.8");
}

#[test]
fn an_address_as_one_number_is_refused() {
    hosts_refused(AddressLiteral, "0 2130706433 2852039166 4294967295 4294967296 99999999999");
}

#[test]
fn an_address_in_octal_is_refused() {
    hosts_refused(AddressLiteral, "0177.0.0.1 00000000177.0.0.1 0017700000001 010.0.0.01");
}

#[test]
fn an_address_in_hexadecimal_is_refused() {
    hosts_refused(AddressLiteral, "0x7f000001 0X7F000001 0x7F.1 0xa.0x0.0x0.0x1 0x 0x0000000a.1");
}

#[test]
fn an_address_in_mixed_bases_is_refused() {
    hosts_refused(AddressLiteral, "0177.0x0.0.01 0xA9.0376.43518 169.0xfe.0124776");
}

#[test]
fn an_address_with_parts_left_out_is_refused() {
    hosts_refused(AddressLiteral, "127.1 127.0.1 10.1 192.168.257");
}

#[test]
fn what_only_resembles_an_address_is_refused() {
    hosts_refused(AddressLiteral, "256.0.0.1 1.2.3.4.5 10..0.1 .10.0.0.1 example.1 example.08");
    hosts_refused(AddressLiteral, "example.0x7f 10.0.0.0x");
    hosts_refused(BadHostName, "example.1a 10.0.0.1a 10.0.0.0x7g 10.0.0.1-1 10.0.0.-1");
}

#[test]
fn an_address_with_a_dot_after_it_is_refused() {
    hosts_refused(AddressLiteral, "10.0.0.1. 2130706433. 0x7f.1. 10.0.0.1。");
}

#[test]
fn an_address_in_letters_that_unicode_folds_to_digits_is_refused() {
    hosts_refused(AddressLiteral, "1２７.0.0.1 １０.０.０.１ 10。0．0｡1 ①②⑦.⓪.⓪.① 𝟏𝟐𝟕.𝟎.𝟎.𝟏");
    hosts_refused(AddressLiteral, "¹²⁷.⁰.⁰.¹ ₁₀.₀.₀.₁ ０ｘ７ｆ．１ ⓪ⓧ7ⓕ.1");
}

#[test]
fn an_address_with_invisible_characters_inside_is_refused() {
    hosts_refused(AddressLiteral, "127.0.0\u{ad}.1 127.0\u{200b}.0.1\u{feff} \u{2060}0x7f.1");
}

#[test]
fn an_address_of_version_6_is_refused() {
    hosts_refused(
        AddressLiteral,
        "[::1] [::] [0:0:0:0:0:0:0:1] [fe80::1] [FD00:ec2::254] [::]:443",
    );
    hosts_refused(AddressLiteral, "[0000:0000:0000:0000:0000:0000:0000:0001] [2606:4700::1111]");
}

#[test]
fn an_address_of_version_4_inside_version_6_is_refused() {
    hosts_refused(AddressLiteral, "[::ffff:10.0.0.1] [::FFFF:0A00:0001] [::127.0.0.1]");
    hosts_refused(AddressLiteral, "[64:ff9b::10.0.0.1] [2002:a00:1::] [64:ff9b:1::a00:1]");
}

#[test]
fn brackets_around_anything_else_are_refused() {
    hosts_refused(AddressLiteral, "[::1 [::1].example.org [10.0.0.1] [v1.fe80] [] [example.org]");
    hosts_refused(BadHostName, "example.org] exam[ple].org");
}

#[test]
fn a_percent_sign_in_the_host_is_refused() {
    hosts_refused(PercentInHost, "%31%30.0.0.1 127%2e0%2e0%2e1 ex%61mple.org localhos%74");
    hosts_refused(PercentInHost, "example.org%00.png example.org%2f example.org:%34%34%33 a%");
    hosts_refused(PercentInHost, "[fe80::1%25eth0] [fe80::1%eth0] [fe80::1%25]");
}

#[test]
fn user_information_is_refused_though_it_be_empty() {
    hosts_refused(UserInfo, "example.org@10.0.0.1 example.org:443@127.0.0.1 @example.org");
    hosts_refused(UserInfo, "user:secret@example.org user@example.org :@example.org a@b@c.org");
    hosts_refused(UserInfo, "example.org%2f@10.0.0.1 %40@example.org example.org@ @");
}

#[test]
fn characters_that_the_parser_would_mend_are_refused() {
    refused(
        ForbiddenCharacter,
        &[
            "https://example.org\\@10.0.0.1/",
            "https:\\\\example.org\\a.png",
            "https://10.0.0.1\\.example.org/",
            "https://example.org/#\\",
            " https://example.org/",
            "https://example.org/ ",
            "https://example.org/a b.png",
            "https://exa\tmple.org/",
            "ht\ntps://example.org/",
            "https://127.0\r\n.0.1/",
            "https://example.org/\u{0}.png",
            "https://example.org/\u{7f}",
            "https://example.org/\u{85}",
            "https://example.org/\u{a0}",
            "https://example\u{3000}.org/",
            "https://example.org/\u{2028}",
        ],
    );
}

#[test]
fn any_scheme_but_https_is_refused() {
    refused(
        NotHttps,
        &[
            "http://example.org/",
            "http://127.0.0.1/",
            "ftp://example.org/",
            "file:///etc/passwd",
            "gopher://10.0.0.1:6379/",
            "data:image/png;base64,AAAA",
            "javascript:alert(1)",
            "httpss://example.org/",
            "ｈttps://example.org/",
            "\u{feff}https://example.org/",
            "example.org:443/a.png",
            "blob:https://example.org/1",
            "://example.org/",
        ],
    );
}

#[test]
fn an_incomplete_address_is_refused() {
    refused(
        NotAUrl,
        &[
            "",
            "https",
            "https:",
            "https://",
            "https:///",
            "https://?a",
            "https://#a",
            "https:example.org",
            "https:/example.org",
            "https:///example.org/",
            "https:////10.0.0.1/",
            "https:example.org/?://example.org/",
            "https://:443/",
            "https://\u{ad}/",
            "//example.org/a.png",
            "example.org/a.png",
        ],
    );
}

#[test]
fn any_port_but_443_is_refused() {
    hosts_refused(Port, "example.org:80 example.org:8443 example.org:0 example.org:22");
    hosts_refused(Port, "example.org:65535 example.org:65536 example.org:65979 a.org:443:443");
    hosts_refused(
        Port,
        "a.org:-443 a.org:+443 a.org:４４３ a.org:0x1bb a.org:443a a.org:4294967739",
    );
    hosts_refused(Port, "10.0.0.1:6379 localhost:5432 [::1]:80");
}

#[test]
fn a_dot_at_the_end_is_refused() {
    hosts_refused(TrailingDot, "example.org. example.org.. localhost. printer.local. com.");
    hosts_refused(TrailingDot, "printer.local。 example.org．:443 . xn--p1ai.");
}

#[test]
fn a_private_suffix_is_refused_below_a_host_and_as_the_host() {
    for suffix in PRIVATE_SUFFIXES {
        hosts_refused(PrivateSuffix, &format!("{suffix} a.{suffix} a.b.{suffix} -.{suffix}"));
        hosts_refused(TrailingDot, &format!("{suffix}. a.{suffix}."));
    }
    hosts_refused(PrivateSuffix, "metadata.google.internal nas.home.arpa default.svc a.localhost");
    hosts_refused(
        PrivateSuffix,
        "printer.local router.lan a.onion a.test a.invalid a.corp a.home a.intranet",
    );
}

#[test]
fn a_private_suffix_in_disguise_is_refused() {
    hosts_refused(
        PrivateSuffix,
        "LOCALHOST ｌｏｃａｌｈｏｓｔ printer.LoCaL printer。local printer.ℓocal",
    );
    hosts_refused(PrivateSuffix, "printer.ⓛⓞⓒⓐⓛ default.ſvc prin\u{ad}ter.lo\u{ad}cal a.𝒸ℴ𝓇𝓅");
}

#[test]
fn a_single_word_is_refused() {
    hosts_refused(SingleLabel, "com router xn--p1ai рф 0x7g ip6-loopback a:443");
}

#[test]
fn a_host_with_a_letter_that_no_name_has_is_refused() {
    hosts_refused(BadHostName, "a_b.org a!b.org a,b.org a;b.org a+b.org a=b.org *.a.org a<b.org");
    hosts_refused(BadHostName, "a^b.org a|b.org {a}.org \"a\".org a`b.org a~b.org a&b.org $a.org");
    hosts_refused(
        BadHostName,
        "example.org／.png example.org％2f example.org：8080 user＠example.org",
    );
    hosts_refused(BadHostName, "a\u{200d}b.org a\u{fffd}.org \u{301}a.org a℀.org");
}

#[test]
fn a_host_with_a_misshapen_part_is_refused() {
    hosts_refused(BadHostName, "a..org .example.org -a.org a-.org a.-.org a.org- a.-org");
    hosts_refused(BadHostName, "xn-- xn--a.org xn--0.org xn--localhost-.org xn--BCHER-KVA-.org");
}

#[test]
fn a_part_of_63_bytes_passes_and_of_64_does_not() {
    let part = "a".repeat(63);
    written_as(&format!("https://{part}.org/"));
    hosts_refused(BadHostName, &format!("a{part}.org www.a{part}.org example.a{part}"));
    // In punycode the label is longer than it looks.
    hosts_refused(BadHostName, &format!("{}.org", "ü".repeat(60)));
}

#[test]
fn a_host_of_253_bytes_passes_and_of_254_does_not() {
    let name = format!("{}org", "a23456789.".repeat(25));
    assert_eq!(name.len(), 253);
    written_as(&format!("https://{name}/"));
    hosts_refused(BadHostName, &format!("b{name}"));
}

#[test]
fn an_address_of_2_048_bytes_passes_and_of_2_049_does_not() {
    let longest = format!("https://example.org/{}", "a".repeat(2_028));
    assert_eq!(longest.len(), 2_048);
    assert_eq!(written_as(&longest), longest);
    refused(TooLong, &[&format!("{longest}a"), &format!("{longest}#"), &"a".repeat(1_000_000)]);
}

#[test]
fn an_address_that_grows_too_long_when_it_is_encoded_is_refused() {
    let grows = format!("https://example.org/{}", "ü".repeat(338));
    assert_eq!(written_as(&grows).len(), 2_048);
    refused(TooLong, &[&format!("{grows}a")]);
}

#[test]
fn the_address_does_not_print_itself() {
    let url = PublicImageUrl::parse("https://example.org/ada-lovelace.png").expect("a good one");
    assert_eq!(format!("{url:?}"), "PublicImageUrl(..)");
}

#[test]
fn every_refusal_is_a_sentence_of_its_own() {
    let reasons = [
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
    ];
    let mut sentences: Vec<String> = reasons.iter().map(NotPublic::to_string).collect();
    for sentence in &sentences {
        assert!(sentence.starts_with("The ") && sentence.ends_with('.'), "{sentence}");
        assert!(sentence.contains("image URL") && sentence.contains("; "), "{sentence}");
    }
    sentences.sort();
    sentences.dedup();
    assert_eq!(sentences.len(), reasons.len());
}
