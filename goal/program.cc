#include "goal/program.h"

#include <span>

#include "goal/file.h"
#include "goal/read_graph.h"

namespace weft::goal {
namespace {

constexpr std::uint32_t kOpsAtOnce = 4096;

void add_messages(Rank rank, std::span<const Op> ops, std::vector<double>& bytes) {
  for (const Op& op : ops) {
    if (op.kind != OpKind::kSend) continue;
    bytes[rank] += static_cast<double>(op.value);
    bytes[op.peer] += static_cast<double>(op.value);
  }
}

}  // namespace

Program::Program(const Graph& graph) : graph_(&graph), facts_(graph.facts()) {}
Program::Program(const PackedProgram& file) : packed_(&file), facts_(file.facts()) {}

Program::Program(std::unique_ptr<const Graph> graph, PackInfo info) : Program(*graph) {
  owned_ = std::move(graph);
  info_ = std::move(info);
}
Program::Program(std::unique_ptr<const PackedProgram> file) : Program(*file) { owned_ = std::move(file); }

std::vector<std::uint16_t> Program::cpus(Rank rank) const {
  if (packed_ != nullptr) return packed_->outline(rank).cpus;
  const RankView view = graph_->rank(rank);
  std::vector<bool> named;
  for (OpIndex i = 0; i < view.ops(); ++i) {
    const std::uint16_t cpu = view.cpu(i);
    if (cpu >= named.size()) named.resize(cpu + 1u);
    named[cpu] = true;
  }
  std::vector<std::uint16_t> cpus;
  for (std::size_t cpu = 0; cpu < named.size(); ++cpu) {
    if (named[cpu]) cpus.push_back(static_cast<std::uint16_t>(cpu));
  }
  return cpus;
}

std::string Program::label(Rank rank, OpIndex op) const {
  if (graph_ != nullptr) return std::string(graph_->rank(rank).label(op));
  const std::unique_ptr<PackedFile> file = packed_->open(1);
  if (!file->has_labels(rank)) return {};
  RankReader reader = file->rank(rank);
  OpBlock block;
  while (reader.next(block, kOpsAtOnce)) {
    if (op - block.first < block.labels.size()) return block.labels[op - block.first];
  }
  return {};
}

std::string Program::metadata(const std::string& key) const {
  const auto found = info().metadata.find(key);
  return found == info().metadata.end() ? std::string() : found->second;
}

std::vector<double> Program::message_bytes() const {
  std::vector<double> bytes(ranks());
  OpBlock block;
  const std::unique_ptr<PackedFile> file = packed_ == nullptr ? nullptr : packed_->open(1);
  for (Rank r = 0; r < ranks(); ++r) {
    if (graph_ != nullptr) {
      const RankView view = graph_->rank(r);
      for (OpIndex i = 0; i < view.ops(); ++i) add_messages(r, {&view.op(i), 1}, bytes);
      continue;
    }
    RankReader reader = file->rank(r, {.labels = false});
    while (reader.next(block, kOpsAtOnce)) add_messages(r, block.ops, bytes);
  }
  return bytes;
}

Program open_program(const std::string& path) {
  auto file = std::make_unique<FileView>(path);
  if (PackedFile::is_one(file->bytes())) {
    return Program(std::make_unique<const PackedProgram>(std::move(file), path));
  }
  PackInfo info;
  auto graph = std::make_unique<const Graph>(parse_graph(file->bytes(), path, &info));
  return Program(std::move(graph), std::move(info));
}

}  // namespace weft::goal
