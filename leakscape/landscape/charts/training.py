"""The losses of training."""

from leakscape.landscape.charts.common import WIDTH, color_of, legend, marker_of
from leakscape.landscape.schema import Target
from leakscape.landscape.svg import canvas, render


def losses(target: Target, name: str) -> str:
    """The training loss of each condition over its steps."""
    shown = [(number, item) for number, item in enumerate(target.conditions) if item.losses]
    if not shown:
        return ""
    with canvas(WIDTH, 3.8) as (figure, (axes,)):
        for number, item in shown:
            steps, values = zip(*item.losses, strict=True)
            axes.plot(
                steps, values, color=color_of(number), linewidth=1.3,
                marker=marker_of(number), markersize=5, markevery=(0.06 + 0.015 * number, 0.2),
            )  # fmt: skip
        axes.set_xlabel("Step of the optimizer")
        axes.set_ylabel("Training loss, nats a token")
        axes.set_ylim(bottom=0)
        axes.margins(x=0.01)
        legend(figure, target, [item.name for _, item in shown])
        ends = ", ".join(f"{item.name} {item.losses[-1][1]:.2f}" for _, item in shown)
        return render(
            figure,
            name=name,
            title=f"Training loss, {target.name}",
            description=f"Loss over the steps of each training. Last values: {ends}.",
        )
