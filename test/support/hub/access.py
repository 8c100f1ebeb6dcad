"""Who may read what, and what the hub says to the others."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Refusal(Exception):
    """`code` goes out as X-Error-Code, `message` as X-Error-Message. Source: huggingface_hub 2.4.0, utils/_http.py."""

    status: int
    code: str
    message: str


def token_of(headers):
    """The bearer token; None: none was sent."""
    kind, _, token = headers.get("Authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" and token.strip() else None


def demand_sight(repository, token, invalid_tokens):
    """Raises what is said to one who may not know that the repository exists; returns it otherwise."""
    if token in invalid_tokens:
        raise Refusal(401, "", "Invalid credentials in Authorization header")
    if repository is None or (repository.is_private and token not in repository.tokens):
        # A missing and a private one look the same, and without a token it is a 401.
        raise Refusal(401 if token is None else 404, "RepoNotFound", "Repository not found")
    return repository


def demand_files(repository, token):
    """Raises GatedRepo: lists of a gated repository are public, its files are not."""
    if repository.is_gated and token not in repository.tokens:
        text = f"Access to model {repository.name} is restricted and you are not in the authorized list."
        raise Refusal(401 if token is None else 403, "GatedRepo", text)


def demand_revision(repository, name):
    revision = repository.revision(name)
    if revision is None:
        raise Refusal(404, "RevisionNotFound", f"Invalid rev id: {name}")
    return revision


def demand_entry(revision, path):
    file = revision.files.get(path)
    if file is None:
        raise Refusal(404, "EntryNotFound", "Entry not found")
    return file
