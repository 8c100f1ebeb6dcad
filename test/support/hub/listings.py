"""Answers of the hub's API: what a repository is, which files a revision has, a page at a time."""

from urllib.parse import parse_qs, urlencode

from . import access

PAGE_ENTRIES = 1000


def info(repository, revision):
    return {
        "id": repository.name,
        "modelId": repository.name,
        "sha": revision.sha,
        "private": repository.is_private,
        "gated": "manual" if repository.is_gated else False,
        "tags": [],
        "siblings": [{"rfilename": path} for path in revision.files],
    }


def refs(repository):
    named = [
        {"name": name, "ref": f"refs/heads/{name}", "targetCommit": sha}
        for name, sha in repository.refs.items()
    ]
    return {"branches": named, "tags": [], "converts": []}


def paths_info(revision, paths):
    """Entries of the named files and folders; a name that is not there has none."""
    entries = {entry["path"]: entry for entry in _entries(revision, "", True)}
    return [entries[path] for path in paths if path in entries]


def tree(revision, folder, query, url, page_entries):
    """(entries, value of the Link header or None): `url` is that of this page, without its query."""
    asked = {name: values[-1] for name, values in parse_qs(query).items()}
    entries = _entries(revision, folder, asked.get("recursive", "").lower() in ("true", "1"))
    if folder and not entries:
        raise access.Refusal(404, "EntryNotFound", f"{folder} does not exist")
    start = int(asked.get("cursor", 0))
    end = start + min(page_entries, int(asked.get("limit", page_entries)))
    if end >= len(entries):
        return entries[start:], None
    return entries[start:end], '<{}?{}>; rel="next"'.format(url, urlencode({**asked, "cursor": end}))


def _entries(revision, folder, is_recursive):
    """Files and folders below `folder`, a folder before what it holds."""
    top = folder.strip("/") + "/" if folder.strip("/") else ""
    entries = {}
    for path, file in revision.files.items():
        if not path.startswith(top):
            continue
        names = path[len(top) :].split("/")
        parents = [top + "/".join(names[:depth]) for depth in range(1, len(names))]
        for parent in parents if is_recursive else parents[:1]:
            entries.setdefault(parent, {"type": "directory", "path": parent, "size": 0, "oid": "0" * 40})
        if is_recursive or len(names) == 1:
            entries[path] = file.entry()
    return list(entries.values())
