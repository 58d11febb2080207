"""`sidelight serve`: a model over HTTP, for programs and people."""

from __future__ import annotations

import asyncio
import socket
from typing import Annotated

import typer

from sidelight.commands.registry import entry_of
from sidelight.commands.serving.limits import Limits
from sidelight.commands.shared import options
from sidelight.commands.shared.loading import load
from sidelight.commands.shared.options import at_least, between
from sidelight.commands.shared.outputs import note
from sidelight.commands.shared.progress_display import shown
from sidelight.commands.shared.rule_options import (
    Inference,
    RulesFiles,
    check_inference,
    constrained,
    note_missing_rules,
)
from sidelight.commands.shared.structured import limited, under_rules

USUAL = Limits()
in_limits = options.panel("Limits of a request")


def command(
    model: options.ModelFile,
    host: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="The address to listen on; 0.0.0.0 answers everyone who can reach this machine."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(callback=between("--port", 0, 65535), help="The port; 0 picks a free one.")
    ] = 8000,
    max_tokens: Annotated[
        int, in_limits(callback=at_least("--max-tokens", 1), help="The maximum number of tokens per request.")
    ] = USUAL.max_tokens,
    max_bytes: Annotated[
        int, in_limits(callback=at_least("--max-bytes", 1), help="The maximum size of a request.")
    ] = USUAL.max_bytes,
    max_seconds: Annotated[
        float, in_limits(callback=at_least("--max-seconds", 0), help="The maximum time per request, including waiting.")
    ] = USUAL.max_seconds,
    max_waiting: Annotated[
        int, in_limits(callback=at_least("--max-waiting", 1), help="The maximum number of waiting requests.")
    ] = USUAL.max_waiting,
    rules: RulesFiles = None,
    inference: Inference = options.DEFAULTS["inference"],
    seconds: options.Seconds = None,
    jobs: options.Jobs = options.DEFAULTS["n_jobs"],
) -> None:
    """Serve a model over HTTP: a page to paste text into, and a JSON API. Ctrl-C stops it.

    POST /predict takes {"text": …} or {"inputs": […]}, and "probabilities", "margins", "explain"; GET /model and
    GET /health describe the model and the server. Requests that are too large get status 413, unusable ones 422, slow
    ones 503. There is no password: change --host only if everyone on the network may use the model.
    """
    try:
        import starlette  # noqa: F401
        import uvicorn

        from sidelight.commands.serving.web_app import LOOPBACK, web_app
    except ModuleNotFoundError as error:
        if error.name not in ("uvicorn", "starlette"):
            raise
        raise ValueError('serving needs starlette and uvicorn; pip install "sidelight[serve]"') from None
    from sidelight.commands.serving.answers import ServedModel

    check_inference(inference, rules)
    loaded = limited(load(model), seconds)
    entry, under = entry_of(loaded), None
    if entry is not None:
        loaded = under_rules(loaded, entry, rules)
    elif rules:
        under = constrained(loaded, rules, inference, jobs=jobs)
    else:
        note_missing_rules(loaded)
    limits = Limits(max_bytes=max_bytes, max_tokens=max_tokens, max_seconds=max_seconds, max_waiting=max_waiting)
    served = ServedModel(name=model.name, model=loaded, entry=entry, under=under, jobs=jobs)
    local = host in LOOPBACK
    listening = listening_socket(host, port)
    where = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}/"
    if not local:
        note(f"anyone who reaches {host} can use this model without a password; --host 127.0.0.1 prevents it")
    with shown():
        served.warm_up()
    server = uvicorn.Server(
        uvicorn.Config(
            web_app(served, limits, local=local),
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=3,
        )
    )

    async def serve() -> None:
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        while not (server.started or serving.done()):
            await asyncio.sleep(0.01)
        if server.started:  # a reader of this line may interrupt at once: the server now handles signals
            typer.echo(f"{model.name} answers at {where} until Ctrl-C")
        await serving

    try:
        asyncio.run(serve())
    except KeyboardInterrupt:  # uvicorn has shut down, and passes the signal on
        pass
    finally:
        listening.close()
    typer.echo("stopped")


def listening_socket(host: str, port: int) -> socket.socket:
    """A listening socket; raises ValueError if it cannot listen."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(128)  # requests before the server runs wait
        except OSError:
            listener.close()
            raise
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"{host}:{port}: {reason}; give another --port or --host") from None
    return listener
