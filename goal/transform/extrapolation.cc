#include "goal/transform/extrapolation.h"

#include <algorithm>

#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

// All collectives together may have so many counts (bytes for each rank), which take 1 GiB.
constexpr std::uint64_t kMostCounts = 1u << 27;

bool is_message(const Op& op) { return op.kind == OpKind::kSend || op.kind == OpKind::kRecv; }

[[noreturn]] void refuse(const std::string& reason) { throw InputError("extrapolate: " + reason); }

std::uint64_t hash_of(const Collective& collective) {
  std::uint64_t hash = static_cast<std::uint64_t>(collective.kind);
  const auto mix = [&](std::uint64_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL + (hash >> 29); };
  for (const std::uint64_t value : {std::uint64_t{collective.comm}, std::uint64_t{collective.root},
                                    collective.bytes, std::uint64_t{collective.element_bytes}}) {
    mix(value);
  }
  for (const std::uint64_t count : collective.counts) mix(count);
  for (const std::uint64_t count : collective.receive_counts) mix(count);
  for (const std::uint32_t rank : collective.destinations) mix(rank);
  for (const std::uint32_t rank : collective.sources) mix(rank);
  return hash;
}

// "row" of "row 3": what communicators that lie alike may have in common.
std::string stem(const std::string& name) {
  const std::size_t end = name.find_last_not_of("0123456789");
  return end != std::string::npos && end > 0 && end + 1 < name.size() && name[end] == ' '
             ? name.substr(0, end)
             : name;
}

}  // namespace

Extrapolation::Extrapolation(const Graph& graph, const Layout& layout, RankGrid grid, bool share_alltoalls)
    : graph_(graph),
      layout_(layout),
      grid_(std::move(grid)),
      share_alltoalls_(share_alltoalls),
      old_places_(graph),
      meetings_(graph.ranks()) {
  if (!graph.has_wildcards()) {
    channels_.emplace(graph, layout);
    balance_ = channels_->balance(grid_);
  }
  for (Rank r = 0; r < graph.ranks(); ++r) {
    const RankView rank = graph.rank(r);
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      if (rank.kind(i) == OpKind::kCollective) meetings_[r][rank.comm(i)].push_back(rank.peer(i));
    }
  }
  make_communicators();
  collect_collectives();
}

// What tells a communicator from others of its shape: the rank's place, with the least coordinate in all
// dimensions that it extends over.
Rank Extrapolation::home(std::uint32_t shape, Rank rank) const {
  RankGrid::Place place = grid_.place(rank);
  for (std::size_t d = 0; d < grid_.dims.size(); ++d) {
    const CommunicatorShape::Extent& extent = layout_.shapes->shape(shape).extents[d];
    if (extent.step > 0) {
      place[d] %= extent.step;
    } else if (!extent.own) {
      place[d] = 0;
    }
  }
  return grid_.rank(place);
}

void Extrapolation::make_communicators() {
  numbers_.resize(layout_.shapes->count());
  std::vector<std::vector<std::uint32_t>> shapes(graph_.ranks());  // by old rank, ascending
  const bool same = grid_.dims == layout_.grid.dims;
  for (std::uint32_t c = 0; c < graph_.communicators().size(); ++c) {
    const std::uint32_t shape = layout_.shapes->number(c);
    const std::vector<Rank> ranks = members(graph_, c);
    for (const Rank r : ranks) shapes[r].push_back(shape);
    if (!same) continue;
    communicators_.push_back(graph_.communicators()[c]);
    numbers_[shape].emplace(home(shape, ranks[0]), c);
  }
  for (std::vector<std::uint32_t>& of_rank : shapes) std::sort(of_rank.begin(), of_rank.end());
  for (std::uint32_t shape = 0; !same && shape < layout_.shapes->count(); ++shape) {
    make_communicators(shape, shapes);
  }
  new_places_.emplace(grid_.ranks(), communicators_);
}

void Extrapolation::make_communicators(std::uint32_t shape,
                                       const std::vector<std::vector<std::uint32_t>>& shapes) {
  const std::string& old_name = graph_.communicators()[layout_.shapes->first(shape)].name;
  const std::size_t first = communicators_.size();
  for (Rank r = 0; r < grid_.ranks(); ++r) {
    const std::vector<std::uint32_t>& of_model = shapes[layout_.grid.model(grid_, r)];
    if (!std::binary_search(of_model.begin(), of_model.end(), shape)) continue;
    const auto number = static_cast<std::uint32_t>(communicators_.size());
    if (!numbers_[shape].try_emplace(home(shape, r), number).second) continue;
    Communicator made{old_name, members(layout_.shapes->shape(shape), grid_, r)};
    bool all = made.ranks.size() == grid_.ranks();
    for (Rank i = 0; all && i < made.ranks.size(); ++i) all = made.ranks[i] == i;
    if (all) made.ranks.clear();
    communicators_.push_back(std::move(made));
  }
  if (communicators_.size() == first + 1) return;
  for (std::size_t c = first; c < communicators_.size(); ++c) {
    communicators_[c].name = stem(old_name) + " " + std::to_string(c - first);
  }
}

std::uint32_t Extrapolation::new_communicator(Rank rank, std::uint32_t old) const {
  const std::uint32_t shape = layout_.shapes->number(old);
  return numbers_[shape].at(home(shape, rank));
}

std::uint32_t Extrapolation::new_size(std::uint32_t comm) const {
  const std::size_t size = communicators_[comm].ranks.size();
  return size == 0 ? grid_.ranks() : static_cast<std::uint32_t>(size);
}

Rank Extrapolation::new_member(std::uint32_t comm, std::uint32_t position) const {
  return communicators_[comm].ranks.empty() ? position : communicators_[comm].ranks[position];
}

void Extrapolation::collect_collectives() {
  for (Rank r = 0; r < grid_.ranks(); ++r) {
    const Rank model = layout_.grid.model(grid_, r);
    const RankView rank = graph_.rank(model);
    ops_ += rank.ops();
    edges_ += rank.edges();
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      if (rank.kind(i) == OpKind::kCollective) {
        collective_index({r, model, i, new_communicator(r, rank.comm(i))});
      }
    }
  }
}

std::uint32_t Extrapolation::collective_index(const Meeting& meeting) {
  const std::uint32_t old_index = graph_.rank(meeting.model).peer(meeting.op);
  const Collective& old = graph_.collectives()[old_index];
  // All that is called with the same bytes on the same communicator is the same, but for what a rank alone
  // knows.
  const bool of_rank = is_of_neighbors(old.kind) || (has_root(old.kind) && old.of_v_form());
  if (of_rank) return store(grown(meeting));
  const std::uint64_t key = std::uint64_t{old_index} << 32 | meeting.comm;
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  return known_[key] = store(grown(meeting));
}

std::uint32_t Extrapolation::store(Collective collective) {
  const std::uint64_t hash = hash_of(collective);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto at = first; at != last; ++at) {
    if (collectives_[at->second] == collective) return at->second;
  }
  counts_held_ += collective.counts.size() + collective.receive_counts.size();
  if (counts_held_ > kMostCounts) {
    refuse("the collectives that name bytes for each rank would need more than 1 GiB on " + grid_.text() +
           "; choose fewer ranks");
  }
  const auto index = static_cast<std::uint32_t>(collectives_.size());
  by_hash_.emplace(hash, index);
  collectives_.push_back(std::move(collective));
  return index;
}

Collective Extrapolation::grown(const Meeting& meeting) {
  const Collective& old = graph_.rank(meeting.model).collective(meeting.op);
  Collective collective = old;
  collective.comm = meeting.comm;
  if (has_root(old.kind)) collective.root = new_root(meeting, old);
  if (is_of_neighbors(old.kind)) {
    grow_neighbors(meeting, old, collective);
  } else if (has_root(old.kind)) {
    if (old.of_v_form()) grow_rooted(meeting, old, collective);
  } else {
    grow_counts(meeting, old, collective);
  }
  return collective;
}

std::uint64_t Extrapolation::shared(std::uint64_t bytes, const Collective& old, std::uint32_t comm) const {
  if (!share_alltoalls_ || old.kind != CollectiveKind::kAlltoall) return bytes;
  const auto all = static_cast<unsigned __int128>(bytes) * graph_.communicator_size(old.comm);
  return static_cast<std::uint64_t>(all / new_size(comm));
}

void Extrapolation::grow_counts(const Meeting& meeting, const Collective& old, Collective& collective) const {
  collective.bytes = shared(old.bytes, old, meeting.comm);
  for (const auto list : {&Collective::counts, &Collective::receive_counts}) {
    if ((old.*list).empty()) continue;
    collective.*list = counts_of(old.*list, meeting, old.comm);
    for (std::uint64_t& count : collective.*list) count = shared(count, old, meeting.comm);
  }
}

// Each member has the bytes of its model.
std::vector<std::uint64_t> Extrapolation::counts_of(const std::vector<std::uint64_t>& old,
                                                    const Meeting& meeting, std::uint32_t old_comm) const {
  std::vector<std::uint64_t> counts(new_size(meeting.comm));
  for (std::uint32_t j = 0; j < counts.size(); ++j) {
    const Rank model = layout_.grid.model(grid_, new_member(meeting.comm, j));
    const std::uint32_t position = old_places_.position(old_comm, model);
    if (position >= old.size()) {
      refuse("communicator " + std::to_string(old_comm) + " '" + graph_.communicators()[old_comm].name +
             "' has members at a distance from the edge that no larger grid has");
    }
    counts[j] = old[position];
  }
  return counts;
}

// A gather or scatter in which the root knows the bytes of all, the others maybe only their own.
void Extrapolation::grow_rooted(const Meeting& meeting, const Collective& old, Collective& collective) const {
  const std::uint32_t comm = graph_.rank(meeting.model).comm(meeting.op);
  const std::uint32_t time = graph_.rank(meeting.model).tag(meeting.op);
  const Rank old_root = graph_.world_rank(comm, old.root);
  const auto at = [&](Rank rank) -> const Collective* {
    const auto found = meetings_[rank].find(comm);
    if (found == meetings_[rank].end() || found->second.size() <= time) return nullptr;
    return &graph_.collectives()[found->second[time]];
  };
  const Collective* of_root = at(old_root);
  if (of_root == nullptr || of_root->counts.empty()) return;
  const Rank other = graph_.world_rank(comm, old.root == 0 && graph_.communicator_size(comm) > 1 ? 1 : 0);
  const Collective* of_other = meeting.model == old_root ? at(other) : &old;
  const bool is_root = new_member(meeting.comm, collective.root) == meeting.rank;
  if (is_root || of_other == nullptr || !of_other->counts.empty()) {
    collective.counts = counts_of(of_root->counts, meeting, comm);
    collective.bytes = of_root->bytes;
  } else {
    collective.counts.clear();
    if (meeting.model == old_root) collective.bytes = of_root->counts[old.root];
  }
}

void Extrapolation::grow_neighbors(const Meeting& meeting, const Collective& old,
                                   Collective& collective) const {
  for (const auto list : {&Collective::destinations, &Collective::sources}) {
    for (std::uint32_t& neighbor : collective.*list) {
      RankGrid::Place offset{};
      const Rank of_model = graph_.world_rank(old.comm, neighbor);
      if (!layout_.grid.offset(meeting.model, of_model, offset)) {
        refuse("in a collective (" + std::string(name(old.kind)) + "), rank " +
               std::to_string(meeting.model) + " has rank " + std::to_string(of_model) +
               " as a neighbor, which is too far away on a " + layout_.grid.text());
      }
      neighbor = new_places_->position(meeting.comm, grid_.neighbour(meeting.rank, offset));
    }
  }
}

std::uint32_t Extrapolation::new_root(const Meeting& meeting, const Collective& old) {
  const auto [known, added] = roots_.try_emplace({old.root, meeting.comm}, 0);
  if (!added) return known->second;
  const Rank old_root = graph_.world_rank(old.comm, old.root);
  const CommunicatorShape& shape = layout_.shapes->shape(layout_.shapes->number(old.comm));
  RankGrid::Place place = layout_.grid.place(old_root);
  const RankGrid::Place own = grid_.place(meeting.rank);
  for (std::size_t d = 0; d < grid_.dims.size(); ++d) {
    place[d] = shape.extents[d].own ? own[d] : layout_.grid.moved(grid_, d, place[d]);
    if (place[d] >= grid_.dims[d]) {
      refuse("the root of a collective, rank " + std::to_string(old_root) + ", would be left out");
    }
  }
  return known->second = new_places_->position(meeting.comm, grid_.rank(place));
}

RankView Extrapolation::rank(Rank r) {
  const Rank model = layout_.grid.model(grid_, r);
  const RankView rank = graph_.rank(model);
  std::optional<Channels::OfRank> messages;
  if (channels_) messages.emplace(*channels_, grid_, r, model);
  at_hand_ = Graph();  // before the next, so that no two are there at once
  GraphBuilder builder;
  builder.reserve(rank.ops(), rank.edges());
  for (OpIndex i = 0; i < rank.ops(); ++i) {
    Op op = rank.op(i);
    if (op.kind != OpKind::kCalc) op.comm = new_communicator(r, op.comm);
    if (op.kind == OpKind::kCollective) op.peer = collective_index({r, model, i, op.comm});
    if (is_message(op) && op.peer != kAny) {
      RankGrid::Place offset{};
      layout_.grid.offset(model, op.peer, offset);
      op.peer = grid_.neighbour(r, offset);
    }
    if (is_message(op) && messages) {
      const std::optional<std::uint64_t> bytes = messages->bytes(i);
      op = bytes ? op : Op{.kind = OpKind::kCalc, .cpu = op.cpu};
      op.value = bytes.value_or(0);
    }
    builder.add(op, rank.label(i));
  }
  for (OpIndex i = 0; i < rank.ops(); ++i) {
    for (const Edge& edge : rank.dependents(i)) builder.add_edge(i, edge.dependent(), edge.on_start());
  }
  builder.end_rank();
  at_hand_ = builder.finish();
  return at_hand_.rank(0);
}

}  // namespace weft::goal
