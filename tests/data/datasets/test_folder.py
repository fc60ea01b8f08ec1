"""ImageFolder and ImageNet, on small images in their layouts."""

import hashlib
import io
import pickle
import tarfile

import numpy as np
import pytest
import scipy.io
import torch
from PIL import Image

from simpletorch import transforms
from simpletorch.data import DataLoader, ImageFolder, ImageNet
from simpletorch.errors import DataError

RANDOM = np.random.default_rng(31)


def png(height, width):
    pixels = RANDOM.integers(0, 256, (height, width, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


FILES = {
    "dog/b.png": png(7, 11),
    "dog/a.PNG": png(13, 5),
    "dog/more/c.png": png(3, 3),
    "cat/z.png": png(17, 19),
    "cat/notes.txt": b"no image",
    ".hidden/x.png": png(3, 3),
}


def write(root, files):
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


@pytest.fixture
def root(tmp_path):
    return write(tmp_path / "images", FILES)


def test_classes_are_folders_in_order_and_samples_their_images(root):
    dataset = ImageFolder(root)
    assert dataset.classes == ["cat", "dog"]
    assert dataset.class_to_idx == {"cat": 0, "dog": 1}
    names = ["cat/z.png", "dog/a.PNG", "dog/b.png", "dog/more/c.png"]
    assert dataset.samples == [(str(root / name), int(name.startswith("dog"))) for name in names]
    assert (dataset.targets, len(dataset)) == ([0, 1, 1, 1], 4)


def test_a_sample_is_the_image_between_0_and_1_and_its_class(root):
    image, target = ImageFolder(root)[2]
    pixels = np.array(Image.open(root / "dog/b.png"))
    assert torch.equal(image, torch.from_numpy(pixels).permute(2, 0, 1) / 255)
    assert (target.dtype, target.item()) == (torch.int64, 1)


def test_transforms_get_the_stored_image_and_the_number(root):
    dataset = ImageFolder(root, lambda image: (image.dtype, list(image.shape)), lambda target: f"class {target}")
    assert dataset[0] == ((torch.uint8, [3, 17, 19]), "class 0")


def test_a_loader_of_one_s_own_and_files_of_one_s_own(root):
    dataset = ImageFolder(root, lambda text: text, loader=lambda path: path[-9:], is_valid_file=lambda p: "notes" in p,
                          allow_empty=True)  # fmt: skip
    assert [dataset[i][0] for i in range(len(dataset))] == ["notes.txt"]


def test_batches_through_workers(root):
    dataset = ImageFolder(root, transforms.Compose([transforms.Resize((5, 7)), transforms.ToTensor()]))
    for workers in (0, 2):
        (images, targets) = next(iter(DataLoader(dataset, 4, num_workers=workers)))
        assert list(images.shape) == [4, 3, 5, 7]
        assert targets.tolist() == [0, 1, 1, 1]


def test_it_survives_pickling(root):
    assert torch.equal(pickle.loads(pickle.dumps(ImageFolder(root)))[1][0], ImageFolder(root)[1][0])


def test_a_broken_image_is_named_when_it_is_asked_for(root):
    (root / "dog" / "b.png").write_bytes(FILES["dog/b.png"][:60])
    dataset = ImageFolder(root)
    assert dataset[1]
    with pytest.raises(DataError, match=r"dog/b\.png"):
        dataset[2]


def test_what_makes_no_dataset_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"can't read the images' folder .*nowhere: No such file"):
        ImageFolder(tmp_path / "nowhere")
    with pytest.raises(DataError, match="there is no class in"):
        ImageFolder(tmp_path)
    write(tmp_path, {"cat/a.png": png(3, 3), "dog/notes.txt": b"", "eel/x": b""})
    with pytest.raises(DataError, match=r"no images in 2 of 3 classes of .*: dog, eel \(images end in \.jpg"):
        ImageFolder(tmp_path)
    assert len(ImageFolder(tmp_path, allow_empty=True)) == 1


def tar(files, mode="w"):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


WNIDS = {"n01": ("tench", "Tinca tinca"), "n02": ("goldfish",), "n03": ("shark",)}


def devkit(tmp_path):
    rows = [(i + 1, wnid, ", ".join(names), 0) for i, (wnid, names) in enumerate(reversed(WNIDS.items()))]
    rows.append((4, "n99", "animal", 3))  # no leaf of the tree
    fields = [("ILSVRC2012_ID", "O"), ("WNID", "O"), ("words", "O"), ("num_children", "O")]
    scipy.io.savemat(tmp_path / "meta.mat", {"synsets": np.array(rows, dtype=fields).reshape(-1, 1)})
    folder = "ILSVRC2012_devkit_t12/data/"
    files = {
        "meta.mat": (tmp_path / "meta.mat").read_bytes(),
        "ILSVRC2012_validation_ground_truth.txt": b"3\n1\n1\n2\n",
    }
    return tar({folder + name: content for name, content in files.items()}, "w:gz")


@pytest.fixture
def archives(tmp_path, monkeypatch):
    """A folder with ImageNet's three archives, small."""
    inner = {f"{wnid}.tar": tar({f"{wnid}_{i}.JPEG": png(3 + i, 5) for i in range(2)}) for wnid in WNIDS}
    val = {f"ILSVRC2012_val_0000000{i}.JPEG": png(7, i) for i in (4, 2, 3, 1)}
    contents = {"train": tar(inner), "val": tar(val), "devkit": devkit(tmp_path)}
    names = {part: name for part, (name, _) in ImageNet.archives.items()}
    sums = {part: (names[part], hashlib.md5(content).hexdigest()) for part, content in contents.items()}
    monkeypatch.setattr(ImageNet, "archives", sums)
    return write(tmp_path / "imagenet", {names[part]: content for part, content in contents.items()})


def test_imagenet_s_training_images_come_out_of_archives_in_an_archive(archives):
    dataset = ImageNet(archives)
    assert dataset.wnids == ["n01", "n02", "n03"]
    assert dataset.classes == ["tench, Tinca tinca", "goldfish", "shark"]
    assert dataset.class_to_idx["Tinca tinca"] == dataset.class_to_idx["n01"] == 0
    assert dataset.targets == [0, 0, 1, 1, 2, 2]
    assert list(dataset[1][0].shape) == [3, 4, 5]
    assert sorted(p.name for p in (archives / "train").iterdir()) == ["n01", "n02", "n03"]


def test_imagenet_s_validation_images_get_their_classes_from_the_devkit(archives):
    dataset = ImageNet(archives, "val")
    found = {path[-6]: dataset.wnids[target] for path, target in dataset.samples}
    assert found == {"1": "n01", "2": "n03", "3": "n03", "4": "n02"}
    names, wnids = torch.load(archives / "meta.bin", weights_only=True)
    assert (names["n01"], wnids) == (("tench", "Tinca tinca"), ["n01", "n03", "n03", "n02"])


def test_imagenet_s_folder_alone_is_enough(tmp_path):
    write(tmp_path, {"train/n01/a.JPEG": png(3, 3)})
    dataset = ImageNet(tmp_path)
    assert (dataset.classes, dataset.names, len(dataset)) == (["n01"], {}, 1)


def test_imagenet_s_archives_are_checked(archives, tmp_path):
    with pytest.raises(DataError, match="split is 'test', but ImageNet has 'train' and 'val'"):
        ImageNet(archives, "test")
    with pytest.raises(DataError, match=r"neither a folder with its images nor the archive ILSVRC2012_img_train\.tar"):
        ImageNet(tmp_path / "empty")
    path = archives / "ILSVRC2012_img_train.tar"
    path.write_bytes(path.read_bytes()[:-512])
    with pytest.raises(DataError, match="damaged or not all there: its MD5 is"):
        ImageNet(archives)
    assert not (archives / "train").exists()
    assert not list(archives.glob(".imagenet*"))
