// Reads JSON files of any size piece by piece (RFC 8259), plain or compressed with gzip.
//
// A trace is one object with a long array in it ("traceEvents", "nodes"), or that array alone. Its elements,
// and all that stands beside it, are given one at a time as small trees; nothing else is kept.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "goal/import/json/json_value.h"
#include "sim/units/input_error.h"

namespace weft::goal {

struct JsonLimits {
  int depth = 100;                        // of brackets in brackets
  std::uint32_t value_bytes = 64u << 20;  // of all strings, names and numbers in one tree
  std::uint32_t value_nodes = 4u << 20;   // of values in one tree
};

struct JsonHandlers {
  // An element of one of the long arrays: the array's name ("" for an array that is the whole file), the
  // element, and where it begins. False: read no further.
  std::function<bool(std::string_view array, JsonValue element, const SourceLocation& where)> element;
  // Any other member of the object that is the file. False: read no further.
  std::function<bool(JsonValue member, const SourceLocation& where)> member;
};

// Reads the file. `arrays` names the members of the outermost object whose elements are given one at a time.
// Throws InputError with line and byte for what is no JSON, goes past a limit, or goes on behind its end.
// What handlers throw goes through; handlers that are empty are left out.
void read_json(const std::string& path, const std::vector<std::string>& arrays, const JsonHandlers& handlers,
               const JsonLimits& limits = {});
// Reads a text that stood in something else; `name` says in what, for messages.
void read_json_text(std::string_view text, const std::string& name, const std::vector<std::string>& arrays,
                    const JsonHandlers& handlers, const JsonLimits& limits = {});

}  // namespace weft::goal
