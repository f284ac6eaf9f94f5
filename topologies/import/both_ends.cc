#include "topologies/import/both_ends.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "sim/units/input_error.h"
#include "topologies/import/lines.h"

namespace weft::topologies {
namespace {

std::string cable_key(std::uint32_t from, const std::string& from_port, std::uint32_t to,
                      const std::string& to_port) {
  return fmt::format("{}\n{}\n{}\n{}", from, from_port, to, to_port);
}

// As its other end sees it.
ImportedLink turned(ImportedLink link) {
  if (link.back_rate) std::swap(link.rate, link.back_rate);
  return link;
}

// Takes a value that only one end tells. False if both do, and differ.
template <typename Value>
bool agree(std::optional<Value>& kept, const std::optional<Value>& other) {
  if (!kept) kept = other;
  return !other || *kept == *other;
}

template <typename Value>
bool agree(Value& kept, Value other, Value none) {
  if (kept == none) kept = other;
  return other == none || kept == other;
}

// What two ends of a cable tell in different ways; nullptr: nothing.
const char* difference(ImportedLink& kept, const ImportedLink& other) {
  if (!agree(kept.rate, other.rate) || !agree(kept.back_rate, other.back_rate)) return "rate";
  if (!agree(kept.latency, other.latency)) return "latency";
  if (!agree(kept.cable, other.cable, CableKind::kUnknown)) return "kind of cable";
  if (!agree(kept.length_m, other.length_m, 0.0F)) return "length";
  if (!agree(kept.loss, other.loss, 0.0)) return "loss";
  return nullptr;
}

}  // namespace

bool BothEnds::find(ImportedGraph& graph, const ImportedLink& link, const std::string& from_port,
                    const std::string& to_port) {
  const auto fail = [&](const std::string& message) { throw InputError({graph.file, link.line}, message); };
  const auto back = cables_.find(cable_key(link.to, to_port, link.from, from_port));
  if (back == cables_.end()) {
    const auto next = static_cast<std::uint32_t>(graph.links.size());
    const auto [same, added] =
        cables_.try_emplace(cable_key(link.from, from_port, link.to, to_port), Cable{.link = next});
    if (!added) {
      fail(fmt::format("the same cable as in line {}, at the same ports; leave one out",
                       graph.links[same->second.link].line));
    }
    ported_.insert(next);
    note_port(link.from, from_port);
    note_port(link.to, to_port);
    return false;
  }
  Cable& cable = back->second;
  ImportedLink& kept = graph.links[cable.link];
  if (cable.back_line != 0) {
    fail(fmt::format("the same cable as in line {}, at the same ports; leave one out", cable.back_line));
  }
  if (const char* what = difference(kept, turned(link)); what != nullptr) {
    fail(
        fmt::format("the cable between '{}' {} and '{}' {} has another {} here than in line {}, at its other "
                    "end; give both the same",
                    shortened(graph.nodes[link.from].name), shortened(from_port),
                    shortened(graph.nodes[link.to].name), shortened(to_port), what, kept.line));
  }
  cable.back_line = link.line;
  if (joined_++ == 0) first_ = cable.link;
  return true;
}

void BothEnds::note_port(std::uint32_t node, const std::string& port) {
  if (++ports_[fmt::format("{}\n{}", node, port)] == 2 && shared_++ == 0) shared_port_ = {node, port};
}

void BothEnds::note(ImportedGraph& graph) const {
  if (shared_ > 0) {
    graph.assumed.push_back(fmt::format(
        "{} ports are of several cables, like port {} of '{}', which is taken for a breakout; each "
        "cable has its own rate",
        shared_, shortened(shared_port_.second), shortened(graph.nodes[shared_port_.first].name)));
  }
  if (joined_ == 0) return;
  const ImportedLink& first = graph.links[first_];
  graph.assumed.push_back(fmt::format(
      "{} cables are listed from both ends, with the same ports, like that between '{}' and '{}'; "
      "each is one cable",
      joined_, shortened(graph.nodes[first.from].name), shortened(graph.nodes[first.to].name)));
}

}  // namespace weft::topologies
