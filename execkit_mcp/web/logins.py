"""Who is logged in: this module makes a login of a one-time code or the fixed token, and finds it again.

Theory of operation. Browsers send a cookie of 127.0.0.1 to every port of 127.0.0.1, so a development server that the
agent started there would be handed the operator's login. Against that each login lives below a path that nobody can
guess, ``/s/<key>/``, and its cookie is bound to that path: another port never gets it, because no page ever asks it
for that path. Neither the path nor the cookie opens anything without the other. Logins live in memory: the page's
end is the end of them all.

A wrong token costs a try; the tries run out. A one-time code is 192 bits of chance, so guessing it needs no brake,
and a flood of wrong tokens cannot lock out the operator who has a fresh link.
"""

import hashlib
import hmac
import threading
from collections.abc import Iterable

from msgspec import Struct

from execkit_mcp.model import Clock, Entropy
from execkit_mcp.web.limiter import Limiter
from execkit_mcp.web.links import Links

__all__ = ["IDLE_S", "LIFE_S", "MAX_LOGINS", "MIN_TOKEN", "Login", "Logins"]

LIFE_S = 12 * 3600.0
IDLE_S = 4 * 3600.0
MAX_LOGINS = 32
MIN_TOKEN = 32
TRIES, REFILL_S = 5, 20.0


class Login(Struct, kw_only=True):
    """One browser that is logged in.

    Attributes:
        key: the secret part of its path.
        secret: what its cookie holds.
        csrf: what each of its forms carries.
        how: ``link`` or ``token``.
        made_s: when it logged in, on the monotonic clock; used_s: when it last asked for something.
        flash: what the next page tells once: its kind and text.
    """

    key: str
    secret: str
    csrf: str
    how: str
    made_s: float
    used_s: float
    flash: tuple[str, str] | None = None

    @property
    def base(self) -> str:
        """The path below which everything of this login stands."""
        return f"/s/{self.key}"

    @property
    def name(self) -> str:
        """What the record calls it: gives neither path nor cookie away."""
        return hashlib.sha256(f"{self.key} {self.secret}".encode()).hexdigest()[:8]


class Logins:
    """Every login of one page."""

    def __init__(self, links: Links, *, clock: Clock, entropy: Entropy, token: str | None = None) -> None:
        self._links = links
        self._clock = clock
        self._entropy = entropy
        self._token = token
        self._logins: dict[str, Login] = {}
        self._one_try = threading.Lock()
        self.limiter = Limiter(clock, tries=TRIES, refill_s=REFILL_S)

    @property
    def has_token(self) -> bool:
        """Whether there is a fixed token."""
        return self._token is not None

    def by_code(self, code: str) -> Login | None:
        """The login that an unused code gives, or None."""
        return self._make("link") if self._links.use(code) else None

    def by_token(self, token: str) -> Login | None:
        """The login that the fixed token gives; None if it is wrong, there is none, or too many were wrong."""
        with self._one_try:  # many at once are as many tries
            if self.limiter.wait_s() > 0:
                return None
            if self._token is not None and _same(token, self._token):
                return self._make("token")
            self.limiter.count()
            return None

    def find(self, key: str, cookies: Iterable[str]) -> Login | None:
        """The login of that path, if one of the cookies is its own and it has not lapsed."""
        login = self._logins.get(key)
        if login is None or not any(_same(cookie, login.secret) for cookie in cookies):
            return None
        if not self.is_good(login):
            self.end(login)
            return None
        login.used_s = self._clock.monotonic_s()
        return login

    def is_good(self, login: Login) -> bool:
        """Whether it still stands."""
        now_s = self._clock.monotonic_s()
        is_known = self._logins.get(login.key) is login
        return is_known and now_s < login.made_s + LIFE_S and now_s < login.used_s + IDLE_S

    def end(self, login: Login) -> None:
        """Log it out."""
        self._logins.pop(login.key, None)

    def count(self) -> int:
        """How many stand."""
        return sum(1 for login in list(self._logins.values()) if self.is_good(login))

    def _make(self, how: str) -> Login:
        now_s = self._clock.monotonic_s()
        for lapsed in [login for login in self._logins.values() if not self.is_good(login)]:
            self.end(lapsed)
        while len(self._logins) >= MAX_LOGINS:
            self.end(min(self._logins.values(), key=lambda login: login.used_s))
        login = Login(
            key=self._entropy.token_hex(16),
            secret=self._entropy.token_hex(32),
            csrf=self._entropy.token_hex(16),
            how=how,
            made_s=now_s,
            used_s=now_s,
        )
        self._logins[login.key] = login
        return login


def _same(given: str, due: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), due.encode())
