// Renders the SVG pictures of a folder to JPEG for print and to WebP thumbnails.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";

const PRINT = { width: 1875, height: 1275 };
// 6.25 x 4.25 inches: the card of 6 x 4 and an eighth of an inch to trim in all directions.
const DOTS_PER_INCH = 300;
const PRINT_BYTES_MAX = 400 * 1024;
const THUMBNAIL_WIDTH = 480;
const THUMBNAIL_BYTES_MAX = 30 * 1024;
const PRINT_QUALITIES = [95, 93, 91, 89, 87, 85, 82, 79, 76, 73, 70];
const THUMBNAIL_QUALITIES = [88, 84, 80, 76, 72, 68, 64, 60];

// One thread, so that the result does not depend on the number of cores.
sharp.concurrency(1);

/** The highest quality that fits. */
async function fitting(name, qualities, most, encode) {
  for (const quality of qualities) {
    const bytes = await encode(quality);
    if (bytes.length <= most) return { bytes, quality };
  }
  throw new Error(`${name}: more than ${most} bytes at the lowest quality`);
}

async function rendered(name, svg) {
  // At the size of the view box; without resampling, lines stay as sharp as they are drawn.
  const picture = await sharp(svg, { density: 72 }).flatten({ background: "#ffffff" }).toColourspace("srgb").raw()
    .toBuffer({ resolveWithObject: true });
  const { data, info } = picture;
  if (info.width !== PRINT.width || info.height !== PRINT.height) {
    throw new Error(`${name}: ${info.width} x ${info.height} pixels`);
  }
  const pixels = () => sharp(data, { raw: { width: info.width, height: info.height, channels: info.channels } });
  const print = await fitting(name, PRINT_QUALITIES, PRINT_BYTES_MAX, (quality) =>
    pixels().withMetadata({ density: DOTS_PER_INCH }).jpeg({ quality, mozjpeg: true, chromaSubsampling: "4:4:4" }).toBuffer());
  const thumbnail = await fitting(name, THUMBNAIL_QUALITIES, THUMBNAIL_BYTES_MAX, (quality) =>
    pixels().resize({ width: THUMBNAIL_WIDTH }).webp({ quality, effort: 6, smartSubsample: true }).toBuffer());
  return [[`${name}.jpg`, print], [`${name}.webp`, thumbnail]];
}

const [folder, ...asked] = process.argv.slice(2);
const check = asked[0] === "--check";
const all = readdirSync(folder).filter((file) => file.endsWith(".svg")).map((file) => file.slice(0, -4)).sort();
let different = 0;
for (const name of check || asked.length === 0 ? all : asked) {
  for (const [file, { bytes, quality }] of await rendered(name, readFileSync(join(folder, `${name}.svg`)))) {
    const path = join(folder, file);
    if (!check) {
      writeFileSync(path, bytes);
      console.log(`${path}: ${bytes.length} bytes, quality ${quality}`);
    } else if (!readFileSync(path).equals(bytes)) {
      different += 1;
      console.error(`${path}: not what its SVG gives; run scripts/render-gallery`);
    }
  }
}
if (check) console.log(`${all.length} pictures, ${different} files differ`);
process.exitCode = different === 0 ? 0 : 1;
