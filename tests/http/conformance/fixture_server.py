"""``serve`` with the official suite's fixtures: the real app, door and port, and the tools that the suite names.

``python fixture_server.py serve --transport http …``: the command line is the product's; its app factory is called as
ever, then what it made gets more tools, resources and prompts. What they answer is what the suite's scenarios describe.
"""

import asyncio
import base64
import json
import struct
import sys
import warnings
import zlib

import mcp_types as types
from mcp.shared.exceptions import MCPError

from execkit_mcp.__main__ import main
from execkit_mcp.server.app import build_server
from execkit_mcp.server.http import serve

NOTHING = {"type": "object", "properties": {}}


def _chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


_HEAD = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
PNG = (
    b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", _HEAD) + _chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + _chunk(b"IEND", b"")
)
WAV = (
    b"RIFF"
    + struct.pack("<I", 36)
    + b"WAVEfmt "
    + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8)
    + b"data\0\0\0\0"
)


def _b64(data):
    return base64.b64encode(data).decode()


def text(words):
    return types.TextContent(type="text", text=words)


def said(*content, **more):
    return types.CallToolResult(content=[text(each) if isinstance(each, str) else each for each in content], **more)


def image():
    return types.ImageContent(type="image", data=_b64(PNG), mime_type="image/png")


def embedded(uri, mime_type, words):
    inside = types.TextResourceContents(uri=uri, mime_type=mime_type, text=words)
    return types.EmbeddedResource(type="resource", resource=inside)


def form(message, **properties):
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def sampling(question, max_tokens):
    message = types.SamplingMessage(role="user", content=text(question))
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[message], max_tokens=max_tokens)
    )


TEXT, TRUTH = {"type": "string"}, {"type": "boolean"}
NAME = form("What is your name?", name=TEXT)


# ── one exchange


async def mixed(_context, _params):
    inside = embedded("test://mixed-content-resource", "application/json", json.dumps({"test": "data", "value": 123}))
    return said("Multiple content types test:", image(), inside)


async def logging(context, _params):
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await context.session.send_log_message("info", words, related_request_id=context.request_id)
        await asyncio.sleep(0.05)
    return said("logged")


async def progress(context, _params):
    for done in (0, 50, 100):
        await context.session.report_progress(done, 100)
        await asyncio.sleep(0.05)
    return said("done")


async def sample(context, params):
    request = sampling(params.arguments["prompt"], 100).params
    answer = await context.session.create_message(
        request.messages, max_tokens=request.max_tokens, related_request_id=context.request_id
    )
    return said(f"LLM response: {answer.content.text}")


def elicits(title, schema):
    async def call(context, params):
        message = (params.arguments or {}).get("message", title)
        answer = await context.session.elicit_form(
            message, {"type": "object", **schema}, related_request_id=context.request_id
        )
        return said(f"{title}: action={answer.action}, content={json.dumps(answer.content)}")

    return call


USER = {
    "properties": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    },
    "required": ["username", "email"],
}
DEFAULTS = {
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
}
THREE = ["option1", "option2", "option3"]
TITLED = [{"const": f"value{n}", "title": f"{word} Option"} for n, word in enumerate(("First", "Second", "Third"), 1)]
ENUMS = {
    "properties": {
        "untitledSingle": {"type": "string", "enum": THREE},
        "titledSingle": {"type": "string", "oneOf": TITLED},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": THREE}},
        "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
    }
}
SCHEMA_2020 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


HEADED = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}


async def missing_capability(context, _params):
    capabilities = context.session.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        needed = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "This tool needs sampling.", needed)
    return said("sampling is there")


# ── several rounds (2026-07-28)


def asks(answered, *, state=None, **requests):
    """A tool that asks for ``requests`` until all are answered well, then says what ``answered`` makes of them."""

    async def call(_context, params):
        responses = params.input_responses or {}
        whole = all(isinstance(responses.get(key), _ANSWERS[type(request)]) for key, request in requests.items())
        if not whole or (state is not None and params.request_state != state):
            return types.InputRequiredResult(input_requests=requests, request_state=state)
        return answered(*(responses[key] for key in requests))

    return call


_ANSWERS = {
    types.ElicitRequest: types.ElicitResult,
    types.CreateMessageRequest: types.CreateMessageResult,
    types.ListRootsRequest: types.ListRootsResult,
}


async def rounds(_context, params):
    steps = (
        ("step1", "Step 1: What is your name?", {"name": TEXT}),
        ("step2", "Step 2: What is your favorite color?", {"color": TEXT}),
    )
    at = int(params.request_state or -1)
    if at >= 0 and isinstance((params.input_responses or {}).get(steps[at][0]), types.ElicitResult):
        at += 1
    at = max(at, 0)
    if at == len(steps):
        return said("both are known")
    key, message, properties = steps[at]
    return types.InputRequiredResult(input_requests={key: form(message, **properties)}, request_state=str(at))


async def within_capabilities(context, _params):
    capabilities = context.session.client_capabilities or types.ClientCapabilities()
    requests = {"question": sampling("What is the capital of France?", 50)} if capabilities.sampling else {}
    if capabilities.elicitation:
        requests["user_name"] = NAME
    return types.InputRequiredResult(input_requests=requests) if requests else said("nothing can be asked")


def constant(*content, **more):
    async def call(_context, _params):
        return said(*content, **more)

    return call


def argument(name):
    return {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}


ROOTS = types.ListRootsRequest()
CONFIRM = form("Please confirm", ok=TRUTH)
MANY = {"user_name": NAME, "greeting": sampling("Generate a greeting", 50), "client_roots": ROOTS}
FEW = "test_input_required_result_"
TOOLS = {
    "test_simple_text": (NOTHING, constant("This is a simple text response for testing.")),
    "test_image_content": (NOTHING, constant(image())),
    "test_audio_content": (
        NOTHING, constant(types.AudioContent(type="audio", data=_b64(WAV), mime_type="audio/wav")),
    ),
    "test_embedded_resource": (
        NOTHING, constant(embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")),
    ),
    "test_multiple_content_types": (NOTHING, mixed),
    "test_tool_with_logging": (NOTHING, logging),
    "test_logging_tool": (NOTHING, logging),
    "test_error_handling": (
        NOTHING, constant("This tool intentionally returns an error for testing", is_error=True),
    ),
    "test_tool_with_progress": (NOTHING, progress),
    "test_streaming_elicitation": (NOTHING, asks(lambda name: said(f"Hello, {name.content}!"), user_name=NAME)),
    "test_sampling": (argument("prompt"), sample),
    "test_elicitation": (argument("message"), elicits("User response", USER)),
    "test_elicitation_sep1034_defaults": (NOTHING, elicits("Elicitation completed", DEFAULTS)),
    "test_elicitation_sep1330_enums": (NOTHING, elicits("Elicitation completed", ENUMS)),
    "json_schema_2020_12_tool": (SCHEMA_2020, constant("ok")),
    "test_custom_header": (HEADED, constant("ok")),
    "test_missing_capability": (NOTHING, missing_capability),
    f"{FEW}elicitation": (
        NOTHING, asks(lambda name: said(f"Hello, {(name.content or {}).get('name')}!"), user_name=NAME),
    ),
    f"{FEW}sampling": (
        NOTHING,
        asks(lambda told: said(told.content.text), capital_question=sampling("What is the capital of France?", 100)),
    ),
    f"{FEW}list_roots": (
        NOTHING, asks(lambda told: said(", ".join(str(root.uri) for root in told.roots)), client_roots=ROOTS),
    ),
    f"{FEW}request_state": (NOTHING, asks(lambda _: said("state-ok"), state="of round 1", confirm=CONFIRM)),
    f"{FEW}tampered_state": (NOTHING, asks(lambda _: said("state-ok"), state="of round 1", confirm=CONFIRM)),
    f"{FEW}multiple_inputs": (NOTHING, asks(lambda *_: said("all answered"), state="of round 1", **MANY)),
    f"{FEW}multi_round": (NOTHING, rounds),
    f"{FEW}capabilities": (NOTHING, within_capabilities),
}  # fmt: skip


# ── resources and prompts

STATIC = {
    "test://static-text": ("text/plain", "This is the content of the static text resource."),
    "test://static-binary": ("image/png", PNG),
    "test://watched-resource": ("text/plain", "watched"),
}
TEMPLATE = "test://template/{id}/data"


def resource(uri):
    head, _, tail = TEMPLATE.partition("{id}")
    if uri.startswith(head) and uri.endswith(tail):
        id_ = uri[len(head) : -len(tail)]
        mime_type, data = (
            "application/json",
            json.dumps({"id": id_, "templateTest": True, "data": f"Data for ID: {id_}"}),
        )
    elif uri in STATIC:
        mime_type, data = STATIC[uri]
    else:
        return None
    if isinstance(data, bytes):
        inside = types.BlobResourceContents(uri=uri, mime_type=mime_type, blob=_b64(data))
    else:
        inside = types.TextResourceContents(uri=uri, mime_type=mime_type, text=data)
    return types.ReadResourceResult(contents=[inside])


def prompt(*content):
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=each) for each in content])


async def prompt_with_input(context, params):
    context_of = form("What context should the prompt use?", context=TEXT)
    return await asks(lambda told: prompt(text(str(told.content))), user_context=context_of)(context, params)


async def prompt_with_arguments(_context, params):
    given = params.arguments or {}
    return prompt(text(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'"))


async def prompt_with_resource(_context, params):
    uri = (params.arguments or {})["resourceUri"]
    inside = embedded(uri, "text/plain", "Embedded resource content for testing.")
    return prompt(inside, text("Please process the embedded resource above."))


async def simple_prompt(_context, _params):
    return prompt(text("This is a simple prompt for testing."))


async def prompt_with_image(_context, _params):
    return prompt(image(), text("Please analyze the image above."))


PROMPTS = {
    "test_simple_prompt": ((), simple_prompt),
    "test_prompt_with_arguments": (("arg1", "arg2"), prompt_with_arguments),
    "test_prompt_with_embedded_resource": (("resourceUri",), prompt_with_resource),
    "test_prompt_with_image": ((), prompt_with_image),
    "test_input_required_result_prompt": ((), prompt_with_input),
}


# ── what the app factory made, and more


def extended(kit, **options):
    """The real server with the fixtures beside its own tools, resources and prompts."""
    server = build_server(kit, **options)

    def own(method):
        return server.get_request_handler(method).handler

    def listing(method, member, more):
        handler = own(method)

        async def call(context, params):
            result = await handler(context, params)
            return result.model_copy(update={member: [*getattr(result, member), *more]})

        return call

    def calling(method, table, key):
        handler = own(method)

        async def call(context, params):
            row = table.get(getattr(params, key))
            return await (row[1] if row else handler)(context, params)

        return call

    read = own("resources/read")

    async def reading(context, params):
        return resource(str(params.uri)) or await read(context, params)

    async def nothing(_context, _params):
        return types.EmptyResult()

    async def completion(_context, _params):
        return types.CompleteResult(completion=types.Completion(values=["paris", "park"], total=2, has_more=False))

    schema_of = server.get_tool_input_schema
    server.get_tool_input_schema = lambda name: TOOLS[name][0] if name in TOOLS else schema_of(name)
    page = types.PaginatedRequestParams
    tools = [types.Tool(name=name, description=name, input_schema=row[0]) for name, row in TOOLS.items()]
    resources = [types.Resource(uri=uri, name=uri, mime_type=row[0]) for uri, row in STATIC.items()]
    prompts = [
        types.Prompt(
            name=name,
            description=name,
            arguments=[types.PromptArgument(name=each, description=each, required=True) for each in row[0]],
        )
        for name, row in PROMPTS.items()
    ]
    template = types.ResourceTemplate(name="template", uri_template=TEMPLATE)
    for method, params_type, handler in (
        ("tools/list", page, listing("tools/list", "tools", tools)),
        ("tools/call", types.CallToolRequestParams, calling("tools/call", TOOLS, "name")),
        ("resources/list", page, listing("resources/list", "resources", resources)),
        ("resources/templates/list", page, listing("resources/templates/list", "resource_templates", [template])),
        ("resources/read", types.ReadResourceRequestParams, reading),
        ("resources/subscribe", types.SubscribeRequestParams, nothing),
        ("resources/unsubscribe", types.UnsubscribeRequestParams, nothing),
        ("prompts/list", page, listing("prompts/list", "prompts", prompts)),
        ("prompts/get", types.GetPromptRequestParams, calling("prompts/get", PROMPTS, "name")),
        ("completion/complete", types.CompleteRequestParams, completion),
        ("logging/setLevel", types.SetLevelRequestParams, nothing),
    ):
        server.add_request_handler(method, params_type, handler)
    return server


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    serve.build_server = extended
    sys.exit(main())
