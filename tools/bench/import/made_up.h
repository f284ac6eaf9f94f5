// Traces made up for measuring, of any size.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>

namespace weft::goal::bench {

struct MadeUp {
  const char* name;      // of the row
  const char* importer;  // as `weft import` calls it
  std::map<std::string, std::string> options;
  // Writes about so many bytes of text into an empty folder; returns what to import.
  std::filesystem::path (*write)(const std::filesystem::path& folder, std::uint64_t bytes);
};
std::span<const MadeUp> made_up_traces();

}  // namespace weft::goal::bench
