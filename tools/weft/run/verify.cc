#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "sim/results/report.h"
#include "sim/scenario/scenario.h"
#include "sim/units/input_error.h"
#include "sim/units/printable.h"
#include "sim/units/used_files.h"
#include "sim/units/version.h"
#include "tools/bundle/archive.h"
#include "tools/bundle/manifest.h"
#include "tools/weft/cli/build_info.h"
#include "tools/weft/cli/phases.h"
#include "tools/weft/cli/standard_output.h"
#include "tools/weft/cli/subcommand.h"
#include "tools/weft/run/bundle.h"
#include "tools/weft/run/rerun.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

struct VerifyOptions {
  std::string bundle, extract;
  bool allow_plugins = false, json = false;
};

// Where the files of a bundle are while it is verified: a new folder, which goes at the end unless it was
// asked for.
class ExtractionFolder {
 public:
  explicit ExtractionFolder(const std::string& asked) : kept_(!asked.empty()) {
    kept_ ? take(asked) : make();
  }
  ~ExtractionFolder() { remove(); }
  ExtractionFolder(const ExtractionFolder&) = delete;
  ExtractionFolder& operator=(const ExtractionFolder&) = delete;

  const std::string& path() const { return path_; }
  void remove() const noexcept {
    std::error_code ignored;
    if (!kept_) fs::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  void make() {
    std::string name = (fs::temp_directory_path() / "weft-verify-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw InputError(name + ": can't make this folder: " + std::generic_category().message(errno));
    }
    path_ = name;
  }
  void take(const std::string& asked) {
    std::error_code error;
    path_ = fs::absolute(asked).string();
    fs::create_directories(path_, error);
    if (error || !fs::is_empty(path_, error) || error) {
      throw InputError(asked + ": can't extract there: expected a folder that is empty, or a new one");
    }
  }

  const bool kept_;
  std::string path_;
};

bundle::Manifest read_manifest(bundle::ArchiveReader& archive, const std::string& path) {
  constexpr std::uint64_t kMostBytes = 16 << 20;
  if (archive.next() != bundle::kManifest) {
    throw InputError(
        fmt::format("{}: its first file is no {}: weft bundle did not make it", path, bundle::kManifest));
  }
  return bundle::read_manifest(archive.contents(kMostBytes), path);
}

// Every file is the one that was packed, or it is an error.
void extract(bundle::ArchiveReader& archive, const bundle::Manifest& manifest, const ExtractionFolder& place,
             const std::string& path) {
  for (const bundle::PackedFile& file : manifest.files) {
    const std::optional<std::string> name = archive.next();
    if (name != file.name) {
      throw InputError(fmt::format("{}: it has {} where its manifest says {}", path,
                                   name ? printable(*name) : "nothing", printable(file.name)));
    }
    if (archive.extract(place / file.name, file.bytes) != file.sha256) {
      throw InputError(fmt::format("{}: {} is not the {} that was packed: its SHA-256 is another", path,
                                   printable(file.name), file.plugin ? "plug-in" : "file"));
    }
  }
  if (const auto more = archive.next()) {
    throw InputError(fmt::format("{}: {} is not in its manifest", path, printable(*more)));
  }
}

void check_plugins(const ExtractionFolder& place, const VerifyOptions& options) {
  const std::vector<std::string> plugins = sim::plugins_named_in(place / bundle::kScenario);
  if (plugins.empty() || options.allow_plugins) return;
  throw InputError(
      fmt::format("{}: the run needs the plug-in {}, code that would run with all that you may "
                  "do: --allow-plugins if you trust where the bundle comes from",
                  options.bundle, printable(plugins.front())));
}

results::Report run_again(const ExtractionFolder& place, Phases& phases, bool quiet) {
  // Its paths are relative to its own place, and nothing else is opened.
  fs::current_path(place.path());
  const ForeignPaths nothing_else(place.path());
  Rerun rerun(bundle::kScenario, phases, quiet);
  return rerun.run({}, "running it again");
}

std::string made_by(const bundle::Manifest& manifest) {
  const std::string mine = build_commit();
  if (manifest.version == kVersion && manifest.commit == mine) return "";
  const auto named = [](const std::string& version, const std::string& commit) {
    return fmt::format("weft {} (commit {})",
                       version.empty() ? "of a version not recorded" : printable(version),
                       commit.empty() ? "not recorded" : printable(commit));
  };
  return fmt::format("it was made by {}, and run again by {}", named(manifest.version, manifest.commit),
                     named(kVersion, mine));
}

bool verify(const VerifyOptions& options) {
  const ExtractionFolder place(options.extract);
  bundle::ArchiveReader archive(options.bundle);
  const bundle::Manifest manifest = read_manifest(archive, options.bundle);
  Phases phases(!options.json);
  phases.set_last_words([&](const std::string& /*reason*/) { place.remove(); });
  phases.enter("unpacking " + options.bundle);
  extract(archive, manifest, place, options.bundle);
  check_plugins(place, options);
  const results::Report report = run_again(place, phases, options.json);

  const std::string digest = fmt::format("{:016x}", report.digest);
  const bool same = digest == manifest.digest && results::name(report.outcome) == manifest.outcome;
  const double makespan = static_cast<double>(report.makespan.ps()) / 1000;
  const std::string other = made_by(manifest);
  if (options.json) {
    const nlohmann::ordered_json told = {
        {"bundle", options.bundle}, {"same", same},
        {"digest", digest},         {"digest_packed", manifest.digest},
        {"makespan_ns", makespan},  {"makespan_packed_ns", manifest.makespan_ns},
        {"remark", other}};
    fmt::print("{}\n", told.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return same;
  }
  print_text(fmt::format("{}: {} files as they were packed\n", options.bundle, manifest.files.size()));
  print_text(same ? fmt::format("the run is the same: digest {}, {} ns\n", digest, makespan)
                  : fmt::format("the run is ANOTHER: digest {} where {} was packed, {} ns where {} were\n",
                                digest, printable(manifest.digest), makespan, manifest.makespan_ns));
  if (!other.empty()) print_text(other + "\n");
  return same;
}

}  // namespace

void add_verify(Command& command, int& exit_code) {
  const auto options = std::make_shared<VerifyOptions>();
  command.add_option("BUNDLE", options->bundle, "What weft bundle has made").required();
  command.add_flag("--allow-plugins", options->allow_plugins,
                   "Load the plug-ins in the bundle, which is to trust whoever made it");
  command.add_option("--extract", options->extract, "Leave the files in this folder, new or empty");
  command.add_flag("--json", options->json, "Print JSON");
  command.footer(
      "Checks that every file is the one that was packed, runs the scenario again, and compares the digests "
      "of all events. Exit status 0 if they are the same, else 2. Of this machine nothing but the bundle is "
      "read.\n"
      "Examples:\n"
      "  weft verify run.tar.zst\n"
      "  weft verify run.tar.zst --extract run_files");
  command.callback([options, &exit_code] {
    if (!verify(*options)) exit_code = kBadInput;
  });
}

}  // namespace weft::cli
