DEFAULTS = {
    "seed": 42,
    "data": {"num_train": 10, "num_val": 4, "image_size": 32, "num_classes": 4, "batch_size": 3, "num_workers": 0},
    "model": {"name": "unet", "in_channels": 1, "features": [8, 16, 24], "bilinear": False, "deep_supervision": True},
    "optim": {"name": "adamw", "lr": 1e-3, "weight_decay": 1e-4, "epochs": 1, "warmup": 2},
    "loss": {"dice": 0.5, "ce": 0.5, "aux": 0.4},
}


class AttrDict(dict):
    """a dict with attribute access, nested"""

    def __init__(self, d):
        super().__init__({k: AttrDict(v) if isinstance(v, dict) else v for k, v in d.items()})

    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


def parse_value(text):
    for cast in (int, float):
        try:
            return cast(text)
        except ValueError:
            pass
    return {"true": True, "false": False}.get(text.lower(), text)


def load_config(overrides=()):
    cfg = AttrDict(DEFAULTS)
    for item in overrides:
        key, value = item.split("=", 1)
        node = cfg
        *parents, leaf = key.split(".")
        for p in parents:
            node = node[p]
        node[leaf] = parse_value(value)
    return cfg
