"""A model that follows a script: it answers the four model APIs on loopback and remembers what it was told.

A step is a tool and its arguments; the arguments may be worked out from the results so far. When the script is done the
model says FINAL and the client ends.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Arguments = dict | Callable[[list[str]], dict]
Step = tuple[str, Arguments]


class MockModel:
    """The script, the tools that the client offered, and the results that it reported."""

    def __init__(self, steps: list[Step]) -> None:
        self.steps = steps
        self.results: list[str] = []
        self.offered: list[str] = []
        self.system = ""
        self.failure = ""
        self.url = ""

    def next(self, names: list[str], results: list[str]) -> tuple[str, dict] | None:
        """The call to make after these results; None when the script is done or no tools are offered."""
        if not names:
            return None
        self.offered = names
        self.results = results if len(results) >= len(self.results) else self.results
        if len(results) >= len(self.steps):
            return None
        wanted, arguments = self.steps[len(results)]
        name = next((name for name in names if name == wanted or name.endswith(wanted)), wanted)
        try:
            return name, arguments(results) if callable(arguments) else arguments
        except AssertionError as error:  # the script ends here, and the test says why
            self.failure = str(error)
            return None

    def anthropic(self, body: dict) -> Iterator[dict]:
        results = [
            _text(part.get("content"))
            for message in body["messages"]
            if isinstance(message["content"], list)
            for part in message["content"]
            if part.get("type") == "tool_result"
        ]
        self.system = json.dumps(body.get("system", "")) + json.dumps(body["messages"])
        call = self.next([tool["name"] for tool in body.get("tools", [])], results)
        usage = {"input_tokens": 1, "output_tokens": 1}
        head = {"id": "m", "type": "message", "role": "assistant", "model": body.get("model"), "content": []}
        yield {"type": "message_start", "message": {**head, "stop_reason": None, "usage": usage}}
        if call:
            block = {"type": "tool_use", "id": f"toolu_{len(results)}", "name": call[0], "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
        else:
            block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": "FINAL"}
        yield {"type": "content_block_start", "index": 0, "content_block": block}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
        stop = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
        yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 5}}
        yield {"type": "message_stop"}

    def responses(self, body: dict) -> Iterator[dict]:
        def flat(tools: list[dict], space: str | None = None) -> Iterator[tuple[str | None, str]]:
            for tool in tools:
                if tool.get("type") == "namespace":
                    yield from flat(tool.get("tools", []), tool.get("name"))
                elif tool.get("name"):
                    yield space, tool["name"]

        offered = list(flat(body.get("tools", [])))
        results = [
            _text(item.get("output"))
            for item in body["input"]
            if item.get("type") in ("function_call_output", "custom_tool_call_output")
        ]
        self.system = json.dumps([body.get("instructions"), body["input"], body.get("tools")])
        call = self.next([name for _, name in offered], results)
        yield {"type": "response.created", "response": {"id": "r"}}
        if call:
            item = {
                "type": "function_call", "id": f"fc{len(results)}", "call_id": f"call{len(results)}",
                "name": call[0], "arguments": json.dumps(call[1]),
            }  # fmt: skip
            space = next((space for space, name in offered if name == call[0]), None)
            item |= {"namespace": space} if space else {}
        else:
            content = [{"type": "output_text", "text": "FINAL"}]
            item = {"type": "message", "id": "m", "role": "assistant", "content": content}
        yield {"type": "response.output_item.done", "output_index": 0, "item": item}
        usage = {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1,
                 "output_tokens_details": None, "total_tokens": 2}  # fmt: skip
        yield {"type": "response.completed", "response": {"id": "r", "usage": usage}}

    def chat(self, body: dict) -> Iterator[dict]:
        results = [_text(message["content"]) for message in body["messages"] if message["role"] == "tool"]
        self.system = json.dumps([message for message in body["messages"] if message["role"] == "system"])
        call = self.next([tool["function"]["name"] for tool in body.get("tools", [])], results)
        base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": body.get("model")}
        delta: dict = {"role": "assistant", "content": "FINAL"}
        if call:
            function = {"name": call[0], "arguments": json.dumps(call[1])}
            calls = [{"index": 0, "id": f"call_{len(results)}", "type": "function", "function": function}]
            delta = {"role": "assistant", "tool_calls": calls}
        yield {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        yield {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if call else "stop"}]}

    def gemini(self, body: dict) -> dict:
        names = [each["name"] for tool in body.get("tools", []) for each in tool.get("functionDeclarations", [])]
        results = [
            json.dumps(part["functionResponse"].get("response"), ensure_ascii=False)
            for content in body["contents"]
            for part in content.get("parts", [])
            if "functionResponse" in part
        ]
        self.system = json.dumps(body.get("systemInstruction", "")) + json.dumps(body["contents"])
        call = self.next(names, results)
        part = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": "FINAL"}
        content = {"role": "model", "parts": [part]}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}


def _text(content: object) -> str:
    """A tool's result as the client tells the model, whatever its shape."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(_text(part.get("text", part)) if isinstance(part, dict) else str(part) for part in content)
    return json.dumps(content, ensure_ascii=False)


def _handler(model: MockModel) -> type[BaseHTTPRequestHandler]:
    routes: dict[str, Callable] = {
        "/messages": lambda handler, body: handler._stream(model.anthropic(body), is_named=True),
        "/responses": lambda handler, body: handler._stream(model.responses(body), is_named=True),
        "/chat/completions": lambda handler, body: handler._stream(model.chat(body), is_done=True),
        "streamGenerateContent": lambda handler, body: handler._stream(iter([model.gemini(body)])),
        "generateContent": lambda handler, body: handler._json(model.gemini(body)),
    }

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
            path = self.path.split("?")[0]
            answer = next((answer for ending, answer in routes.items() if path.endswith(ending)), None)
            if answer is None:
                self._json({"totalTokens": 10, "input_tokens": 10})
            else:
                answer(self, body)

        def do_GET(self) -> None:
            self._json({})

        do_HEAD = do_GET  # noqa: N815 - the standard library names it

        def _json(self, value: dict) -> None:
            self._send(json.dumps(value).encode(), "application/json")

        def _stream(self, events: Iterator[dict], *, is_named: bool = False, is_done: bool = False) -> None:
            lines = [
                (f"event: {event['type']}\n" if is_named else "") + f"data: {json.dumps(event)}\n\n" for event in events
            ]
            lines += ["data: [DONE]\n\n"] if is_done else []
            self._send("".join(lines).encode(), "text/event-stream")

        def _send(self, data: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@contextmanager
def serve_model(steps: list[Step]) -> Iterator[MockModel]:
    """A model on a port of its own."""
    model = MockModel(steps)
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(model)) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        model.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield model
        finally:
            server.shutdown()
            thread.join(timeout=10)
