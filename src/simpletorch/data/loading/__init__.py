"""From samples to batches: order, batches, worker processes, state, device."""
