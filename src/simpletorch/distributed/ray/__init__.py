"""Clusters and actors by Ray: the same training on machines that come and go, and workers that one asks by name.

::

    weights = distributed.ray.fit(train, workers=8, resources={"GPU": 1})     # `train` as torchrun would run it

    workers = await distributed.ray.TrainingWorker.start(build, loss, count=4)
    losses = await asyncio.gather(*(worker.train(batch) for worker, batch in zip(workers, batches)))

Ray is an extra (``pip install 'simpletorch-typed[ray]'``), imported when something is started.
"""

from simpletorch.distributed._ray import is_installed as is_installed
from simpletorch.distributed._ray import start as start
from simpletorch.distributed.ray._fit import fit as fit
from simpletorch.distributed.ray._worker import TrainingWorker as TrainingWorker
