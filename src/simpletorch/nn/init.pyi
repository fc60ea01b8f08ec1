from torch.nn.init import *  # noqa: F403
