#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A job array of Slurm: each task reads one part of the dumps and writes a partial result.
#
#   sbatch --array=1-64 slurm.sh /dumps /results [options of group]
#   crashpadctl group --merge --html groups.html /results/part-*.json
#
# Repeat failed parts, with the number of all parts:
#
#   PARTS=64 sbatch --array=5,17 slurm.sh /dumps /results [options of group]
#
#SBATCH --job-name=crashpadctl-group
#SBATCH --cpus-per-task=1
#SBATCH --mem=2G
#SBATCH --requeue
set -u
[ $# -ge 2 ] || {
  echo "usage: sbatch --array=1-N slurm.sh DUMPS RESULTS [options of group]" >&2
  exit 64
}
[ -n "${SLURM_ARRAY_TASK_ID:-}" ] || {
  echo "slurm.sh: error: not a task of an array; run it with sbatch --array=1-N" >&2
  exit 64
}
dumps=$1
results=$2
shift 2
part=$SLURM_ARRAY_TASK_ID
parts=${PARTS:-$SLURM_ARRAY_TASK_COUNT}
crashpadctl group --no-system --jobs 1 --shard "$part/$parts" --partial "$results/part-$part.json" "$@" "$dumps"
status=$?
# 1: some dumps could not be read; the partial result counts them.
[ "$status" -le 1 ] || exit "$status"
