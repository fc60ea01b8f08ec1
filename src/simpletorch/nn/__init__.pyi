"""Every name of `simpletorch.nn`, once: what type checkers see, and where ``__init__.py`` finds what is not torch's."""

# ruff: noqa: F403
# torch's, file by file: a star import of all of `torch.nn` would bring its Module and Sequential in the place of ours
from torch.nn import Buffer as Buffer
from torch.nn import DataParallel as DataParallel
from torch.nn import Parameter as Parameter
from torch.nn import UninitializedBuffer as UninitializedBuffer
from torch.nn import UninitializedParameter as UninitializedParameter
from torch.nn import attention as attention
from torch.nn import factory_kwargs as factory_kwargs
from torch.nn import functional as functional
from torch.nn import init as init
from torch.nn import modules as modules
from torch.nn import parallel as parallel
from torch.nn import parameter as parameter
from torch.nn import utils as utils
from torch.nn.modules.activation import *
from torch.nn.modules.adaptive import *
from torch.nn.modules.batchnorm import *
from torch.nn.modules.channelshuffle import *
from torch.nn.modules.container import Container as Container
from torch.nn.modules.container import ModuleDict as ModuleDict
from torch.nn.modules.container import ModuleList as ModuleList
from torch.nn.modules.container import ParameterDict as ParameterDict
from torch.nn.modules.container import ParameterList as ParameterList
from torch.nn.modules.conv import *
from torch.nn.modules.distance import *
from torch.nn.modules.dropout import *
from torch.nn.modules.flatten import *
from torch.nn.modules.fold import *
from torch.nn.modules.instancenorm import *
from torch.nn.modules.linear import *
from torch.nn.modules.linear_cross_entropy_options import *
from torch.nn.modules.loss import *
from torch.nn.modules.normalization import *
from torch.nn.modules.padding import *
from torch.nn.modules.pixelshuffle import *
from torch.nn.modules.pooling import *
from torch.nn.modules.rnn import *
from torch.nn.modules.sparse import *
from torch.nn.modules.transformer import *
from torch.nn.modules.upsampling import *

from simpletorch.nn._blocks import MLP as MLP
from simpletorch.nn._blocks import FeedForward as FeedForward
from simpletorch.nn._blocks import Residual as Residual
from simpletorch.nn._blocks import SelfAttention as SelfAttention
from simpletorch.nn._blocks import TransformerBlock as TransformerBlock
from simpletorch.nn._initialize import initialize as initialize
from simpletorch.nn._module import Module as Module
from simpletorch.nn._recurrent import run_padded as run_padded
from simpletorch.nn._sequential import Sequential as Sequential
from simpletorch.nn._state import StateMismatch as StateMismatch
from simpletorch.nn._state import load_state_dict as load_state_dict
from simpletorch.nn._summary import Summary as Summary
from simpletorch.nn._summary import summary as summary
from simpletorch.nn._typed_repr import typed_repr as typed_repr
