"""The judged subset of bash: this package is its strict parser, its tree, and the canonical text of a tree.

Theory of operation. ``parse`` turns a text into a tree or refuses it with the construct named; the engine
judges the tree; ``render`` writes the tree back as the only text that a shell will see. Since
``parse(render(tree)) == tree``, a construct that the parser does not know cannot reach a shell, and a word
that bash would read otherwise than the tree says is a fault of ``render`` alone, which the tests compare
with a real bash.
"""

from execkit_mcp.policy.shell.parser import MAX_COMMANDS, MAX_DEPTH, parse
from execkit_mcp.policy.shell.render import render
from execkit_mcp.policy.shell.unparsed import MAX_TEXT_BYTES, Unparsed

__all__ = ["MAX_COMMANDS", "MAX_DEPTH", "MAX_TEXT_BYTES", "Unparsed", "parse", "render"]
