#include "tools/weft/run/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/plugins/load.h"
#include "sim/results/sha256.h"
#include "sim/run/simulation.h"
#include "sim/scenario/scenario.h"
#include "sim/units/foreign_database.h"
#include "sim/units/input_error.h"
#include "sim/units/input_file.h"
#include "sim/units/printable.h"
#include "tools/bundle/archive.h"
#include "tools/bundle/manifest.h"
#include "tools/weft/cli/file_ending.h"
#include "tools/weft/cli/standard_output.h"
#include "tools/weft/topo/topo_output.h"

namespace weft::cli {
namespace {

struct BundleOptions {
  std::string run, output;
};

// What results.sqlite says of how a run was made; all empty where the run kept none.
struct Recorded {
  std::string version, commit;
  std::set<std::pair<std::string, std::string>> inputs;  // last part of the path, and digest
};

std::string last_part(const std::string& path) { return std::filesystem::path(path).filename().string(); }

Recorded recorded_of(const std::string& run) {
  const std::string path = run + "/results.sqlite";
  Recorded recorded;
  if (!std::filesystem::exists(path)) return recorded;
  const ForeignDatabase database(path, "the results of a run", ForeignDatabase::Schema::kPlainTables);
  ForeignDatabase::Query inputs(database, "SELECT path, sha256 FROM inputs");
  while (inputs.next()) recorded.inputs.emplace(last_part(std::string(inputs.text(0))), inputs.text(1));
  ForeignDatabase::Query values(database, "SELECT key, value FROM run WHERE key IN ('version', 'commit')");
  while (values.next()) (values.text(0) == "version" ? recorded.version : recorded.commit) = values.text(1);
  return recorded;
}

// Is this what the run read? A file without a digest there was too long for one, or a pipe.
bool is_as_recorded(const bundle::PackedFile& file, const Recorded& recorded) {
  const std::string name = last_part(file.path);
  const auto first = recorded.inputs.lower_bound({name, ""});
  if (first == recorded.inputs.end() || first->first != name || first->second.empty()) return true;
  return recorded.inputs.contains({name, file.sha256});
}

bundle::PackedFile packed(const std::string& path, std::string name, bool plugin) {
  check_input(path);
  bundle::PackedFile file{.name = std::move(name), .path = path, .plugin = plugin};
  file.bytes = std::filesystem::file_size(path);
  file.sha256 = results::sha256_of_file(path);
  if (file.sha256.empty()) throw InputError(path + ": can't be read to its end");
  return file;
}

// A run's scenario whose paths lead into the bundle, and the files there.
struct Packing {
  std::string scenario;
  std::vector<bundle::PackedFile> files;
};

Packing packing_of(const std::string& run, const Recorded& recorded) {
  const std::string path = run + "/" + bundle::kScenario;
  const std::vector<std::string> plugins = sim::plugins_named_in(path);
  for (const std::string& plugin : plugins) sim::load_plugin(plugin);
  const sim::Registries registries = sim::builtin_registries();
  const sim::Draft told = sim::read_scenario_file(registries, path, {});
  Packing packing;
  const sim::Draft inside = sim::with_paths(told, registries, [&](const std::string& from) {
    for (const bundle::PackedFile& file : packing.files) {
      if (file.path == from) return file.name;
    }
    const bool plugin = std::find(plugins.begin(), plugins.end(), from) != plugins.end();
    const std::string name = fmt::format("inputs/{}/{}", packing.files.size(), last_part(from));
    packing.files.push_back(packed(from, name, plugin));
    if (!is_as_recorded(packing.files.back(), recorded)) {
      throw InputError(from + ": this file has changed since the run; run it again, then bundle that");
    }
    return name;
  });
  packing.scenario = sim::to_text(inside, registries);
  return packing;
}

bundle::Manifest manifest_of(const std::string& run, const Recorded& recorded) {
  const nlohmann::json summary = RunFolder::summary(run);
  bundle::Manifest manifest{.version = recorded.version, .commit = recorded.commit};
  try {
    summary.at("digest").get_to(manifest.digest);
    summary.at("outcome").get_to(manifest.outcome);
    summary.at("makespan_ns").get_to(manifest.makespan_ns);
  } catch (const nlohmann::json::exception& error) {
    throw InputError(SourceLocation{.file = run + "/summary.json"},
                     fmt::format("this is not what this weft leaves: {}", printable(error.what())));
  }
  if (manifest.outcome != "complete" && manifest.outcome != "incomplete") {
    throw InputError(fmt::format("{}: this run was cut short ({}), so running it again tells nothing", run,
                                 printable(manifest.outcome)));
  }
  return manifest;
}

bundle::PackedFile written_by_weft(const char* name, std::string_view contents) {
  results::Sha256 digest;
  digest.add(contents);
  return {.name = name, .path = "", .sha256 = digest.finish(), .bytes = contents.size()};
}

void make_bundle(const BundleOptions& options) {
  refuse_ending_of_another(options.output, "a bundle is a tar archive compressed by Zstandard",
                           {".tar.zst", ".tzst"});
  const Recorded recorded = recorded_of(options.run);
  bundle::Manifest manifest = manifest_of(options.run, recorded);
  const Packing packing = packing_of(options.run, recorded);
  const std::string summary = read_input(options.run + "/summary.json");
  manifest.files = {written_by_weft(bundle::kScenario, packing.scenario),
                    written_by_weft("summary.json", summary)};
  manifest.files.insert(manifest.files.end(), packing.files.begin(), packing.files.end());

  bundle::ArchiveWriter archive(options.output);
  archive.add(bundle::kManifest, bundle::to_json(manifest));
  archive.add(bundle::kScenario, packing.scenario);
  archive.add("summary.json", summary);
  for (const bundle::PackedFile& file : packing.files) archive.add_file(file.name, file.path, file.bytes);
  archive.close();
  print_text(fmt::format("{}: scenario, {} input file{}, digest {}\nweft verify {}\n", options.output,
                         packing.files.size(), packing.files.size() == 1 ? "" : "s", manifest.digest,
                         options.output));
}

}  // namespace

void add_bundle(Command& command, int& /*exit_code*/) {
  const auto options = std::make_shared<BundleOptions>();
  command.add_option("RUN", options->run, "Folder of a run, as weft sim -o leaves it").required();
  command.add_option("-o,--output", options->output, "The bundle to write: NAME.tar.zst").required();
  command.footer(
      "A bundle holds the scenario, every file that the run read (graphs, wiring, tables, plug-ins) with its "
      "SHA-256, which weft ran, and the digest of the run. weft verify makes the run again from it.\n"
      "Examples:\n"
      "  weft bundle RUN -o run.tar.zst\n"
      "  weft verify run.tar.zst");
  command.callback([options] { make_bundle(*options); });
}

}  // namespace weft::cli
