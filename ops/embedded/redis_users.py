"""Who may do what in Redis: one ACL line a user, the same for the embedded Valkey and a managed Redis 7.2.

The emitter writes the stream of session-end events, waits until they are on disk, and asks whether an event's run
exists, so as to let go of it. The limiter counts the doors' requests. The worker has all of ours and RQ's: whoever
writes rq:* can run code in a worker.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

# What a client sends while it connects, in either protocol.
_CONNECTION = "+ping +hello +auth +reset +quit +select +client|setinfo +client|setname +client|id"
_RULES = {
    # Two selectors, so that each command holds for its own key alone. XADD could trim with MAXLEN; an ACL cannot see
    # arguments, so the stream trusts its writers.
    "emitter": f"{_CONNECTION} +waitaof (%W~afterword:sessions +xadd) (%R~afterword:ack:* +get)",
    # RQ registers its workers by CLIENT SETNAME and LIST and asks INFO for the version; both count as dangerous.
    # An erasure ends with the append-only file written anew, or what was deleted would stand in it.
    # Lua runs under the user's own rules, but code kept in the server (FUNCTION) would outlive the worker.
    "worker": "~rq:* ~afterword:* &rq:* +@all -@admin -@dangerous -function -fcall -fcall_ro "
    "+info +client|list +client|setinfo +client|setname +bgrewriteaof",
    "limiter": f"~afterword:rate:* {_CONNECTION} +get +set +incr +incrby +decr +del +expire +pexpire +ttl +pttl "
    "+multi +exec +discard +eval +evalsha +script|load",
    "admin": "~* &* +@all",
}
USERS = tuple(_RULES)


def acl_lines(passwords: Mapping[str, str]) -> list[str]:
    """The lines of an ACL file for the users named in `passwords`; the default user is off. Only hashes are kept."""
    lines = ["user default off nopass resetkeys resetchannels -@all"]
    for user, password in passwords.items():
        digest = hashlib.sha256(password.encode()).hexdigest()
        lines.append(f"user {user} on #{digest} resetkeys resetchannels -@all {_RULES[user]}")
    return lines
