"""Optional libraries are imported when they are used, and not before."""

import subprocess
import sys


def test_datasets_and_transforms_load_no_optional_library():
    program = (
        "import sys, simpletorch.data, simpletorch.transforms, simpletorch.vision.io\n"
        "loaded = {'PIL', 'pandas', 'pyarrow', 'datasets', 'sklearn', 'scipy'} & set(sys.modules)\n"
        "assert not loaded, loaded"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
