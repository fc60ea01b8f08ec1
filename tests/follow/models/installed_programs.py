"""Programs that use installed libraries: what the follower says of them must be what the libraries do.

``python -m tests.follow.models.installed_programs`` follows and runs those whose libraries can be imported here.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Final

import torch

from simpletorch.follow import Followed, follow
from tests.follow.programs import difference, follow_source, run_source

__all__ = ["RIGHT", "WRONG", "library", "right", "wrong"]

_BERT: Final = """
from transformers import BertConfig, BertModel
sizes = dict(num_hidden_layers=2, num_attention_heads=3, intermediate_size=96)
config = BertConfig(vocab_size=101, hidden_size=48, **sizes)
"""
_GPT: Final = """
from transformers import GPT2Config, GPT2LMHeadModel
model = GPT2LMHeadModel(GPT2Config(vocab_size=101, n_embd=48, n_layer=2, n_head=3, n_positions=64))
"""
_VIT: Final = "from vit_pytorch import ViT\nsizes = dict(num_classes=11, dim=48, depth=2, heads=3, mlp_dim=96)\n"
_WRAPPER: Final = """
from x_transformers import Decoder, TransformerWrapper
model = TransformerWrapper(num_tokens=101, max_seq_len=64, attn_layers=Decoder(dim=48, depth=2, heads=3))
"""
_LIT: Final = """
from lightning import LightningModule
from torch import nn
class Lit(LightningModule):
    def __init__(self, hidden=37):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(784, hidden), nn.ReLU(), nn.Linear(hidden, 11))
    def forward(self, x):
        return self.net(x)
    def training_step(self, batch, index):
        loss = nn.functional.cross_entropy(self(batch[0]), batch[1])
        self.log("loss", loss)
        return loss
"""
_MEL: Final = """
from torchaudio import transforms
mel = transforms.MelSpectrogram(sample_rate=16000, n_fft=400, hop_length=160, n_mels=61)
"""
_UNET: Final = """
from diffusers import DDPMScheduler, UNet2DModel
sizes = dict(layers_per_block=1, block_out_channels=(32, 64), norm_num_groups=8)
down, up = ("DownBlock2D", "AttnDownBlock2D"), ("AttnUpBlock2D", "UpBlock2D")
model = UNet2DModel(sample_size=32, in_channels=3, out_channels=3, down_block_types=down, up_block_types=up, **sizes)
x, t = torch.randn(2, 3, 32, 32), torch.randint(0, 1000, (2,))
"""
_PEFT: Final = (
    "from peft import LoraConfig, get_peft_model\n"
    + _BERT
    + """
from transformers import BertForSequenceClassification
config.num_labels = 5
base = BertForSequenceClassification(config)
model = get_peft_model(base, LoraConfig(r=7, target_modules=["query", "value"], task_type="SEQ_CLS"))
ids = torch.randint(0, 101, (2, 17))
"""
)
_SEGMENTS: Final = """
from torchvision.models.segmentation import deeplabv3_resnet50, fcn_resnet50
given = dict(weights=None, weights_backbone=None, num_classes=7)
x = torch.zeros(2, 3, 64, 96)
"""
_BOXES: Final = """
from torchvision.models.detection import fasterrcnn_resnet50_fpn, maskrcnn_resnet50_fpn
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor
given = dict(weights=None, weights_backbone=None)
boxes = torch.tensor([[1.0, 2.0, 30.0, 40.0]] * 3)
targets = [{"boxes": boxes, "labels": torch.tensor([1, 2, 2])}]
"""

RIGHT: Final[Mapping[str, str]] = {
    "vit": _VIT + "y = ViT(image_size=64, patch_size=16, **sizes)(torch.randn(2, 3, 64, 64))",
    "simple_vit": "from vit_pytorch import SimpleViT\n"
    "v = SimpleViT(image_size=64, patch_size=16, num_classes=11, dim=48, depth=2, heads=3, mlp_dim=96)\n"
    "y = v(torch.randn(2, 3, 64, 64))",
    "cait": "from vit_pytorch.cait import CaiT\n"
    "v = CaiT(image_size=64, patch_size=16, num_classes=11, dim=48, depth=2, cls_depth=1, heads=3, mlp_dim=96)\n"
    "y = v(torch.randn(2, 3, 64, 64))",
    "t2t": "from vit_pytorch.t2t import T2TViT\nlayers = ((7, 4), (3, 2), (3, 2))\n"
    "v = T2TViT(dim=32, image_size=56, depth=2, heads=2, mlp_dim=64, num_classes=13, t2t_layers=layers)\n"
    "y = v(torch.randn(2, 3, 56, 56))",
    "decoder": _WRAPPER + "y = model(torch.randint(0, 101, (2, 64)))",
    "decoder with loss": _WRAPPER + "from x_transformers import AutoregressiveWrapper\n"
    "loss = AutoregressiveWrapper(model)(torch.randint(0, 101, (2, 64)))\nloss.backward()",
    "continuous": "from x_transformers import ContinuousTransformerWrapper, Encoder\n"
    "layers = Encoder(dim=48, depth=2, heads=3)\n"
    "model = ContinuousTransformerWrapper(dim_in=7, dim_out=11, max_seq_len=64, attn_layers=layers)\n"
    "y = model(torch.randn(2, 64, 7))",
    "einops layers": "from einops.layers.torch import Rearrange\n"
    "net = torch.nn.Sequential(Rearrange('b c (h p) w -> b (h w) (p c)', p=2), torch.nn.Linear(6, 5))\n"
    "y = net(torch.zeros(2, 3, 8, 7))",
    "timm resnet": "import timm\nmodel = timm.create_model('resnet18', num_classes=7)\n"
    "y = model(torch.zeros(2, 3, 224, 224))\nf = model.forward_features(torch.zeros(2, 3, 96, 96))\n"
    "n = model.num_features",
    "timm channels": "import timm\n"
    "y = timm.create_model('resnet34', in_chans=1, num_classes=0)(torch.zeros(2, 1, 64, 64))",
    "timm vit": "import timm\n"
    "y = timm.create_model('vit_tiny_patch16_224', num_classes=11)(torch.zeros(2, 3, 224, 224))",
    "timm tag": "import timm\ny = timm.create_model('convnext_atto.d2_in1k')(torch.zeros(2, 3, 96, 96))",
    "timm efficientnet": "import timm\n"
    "y = timm.create_model('efficientnet_b0', num_classes=7)(torch.zeros(2, 3, 224, 224))",
    "timm swin": "import timm\n"
    "y = timm.create_model('swin_tiny_patch4_window7_224', num_classes=7)(torch.zeros(2, 3, 224, 224))",
    "timm layers": "from timm.layers import DropPath, Mlp, PatchEmbed\n"
    "p = PatchEmbed(img_size=64, patch_size=16, embed_dim=48)(torch.zeros(2, 3, 64, 64))\n"
    "y = DropPath(0.1)(Mlp(48, 96, 17)(p))",
    "timm loss": "from timm.loss import LabelSmoothingCrossEntropy\nx = torch.zeros(4, 7, requires_grad=True)\n"
    "loss = LabelSmoothingCrossEntropy(0.1)(x, torch.tensor([1, 2, 3, 4]))",
    "timm features": "import timm\nm = timm.create_model('resnet18', features_only=True, out_indices=(1, 3))\n"
    "a, b = m(torch.zeros(2, 3, 64, 96))\nn = m.feature_info.channels()[-1]",
    "timm features of convnext": "import timm\n"
    "a, b, c, d = timm.create_model('convnext_atto', features_only=True)(torch.zeros(2, 3, 64, 96))",
    "denoising": _UNET + "y = model(x, t).sample\nz = model(x, t, return_dict=False)[0]\n"
    "loss = torch.nn.functional.mse_loss(y, x)",
    "noise": _UNET + "s = DDPMScheduler(num_train_timesteps=1000)\ny = s.add_noise(x, torch.randn_like(x), t)\n"
    "n = s.config.num_train_timesteps\nc = model.config.in_channels\ndel s",
    "an autoencoder": "from diffusers import AutoencoderKL\n"
    "blocks = dict(down_block_types=('DownEncoderBlock2D',) * 2, up_block_types=('UpDecoderBlock2D',) * 2)\n"
    "v = AutoencoderKL(block_out_channels=(32, 64), latent_channels=5, norm_num_groups=8, **blocks)\n"
    "z = v.encode(torch.zeros(2, 3, 32, 32)).latent_dist.sample()\ny = v.decode(z).sample",
    "adapters": _PEFT + "y = model(ids).logits\nloss = model(input_ids=ids, labels=torch.tensor([1, 0])).loss\n"
    "z = model.get_base_model()(ids).logits",
    "segments": _SEGMENTS + "y = deeplabv3_resnet50(**given)(x)['out']\nz = fcn_resnet50(**given)(x)['out']",
    "boxes of a picture": _BOXES + "m = fasterrcnn_resnet50_fpn(**given)\n"
    "n = m.roi_heads.box_predictor.cls_score.in_features\nm.roi_heads.box_predictor = FastRCNNPredictor(n, 3)\n"
    "losses = m([torch.rand(3, 64, 96)], targets)\nloss = sum(losses.values())\nloss.backward()\n"
    "w, o = m.roi_heads.box_predictor.bbox_pred.weight, losses['loss_objectness']",
    "features of a picture": _BOXES + "m = maskrcnn_resnet50_fpn(**given)\n"
    "f = m.backbone(torch.zeros(2, 3, 64, 96))\na, b = f['0'], f['pool']",
    "bert": _BERT + "out = BertModel(config)(torch.randint(0, 101, (2, 17)))\n"
    "h, p = out.last_hidden_state, out.pooler_output\ndel out",
    "bert, a shorter mask": _BERT
    + "y = BertModel(config)(torch.randint(0, 101, (2, 17)), attention_mask=torch.ones(2, 16)).pooler_output",
    "bert classes": _BERT + "from transformers import BertForSequenceClassification\nconfig.num_labels = 5\n"
    "ids = torch.randint(0, 101, (2, 17))\n"
    "given = dict(attention_mask=torch.ones_like(ids), labels=torch.tensor([1, 0]))\n"
    "out = BertForSequenceClassification(config)(input_ids=ids, **given)\n"
    "logits, loss = out.logits, out.loss\ndel out",
    "gpt": _GPT + "ids = torch.randint(0, 101, (2, 17))\nout = model(ids, labels=ids)\n"
    "logits, loss = out.logits, out.loss\nloss.backward()\ndel out",
    "llama": "from transformers import LlamaConfig, LlamaForCausalLM\n"
    "sizes = dict(num_hidden_layers=2, num_attention_heads=6, num_key_value_heads=2, intermediate_size=96)\n"
    "model = LlamaForCausalLM(LlamaConfig(vocab_size=101, hidden_size=48, **sizes))\n"
    "logits = model(torch.randint(0, 101, (2, 17))).logits",
    "t5": "from transformers import T5Config, T5ForConditionalGeneration\n"
    "sizes = dict(d_kv=16, d_ff=96, num_layers=2, num_heads=3, decoder_start_token_id=0)\n"
    "model = T5ForConditionalGeneration(T5Config(vocab_size=101, d_model=48, **sizes))\n"
    "logits = model(input_ids=torch.randint(0, 101, (2, 17)), labels=torch.randint(0, 101, (2, 13))).logits",
    "auto": _BERT + "from transformers import AutoModel\n"
    "h = AutoModel.from_config(config)(torch.randint(0, 101, (2, 17))).last_hidden_state",
    "boxes": "from torchvision import ops\niou = ops.box_iou(torch.rand(11, 4), torch.rand(7, 4))\n"
    "area = ops.box_area(torch.rand(11, 4))\ny = ops.MLP(16, [32, 7])(torch.randn(5, 16))",
    "mel": _MEL + "x = mel(torch.randn(2, 16000))\nd = transforms.AmplitudeToDB()(x)",
    "mfcc": "from torchaudio import transforms\nsizes = {'n_fft': 400, 'hop_length': 160, 'n_mels': 23}\n"
    "y = transforms.MFCC(sample_rate=16000, n_mfcc=13, melkwargs=sizes)(torch.randn(2, 16000))",
    "lightning": _LIT + "y = Lit()(torch.zeros(2, 1, 28, 28))",
    "gcn": "from torch_geometric.nn import GATConv, GCNConv, SAGEConv\nedges = torch.randint(0, 11, (2, 37))\n"
    "x = GCNConv(17, 31)(torch.randn(11, 17), edges)\ny = GATConv(31, 7, heads=3)(x, edges)\n"
    "z = SAGEConv(21, 5)(y, edges)",
    "gin": "from torch_geometric.nn import GINConv, GraphConv\nfrom torch import nn\n"
    "edges = torch.randint(0, 11, (2, 37))\n"
    "x = GINConv(nn.Linear(17, 31))(torch.randn(11, 17), edges)\ny = GraphConv(31, 7)(x, edges)",
    "graph": "from torch_geometric.data import Data\nfrom torch_geometric.nn import GCNConv\n"
    "data = Data(x=torch.randn(11, 17), edge_index=torch.randint(0, 11, (2, 37)))\nn = data.num_features\n"
    "y = GCNConv(data.num_features, 5)(data.x, data.edge_index)\ndel data",
    "unet": "import segmentation_models_pytorch as smp\n"
    "model = smp.Unet(encoder_name='resnet18', encoder_weights=None, in_channels=3, classes=5)\n"
    "y = model(torch.randn(2, 3, 64, 64))",
}
"""Programs that run; each says something of tensors."""

WRONG: Final[Mapping[str, str]] = {
    "vit: one channel": _VIT + "y = ViT(image_size=64, patch_size=16, **sizes)(torch.randn(2, 1, 64, 64))",
    "vit: patches": _VIT + "v = ViT(image_size=250, patch_size=16, **sizes)",
    "decoder: too long": _WRAPPER + "y = model(torch.randint(0, 101, (2, 80)))",
    "decoder: floats": _WRAPPER + "y = model(torch.randn(2, 64))",
    "timm: head": "import timm\nfrom torch import nn\nmodel = timm.create_model('resnet34')\n"
    "model.fc = nn.Linear(model.fc.in_features + 1, 5)\ny = model(torch.zeros(2, 3, 224, 224))",
    "timm: one channel": "import timm\nmodel = timm.create_model('mobilenetv3_large_100', num_classes=7)\n"
    "y = model(torch.zeros(2, 1, 224, 224))",
    "timm: image": "import timm\nmodel = timm.create_model('vit_tiny_patch16_224', num_classes=7)\n"
    "y = model(torch.zeros(2, 3, 256, 256))",
    "timm: features": "import timm\nmodel = timm.create_model('resnet18', num_classes=0)\n"
    "y = torch.nn.Linear(1024, 5)(model(torch.zeros(2, 3, 64, 64)))",
    "timm: loss": "from timm.loss import SoftTargetCrossEntropy\n"
    "loss = SoftTargetCrossEntropy()(torch.zeros(4, 7, requires_grad=True), torch.tensor([1, 2, 3, 4, 5]))",
    "timm: features of a stage": "import timm\nm = timm.create_model('resnet18', features_only=True)\n"
    "y = torch.nn.Conv2d(256, 5, 1)(m(torch.zeros(2, 3, 64, 64))[-1])",
    "denoising: channels": _UNET + "y = model(x[:, :1], t)",
    "denoising: its noise": _UNET + "y = model(x, t).sample - torch.randn(2, 1, 32, 31)",
    "an autoencoder's latents": "from diffusers import AutoencoderKL\n"
    "v = AutoencoderKL(block_out_channels=(32,), latent_channels=5, norm_num_groups=8)\n"
    "y = v.decode(torch.zeros(2, 4, 8, 8))",
    "adapters: labels": _PEFT + "loss = torch.nn.functional.cross_entropy(model(ids).logits, torch.zeros(3).long())",
    "segments: channels": _SEGMENTS + "y = deeplabv3_resnet50(**given)(x[:, :1])",
    "segments: labels": _SEGMENTS + "y = fcn_resnet50(**given)(x)['out']\n"
    "loss = torch.nn.functional.cross_entropy(y, torch.zeros(2, 64, 95).long())",
    "boxes: a head": _BOXES + "m = fasterrcnn_resnet50_fpn(**given)\nh = m.roi_heads.box_predictor\n"
    "y = h.cls_score(torch.zeros(5, 256))",
    "bert: head": _BERT
    + "y = torch.nn.Linear(768, 5)(BertModel(config)(torch.randint(0, 101, (2, 17))).pooler_output)",
    "bert: floats": _BERT + "y = BertModel(config)(torch.randn(2, 17))",
    "gpt: too long": _GPT + "y = model(torch.randint(0, 101, (2, 80)))",
    "gpt: logits": _GPT + "logits = model(torch.randint(0, 101, (2, 17))).logits\n"
    "loss = torch.nn.functional.cross_entropy(logits.view(-1, 100), torch.randint(0, 100, (34,)))",
    "boxes": "from torchvision import ops\niou = ops.box_iou(torch.rand(11, 4), torch.rand(7, 5))",
    "mel": _MEL + "y = torch.nn.Linear(80, 5)(mel(torch.randn(2, 16000)).transpose(1, 2))",
    "lightning": _LIT + "y = Lit()(torch.zeros(2, 3, 28, 28))",
    "gcn": "from torch_geometric.nn import GCNConv\n"
    "y = GCNConv(17, 31)(torch.randn(11, 16), torch.randint(0, 11, (2, 37)))",
    "gat: heads": "from torch_geometric.nn import GATConv, GCNConv\nedges = torch.randint(0, 11, (2, 37))\n"
    "y = GCNConv(7, 5)(GATConv(17, 7, heads=3)(torch.randn(11, 17), edges), edges)",
    "unet": "import segmentation_models_pytorch as smp\n"
    "y = smp.Unet(encoder_name='resnet18', encoder_weights=None, classes=5)(torch.randn(2, 1, 64, 64))",
}
"""Programs with a mistake that the library, or torch in it, refuses."""

_HEAD: Final = "import torch\n"
_KNOWN: Final = (
    "vit_pytorch",
    "x_transformers",
    "einops",
    "timm",
    "diffusers",
    "peft",
    "transformers",
    "torchvision",
    "torchaudio",
    "lightning",
)
_KNOWN_TOO: Final = ("torch_geometric", "segmentation_models_pytorch")


def library(source: str) -> str:
    """The library that a program uses."""
    return next(name for name in (*_KNOWN, *_KNOWN_TOO) if f"from {name}" in source or f"import {name}" in source)


def right(source: str, path: Path) -> list[str]:
    """What is wrong in what the follower says of a program that runs; ``-`` begins what is only not known."""
    real = run_source(_HEAD + source, path)
    claimed, reports = follow_source(_HEAD + source, path)
    found = [f"false: {report}" for report in reports]
    for name, value in real.items():
        if not isinstance(value, torch.Tensor | int):
            continue
        wrong = difference(claimed.get(name), value, lenient=True)
        unknown = wrong is None and difference(claimed[name], value, lenient=False)
        found += [f"{name}: {wrong}"] if wrong else [f"- {name}: {unknown}"] if unknown else []
    return found


def wrong(source: str, path: Path) -> tuple[str, Followed]:
    """What Python says of a program with a mistake ("" if nothing), and what is found in it."""
    try:
        run_source(_HEAD + source, path)
        said = ""
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
    return said, follow(path)


def main() -> None:
    """Follow and run all programs whose libraries are here, and print what differs."""
    warnings.simplefilter("ignore")
    counts = {"known": 0, "not all known": 0, "wrong": 0, "found": 0, "not found": 0, "without library": 0}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "program.py")
        for name, source in {**RIGHT, **{f"mistake, {k}": v for k, v in WRONG.items()}}.items():
            try:
                import_module(library(source))
            except Exception as error:
                counts["without library"] += 1
                print(f"{name}: {library(source)} can't be imported: {str(error)[:80]}")
                continue
            if not name.startswith("mistake"):
                try:
                    found = right(source, path)
                except Exception as error:
                    found = [f"it doesn't run here: {type(error).__name__}: {str(error)[:120]}"]
                kind = "known" if not found else "not all known" if all(f[0] == "-" for f in found) else "wrong"
            else:
                said, followed = wrong(source, path)
                found = [f"Python: {said[:120]}", *(line for e in followed.errors for line in e.lines())]
                kind = "found" if bool(said) == bool(followed.errors) else "not found" if said else "wrong"
            counts[kind] += 1
            print(f"{kind}: {name}", *found, sep="\n    ")
    print(counts)


if __name__ == "__main__":
    sys.exit(main())
