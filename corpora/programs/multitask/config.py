TEXT = """
# training
seed: 3
lr: 0.003
epochs: 2
batch_size: 16
trunk:
  type: mlp
  width: 24
  depth: 2
  act: SiLU
heads:
  digit: 10
  parity: 2
  ink: 1
"""


def _scalar(s):
    for kind in (int, float):
        try:
            return kind(s)
        except ValueError:
            pass
    return {"true": True, "false": False, "null": None}.get(s, s)


def parse(text):
    """As much of YAML as we need: two levels, scalars."""
    root, section = {}, None
    for line in text.splitlines():
        line = line.split("#")[0].rstrip()
        if not line:
            continue
        key, _, value = line.strip().partition(":")
        if line.startswith(" "):
            section[key] = _scalar(value.strip())
        elif value.strip():
            root[key] = _scalar(value.strip())
        else:
            section = root[key] = {}
    return root


class Config(dict):
    """cfg.trunk.width instead of cfg["trunk"]["width"]"""

    def __init__(self, d):
        super().__init__({k: Config(v) if isinstance(v, dict) else v for k, v in d.items()})

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError as e:
            raise AttributeError(name) from e


cfg = Config(parse(TEXT))
