#!/usr/bin/env python3
"""Ten questions to a run's results.sqlite, answered with pandas (Debian: python3-pandas).

    examples/read_results/read_results.py RUN
"""

import argparse
import sqlite3
import sys
from pathlib import Path

# Those of sim/results/SQLITE.md.
QUERIES = {
    "How did it end, and how long did it take?": """
SELECT key, value FROM run
WHERE key IN ('version', 'outcome', 'makespan_ns', 'wall_seconds', 'seed', 'digest')""",
    "Which messages were slowed most against an empty network?": """
SELECT flow, source, destination, bytes, finish_ns - start_ns AS completion_ns, slowdown
FROM flows WHERE slowdown IS NOT NULL ORDER BY slowdown DESC, flow LIMIT 10""",
    "How long do messages of each size take?": """
SELECT bytes, count(*) AS messages, avg(finish_ns - start_ns) AS mean_ns, max(finish_ns - start_ns) AS max_ns
FROM flows GROUP BY bytes ORDER BY bytes""",
    "What are the median and p99 of completion times, of all messages?": """
WITH sums AS (
  SELECT last, sum(count) OVER (ORDER BY first) AS up_to, sum(count) OVER () AS total
  FROM histograms WHERE quantity = 'completion_ns')
SELECT min(CASE WHEN 2 * up_to >= total THEN last END) AS p50_ns,
       min(CASE WHEN 100 * up_to >= 99 * total THEN last END) AS p99_ns FROM sums""",
    "Which links carried most?": """
SELECT link, "from", "to", bytes, utilization, max_queue_bytes
FROM links ORDER BY bytes DESC, link LIMIT 10""",
    "How evenly are the links that leave a node used?": """
SELECT "from", count(*) AS links, min(bytes) AS least, max(bytes) AS most
FROM links GROUP BY "from" ORDER BY most - least DESC, "from" LIMIT 10""",
    "Where do ranks spend their time?": """
SELECT job, count(*) AS ranks, sum(compute_ns) AS compute_ns, sum(overhead_ns) AS overhead_ns,
       sum(waiting_ns) AS waiting_ns, max(finish_ns) - min(finish_ns) AS spread_ns
FROM ranks GROUP BY job ORDER BY job""",
    "Which hosts exchange most?": """
SELECT source, destination, count(*) AS messages, sum(bytes) AS bytes
FROM flows GROUP BY source, destination ORDER BY sum(bytes) DESC, source, destination LIMIT 10""",
    "When were queues longest? (with `--sample`)": """
SELECT time_ns, max(queue_bytes) AS longest_queue, sum(bytes) AS bytes
FROM samples GROUP BY time_ns ORDER BY longest_queue DESC, time_ns LIMIT 10""",
    "What acted, what was warned of, and what is left out?": """
SELECT 'signal' AS kind, name AS what, count FROM signals
UNION ALL SELECT kind, text, NULL FROM warnings
UNION ALL SELECT 'omitted', table_name || ': ' || rule, rows - kept FROM omitted""",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path, help="folder that `weft sim -o` wrote")
    path = parser.parse_args().run / "results.sqlite"
    try:
        import pandas
    except ImportError:
        sys.exit("read_results.py: pandas is missing; on Debian: apt-get install python3-pandas")
    if not path.is_file():
        sys.exit(f"read_results.py: {path}: there is no such file")
    pandas.set_option("display.width", 120, "display.max_columns", 20)
    # For reading only, so that nothing is created or changed.
    with sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True) as database:
        for question, query in QUERIES.items():
            answer = pandas.read_sql_query(query, database)
            print(f"{question}\n{answer.to_string(index=False) if len(answer) else '(nothing)'}\n")


if __name__ == "__main__":
    main()
