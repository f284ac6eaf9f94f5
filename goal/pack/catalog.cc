#include "goal/pack/catalog.h"

#include <algorithm>

#include "goal/graph/algorithm_word.h"

namespace weft::goal::pack {
namespace {

constexpr std::size_t kBlockCounts = 1 << 20;

void read_communicators(const FrameReader& frames, const Catalog& catalog, std::uint64_t at,
                        FileTables& tables) {
  std::vector<bool> is_member;
  for (const Communicator& in : catalog.communicator()) {
    goal::Communicator communicator{in.name(), {in.ranks().begin(), in.ranks().end()}};
    is_member.assign(in.ranks().empty() ? 0 : tables.ranks, false);
    for (const Rank rank : communicator.ranks) {
      if (rank >= tables.ranks || is_member[rank]) {
        frames.damaged(at, "the catalog", "a communicator has a bad member");
      }
      is_member[rank] = true;
    }
    tables.communicators.push_back(std::move(communicator));
  }
}

goal::Collective from_message(const Collective& in) {
  return {static_cast<CollectiveKind>(in.kind()),
          in.comm(),
          in.root(),
          in.bytes(),
          in.element_bytes(),
          {in.counts().begin(), in.counts().end()},
          {in.receive_counts().begin(), in.receive_counts().end()},
          {in.destinations().begin(), in.destinations().end()},
          {in.sources().begin(), in.sources().end()},
          in.v_form(),
          in.algorithm()};
}

void to_message(const goal::Collective& collective, Collective& out) {
  out.set_kind(static_cast<std::uint32_t>(collective.kind));
  out.set_comm(collective.comm);
  out.set_root(collective.root);
  out.set_bytes(collective.bytes);
  out.set_element_bytes(collective.element_bytes);
  out.mutable_counts()->Add(collective.counts.begin(), collective.counts.end());
  out.mutable_receive_counts()->Add(collective.receive_counts.begin(), collective.receive_counts.end());
  out.mutable_destinations()->Add(collective.destinations.begin(), collective.destinations.end());
  out.mutable_sources()->Add(collective.sources.begin(), collective.sources.end());
  out.set_v_form(collective.v_form);
  out.set_algorithm(collective.algorithm);
}

// Is there nothing that its kind has not?
bool suits_kind(const Collective& in) {
  const auto kind = static_cast<CollectiveKind>(in.kind());
  const bool neighbors = is_of_neighbors(kind);
  if (!has_root(kind) && in.root() != 0) return false;
  if (!has_counts(kind) && in.counts_size() != 0) return false;
  if (!has_receive_counts(kind) && in.receive_counts_size() != 0) return false;
  if (!neighbors && (in.destinations_size() != 0 || in.sources_size() != 0)) return false;
  if (!has_counts(kind) && !neighbors && in.v_form()) return false;
  if (in.counts_size() != 0 && in.bytes() != 0) return false;
  return kind != CollectiveKind::kBarrier || (in.bytes() == 0 && in.element_bytes() == 1);
}

// Why the collective does not fit its communicator, or null.
const char* misfit(const Collective& in, const FileTables& tables) {
  if (in.kind() >= kCollectiveKinds || in.comm() >= tables.communicators.size()) {
    return "unknown kind or communicator";
  }
  const std::uint32_t size = tables.communicator_size(in.comm());
  const bool of_neighbors = is_of_neighbors(static_cast<CollectiveKind>(in.kind()));
  const auto fits = [](const auto& counts, int wanted) { return counts.empty() || counts.size() == wanted; };
  const auto below_size = [size](std::uint32_t rank) { return rank < size; };
  const auto all = [&](const auto& ranks) { return std::all_of(ranks.begin(), ranks.end(), below_size); };
  const int ranks = static_cast<int>(size);
  const bool lists_fit = fits(in.counts(), of_neighbors ? in.destinations_size() : ranks) &&
                         fits(in.receive_counts(), of_neighbors ? in.sources_size() : ranks) &&
                         all(in.destinations()) && all(in.sources());
  if (!suits_kind(in)) return "it has what its kind has not";
  if (!is_algorithm_word(in.algorithm())) return "the algorithm is not a word like ring:segment=64KiB";
  if (in.root() < size && in.element_bytes() != 0 && lists_fit) return nullptr;
  return "root, counts or neighbors do not fit the communicator";
}

}  // namespace

FileTables read_tables(FrameReader& frames, const Catalog& catalog, std::uint64_t catalog_begin) {
  FileTables tables;
  tables.ranks = catalog.ranks();
  if (catalog.collectives_begin() < kHeaderBytes || catalog.collectives_begin() > catalog_begin) {
    frames.damaged(catalog_begin, "the catalog", "its index does not fit the file");
  }
  read_communicators(frames, catalog, catalog_begin, tables);
  Collectives block;
  for (std::uint64_t at = catalog.collectives_begin(); at < catalog_begin;) {
    const std::uint64_t begin = at;
    frames.parse(at, BlockType::kCollectives, 0, block);
    if (at > catalog_begin) frames.damaged(begin, "a block of collectives", "it reaches into the catalog");
    for (const Collective& in : block.collective()) {
      if (const char* why = misfit(in, tables)) frames.damaged(begin, "a block of collectives", why);
      tables.collectives.push_back(from_message(in));
    }
  }
  return tables;
}

PackInfo info_of(const Catalog& catalog) {
  PackInfo info;
  for (const Entry& entry : catalog.metadata()) info.metadata[entry.key()] = entry.value();
  for (const Anomaly& in : catalog.anomaly()) {
    // A severity that a later version may add is at least as bad as the worst known here.
    const auto severity = static_cast<Severity>(std::min<std::uint32_t>(in.severity(), 2));
    info.anomalies.push_back({in.name(), severity, in.sentence(), in.count()});
  }
  const NotReplayed& lacks = catalog.not_replayed();
  for (const NotReplayed::Function& in : lacks.function()) {
    info.not_replayed.add(in.name(), in.calls(), in.bytes(), in.time_ns());
  }
  info.not_replayed.all_calls = lacks.all_calls();
  info.not_replayed.all_bytes = lacks.all_bytes();
  info.not_replayed.all_time_ns = lacks.all_time_ns();
  return info;
}

void write_collectives(FrameWriter& frames, const std::vector<goal::Collective>& collectives,
                       Catalog& catalog) {
  catalog.set_collectives_begin(frames.written());
  Collectives block;
  std::size_t counts = 0;
  for (const goal::Collective& collective : collectives) {
    to_message(collective, *block.add_collective());
    counts += 1 + collective.counts.size() + collective.receive_counts.size() +
              collective.destinations.size() + collective.sources.size();
    if (counts < kBlockCounts) continue;
    frames.block(BlockType::kCollectives, 0, block);
    block.Clear();
    counts = 0;
  }
  if (counts != 0) frames.block(BlockType::kCollectives, 0, block);
}

void describe(const RankSource& graph, const PackInfo& info, Catalog& catalog) {
  catalog.set_ranks(graph.ranks());
  for (std::size_t i = 1; i < graph.communicators().size(); ++i) {
    const goal::Communicator& communicator = graph.communicators()[i];
    Communicator* out = catalog.add_communicator();
    out->set_name(communicator.name);
    out->mutable_ranks()->Add(communicator.ranks.begin(), communicator.ranks.end());
  }
  for (const auto& [key, value] : info.metadata) {
    Entry* out = catalog.add_metadata();
    out->set_key(key);
    out->set_value(value);
  }
  for (const goal::Anomaly& anomaly : info.anomalies) {
    Anomaly* out = catalog.add_anomaly();
    out->set_name(anomaly.name);
    out->set_severity(static_cast<std::uint32_t>(anomaly.severity));
    out->set_sentence(anomaly.sentence);
    out->set_count(anomaly.count);
  }
  if (info.not_replayed == goal::NotReplayed()) return;
  NotReplayed& lacks = *catalog.mutable_not_replayed();
  for (const goal::NotReplayed::Function& function : info.not_replayed.functions) {
    NotReplayed::Function* out = lacks.add_function();
    out->set_name(function.name);
    out->set_calls(function.calls);
    out->set_bytes(function.bytes);
    out->set_time_ns(function.time_ns);
  }
  lacks.set_all_calls(info.not_replayed.all_calls);
  lacks.set_all_bytes(info.not_replayed.all_bytes);
  lacks.set_all_time_ns(info.not_replayed.all_time_ns);
}

}  // namespace weft::goal::pack
