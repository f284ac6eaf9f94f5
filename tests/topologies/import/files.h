// Files for the tests of graph_file, and networks from them.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "topologies/export/formats.h"
#include "topologies/families.h"

namespace weft::topologies {

inline Topology make(const std::string& short_form) { return build(parse_module_choice(short_form)); }

// A file of that name with that text, in a folder that the test may write to.
inline std::string write_file(const std::string& name, std::string_view text) {
  const char* folder = std::getenv("TEST_TMPDIR");
  const std::string path = std::string(folder == nullptr ? "/tmp" : folder) + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

// The network that a file of that name and text holds; `more` is like ",hosts=2".
inline Topology read_text(const std::string& name, std::string_view text, const std::string& more = "") {
  return make("graph_file:file=" + write_file(name, text) + more);
}

inline std::uint32_t vertex_called(const Topology& topology, const std::string& name) {
  for (std::uint32_t v = 0; v < topology.nodes(); ++v) {
    if (topology.node(v).name == name) return v;
  }
  FAIL("no node " << name);
  return 0;
}

// The channels from one node to another.
inline std::vector<Channel> between(const Topology& topology, const std::string& a, const std::string& b) {
  std::vector<Channel> found;
  const std::uint32_t to = vertex_called(topology, b);
  for (const std::uint32_t c : topology.out_channels(vertex_called(topology, a))) {
    if (topology.channels()[c].to == to) found.push_back(topology.channels()[c]);
  }
  return found;
}

inline std::string text_of(const Topology& topology, const std::string& format) {
  std::string text;
  TextSink sink([&](std::string_view piece) { text += piece; });
  find_format(format).write(topology, sink);
  return text;
}

}  // namespace weft::topologies
