"""Heads of tables and announcements: what the lines below them may hold."""

import pytest

from execkit_mcp.redaction import Redactor
from execkit_mcp.redaction.shape import ALNUM, assemble, fill

V = "k9" + assemble((fill(ALNUM, 18),), "below") + "4Z"
W = "m3" + assemble((fill(ALNUM, 18),), "other") + "7Q"

HIDDEN = [
    f"name,user,password\nprod,app,{V}\ntest,app,{W}\n",
    f'"name","secret key","created"\n"prod","{V}","2026-01-01"\n',
    f"host\tuser\tpasswd\ndb1\tapp\t{V}\n",
    f"id|email|reset_token\n1|a@example.com|{V}\n",
    f" id | name | api_token\n----+------+-----------\n  1 | app  | {V}\n  2 | web  | {W}\n(2 rows)\n",
    f"+----+----------+\n| id | password |\n+----+----------+\n| 1 | {V} |\n+----+----------+\n",
    f"| Service | Token |\n|---------|-------|\n| api | `{V}` |\n",
    f"NAME    ROLE     TOKEN\napp     admin    {V}\nweb     reader   {W}\n",
    f"Initial admin password:\n  {V}\n",
    f"Recovery codes:\n  {V}\n  {W}\n",
    f"$ op read op://prod/db/password\n{V}\n",
    f"$ gcloud auth print-access-token\n{V}\n",
]


@pytest.mark.parametrize("text", HIDDEN)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_what_a_head_names_is_hidden_below_it_however_the_text_is_cut(text, size):
    stream = Redactor(key=b"k" * 32).stream()
    out = "".join(stream.push(text[at : at + size]) for at in range(0, len(text), size)) + stream.finish()
    assert V not in out
    assert W not in out
    assert out == Redactor(key=b"k" * 32).text(text)[0]
    assert out.count("\n") == text.count("\n")


SHOWN = [
    f"name,user,digest\nprod,app,{V}\n",
    f"name,user,password\nprod,app\n1,2,{V}\n",  # the second line ends the table
    f"name,user,password\n\nprod,app,{V}\n",
    "user,password\nalice,required\nbob,optional\n",
    "from keys import token, secret\nfrom x import a1b2c3d4, d5e6f7g8\n",
    f"Enter your password:\nok {V}\n",
    "Enter your password:\nLogin-successful\n",
    f"the tokens of this month:\n\n{V}\n",
    "| token | max_tokens |\n|---|---|\n| 12 | 4096 |\n",
]


@pytest.mark.parametrize("text", SHOWN)
def test_what_no_head_names_stays(text):
    assert Redactor(key=b"k" * 32).text(text) == (text, {})


def test_a_row_that_was_shown_in_part_still_belongs_to_its_table():
    stream = Redactor(key=b"k" * 32).stream()
    out = stream.push("name,user,password\nprod,ap") + stream.flush()
    out += stream.push(f"p,{V}\n") + stream.finish()
    assert out.startswith("name,user,password\nprod,app,[REDACTED:password:")
