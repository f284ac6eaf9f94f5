// What a bundle says of itself: MANIFEST.json, its first file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::bundle {

inline constexpr const char* kManifest = "MANIFEST.json";
inline constexpr const char* kScenario = "scenario.txtpb";

struct PackedFile {
  std::string name;    // in the bundle
  std::string path;    // where it was on the machine of the run; "" for what weft wrote
  std::string sha256;  // hexadecimal digits
  std::uint64_t bytes = 0;
  bool plugin = false;  // code that runs in weft
};

struct Manifest {
  std::string version;  // of the weft that made the run, "0.1.0"; "" if it was not recorded
  std::string commit;   // likewise
  std::string digest;   // of the run, as in its summary.json
  std::string outcome;  // "complete", or "incomplete"
  double makespan_ns = 0;
  std::vector<PackedFile> files;  // in the order of the bundle
};

std::string to_json(const Manifest& manifest);
// Throws InputError that begins with `source` for what to_json() does not write.
Manifest read_manifest(std::string_view json, const std::string& source);

}  // namespace weft::bundle
