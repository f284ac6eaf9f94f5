// weft: the one command-line program. Each subcommand is a file pair beside this one.
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units/input_error.h"
#include "sim/units/module.h"
#include "tools/weft/goal.h"
#include "tools/weft/import.h"
#include "tools/weft/list.h"
#include "tools/weft/sim.h"
#include "tools/weft/subcommand.h"
#include "tools/weft/topo.h"
#include "tools/weft/trace.h"

namespace weft::cli {
namespace {

constexpr const char* kVersion = "weft 0.1.0";

// Every subcommand, in the order of the path from an application to its results.
std::vector<Subcommand> subcommands() {
  return {
      {"trace", "Run a command and trace the MPI program in it", add_trace},
      {"import", "Turn traces into a GOAL graph", add_import},
      {"goal", "Generate, look into, check, convert and change GOAL graphs", add_goal},
      {"sim", "Replay a GOAL graph on a simulated network", add_sim},
      {"topo", "Build, look into, analyze, compare, price and draw networks", add_topo},
      {"list", "Name the networks, topologies, policies and algorithms to choose from", add_list},
      {"describe", "Tell what one of them does and which parameters it takes", add_describe},
  };
}

constexpr const char* kDescription =
    R"(weft answers one question: how fast would this application run on that network?

The path: an application is traced once, its trace becomes a GOAL graph (what every rank
computes, sends and receives, and in what order), and the graph is replayed on a simulated network.

  weft trace  -o DIR -- mpirun -n 8 APP …    run the application, write one trace per rank
  weft import mpi DIR -o APP.weft            turn the traces into a GOAL graph
  weft goal   info APP.weft                  see what is in it; check it, print it, convert it
  weft list; weft describe NAME              see what networks can be made of
  weft topo   info NAME:key=value            see what one is: analyze it, price it, draw it
  weft sim    --goal APP.weft … -o RUN       replay it on a network; results go to RUN)";

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

Exit status: 0 done, 1 internal error, 2 bad input, 3 the simulation could not go on,
4 a limit was hit, 130 interrupted.)";

// The innermost subcommand that was named on the command line, and its full name ("weft goal info").
const CLI::App* innermost(const CLI::App& app, std::string& name) {
  const CLI::App* at = &app;
  name = at->get_name();
  for (auto parsed = at->get_subcommands(); !parsed.empty(); parsed = at->get_subcommands()) {
    at = parsed.back();
    name += " " + at->get_name();
  }
  return at;
}

// The names a user could have meant where `app` was given something unknown.
std::vector<std::string> known_names(const CLI::App& app, bool options) {
  std::vector<std::string> names;
  if (options) {
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  } else {
    for (const CLI::App* sub : app.get_subcommands(nullptr)) names.push_back(sub->get_name());
  }
  return names;
}

// One line and a hint for a command line that can't be read.
int complain(const CLI::App& app, const CLI::ParseError& error) {
  std::string name;
  const CLI::App* at = innermost(app, name);
  std::string message = error.what();
  std::string hint;
  std::vector<std::string> left = at->remaining();
  std::erase(left, "--");  // ends the options; no one's mistake
  const bool has_subcommands = !at->get_subcommands(nullptr).empty();
  if (!left.empty()) {
    const bool is_option = left[0].starts_with("-");
    const std::string word = is_option ? left[0].substr(0, left[0].find('=')) : left[0];
    message = is_option         ? "unknown option '" + word + "'"
              : has_subcommands ? "unknown subcommand '" + word + "'"
                                : "'" + word + "' is one argument too many";
    const std::vector<std::string> known = known_names(*at, is_option);
    const std::string nearest = nearest_name(word, known);
    if (!nearest.empty() && (is_option || has_subcommands)) hint = "; did you mean '" + nearest + "'?";
  }
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::fprintf(stderr, "%s: %s%s (see '%s --help')\n", name.c_str(), message.c_str(), hint.c_str(),
               name.c_str());
  return kBadInput;
}

int run(int argc, char** argv) {
  CLI::App app(kDescription, "weft");
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(0, 1);
  int exit_code = kOk;
  for (const Subcommand& subcommand : subcommands()) {
    subcommand.add(*app.add_subcommand(subcommand.name, subcommand.summary), exit_code);
  }
  app.footer(kExamples);  // set last: subcommands would inherit it
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) std::fputs(app.help().c_str(), stdout);
  } catch (const CLI::Success& success) {  // --help and --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return complain(app, error);
  }
  return exit_code;
}

}  // namespace
}  // namespace weft::cli

int main(int argc, char** argv) {
  spdlog::set_default_logger(spdlog::stderr_logger_st("weft"));
  spdlog::set_pattern("%n: %v");
  spdlog::set_level(spdlog::level::warn);
  try {
    return weft::cli::run(argc, argv);
  } catch (const weft::InputError& error) {
    spdlog::error("{}", error.what());
    return weft::cli::kBadInput;
  } catch (const std::bad_alloc&) {
    spdlog::error("out of memory");
    return weft::cli::kLimit;
  } catch (const std::exception& error) {
    spdlog::critical("internal error: {}", error.what());
    return weft::cli::kInternalError;
  }
}
