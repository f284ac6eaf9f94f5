#include "sim/routing/parts/route_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sim/units/input_file.h"

namespace weft::routing {
namespace {

using topologies::NodeKind;
using topologies::Topology;
using topologies::Vertex;

constexpr std::string_view kBlanks = " \t\r";

std::string read(const Parameters& parameters) {
  const std::string path = parameters.file("file");
  if (path.empty()) parameters.fail("file", "it must be the path of a file with routes");
  std::string text = read_input(path);
  if (text.find('\0') != std::string::npos) throw InputError({.file = path}, "this is not a text file");
  return text;
}

std::string short_name(const topologies::Node& node) {
  return fmt::format("{}{}", node.kind == NodeKind::kHost ? "h" : node.in_host ? "hr" : "s", node.index);
}

}  // namespace

RouteFile::RouteFile(const Parameters& parameters, const Topology& topology)
    : topology_(topology), text_(read(parameters)), rest_(text_), at_{.file = parameters.file("file")} {
  for (Vertex v = 0; v < topology.nodes(); ++v) nodes_.emplace(topology.node(v).name, v);
  // Where a node's name looks like another's short one, the name counts.
  for (Vertex v = 0; v < topology.nodes(); ++v) nodes_.emplace(short_name(topology.node(v)), v);
}

bool RouteFile::next() {
  while (!rest_.empty()) {
    ++at_.line;
    line_ = rest_.substr(0, rest_.find('\n'));
    rest_.remove_prefix(std::min(rest_.size(), line_.size() + 1));
    read_line();
    if (!words_.empty()) return true;
  }
  return false;
}

void RouteFile::read_line() {
  words_.clear();
  for (std::size_t at = line_.find_first_not_of(kBlanks); at < line_.size() && line_[at] != '#';) {
    if (line_[at] == '=') {
      const std::size_t end = std::min(line_.find_first_of(" \t\r#", at), line_.size());
      if (words_.empty() || words_.back().weight != 0) fail_expecting("a name before the weight");
      words_.back().weight = weight(line_.substr(at + 1, end - at - 1));
      at = end;
    } else if (line_[at] == '"') {
      words_.push_back({find(quoted(at))});
    } else {
      const std::size_t end = std::min(line_.find_first_of(" \t\r#=\"", at), line_.size());
      words_.push_back({find(line_.substr(at, end - at))});
      at = end;
    }
    at = std::min(line_.find_first_not_of(kBlanks, at), line_.size());
  }
}

// What is between this quotation mark and the next; `place` is moved behind that.
std::string_view RouteFile::quoted(std::size_t& place) const {
  const std::size_t end = line_.find('"', place + 1);
  if (end == std::string_view::npos) fail_expecting("a second \" behind a name");
  const std::string_view text = line_.substr(place + 1, end - place - 1);
  place = end + 1;
  return text;
}

double RouteFile::weight(std::string_view text) const {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value <= 0) {
    fail(fmt::format("found the weight '={}', but expected a number above 0, like =2", text));
  }
  return value;
}

Vertex RouteFile::find(std::string_view name) const {
  if (const auto found = nodes_.find(name); found != nodes_.end()) return found->second;
  const auto& host = topology_.node(topology_.host(0)).name;
  const std::string other =
      topology_.switches() == 0 ? "" : fmt::format(" or \"{}\"", topology_.node(topology_.switch_at(0)).name);
  fail(fmt::format("found '{}', but expected the name of a host or switch of {}, like h0, s0, \"{}\"{}", name,
                   topology_.name(), host, other));
}

void RouteFile::fail_expecting(const std::string& expected) const {
  constexpr std::size_t kMost = 60;
  std::string_view shown = line_.substr(0, kMost);
  if (shown.ends_with('\r')) shown.remove_suffix(1);
  fail(fmt::format("found '{}{}', but expected {}", shown, line_.size() > kMost ? "…" : "", expected));
}

}  // namespace weft::routing
