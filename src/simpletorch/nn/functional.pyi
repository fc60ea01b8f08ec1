from torch.nn.functional import *  # noqa: F403
