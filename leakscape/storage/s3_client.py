"""A boto3 client that waits its turn, gives up in time and tells no secret."""

import logging
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from leakscape.errors import DependencyError, InputError, TransientError

SSE, KMS_KEY = "LEAKSCAPE_S3_SSE", "LEAKSCAPE_S3_KMS_KEY"
Encryption = Literal["", "AES256", "aws:kms", "aws:kms:dsse"]

_ENCRYPTIONS = ("", "AES256", "aws:kms", "aws:kms:dsse")
_LOGGERS = ("boto3", "botocore", "s3transfer", "urllib3")
_STARTED = "leakscape_started"


@dataclass(frozen=True, kw_only=True)
class S3Settings:
    """How S3 is asked.

    Args:
        region: '' for the profile's.
        path_style: `endpoint/bucket/key` in place of `bucket.endpoint/key`, as most services but AWS need it.
        encryption: of what is written, at the service; '' for the bucket's default.
        kms_key: the id of the key for `aws:kms`; '' for the account's.
        attempts: of one request, the first included; the waits between them grow, with jitter.
        retry_mode: botocore's.
        seconds: after so many a request is not tried again.
        connect_timeout, read_timeout: seconds of one attempt.
        part: bytes of one part of a large object.
    """

    region: str = ""
    path_style: bool = False
    encryption: Encryption = ""
    kms_key: str = ""
    attempts: int = 8
    retry_mode: str = "standard"
    seconds: float = 300.0
    connect_timeout: float = 10.0
    read_timeout: float = 60.0
    part: int = 8 << 20


def settings_from_environment(environment: Mapping[str, str] = os.environ) -> S3Settings:
    """The settings that the environment holds; docs/storage.md lists the variables.

    Raises:
        InputError: a variable makes no sense.
    """
    kms_key = environment.get(KMS_KEY, "")
    encryption = environment.get(SSE, "") or ("aws:kms" if kms_key else "")
    if encryption not in _ENCRYPTIONS:
        raise InputError(f"{SSE} must be one of {', '.join(_ENCRYPTIONS[1:])}, or unset.")
    if kms_key and not encryption.startswith("aws:kms"):
        raise InputError(f"{KMS_KEY} is set, but {SSE} asks for AES256, which takes no key of yours.")
    attempts = environment.get("AWS_MAX_ATTEMPTS", "") or "8"
    if not re.fullmatch(r"[1-9][0-9]?", attempts):
        raise InputError("AWS_MAX_ATTEMPTS must be a whole number from 1 to 99.")
    endpoint = environment.get("AWS_ENDPOINT_URL_S3", "") or environment.get("AWS_ENDPOINT_URL", "")
    # boto3 itself reads AWS_DEFAULT_REGION alone; a service of one's own needs some region to be signed for.
    region = environment.get("AWS_REGION", "") or environment.get("AWS_DEFAULT_REGION", "")
    return S3Settings(
        region=region or ("us-east-1" if endpoint else ""),
        path_style=bool(endpoint),
        encryption=cast("Encryption", encryption),
        kms_key=kms_key,
        attempts=int(attempts),
        retry_mode=environment.get("AWS_RETRY_MODE", "") or "standard",
    )


def make_client(settings: S3Settings) -> Any:  # noqa: ANN401  boto3 makes its classes at run time
    """A client; threads may share it. Nothing is sent yet.

    Raises:
        DependencyError: boto3 is not installed.
        InputError: a setting makes no sense.
    """
    try:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError
    except ModuleNotFoundError:
        raise DependencyError("s3:// places need boto3, which is not installed here: pip install boto3.") from None

    _keep_quiet()
    try:
        # A session of its own: boto3's shared one keeps the credentials of its first use, and is not for threads.
        client = boto3.session.Session().client(
            "s3",
            region_name=settings.region or None,
            config=Config(
                connect_timeout=settings.connect_timeout,
                read_timeout=settings.read_timeout,
                retries={"mode": settings.retry_mode, "total_max_attempts": settings.attempts},
                s3={"addressing_style": "path"} if settings.path_style else None,
            ),
        )
    except BotoCoreError as error:
        kind = type(error).__name__
        raise InputError(
            f"boto3 can't be set up ({kind}); check the variables AWS_* (AWS_PROFILE, AWS_ACCESS_KEY_ID, "
            "AWS_SECRET_ACCESS_KEY, AWS_REGION) and ~/.aws/config."
        ) from None
    except ValueError:
        raise InputError("AWS_ENDPOINT_URL is no address; it begins with http:// or https://.") from None
    client.meta.events.register("request-created.s3", _limit(settings.seconds))
    return client


def _limit(seconds: float) -> Any:  # noqa: ANN401
    """Called before every attempt of a request; the context is that of all its attempts."""

    def check(request: Any, **_: object) -> None:  # noqa: ANN401
        now = time.monotonic()
        if now - request.context.setdefault(_STARTED, now) > seconds:
            raise TransientError(f"S3 has not answered a request well for {seconds:.0f} seconds; try again later.")

    return check


def _keep_quiet() -> None:
    """At DEBUG these loggers print session tokens, signatures and the bodies of answers."""
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        if logger.getEffectiveLevel() < logging.INFO:
            logger.setLevel(logging.INFO)
