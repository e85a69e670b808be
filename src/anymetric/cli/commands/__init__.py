"""Commands: what can be typed after `anymetric`."""

from anymetric.cli.app import app
from anymetric.cli.commands import runs, shows, trains, uses
from anymetric.cli.help import PlainCommand

__all__ = ["app", "runs", "shows", "trains", "uses"]

# In the order in which somebody new would want them.
ORDER = (
    "fit",
    "predict",
    "evaluate",
    "explain",
    "suspects",
    "report",
    "compare",
    "resume",
    "ask",
    "tell",
    "status",
    "best",
    "export",
    "metrics",
    "data",
    "demo",
    "paper",
)
for command in app.registered_commands:
    command.cls = PlainCommand
app.registered_commands.sort(
    key=lambda command: ORDER.index(getattr(command.callback, "__name__", ""))
)
