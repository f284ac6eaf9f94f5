#!/usr/bin/env python3
"""Many jobs with arrivals on one network of 1,024 hosts, at flow level: how long a run takes.

    tools/bench/flow/jobs.py [--weft WEFT] [--jobs N]

Stencils and all-to-alls in turn, of 2, 4 and 8 ranks, begin at random times, 20 us apart in the mean, on
hosts drawn at random of a fat tree of 16-port switches with 100 Gb/s. Prints processor time and jobs x hosts
per second of it.
"""

import argparse
import json
import pathlib
import random
import resource
import subprocess
import tempfile

HOSTS = 1024


def scenario(jobs):
    draw = random.Random(1)
    lines = ['network { flow {} }',
             'topology { fat_tree { k: 16 link: "100Gbps" } }',
             'routing { ecmp {} }',
             'placement { random {} }']
    # Of ten jobs two have 2 ranks, five 4, three 8.
    sizes = [(2, 2, 4, 4, 4, 4, 4, 8, 8, 8)[i % 10] for i in range(jobs)]
    draw.shuffle(sizes)
    at = 0
    for i, ranks in enumerate(sizes):
        at += int(draw.expovariate(1 / 20e3))
        if i % 2 == 0:
            traffic = f'stencil {{ ranks: {ranks} dims: "2d" cells: "32768" iterations: 50 compute: "20us" }}'
        else:
            traffic = f'alltoall {{ ranks: {ranks} size: "1MB" iterations: 20 }}'
        lines.append(f'job {{ name: "j{i}" at: "{at}ns" traffic {{ {traffic} }} }}')
    return '\n'.join(lines) + '\n'


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--weft', default='bazel-bin/tools/weft/weft')
    parser.add_argument('--jobs', type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / 'jobs.txtpb').write_text(scenario(options.jobs))
        subprocess.run([options.weft, 'sim', path / 'jobs.txtpb', '--no-flows', '-o', path / 'run'],
                       check=True, stdout=subprocess.DEVNULL)
        rows = (path / 'run' / 'jobs.csv').read_text().splitlines()
        names = rows[0].split(',')
        jobs = [dict(zip(names, row.split(','))) for row in rows[1:]]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = used.ru_utime + used.ru_stime
    print(json.dumps({
        'jobs': len(jobs),
        'complete': sum(job['status'] == 'complete' for job in jobs),
        'messages': sum(int(job['messages']) for job in jobs),
        'simulated_ms': round(max(float(job['finish_ns']) for job in jobs) / 1e6, 2),
        'seconds': round(seconds, 2),
        'jobs_hosts_per_second': round(len(jobs) * HOSTS / seconds),
        'memory_MiB': used.ru_maxrss // 1024,
    }))


if __name__ == '__main__':
    main()
