"""Artifacts in a Google Cloud Storage bucket, under google-adk's object names.

    APP/USER/SESSION/NAME/0
    APP/USER/user/user:NAME/0        the user's files

A version is created only if no object of its name exists, so no two writers get the same number.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, NamedTuple, TypeVar

from google.genai import types

from runtime.artifacts.artifact_names import USER_PREFIX, check_id, is_users, relative_path
from runtime.artifacts.base_artifact_service import ERASED, ArtifactVersion, BaseArtifactService, as_part
from runtime.errors.input_validation_error import InputValidationError
from runtime.errors.missing_package_error import require
from runtime.errors.storage_error import StorageError
from runtime.sessions.state import storable
from runtime.support.worker_threads import run_in_thread

require("google.cloud.storage", "gcs", "Artifacts in Google Cloud Storage")

from google.api_core.exceptions import GoogleAPIError, NotFound, PreconditionFailed  # noqa: E402  # after the check
from google.auth.exceptions import GoogleAuthError  # noqa: E402
from google.cloud import storage  # noqa: E402
from google.cloud.storage.retry import DEFAULT_RETRY  # noqa: E402
from requests.exceptions import RequestException  # noqa: E402

LARGEST_ARTIFACT = 512 * 1024 * 1024  # bytes; a larger object is not downloaded
SECONDS = 20  # without a byte of an answer, after which a request is repeated
SECONDS_IN_ALL = 60  # for a request and its repetitions
_ATTEMPTS = 20  # numbers that are tried while others save the same file
_USERS = "user"  # in place of a session's id

# google-adk's keys in an object's metadata, beside those of the application.
_NAME, _IS_TEXT, _URI, _URI_TYPE = "adkDisplayName", "adkIsText", "adkFileUri", "adkFileMimeType"
_OLD_URI = "file_uri"
_OWN = frozenset({_NAME, _IS_TEXT, _URI, _URI_TYPE, _OLD_URI})

T = TypeVar("T")


class _Payload(NamedTuple):
    data: bytes
    mime_type: str | None
    metadata: dict[str, str]


class GcsArtifactService(BaseArtifactService):
    """Stores artifacts in a bucket. Several processes, google-adk's included, may use one bucket at once.

    Custom metadata are texts there: other values are stored as `str` gives them, as in google-adk.

    Args:
        bucket_name: the bucket; it must exist.
        **kwargs: arguments of `google.cloud.storage.Client`, such as `project` and `credentials`.

    Raises:
        StorageError: there are no credentials.
    """

    def __init__(self, bucket_name: str, **kwargs: Any) -> None:
        self.bucket_name = bucket_name
        with self._clear_errors():
            self.storage_client = storage.Client(**kwargs)
            self.bucket = self.storage_client.bucket(bucket_name)
        self._retry = DEFAULT_RETRY.with_timeout(SECONDS_IN_ALL).with_delay(initial=0.1, maximum=10)

    async def save_artifact(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        artifact: types.Part | dict[str, Any],
        session_id: str | None = None,
        custom_metadata: dict[str, Any] | None = None,
    ) -> int:
        """See `BaseArtifactService.save_artifact`; parts with `file_data` are accepted too.

        Raises:
            InputValidationError: a name, an id or the part is invalid.
            StorageError: the bucket cannot be written; nothing was saved.
        """
        folder = _folder(app_name, user_id, session_id, filename)
        payload = _payload(as_part(artifact))
        given = storable(custom_metadata or {}, "custom_metadata")
        metadata = {**{key: str(value) for key, value in given.items() if key not in _OWN}, **payload.metadata}
        return await self._do(lambda: self._save(folder, payload, metadata))

    async def load_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None, version: int | None = None
    ) -> types.Part | None:
        """See `BaseArtifactService.load_artifact`."""
        folder = _folder(app_name, user_id, session_id, filename)
        return await self._do(lambda: self._load(folder, version))

    async def list_artifact_keys(self, *, app_name: str, user_id: str, session_id: str | None = None) -> list[str]:
        """See `BaseArtifactService.list_artifact_keys`."""
        of_user = f"{check_id(app_name, 'The app name')}/{check_id(user_id, 'The user id')}"
        folders = [_USERS] if session_id is None else [_session(session_id), _USERS]
        return await self._do(lambda: sorted({name for folder in folders for name in self._names(f"{of_user}/{folder}/")}))

    async def delete_artifact(self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None) -> None:
        """See `BaseArtifactService.delete_artifact`."""
        folder = _folder(app_name, user_id, session_id, filename)
        await self._do(lambda: self._delete(folder))

    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[ArtifactVersion]:
        """See `BaseArtifactService.list_artifact_versions`."""
        folder = _folder(app_name, user_id, session_id, filename)
        return await self._do(lambda: [self._about(number, blob) for number, blob in sorted(self._versions(folder).items())])

    async def _do(self, work: Callable[[], T]) -> T:
        def run() -> T:
            with self._clear_errors():
                return work()

        return await run_in_thread(run)

    def _save(self, folder: str, payload: _Payload, metadata: Mapping[str, str]) -> int:
        number = max(self._versions(folder), default=-1) + 1
        for version in range(number, number + _ATTEMPTS):
            if self._create(f"{folder}{version}", payload, metadata):
                return version
        raise StorageError(f"{folder.rstrip('/')} could not be saved: other writers took {_ATTEMPTS} versions in a row.")

    def _create(self, name: str, payload: _Payload, metadata: Mapping[str, str]) -> bool:
        """Create an object, if none of its name exists.

        Returns:
            Whether it was created here.
        """
        blob = self.bucket.blob(name)
        blob.metadata = dict(metadata) or None
        is_uncertain = False

        def upload() -> None:
            nonlocal is_uncertain
            try:
                # Only a new object: one that another writer has made meanwhile keeps its number.
                blob.upload_from_string(payload.data, payload.mime_type, if_generation_match=0, timeout=SECONDS, retry=None)
            except PreconditionFailed:
                raise
            except Exception:
                is_uncertain = True  # it may have been stored, and only the answer was lost
                raise

        try:
            self._retry(upload)()
        except PreconditionFailed:
            found = self.bucket.get_blob(name, timeout=SECONDS, retry=self._retry) if is_uncertain else None
            digest = base64.b64encode(hashlib.md5(payload.data, usedforsecurity=False).digest()).decode()
            return found is not None and found.md5_hash == digest and (found.metadata or {}) == metadata
        return True

    def _load(self, folder: str, version: int | None) -> types.Part | None:
        number = max(self._versions(folder), default=-1) if version is None else version
        blob = self.bucket.get_blob(f"{folder}{number}", timeout=SECONDS, retry=self._retry) if number >= 0 else None
        if blob is None:
            return None
        metadata = blob.metadata or {}
        if uri := metadata.get(_URI) or metadata.get(_OLD_URI):
            return types.Part(file_data=types.FileData(file_uri=uri, mime_type=metadata.get(_URI_TYPE) or blob.content_type))
        if blob.size is not None and blob.size > LARGEST_ARTIFACT:
            raise StorageError(f"gs://{self.bucket_name}/{blob.name} is larger than {LARGEST_ARTIFACT // 2**20} MB, so it is not loaded.")
        try:
            data = blob.download_as_bytes(timeout=SECONDS, retry=self._retry)
        except NotFound:
            return None  # another writer has deleted it
        if metadata.get(_IS_TEXT) == "true":
            return types.Part(text=data.decode(errors="replace"))
        part = types.Part(inline_data=types.Blob(data=data, mime_type=blob.content_type, display_name=metadata.get(_NAME)))
        return None if part == ERASED else part

    def _delete(self, folder: str) -> None:
        for blob in self._versions(folder).values():
            try:
                blob.delete(timeout=SECONDS, retry=self._retry)
            except NotFound:
                continue

    def _versions(self, folder: str) -> dict[int, Any]:
        """Return version → object of one file; what is further below belongs to files with longer names."""
        found: dict[int, Any] = {}
        for blob in self._listed(folder):
            rest = blob.name[len(folder) :]
            if rest.isascii() and rest.isdecimal():
                found[int(rest)] = blob
        return found

    def _names(self, folder: str) -> Iterator[str]:
        for blob in self._listed(folder):
            name, _, number = blob.name[len(folder) :].rpartition("/")
            if name and number.isascii() and number.isdecimal():
                yield name

    def _listed(self, prefix: str) -> Any:
        return self.storage_client.list_blobs(self.bucket, prefix=prefix, timeout=SECONDS, retry=self._retry)

    def _about(self, version: int, blob: Any) -> ArtifactVersion:
        return ArtifactVersion(
            version=version,
            canonical_uri=f"gs://{self.bucket_name}/{blob.name}",
            create_time=blob.time_created.timestamp(),
            mime_type=blob.content_type,
            custom_metadata={key: value for key, value in (blob.metadata or {}).items() if key not in _OWN},
        )

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except GoogleAuthError as error:
            text = f"There are no credentials for gs://{self.bucket_name}: {error}. Run: gcloud auth application-default login"
            raise StorageError(text) from error
        except NotFound as error:
            raise StorageError(f"The bucket gs://{self.bucket_name} does not exist, or is not yours to read.") from error
        except (GoogleAPIError, RequestException, OSError) as error:
            raise StorageError(f"Artifacts cannot be read or written at gs://{self.bucket_name}: {_reason(error)}.") from error


def _reason(error: Exception) -> str:
    """Return the server's status, or the kind of error, without the address and the arguments of the request."""
    cause = getattr(error, "cause", None) or error  # what the last repetition met
    code = getattr(cause, "code", None)
    if isinstance(code, int):
        return f"the server answered {code} {HTTPStatus(code).phrase}" if code in set(HTTPStatus) else f"the server answered {code}"
    return str(getattr(cause, "strerror", None) or type(cause).__name__)


def _folder(app_name: str, user_id: str, session_id: str | None, filename: str) -> str:
    """Return the beginning of the names of a file's objects.

    Raises:
        InputValidationError: a name or id cannot be a part of it.
    """
    of_user = f"{check_id(app_name, 'The app name')}/{check_id(user_id, 'The user id')}"
    relative_path(filename)  # names that lead out of a folder are no use to a program that downloads files
    if is_users(filename, session_id):
        return f"{of_user}/{_USERS}/{filename if filename.startswith(USER_PREFIX) else USER_PREFIX + filename}/"
    return f"{of_user}/{_session(session_id or '')}/{filename}/"


def _session(session_id: str) -> str:
    if check_id(session_id, "The session id") == _USERS:
        raise InputValidationError("The session id 'user' cannot be used for artifacts in a bucket: the user's files have that place.")
    return session_id


def _payload(part: types.Part) -> _Payload:
    if part.inline_data is not None and part.inline_data.data is not None:
        name = part.inline_data.display_name
        return _Payload(part.inline_data.data, part.inline_data.mime_type or "application/octet-stream", {_NAME: name} if name else {})
    if part.text is not None:
        return _Payload(part.text.encode(), "text/plain", {_IS_TEXT: "true"})
    if part.file_data is not None and part.file_data.file_uri:
        kind = part.file_data.mime_type
        return _Payload(b"", kind, {_URI: part.file_data.file_uri, **({_URI_TYPE: kind} if kind else {})})
    raise InputValidationError("An artifact must be a part with text, bytes or the URI of a file; this one has none of them.")
