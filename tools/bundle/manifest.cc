#include "tools/bundle/manifest.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/units/input_error.h"
#include "sim/units/printable.h"

namespace weft::bundle {
namespace {

using Json = nlohmann::ordered_json;

// Counts up when a bundle is laid out in another way.
constexpr int kFormat = 1;

PackedFile file_of(const Json& json) {
  PackedFile file;
  json.at("name").get_to(file.name);
  json.at("path").get_to(file.path);
  json.at("sha256").get_to(file.sha256);
  json.at("bytes").get_to(file.bytes);
  json.at("plugin").get_to(file.plugin);
  return file;
}

}  // namespace

std::string to_json(const Manifest& manifest) {
  Json json = {{"format", kFormat},           {"weft_version", manifest.version},
               {"commit", manifest.commit},   {"digest", manifest.digest},
               {"outcome", manifest.outcome}, {"makespan_ns", manifest.makespan_ns},
               {"files", Json::array()}};
  for (const PackedFile& file : manifest.files) {
    json["files"].push_back({{"name", file.name},
                             {"path", file.path},
                             {"sha256", file.sha256},
                             {"bytes", file.bytes},
                             {"plugin", file.plugin}});
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Manifest read_manifest(std::string_view text, const std::string& source) {
  try {
    const Json json = Json::parse(text);
    if (json.at("format").get<int>() != kFormat) {
      throw InputError(fmt::format("{}: format {}, where this weft knows {}", source,
                                   json.at("format").get<int>(), kFormat));
    }
    Manifest manifest;
    json.at("weft_version").get_to(manifest.version);
    json.at("commit").get_to(manifest.commit);
    json.at("digest").get_to(manifest.digest);
    json.at("outcome").get_to(manifest.outcome);
    json.at("makespan_ns").get_to(manifest.makespan_ns);
    for (const Json& file : json.at("files")) manifest.files.push_back(file_of(file));
    return manifest;
  } catch (const nlohmann::json::exception& error) {
    throw InputError(
        fmt::format("{}: this is no manifest that weft bundle writes: {}", source, printable(error.what())));
  }
}

}  // namespace weft::bundle
