#!/usr/bin/env python3
"""Runs steps of training that were published, and tells how far they come out: the tables of RESULTS.md.

  published.py WEFT [published.csv] [--only TEXT] [--set WORDS] [--efficiency NUMBER | --fit] [--command | --attention]

The CSV (by default $WEFT_ORACLE_DIR/training/training_published.csv) has a row for each: source, model, gpu, gpus,
precision, seq, tp, pp, cp, ep, dp, vp, mbs, gbs, sharding, recompute, step_s. Rows that nothing here knows how to run
are counted, by source. --only takes rows whose source, model or precision has the text in it.

The stack is that of a row's source. published_pytorch.csv, beside this file, has rows of torchtitan and IBM. Those of
405B don't say how many micro-batches there are: they have as many as stages, as torchtitan then did unless told.

Runs are at flow level on DGX nodes. Of many micro-batches two numbers are run, and the step is
the straight line through them: each micro-batch adds as much as the one before once the pipeline is full.

--set attention=unfused: further parameters of `llm`, for all rows.

--fit: of each curve (source, model, precision, layout) an efficiency is fitted at its fewest GPUs.

--attention: nothing is run. Shares of peak of Triton's attention, from how llm-foundry's time for a token grows with
the sequence; those of FITTED are fitted.
"""

import argparse
import collections
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

# V. Korthikanti et al., 2022, table 3: sequences of a micro-batch and a step, parts of a stage.
KORTHIKANTI = {"megatron_22b": (4, 4, 1), "gpt3_175b": (1, 64, 3), "turing_530b": (1, 280, 3),
               "megatron_1t": (1, 512, 1)}
# D. Narayanan et al., 2021, table 1: Megatron-LM's examples/sc21/run_table_1.sh, sequences of a micro-batch and parts
# of a stage.
NARAYANAN = {"gpt_1.7b": (16, 1), "gpt_3.6b": (16, 1), "gpt_7.5b": (16, 1), "gpt_18.4b": (8, 1), "gpt_39.1b": (4, 1),
             "gpt_76.1b": (2, 3), "gpt_145.6b": (2, 2), "gpt_310.1b": (1, 2), "gpt_529.6b": (1, 3),
             "gpt_1008.0b": (1, 1)}


DGXC_PARTS = {"gpt3_175b": 6, "nemotron4_340b": 12}
# NVIDIA/Megatron-Bridge, docs/performance-summary.
BRIDGE_MODELS = {"LLAMA3_70B": "llama3_70b", "LLAMA3.1_405B": "llama3_405b", "GPT OSS 120B": "gpt_oss_120b",
                 "Qwen3_30B_a3B": "qwen3_30b_a3b", "Qwen3_235B_a22B": "qwen3_235b_a22b",
                 "DeepSeekV3": "deepseek_v3", "Kimi_K2": "kimi_k2"}

# Layers and hidden size of llm-foundry's models, and those whose curves attention's shares are fitted to.
MPT = {"mpt_125m": (12, 768), "mpt_350m": (24, 1024), "mpt_760m": (24, 1536), "mpt_1b": (24, 2048), "mpt_3b": (32, 2560),
       "mpt_7b": (32, 4096), "mpt_13b": (40, 5120), "mpt_30b": (48, 7168), "mpt_70b": (80, 8192)}
FITTED = ("mpt_1b", "mpt_3b", "mpt_7b", "mpt_13b")
PEAK_AND_EFFICIENCY = {"a100_80gb": (312e12, 0.96), "h100_80gb": (989.4e12, 0.87)}


def number(text):
    return int(text) if text else 1


def layout(row):
    words = {axis: number(row[axis]) for axis in ("tp", "pp", "cp", "vp")}
    words["dp"] = int(row["gpus"]) // (words["tp"] * words["pp"] * words["cp"])
    return {**words, "seq": number(row["seq"]), "global_batch": number(row["gbs"]), "micro_batch": number(row["mbs"])}


def korthikanti(row):
    micro_batch, batch, parts = KORTHIKANTI[row["model"]]
    more = {"sp": "false", "recompute": "full"} if row["recompute"] == "full" else {"recompute": "selective"}
    return {**layout(row), "model": row["model"], "device": "a100", "vp": parts, "micro_batch": micro_batch,
            "global_batch": batch, "stack": "megatron", **more}


def narayanan(row):
    name = row["model"].split()[0]
    micro_batch, parts = NARAYANAN[name]
    return {**layout(row), "model": name.replace(".", "_"), "device": "a100", "vp": parts, "micro_batch": micro_batch,
            "sharding": "none", "dp_overlap": "none", "gradients": "bf16", "accumulate": "separate", "sp": "false",
            "recompute": "full", "stack": "megatron"}


def dgxc(row):
    # GPT-3's page gives 6 parts of a stage, and 12 in its text; that of 340B gives none, and the recipe that it runs 12
    # (NVIDIA/NeMo, scripts/performance/recommended_model_configs/model_configs_h100.csv).
    parts = {"vp": DGXC_PARTS[row["model"]]} if row["model"] in DGXC_PARTS else {}
    # NeMo's recipes overlap tp with products wherever there is tp.
    if number(row["tp"]) > 1:
        parts["tp_overlap"] = "true"
    return {**layout(row), **parts, "model": row["model"].replace(".", "_"), "device": "h100",
            "precision": row["precision"], "stack": "nemo"}


def llm_foundry(row):
    full = row["recompute"] == "True"
    device = row["gpu"] if row["gpu"] == "a100_40gb" else row["gpu"].split("_")[0]
    return {**layout(row), "model": row["model"], "device": device, "sharding": "fsdp",
            "gradients": "bf16", "recompute": "full" if full else "none", "stack": "llm_foundry",
            **({"precision": "fp8"} if row["precision"] == "amp_fp8" else {})}


def bridge(row):
    name, device = BRIDGE_MODELS.get(row["model"]), row["gpu"]
    if "Pre-Training" not in row["source"] or not name or device not in ("h100", "b200", "gb200", "gb300"):
        return None
    precision = {"BF16": "bf16", "FP8": "fp8", "MXFP8": "fp8"}.get(row["precision"])
    if precision is None:
        return None
    cleaned = {key: "" if value == "n/a" else value for key, value in row.items()}
    more = {"ep": number(cleaned["ep"])} if number(cleaned["ep"]) > 1 else {}
    if number(cleaned["tp"]) > 1:
        more["tp_overlap"] = "true"
    return {**layout(cleaned), **more, "model": name, "device": device, "precision": precision,
            "stack": "megatron", **({"sharding": "fsdp"} if row["sharding"] == "fsdp" else {})}


def megascale(row):
    # Z. Jiang et al., MegaScale, NSDI 2024, section 6.1: six parts of a stage.
    return {**layout(row), "model": "gpt3_175b", "device": "a100", "vp": 6, "micro_batch": 1, "recompute": "selective",
            "stack": "megatron"}


def pytorch(row):
    more = {"tp_overlap": "true"} if "async tp" in row["source"] else {}
    if number(row["cp"]) > 1:
        more["cp_exchange"] = "gather"
    return {**layout(row), **more, "model": row["model"].replace(".1", ""), "device": row["gpu"].split("_")[0],
            "precision": row["precision"], "sharding": "hsdp" if "HSDP" in row["source"] else "fsdp", "recompute": row["recompute"],
            "stack": "torch_compile" if "compile" in row["source"] else "pytorch"}


READERS = {"Megatron-Bridge": bridge, "MegaScale": megascale, "torchtitan": pytorch, "IBM fms-fsdp": pytorch,
           "Korthikanti 2022": korthikanti, "Megatron-LM 2021": narayanan, "NVIDIA/dgxc-benchmarking": dgxc,
           "mosaicml/llm-foundry": llm_foundry}


def read(path, only):
    known, unknown = [], collections.Counter()
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if only and not any(only in row[key] for key in ("source", "model", "precision")):
                continue
            reader = next((READERS[name] for name in READERS if row["source"].startswith(name)), None)
            if not row["step_s"] and row["tokens_per_s_gpu"] and row["gbs"]:
                tokens = number(row["gbs"]) * number(row["seq"]) / number(row["gpus"])
                row["step_s"] = f"{tokens / float(row['tokens_per_s_gpu']):.4g}"
            words = reader(row) if reader and row["step_s"] else None
            if words is None:
                unknown[row["source"].split("@")[0]] += 1
            else:
                known.append((row, words))
    return known, unknown


def topology(device, gpus):
    device = device.removesuffix("_40gb")
    if device in ("gb200", "gb300"):
        # Of a rack's 72 GPUs jobs of several racks take 64, so that groups of 8 to 64 lie within one.
        racks = (gpus + 63) // 64 if gpus > 72 else 1
        taken = ",accelerators=64" if racks > 1 else ""
        return f"scale_up:of=[single_switch:hosts={racks}],node=gb200_nvl72{taken}"
    node = {"a100": "dgx_a100", "h100": "dgx_h100", "h200": "dgx_h100", "b200": "dgx_b200"}[device]
    nodes = (gpus + 7) // 8
    if nodes == 1:
        return f"scale_up:of=[single_switch:hosts=1],node={node}"
    units = (nodes + 31) // 32
    link = {"a100": 200, "h100": 400, "h200": 400, "b200": 400}[device]
    each = max((nodes + units - 1) // units, 4)  # with fewer a spine has too few ports for 8 rails
    return f"scale_up:of=[rail_optimized:units={units},nodes={each},link={link}Gbps],node={node}"


def command(weft, words, folder):
    gpus = words["tp"] * words["pp"] * words["cp"] * words["dp"]
    traffic = ",".join(f"{key}={value}" for key, value in words.items())
    return [weft, "sim", "-q", "--traffic", f"llm:{traffic}", "--network", "flow", "--topology",
            topology(words["device"], gpus), "-o", folder]


def run(weft, words):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command(weft, words, f"{folder}/run"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(done.args)}\n{done.stdout}")
        return json.loads(Path(f"{folder}/run/summary.json").read_text())["makespan_ns"] * 1e-9


def step_seconds(weft, words):
    at_once = words["micro_batch"] * words["dp"]
    micro_batches, stages = words["global_batch"] // at_once, words["pp"]
    few, more = max(2 * stages, 4), max(3 * stages, 8)
    if micro_batches <= more:
        return run(weft, words)
    of = {count: run(weft, {**words, "global_batch": count * at_once}) for count in (few, more)}
    return of[more] + (of[more] - of[few]) / (more - few) * (micro_batches - more)


def fitted(weft, words, seconds):
    """What of the step is computation scales with 1 / efficiency: a secant, twice."""
    low, high = 1.0, 0.9
    times = [step_seconds(weft, {**words, "efficiency": value}) for value in (low, high)]
    for _ in range(2):
        slope = (times[1] - times[0]) / (1 / high - 1 / low)
        value = 1 / (1 / high + (seconds - times[1]) / slope)
        low, high = high, round(value, 3)
        times = [times[1], step_seconds(weft, {**words, "efficiency": high})]
        if abs(times[1] / seconds - 1) < 0.001:
            break
    return high


def curve(row):
    return tuple(row[key] for key in ("source", "model", "gpu", "precision", "seq", "tp", "pp", "cp", "recompute", "mbs"))


def told(row, words):
    axes = " ".join(f"{axis}={words[axis]}" for axis in ("tp", "pp", "vp", "cp", "dp") if words[axis] > 1)
    more = " ".join(str(words[key]) for key in ("recompute",) if key in words)
    return f"| {row['model'].split()[0]} {row['precision']} {more} | {axes} | {row['gpus']} |"


def attention_shares(rows):
    """Of a token 2·layers·hidden·tokens are forward's FLOPs of attention, 2.5 times as many backward's."""
    curves = collections.defaultdict(list)
    for row, _ in rows:
        if not row["source"].startswith("mosaicml") or row["precision"] == "amp_fp8":
            continue
        if row["gpus"] == "8" and row["sharding"] == "FULL_SHARD":
            seconds = float(row["step_s"]) * 8 / (int(row["gbs"]) * int(row["seq"]))
            curves[row["gpu"], row["recompute"] == "True", row["model"]].append((int(row["seq"]), seconds))
    costs = collections.defaultdict(list)  # seconds for the FLOPs of a forward pass, at peak 1
    print("| GPU | model | recomputed | sequences | share of peak in all |\n|---|---|---|---|---|")
    for (gpu, again, model), points in sorted(curves.items()):
        (short, low), (long, high) = min(points), max(points)
        if short == long:
            continue
        peak, efficiency = PEAK_AND_EFFICIENCY.get(gpu, (312e12, 0.96))
        layers, hidden = MPT[model]
        cost = (high - low) / (long - short) * peak * efficiency / (2 * layers * hidden)
        print(f"| {gpu} | {model} | {again} | {short} to {long} | {(4.5 if again else 3.5) / cost:.3f} |")
        if model in FITTED and gpu in PEAK_AND_EFFICIENCY:
            costs[gpu, again].append(cost)
    for gpu in PEAK_AND_EFFICIENCY:
        once, twice = (statistics.mean(costs[gpu, again]) for again in (False, True))
        print(f"{gpu}: {1 / (twice - once):.3f} forward, {2.5 / (2 * once - twice):.3f} backward")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("csv", nargs="?",
                        default=os.path.join(os.environ.get("WEFT_ORACLE_DIR", "."), "training/training_published.csv"))
    parser.add_argument("--only")
    parser.add_argument("--most", type=int, default=4096, help="GPUs of a row, at most")
    parser.add_argument("--set", default="", metavar="WORDS")
    parser.add_argument("--efficiency", type=float)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--command", action="store_true", help="tell the commands, and run nothing")
    parser.add_argument("--attention", action="store_true")
    options = parser.parse_args()
    known, unknown = read(options.csv, options.only)
    more = dict(word.split("=", 1) for word in options.set.split(",") if word)
    known = [(row, {**words, **more}) for row, words in known if int(row["gpus"]) <= options.most]
    for source, count in unknown.items():
        print(f"not run: {count} rows of {source}", file=sys.stderr)
    if options.attention:
        attention_shares(known)
        return
    if options.command:
        for _, words in known:
            print(" ".join(command(options.weft, words, "run")))
        return
    print("| model | layout | GPUs | efficiency | here | published | |\n|---|---|---|---|---|---|---|")
    errors, efficiencies = [], {}
    for row, words in sorted(known, key=lambda each: (curve(each[0]), int(each[0]["gpus"]))):
        published = float(row["step_s"])
        if options.fit:
            if curve(row) not in efficiencies:
                efficiencies[curve(row)] = fitted(options.weft, words, published)
            words["efficiency"] = efficiencies[curve(row)]
        elif options.efficiency:
            words["efficiency"] = options.efficiency
        seconds = step_seconds(options.weft, words)
        errors.append(seconds / published - 1)
        print(f"{told(row, words)} {words.get('efficiency', 'auto')} | {seconds:.3f} s | {published:g} | "
              f"{100 * errors[-1]:+.1f}% |", flush=True)
    if errors:
        print(f"\n{len(errors)} rows: mean error {100 * statistics.mean(errors):+.1f}%, of absolute ones "
              f"{100 * statistics.mean(map(abs, errors)):.1f}%, worst {100 * max(map(abs, errors)):.1f}%")


if __name__ == "__main__":
    main()
