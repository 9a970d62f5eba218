"""Pretrain `leakscape/tiny` and write it where the package ships it.

    python tools/tiny_base.py [FOLDER]

Takes a few minutes on two cores. `recipe.json` records the recipe, the versions, the hashes and the training curve.
"""

import dataclasses
import importlib.metadata
import json
import os
import platform
import sys
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

from leakscape.artifacts import hash_file
from leakscape.canaries.names import MORPHOLOGY
from leakscape.canaries.question import QUESTION_VERSION
from leakscape.models import tiny_texts
from leakscape.models.tiny_recipe import Made, Recipe, make

FOLDER = Path(__file__).parents[1] / "leakscape" / "models" / "tiny"
LIBRARIES = ("torch", "transformers", "tokenizers", "safetensors")
EVERY = 25  # steps between the points of the recorded curve
LARGEST = 12 * 2**20


def main(folder: Path) -> None:
    """Make the model and write its folder."""
    recipe = Recipe()

    def show(step: int, loss: float) -> None:
        if step % EVERY == 0:
            print(f"step {step} of {recipe.steps}: {loss:.3f} nats a token", flush=True)

    write(folder, recipe, make(recipe, on_step=show))
    print(f"wrote {folder}")


def write(folder: Path, recipe: Recipe, made: Made) -> None:
    """Write the model, its tokenizer and `recipe.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    made.model.save_pretrained(folder)
    made.tokenizer.save_pretrained(folder)
    files = sorted(path for path in folder.iterdir() if path.name != "recipe.json")
    for path in files:
        path.chmod(0o644)
    size = sum(path.stat().st_size for path in files)
    if size > LARGEST:
        raise SystemExit(f"{folder} has {size:,} bytes; a base that ships may have {LARGEST:,}")
    described = {
        "recipe": dataclasses.asdict(recipe),
        "texts": {
            "stream": tiny_texts.STREAM,
            "reference_date": tiny_texts.REFERENCE_DATE.isoformat(),
            "coined_share": tiny_texts.COINED_SHARE,
            "question_share": tiny_texts.QUESTION_SHARE,
            "morphology": MORPHOLOGY,
            "question": QUESTION_VERSION,
        },
        "parameters": made.model.num_parameters(),
        "versions": {name: importlib.metadata.version(name) for name in LIBRARIES},
        "machine": platform.machine(),
        "sha256": {path.name: hash_file(path) for path in files},
        "loss": {str(step): round(_mean(made.losses, step), 4) for step in range(EVERY, recipe.steps + 1, EVERY)},
    }
    text = json.dumps(described, indent=2, sort_keys=True)
    (folder / "recipe.json").write_text(text + "\n", encoding="utf-8", newline="\n")


def _mean(losses: tuple[float, ...], step: int) -> float:
    """Mean over the steps since the point before."""
    return sum(losses[step - EVERY : step]) / EVERY


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
