//! Packs what is known at start, while the doors wait for it.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

/// The best quality of brotli that is still quick, as every start waits for it.
const BROTLI_QUALITY: i32 = 4;
/// The bits of the largest window: nothing of ours is larger.
const BROTLI_WINDOW_MAX: u32 = 20;
const BROTLI_WINDOW_MIN: u32 = 10;

pub(crate) fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(body).and_then(|()| encoder.finish());
    written.expect("memory takes every byte")
}

pub(crate) fn brotli(body: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let bits = usize::BITS - body.len().leading_zeros();
    let window = bits.clamp(BROTLI_WINDOW_MIN, BROTLI_WINDOW_MAX);
    let settings = brotli::enc::BrotliEncoderParams {
        quality: BROTLI_QUALITY,
        // A window no larger than the text: clearing it costs more than packing.
        lgwin: window.cast_signed(),
        size_hint: body.len(),
        ..Default::default()
    };
    let mut rest = body;
    brotli::BrotliCompress(&mut rest, &mut packed, &settings).expect("memory takes every byte");
    packed
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn what_is_packed_comes_out_again() {
        let text = "a card to Ada, ".repeat(4_000).into_bytes();
        let noise: Vec<u8> =
            (0_u32..70_000).flat_map(|n| n.wrapping_mul(n ^ 0x9e37_79b9).to_le_bytes()).collect();
        for body in [&text[..], &noise, &[], &text[..7], &noise[..100_000]] {
            let mut unpacked = Vec::new();
            flate2::read::GzDecoder::new(&gzip(body)[..]).read_to_end(&mut unpacked).unwrap();
            assert_eq!(unpacked, body);
            let mut unpacked = Vec::new();
            brotli::BrotliDecompress(&mut &brotli(body)[..], &mut unpacked).unwrap();
            assert_eq!(unpacked, body);
        }
    }
}
