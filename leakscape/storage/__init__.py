"""Places that outlive a pod: a local folder or an S3 prefix, behind one interface.

    with open_place("s3://bucket/audits/nightly") as place:
        place.create("2026-01-31.json", content)
        for name in place.names():
            content = place.read(name).content

What a place offers is in `Place`, settings and errors in docs/storage.md.
"""

from leakscape.storage.choose import fetch, is_s3, join, local_copy, open_place
from leakscape.storage.place import AbsentError, Kept, Place, TakenError

__all__ = ["AbsentError", "Kept", "Place", "TakenError", "fetch", "is_s3", "join", "local_copy", "open_place"]
