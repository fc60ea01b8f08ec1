# == torch's own
import torch
is_old = float(torch.__version__[:3]) < 0.4
is_new = torch.__version__ >= "1.8.0"
after = torch.__version__ > "2.2", torch.__version__ < "2.2", torch.__version__ < (1, 7), torch.__version__ <= "2.13"
major = int(torch.__version__.split(".")[0])
numbers = tuple(int(v) for v in torch.__version__.split("+")[0].split(".")[:2])
is_text = isinstance(torch.__version__, str), torch.__version__.startswith("1."), torch.__version__ == "1.0"
same = torch.version.__version__ == torch.__version__
# == packaging
import torch
from packaging import version
from packaging.version import Version, parse
is_old = version.parse(torch.__version__) < version.parse("1.7")
build = parse("2.1.0+cpu") > parse("2.1.0"), parse("2.1.0") == parse("2.1"), parse("2.10") > parse("2.9")
parts = Version("1.10.2").major, Version("1.10.2").minor, str(Version("1.10.2")), Version("1.10.2").release
some_early = parse("1.8.0a0") < parse("1.8")
