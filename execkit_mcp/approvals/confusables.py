"""Which characters may not be shown as they are, because a person would take them for something else.

Letters that pass for ASCII ones stand in a table (after Unicode's confusables.txt, UTS #39, reduced to what
looks like a letter or digit of a command line); everything else is told by its general category or by what
NFKC makes of it.
"""

import unicodedata

__all__ = ["LOOKALIKES", "is_hidden", "is_lookalike"]

LOOKALIKES = frozenset(
    "АВЕЅІЈКМНОРСТУХԌԛԝаеорсухѕіјһӏԁгвнктмп"  # Cyrillic
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγικνορστυχϲϳ"  # Greek
    "ՏՕՍօսոհզցյ"  # Armenian
    "ᎪᎬᎳᏀᏂᏃᏎᏔᏚᏞᏟᏢᏦᏩᏮᏴ"  # Cherokee
    "ıȷɑɡɩʏʀɢʟɴʜʙꓐꓑꓔꓖꓗꓜꓝꓞꓡꓢꓣꓤǀǃⅼ"  # Latin and Lisu
)

_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs", "Mn", "Me", "Mc"})
_BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800\u17b4\u17b5")
_MARKED_GROUPS = frozenset("PSN")  # punctuation, symbols, digits beyond ASCII
_LAST_ASCII = 0x7E


def is_hidden(character: str) -> bool:
    """Whether ``character`` shows nothing, moves the cursor, reorders or overlays its neighbours."""
    if " " <= character <= chr(_LAST_ASCII):
        return False
    return unicodedata.category(character) in _HIDDEN_CATEGORIES or character in _BLANK_LETTERS


def is_lookalike(character: str) -> bool:
    """Whether ``character`` could pass for an ASCII one; non-ASCII punctuation, symbols and digits all do."""
    if character <= chr(_LAST_ASCII):
        return False
    if character in LOOKALIKES or unicodedata.category(character)[0] in _MARKED_GROUPS:
        return True
    return any(" " <= part <= chr(_LAST_ASCII) for part in unicodedata.normalize("NFKC", character))
