#include "goal/check/collectives.h"

#include <algorithm>
#include <string>
#include <tuple>

namespace weft::goal::checks {
namespace {

// In what two members differ that must not, or null. `member_a` and `member_b` are their places.
const char* differ(const Collective& a, std::uint32_t member_a, const Collective& b, std::uint32_t member_b) {
  if (a.kind != b.kind) return "kind";
  if (a.root != b.root) return "root";
  if (a.algorithm != b.algorithm) return "algorithm";
  if (is_of_neighbors(a.kind)) return nullptr;  // each has lists of its own: see check_neighbors
  if (a.of_v_form() != b.of_v_form()) return "form: one has a list of counts, the other one size";
  if (!a.of_v_form()) return a.bytes != b.bytes ? "size" : nullptr;
  // What a rank sends to each in an alltoall is its own affair: see check_alltoall.
  if (a.kind == CollectiveKind::kAlltoall) return nullptr;
  if (!a.counts.empty() && !b.counts.empty()) return a.counts != b.counts ? "counts" : nullptr;
  // Those of a gather or scatter that do not know the counts know their own.
  if (!a.counts.empty() && a.counts[member_b] != b.bytes) return "size, by the list of counts";
  if (!b.counts.empty() && b.counts[member_a] != a.bytes) return "size, by the list of counts";
  return nullptr;
}

// Does each list of counts have an entry for each it is about, and are all neighbors members?
bool lists_fit(const Collective& collective, std::uint32_t size) {
  if (is_of_neighbors(collective.kind)) {
    const auto is_member = [size](std::uint32_t rank) { return rank < size; };
    const auto fits = [](const auto& counts, const auto& ranks) {
      return counts.empty() || counts.size() == ranks.size();
    };
    return fits(collective.counts, collective.destinations) &&
           fits(collective.receive_counts, collective.sources) &&
           std::all_of(collective.destinations.begin(), collective.destinations.end(), is_member) &&
           std::all_of(collective.sources.begin(), collective.sources.end(), is_member);
  }
  if (collective.counts.empty()) return true;
  return collective.counts.size() == size &&
         (collective.kind != CollectiveKind::kAlltoall || collective.receive_counts.size() == size);
}

bool has_partial_elements(const Collective& collective) {
  const std::uint64_t element = collective.element_bytes;
  if (element <= 1) return false;
  const auto is_partial = [element](std::uint64_t bytes) { return bytes % element != 0; };
  return is_partial(collective.bytes) || std::ranges::any_of(collective.counts, is_partial) ||
         std::ranges::any_of(collective.receive_counts, is_partial);
}

}  // namespace

CollectiveCheck::CollectiveCheck(Recorder& recorder, const CommunicatorPlaces& members)
    : recorder_(recorder),
      source_(recorder.source()),
      members_(members),
      comms_(source_.communicators().size()) {
  for (const Collective& collective : source_.collectives()) {
    has_partial_elements_.push_back(has_partial_elements(collective));
  }
}

void CollectiveCheck::add(Rank rank, OpIndex index, const Op& op) {
  if (!is_sound(rank, index, op)) return;
  const std::uint32_t member = members_.position(op.comm, rank);
  if (member == kAny) {
    recorder_.add(FindingKind::kNotMember, 1, rank, index, [&] {
      return recorder_.describe(rank, index) + " uses " + recorder_.communicator(op.comm) + ", which rank " +
             std::to_string(rank) + " is not in";
    });
    return;
  }
  if (has_partial_elements_[op.peer]) {
    recorder_.add(FindingKind::kPartialElement, 1, rank, index, [&] {
      return recorder_.describe(rank, index) + " has bytes that are not whole elements of " +
             std::to_string(source_.collectives()[op.peer].element_bytes);
    });
  }
  Comm& comm = comms_[op.comm];
  if (comm.position == 0) touched_.push_back(op.comm);
  const Seen seen{index, op.peer, member};
  const Collective& collective = source_.collectives()[op.peer];
  if (is_of_neighbors(collective.kind) ||
      (collective.kind == CollectiveKind::kAlltoall && !collective.counts.empty())) {
    paired_.push_back({op.comm, comm.position, rank, seen});
  }
  if (comm.reference == kAny) comm.reference = rank;
  if (comm.reference == rank) comm.ops.push_back(seen);
  compare(comm, op.comm, rank, seen);
  ++comm.position;
}

// Do communicator, root and lists of counts fit together? If not, that is reported.
bool CollectiveCheck::is_sound(Rank rank, OpIndex index, const Op& op) {
  const Collective& collective = source_.collectives()[op.peer];
  const bool bad_comm = collective.comm >= comms_.size() || collective.comm != op.comm;
  const std::uint32_t size = bad_comm ? 0 : source_.communicator_size(collective.comm);
  const bool bad_list = !bad_comm && !lists_fit(collective, size);
  if (!bad_comm && !bad_list && collective.root < size) return true;
  recorder_.add(FindingKind::kOutOfRange, 1, rank, index, [&] {
    return "operation " + std::to_string(index) + " of rank " + std::to_string(rank) + " (" +
           std::string(name(collective.kind)) + ") has a " +
           (bad_comm   ? "communicator that does not exist"
            : bad_list ? "list of counts or neighbors that does not fit its communicator"
                       : "root outside its communicator");
  });
  return false;
}

// The first difference of a rank is told; those behind it mostly follow from it.
void CollectiveCheck::compare(Comm& comm, std::uint32_t comm_index, Rank rank, const Seen& seen) {
  if (comm.reported || comm.position >= comm.ops.size()) return;
  const Seen other = comm.ops[comm.position];
  if (seen.collective == other.collective) return;  // the same entry of the table
  const char* difference = differ(source_.collectives()[seen.collective], seen.member,
                                  source_.collectives()[other.collective], other.member);
  if (difference == nullptr) return;
  comm.reported = true;
  recorder_.add(FindingKind::kCollectiveMismatch, 1, rank, seen.op, [&] {
    return recorder_.describe(rank, seen.op) + " and " + recorder_.describe(comm.reference, other.op) +
           " are the same collective (number " + std::to_string(comm.position) + " on " +
           recorder_.communicator(comm_index) + "), but differ in " + difference;
  });
}

void CollectiveCheck::end_rank(Rank rank) {
  for (const std::uint32_t index : touched_) {
    Comm& comm = comms_[index];
    comm.participants.push_back(rank);
    if (comm.position != comm.ops.size()) missing(index, rank, comm.position);
    comm.position = 0;
    comm.reported = false;
  }
  touched_.clear();
}

void CollectiveCheck::finish() {
  for (std::uint32_t comm = 0; comm < comms_.size(); ++comm) find_absent(comm);
  check_pairs();
}

void CollectiveCheck::missing(std::uint32_t comm_index, Rank rank, std::uint32_t has) {
  const Comm& comm = comms_[comm_index];
  recorder_.add(FindingKind::kCollectiveMissing, 1, rank, 0, [&] {
    return "rank " + std::to_string(rank) + " has " + std::to_string(has) + " collective operations on " +
           recorder_.communicator(comm_index) + ", but rank " + std::to_string(comm.reference) + " has " +
           std::to_string(comm.ops.size());
  });
}

// Members that never use a communicator that others use.
void CollectiveCheck::find_absent(std::uint32_t comm_index) {
  const Comm& comm = comms_[comm_index];
  const std::uint32_t size = source_.communicator_size(comm_index);
  if (comm.reference == kAny || comm.participants.size() == size) return;
  for (std::uint32_t i = 0; i < size; ++i) {
    const Rank rank = source_.world_rank(comm_index, i);
    if (!std::binary_search(comm.participants.begin(), comm.participants.end(), rank)) {
      missing(comm_index, rank, 0);
    }
  }
}

void CollectiveCheck::check_pairs() {
  std::sort(paired_.begin(), paired_.end(), [](const Paired& a, const Paired& b) {
    return std::tuple(a.comm, a.position, a.seen.member) < std::tuple(b.comm, b.position, b.seen.member);
  });
  for (std::size_t begin = 0, end; begin < paired_.size(); begin = end) {
    const Paired& first = paired_[begin];
    const CollectiveKind kind = source_.collectives()[first.seen.collective].kind;
    bool same_kind = true;
    for (end = begin;
         end < paired_.size() && paired_[end].comm == first.comm && paired_[end].position == first.position;
         ++end) {
      same_kind &= source_.collectives()[paired_[end].seen.collective].kind == kind;
    }
    // Where some are missing or of another kind, that was reported.
    if (!same_kind || end - begin != source_.communicator_size(first.comm)) continue;
    if (is_of_neighbors(kind)) {
      check_neighbors(&paired_[begin], end - begin);
    } else {
      check_alltoall(&paired_[begin], end - begin);
    }
  }
}

void CollectiveCheck::check_alltoall(const Paired* all, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    const Collective& sender = source_.collectives()[all[i].seen.collective];
    for (std::size_t j = 0; j < size; ++j) {
      const Collective& receiver = source_.collectives()[all[j].seen.collective];
      if (sender.counts[j] == receiver.receive_counts[i]) continue;
      recorder_.add(FindingKind::kCollectiveMismatch, 1, all[i].rank, all[i].seen.op, [&] {
        return "operation " + std::to_string(all[i].seen.op) + " of rank " + std::to_string(all[i].rank) +
               " (alltoall, number " + std::to_string(all[i].position) + " on " +
               recorder_.communicator(all[i].comm) + ") sends " + std::to_string(sender.counts[j]) +
               " bytes to rank " + std::to_string(all[j].rank) + ", which wants " +
               std::to_string(receiver.receive_counts[i]);
      });
      break;  // one of a rank is enough
    }
  }
}

// The k-th time that a rank stands among another's destinations belongs to the k-th time that the other
// stands among its sources: both lists of messages, sorted by the pair, must be the same.
void CollectiveCheck::check_neighbors(const Paired* all, std::size_t size) {
  struct Message {
    std::uint32_t from, to, place;  // members; place in the list of the one whose it is
    std::uint64_t bytes;
    bool size_known;
    auto key() const { return std::tuple(from, to, place); }
  };
  std::vector<Message> sent, wanted;
  for (std::size_t i = 0; i < size; ++i) {
    const Collective& collective = source_.collectives()[all[i].seen.collective];
    const auto member = static_cast<std::uint32_t>(i);
    for (std::uint32_t k = 0; k < collective.destinations.size(); ++k) {
      sent.push_back({member, collective.destinations[k], k,
                      collective.counts.empty() ? collective.bytes : collective.counts[k], true});
    }
    for (std::uint32_t k = 0; k < collective.sources.size(); ++k) {
      const bool listed = !collective.receive_counts.empty();
      wanted.push_back({collective.sources[k], member, k,
                        listed ? collective.receive_counts[k] : collective.bytes,
                        listed || !collective.of_v_form()});
    }
  }
  const auto order = [](const Message& a, const Message& b) { return a.key() < b.key(); };
  std::sort(sent.begin(), sent.end(), order);
  std::sort(wanted.begin(), wanted.end(), order);
  std::vector<bool> told(size, false);  // one of a rank is enough
  const auto tell = [&](std::uint32_t member, const std::string& what) {
    if (told[member]) return;
    told[member] = true;
    recorder_.add(FindingKind::kCollectiveMismatch, 1, all[member].rank, all[member].seen.op, [&] {
      return recorder_.describe(all[member].rank, all[member].seen.op) + " (number " +
             std::to_string(all[member].position) + " on " + recorder_.communicator(all[member].comm) + ") " +
             what;
    });
  };
  const auto rank_of = [&](std::uint32_t member) { return std::to_string(all[member].rank); };
  auto send = sent.begin();
  auto want = wanted.begin();
  while (send != sent.end() || want != wanted.end()) {
    const bool no_send = send == sent.end() || (want != wanted.end() && std::pair(want->from, want->to) <
                                                                            std::pair(send->from, send->to));
    const bool no_want = want == wanted.end() || (send != sent.end() && std::pair(send->from, send->to) <
                                                                            std::pair(want->from, want->to));
    if (no_send) {
      tell(want->to, "wants a message from rank " + rank_of(want->from) + ", which sends it none");
    } else if (no_want) {
      tell(send->from, "sends a message to rank " + rank_of(send->to) + ", which wants none");
    } else if (want->size_known && send->bytes != want->bytes) {
      tell(send->from, "sends " + std::to_string(send->bytes) + " bytes to rank " + rank_of(send->to) +
                           ", which wants " + std::to_string(want->bytes));
    }
    if (!no_send) ++send;
    if (!no_want) ++want;
  }
}

}  // namespace weft::goal::checks
