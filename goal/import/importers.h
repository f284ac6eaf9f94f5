// The importers that are built in.
#pragma once

#include <filesystem>
#include <span>

#include "goal/import/importer.h"

namespace weft::goal {

std::span<const Importer> importers();

// The one of `among` that knows this file or folder. Throws InputError if there is none, with what each of
// them looks for, or if there are several.
const Importer& sniff_importer(std::span<const Importer> among, const std::filesystem::path& path);

}  // namespace weft::goal
