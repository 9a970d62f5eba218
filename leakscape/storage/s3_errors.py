"""What S3 and boto3 raise, as our errors: a sentence that names bucket and key, and whether to try again.

A service's own message is never repeated: it may quote keys, signatures or tokens. Only its code is.
"""

import contextlib
import re
from collections.abc import Iterator
from typing import Any

from leakscape.errors import InputError, LeakscapeError, TransientError
from leakscape.storage.place import AbsentError, TakenError

_BUSY = frozenset(
    {"SlowDown", "RequestTimeout", "InternalError", "ServiceUnavailable", "Throttling", "ThrottlingException"}
    | {"RequestLimitExceeded", "TooManyRequests", "RequestThrottled", "BandwidthLimitExceeded", "OperationAborted"}
)
_CREDENTIALS = frozenset(
    {"InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken", "TokenRefreshRequired"}
    | {"InvalidSecurity", "ExpiredTokenException", "UnrecognizedClientException", "InvalidClientTokenId"}
)
_REGION = frozenset(
    {"PermanentRedirect", "TemporaryRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException"}
)
_CHANGED = frozenset({"PreconditionFailed", "ConditionalRequestConflict"})
_HOW_TO_SIGN_IN = (
    "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE, or give the pod's service account a role"
)
_FORBIDDEN = 403
_NOT_FOUND = 404
_TOO_MANY = 429
_SERVER = 500


@contextlib.contextmanager
def explained(bucket: str, key: str = "") -> Iterator[None]:
    """Turn whatever boto3 raises within the block into one of our errors.

    Args:
        bucket: that is asked.
        key: the object's key, or the prefix.
    """
    from boto3.exceptions import Boto3Error
    from botocore.exceptions import BotoCoreError, ClientError
    from s3transfer.exceptions import RetriesExceededError, S3DownloadFailedError

    where = f"s3://{bucket}/{key}" if key else f"s3://{bucket}"
    try:
        yield
    except ClientError as error:
        raise _of_answer(error, where, bucket) from None
    except BotoCoreError as error:
        raise _of_client(error, where) from None
    except (RetriesExceededError, S3DownloadFailedError):
        raise TransientError(f"{where}: the connection broke again and again; try again later.") from None
    except Boto3Error as error:
        raise InputError(f"{where}: boto3 refuses the request ({type(error).__name__}).") from None


def code_of(error: Any) -> str:  # noqa: ANN401  boto3 makes its classes at run time
    """The code of a service's answer, safe to print."""
    code = str(error.response.get("Error", {}).get("Code", ""))
    return code if re.fullmatch(r"[A-Za-z0-9.]{1,64}", code) else "unknown"


def status_of(error: Any) -> int:  # noqa: ANN401
    """The HTTP status of a service's answer."""
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def _of_answer(error: Any, where: str, bucket: str) -> LeakscapeError:  # noqa: ANN401, PLR0911  one line a case
    code, status = code_of(error), status_of(error)
    if code in _CHANGED:
        return TakenError(f"{where} was written by somebody else in the meantime.")
    if code == "NoSuchBucket":
        return InputError(f"the bucket {bucket} does not exist; make it, or correct the place ({where}).")
    if code == "RequestTimeTooSkewed":
        return InputError(f"{where}: this machine's clock and the service's differ too much; set the clock.")
    if code in _CREDENTIALS:
        return InputError(f"{where}: the service does not accept the credentials ({code}); {_HOW_TO_SIGN_IN}.")
    if code in _REGION:
        return InputError(f"{where}: the bucket is in another region{_region(error)}; set AWS_REGION to it.")
    if code.startswith("KMS"):
        return InputError(f"{where}: the key of LEAKSCAPE_S3_KMS_KEY can't be used ({code}); correct it or its policy.")
    if code in _BUSY or status == _TOO_MANY or (status >= _SERVER and code != "NotImplemented"):
        return TransientError(f"{where}: the service is busy or failing ({code}, {status}); try again later.")
    if status == _FORBIDDEN:
        action = re.sub(r"[^A-Za-z0-9]", "", error.operation_name)
        return InputError(f"{where}: access denied for {action}; allow it in the policy of the bucket or the role.")
    if code == "NoSuchKey" or status == _NOT_FOUND:
        return AbsentError(f"{where} does not exist.")
    return InputError(f"{where}: the service refuses {error.operation_name} ({code}, {status}); see docs/storage.md.")


def _region(error: Any) -> str:  # noqa: ANN401
    headers = error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    region = str(error.response.get("Error", {}).get("Region") or headers.get("x-amz-bucket-region") or "")
    return f", {region}" if re.fullmatch(r"[a-z0-9-]{1,32}", region) else ""


def _of_client(error: Any, where: str) -> LeakscapeError:  # noqa: ANN401
    """What boto3 itself raises: it found no credentials, no region, no connection."""
    from botocore import exceptions

    signing = (exceptions.NoCredentialsError, exceptions.PartialCredentialsError, exceptions.CredentialRetrievalError)
    sso = (exceptions.TokenRetrievalError, exceptions.SSOError, exceptions.NoAuthTokenError)
    broken = (exceptions.ChecksumError, exceptions.FlexibleChecksumError, exceptions.IncompleteReadError)
    if isinstance(error, (*signing, *sso, exceptions.ProfileNotFound)):
        return InputError(f"{where}: no credentials were found ({type(error).__name__}); {_HOW_TO_SIGN_IN}.")
    if isinstance(error, exceptions.NoRegionError):
        return InputError(f"{where}: no region is set; set AWS_REGION.")
    if isinstance(error, exceptions.SSLError):
        return InputError(
            f"{where}: the service's certificate is not trusted; set AWS_CA_BUNDLE to its authority's file."
        )
    if isinstance(error, (exceptions.HTTPClientError, exceptions.ConnectionError, *broken)):
        kind = type(error).__name__
        return TransientError(f"{where}: the service can't be reached or hangs up ({kind}); check AWS_ENDPOINT_URL.")
    return InputError(
        f"{where}: boto3 refuses the request ({type(error).__name__}); check the bucket's name and region."
    )
