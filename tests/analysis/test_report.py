"""The report: complete in itself, honest about what it leaves out, and closed to what comes from a run."""

from __future__ import annotations

import html.parser
import json
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from strata.analysis.report.command import make_report
from strata.analysis.report.content import ALL_TEXTS, LONG, SHORT, cut, sample
from strata.errors import UsageError

Make = Callable[..., Any]
HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    "</script><script>document.title='owned'</script><!-- <svg/onload=alert(1)> {{ 7*7 }} &amp; \u2028 '\" ]]>"
)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture
def report(results: Path, repository: Path) -> Callable[..., str]:
    """Make the report and return the page."""

    def make(*words: str) -> str:
        make_report([f"results_dir={results}", *words], repository)
        return (results / "report" / "index.html").read_text(encoding="utf-8")

    return make


class Page(html.parser.HTMLParser):
    """Elements with attributes, the text outside of scripts, and the embedded data."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.scripts: list[str] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - the parser passes it
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside != "style":
            self.words.append(data)

    @property
    def data(self) -> Any:
        return json.loads(self.scripts[0])

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def hostile_runs(make_run: Make) -> None:
    tasks = {f"heat {HOSTILE}": 100.0, "cool-2": 0.0, "clean-3": 0.0}
    categories = {f"heat {HOSTILE}": f"heat {HOSTILE}"}
    make_run(tasks, label=f"Memory {HOSTILE}", injected=HOSTILE, instruction=HOSTILE, categories=categories, name="run")


def test_it_holds_tables_pictures_runs_and_the_banner(three_memories: Make, report: Any) -> None:
    three_memories()
    page = Page(report())
    assert "SIMULATED." in page.text
    assert "Table 1. Scores by memory and environment" in page.text
    assert "98.6 ± 0.9‡" in page.text
    pictures = [attributes for tag, attributes in page.elements if tag == "img"]
    assert len(pictures) == 1
    assert str(pictures[0]["src"]).startswith("data:image/svg+xml;base64,")
    assert "No-Memory: clean" in str(pictures[0]["alt"])
    assert sum(tag == "details" and "data-run" in attributes for tag, attributes in page.elements) == 9
    assert len(page.data) == 9
    assert "36 episodes" not in page.text
    assert "9 runs, 108 episodes" in page.text


def test_it_asks_for_nothing_from_anywhere(three_memories: Make, report: Any) -> None:
    three_memories(seeds=(0,))
    text = report()
    page = Page(text)
    for tag, attributes in page.elements:
        assert tag not in {"link", "iframe", "object", "embed", "base", "form"}
        assert not any(name.startswith("on") or name == "style" for name in attributes)
        for name in ("src", "href", "srcset", "action"):
            assert str(attributes.get(name) or "#").startswith(("#", "data:image/svg+xml;base64,"))
    assert "@import" not in text
    assert "url(" not in text
    policy = next(str(a["content"]) for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_hostile_text_of_a_run_is_text_everywhere(make_run: Make, report: Any) -> None:
    hostile_runs(make_run)
    page = Page(report())
    assert [tag for tag, _ in page.elements].count("script") == 2
    assert all("onerror" not in attributes for _, attributes in page.elements)
    assert "Memory <script>document.title='owned'</script>" in page.text
    assert "49" not in re.findall(r"\{\{.*?\}\}|\b49\b", page.text)
    assert page.data[0]["texts"]["0"]["injected"] == HOSTILE
    assert "<" not in page.scripts[0]


def test_each_run_tells_its_facts_episodes_and_texts(make_run: Make, report: Any) -> None:
    make_run({"heat-1": 100, "heat-2": "env_error", "cool-1": 0}, settings={"memory.top_k": 7})
    data = Page(report()).data[0]
    assert ["memory.top_k", "7"] in data["settings"]
    assert ["env.textworld", "1.7.0"] in data["versions"]
    assert ["Protocol", "online"] in data["facts"]
    assert data["usage"] == [["act", 15, 2700, 150, "$0.00"]]
    assert [(episode["outcome"], episode["score"]) for episode in data["episodes"]] == [
        ("success", 100),
        ("env_error", None),
        ("failure", 0),
    ]
    turns = data["texts"]["0"]["turns"]
    assert [turn["action"] for turn in turns] == ["look", "open fridge 1"]
    assert turns[1]["malformed"] == ["no action here"]


def test_an_unknown_price_is_unknown_and_not_zero(make_run: Make, report: Any) -> None:
    path = make_run({"heat-1": 100, "heat-2": 0}, complete=False).path / "episodes.jsonl"
    path.write_text(path.read_text().replace('"cost": 0.0', '"cost": null', 1))
    text = report()
    assert Page(text).data[0]["usage"][0][4] == "unknown"
    assert "cost unknown" in Page(text).text


def test_texts_are_a_stated_sample_and_cut_to_length(make_run: Make, report: Any) -> None:
    tasks = {f"heat-{at:02}": 100.0 for at in range(20)}
    make_run(tasks, injected="x" * (LONG + 5), instruction="y" * (SHORT + 1))
    data = Page(report("episodes=3")).data[0]
    assert sorted(map(int, data["texts"])) == [0, 10, 19]
    assert ["Episodes with their texts", "3, evenly spread over the listed ones"] in data["facts"]
    texts = data["texts"]["10"]
    assert texts["injected"] == "x" * LONG + " [... 5 more characters]"
    assert texts["instruction"].endswith(" [... 1 more characters]")
    assert Page(report("episodes=0")).data[0]["texts"] == {}


def test_the_page_stays_bounded_however_long_the_texts(make_run: Make, report: Any, monkeypatch: Any) -> None:
    tasks = {f"heat-{at}": 100.0 for at in range(30)}
    make_run(tasks, injected="x" * LONG)
    monkeypatch.setattr("strata.analysis.report.build.ALL_TEXTS", 5 * LONG)
    data = Page(report("episodes=30")).data[0]
    assert 0 < len(data["texts"]) < 5
    assert ["Episodes with their texts", f"{len(data['texts'])}, evenly spread over the listed ones"] in data["facts"]
    assert ALL_TEXTS < 16_000_000


@pytest.mark.parametrize(
    ("count", "wanted", "expected"), [(5, 9, [0, 1, 2, 3, 4]), (0, 3, []), (9, 1, [0]), (9, 0, []), (9, 3, [0, 4, 8])]
)
def test_a_sample_is_evenly_spread(count: int, wanted: int, expected: list[int]) -> None:
    assert sample(count, wanted) == expected


def test_cutting_keeps_short_text_whole() -> None:
    assert cut("abc", 3) == "abc"
    assert cut("abcd", 3) == "abc [... 1 more characters]"


def test_unfinished_runs_replace_tables_by_what_is_missing(make_run: Make, report: Any) -> None:
    make_run({"heat-1": 100, "heat-2": None, "heat-3": None}, seed=7)
    page = Page(report())
    assert "Tables and figures cannot be shown: more than 2 %" in page.text
    assert "1 of 3 scored, 2 not run yet" in page.text
    assert "Table 1. Scores" not in page.text
    assert "unfinished: 2 without a score" in page.text
    allowed = Page(report("allow_partial=true"))
    assert "Table 1. Scores" in allowed.text
    assert "partial" in allowed.text


def test_a_missing_steps_file_is_named(make_run: Make, report: Any) -> None:
    from strata.errors import DataError

    path = make_run({"heat-1": 100}).path
    (path / "steps" / "00000.json").unlink()
    with pytest.raises(DataError, match=r"Cannot read .*00000\.json"):
        report()


def test_the_same_runs_give_the_same_page(three_memories: Make, report: Any) -> None:
    three_memories(seeds=(0,))
    assert report() == report()


def test_wrong_options_are_usage_errors(repository: Path) -> None:
    with pytest.raises(UsageError, match="episodes=-1 must be 0 to 1000"):
        make_report(["episodes=-1"], repository)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium."""
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine (Debian: chromium)")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    arguments = ["--no-sandbox", "--disable-background-networking", "--disable-dev-shm-usage"]
    with playwright.sync_playwright() as control:
        chromium = control.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser: Any, results: Path) -> Iterator[Callable[..., Any]]:
    """Open the report; any message on the console, error, dialog or request fails the test."""
    pages, trouble = [], []

    def visit(width: int = 1280) -> Any:
        page = browser.new_page(viewport={"width": width, "height": 900})
        pages.append(page)
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: trouble.append(dialog.message))
        page.on("request", lambda request: trouble.append(request.url) if request.url[:5] not in _LOCAL else None)
        page.goto((results / "report" / "index.html").as_uri())
        return page

    yield visit
    for page in pages:
        page.close()
    assert trouble == []


_LOCAL = ("file:", "data:")


def test_in_a_browser_a_run_opens_and_shows_trajectory_and_memory(
    three_memories: Make, report: Any, opened: Any
) -> None:
    three_memories(seeds=(0,))
    report()
    page = opened()
    assert page.title() == "STRATA-bench report"
    assert page.locator("img").evaluate("image => image.complete && image.naturalWidth > 100")
    run = page.locator("details.run", has_text="STRATA").first
    assert run.locator(".content").inner_text() == ""
    run.locator("summary").first.focus()
    page.keyboard.press("Enter")
    run.locator(".episodes tbody tr").first.wait_for()
    assert run.locator(".episodes tbody tr:not(.wide)").count() == 12
    assert run.locator("button").count() == 6
    run.locator("button").first.click()
    shown = run.locator(".trajectory").first.inner_text()
    assert "When heating, use the microwave." in shown
    assert "> open fridge 1" in shown
    run.locator("button").first.click()
    assert not run.locator(".trajectory").first.is_visible()


def test_in_a_browser_hostile_text_does_nothing(make_run: Make, report: Any, opened: Any) -> None:
    hostile_runs(make_run)
    report()
    page = opened()
    page.locator("details.run > summary").click()
    page.locator("details.run button").first.click()
    assert HOSTILE.partition("\u2028")[0] in page.locator(".trajectory .memory").first.text_content()
    page.wait_for_timeout(200)
    assert page.title() == "STRATA-bench report"
    assert page.locator("script").count() == 2


@pytest.mark.parametrize("width", [1280, 390])
def test_in_a_browser_the_page_is_never_wider_than_the_window(
    three_memories: Make, report: Any, opened: Any, width: int
) -> None:
    three_memories()
    report("show=all")
    page = opened(width)
    page.locator("details.run > summary").first.click()
    page.locator("details.run button").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_policy_of_the_page_blocks_what_was_not_written_into_it(
    three_memories: Make, report: Any, browser: Any, results: Path
) -> None:
    """The guard behind the escaping: a script or request that got in all the same is not carried out."""
    hits: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hits.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Keep the test's output clean."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        three_memories(seeds=(0,))
        target = f"http://127.0.0.1:{server.server_port}"
        text = report().replace(
            "</main>",
            f"</main><img src='{target}/image'><script>document.title='owned';fetch('{target}/fetch')</script>",
        )
        path = results / "report" / "injected.html"
        path.write_text(text, encoding="utf-8")
        page = browser.new_page()
        page.goto(path.as_uri())
        page.wait_for_timeout(300)
        assert page.title() == "STRATA-bench report"
        assert hits == []
        page.close()
    finally:
        server.shutdown()
        server.server_close()
