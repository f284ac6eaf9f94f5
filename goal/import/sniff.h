// What importers look at to know their files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace weft::goal {

// The first `most` bytes of a regular file, fewer if it is shorter or has a byte order mark; "" for anything
// that can't be read.
std::string first_bytes(const std::filesystem::path& path, std::size_t most = 4096);

// May it be JSON, plain or packed with gzip? Looked at without counting as an input.
bool may_be_json(const std::filesystem::path& path);

}  // namespace weft::goal
