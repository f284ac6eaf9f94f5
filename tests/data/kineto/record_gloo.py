#!/usr/bin/env python3
"""Records a small training run of several ranks over Gloo: record_gloo.py RANKS FOLDER.

Needs PyTorch (Debian: python3-torch). Debian's build has no Kineto, so the events are PyTorch's own profiler's,
with their times, threads, shapes and names, and this script puts them into the layout of a Kineto file.
"""

import gzip
import json
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

STEPS = 3


def train(model, optimizer):
    for step in range(STEPS):
        with torch.autograd.profiler.record_function(f"ProfilerStep#{step}"):
            optimizer.zero_grad()
            model(torch.randn(32, 256)).square().mean().backward()
            optimizer.step()


def as_kineto(event, rank):
    communicates = event.name.startswith("gloo:")
    step = event.name.startswith("ProfilerStep#")
    args = {"External id": event.id}
    if communicates:
        args["Input Dims"] = event.input_shapes
        args["Input type"] = ["float"] * len(event.input_shapes)
    return {"ph": "X", "cat": "user_annotation" if communicates or step else "cpu_op", "name": event.name,
            "pid": 1000 + rank, "tid": event.thread, "ts": event.time_range.start,
            "dur": event.time_range.end - event.time_range.start, "args": args}


def work(rank, ranks, folder):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29611")
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64))
    model = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=0.1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    train(model, optimizer)
    with torch.autograd.profiler.profile(record_shapes=True) as profile:
        train(model, optimizer)
        time.sleep(0.1)  # Gloo's threads end their events
    trace = {"schemaVersion": 1,
             "distributedInfo": {"backend": "gloo", "rank": rank, "world_size": ranks},
             "traceEvents": [as_kineto(event, rank) for event in profile.function_events]}
    with gzip.GzipFile(os.path.join(folder, f"rank{rank}.json.gz"), "w", mtime=0) as file:
        file.write(json.dumps(trace, indent=0).encode())
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(work, (int(sys.argv[1]), sys.argv[2]), int(sys.argv[1]))
