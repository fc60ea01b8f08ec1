"""`read_image`: Pillow's pixels, and an error for every file that is no whole image."""

import gc
import io
import random
import struct
import sys
import zlib

import numpy as np
import pytest
import torch
from PIL import Image

from simpletorch.errors import DataError
from simpletorch.vision.io import decode_image, read_image

RANDOM = np.random.default_rng(29)
PIXELS = RANDOM.integers(0, 256, (37, 53, 4), dtype=np.uint8)
CHANNELS = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4}


def image(mode="RGB"):
    count = CHANNELS[mode]
    return Image.fromarray(PIXELS[:, :, 0] if count == 1 else np.ascontiguousarray(PIXELS[:, :, :count]), mode=None)


def content(picture, kind, **options):
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


@pytest.mark.parametrize("mode", CHANNELS)
def test_a_png_has_the_pixels_that_were_written(tmp_path, mode):
    path = tmp_path / "image.png"
    image(mode).save(path)
    read = read_image(path)
    expected = torch.from_numpy(PIXELS[:, :, : CHANNELS[mode]]).permute(2, 0, 1)
    assert read.dtype == torch.uint8
    assert torch.equal(read, expected)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "BMP", "PPM", "TIFF"])
def test_every_format_is_as_pillow_decodes_it(kind):
    data = content(image(), kind)
    expected = torch.from_numpy(np.array(Image.open(io.BytesIO(data)))).permute(2, 0, 1)
    assert torch.equal(decode_image(data), expected)


@pytest.mark.parametrize(("mode", "channels"), [("GRAY", 1), ("GRAY_ALPHA", 2), ("RGB", 3), ("RGB_ALPHA", 4)])
@pytest.mark.parametrize("stored", CHANNELS)
def test_the_channels_asked_for(stored, mode, channels):
    data = content(image(stored), "PNG")
    pillow = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}[channels]
    expected = np.array(image(stored).convert(pillow)).reshape(37, 53, channels)
    assert torch.equal(decode_image(data, mode), torch.from_numpy(expected).permute(2, 0, 1))


def test_palettes_bits_cmyk_and_16_bits_become_bytes():
    palette = image().quantize(7)
    expected = np.array(palette.convert("RGB")).transpose(2, 0, 1)
    assert decode_image(content(palette, "PNG")).tolist() == expected.tolist()
    black_or_white = image("L").point(lambda v: 255 * (v > 127)).convert("1")
    assert decode_image(content(black_or_white, "PNG")).unique().tolist() == [0, 255]
    assert decode_image(content(image().convert("CMYK"), "JPEG")).shape[0] == 3
    deep = RANDOM.integers(0, 65536, (11, 13), dtype=np.uint16)
    for mode in ("UNCHANGED", "GRAY"):
        assert decode_image(content(Image.fromarray(deep), "PNG"), mode)[0].tolist() == (deep >> 8).tolist()


def test_transparency_of_a_palette_is_kept():
    palette = image().quantize(7)
    assert decode_image(content(palette, "PNG", transparency=0)).shape[0] == 4


def test_orientation_is_applied_on_request():
    exif = Image.Exif()
    exif[0x0112] = 6
    data = content(image(), "JPEG", exif=exif)
    assert list(decode_image(data).shape) == [3, 37, 53]
    assert list(decode_image(data, apply_exif_orientation=True).shape) == [3, 53, 37]


def test_bytes_may_be_a_tensor_and_the_result_may_be_written_to():
    data = torch.frombuffer(bytearray(content(image(), "PNG")), dtype=torch.uint8)
    read = decode_image(data)
    read.zero_()
    assert decode_image(data).any()


def test_an_image_outlives_pillow_s_and_many_others():
    expected = torch.from_numpy(PIXELS[..., :3].copy()).permute(2, 0, 1)
    data = content(image(), "PNG")
    kept = [decode_image(data) for _ in range(50)]
    gc.collect()
    assert all(torch.equal(read, expected) for read in kept)


def test_an_image_in_several_blocks_of_memory_is_copied():
    wide = Image.fromarray(RANDOM.integers(0, 256, (2003, 2503, 3), dtype=np.uint8))
    with pytest.raises(ValueError, match="contiguous"):
        wide.__arrow_c_array__()  # what is tested here would not be there
    assert torch.equal(decode_image(content(wide, "BMP")), torch.from_numpy(np.array(wide)).permute(2, 0, 1))


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "BMP", "WEBP"])
def test_a_truncated_file_is_never_an_image(tmp_path, kind):
    data = content(image(), kind)
    for cut in [0, 1, *random.Random(3).sample(range(2, len(data) - 20), 29)]:
        path = tmp_path / "cut"
        path.write_bytes(data[:cut])
        with pytest.raises(DataError, match=r"cut is no image|the image in .*cut is truncated or damaged"):
            read_image(path)


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_a_damaged_file_is_an_image_or_a_data_error(kind):
    dice = random.Random(13)
    data = content(image(), kind)
    refused = 0
    for _ in range(60):
        damaged = bytearray(data)
        for _ in range(3):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        try:
            decode_image(bytes(damaged), "RGB", max_pixels=10**6)
        except DataError:
            refused += 1
    assert refused > 0


def huge_png(width, height):
    """A PNG of a few bytes that claims to be huge."""

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


def test_a_bomb_is_refused_before_it_is_decoded():
    with pytest.raises(DataError, match="claims 9001 x 9007 pixels, and 1,000,003 are allowed"):
        decode_image(huge_png(9007, 9001), max_pixels=1_000_003)
    with pytest.raises(DataError, match="is not decoded"):
        decode_image(huge_png(100_003, 100_019))
    assert decode_image(content(image(), "PNG"), max_pixels=37 * 53).numel()


def test_other_formats_are_refused_whatever_their_name(tmp_path):
    path = tmp_path / "image.png"
    path.write_bytes(content(image(), "GIF"))
    with pytest.raises(DataError, match=r"image.png is no image that can be read: its first bytes are b'GIF8"):
        read_image(path)


def test_missing_files_folders_and_modes(tmp_path):
    with pytest.raises(DataError, match=r"can't read the image .*nowhere.png: No such file"):
        read_image(tmp_path / "nowhere.png")
    with pytest.raises(DataError, match=r"can't read the image .*: Is a directory"):
        read_image(tmp_path)
    with pytest.raises(DataError, match="mode is 'BGR', but must be UNCHANGED, GRAY"):
        decode_image(b"", "BGR")


def test_without_pillow_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(DataError, match=r"pip install 'simpletorch-typed\[vision\]'"):
        decode_image(b"")
