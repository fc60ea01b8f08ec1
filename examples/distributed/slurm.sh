#!/bin/bash
# A training on two nodes of a Slurm cluster:  sbatch examples/distributed/slurm.sh train.py
# Each node has one task, torchrun, which starts a process for each GPU. Slurm sends SIGTERM two minutes before the
# time is over: simpletorch finishes the update, saves and ends with status 75, and the job goes back into the queue.
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --time=12:00:00
#SBATCH --signal=TERM@120
#SBATCH --requeue
set -u
first=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
srun torchrun \
    --nnodes "$SLURM_NNODES" \
    --nproc-per-node "${SLURM_GPUS_ON_NODE:-2}" \
    --rdzv-id "$SLURM_JOB_ID" \
    --rdzv-backend c10d \
    --rdzv-endpoint "$first:${PORT:-29500}" \
    "$@"
