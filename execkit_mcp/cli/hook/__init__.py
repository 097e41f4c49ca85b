"""``execkit-mcp hook``: the policy in front of a client's own shell tool.

``call`` is the process that a client starts for each command: it imports next to nothing, hands its input to the
resident judge and prints the answer. ``judge`` is that resident: policy loaded once, a record of every answer.
``forms`` is the table of what each client sends and understands. Whatever fails, fails closed: exit code 2.
"""
