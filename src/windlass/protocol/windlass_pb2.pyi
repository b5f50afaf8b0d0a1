# mypy: disable-error-code="type-arg"
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class NewJob(_message.Message):
    __slots__ = ("task", "payload", "content_type", "id", "queue", "priority", "max_retries", "timeout_ms", "keep_ms", "delay_ms", "due_ms", "labels", "headers", "unique", "unique_arguments", "unique_until", "unique_for_ms", "on_conflict", "depends_on", "orphaned", "expires_in_ms", "expires_at_ms", "limit", "sequence", "group", "weight")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class HeadersEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    TASK_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    CONTENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    MAX_RETRIES_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    KEEP_MS_FIELD_NUMBER: _ClassVar[int]
    DELAY_MS_FIELD_NUMBER: _ClassVar[int]
    DUE_MS_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    UNIQUE_FIELD_NUMBER: _ClassVar[int]
    UNIQUE_ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    UNIQUE_UNTIL_FIELD_NUMBER: _ClassVar[int]
    UNIQUE_FOR_MS_FIELD_NUMBER: _ClassVar[int]
    ON_CONFLICT_FIELD_NUMBER: _ClassVar[int]
    DEPENDS_ON_FIELD_NUMBER: _ClassVar[int]
    ORPHANED_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_IN_MS_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_MS_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    task: str
    payload: bytes
    content_type: str
    id: str
    queue: str
    priority: int
    max_retries: int
    timeout_ms: int
    keep_ms: int
    delay_ms: int
    due_ms: int
    labels: _containers.ScalarMap[str, str]
    headers: _containers.ScalarMap[str, str]
    unique: str
    unique_arguments: bool
    unique_until: str
    unique_for_ms: int
    on_conflict: str
    depends_on: _containers.RepeatedScalarFieldContainer[str]
    orphaned: str
    expires_in_ms: int
    expires_at_ms: int
    limit: Limit
    sequence: str
    group: str
    weight: int
    def __init__(self, task: _Optional[str] = ..., payload: _Optional[bytes] = ..., content_type: _Optional[str] = ..., id: _Optional[str] = ..., queue: _Optional[str] = ..., priority: _Optional[int] = ..., max_retries: _Optional[int] = ..., timeout_ms: _Optional[int] = ..., keep_ms: _Optional[int] = ..., delay_ms: _Optional[int] = ..., due_ms: _Optional[int] = ..., labels: _Optional[_Mapping[str, str]] = ..., headers: _Optional[_Mapping[str, str]] = ..., unique: _Optional[str] = ..., unique_arguments: _Optional[bool] = ..., unique_until: _Optional[str] = ..., unique_for_ms: _Optional[int] = ..., on_conflict: _Optional[str] = ..., depends_on: _Optional[_Iterable[str]] = ..., orphaned: _Optional[str] = ..., expires_in_ms: _Optional[int] = ..., expires_at_ms: _Optional[int] = ..., limit: _Optional[_Union[Limit, _Mapping]] = ..., sequence: _Optional[str] = ..., group: _Optional[str] = ..., weight: _Optional[int] = ...) -> None: ...

class Limit(_message.Message):
    __slots__ = ("rate", "burst", "window", "concurrency", "key", "name")
    RATE_FIELD_NUMBER: _ClassVar[int]
    BURST_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    CONCURRENCY_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    rate: str
    burst: int
    window: bool
    concurrency: int
    key: str
    name: str
    def __init__(self, rate: _Optional[str] = ..., burst: _Optional[int] = ..., window: _Optional[bool] = ..., concurrency: _Optional[int] = ..., key: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class Receipt(_message.Message):
    __slots__ = ("id", "duplicate")
    ID_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_FIELD_NUMBER: _ClassVar[int]
    id: str
    duplicate: bool
    def __init__(self, id: _Optional[str] = ..., duplicate: _Optional[bool] = ...) -> None: ...

class EnqueueRequest(_message.Message):
    __slots__ = ("job",)
    JOB_FIELD_NUMBER: _ClassVar[int]
    job: NewJob
    def __init__(self, job: _Optional[_Union[NewJob, _Mapping]] = ...) -> None: ...

class EnqueueResponse(_message.Message):
    __slots__ = ("receipt",)
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    receipt: Receipt
    def __init__(self, receipt: _Optional[_Union[Receipt, _Mapping]] = ...) -> None: ...

class EnqueueManyRequest(_message.Message):
    __slots__ = ("jobs",)
    JOBS_FIELD_NUMBER: _ClassVar[int]
    jobs: _containers.RepeatedCompositeFieldContainer[NewJob]
    def __init__(self, jobs: _Optional[_Iterable[_Union[NewJob, _Mapping]]] = ...) -> None: ...

class EnqueueManyResponse(_message.Message):
    __slots__ = ("receipts",)
    RECEIPTS_FIELD_NUMBER: _ClassVar[int]
    receipts: _containers.RepeatedCompositeFieldContainer[Receipt]
    def __init__(self, receipts: _Optional[_Iterable[_Union[Receipt, _Mapping]]] = ...) -> None: ...

class Job(_message.Message):
    __slots__ = ("id", "task", "queue", "state", "priority", "attempt", "max_retries", "timeout_ms", "keep_ms", "created_ms", "due_ms", "started_ms", "finished_ms", "lease_until_ms", "worker", "unique", "labels", "headers", "content_type", "result", "error", "progress", "workflow", "depends_on", "waits_for", "awaits", "group")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class HeadersEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    MAX_RETRIES_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    KEEP_MS_FIELD_NUMBER: _ClassVar[int]
    CREATED_MS_FIELD_NUMBER: _ClassVar[int]
    DUE_MS_FIELD_NUMBER: _ClassVar[int]
    STARTED_MS_FIELD_NUMBER: _ClassVar[int]
    FINISHED_MS_FIELD_NUMBER: _ClassVar[int]
    LEASE_UNTIL_MS_FIELD_NUMBER: _ClassVar[int]
    WORKER_FIELD_NUMBER: _ClassVar[int]
    UNIQUE_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    CONTENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_FIELD_NUMBER: _ClassVar[int]
    DEPENDS_ON_FIELD_NUMBER: _ClassVar[int]
    WAITS_FOR_FIELD_NUMBER: _ClassVar[int]
    AWAITS_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    id: str
    task: str
    queue: str
    state: str
    priority: int
    attempt: int
    max_retries: int
    timeout_ms: int
    keep_ms: int
    created_ms: int
    due_ms: int
    started_ms: int
    finished_ms: int
    lease_until_ms: int
    worker: str
    unique: str
    labels: _containers.ScalarMap[str, str]
    headers: _containers.ScalarMap[str, str]
    content_type: str
    result: bytes
    error: Error
    progress: Progress
    workflow: str
    depends_on: _containers.RepeatedScalarFieldContainer[str]
    waits_for: _containers.RepeatedScalarFieldContainer[str]
    awaits: str
    group: str
    def __init__(self, id: _Optional[str] = ..., task: _Optional[str] = ..., queue: _Optional[str] = ..., state: _Optional[str] = ..., priority: _Optional[int] = ..., attempt: _Optional[int] = ..., max_retries: _Optional[int] = ..., timeout_ms: _Optional[int] = ..., keep_ms: _Optional[int] = ..., created_ms: _Optional[int] = ..., due_ms: _Optional[int] = ..., started_ms: _Optional[int] = ..., finished_ms: _Optional[int] = ..., lease_until_ms: _Optional[int] = ..., worker: _Optional[str] = ..., unique: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ..., headers: _Optional[_Mapping[str, str]] = ..., content_type: _Optional[str] = ..., result: _Optional[bytes] = ..., error: _Optional[_Union[Error, _Mapping]] = ..., progress: _Optional[_Union[Progress, _Mapping]] = ..., workflow: _Optional[str] = ..., depends_on: _Optional[_Iterable[str]] = ..., waits_for: _Optional[_Iterable[str]] = ..., awaits: _Optional[str] = ..., group: _Optional[str] = ...) -> None: ...

class Error(_message.Message):
    __slots__ = ("kind", "message", "traceback")
    KIND_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    TRACEBACK_FIELD_NUMBER: _ClassVar[int]
    kind: str
    message: str
    traceback: str
    def __init__(self, kind: _Optional[str] = ..., message: _Optional[str] = ..., traceback: _Optional[str] = ...) -> None: ...

class Progress(_message.Message):
    __slots__ = ("percent", "message")
    PERCENT_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    percent: float
    message: str
    def __init__(self, percent: _Optional[float] = ..., message: _Optional[str] = ...) -> None: ...

class GetRequest(_message.Message):
    __slots__ = ("ids",)
    IDS_FIELD_NUMBER: _ClassVar[int]
    ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, ids: _Optional[_Iterable[str]] = ...) -> None: ...

class GetResponse(_message.Message):
    __slots__ = ("jobs",)
    JOBS_FIELD_NUMBER: _ClassVar[int]
    jobs: _containers.RepeatedCompositeFieldContainer[Job]
    def __init__(self, jobs: _Optional[_Iterable[_Union[Job, _Mapping]]] = ...) -> None: ...

class ListRequest(_message.Message):
    __slots__ = ("states", "queue", "task", "limit", "cursor")
    STATES_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    states: _containers.RepeatedScalarFieldContainer[str]
    queue: str
    task: str
    limit: int
    cursor: str
    def __init__(self, states: _Optional[_Iterable[str]] = ..., queue: _Optional[str] = ..., task: _Optional[str] = ..., limit: _Optional[int] = ..., cursor: _Optional[str] = ...) -> None: ...

class ListResponse(_message.Message):
    __slots__ = ("jobs", "cursor")
    JOBS_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    jobs: _containers.RepeatedCompositeFieldContainer[Job]
    cursor: str
    def __init__(self, jobs: _Optional[_Iterable[_Union[Job, _Mapping]]] = ..., cursor: _Optional[str] = ...) -> None: ...

class WatchRequest(_message.Message):
    __slots__ = ("ids",)
    IDS_FIELD_NUMBER: _ClassVar[int]
    ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, ids: _Optional[_Iterable[str]] = ...) -> None: ...

class WatchResponse(_message.Message):
    __slots__ = ("id", "job")
    ID_FIELD_NUMBER: _ClassVar[int]
    JOB_FIELD_NUMBER: _ClassVar[int]
    id: str
    job: Job
    def __init__(self, id: _Optional[str] = ..., job: _Optional[_Union[Job, _Mapping]] = ...) -> None: ...

class CancelRequest(_message.Message):
    __slots__ = ("ids",)
    IDS_FIELD_NUMBER: _ClassVar[int]
    ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, ids: _Optional[_Iterable[str]] = ...) -> None: ...

class CancelResponse(_message.Message):
    __slots__ = ("changed", "refused")
    class RefusedEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    changed: _containers.RepeatedScalarFieldContainer[str]
    refused: _containers.ScalarMap[str, str]
    def __init__(self, changed: _Optional[_Iterable[str]] = ..., refused: _Optional[_Mapping[str, str]] = ...) -> None: ...

class DeleteRequest(_message.Message):
    __slots__ = ("ids",)
    IDS_FIELD_NUMBER: _ClassVar[int]
    ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, ids: _Optional[_Iterable[str]] = ...) -> None: ...

class DeleteResponse(_message.Message):
    __slots__ = ("changed", "refused")
    class RefusedEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    changed: _containers.RepeatedScalarFieldContainer[str]
    refused: _containers.ScalarMap[str, str]
    def __init__(self, changed: _Optional[_Iterable[str]] = ..., refused: _Optional[_Mapping[str, str]] = ...) -> None: ...

class RegisterRequest(_message.Message):
    __slots__ = ("worker", "host", "pid", "queues", "concurrency", "active", "started_ms")
    WORKER_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    QUEUES_FIELD_NUMBER: _ClassVar[int]
    CONCURRENCY_FIELD_NUMBER: _ClassVar[int]
    ACTIVE_FIELD_NUMBER: _ClassVar[int]
    STARTED_MS_FIELD_NUMBER: _ClassVar[int]
    worker: str
    host: str
    pid: int
    queues: _containers.RepeatedScalarFieldContainer[str]
    concurrency: int
    active: int
    started_ms: int
    def __init__(self, worker: _Optional[str] = ..., host: _Optional[str] = ..., pid: _Optional[int] = ..., queues: _Optional[_Iterable[str]] = ..., concurrency: _Optional[int] = ..., active: _Optional[int] = ..., started_ms: _Optional[int] = ...) -> None: ...

class RegisterResponse(_message.Message):
    __slots__ = ("beat_ms", "life_ms")
    BEAT_MS_FIELD_NUMBER: _ClassVar[int]
    LIFE_MS_FIELD_NUMBER: _ClassVar[int]
    beat_ms: int
    life_ms: int
    def __init__(self, beat_ms: _Optional[int] = ..., life_ms: _Optional[int] = ...) -> None: ...

class LeaveRequest(_message.Message):
    __slots__ = ("worker",)
    WORKER_FIELD_NUMBER: _ClassVar[int]
    worker: str
    def __init__(self, worker: _Optional[str] = ...) -> None: ...

class LeaveResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Share(_message.Message):
    __slots__ = ("queue", "most")
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    MOST_FIELD_NUMBER: _ClassVar[int]
    queue: str
    most: int
    def __init__(self, queue: _Optional[str] = ..., most: _Optional[int] = ...) -> None: ...

class FetchRequest(_message.Message):
    __slots__ = ("worker", "queues", "limit", "lease_ms", "wait_ms", "max_bytes")
    WORKER_FIELD_NUMBER: _ClassVar[int]
    QUEUES_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    LEASE_MS_FIELD_NUMBER: _ClassVar[int]
    WAIT_MS_FIELD_NUMBER: _ClassVar[int]
    MAX_BYTES_FIELD_NUMBER: _ClassVar[int]
    worker: str
    queues: _containers.RepeatedCompositeFieldContainer[Share]
    limit: int
    lease_ms: int
    wait_ms: int
    max_bytes: int
    def __init__(self, worker: _Optional[str] = ..., queues: _Optional[_Iterable[_Union[Share, _Mapping]]] = ..., limit: _Optional[int] = ..., lease_ms: _Optional[int] = ..., wait_ms: _Optional[int] = ..., max_bytes: _Optional[int] = ...) -> None: ...

class FetchResponse(_message.Message):
    __slots__ = ("jobs",)
    JOBS_FIELD_NUMBER: _ClassVar[int]
    jobs: _containers.RepeatedCompositeFieldContainer[FetchedJob]
    def __init__(self, jobs: _Optional[_Iterable[_Union[FetchedJob, _Mapping]]] = ...) -> None: ...

class Lease(_message.Message):
    __slots__ = ("id", "fence")
    ID_FIELD_NUMBER: _ClassVar[int]
    FENCE_FIELD_NUMBER: _ClassVar[int]
    id: str
    fence: int
    def __init__(self, id: _Optional[str] = ..., fence: _Optional[int] = ...) -> None: ...

class FetchedJob(_message.Message):
    __slots__ = ("id", "lease", "task", "queue", "priority", "attempt", "max_retries", "payload", "content_type", "headers", "labels", "timeout_ms", "checkpoint", "created_ms", "due_ms", "lease_until_ms", "workflow")
    class HeadersEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    MAX_RETRIES_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    CONTENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    CREATED_MS_FIELD_NUMBER: _ClassVar[int]
    DUE_MS_FIELD_NUMBER: _ClassVar[int]
    LEASE_UNTIL_MS_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_FIELD_NUMBER: _ClassVar[int]
    id: str
    lease: Lease
    task: str
    queue: str
    priority: int
    attempt: int
    max_retries: int
    payload: bytes
    content_type: str
    headers: _containers.ScalarMap[str, str]
    labels: _containers.ScalarMap[str, str]
    timeout_ms: int
    checkpoint: bytes
    created_ms: int
    due_ms: int
    lease_until_ms: int
    workflow: str
    def __init__(self, id: _Optional[str] = ..., lease: _Optional[_Union[Lease, _Mapping]] = ..., task: _Optional[str] = ..., queue: _Optional[str] = ..., priority: _Optional[int] = ..., attempt: _Optional[int] = ..., max_retries: _Optional[int] = ..., payload: _Optional[bytes] = ..., content_type: _Optional[str] = ..., headers: _Optional[_Mapping[str, str]] = ..., labels: _Optional[_Mapping[str, str]] = ..., timeout_ms: _Optional[int] = ..., checkpoint: _Optional[bytes] = ..., created_ms: _Optional[int] = ..., due_ms: _Optional[int] = ..., lease_until_ms: _Optional[int] = ..., workflow: _Optional[str] = ...) -> None: ...

class ExtendRequest(_message.Message):
    __slots__ = ("leases", "lease_ms")
    LEASES_FIELD_NUMBER: _ClassVar[int]
    LEASE_MS_FIELD_NUMBER: _ClassVar[int]
    leases: _containers.RepeatedCompositeFieldContainer[Lease]
    lease_ms: int
    def __init__(self, leases: _Optional[_Iterable[_Union[Lease, _Mapping]]] = ..., lease_ms: _Optional[int] = ...) -> None: ...

class ExtendResponse(_message.Message):
    __slots__ = ("ids",)
    IDS_FIELD_NUMBER: _ClassVar[int]
    ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, ids: _Optional[_Iterable[str]] = ...) -> None: ...

class Done(_message.Message):
    __slots__ = ("lease", "result")
    LEASE_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    lease: Lease
    result: bytes
    def __init__(self, lease: _Optional[_Union[Lease, _Mapping]] = ..., result: _Optional[bytes] = ...) -> None: ...

class AckRequest(_message.Message):
    __slots__ = ("jobs",)
    JOBS_FIELD_NUMBER: _ClassVar[int]
    jobs: _containers.RepeatedCompositeFieldContainer[Done]
    def __init__(self, jobs: _Optional[_Iterable[_Union[Done, _Mapping]]] = ...) -> None: ...

class AckResponse(_message.Message):
    __slots__ = ("ids",)
    IDS_FIELD_NUMBER: _ClassVar[int]
    ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, ids: _Optional[_Iterable[str]] = ...) -> None: ...

class Failed(_message.Message):
    __slots__ = ("lease", "kind", "message", "traceback", "retry_after_ms", "fatal")
    LEASE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    TRACEBACK_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_MS_FIELD_NUMBER: _ClassVar[int]
    FATAL_FIELD_NUMBER: _ClassVar[int]
    lease: Lease
    kind: str
    message: str
    traceback: str
    retry_after_ms: int
    fatal: bool
    def __init__(self, lease: _Optional[_Union[Lease, _Mapping]] = ..., kind: _Optional[str] = ..., message: _Optional[str] = ..., traceback: _Optional[str] = ..., retry_after_ms: _Optional[int] = ..., fatal: _Optional[bool] = ...) -> None: ...

class NackRequest(_message.Message):
    __slots__ = ("jobs",)
    JOBS_FIELD_NUMBER: _ClassVar[int]
    jobs: _containers.RepeatedCompositeFieldContainer[Failed]
    def __init__(self, jobs: _Optional[_Iterable[_Union[Failed, _Mapping]]] = ...) -> None: ...

class NackResponse(_message.Message):
    __slots__ = ("ids",)
    IDS_FIELD_NUMBER: _ClassVar[int]
    ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ReleaseRequest(_message.Message):
    __slots__ = ("leases", "delay_ms", "unknown_task")
    LEASES_FIELD_NUMBER: _ClassVar[int]
    DELAY_MS_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_TASK_FIELD_NUMBER: _ClassVar[int]
    leases: _containers.RepeatedCompositeFieldContainer[Lease]
    delay_ms: int
    unknown_task: bool
    def __init__(self, leases: _Optional[_Iterable[_Union[Lease, _Mapping]]] = ..., delay_ms: _Optional[int] = ..., unknown_task: _Optional[bool] = ...) -> None: ...

class ReleaseResponse(_message.Message):
    __slots__ = ("ids",)
    IDS_FIELD_NUMBER: _ClassVar[int]
    ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, ids: _Optional[_Iterable[str]] = ...) -> None: ...

class Report(_message.Message):
    __slots__ = ("lease", "progress")
    LEASE_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    lease: Lease
    progress: Progress
    def __init__(self, lease: _Optional[_Union[Lease, _Mapping]] = ..., progress: _Optional[_Union[Progress, _Mapping]] = ...) -> None: ...

class ProgressRequest(_message.Message):
    __slots__ = ("reports",)
    REPORTS_FIELD_NUMBER: _ClassVar[int]
    reports: _containers.RepeatedCompositeFieldContainer[Report]
    def __init__(self, reports: _Optional[_Iterable[_Union[Report, _Mapping]]] = ...) -> None: ...

class ProgressResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class State(_message.Message):
    __slots__ = ("lease", "state")
    LEASE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    lease: Lease
    state: bytes
    def __init__(self, lease: _Optional[_Union[Lease, _Mapping]] = ..., state: _Optional[bytes] = ...) -> None: ...

class CheckpointRequest(_message.Message):
    __slots__ = ("states",)
    STATES_FIELD_NUMBER: _ClassVar[int]
    states: _containers.RepeatedCompositeFieldContainer[State]
    def __init__(self, states: _Optional[_Iterable[_Union[State, _Mapping]]] = ...) -> None: ...

class CheckpointResponse(_message.Message):
    __slots__ = ("ids",)
    IDS_FIELD_NUMBER: _ClassVar[int]
    ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, ids: _Optional[_Iterable[str]] = ...) -> None: ...
