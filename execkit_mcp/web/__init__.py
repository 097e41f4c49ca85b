"""The page where a person answers, watches and looks things up: its own process over the state folder.

It holds no link to a server process. Questions and answers go through the queue's database, live sessions are read
from the recordings as they grow, decisions from the record. What the agent can write reaches a person only as text.
"""
