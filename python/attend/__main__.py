# SPDX-License-Identifier: MIT
"""``python -m attend watch MODEL --text FILE -o watch.html``."""

from __future__ import annotations

import argparse
import collections
import os
import sys
from typing import Any, Callable, NoReturn, Sequence

from ._engine import version

#: Default number of tokens that a model with an encoder and a decoder generates.
GENERATED = 32


class Refused(Exception):
    """What is wrong with the arguments, in one line."""


class Parser(argparse.ArgumentParser):
    """Prints the error in one line."""

    def error(self, message: str) -> NoReturn:
        raise Refused(f"{message} ({self.prog} --help says more)")


def _parser() -> Parser:
    parser = Parser(prog="python -m attend", description="Exact softmax attention, and what each head did.")
    parser.add_argument("--version", action="version", version=f"attend {version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    watch = commands.add_parser(
        "watch",
        help="run a model over a text and write a page on what its heads do",
        description="Runs a transformers model over a text and writes one self-contained page on what its heads do.",
        epilog="example: python -m attend watch SmolLM2.gguf --text story.txt -o watch.html --tokens 400",
    )
    watch.add_argument(
        "model", metavar="MODEL", help="a model's folder, as save_pretrained() writes it, or a .gguf file"
    )
    watch.add_argument(
        "--text", metavar="FILE", required=True, help="what the model reads, UTF-8; - for standard input"
    )
    watch.add_argument(
        "-o",
        "--output",
        metavar="PAGE",
        default="watch.html",
        help="where the page goes (default: %(default)s)",
    )
    watch.add_argument("--tokens", metavar="N", type=_count, help="read the first N tokens of the text only")
    watch.add_argument(
        "--generate", metavar="N", type=_count, help="then let the model write N tokens, and watch these too"
    )
    watch.add_argument(
        "--noise",
        action="store_true",
        help="also say what keys of 8 bits would do to each head (keeps q, k and v)",
    )
    return parser


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return int(text)


def _read_text(path: str) -> str:
    try:
        if path == "-":
            text = sys.stdin.read()
        else:
            with open(path, encoding="utf-8") as file:
                text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"--text {path}: {getattr(error, 'strerror', None) or error}") from None
    if not text.strip():
        raise Refused(f"--text {path}: there is no text in it")
    return text


def _check_output(path: str) -> None:
    folder = os.path.dirname(path) or "."
    if os.path.isdir(path):
        raise Refused(f"-o {path}: is a folder")
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        raise Refused(f"-o {path}: cannot write into {folder}")


def _load(path: str, generate: int | None) -> tuple[Any, Any, int]:
    """The tokenizer, the model and the number of tokens to generate."""
    if not os.path.exists(path):
        raise Refused(f"{path}: no such file or folder")
    try:
        import torch
        import transformers
    except ImportError as error:
        raise Refused(f"{error.name} is not installed: pip install 'attend[watch]'") from None
    where: dict[str, Any] = {"pretrained_model_name_or_path": path, "local_files_only": True}
    if os.path.isfile(path):
        where.update(
            pretrained_model_name_or_path=os.path.dirname(path) or ".", gguf_file=os.path.basename(path)
        )
    try:
        config = transformers.AutoConfig.from_pretrained(**where)
        kind: Any = transformers.AutoModel
        if config.is_encoder_decoder:
            kind, generate = transformers.AutoModelForSeq2SeqLM, generate or GENERATED
        elif generate:
            kind = transformers.AutoModelForCausalLM
        tokenizer = transformers.AutoTokenizer.from_pretrained(**where)
        return tokenizer, kind.from_pretrained(**where, dtype=torch.float32).eval(), generate or 0
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise Refused(
            f"{path}: {str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__}"
        ) from None


def _inputs(tokenizer: Any, model: Any, text: str, tokens: int | None) -> Any:
    """The text as inputs of the model, cut to the requested and to the possible length."""
    known = len(tokenizer(text, verbose=False)["input_ids"])
    limit = min(tokens or known, getattr(model.config, "max_position_embeddings", None) or known)
    if limit < known:
        print(f"attend: the first {limit} of {known} tokens are read", file=sys.stderr)
    return tokenizer(text, return_tensors="pt", truncation=True, max_length=limit)


def _progress(total: int) -> Callable[[Any], None]:
    """A bar on the terminal, one step for each layer's call; none elsewhere."""
    done = 0

    def step(layer: Any) -> None:
        nonlocal done
        done = min(done + 1, total)
        full = 30 * done // total
        end = "\n" if done == total else ""
        print(
            f"\r[{'#' * full}{'.' * (30 - full)}] {done}/{total} layer {layer.index}",
            end=end,
            file=sys.stderr,
            flush=True,
        )

    return step if sys.stderr.isatty() else lambda layer: None


def _watch(args: argparse.Namespace) -> None:
    text = _read_text(args.text)
    _check_output(args.output)
    tokenizer, model, generate = _load(args.model, args.generate)
    inputs = _inputs(tokenizer, model, text, args.tokens)
    from ._watch import Watch

    watch = Watch(model, tokenizer, "qkv" if args.noise else None)
    try:
        with watch as w:
            w.on_call = _progress(max(1, w.expected) * max(1, generate))
            if generate:
                model.generate(**inputs, max_new_tokens=generate, do_sample=False)
            else:
                model(**inputs)
    except (RuntimeError, TypeError, ValueError) as error:
        raise Refused(f"{args.model}: {error}") from None
    name = os.path.basename(os.path.abspath(args.model))
    w.save(args.output, title=f"What the heads of {name} do")
    characters = collections.Counter(head["character"] for head in w.heads())
    print(
        f"{args.output}: {len(w.layers)} layers, {sum(characters.values())} heads, {inputs['input_ids'].shape[1]} tokens"
    )
    print(", ".join(f"{count} {character}" for character, count in characters.most_common()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0, or 2 after a line on standard error."""
    try:
        _watch(_parser().parse_args(arguments))
    except Refused as error:
        print(f"attend: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
