// Checks that the members of a communicator agree on its collective operations.
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "goal/check/recorder.h"

namespace weft::goal::checks {
namespace {

class CollectiveCheck {
 public:
  CollectiveCheck(Recorder& recorder, const Members& members)
      : recorder_(recorder),
        graph_(recorder.graph()),
        members_(members),
        comms_(graph_.communicators().size()) {}

  void run() {
    for (Rank rank = 0; rank < graph_.ranks(); ++rank) check_rank(rank);
    for (std::uint32_t comm = 0; comm < comms_.size(); ++comm) find_absent(comm);
    check_alltoall_counts();
  }

 private:
  // What the first rank seen on a communicator does there; the others are compared with it.
  struct Comm {
    Rank reference = kAny;
    std::vector<OpIndex> ops;
    std::uint32_t participants = 0;
    // While one rank is read: how many of its collectives were seen, and whether one was reported.
    std::uint32_t position = 0;
    bool reported = false;
  };
  struct AlltoallCounts {
    std::uint32_t comm, position, member;
    Rank rank;
    OpIndex op;
  };

  void check_rank(Rank rank) {
    const RankView view = graph_.rank(rank);
    std::vector<std::uint32_t> touched;
    for (OpIndex i = 0; i < view.ops(); ++i) {
      if (view.kind(i) != OpKind::kCollective) continue;
      if (!is_sound(view, rank, i)) continue;
      const std::uint32_t member = members_.position(view.comm(i), rank);
      if (member == kAny) {
        recorder_.add(FindingKind::kNotMember, 1, rank, i, [&] {
          return recorder_.describe(rank, i) + " uses " + recorder_.communicator(view.comm(i)) +
                 ", which rank " + std::to_string(rank) + " is not in";
        });
        continue;
      }
      Comm& comm = comms_[view.comm(i)];
      if (comm.position == 0) touched.push_back(view.comm(i));
      const Collective& collective = view.collective(i);
      if (collective.kind == CollectiveKind::kAlltoall && !collective.counts.empty()) {
        alltoalls_.push_back({view.comm(i), comm.position, member, rank, i});
      }
      if (comm.reference == kAny) comm.reference = rank;
      if (comm.reference == rank) comm.ops.push_back(i);
      compare(comm, rank, i);
      ++comm.position;
    }
    for (const std::uint32_t index : touched) end_rank(index, rank);
  }

  // Do communicator, root and lists of counts fit together? If not, that is reported.
  bool is_sound(const RankView& view, Rank rank, OpIndex i) {
    const Collective& collective = view.collective(i);
    const bool bad_comm = collective.comm >= comms_.size() || collective.comm != view.comm(i);
    const std::uint32_t size = bad_comm ? 0 : graph_.communicator_size(collective.comm);
    const bool is_list = !collective.counts.empty();
    const bool bad_list =
        (is_list && collective.counts.size() != size) ||
        (is_list && collective.kind == CollectiveKind::kAlltoall && collective.receive_counts.size() != size);
    if (!bad_comm && !bad_list && collective.root < size) return true;
    recorder_.add(FindingKind::kOutOfRange, 1, rank, i, [&] {
      return "operation " + std::to_string(i) + " of rank " + std::to_string(rank) + " (" +
             std::string(name(collective.kind)) + ") has a " +
             (bad_comm   ? "communicator that does not exist"
              : bad_list ? "list of counts that does not fit its communicator"
                         : "root outside its communicator");
    });
    return false;
  }

  // The first difference of a rank is told; those behind it mostly follow from it.
  void compare(Comm& comm, Rank rank, OpIndex i) {
    if (comm.reported || comm.position >= comm.ops.size()) return;
    const OpIndex other = comm.ops[comm.position];
    const RankView view = graph_.rank(rank), reference = graph_.rank(comm.reference);
    if (view.peer(i) == reference.peer(other)) return;  // the same entry of the table
    const char* difference = differ(view.collective(i), reference.collective(other));
    if (difference == nullptr) return;
    comm.reported = true;
    recorder_.add(FindingKind::kCollectiveMismatch, 1, rank, i, [&] {
      return recorder_.describe(rank, i) + " and " + recorder_.describe(comm.reference, other) +
             " are the same collective (number " + std::to_string(comm.position) + " on " +
             recorder_.communicator(view.comm(i)) + "), but differ in " + difference;
    });
  }

  static const char* differ(const Collective& a, const Collective& b) {
    if (a.kind != b.kind) return "kind";
    if (a.root != b.root) return "root";
    if (a.counts.empty() != b.counts.empty()) return "form: one has a list of counts, the other one size";
    if (a.bytes != b.bytes) return "size";
    // What a rank sends to each in an alltoall is its own affair; check_alltoall_counts looks at the pairs.
    return a.kind != CollectiveKind::kAlltoall && a.counts != b.counts ? "counts" : nullptr;
  }

  void end_rank(std::uint32_t index, Rank rank) {
    Comm& comm = comms_[index];
    ++comm.participants;
    if (comm.position != comm.ops.size()) missing(index, rank, comm.position);
    comm.position = 0;
    comm.reported = false;
  }

  void missing(std::uint32_t index, Rank rank, std::uint32_t has) {
    const Comm& comm = comms_[index];
    recorder_.add(FindingKind::kCollectiveMissing, 1, rank, 0, [&] {
      return "rank " + std::to_string(rank) + " has " + std::to_string(has) + " collective operations on " +
             recorder_.communicator(index) + ", but rank " + std::to_string(comm.reference) + " has " +
             std::to_string(comm.ops.size());
    });
  }

  // Members that never use a communicator that others use.
  void find_absent(std::uint32_t index) {
    const Comm& comm = comms_[index];
    if (comm.reference == kAny || comm.participants == graph_.communicator_size(index)) return;
    for (std::uint32_t i = 0; i < graph_.communicator_size(index); ++i) {
      const Rank rank = graph_.world_rank(index, i);
      const RankView view = graph_.rank(rank);
      bool uses = false;
      for (OpIndex op = 0; op < view.ops() && !uses; ++op) {
        uses = view.kind(op) == OpKind::kCollective && view.comm(op) == index;
      }
      if (!uses) missing(index, rank, 0);
    }
  }

  void check_alltoall_counts() {
    std::sort(alltoalls_.begin(), alltoalls_.end(), [](const AlltoallCounts& a, const AlltoallCounts& b) {
      return std::tuple(a.comm, a.position, a.member) < std::tuple(b.comm, b.position, b.member);
    });
    for (std::size_t begin = 0, end; begin < alltoalls_.size(); begin = end) {
      const AlltoallCounts& first = alltoalls_[begin];
      for (end = begin; end < alltoalls_.size() && alltoalls_[end].comm == first.comm &&
                        alltoalls_[end].position == first.position;) {
        ++end;
      }
      // Where some are missing that was reported.
      if (end - begin == graph_.communicator_size(first.comm)) check_pairs(&alltoalls_[begin], end - begin);
    }
  }

  void check_pairs(const AlltoallCounts* all, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      const Collective& sender = graph_.rank(all[i].rank).collective(all[i].op);
      for (std::size_t j = 0; j < size; ++j) {
        const Collective& receiver = graph_.rank(all[j].rank).collective(all[j].op);
        if (sender.counts[j] == receiver.receive_counts[i]) continue;
        recorder_.add(FindingKind::kCollectiveMismatch, 1, all[i].rank, all[i].op, [&] {
          return "operation " + std::to_string(all[i].op) + " of rank " + std::to_string(all[i].rank) +
                 " (alltoall, number " + std::to_string(all[i].position) + " on " +
                 recorder_.communicator(all[i].comm) + ") sends " + std::to_string(sender.counts[j]) +
                 " bytes to rank " + std::to_string(all[j].rank) + ", which wants " +
                 std::to_string(receiver.receive_counts[i]);
        });
        break;  // one of a rank is enough
      }
    }
  }

  Recorder& recorder_;
  const Graph& graph_;
  const Members& members_;
  std::vector<Comm> comms_;
  std::vector<AlltoallCounts> alltoalls_;
};

}  // namespace

void check_collectives(Recorder& recorder, const Members& members) {
  CollectiveCheck(recorder, members).run();
}

}  // namespace weft::goal::checks
