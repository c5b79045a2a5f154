"""What must not lie in the repository: secrets, paths of one machine, hosts nobody chose, large files."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECRETS = {
    "key of a model provider": re.compile(r"\b(sk|pk|rk|gsk|xai|hf)[-_](?=[A-Za-z0-9_-]*\d)[A-Za-z0-9_-]{24,}"),
    "key of a cloud": re.compile(r"\b(AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{35})\b"),
    "token of a code host": re.compile(r"\bgh[pousr]_[A-Za-z0-9]{30,}\b"),
    "private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE" + r" KEY-----"),
}
MACHINE_PATHS = re.compile(r"(?<![\w.~$}])/(?:home|Users|root|work)/[\w.-]+")
ALLOWED_HOSTS = {
    *("localhost", "127.0.0.1", "example.com", "files.example.org", "example.invalid"),
    *("www.apache.org", "www.w3.org", "arxiv.org", "github.com"),
}


def tracked() -> list[Path]:
    listing = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=False)
    if listing.returncode:
        pytest.skip("not a git checkout: what is tracked cannot be told")
    return [ROOT / name for name in listing.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def texts() -> list[tuple[str, str]]:
    found = []
    for path in tracked():
        content = path.read_bytes()
        if b"\0" not in content[:8000]:
            found.append((str(path.relative_to(ROOT)), content.decode("utf-8")))
    return found


def hosts(text: str) -> set[str]:
    """Hosts named in URLs; placeholders such as `http://{host}` and `$WA_SHOPPING` are no hosts."""
    urls = re.findall(r"\b(?:https?|wss?)://[^\s\"'`<>)\]}]+", text)
    names = (urlsplit(url).netloc.rpartition("@")[2].partition(":")[0] for url in urls)
    return {name for name in names if name and re.fullmatch(r"[\w.-]+", name)}


def test_no_api_key_in_any_file() -> None:
    found = [f"{path}: {what}" for path, text in texts() for what, form in SECRETS.items() if form.search(text)]
    assert not found, "\n".join(found)


def test_the_search_for_keys_finds_one() -> None:
    planted = {
        "key of a model provider": "sk-" + "proj-abcDEF0123456789abcDEF0123",
        "key of a cloud": "AKIA" + "ABCDEFGHIJKLMNOP",
        "token of a code host": "ghp_" + "a1" * 18,
        "private key": "-----BEGIN RSA PRIVATE" + " KEY-----",
    }
    assert all(SECRETS[what].search(f"key = {text}") for what, text in planted.items())


def test_no_path_of_one_machine_in_any_file() -> None:
    found = [f"{path}: {match}" for path, text in texts() for match in MACHINE_PATHS.findall(text)]
    assert not found, "\n".join(found)


def test_every_host_that_is_named_is_a_chosen_one() -> None:
    found = [f"{path}: {host}" for path, text in texts() for host in sorted(hosts(text) - ALLOWED_HOSTS)]
    assert not found, "\n".join(found)
    assert hosts("see https://files.example.org/x and http://127.0.0.1:80") == {"files.example.org", "127.0.0.1"}


def test_no_large_file_and_no_data_of_others() -> None:
    sizes = {str(path.relative_to(ROOT)): path.stat().st_size for path in tracked()}
    assert not [f"{name}: {size} bytes" for name, size in sizes.items() if size > 2_000_000]
    assert not [name for name in sizes if name.endswith((".tw-pddl", ".tar.gz", ".db", ".pkl", ".jar"))]
