"""The site as `make docs` builds it: links, the search, and what every page has.

The search is the theme's own: ``search.js`` runs its worker on the site's index, as a browser does.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import zlib
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from simpletorch._distribution import version
from tests.test_pages import site_hooks

ROOT = Path(__file__).parents[2]
MKDOCS = ROOT / ".venv-docs" / "bin" / "mkdocs"
NODE = shutil.which("node")
pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not MKDOCS.exists(), reason="`make docs` installs mkdocs"),
]

GUIDES_FIRST = {
    "accumulate gradients": "cookbook/training.html#how-do-i-accumulate-gradients",
    "resume training": "cookbook/saving.html#how-do-i-save-and-resume-training",
    "freeze layers": "cookbook/models.html#how-do-i-freeze-layers-of-a-pretrained-model",
    "custom loss": "cookbook/training.html#how-do-i-write-a-custom-loss-function",
    "multiple GPUs": "cookbook/several_gpus.html",
    "out of memory": "cookbook/devices.html#cuda-out-of-memory",
    "shape mismatch": "cookbook/shapes.html",
}
BY_NAME = {
    "Trainer": "reference/train.html#simpletorch.train.Trainer",
    "EarlyStopping": "reference/train.html#simpletorch.train.EarlyStopping",
    "tensor-layout": "errors/tensor-layout.html",
    "tensor-shape": "errors/tensor-shape.html",
}


BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
QUIET = "--disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync"
SEEN_IN_A_BROWSER = ("index", "reference/train", "errors/tensor-shape", "cookbook/training", "editors")
LOOKS = """<script>
const wider = [...document.querySelectorAll('.language-text pre > code')].filter(e => e.scrollWidth > e.clientWidth);
const facts = document.createElement('pre');
facts.id = 'facts';
facts.textContent = JSON.stringify({
  cut_off: wider.map(e => e.textContent), window: innerWidth, page: document.documentElement.scrollWidth,
  ground: getComputedStyle(document.body).backgroundColor,
});
document.body.append(facts);
</script></body>"""


class Page(HTMLParser):
    """What a page links to and loads, the places that can be linked to, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.anchors: set[str] = set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A link, a place, or something that a browser loads."""
        given = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := given.get(name))}
        if tag == "a" and (to := given.get("href")):
            self.links.add(to)
        loaded = given.get("href") if tag == "link" and given.get("rel") == "stylesheet" else given.get("src")
        if tag != "a" and loaded:
            self.loads.add(loaded)

    def handle_data(self, data: str) -> None:
        """Text between tags."""
        self.text += data


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new build."""
    folder = tmp_path_factory.mktemp("site")
    command = [MKDOCS, "build", "--strict", "--quiet", "--site-dir", folder]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, check=True)
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Page]:
    """The pages by their paths; 404.html is made for a server's root."""
    found = {path.relative_to(site).as_posix(): path for path in site.rglob("*.html") if path.name != "404.html"}
    return {name: Page(path.read_text(encoding="utf-8")) for name, path in found.items()}


def target(page: str, link: str) -> tuple[str, str]:
    """The page that a relative link leads to, and the place on it."""
    path, _, place = unquote(link).partition("#")
    return (os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page), place


def test_no_link_is_dead(site, pages):
    dead = []
    for name, page in pages.items():
        for link in page.links | page.loads:
            if re.match(r"https?:|mailto:|data:", link):
                continue
            to, place = target(name, link)
            if not (site / to).is_file() or (place and to in pages and place not in pages[to].anchors):
                dead.append(f"{name}: {link}")
    assert sorted(dead) == []
    assert sum(len(page.links) for page in pages.values()) > 1000


def test_nothing_is_loaded_from_elsewhere(pages):
    assert {load for page in pages.values() for load in page.loads if re.match(r"(https?:)?//", load)} == set()


def test_every_page_fits_a_phone_and_is_light_and_dark(site, pages):
    for name in pages:
        text = (site / name).read_text(encoding="utf-8")
        assert re.search(r'<meta name="viewport" content="width=device-width', text), name
        for media, scheme in (("light", "default"), ("dark", "slate")):
            palette = rf'data-md-color-media="\(prefers-color-scheme: {media}\)" data-md-color-scheme="{scheme}"'
            assert re.search(palette, text), name


def test_the_home_page_shows_a_bug_its_finding_and_how_to_install(site, pages):
    home = pages["index.html"]
    assert "the last dim of input is 128, but the layer takes 100 features" in home.text
    assert "pip install" in home.text
    assert f"simpletorch {version()}" in home.text
    assert "reference/simpletorch.html" in home.links
    assert "cookbook/index.html" in home.links
    style = (site / "site.css").read_text(encoding="utf-8")
    assert re.search(r"\.language-text pre > code \{[^}]*white-space: pre-wrap", style), "findings are shown whole"


@pytest.mark.parametrize(
    ("remote", "page"),
    [
        ("https://github.com/owner/name.git", "https://github.com/owner/name"),
        ("https://github.com/owner/name", "https://github.com/owner/name"),
        ("https://user:secret@gitlab.example.org/group/owner/name.git/", "https://gitlab.example.org/group/owner/name"),
        ("git@github.com:owner/name.git", "https://github.com/owner/name"),
        ("ssh://git@example.org:2222/owner/name.git", "https://example.org/owner/name"),
        ("/srv/git/name.git", None),
        ("../main", None),
        ("file:///srv/git/name.git", None),
        ("", None),
    ],
)
def test_the_home_page_links_to_the_repository_that_git_knows(remote, page):
    assert site_hooks().repository(remote) == page


def test_the_footer_says_what_git_says(pages):
    hooks = site_hooks()
    page = hooks.repository(hooks.remote())
    assert (page in pages["index.html"].links) is (page is not None)


def test_the_inventory_has_the_public_names(site):
    hooks = site_hooks()
    compressed = (site / "objects.inv").read_bytes().partition(b"zlib.\n")[2]
    listed = {line.split()[0]: line.split()[3] for line in zlib.decompress(compressed).decode().splitlines()}
    for module in hooks.MODULES:
        names = [hooks.full(module), *(f"{hooks.full(module)}.{each}" for each in hooks.shown(module))]
        assert {name: listed.get(name) for name in names} == dict.fromkeys(names, f"reference/{module}.html#$")
    assert listed["simpletorch.train.Fit.model"] == "reference/train.html#$"


def test_a_page_of_the_reference_begins_with_what_people_start_with(site, pages):
    text = (site / "reference/train.html").read_text(encoding="utf-8")
    places = [text.index(f'id="simpletorch.train.{name}"') for name in ("Trainer", "Step", "Callback", "Fit")]
    assert places == sorted(places)
    for module, first in site_hooks().FIRST.items():
        assert set(first.split()) <= set(site_hooks().shown(module)), module


def test_the_attributes_of_a_class_are_one_table(site):
    text = (site / "reference/train.html").read_text(encoding="utf-8")
    epoch = text[text.index('id="simpletorch.train.Epoch"') :]
    table = epoch[epoch.index("Attributes:") : epoch.index("</table>", epoch.index("Attributes:"))]
    assert 'id="simpletorch.train.Epoch.learning_rate"' in table
    assert "doc-attribute-name" not in table
    assert not re.search(r"<h\d id=\"simpletorch.train.Epoch.learning_rate\"", text)


def test_code_in_docstrings_has_colours_and_long_signatures_are_broken(site):
    text = (site / "reference/train.html").read_text(encoding="utf-8")
    assert re.search(r'<div class="language-python highlight"><pre>.{0,40}<span class="n">step</span>', text)
    signature = text[text.index('id="simpletorch.train.Trainer"') :].partition("<pre>")[2].partition("</pre>")[0]
    assert max(map(len, re.sub("<[^>]*>", "", signature).splitlines())) < 90


@pytest.mark.skipif(BROWSER is None, reason="there is neither chromium nor google-chrome here")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 500])  # 500 is the narrowest window of Chromium
@pytest.mark.parametrize("name", SEEN_IN_A_BROWSER)
def test_in_a_browser_no_finding_is_cut_off_and_no_page_too_wide(site, tmp_path, name, width, dark):
    page = site / f"{name}.html"
    looked_at = page.with_name(f"{page.stem}-looked-at.html")  # beside it, for its styles
    looked_at.write_text(page.read_text(encoding="utf-8").replace("</body>", LOOKS), encoding="utf-8")
    command = [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", *QUIET.split(), "--dump-dom"]
    command += [f"--user-data-dir={tmp_path}", f"--window-size={width},900"]
    command += [f"--blink-settings=preferredColorScheme={0 if dark else 1}", looked_at.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    found = re.search(r'<pre id="facts">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found is not None, done.stderr[-500:]
    facts = json.loads(unescape(found[1]))
    assert facts["window"] == width
    assert facts["cut_off"] == []
    assert facts["page"] <= width
    brightness = sum(map(int, re.findall(r"\d+", facts["ground"])[:3])) / 3
    assert (brightness < 80) is dark


@pytest.mark.skipif(NODE is None, reason="the search is in JavaScript: it needs node")
def test_the_search_finds_guides_first_and_names_by_their_names(site):
    assert NODE is not None
    queries = GUIDES_FIRST | BY_NAME
    command = [NODE, Path(__file__).with_name("search.js"), site, *queries]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert {query: places[0] for query, places in json.loads(done.stdout).items()} == queries


@pytest.mark.skipif(NODE is None, reason="the search is in JavaScript: it needs node")
def test_the_search_finds_each_question_of_the_cookbook_in_its_words(site):
    from tests.docs.test_cookbook import QUESTIONS

    assert NODE is not None
    command = [NODE, Path(__file__).with_name("search.js"), site, *QUESTIONS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    index = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))["docs"]
    places = {re.sub("<[^>]*>|&lt;.*&gt;", "", each["title"]): each["location"].partition("#")[0] for each in index}
    found = {query: found[0].partition("#")[0] for query, found in json.loads(done.stdout).items()}
    assert found == {query: places[re.sub("<.*>", "", query)] for query in QUESTIONS}
