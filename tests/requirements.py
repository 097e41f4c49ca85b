"""The manifest of promises: each id of the README with the attack tests that hold us to it.

``tests/architecture/test_requirements.py`` checks both ways: every test named here exists, and every attack test names
a promise.
"""

PROMISES: dict[str, str] = {
    "P1": "What was judged is what runs.",
    "P2": "Nothing runs that no rule allows.",
    "P3": "Secrets do not come back.",
    "P4": "Only a human approves, and only what he saw.",
    "P5": "A session survives its commands.",
    "P6": "Everything is on the record, and tampering shows.",
    "P7": "When in doubt: deny, close, and say so.",
}
