"""What `make release` makes of README, and the metadata of the package."""

import re
import tomllib
from pathlib import Path

import yaml

from tools.release import (
    HTML_LINK,
    MARKDOWN_LINK,
    PLACEHOLDER,
    absolute_links,
    left_to_do,
    version_of,
)

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_every_link_of_readme_leads_to_a_file_at_the_tag():
    base = "https://forge.example/us/ragnb"
    text = absolute_links((ROOT / "README.md").read_text("utf-8"), base, "9.8.7")
    targets = [
        link["target"] for pattern in (HTML_LINK, MARKDOWN_LINK) for link in pattern.finditer(text)
    ]
    assert all(re.match(r"https?://|#", target) for target in targets)
    ours = [target.removeprefix(base) for target in targets if target.startswith(base)]
    assert len(ours) > 60
    for target in ours:
        kind, version, path = re.fullmatch(
            r"/(raw|blob)/v([\d.]+)/([^#]+)(?:#.*)?", target
        ).groups()
        assert version == "9.8.7"
        assert (ROOT / path).is_file(), path
        # Only images are fetched as files. A link to a figure leads to its page.
        assert kind == "blob" or path.endswith(".png")
    assert f'src="{base}/raw/v9.8.7/figures/00_people_and_metrics.png"' in text
    assert f"]({base}/blob/v9.8.7/figures/00_people_and_metrics.png)" in text


def test_what_a_person_must_fill_in_is_named(tmp_path):
    names = ("README.md", "pyproject.toml", "CHANGELOG.md", "CITATION.cff", "ragnb/version.py")
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text("utf-8"), "utf-8")
    (tmp_path / "CITATION.cff").write_text("version: 0.0.1\n", "utf-8")
    sentences = " ".join(left_to_do(tmp_path))
    assert "CITATION.cff to" in sentences
    assert "section *Install*" in sentences
    (tmp_path / "README.md").write_text('pip install "ragnb[lab]"', "utf-8")
    for name in ("pyproject.toml", "CHANGELOG.md"):
        path = tmp_path / name
        text = path.read_text("utf-8").replace(PLACEHOLDER, "us")
        path.write_text(re.sub(r"\(unreleased\)", "(2027-01-31)", text), "utf-8")
    (tmp_path / "CITATION.cff").write_text(f'version: "{version_of(ROOT)}"\n', "utf-8")
    assert left_to_do(tmp_path) == []


def test_the_citation_is_that_of_the_package():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == version_of(ROOT)
    assert citation["repository-code"] == PROJECT["urls"]["Repository"]
    assert citation["title"] in (ROOT / "README.md").read_text("utf-8")


def test_the_licence_names_that_of_each_shipped_file():
    notice = (ROOT / "ragnb" / "NOTICE.md").read_text("utf-8")
    for name, identifier in {
        "Apache 2.0": "Apache-2.0",
        "CC BY 4.0": "CC-BY-4.0",
        "MIT": "MIT",
    }.items():
        assert name in notice
        assert identifier in PROJECT["license"].split(" AND ")
    assert "Gemma terms" in notice
    assert "ragnb/NOTICE.md" in PROJECT["license-files"]
