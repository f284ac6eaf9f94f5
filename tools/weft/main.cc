// weft: the one command-line program. Each subcommand is a file pair beside this one.
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "sim/units/input_error.h"
#include "sim/units/memory.h"
#include "sim/units/part_file.h"
#include "sim/units/plugin_modules.h"
#include "sim/units/used_files.h"
#include "tools/weft/cli/build_info.h"
#include "tools/weft/cli/command.h"
#include "tools/weft/cli/completion.h"
#include "tools/weft/cli/list.h"
#include "tools/weft/cli/log.h"
#include "tools/weft/cli/manual.h"
#include "tools/weft/cli/memory_limit.h"
#include "tools/weft/cli/out_of_memory.h"
#include "tools/weft/cli/standard_output.h"
#include "tools/weft/cli/subcommand.h"
#include "tools/weft/goal/goal.h"
#include "tools/weft/goal/import.h"
#include "tools/weft/goal/nccl.h"
#include "tools/weft/route/place.h"
#include "tools/weft/route/route.h"
#include "tools/weft/run/bundle.h"
#include "tools/weft/run/compare_networks.h"
#include "tools/weft/run/explain.h"
#include "tools/weft/run/export.h"
#include "tools/weft/run/goodput.h"
#include "tools/weft/run/jobs.h"
#include "tools/weft/run/report.h"
#include "tools/weft/run/sim.h"
#include "tools/weft/run/sweep.h"
#include "tools/weft/topo/topo.h"
#include "tools/weft/trace/trace.h"

namespace weft::cli {
namespace {

// Every subcommand, in the order of the path from an application to its results.
std::vector<Subcommand> subcommands() {
  return {
      {"trace", "Run a command and trace the MPI program in it", add_trace},
      {"import", "Turn traces into a GOAL graph", add_import},
      {"goal", "Generate, look into, check, convert and change GOAL graphs", add_goal},
      {"sim", "Replay a GOAL graph on a simulated network", add_sim},
      {"compare-networks",
       "Run applications on several networks: times with their spread, prices, what bound each",
       add_compare_networks},
      {"explain", "Tell what bound a run, and what would have made it faster", add_explain},
      {"goodput", "Tell how far training gets in a month, with failures, checkpoints and restarts",
       add_goodput},
      {"sweep", "Run a scenario with many values of its fields and many seeds, side by side", add_sweep},
      {"report", "Make a page that shows a run, or several side by side", add_report},
      {"bundle", "Pack a run with all that it was made from, for others to make it again", add_bundle},
      {"verify", "Make a bundled run again, and tell whether it is the same", add_verify},
      {"export", "Write results of a run as files for other programs", add_export},
      {"topo", "Build, look into, analyze, compare, price and draw networks", add_topo},
      {"route", "List paths, expect loads of links, and look for deadlocks, without a simulation", add_route},
      {"place", "Show where jobs' ranks would go, and compare placements, without a simulation", add_place},
      {"nccl", "Explain what NCCL would choose for a collective", add_nccl},
      {"jobs", "Try schedulers on a list of jobs, without a network", add_jobs},
      {"list", "Name the networks, topologies, policies and algorithms to choose from", add_list},
      {"describe", "Tell what one of them does and which parameters it takes", add_describe},
  };
}

constexpr const char* kDescription =
    R"(weft answers one question: how fast would this application run on that network?

The path: an application is traced once, its trace becomes a GOAL graph (what every rank computes, sends and receives, and in what order), and the graph is replayed on a simulated network.

  weft trace -o DIR -- mpirun -n 8 APP   run the application, trace each rank
  weft import mpi DIR -o APP.weft        turn the traces into a GOAL graph
  weft goal info APP.weft                see what is in it; check it, convert it
  weft list; weft describe NAME          see what networks can be made of
  weft topo info NAME:key=value          see what one is: analyze, price, draw it
  weft sim --goal APP.weft … -o RUN      replay it on a network)";

constexpr const char* kExamples =
    R"(Examples:
  weft trace -o lj_trace -- mpirun -n 8 lmp -in examples/quickstart/in.lj
  weft import mpi lj_trace -o lj.weft
  weft goal info lj.weft
  weft list topology
  weft describe fat_tree
  weft sim --goal lj.weft --network loggops:L=2000,o=1500,g=10,G=0.08 -o lj_loggops
  weft sim --goal lj.weft --topology fat_tree:k=4,link=100Gbps --congestion dctcp -o lj_packet

Each subcommand tells more: weft sim --help.

Exit status: 0 done, 1 internal error, 2 bad input, 3 the simulation could not go on, 4 a limit was hit, 128 + the number of a signal that ended it (130: Ctrl-C).)";

int run(int argc, char** argv) {
  CommandLine line("weft", kDescription, build_info());
  Command root = line.root();
  int exit_code = kOk;
  for (const Subcommand& subcommand : subcommands()) {
    Command added = root.add_subcommand(subcommand.name, subcommand.summary);
    subcommand.add(added, exit_code);
  }
  const auto tree = [&line] { return line.tree(); };
  Command manual =
      root.add_subcommand("manual", "Write the reference as a page, and manual pages of all commands");
  add_manual(manual, tree);
  add_completion(root, tree);
  root.footer(kExamples);  // set last: subcommands would inherit it
  return line.run(argc, argv) ? exit_code : kBadInput;
}

// Calls run(), with a line on standard error for what ends it early.
int run_reporting(int argc, char** argv) {
  try {
    log::start();
    keep_inputs_whole();
    remove_parts_on_signals();
    limit_memory_to_available();
    listen_for_memory([](const std::string& text) { log::warn(text); });
    return run(argc, argv);
  } catch (const InputError& error) {
    log::error(error.what());
    return kBadInput;
  } catch (const std::bad_alloc& error) {
    lift_memory_limit();
    log::error(about_memory(error, ""));
    return kLimit;
  } catch (const std::system_error& error) {  // a folder that can't be read, for instance
    const bool memory = error.code() == std::errc::not_enough_memory;
    const bool printing = std::ferror(stdout) != 0;
    log::error(memory     ? "out of memory"
               : printing ? "can't write to standard output: " + error.code().message()
                          : error.what());
    return memory ? kLimit : kBadInput;
  } catch (const std::exception& error) {
    const std::string plugins = plugins_loaded();
    log::error(
        (plugins.empty() ? "internal error: " : "error in a plug-in (" + plugins + ") or internal error: ") +
        error.what());
    return kInternalError;
  } catch (...) {  // this program throws nothing else
    log::error("error in a plug-in (" + plugins_loaded() + "): it threw what is no std::exception");
    return kInternalError;
  }
}

}  // namespace
}  // namespace weft::cli

int main(int argc, char** argv) {
  weft::cli::hold_standard_streams();
  weft::cli::watch_for_refused_memory();
  const int status = weft::cli::run_reporting(argc, argv);
  // Where printing failed in the middle, that was the error, and is told.
  const bool told = status != weft::cli::kOk && std::ferror(stdout) != 0;
  const bool printed = told || weft::cli::finish_output(stdout);
  return status == weft::cli::kOk && !printed ? weft::cli::kBadInput : status;
}
