# SPDX-License-Identifier: MIT
"""The page of a watch, as parsed, and the command that makes it."""

import base64
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock
import warnings

import tokenizers
import torch
import transformers as hf
from eager_weights import watched
from setting import HERE, html_pages, np, read
from tiny_models import DECODERS, LLAMA_LIKE, build, tokens
from watch_pages import Case, Words, small_watch

import attend
from attend.__main__ import main
from attend._watch import Layer, Watch
from attend._watch_measure import COLUMNS, TOP, Record
from attend._watch_tokens import Tokens

HANG = 240
TEXT = os.path.join(HERE, "watch_text.txt")


def embedded(text):
    return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)[1])


class Page(Case):
    def test_whole_and_alone(self):
        text = self.saved(small_watch(), title="A <title> & more")
        page = html_pages.Page(text)
        self.assertEqual((page.open, page.errors, page.links), ([], [], []))
        self.assertEqual(len(page.ids), len(set(page.ids)))
        self.assertNotRegex(text, r"https?://|url\(|@import|fetch\(|XMLHttpRequest|import\(")
        self.assertIn("<title>A &lt;title&gt; &amp; more</title>", text)
        self.assertEqual(text.count("</script>"), 2)
        for tag in "link", "img", "iframe", "object", "embed", "base", "form":
            self.assertNotIn(tag, page.tags)

    def test_tidy(self):
        self.saved(small_watch())
        done = subprocess.run(["tidy", "-q", "-e", self.path("watch.html")], capture_output=True, text=True)
        self.assertNotIn("Error", done.stderr)
        self.assertEqual(
            [x for x in done.stderr.splitlines() if "Warning" in x and "trimming empty" not in x], []
        )

    def test_what_it_holds(self):
        w = small_watch()
        found = embedded(self.saved(w))
        self.assertEqual([len(found["layers"]), len(found["heads"]), len(found["texts"])], [2, 8, 1])
        self.assertEqual([grid["name"] for grid in found["grids"]][-2:], ["induction", "duplicate_token"])
        layer = found["layers"][1]
        keys = np.frombuffer(base64.b64decode(layer["keys"]), "<u2").reshape(4, layer["rows"], TOP)
        weights = np.frombuffer(base64.b64decode(layer["weights"]), "u1").reshape(keys.shape)
        record = w.layers[1].calls[0]
        np.testing.assert_array_equal(np.where(keys == 0xFFFF, -1, keys.astype(int)), record.top_keys[0])
        np.testing.assert_allclose(weights / 255, record.top_weights[0], atol=0.5 / 255)
        cells = np.frombuffer(base64.b64decode(layer["map"]["bytes"]), "u1").reshape(4, 40, 40)
        np.testing.assert_allclose((cells[2] / 255) ** 2, w.map(1, 2), atol=2.1 / 255)
        noise = {(line["layer"], line["head"]): line for line in w.noise()}
        for head in found["heads"]:
            line = noise[head["layer"], head["head"]]
            self.assertAlmostEqual(
                head["values"]["measured"], line["measured"], delta=1e-3 * line["measured"]
            )

    def test_size_is_bounded(self):
        """270 heads and 8192 tokens, of which the last are shown."""
        rng = np.random.default_rng(0)
        n, heads = 8192, 9
        rows = rng.random((1, heads, n, len(COLUMNS)), dtype=np.float32)
        rows[..., 0] = np.arange(1, n + 1)
        ids = Tokens(rng.integers(0, 9999, (1, n)))
        record = Record(
            0,
            0,
            n,
            np.arange(n),
            rows,
            np.zeros((1, heads, n)),
            rng.integers(0, n, (1, heads, n, TOP), np.int32),
            rng.random((1, heads, n, TOP), np.float32),
            ids,
            ids,
            0,
            rng.random((1, heads, 64, 64), np.float32),
            128,
        )
        w = Watch(build(DECODERS["llama"]), Words())
        w.layers = [Layer(f"layers.{x}", x, "self", heads, str(x), [record]) for x in range(30)]
        text = self.saved(w)
        self.assertLess(len(text.encode()), 5e6)
        layer = embedded(text)["layers"][0]
        self.assertEqual((layer["rows"], layer["first"], layer["total"]), (256, n - 256, n))

    def test_gaps(self):
        """A head of NaN, and a layer of them."""
        model = build(DECODERS["llama"])
        with torch.no_grad():
            model.model.layers[0].self_attn.q_proj.weight[8:16] = float("nan")
        w = watched(model, 3 + tokens(batch=1, length=40) % 11, Words(), keep="qkv")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = embedded(self.saved(w))
        for head in found["heads"]:
            values, lost = head["values"], head["layer"] == 1 or head["head"] == 1
            for name in "entropy_share", "top_weight", "previous", "induction", "S", "measured":
                self.assertEqual(values[name] is None, lost, (head, name))
            self.assertEqual("NaN" in head["reason"], lost)
        for head in range(4):
            cells = np.frombuffer(base64.b64decode(found["layers"][0]["map"]["bytes"]), "u1").reshape(4, -1)[
                head
            ]
            self.assertEqual(cells.any(), head != 1)

    def test_nothing_to_save(self):
        with self.assertRaisesRegex(ValueError, "nothing was watched"):
            attend.watch(build(DECODERS["llama"])).save(self.path("x.html"))
        with self.assertRaises(OSError):
            small_watch().save(self.path("no/such/folder.html"))
        self.assertEqual(os.listdir(self.dir), [])


class Command(Case):
    @classmethod
    def setUpClass(cls):
        """A tiny model and a tokenizer in a folder, as save_pretrained() writes them."""
        cls.model = tempfile.mkdtemp(prefix="attend-model-")
        cls.addClassCleanup(shutil.rmtree, cls.model)
        torch.manual_seed(0)
        config = {**LLAMA_LIKE, "vocab_size": 300, "max_position_embeddings": 64}
        hf.LlamaForCausalLM(hf.LlamaConfig(**config)).save_pretrained(cls.model)
        words = tokenizers.Tokenizer(
            tokenizers.models.WordLevel({"<unk>": 0, "the": 3, "clock": 4, ".": 5}, unk_token="<unk>")
        )
        words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
        hf.PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>").save_pretrained(cls.model)

    def run_it(self, *arguments, input=""):
        """Output of the command in this process: a new one would import transformers again."""
        with open(self.path("said"), "w+b") as out, open(self.path("complained"), "w+b") as err:
            streams = (1, out), (2, err)
            kept = [os.dup(number) for number, _ in streams]
            before = os.getcwd()
            os.chdir(self.dir)
            for number, file in streams:
                os.dup2(file.fileno(), number)
            try:
                with unittest.mock.patch.object(sys, "stdin", io.StringIO(input)):
                    status = main(arguments)
            except SystemExit as end:
                status = end.code
            finally:
                sys.stdout.flush(), sys.stderr.flush()
                for copy, (number, file) in zip(kept, streams):
                    os.dup2(copy, number), os.close(copy), file.seek(0)
                os.chdir(before)
            texts = [file.read().decode() for file in (out, err)]
        os.remove(self.path("said")), os.remove(self.path("complained"))
        return types.SimpleNamespace(returncode=status or 0, stdout=texts[0], stderr=texts[1])

    def test_page(self):
        """The command in a new process."""
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "attend",
                "watch",
                self.model,
                "--text",
                TEXT,
                "-o",
                "page.html",
                "--tokens",
                "50",
                "--noise",
            ],
            cwd=self.dir,
            capture_output=True,
            text=True,
            timeout=HANG,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("page.html: 2 layers, 8 heads, 50 tokens", done.stdout)
        self.assertRegex(done.stderr, r"the first 50 of \d+ tokens are read")
        found = embedded(read(self.path("page.html")))
        self.assertIn("measured", found["heads"][0]["values"])
        self.assertEqual(found["layers"][0]["total"], 50)

    def test_generation_and_standard_input(self):
        done = self.run_it(
            "watch",
            self.model,
            "--text",
            "-",
            "-o",
            "page.html",
            "--generate",
            "4",
            input="the clock . the clock",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(embedded(read(self.path("page.html")))["layers"][0]["total"], 5)

    def test_the_model_s_own_limit(self):
        done = self.run_it("watch", self.model, "--text", TEXT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the first 64 of", done.stderr)
        self.assertEqual(os.listdir(self.dir), ["watch.html"])

    def test_help(self):
        for arguments in ["--help"], ["watch", "--help"]:
            done = self.run_it(*arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("usage: python -m attend", done.stdout)

    def test_refused(self):
        open(self.path("empty.txt"), "w").close()
        open(self.path("broken.gguf"), "w").close()
        os.mkdir(self.path("folder"))
        for arguments, says in (
            ([], "COMMAND"),
            (["look"], "'look'"),
            (["watch", self.model, "--text", TEXT, "--foo"], "--foo"),
            (["watch", "nowhere", "--text", TEXT], "nowhere: no such file or folder"),
            (["watch", "folder", "--text", TEXT], "folder: "),
            (["watch", "broken.gguf", "--text", TEXT], "broken.gguf: "),
            (["watch", self.model], "--text"),
            (["watch", self.model, "--text", "none.txt"], "--text none.txt: No such file"),
            (["watch", self.model, "--text", "empty.txt"], "empty.txt: there is no text"),
            (["watch", self.model, "--text", TEXT, "--tokens", "0"], "'0' is not a positive number"),
            (["watch", self.model, "--text", TEXT, "-o", "no/page.html"], "-o no/page.html"),
            (["watch", self.model, "--text", TEXT, "-o", "folder"], "-o folder: is a folder"),
        ):
            with self.subTest(arguments):
                done = self.run_it(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(says, done.stderr)
                self.assertRegex(done.stderr, r"\Aattend: .*\n\Z")
        self.assertEqual(sorted(os.listdir(self.dir)), ["broken.gguf", "empty.txt", "folder"])
