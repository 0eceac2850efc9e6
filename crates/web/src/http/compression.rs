//! Compresses documents at start.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

/// The highest quality that keeps the start fast.
const BROTLI_QUALITY: i32 = 4;
/// Large enough for the largest document.
const BROTLI_WINDOW_MAX: u32 = 20;
const BROTLI_WINDOW_MIN: u32 = 10;

pub(crate) fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(body).and_then(|()| encoder.finish());
    written.expect("writing to memory does not fail")
}

pub(crate) fn brotli(body: &[u8]) -> Vec<u8> {
    let mut compressed = Vec::new();
    let bits = usize::BITS - body.len().leading_zeros();
    let window = bits.clamp(BROTLI_WINDOW_MIN, BROTLI_WINDOW_MAX);
    let settings = brotli::enc::BrotliEncoderParams {
        quality: BROTLI_QUALITY,
        // A window no larger than the text, because clearing it costs more than compressing.
        lgwin: window.cast_signed(),
        size_hint: body.len(),
        ..Default::default()
    };
    let mut rest = body;
    brotli::BrotliCompress(&mut rest, &mut compressed, &settings)
        .expect("writing to memory does not fail");
    compressed
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn compressed_bodies_decompress_to_the_same_bytes() {
        let text = "a card to Ada, ".repeat(4_000).into_bytes();
        let noise: Vec<u8> =
            (0_u32..70_000).flat_map(|n| n.wrapping_mul(n ^ 0x9e37_79b9).to_le_bytes()).collect();
        for body in [&text[..], &noise, &[], &text[..7], &noise[..100_000]] {
            let mut decompressed = Vec::new();
            flate2::read::GzDecoder::new(&gzip(body)[..]).read_to_end(&mut decompressed).unwrap();
            assert_eq!(decompressed, body);
            let mut decompressed = Vec::new();
            brotli::BrotliDecompress(&mut &brotli(body)[..], &mut decompressed).unwrap();
            assert_eq!(decompressed, body);
        }
    }
}
