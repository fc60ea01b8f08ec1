"""`extract`: all of an archive, inside the folder, or nothing."""

import bz2
import gzip
import io
import lzma
import os
import random
import stat
import tarfile
import zipfile

import pytest

from simpletorch.data import extract
from simpletorch.errors import DataError

FILES = {"top.txt": b"top", "data/a.bin": random.Random(3).randbytes(5003), "data/deep/b.bin": bytes(1009)}


def tar_bytes(members, mode="w:gz"):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as tar:
        for member, content in members:
            if isinstance(member, str):
                member = tarfile.TarInfo(member)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def zip_bytes(members, kind=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", kind) as zipped:
        for member, content in members:
            zipped.writestr(member, content)
    return buffer.getvalue()


def special(name, kind, to=""):
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, to
    return member, b""


def zip_link(name, to):
    member = zipfile.ZipInfo(name)
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    return member, to.encode()


def tree(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


KINDS = {
    "tar": tar_bytes(FILES.items(), "w"),
    "tar.gz": tar_bytes(FILES.items(), "w:gz"),
    "tar.bz2": tar_bytes(FILES.items(), "w:bz2"),
    "tar.xz": tar_bytes(FILES.items(), "w:xz"),
    "zip": zip_bytes(FILES.items()),
    "stored.zip": zip_bytes(FILES.items(), zipfile.ZIP_STORED),
}


def archive(folder, content, name="a.archive"):
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_files_come_out(tmp_path, kind):
    folder = extract(archive(tmp_path, KINDS[kind]), tmp_path / "out")
    assert tree(folder) == FILES


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_single_compressed_file_loses_its_suffix(tmp_path, pack):
    extract(archive(tmp_path, pack(b"content"), "labels-idx1-ubyte.gz"), tmp_path / "out")
    assert tree(tmp_path / "out") == {"labels-idx1-ubyte": b"content"}


def test_other_files_of_the_folder_stay_and_old_entries_go(tmp_path):
    (tmp_path / "out" / "data").mkdir(parents=True)
    (tmp_path / "out" / "mine").write_bytes(b"mine")
    (tmp_path / "out" / "data" / "old").write_bytes(b"old")
    extract(archive(tmp_path, KINDS["tar"]), tmp_path / "out")
    assert tree(tmp_path / "out") == {**FILES, "mine": b"mine"}


@pytest.mark.parametrize("pack", [tar_bytes, zip_bytes])
@pytest.mark.parametrize("name", ["../evil", "/evil", "a/../../evil", "a\\..\\evil", "C:/evil"])
def test_no_name_leads_out_of_the_folder(tmp_path, pack, name):
    with pytest.raises(DataError, match=r"is not unpacked: its entry .*(outside the folder|no plain relative name)"):
        extract(archive(tmp_path, pack([("good", b"1"), (name, b"2")])), tmp_path / "x" / "out")
    assert list((tmp_path / "x").iterdir()) == []
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize(
    "members",
    [
        [special("link", tarfile.SYMTYPE, "/etc/passwd")],
        [special("link", tarfile.SYMTYPE, "../../etc/passwd")],
        [special("link", tarfile.LNKTYPE, "/etc/passwd")],
        [special("link", tarfile.SYMTYPE, "..")],
        [special("dir", tarfile.SYMTYPE, "/tmp"), ("dir/evil", b"x")],
        [special("link", tarfile.SYMTYPE, "nowhere")],
        [special("a", tarfile.SYMTYPE, "b"), special("b", tarfile.SYMTYPE, "a")],
        [special("pipe", tarfile.FIFOTYPE)],
        [special("device", tarfile.CHRTYPE)],
    ],
)
def test_links_that_lead_out_and_devices_are_refused(tmp_path, members):
    with pytest.raises(DataError, match="is not unpacked: its entry"):
        extract(archive(tmp_path, tar_bytes([("good", b"1"), *members])), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_links_in_a_zip_are_seen(tmp_path):
    with pytest.raises(DataError, match="outside the folder"):
        extract(archive(tmp_path, zip_bytes([zip_link("link", "../../etc/passwd")])), tmp_path / "out")
    extract(archive(tmp_path, zip_bytes([("d/file", b"1"), zip_link("d/link", "file")])), tmp_path / "out")
    assert tree(tmp_path / "out") == {"d/file": b"1", "d/link": b"1"}


def test_links_inside_become_copies(tmp_path):
    members = [
        special("d/over", tarfile.SYMTYPE, "link"),
        special("d/link", tarfile.SYMTYPE, "../file"),
        ("file", b"1"),
        special("hard", tarfile.LNKTYPE, "file"),
    ]
    folder = extract(archive(tmp_path, tar_bytes(members)), tmp_path / "out")
    assert tree(folder) == {"file": b"1", "hard": b"1", "d/link": b"1", "d/over": b"1"}
    assert not any(path.is_symlink() or path.stat().st_nlink > 1 for path in folder.rglob("*") if path.is_file())


def test_permissions_are_not_taken_over(tmp_path):
    member = tarfile.TarInfo("program")
    member.mode = 0o6777
    folder = extract(archive(tmp_path, tar_bytes([(member, b"x")])), tmp_path / "out")
    assert not (folder / "program").stat().st_mode & 0o7111


@pytest.mark.parametrize("pack", [tar_bytes, zip_bytes])
def test_a_bomb_stops_at_the_limit(tmp_path, pack):
    path = archive(tmp_path, pack([("zeros", bytes(1_000_003))]))
    with pytest.raises(DataError, match=r"goes over the 500,009 bytes allowed \(max_bytes\)"):
        extract(path, tmp_path / "out", max_bytes=500_009)
    assert not (tmp_path / "out").exists()
    extract(path, tmp_path / "out", max_bytes=1_000_003)


def test_links_count_as_much_as_what_they_copy(tmp_path):
    members = [("file", bytes(1009)), *(special(f"link{i}", tarfile.LNKTYPE, "file") for i in range(5))]
    with pytest.raises(DataError, match="max_bytes"):
        extract(archive(tmp_path, tar_bytes(members)), tmp_path / "out", max_bytes=4999)


def test_too_many_entries_are_refused(tmp_path):
    path = archive(tmp_path, zip_bytes([(f"f{i}", b"") for i in range(8)]))
    with pytest.raises(DataError, match=r"one more than the 7 entries allowed \(max_files\)"):
        extract(path, tmp_path / "out", max_files=7)


@pytest.mark.parametrize("kind", KINDS)
def test_a_truncated_archive_leaves_nothing(tmp_path, kind):
    content = KINDS[kind]
    end = len(content) if kind != "tar" else 512 * 3 + 512 + 5120  # tar fills up with zeros after its end
    cuts = [*random.Random(5).sample(range(1, end - 1), 23), 512 * 2, end - 1]
    for cut in cuts:
        with pytest.raises(DataError, match=r"damaged or truncated|no archive that is known"):
            extract(archive(tmp_path, content[:cut]), tmp_path / "out")
        assert sorted(os.listdir(tmp_path)) == ["a.archive"]


@pytest.mark.parametrize("kind", ["tar.gz", "tar.bz2", "tar.xz", "zip"])
def test_a_damaged_archive_is_never_taken_for_whole(tmp_path, kind):
    dice = random.Random(11)
    for _ in range(40):
        content = bytearray(KINDS[kind])
        content[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
        path = archive(tmp_path, bytes(content))
        try:
            folder = extract(path, tmp_path / "out")
        except DataError:
            assert sorted(os.listdir(tmp_path)) == ["a.archive"]
        else:  # a bit that carries no content: a date, a mode, a comment
            assert sorted(tree(folder).values()) == sorted(FILES.values())
            for file in sorted(folder.rglob("*"), reverse=True):
                file.rmdir() if file.is_dir() else file.unlink()
            folder.rmdir()


def test_an_encrypted_zip_is_refused(tmp_path):
    content = bytearray(zip_bytes([("secret", b"content")]))
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(DataError, match="is encrypted"):
        extract(archive(tmp_path, bytes(content)), tmp_path / "out")


def test_what_is_no_archive_is_shown(tmp_path):
    with pytest.raises(DataError, match="no archive that is known here: its first bytes are b'<html>'"):
        extract(archive(tmp_path, b"<html>not found</html>"), tmp_path / "out")
    with pytest.raises(DataError, match="there is no archive"):
        extract(tmp_path / "nowhere.zip", tmp_path / "out")


def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch):
    import errno

    from simpletorch.data.datasets import _archive

    def full(self, name, source, size):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_archive._Target, "write", full)
    with pytest.raises(DataError, match="the disk is full"):
        extract(archive(tmp_path, KINDS["zip"]), tmp_path / "out")
    assert sorted(os.listdir(tmp_path)) == ["a.archive"]
