"""Checks content/send/texts.toml and content/gallery for scripts/check-texts."""

import re
import struct
import sys
import tomllib
from pathlib import Path

CONTENT = Path("content")
LANGUAGES = tomllib.loads((CONTENT / "site.toml").read_text())["languages"]
STATUSES = """unpaid payment_pending payment_unconfirmed paid submitted fulfillment_needs_reconciliation
    mailed delivered returned refund_due refunded expired""".split()
PICTURES_MIN = 12
PRINT_SIZE = (1875, 1275)
THUMBNAIL_WIDTH = 480
LIMITS_KIB = {"svg": 60, "jpeg": 400, "thumbnail": 30}
# What a picture must not need: fonts, other files, rasters, scripts, gradients that band in print.
FORBIDDEN = re.compile(r"<(text|image|script|style|foreignObject|\w*Gradient|filter)\b|(href|src)=\"(?!#)|url\((?!#)|data:|@")

faults = []


def fault(text):
    faults.append(text)


def placeholders(text):
    return sorted(re.findall(r"\{[^}]*\}", text))


def targets(text):
    return sorted(re.findall(r"\]\(([^)]*)\)", text))


def check_texts(texts):
    if sorted(texts) != sorted(LANGUAGES):
        fault(f"texts.toml: tables {sorted(texts)}, but the site has {sorted(LANGUAGES)}")
    first = texts[LANGUAGES[0]]
    for status in STATUSES:
        for part in ("name", "text", "next"):
            if f"status_{status}_{part}" not in first:
                fault(f"texts.toml: status_{status}_{part} is missing")
    for language, table in texts.items():
        for key in sorted(first.keys() ^ table.keys()):
            fault(f"texts.toml: {language}.{key} is {'missing' if key in first else 'not in ' + LANGUAGES[0]}")
        for key, text in table.items():
            if not text.strip() or text != text.strip():
                fault(f"texts.toml: {language}.{key} is empty or has space around it")
            for what, read in (("placeholders", placeholders), ("links", targets)):
                if key in first and read(text) != read(first[key]):
                    fault(f"texts.toml: {language}.{key} has {what} {read(text)}, {LANGUAGES[0]} has {read(first[key])}")


def jpeg_size(data):
    place = 2
    while data[place] == 0xFF:
        marker, length = data[place + 1], struct.unpack(">H", data[place + 2 : place + 4])[0]
        if marker in (0xC0, 0xC1, 0xC2):
            height, width = struct.unpack(">HH", data[place + 5 : place + 9])
            return width, height
        place += 2 + length
    return None


def webp_size(data):
    if data[12:16] == b"VP8 ":
        width, height = struct.unpack("<HH", data[26:30])
        return width & 0x3FFF, height & 0x3FFF
    if data[12:16] == b"VP8X":
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    bits = int.from_bytes(data[21:25], "little")
    return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1


def check_picture(folder, picture):
    name = picture["name"]
    for kind, limit in LIMITS_KIB.items():
        path = folder / picture[kind]
        if not path.is_file():
            fault(f"gallery.toml: {path} does not exist")
            continue
        data = path.read_bytes()
        if len(data) > limit * 1024:
            fault(f"{path}: {len(data)} bytes, more than {limit} KiB")
        if kind == "svg" and (found := FORBIDDEN.search(data.decode())):
            fault(f"{path}: {found.group()} is not allowed")
        if kind == "svg" and b'viewBox="0 0 1875 1275"' not in data:
            fault(f"{path}: the view box is not 0 0 1875 1275")
        if kind == "jpeg" and jpeg_size(data) != PRINT_SIZE:
            fault(f"{path}: {jpeg_size(data)} pixels, not {PRINT_SIZE}")
        if kind == "thumbnail" and webp_size(data)[0] != THUMBNAIL_WIDTH:
            fault(f"{path}: {webp_size(data)} pixels, not {THUMBNAIL_WIDTH} wide")
    for part in ("title", "alt"):
        if sorted(picture[part]) != sorted(LANGUAGES) or not all(picture[part].values()):
            fault(f"gallery.toml: {name}.{part} does not have every language")


def check_gallery(folder):
    pictures = tomllib.loads((folder / "gallery.toml").read_text())["picture"]
    names = [picture["name"] for picture in pictures]
    if len(names) < PICTURES_MIN or len(set(names)) != len(names):
        fault(f"gallery.toml: {len(set(names))} different pictures, at least {PICTURES_MIN} are needed, each once")
    for picture in pictures:
        check_picture(folder, picture)
    listed = {picture[kind] for picture in pictures for kind in LIMITS_KIB} | {"gallery.toml"}
    for path in sorted(folder.iterdir()):
        if path.name not in listed:
            fault(f"{path}: not in gallery.toml")
    return len(pictures)


texts = tomllib.loads((CONTENT / "send/texts.toml").read_text())
check_texts(texts)
pictures = check_gallery(CONTENT / "gallery")
for text in faults:
    print(text, file=sys.stderr)
if faults:
    sys.exit(f"{len(faults)} faults")
print(f"{len(texts)} languages with {len(texts[LANGUAGES[0]])} texts each, and {pictures} pictures: no faults")
