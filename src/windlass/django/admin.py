"""Jobs in Django's admin: a list, with replay and cancel for those who may change jobs."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse

from ..core.clock import to_datetime
from ..core.model import Job as StoredJob
from ..core.model import JobQuery
from ..core.states import State
from ..errors import WindlassError
from .application import project_app
from .models import Job

PAGE: Final = 100


@admin.register(Job)
class JobAdmin(admin.ModelAdmin):
    """The jobs of the store, by state and by queue; there is nothing to add or to edit."""

    def get_urls(self) -> list[Any]:
        """The list alone."""
        view = self.admin_site.admin_view(self.jobs)
        return [path("", view, name="windlass_job_changelist")]

    def jobs(self, request: HttpRequest) -> HttpResponse:
        """List jobs, or do with some of them what was asked."""
        if request.method == "POST":
            self._act(request)
            return HttpResponseRedirect(request.get_full_path())
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        state, queue = request.GET.get("state", ""), request.GET.get("queue", "")
        if state not in ("", *State):
            raise Http404
        query = JobQuery(
            states=(State(state),) if state else tuple(State),
            queue=queue or None,
            limit=PAGE,
            cursor=request.GET.get("cursor"),
            brief=True,
        )
        try:
            page = _ask(lambda store: store.find(query))
        except WindlassError as error:
            raise Http404(str(error)) from error
        context = {
            **self.admin_site.each_context(request),
            "title": "Jobs",
            "opts": self.model._meta,
            "jobs": [_row(job) for job in page.jobs],
            "states": [*State],
            "state": state,
            "queue": queue,
            "cursor": page.cursor,
            "here": reverse(f"{self.admin_site.name}:windlass_job_changelist"),
            "may_change": self.has_change_permission(request),
        }
        return TemplateResponse(request, "windlass/jobs.html", context)

    def _act(self, request: HttpRequest) -> None:
        if not self.has_change_permission(request):
            raise PermissionDenied
        ids, action = request.POST.getlist("job"), request.POST.get("action")
        if action == "replay":
            done = _ask(lambda store: store.replay(ids))
        elif action == "cancel":
            done = _ask(lambda store: store.cancel(ids))
        else:
            raise Http404
        left = len(ids) - len(done)
        rest = f"; {left} could not be, in the state that they are in" if left else ""
        word = {"replay": "replayed", "cancel": "cancelled"}[action]
        self.message_user(
            request,
            f"{len(done)} job(s) {word}{rest}.",
            messages.WARNING if left else messages.INFO,
        )


def _ask(act: Any) -> Any:
    return project_app().client.block(act, "the admin", "the admin in a thread")


def _row(job: StoredJob) -> dict[str, Any]:
    return {
        "id": job.id,
        "task": job.task,
        "queue": job.queue,
        "state": str(job.state),
        "attempt": job.attempt,
        "created": to_datetime(job.created_at),
        "error": str(job.error)[:200] if job.error else "",
    }
