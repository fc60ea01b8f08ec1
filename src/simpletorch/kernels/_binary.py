"""The resources of a compiled kernel, read from the binary: loading it would need the chip."""

from __future__ import annotations

import re
import struct
from typing import Final, NamedTuple

__all__ = ["Resources", "resources_of_cubin", "resources_of_hsaco"]

# entries of a cubin's section .nv.info: registers of a thread, and bytes of its stack, where registers are spilled to
_REGISTERS: Final = 0x2F
_STACK: Final = 0x12


class Resources(NamedTuple):
    """Registers of a thread, and bytes that each thread keeps in memory because it has no more registers."""

    registers: int
    stack: int


def resources_of_cubin(cubin: bytes) -> Resources:
    """Read an ELF file's table of sections, and in ``.nv.info`` the two entries (format, attribute, length, data)."""
    (start,) = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", cubin, start + index * size) for index in range(count)]
    found = {_REGISTERS: 0, _STACK: 0}
    for section in sections:
        at = sections[names][4] + section[0]
        if cubin[at : cubin.index(b"\0", at)] != b".nv.info":
            continue
        at, end = section[4], section[4] + section[5]
        while at < end:
            kind, attribute, length = struct.unpack_from("<BBH", cubin, at)
            if kind == 4 and attribute in found:  # a symbol and a number
                found[attribute] = max(found[attribute], struct.unpack_from("<I", cubin, at + 8)[0])
            at += 4 + (length if kind == 4 else 0)
    return Resources(found[_REGISTERS], found[_STACK])


def resources_of_hsaco(assembly: str) -> Resources:
    """Read the notes at the end of AMD's assembly."""

    def note(name: str) -> int:
        return max((int(value) for value in re.findall(rf"\.{name}:\s+(\d+)", assembly)), default=0)

    return Resources(note("vgpr_count"), note("private_segment_fixed_size"))
