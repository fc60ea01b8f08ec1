"""`download`: whole files only, whatever the server does."""

import errno
import hashlib
import multiprocessing
import random
import shutil

import pytest

from simpletorch.data import download
from simpletorch.errors import DataError

CONTENT = random.Random(7).randbytes(100_003)
HALF = len(CONTENT) // 2


def names(folder):
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock"))


def test_a_file_arrives_under_its_name_only(server, tmp_path):
    url, sha256 = server.add("/a.bin", CONTENT)
    path = download(url, tmp_path / "deep" / "a.bin", sha256=sha256)
    assert path.read_bytes() == CONTENT
    assert names(path.parent) == ["a.bin"]


def test_a_file_that_is_there_and_right_is_not_fetched(server, tmp_path):
    url, sha256 = server.add("/a.bin", CONTENT)
    (tmp_path / "a.bin").write_bytes(CONTENT)
    download(url, tmp_path / "a.bin", sha256=sha256.upper())
    assert server.requests == []


def test_a_file_that_is_there_but_wrong_is_fetched_again(server, tmp_path):
    url, sha256 = server.add("/a.bin", CONTENT)
    (tmp_path / "a.bin").write_bytes(CONTENT[:-1])
    assert download(url, tmp_path / "a.bin", sha256=sha256).read_bytes() == CONTENT


@pytest.mark.parametrize("known", [True, False])
def test_a_cut_connection_is_resumed_where_it_stopped(server, tmp_path, known):
    url, sha256 = server.add("/a.bin", CONTENT)
    server.faults["/a.bin"] = ["cut"]
    path = download(url, tmp_path / "a.bin", sha256=sha256 if known else None)
    assert path.read_bytes() == CONTENT
    assert server.requests == [("/a.bin", None), ("/a.bin", f"bytes={HALF}-")]


def test_a_later_call_resumes_what_a_checksum_can_prove(server, tmp_path):
    url, sha256 = server.add("/a.bin", CONTENT)
    (tmp_path / "a.bin.part").write_bytes(CONTENT[:1009])
    assert download(url, tmp_path / "a.bin", sha256=sha256).read_bytes() == CONTENT
    assert server.requests == [("/a.bin", "bytes=1009-")]


def test_a_later_call_without_a_checksum_starts_again(server, tmp_path):
    url, _ = server.add("/a.bin", CONTENT)
    (tmp_path / "a.bin.part").write_bytes(b"of another file")
    assert download(url, tmp_path / "a.bin").read_bytes() == CONTENT
    assert server.requests == [("/a.bin", None)]


@pytest.mark.parametrize("part", [b"not its beginning", CONTENT + b"more", CONTENT[:-1] + b"?"])
def test_a_part_of_another_file_is_dropped(server, tmp_path, part):
    url, sha256 = server.add("/a.bin", CONTENT)
    (tmp_path / "a.bin.part").write_bytes(part)
    assert download(url, tmp_path / "a.bin", sha256=sha256).read_bytes() == CONTENT
    assert names(tmp_path) == ["a.bin"]


def test_a_part_that_is_the_whole_file_is_enough(server, tmp_path):
    url, sha256 = server.add("/a.bin", CONTENT)
    (tmp_path / "a.bin.part").write_bytes(CONTENT)
    assert download(url, tmp_path / "a.bin", sha256=sha256).read_bytes() == CONTENT


def test_a_server_without_ranges_sends_all_again(server, tmp_path):
    url, sha256 = server.add("/a.bin", CONTENT)
    server.ranges, server.faults["/a.bin"] = False, ["cut"]
    assert download(url, tmp_path / "a.bin", sha256=sha256).read_bytes() == CONTENT


def test_a_file_that_changed_meanwhile_is_not_spliced(server, tmp_path):
    url, _ = server.add("/a.bin", CONTENT)
    server.faults["/a.bin"] = ["cut"]
    newer = bytes(reversed(CONTENT))
    original = server.answer

    def changing(request):
        original(request)
        server.files["/a.bin"], server.tag = newer, '"v2"'

    server.answer = changing
    assert download(url, tmp_path / "a.bin").read_bytes() == newer


@pytest.mark.parametrize("tag", ['"v1"', ""])
def test_without_a_checksum_only_a_proven_half_is_resumed(server, tmp_path, tag):
    url, _ = server.add("/a.bin", CONTENT)
    server.tag, server.faults["/a.bin"] = tag, ["cut"]
    assert download(url, tmp_path / "a.bin").read_bytes() == CONTENT
    assert server.requests[1][1] == (f"bytes={HALF}-" if tag else None)


def test_a_range_that_starts_elsewhere_is_not_appended(server, tmp_path):
    url, sha256 = server.add("/a.bin", CONTENT)
    server.faults["/a.bin"] = ["cut", "shift"]
    assert download(url, tmp_path / "a.bin", sha256=sha256, attempts=4).read_bytes() == CONTENT


def test_a_server_that_falls_silent_is_asked_again(server, tmp_path):
    url, sha256 = server.add("/a.bin", CONTENT)
    server.faults["/a.bin"] = ["stall"]
    assert download(url, tmp_path / "a.bin", sha256=sha256, timeout=1).read_bytes() == CONTENT


def test_a_slow_server_is_waited_for(server, tmp_path):
    url, sha256 = server.add("/a.bin", CONTENT)
    server.faults["/a.bin"] = ["slow"]
    download(url, tmp_path / "a.bin", sha256=sha256, timeout=5)
    assert len(server.requests) == 1


@pytest.mark.parametrize("fault", [404, 500, "wrong", "cut"])
def test_the_next_mirror_gives_what_the_first_does_not(server, tmp_path, fault):
    first, _ = server.add("/1/a.bin", CONTENT)
    second, sha256 = server.add("/2/a.bin", CONTENT)
    server.faults["/1/a.bin"] = [fault] * 3
    assert download([first, second], tmp_path / "a.bin", sha256=sha256).read_bytes() == CONTENT


def test_without_a_checksum_halves_of_two_mirrors_are_not_joined(server, tmp_path):
    first, _ = server.add("/1/a.bin", bytes(len(CONTENT)))
    second, _ = server.add("/2/a.bin", CONTENT)
    server.faults["/1/a.bin"] = ["cut"] * 3
    assert download([first, second], tmp_path / "a.bin").read_bytes() == CONTENT


def test_a_missing_file_is_asked_for_once_and_a_busy_server_again(server, tmp_path):
    url, sha256 = server.add("/a.bin", CONTENT)
    server.faults["/a.bin"] = [503, 503]
    download(url, tmp_path / "a.bin", sha256=sha256)
    assert len(server.requests) == 3
    with pytest.raises(DataError):
        download(server.url + "/b.bin", tmp_path / "b.bin")
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        ([404], "HTTP status 404"),
        ([500] * 3, r"HTTP status 500 .* \(3 attempts\)"),
        (["wrong"] * 3, "wrong bytes, their SHA-256 is [0-9a-f]{64} but should be"),
        (["cut"] * 3, r"the connection was cut after [0-9,]+ of 100,003 bytes \(3 attempts\)"),
    ],
)
def test_what_every_mirror_said_is_in_the_error(server, tmp_path, faults, said):
    url, sha256 = server.add("/a.bin", CONTENT)
    server.faults["/a.bin"] = list(faults)
    with pytest.raises(DataError, match=said) as caught:
        download([url, server.url + "/elsewhere"], tmp_path / "a.bin", sha256=sha256)
    assert "/elsewhere: HTTP status 404" in str(caught.value)
    assert f"put it at {tmp_path / 'a.bin'}" in str(caught.value)
    assert not (tmp_path / "a.bin").exists()


def test_nobody_there(tmp_path):
    with pytest.raises(DataError, match="refused"):
        download("http://127.0.0.1:9/a.bin", tmp_path / "a.bin", attempts=1)


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_a_full_disk_leaves_nothing(server, tmp_path, monkeypatch, when):
    url, sha256 = server.add("/a.bin", CONTENT)
    if when == "before":
        monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10, 7, 3))
    else:
        from simpletorch.data.datasets import _download

        class Full:
            def __init__(self, file):
                self.file = file

            def __enter__(self):
                return self

            def __exit__(self, *_):
                self.file.close()

            def write(self, _):
                raise OSError(errno.ENOSPC, "No space left on device")

        opened = _download._Transfer._opened
        monkeypatch.setattr(_download._Transfer, "_opened", lambda self, start: Full(opened(self, start)))
    with pytest.raises(DataError, match=r"the disk is full: .* it has 100,003 bytes"):
        download(url, tmp_path / "a.bin", sha256=sha256)
    assert names(tmp_path) == []


def test_a_folder_that_can_not_be_made(server, tmp_path):
    url, _ = server.add("/a.bin", CONTENT)
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match=r"can't write .*a.bin"):
        download(url, tmp_path / "file" / "a.bin")


@pytest.mark.parametrize(
    ("urls", "options", "said"),
    [
        ([], {}, "at least one address"),
        ("file:///etc/passwd", {}, "addresses start with http:// or https://"),
        ("http://x/a", {"sha256": "abc"}, "64 hexadecimal digits"),
        ("http://x/a", {"sha256": "z" * 64}, "64 hexadecimal digits"),
        ("http://x/a", {"attempts": 0}, "attempts is 0"),
    ],
)
def test_wrong_arguments(tmp_path, urls, options, said):
    with pytest.raises(DataError, match=said):
        download(urls, tmp_path / "a", **options)


def test_progress_is_shown_on_request(server, tmp_path, capsys):
    url, sha256 = server.add("/a.bin", CONTENT)
    download(url, tmp_path / "a.bin", sha256=sha256, progress=True)
    assert "a.bin: 100%" in capsys.readouterr().err
    download(url, tmp_path / "b.bin", sha256=sha256)
    assert capsys.readouterr().err == ""


def _fetch(url, path, sha256):
    download(url, path, sha256=sha256)


def test_processes_that_want_the_same_file_fetch_it_once(server, tmp_path):
    url, sha256 = server.add("/a.bin", CONTENT)
    server.faults["/a.bin"] = ["slow"]
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=_fetch, args=(url, tmp_path / "a.bin", sha256)) for _ in range(3)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0, 0, 0]
    assert len(server.requests) == 1
    assert hashlib.sha256((tmp_path / "a.bin").read_bytes()).hexdigest() == sha256
