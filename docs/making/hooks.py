"""Pictures of results are part of the site without being copied into ``docs``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
#: Folders beside ``docs`` whose pictures pages show, as pages in the repository link to them.
FOLDERS = ("benchmarks/results", "experiments/results")


def on_files(files: Any, config: Any) -> Any:
    """Add the pictures, each under the path that it has in the repository."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).glob("*.png")):
            files.append(File.generated(config, f"{folder}/{path.name}", abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links from a page to these folders stay inside the site."""
    for folder in FOLDERS:
        markdown = markdown.replace(f"](../{folder}/", f"]({folder}/")
    return markdown
