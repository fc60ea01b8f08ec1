# == absl
from absl import app, flags
FLAGS = flags.FLAGS
flags.DEFINE_integer("dim_here", 64, "size")
flags.DEFINE_float("lr_here", 0.5, "rate")
flags.DEFINE_bool("fast_here", False, "x")
FLAGS(["program"])
a = (FLAGS.dim_here, FLAGS.lr_here, FLAGS.fast_here)
del FLAGS

# == click
import click
seen = []
@click.command()
@click.option("--dim", default=5, help="size")
@click.option("--hidden-size", "-h", type=int, default=7)
@click.option("--fast", is_flag=True)
@click.option("--name")
def main(dim, hidden_size, fast, name):
    seen.append((dim, hidden_size, fast, name))
main(standalone_mode=False)
# == click: contexts
import click
seen = []
@click.group(invoke_without_command=True)
@click.option("--n", default=3)
@click.pass_context
def cli(ctx, n):
    ctx.ensure_object(dict)
    ctx.obj["n"] = n
    if ctx.invoked_subcommand is not None:
        return 0
    seen.append((n, ctx.obj["n"], ctx.parent))
    ctx.invoke(other, k=7)
@cli.command()
@click.option("--m", default=5)
@click.option("--k", default=2)
@click.pass_context
def other(ctx, m, k):
    seen.append((m, k, ctx.parent is None, ctx.params["m"] if "m" in ctx.params else -1))
@cli.command()
@click.pass_obj
def third(obj):
    seen.append(obj)
cli(args=["--n", "11"], standalone_mode=False)
cli(args=["third"], standalone_mode=False, obj={"z": 13})
cli(args=["other", "--m", "17"], standalone_mode=False)
