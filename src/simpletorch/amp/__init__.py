"""Mixed precision: `autocast`, a `GradScaler` that works where the model is, float8 layers.

::

    scaler = GradScaler()
    with autocast(dtype=torch.float16):
        loss = F.cross_entropy(model(images), targets)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()

`autocast()` without arguments picks the device and its dtype; bfloat16 needs no scaling. `simpletorch.train.Step` and
`Trainer` do this for ``precision="float16"`` and ``"bfloat16"``. `float8` makes the linear layers of a model multiply
in eight bits on GPUs that can. The checker and the follower know the result of each operation under autocast from
torch's own tables.

Source: https://docs.pytorch.org/docs/stable/amp.html
"""

from torch import get_float32_matmul_precision as get_float32_matmul_precision
from torch import set_float32_matmul_precision as set_float32_matmul_precision
from torch.amp import custom_bwd as custom_bwd
from torch.amp import custom_fwd as custom_fwd
from torch.amp import is_autocast_available as is_autocast_available

from simpletorch.amp._autocast import autocast as autocast
from simpletorch.amp._float8 import Float8Linear as Float8Linear
from simpletorch.amp._float8 import float8 as float8
from simpletorch.amp._float8 import float8_available as float8_available
from simpletorch.amp._precision import Precision as Precision
from simpletorch.amp._precision import precise as precise
from simpletorch.amp._scaler import GradScaler as GradScaler
