"""Repositories, revisions and files of a config."""

import hashlib
import os
import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from . import content

# As the hub's own .gitattributes has them for a new repository.
LFS_NAMES = (
    "*.safetensors",
    "*.bin",
    "*.pt",
    "*.pth",
    "*.gguf",
    "*.onnx",
    "*.h5",
    "*.msgpack",
    "tokenizer.json",
)
SHA = re.compile(r"[0-9a-f]{40}")


@dataclass
class File:
    path: str
    content: content.Content
    is_lfs: bool
    # A name in place of the hash, for files that would take minutes to hash.
    named_hash: bool = False

    @property
    def size_bytes(self):
        return self.content.size_bytes

    def etag(self):
        """sha256 for LFS, git's blob name for the rest."""
        if not self.is_lfs:
            return self.content.git_sha1()
        if self.named_hash:
            return hashlib.sha256(f"{self.path} {self.size_bytes}".encode()).hexdigest()
        return self.content.sha256()

    def entry(self):
        """Its line of the tree."""
        entry = {"type": "file", "path": self.path, "size": self.size_bytes, "oid": self.etag()}
        if self.is_lfs:
            pointer = f"version https://git-lfs/spec/v1\noid sha256:{entry['oid']}\nsize {self.size_bytes}\n"
            entry["lfs"] = {"oid": entry["oid"], "size": self.size_bytes, "pointerSize": len(pointer)}
            entry["oid"] = content.Bytes(pointer.encode()).git_sha1()
        return entry


@dataclass
class Revision:
    sha: str
    files: dict


@dataclass
class Repository:
    name: str
    revisions: dict = field(default_factory=dict)
    refs: dict = field(default_factory=dict)
    is_gated: bool = False
    is_private: bool = False
    # Who may read it when it is gated or private.
    tokens: tuple = ()
    moved_to: str = ""

    def revision(self, name):
        """The revision a branch, tag, or whole hash names; None: there is none."""
        return self.revisions.get(self.refs.get(name, name))


def repository(name, config):
    """Of {revisions: [{sha?, refs, files, shards?, folder?}], gated, private, tokens, movedTo}."""
    made = Repository(
        name=name,
        is_gated=config.get("gated", False),
        is_private=config.get("private", False),
        tokens=tuple(config.get("tokens", ())),
        moved_to=config.get("movedTo", ""),
    )
    for number, described in enumerate(config.get("revisions", ())):
        revision = _revision(f"{name} {number}", described)
        made.revisions[revision.sha] = revision
        # The first one is the default branch unless another one says so.
        for ref in described.get("refs", ["main"] if number == 0 else []):
            made.refs[ref] = revision.sha
    return made


def _revision(seed, described):
    files = {}
    for path, spec in {
        **described.get("files", {}),
        **_of_folder(described),
        **_of_shards(described),
    }.items():
        options = spec if isinstance(spec, dict) else {}
        is_lfs = options.get("lfs", any(fnmatchcase(os.path.basename(path), name) for name in LFS_NAMES))
        is_named = options.get("namedHash", False)
        files[path] = File(path, content.of(spec, path), is_lfs, is_named)
    sha = described.get("sha") or hashlib.sha1(f"{seed} {sorted(files)}".encode()).hexdigest()
    if not SHA.fullmatch(sha):
        raise ValueError(f"Cannot serve the revision {sha}: need 40 hexadecimal digits")
    return Revision(sha, dict(sorted(files.items())))


def _of_folder(described):
    """Every file below `folder`, links followed: a checkpoint of this disk as a repository."""
    top = described.get("folder")
    if top is None:
        return {}
    paths = [os.path.join(folder, name) for folder, _, names in os.walk(top) for name in names]
    return {os.path.relpath(path, top): {"path": path} for path in paths}


def _of_shards(described):
    """`shards: {count, sizeBytes, namedHash?}`: model-00001-of-0000N.safetensors, ..., and their index."""
    shards = described.get("shards")
    if shards is None:
        return {}
    count, size_bytes = shards["count"], shards["sizeBytes"]
    names = [f"model-{number:05}-of-{count:05}.safetensors" for number in range(1, count + 1)]
    weight_map = {f"weight.{number}": name for number, name in enumerate(names)}
    index = {"metadata": {"total_size": count * size_bytes}, "weight_map": weight_map}
    is_named = shards.get("namedHash", False)
    files = {
        name: {"safetensors": size_bytes, "tensor": tensor, "namedHash": is_named}
        for tensor, name in weight_map.items()
    }
    return {**files, "model.safetensors.index.json": {"json": index}}
