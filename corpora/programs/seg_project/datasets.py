import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, image, mask):
        for t in self.transforms:
            image, mask = t(image, mask)
        return image, mask


class RandomFlip:
    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, image, mask):
        if np.random.rand() < self.p:
            image, mask = image[:, ::-1], mask[:, ::-1]
        return image, mask


class RandomRotate90:
    def __call__(self, image, mask):
        k = np.random.randint(4)
        return np.rot90(image, k), np.rot90(mask, k)


class ToTensor:
    def __call__(self, image, mask):
        image = torch.from_numpy(np.ascontiguousarray(image)).unsqueeze(0).float()
        mask = torch.from_numpy(np.ascontiguousarray(mask)).long()
        return image, mask


class SliceDataset(Dataset):
    """2d slices of a toy volume, kept in memory as numpy arrays"""

    def __init__(self, n, size, num_classes, transform=None):
        self.images = np.zeros((n, size, size), dtype=np.float32)
        self.masks = np.zeros((n, size, size), dtype=np.uint8)
        grid = np.indices((size, size))
        for i in range(n):
            for c in range(1, num_classes):
                centre = np.random.randint(0, size, size=(2, 1, 1))
                inside = ((grid - centre) ** 2).sum(axis=0) < (size / 6) ** 2
                self.masks[i][inside] = c
                self.images[i][inside] = c / num_classes
        self.images += np.random.normal(0, 0.1, self.images.shape)
        self.mean, self.std = self.images.mean(), self.images.std()
        self.transform = transform

    def __len__(self):
        return self.images.shape[0]

    def __getitem__(self, idx):
        image = (self.images[idx] - self.mean) / self.std
        mask = self.masks[idx]
        if self.transform is not None:
            image, mask = self.transform(image, mask)
        return {"image": image, "mask": mask, "id": f"slice_{idx:03d}"}


def build_loaders(cfg):
    train_tf = Compose([RandomFlip(), RandomRotate90(), ToTensor()])
    val_tf = Compose([ToTensor()])
    train = SliceDataset(cfg.num_train, cfg.image_size, cfg.num_classes, train_tf)
    val = SliceDataset(cfg.num_val, cfg.image_size, cfg.num_classes, val_tf)
    common = dict(batch_size=cfg.batch_size, num_workers=cfg.num_workers)
    return {"train": DataLoader(train, shuffle=True, **common), "val": DataLoader(val, **common)}
