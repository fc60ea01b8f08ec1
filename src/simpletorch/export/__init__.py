"""Models as files that run elsewhere: verified against the model, with a signature, and read again with checks.

::

    run = export.program(model, "net.pt2")     # torch.export; sizes and names are those of forward's annotation
    export.onnx(model, "net.onnx")             # ONNX, under the program's own names
    print(run.report)                          # sizes compared, greatest difference
    scores = export.load("net.onnx")(images)   # ShapeMismatch for what the signature doesn't allow

No file is written unless it gives the same results as the model, at three sizes or more of each open dim.
"""

from simpletorch.export._aot import aot as aot
from simpletorch.export._artifact import Exported as Exported
from simpletorch.export._export import program as program
from simpletorch.export._load import load as load
from simpletorch.export._onnx import onnx as onnx
from simpletorch.export._quantize import Quantized as Quantized
from simpletorch.export._quantize import quantize as quantize
from simpletorch.export._report import Comparison as Comparison
from simpletorch.export._report import Report as Report
from simpletorch.export._signature import Signature as Signature
from simpletorch.export._signature import Symbol as Symbol
from simpletorch.export._signature import TensorSpec as TensorSpec
from simpletorch.export._torchscript import torchscript as torchscript
