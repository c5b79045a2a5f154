"""litellm over real HTTP against a local server: what is sent, what comes back, what goes wrong and how it is said."""

from __future__ import annotations

import json
import logging
import socket
import struct
import subprocess
import sys
import textwrap
import threading
import time
import traceback
from dataclasses import dataclass, field
from email.utils import formatdate

import pytest
from werkzeug import Response

from strata.backbone.litellm import LitellmBackbone
from strata.errors import (
    BackboneRefused,
    ContextOverflow,
    QuotaExhausted,
    TransientBackboneError,
    UsageError,
)
from strata.types import Message, Sampling

SECRET = "sk-" + "planted-0123456789abcdef"
CHAT = [Message("system", "You act."), Message("user", "Go.")]
USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "total_tokens": 120,
    "prompt_tokens_details": {"cached_tokens": 40},
    "completion_tokens_details": {"reasoning_tokens": 5},
}


def answer(text="Thought: a\nAction: look", finish="stop", usage=USAGE, model="served-1", **message):
    body = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
        ],
    }
    return 200, body | ({"usage": usage} if usage else {}), {}


def fault(status, message, headers=None, **more):
    return status, {"error": {"message": message, **more}}, headers or {}


@dataclass
class Server:
    """Gives scripted answers in order, the last one again and again, and keeps what it was asked."""

    answers: list = field(default_factory=lambda: [answer()])
    asked: list = field(default_factory=list)

    def __call__(self, request):
        self.asked.append(request)
        status, body, headers = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        text = body if isinstance(body, str) else json.dumps(body)
        return Response(text, status=status, headers=headers, content_type="application/json")

    @property
    def bodies(self):
        return [request.get_json(force=True) for request in self.asked]


@pytest.fixture
def server(httpserver):
    script = Server()
    httpserver.expect_request("/v1/chat/completions", method="POST").respond_with_handler(script)
    return script


@pytest.fixture
def build(httpserver, monkeypatch):
    """Builds a backbone for the server. Its waits are kept instead of slept."""
    monkeypatch.setenv("TEST_ENDPOINT_KEY", SECRET)

    def make(seed=0, **config):
        config = {
            "model": "openai/m1",
            "api_base": httpserver.url_for("/v1"),
            "api_key_env": "TEST_ENDPOINT_KEY",
        } | config
        backbone = LitellmBackbone.build(config, seed=seed)
        backbone.waits = []
        backbone._caller._sleep = backbone.waits.append
        return backbone

    return make


def ask(backbone, sampling=Sampling(), repeat=0, messages=CHAT):  # noqa: B008
    return backbone.complete(messages, sampling=sampling, purpose="act", repeat=repeat)


def test_reply_holds_text_usage_served_model_and_finish(server, build):
    reply = ask(build(price={"kind": "known", "input": 1.0, "output": 10.0, "cached": 0.5}))
    assert (reply.text, reply.finish, reply.model) == ("Thought: a\nAction: look", "stop", "served-1")
    usage = reply.usage
    assert (usage.calls, usage.input_tokens, usage.output_tokens) == (1, 100, 20)
    assert (usage.cached_tokens, usage.reasoning_tokens) == (40, 5)
    assert usage.cost == pytest.approx((60 * 1.0 + 40 * 0.5 + 20 * 10.0) / 1e6)
    assert len(server.asked) == 1


def test_sampling_parameters_are_sent_and_nothing_else(server, build):
    ask(build(), Sampling(temperature=0.3, max_tokens=77, top_p=0.9, seed=11, stop=("END", "STOP")))
    assert server.bodies[0] == {
        "model": "m1",
        "messages": [{"role": "system", "content": "You act."}, {"role": "user", "content": "Go."}],
        "temperature": 0.3,
        "max_tokens": 77,
        "top_p": 0.9,
        "seed": 11,
        "stop": ["END", "STOP"],
    }
    assert server.asked[0].headers["Authorization"] == f"Bearer {SECRET}"


def test_parameters_left_to_the_provider_are_not_sent(server, build):
    ask(build(), Sampling(temperature=None, max_tokens=None))
    assert set(server.bodies[0]) == {"model", "messages"}


def test_temperature_zero_is_sent(server, build):
    ask(build(), Sampling(temperature=0.0, max_tokens=None))
    assert server.bodies[0]["temperature"] == 0.0


@pytest.mark.parametrize("model", ["openai/m1", "hosted_vllm/m1", "llamafile/m1", "lm_studio/m1"])
def test_openai_compatible_providers_reach_the_server(server, build, model):
    reply = ask(build(model=model), Sampling(temperature=0.5, max_tokens=9))
    assert reply.text == "Thought: a\nAction: look"
    assert (server.bodies[0]["model"], server.bodies[0]["temperature"]) == ("m1", 0.5)


def test_ollama_is_reached_in_its_own_language(httpserver, build):
    script = Server(
        [
            (
                200,
                {
                    "model": "m1",
                    "created_at": "2025-01-01T00:00:00Z",
                    "message": {"role": "assistant", "content": "Action: look"},
                    "done": True,
                    "done_reason": "stop",
                    "prompt_eval_count": 30,
                    "eval_count": 4,
                },
                {},
            )
        ]
    )
    httpserver.expect_request("/api/chat", method="POST").respond_with_handler(script)
    backbone = build(model="ollama_chat/m1", api_base=httpserver.url_for("").rstrip("/"), price={"kind": "free"})
    reply = ask(backbone, Sampling(temperature=0.5, max_tokens=9, seed=3))
    assert reply.text == "Action: look"
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.cost) == (30, 4, 0.0)
    options = script.bodies[0]["options"]
    assert (options["temperature"], options["num_predict"], options["seed"]) == (0.5, 9, 3)


def test_extra_parameters_are_sent(server, build):
    ask(build(extra={"extra_body": {"top_k": 5, "repetition_penalty": 1.1}}))
    assert (server.bodies[0]["top_k"], server.bodies[0]["repetition_penalty"]) == (5, 1.1)


def test_run_seed_is_sent_only_when_asked_for_and_differs_by_repeat(server, build):
    ask(build(seed=40))
    ask(build(seed=40, send_seed=True))
    ask(build(seed=40, send_seed=True), repeat=2)
    ask(build(seed=40, send_seed=True), Sampling(seed=7))
    assert [body.get("seed") for body in server.bodies] == [None, 40, 42, 7]


def test_parameter_that_the_model_does_not_take_is_an_error_not_dropped(server, build, monkeypatch):
    monkeypatch.setenv("LITELLM_DROP_PARAMS", "true")
    backbone = build(model="openai/o3-mini", extra={"temperature_typo": 1} | {"reasoning_effort": "low"})
    with pytest.raises(BackboneRefused, match="temperature"):
        ask(backbone, Sampling(temperature=0.2))
    assert server.asked == []


@pytest.mark.parametrize(
    ("finish", "message", "expected"),
    [
        ("stop", {}, "stop"),
        ("length", {}, "length"),
        ("content_filter", {}, "refusal"),
        ("stop", {"refusal": "I will not."}, "refusal"),
        ("tool_calls", {}, "stop"),
    ],
)
def test_finish_reasons(server, build, finish, message, expected):
    server.answers = [answer(finish=finish, **message)]
    assert ask(build()).finish == expected


def test_reply_without_content_is_empty_text(server, build):
    server.answers = [answer(text=None, finish="length")]
    reply = ask(build())
    assert (reply.text, reply.finish) == ("", "length")


def test_reply_with_a_lone_surrogate_can_be_written_to_a_file(server, build):
    server.answers = [answer(text="look \ud83d")]
    assert ask(build()).text.encode("utf-8") == b"look ?"


FIELDS = {
    "model": ({"model": "openai/m2"}, {}),
    "extra": ({"extra": {"extra_body": {"top_k": 1}}}, {}),
    "run seed": ({"send_seed": True, "seed": 5}, {}),
    "temperature": ({}, {"sampling": Sampling(temperature=0.1)}),
    "no temperature": ({}, {"sampling": Sampling(temperature=None)}),
    "max_tokens": ({}, {"sampling": Sampling(max_tokens=5)}),
    "top_p": ({}, {"sampling": Sampling(top_p=0.5)}),
    "seed": ({}, {"sampling": Sampling(seed=1)}),
    "stop": ({}, {"sampling": Sampling(stop=("a",))}),
    "stop split": ({}, {"sampling": Sampling(stop=("a", "b"))}),
    "repeat": ({}, {"repeat": 1}),
    "role": ({}, {"messages": [Message("user", "You act."), Message("user", "Go.")]}),
    "content": ({}, {"messages": [Message("system", "You act!"), Message("user", "Go.")]}),
    "one message less": ({}, {"messages": CHAT[1:]}),
    "order": ({}, {"messages": CHAT[::-1]}),
}


def test_every_field_of_a_request_changes_its_key(server, build):
    keys = {"base": ask(build()).request_key}
    for name, (config, call) in FIELDS.items():
        keys[name] = ask(build(**config), **call).request_key
    assert len(set(keys.values())) == len(keys)
    assert all(len(key) == 64 for key in keys.values())
    assert ask(build(timeout=5, max_retries=0)).request_key == keys["base"]
    assert len(server.asked) == len(keys) + 1


@pytest.mark.parametrize(
    ("price", "cost"),
    [
        ({"kind": "unknown"}, None),
        ({"kind": "free"}, 0.0),
        ({"kind": "auto"}, None),
        ({"kind": "known", "input": 2, "output": 0}, 0.0002),
    ],
    ids=str,
)
@pytest.mark.usefixtures("server")
def test_unknown_price_is_unknown_not_zero(build, price, cost):
    assert ask(build(price=price)).usage.cost == (None if cost is None else pytest.approx(cost))


def test_listed_price_is_used_at_the_provider_itself_only(build, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    listed = LitellmBackbone.build({"model": "openai/gpt-4o-mini"}, seed=0).prices()
    assert listed is not None
    assert (listed.input, listed.output, listed.cached) == (0.15e-6, 0.6e-6, 0.075e-6)
    assert LitellmBackbone.build({"model": "openai/no-such-model"}, seed=0).prices() is None
    assert build(model="openai/gpt-4o-mini").prices() is None
    assert LitellmBackbone.build({"model": "ollama/llama3"}, seed=0).prices() is None


def test_endpoint_without_usage_gets_an_estimate_at_unknown_cost_and_one_warning(server, build, caplog):
    server.answers = [answer(usage=None)]
    backbone = build(price={"kind": "known", "input": 1, "output": 1})
    with caplog.at_level(logging.WARNING):
        usage = [ask(backbone).usage for _ in range(2)][1]
    assert usage.input_tokens > 0
    assert usage.output_tokens > 0
    assert usage.cost is None
    assert caplog.text.count("reports no token usage") == 1


REFUSED = [
    (fault(401, f"Incorrect API key provided: {SECRET}"), r"does not accept the key.*TEST_ENDPOINT_KEY"),
    (fault(403, "forbidden"), r"does not accept the key.*TEST_ENDPOINT_KEY"),
    (fault(404, "The model m1 does not exist"), r"was not found: The model m1 does not exist.*backbone\.model"),
    (fault(400, "top_p must be above 0"), r"rejects the request: top_p must be above 0"),
    (fault(422, "unprocessable"), r"rejects the request"),
]


@pytest.mark.parametrize(
    ("fault_", "message"), REFUSED, ids=lambda value: str(value[0]) if isinstance(value, tuple) else ""
)
def test_refused_request_is_said_clearly_and_never_retried(server, build, fault_, message):
    server.answers = [fault_]
    with pytest.raises(BackboneRefused, match=message) as caught:
        ask(build())
    assert len(server.asked) == 1
    assert len(str(caught.value).splitlines()) == 1
    assert "litellm" not in str(caught.value)
    assert caught.value.exit_code == 1


@pytest.mark.parametrize(
    "fault_",
    [
        fault(400, "This model's maximum context length is 4096 tokens.", code="context_length_exceeded"),
        fault(
            400, "the request exceeds the available context size, try increasing it", type="exceed_context_size_error"
        ),
        fault(400, "prompt is too long: 210000 tokens > 200000 maximum"),
    ],
    ids=["openai and vllm", "llama.cpp", "anthropic"],
)
def test_context_overflow_is_not_retried(server, build, fault_):
    server.answers = [fault_]
    with pytest.raises(ContextOverflow, match="too long"):
        ask(build())
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "fault_",
    [
        fault(429, "You exceeded your current quota, please check your plan", code="insufficient_quota"),
        fault(402, "Insufficient Balance"),
        fault(400, "Your credit balance is too low to access the API."),
        fault(429, "Rate limit", {"Retry-After": "3600"}),
    ],
    ids=["openai", "deepseek", "anthropic", "wait an hour"],
)
def test_exhausted_quota_pauses_instead_of_failing_tasks(server, build, fault_):
    server.answers = [fault_]
    with pytest.raises(QuotaExhausted, match=r"[Ss]tart the same command again") as caught:
        ask(build())
    assert len(server.asked) == 1
    assert caught.value.exit_code == 3


def test_content_filter_is_a_refusal_not_an_error(server, build):
    server.answers = [fault(400, "The response was filtered", code="content_policy_violation")]
    reply = ask(build(price={"kind": "free"}))
    assert (reply.text, reply.finish, reply.usage.calls) == ("", "refusal", 1)


BROKEN = {
    "429": fault(429, "slow down"),
    "500": fault(500, "oops"),
    "502 html": (502, "<html>bad gateway</html>", {}),
    "503": fault(503, "model is loading"),
    "529": fault(529, "overloaded"),
    "408": fault(408, "timeout"),
    "cut json": (200, '{"id": "x", "choi', {}),
    "html": (200, "<html>hello</html>", {}),
    "no choices": (200, {"id": "x", "object": "chat.completion", "model": "m", "choices": []}, {}),
    "other json": (200, {"hello": 1}, {}),
    "a list": (200, [1, 2], {}),
    "empty": (200, "", {}),
}


@pytest.mark.parametrize("name", BROKEN)
def test_passing_failure_is_retried_and_then_answered(server, build, name):
    server.answers = [BROKEN[name], BROKEN[name], answer()]
    backbone = build()
    assert ask(backbone).text == "Thought: a\nAction: look"
    assert len(server.asked) == 3
    assert len(backbone.waits) == 2


@pytest.mark.parametrize("name", ["429", "500", "cut json", "no choices"])
def test_lasting_failure_is_raised_after_the_retries(server, build, name):
    server.answers = [BROKEN[name]]
    with pytest.raises(TransientBackboneError):
        ask(build(max_retries=3))
    assert len(server.asked) == 4


def test_429_storms_are_not_multiplied_by_inner_retries(server, build):
    server.answers = [BROKEN["429"]]
    with pytest.raises(TransientBackboneError):
        ask(build(max_retries=0))
    assert len(server.asked) == 1


def test_waits_grow_and_each_retry_is_said(server, build, caplog):
    server.answers = [*[BROKEN["500"]] * 4, answer()]
    backbone = build()
    with caplog.at_level(logging.WARNING):
        ask(backbone)
    assert [1 <= backbone.waits[0] <= 2, 2 <= backbone.waits[1] <= 3, 4 <= backbone.waits[2] <= 5] == [True] * 3
    assert caplog.text.count("Trying again in") == 4


@pytest.mark.parametrize("header", ["7", "7.0", "date"])
def test_retry_after_is_honoured(server, build, header):
    value = formatdate(time.time() + 8, usegmt=True) if header == "date" else header
    server.answers = [fault(429, "slow down", {"Retry-After": value}), answer()]
    backbone = build()
    ask(backbone)
    assert backbone.waits == [pytest.approx(7, abs=1.5)]


def test_retry_after_that_cannot_be_read_falls_back_to_growing_waits(server, build):
    server.answers = [fault(503, "busy", {"Retry-After": "soon"}), answer()]
    backbone = build()
    ask(backbone)
    assert 1 <= backbone.waits[0] <= 2


def test_slow_server_times_out_and_is_tried_again(httpserver, build):
    calls = []

    def slow_then_fast(request):
        calls.append(request)
        if len(calls) == 1:
            time.sleep(1.0)
        return Server()(request)

    httpserver.expect_request("/v1/chat/completions").respond_with_handler(slow_then_fast)
    assert ask(build(timeout=0.8)).finish == "stop"
    assert len(calls) == 2


def test_connection_reset_midway_is_tried_again(build):
    listener = socket.create_server(("127.0.0.1", 0))
    resets = []

    def reset():
        for _ in range(2):
            connection, _ = listener.accept()
            resets.append(connection.recv(100))
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()

    thread = threading.Thread(target=reset, daemon=True)
    thread.start()
    with listener, pytest.raises(BackboneRefused, match="Is the server running"):
        ask(build(api_base=f"http://127.0.0.1:{listener.getsockname()[1]}/v1"))
    thread.join(timeout=5)
    assert len(resets) == 2


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/v1", "http://example.invalid/v1"])
def test_unreachable_endpoint_is_refused_soon_with_its_address(build, address):
    backbone = build(api_base=address, max_retries=50)
    with pytest.raises(BackboneRefused, match="Is the server running at " + address.replace(".", r"\.")):
        ask(backbone)
    assert len(backbone.waits) == 1


@pytest.mark.usefixtures("server")
def test_endpoint_that_goes_away_later_is_a_passing_failure(build, httpserver):
    backbone = build(max_retries=2)
    ask(backbone)
    httpserver.stop()
    try:
        with pytest.raises(TransientBackboneError):
            ask(backbone)
    finally:
        httpserver.start()
    assert len(backbone.waits) == 2


def test_model_without_provider_says_what_to_write(build):
    with pytest.raises(BackboneRefused, match="Write provider/model, such as openai/llama-3"):
        ask(build(model="llama-3"))


def test_key_is_in_no_message_log_output_or_traceback(server, build, caplog, capsys):
    server.answers = [fault(500, f"key {SECRET} failed"), fault(401, f"Incorrect API key provided: {SECRET}")]
    backbone = build()
    with caplog.at_level(logging.DEBUG), pytest.raises(BackboneRefused) as caught:
        ask(backbone)
    seen = "".join(traceback.format_exception(caught.value)) + caplog.text + "".join(capsys.readouterr())
    seen += repr(caught.value.__context__) + repr(backbone) + repr(vars(backbone)) + repr(backbone._settings)
    assert "[key]" in seen
    assert SECRET not in seen
    assert server.asked[0].headers["Authorization"].endswith(SECRET)


def test_key_in_a_variable_of_any_name_is_in_no_message(server, build, monkeypatch):
    monkeypatch.delenv("TEST_ENDPOINT_KEY")
    monkeypatch.setenv("MY_SERVER", f" {SECRET} ")
    for length in (0, 300, 340, 360, 380):  # long messages are cut
        server.answers = [fault(401, f"{'x' * length} Incorrect API key: {SECRET}")]
        with pytest.raises(BackboneRefused) as caught:
            ask(build(api_key_env="MY_SERVER"))
        assert SECRET[:8] not in str(caught.value)


def test_key_of_a_provider_is_not_sent_to_another_server(server, build, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    ask(build(api_key_env=None))
    assert SECRET not in str(server.asked[0].headers)


@pytest.mark.parametrize(
    ("model", "variable"),
    [("openai/gpt-4o-mini", "OPENAI_API_KEY"), ("anthropic/claude-3-5-haiku-20241022", "ANTHROPIC_API_KEY")],
)
def test_missing_key_of_a_provider_is_named_without_a_retry(monkeypatch, model, variable):
    monkeypatch.delenv(variable, raising=False)
    backbone = LitellmBackbone.build({"model": model}, seed=0)
    message = f"There is no key for {model}.*Set in the environment: {variable}"
    with pytest.raises(BackboneRefused, match=message) as caught:
        ask(backbone)
    assert len(str(caught.value)) < 200


def test_missing_key_variable_is_named_before_any_call(monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY_VARIABLE", raising=False)
    with pytest.raises(UsageError, match=r"NO_SUCH_KEY_VARIABLE.*is not set.*export NO_SUCH_KEY_VARIABLE"):
        LitellmBackbone.build({"model": "openai/m", "api_key_env": "NO_SUCH_KEY_VARIABLE"}, seed=0)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "model is not set"),
        ({"model": " "}, "model is not set"),
        ({"model": "openai/m", "api_base": "localhost:8000"}, "http or https address"),
        ({"model": "openai/m", "api_base": "http://me:pw@localhost/v1"}, "user name or password"),
        ({"model": "openai/m", "api_key_env": SECRET}, "not the key itself"),
        ({"model": "openai/m", "timeout": 0}, "timeout=0"),
        ({"model": "openai/m", "max_retries": -1}, "max_retries=-1"),
        ({"model": "openai/m", "extra": {"temperature": 1}}, "extra.temperature"),
        ({"model": "openai/m", "extra": {"extra_headers": {"x": "y"}}}, "headers may hold keys"),
        ({"model": "bedrock/m", "extra": {"aws_secret_access_key": "y"}}, "looks like a secret"),
        ({"model": "openai/m", "extra": {"api_key": "y"}}, "looks like a secret"),
        ({"model": "openai/m", "price": {"kind": "known", "input": 1}}, "price.*input and output"),
        ({"model": "openai/m", "price": {"input": 1, "output": 1}}, "price.*input and output"),
        ({"model": "openai/m", "price": {"kind": "known", "input": -1, "output": 1}}, "at least 0"),
        ({"model": "openai/m", "temperature": 1}, "backbone.temperature: unknown key"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_configuration_is_a_usage_error(config, message):
    with pytest.raises(UsageError, match=message) as caught:
        LitellmBackbone.build(config, seed=0)
    assert SECRET not in str(caught.value)


GUARDED = """
    import json, os, socket, sys, threading
    from http.server import BaseHTTPRequestHandler, HTTPServer
    outside = []
    real_connect, real_resolve = socket.socket.connect, socket.getaddrinfo
    def local(host):
        return host in ("127.0.0.1", "::1", "localhost", None)
    def connect(self, address):
        if isinstance(address, tuple) and not local(address[0]):
            outside.append(address)
            raise OSError("blocked")
        return real_connect(self, address)
    def resolve(host, *rest, **more):
        if not local(host.decode() if isinstance(host, bytes) else host):
            outside.append(host)
            raise socket.gaierror("blocked")
        return real_resolve(host, *rest, **more)
    socket.socket.connect = socket.socket.connect_ex = connect
    socket.getaddrinfo = resolve
    for name in list(os.environ):
        if name.startswith("LITELLM"):
            del os.environ[name]
    os.chdir(sys.argv[1])
    open(".env", "w").write("OPENAI_API_KEY=sk-from-dotenv-file\\n")

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args): pass
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            body = json.dumps({"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hello"}}]}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    from strata.backbone.litellm import LitellmBackbone
    from strata.types import Message, Sampling
    assert "litellm" not in sys.modules
    base = f"http://127.0.0.1:{server.server_port}/v1"
    said = []
    for model in ("openai/m", "hosted_vllm/meta-llama/Llama-3-8B", "openai/gpt-4o-mini"):
        backbone = LitellmBackbone.build({"model": model, "api_base": base}, seed=0)
        said.append(backbone.complete([Message("user", "hi")], sampling=Sampling(), purpose="act").text)
        backbone.prices()
    LitellmBackbone.build({"model": "anthropic/claude-3-5-sonnet-20240620"}, seed=0).prices()
    print(json.dumps({"said": said, "outside": [str(x) for x in outside], "dotenv": "OPENAI_API_KEY" in os.environ}))
"""


def test_nothing_calls_home_at_import_or_at_run(tmp_path):
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(GUARDED), str(tmp_path)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found == {"said": ["hello"] * 3, "outside": [], "dotenv": False}
