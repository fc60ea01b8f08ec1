"""What the site has beside its pages: the reference, from the public names, and the gallery, from its scripts.

mkdocs calls these functions (https://www.mkdocs.org/user-guide/configuration/#hooks).
"""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.structure.files import Files

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "simpletorch"
GALLERY = ROOT / "examples" / "gallery"
COOKBOOK = ROOT / "docs" / "cookbook"
RESULTS = ROOT / "benchmarks" / "results"
PICTURES = ROOT / "docs" / "pictures" / "gallery"  # what each script prints and draws, written by `make pictures`
MODULES = [
    "simpletorch", "nn", "losses", "optim", "amp", "cuda", "data", "transforms", "vision.models", "vision.io", "train",
    "metrics", "distributed", "distributed.actors", "distributed.ray", "checkpoint", "reproducibility", "kernels",
    "export", "language.models", "interop", "interop.hub", "errors", "follow",
]  # fmt: skip
ELSEWHERE = {*MODULES, "dims"}
FIRST = {
    "simpletorch": "Tensor checked install_import_hook config pure",
    "nn": "Module Sequential MLP TransformerBlock SelfAttention FeedForward Residual summary load_state_dict",
    "losses": "smoothed_cross_entropy focal_loss dice_loss",
    "optim": "clip_grad_norm WarmupCosine LinearWarmup EMA SWA",
    "amp": "autocast GradScaler Precision",
    "cuda": "memory prefetch graph",
    "data": "DataLoader Dataset TensorDataset IterableDataset random_split Digits ImageFolder",
    "transforms": "Compose ToTensor Normalize Resize RandomResizedCrop RandomHorizontalFlip",
    "vision.models": "resnet18 resnet50 vit_b_16 convnext_tiny unet from_timm to_timm read_weights ResNet",
    "train": "Trainer Step evaluate predict track EarlyStopping Checkpoint CSVLogger LearningRateFinder Callback Fit",
    "metrics": "Accuracy Mean F1 AUROC ConfusionMatrix",
    "distributed": "init launch is_main rank world_size parallelize all_reduce plan",
    "checkpoint": "save load latest checkpoints_in read",
    "reproducibility": "seed_everything deterministic",
    "kernels": "operator verify opportunities triton",
    "export": "program onnx torchscript load quantize aot",
    "language.models": "gpt2 bert_base llama_3_2_1b t5_small GPT2LMHeadModel BertModel LlamaForCausalLM",
    "interop": "typed from_numpy to_numpy from_transformers",
    "errors": "TorchError ShapeMismatch DTypeMismatch DeviceMismatch explain attempt Ok Err",
}
"""The names that a page of the reference begins with: what people start with."""
BOOSTS = {"cookbook": 3.0, "guides": 2.0, "tutorial": 2.0, "reference": 1.1, "benchmarks": 0.1}
"""How much a page counts in the search; the others count 1."""
LISTS = {"documents.md", "cookbook/README.md"}
"""Pages that only list what has a page: the search leaves them out."""
_REMOTE = re.compile(r"(?:https://|ssh://)?(?:[^@/]+@)?([^/:]+\.[^/:]+)[:/](?:\d+/)?(.+?)(?:\.git)?/?")
"""A remote's host and path: ``git@host.org:owner/name.git``, ``https://host.org/owner/name``; no folder is one."""
_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
OUTSIDE = re.compile(r"\[([^\]\n]+)\]\(((?:\.\./)+(?:(?:src|examples|tests|benchmarks)/[^)\s]*|CHANGELOG\.md))\)")


def on_config(config: Any) -> Any:
    """The version and the repository in the footer; the pages that the navigation names by their folders."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    # no `repo_url`: the theme's own link asks the host for the number of stars whenever a page is read
    config["copyright"] = f"simpletorch {project['version']}, {project['license']} license{_link(remote())}"
    pages = {
        "errors/": [
            "errors/README.md",
            *sorted(f"errors/{path.name}" for path in (ROOT / "docs/errors").glob("t*.md")),
        ],
        "reference/": [f"reference/{module}.md" for module in MODULES],
        "benchmarks/": [f"benchmarks/{path.name}" for path in sorted(RESULTS.glob("*.md"))],
    }

    def filled(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: pages.get(value, value) if isinstance(value, str) else [filled(one) for one in value]
                    for key, value in item.items()}  # fmt: skip
        return item

    config["nav"] = [filled(item) for item in config["nav"]]
    return config


def remote() -> str:
    """Where the checkout that the site is made from was cloned from; empty if git doesn't know."""
    asked = ["git", "-C", str(ROOT), "remote", "get-url", "origin"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()


def repository(remote: str) -> str | None:
    """The page of a remote in the web, without a user's name or password; None if it is a folder."""
    matched = _REMOTE.fullmatch(remote)
    return f"https://{matched[1]}/{matched[2]}" if matched else None


def _link(remote: str) -> str:
    page = repository(remote)
    return f', <a href="{page}">repository</a>' if page else ""


def on_files(files: Files, config: Any) -> Files:
    """The pages of the reference, and what the benchmarks found."""
    from mkdocs.structure.files import File  # here, so that the tests can read this file without mkdocs

    for module in MODULES:
        files.append(File.generated(config, f"reference/{module}.md", content=reference(module)))
    for path in RESULTS.glob("*.md"):
        files.append(File.generated(config, f"benchmarks/{path.name}", content=path.read_text(encoding="utf-8")))
    return files


def on_page_markdown(text: str, page: Any, config: Any, files: Files) -> str:
    """The page; links out of docs become paths, because the site has no such pages."""
    if page.file.src_uri == "gallery.md":
        text += "".join(section(path) for path in sorted(GALLERY.glob("[a-z]*.py")))
    folder = page.file.src_uri.rpartition("/")[0]
    if page.file.src_uri in LISTS:
        page.meta["search"] = {"exclude": True}
    elif folder in BOOSTS:
        page.meta["search"] = {"boost": BOOSTS[folder]}
    if page.file.src_uri == "cookbook/README.md":
        text += "".join(questions(COOKBOOK / name) for name in asked(config["nav"]))
    return OUTSIDE.sub(lambda link: f"{link[1]} (`{link[2].lstrip('./')}`)", text)


def section(script: Path) -> str:
    """A script in the gallery: its docstring, what it prints and draws, its source."""
    source = script.read_text(encoding="utf-8")
    title, _, rest = (ast.get_docstring(ast.parse(source)) or "").partition("\n\n")
    printed, drawn = PICTURES / f"{script.stem}.txt", PICTURES / f"{script.stem}.png"
    parts = [f"\n## {script.stem}\n", f"**{title}**\n", rest + "\n"]
    parts.append(f"```text\n{printed.read_text(encoding='utf-8')}```\n")
    parts.append(f"![what {script.stem} draws](pictures/gallery/{drawn.name})\n")
    indented = "".join(f"    {line}\n" if line else "\n" for line in source.splitlines())
    parts.append(f'??? note "examples/gallery/{script.name}"\n\n    ```python\n{indented}    ```\n')
    return "\n".join(parts)


def asked(nav: list[Any]) -> list[str]:
    """The pages of the cookbook in the navigation's order, without the first, which lists their questions."""
    (pages,) = (item["Cookbook"] for item in nav if "Cookbook" in item)
    return [Path(page).name for page in pages[1:]]


def questions(page: Path) -> str:
    """A page of the cookbook: its title, and a list of its questions with links."""
    from markdown.extensions.toc import slugify

    title, *titles = re.findall(r"^##? (.+)$", _CODE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    links = [f"- [{one}]({page.name}#{slugify(one.replace('`', ''), '-')})\n" for one in titles]
    return f"\n## [{title}]({page.name})\n\n" + "".join(links)


def full(module: str) -> str:
    """The name that a module is imported by."""
    return module if module == "simpletorch" else f"simpletorch.{module}"


def reference(module: str) -> str:
    """A page with every public name of a module: first those that people start with."""
    name = full(module)
    head = f"# {name}\n\n::: {name}\n    options: {{ members: false, show_root_heading: false }}\n\n"
    return head + "\n".join(f"::: {name}.{each}\n" for each in shown(module))


def shown(module: str) -> list[str]:
    """A module's public names in the order of its page."""
    first = FIRST.get(module, "").split()
    names = [path.rpartition(".")[2] for path in public(module)]
    return sorted(names, key=lambda each: first.index(each) if each in first else len(first))


def public(module: str) -> list[str]:
    """Where the module's public names are made; torch's are torch's to document, and other pages have their own."""
    found: dict[str, str] = {}
    body = ast.parse(_face(module, ".pyi") or _face(module, ".py")).body
    listed = _listed(body)
    for node in body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("simpletorch."):
            origin = str(node.module)
            if origin.removeprefix("simpletorch.") not in ELSEWHERE and not origin.endswith("_plain"):
                names = [alias.name for alias in node.names if alias.asname == alias.name or alias.name in listed]
                found |= {name: f"{origin}.{name}" for name in names}
        elif isinstance(node, ast.ClassDef | ast.FunctionDef):
            found[node.name] = f"simpletorch.{module}.{node.name}"
    return [path for name, path in found.items() if not name.startswith("_")]


def _listed(body: list[ast.stmt]) -> set[str]:
    """The names in a module's `__all__`, if it has one."""
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def _face(module: str, ending: str) -> str:
    """The text of a module's `__init__`, or nothing."""
    folder = SOURCE if module == "simpletorch" else SOURCE / module.replace(".", "/")
    file = folder / f"__init__{ending}" if folder.is_dir() else folder.with_suffix(ending)
    return file.read_text(encoding="utf-8") if file.exists() else ""
