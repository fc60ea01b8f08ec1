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
