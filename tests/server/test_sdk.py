"""The SDK that a server on stdio loads in part: what was put off is there for whoever asks for it."""

import subprocess
import sys

import pytest

LIMIT_S = 60
PREPARED = "from execkit_mcp.server import sdk; sdk.prepare(); "


def run(code):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=LIMIT_S, check=False
    )


def test_a_server_loads_neither_the_client_nor_a_web_server():
    done = run(PREPARED + "import execkit_mcp.server.app, execkit_mcp.server.stdio, sys; print(*sys.modules)")
    assert done.returncode == 0, done.stderr
    assert not {"mcp.client", "mcp.server.mcpserver", "httpx2"} & set(done.stdout.split())


@pytest.mark.parametrize(
    "asks",
    [
        "import mcp; mcp.Client; mcp.types.Tool; mcp.server.Server",
        "from mcp import Client, types; from mcp.server import MCPServer, Server",
        "import mcp.server.lowlevel as low; import mcp.server as all; assert all.Server is low.Server",
        "import execkit_mcp.server.app; from mcp.server import MCPServer; import mcp; mcp.StdioServerParameters",
        "import mcp; assert not hasattr(mcp, 'no_such_name')",
        "import mcp.server; assert mcp.server.__name__ == 'mcp.server'; assert not hasattr(mcp.server, '__wrapped__')",
        "sdk.prepare(); from mcp import Client",
    ],
)
def test_what_was_put_off_is_there_when_it_is_asked_for(asks):
    done = run(PREPARED + asks)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_model_of_the_wire_is_built_when_it_is_used_and_refuses_as_ever():
    done = run(
        PREPARED + "import mcp_types._v2025_11_25 as v, mcp_types._v2026_07_28 as w\n"
        "assert not v.InitializeRequest.__pydantic_complete__\n"
        "for each in (v, w):\n"
        "    for model in (each.Tool, each.CallToolRequest, each.ListToolsResult, each.JSONRPCRequest):\n"
        "        model.model_json_schema()\n"
        "try:\n"
        "    v.InitializeRequest.model_validate({'method': 'initialize'})\n"
        "except ValueError as error:\n"
        "    print(error.error_count())\n"
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 1


def test_an_sdk_that_is_there_already_is_left_as_it_is():
    done = run("import mcp; before = dict(vars(mcp)); " + PREPARED + "assert dict(vars(mcp)) == before")
    assert done.returncode == 0, done.stderr
