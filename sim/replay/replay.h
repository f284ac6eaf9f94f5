// Executes a GOAL program on simulated hosts, over any network model.
//
// The rules (what occupies a cpu when, eager and rendezvous, ordering) are written down in RULES.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "goal/collectives/selection.h"
#include "goal/program.h"
#include "sim/core/engine.h"
#include "sim/core/network.h"
#include "sim/core/nic_rule.h"
#include "sim/results/cpu_times.h"
#include "sim/results/critical_path.h"
#include "sim/results/path_shares.h"
#include "sim/results/records.h"
#include "sim/results/timeline.h"

namespace weft::sim {

// How large messages are taken to their receiver once that is ready for them.
enum class Rendezvous : std::uint8_t {
  kPut,  // it clears the rest to be sent, in pieces
  kGet,  // it asks for the rest and tells when all is there; the sender's operation ends with that
};

// The hosts' part of the LogGOPS parameters, the same for every rank.
struct HostConfig {
  Time overhead;                        // o: cpu time to send or to receive a message
  TimePerByte overhead_per_byte;        // O: cpu time per byte after the first
  std::uint64_t eager_limit_bytes = 0;  // S: larger messages wait for their receive (rendezvous)
  // So do larger ones than this of collectives that go in rounds, even where S is larger: MPI libraries
  // exchange them by blocking calls, which end when the data have gone. (Pipelines of segments and NCCL's
  // channels have room at the receiver, and messages to many peers at once don't block.) At least
  // first_fragment_bytes.
  std::uint64_t collective_limit_bytes = UINT64_MAX;
  // How these do so, see sim/replay/protocols.h.
  std::uint64_t first_fragment_bytes = 0;  // go with the request, at most; below 2^48
  Rendezvous rendezvous = Rendezvous::kPut;
  std::uint64_t fragment_bytes = UINT64_MAX;  // the rest goes in pieces of so many, 1 or more
  std::uint32_t pipeline_depth = 1;           // so many of which the network has at a time, 1 or more
  // What receivers answer goes on connections of its own: kAnswerChannels and the number of the one it is
  // about. Else it waits behind what its sender has for the same rank.
  bool answers_apart = false;
  // Messages of a rank take those to their receiver in turn; 1 or more, below 2^16. With the square of
  // ranks_per_host at most kAnswerChannels, if the network keeps connections apart.
  std::uint32_t connections_per_pair = 1;
  // Cpu time to combine received data inside collectives, and where their vector has more than so many bytes.
  TimePerByte reduction_per_byte, reduction_from_memory;
  // Cpu time to copy data that an algorithm moves in a rank; the first also for each eager message at both
  // ends, up to the lower of both limits above.
  TimePerByte copy_per_byte, copy_from_memory;
  std::uint64_t cache_bytes = UINT64_MAX;
  std::uint32_t ranks_per_host = 1;       // rank r runs on host r / ranks_per_host, if not placed otherwise
  double compute_scale = 1;               // times of calcs are multiplied by it
  double overlap_slowdown = 1;            // and by this beside collectives of their rank; 1 or more
  goal::CollectiveSelection collectives;  // the algorithm of each collective
  // The NICs that ranks use whose program names none, all its operations having NIC 0; null: NIC 0.
  const NicRule* nics = nullptr;
  // What is made of them where a rank has several of its own.
  RailUse rails;
  // Bytes of messages take so long at a NIC: for what is said of the critical path alone.
  TimePerByte nic_per_byte;
  // No message of no bytes takes longer alone: what others take beyond it, and beyond the NIC, is bandwidth
  // of slower links on the way. This serves what is said of the critical path alone, too.
  Time longest_latency = Time::max();
};

// Hosts that the ranks of the program fill.
std::uint32_t hosts_needed(const goal::Program& program, const HostConfig& hosts);

struct ReplayTotals {
  std::uint64_t ops = 0, executed_ops = 0;  // of the program
  std::uint64_t messages = 0, bytes = 0;    // sent by ranks, those of collectives included
  std::uint64_t unreceived = 0;             // arrived, but no receive took them
  Time makespan;                            // latest finish of any rank
  // The replay is over, and members of a communicator called collectives of other kinds, roots or sizes than
  // the rest did: goal::check_collectives() tells which.
  bool collectives_differ = false;
};

// Where and when a program is replayed, and how it keeps apart from others that are replayed beside it.
struct ReplayPlace {
  std::vector<std::uint32_t> host_of_rank = {};  // empty: by HostConfig::ranks_per_host
  Time start = {};                               // when its first operations may begin
  std::uint32_t instance = 0;                    // Message::instance of its messages
  // Its connections between two hosts have the numbers from here on: see connections_between_hosts().
  std::uint32_t first_channel = 0;
  // Its ranks are the entities from this one on, which are reserved already. None: it reserves them.
  std::optional<EntityId> first_entity = std::nullopt;
  std::vector<std::uint32_t> events_so_far = {};  // of each rank's entity; empty: none
  std::uint32_t replays = 1;                      // so many share the memory for unpacked blocks of files
  // Where it is recorded what its ranks do, as those of this job; null: nowhere.
  results::TimelineRecorder* timeline = nullptr;
  std::uint32_t job = 0;
  bool keeps_path = false;   // critical_path() and cpu_times() are asked for
  bool keeps_steps = false;  // path_shares(), too. REQUIRES: one partition
};

// Connections between any two hosts that a program placed so has numbers for: fewer than 2^64.
std::uint64_t connections_between_hosts(std::span<const std::uint32_t> host_of_rank, const HostConfig& hosts);

// What a recorder is to know of collectives: TimelineRecorder::begin().
std::vector<std::string> timeline_collectives();

struct ReplayPlan;
class CommunicationClasses;
class ReplayShare;
class RailSplitter;
class TimelineRecords;
class TimelineTap;
class TrailRecords;

// One replay of one program. A graph is held in memory, and must outlive the replay if it is not the
// program's own; of a packed file only what is under way is, and it is read as the replay goes on. It has a
// share in each partition of the simulation: the ranks of that partition's hosts, which no other share reads
// or writes. While the network runs, each share is called by its partition's network only, so the partitions
// may run in threads of their own. The functions below are for the time before and after, and between windows
// in which all partitions rest. Results and digest are the same for any partitioning.
class Replay {
 public:
  // Throws InputError if an algorithm can't be used by the ranks of a collective. While the network runs, it
  // is thrown where the program can't be replayed: a collective of a rank that is no member, times and bytes
  // past all limits, a packed file that is damaged.
  Replay(const goal::Program& program, const HostConfig& hosts, Engine& engine);
  // In as many partitions as there are engines; the ranks of host h belong to partition_of_host[h].
  // Partitions may have an engine in common. REQUIRES: a partition for each host that is needed, and the same
  // number of entities in all engines; a host for each rank if any is placed; a part of the recorder for each
  // partition.
  Replay(const goal::Program& program, const HostConfig& hosts, std::span<Engine* const> engines,
         std::span<const std::uint16_t> partition_of_host, ReplayPlace place = {});
  ~Replay();
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  // Tells the recorder of messages that nobody has received. Nothing runs after that.
  void finish_timeline();

  // Whom the network of a partition calls.
  NetworkClient& client(std::size_t partition = 0);
  // Schedules the first operations at the start of its place, 0 by default. Called once, before the networks
  // run, with one per partition.
  void start(std::span<Network* const> networks);
  void start(Network& network);  // REQUIRES: one partition

  // Has every operation finished, and was every message received?
  bool complete() const;
  // Has every operation finished? Nothing is scheduled any more then, and no rank is called but with messages
  // that nobody will receive.
  bool done() const;
  // Operations that have finished.
  std::uint64_t executed_ops() const;
  // Does none of its cpus work, and has all begun that begins at the start? If none of its messages is under
  // way either, it will never go on.
  bool at_rest() const;
  // Events that each rank's entity has scheduled, those of ReplayPlace included.
  std::vector<std::uint32_t> events_of_ranks() const;
  // Share of the operations that have finished, from 0 to 1.
  double progress() const;
  // Bytes held for what is under way, 192 for each rank included and 4 for each operation of a graph, which
  // is not. Of a packed file with the operations at hand, but without the outline and the unpacked blocks.
  std::uint64_t memory_bytes() const;
  // Throws InputError if the messages have more than 2^64 bytes together.
  ReplayTotals totals() const;
  std::vector<results::Rank> ranks() const;
  // From the start of its place to the last end of a rank; nothing if it isn't kept, or not done.
  std::optional<results::CriticalPath> critical_path() const;
  // Where its time went; nothing if steps aren't kept, or it is not done.
  std::optional<results::PathShares> path_shares() const;
  // Likewise: of one rank, and of all, with the most exposed communication first and without what takes no
  // time.
  std::optional<results::CpuTimes> cpu_times(std::uint32_t rank) const;
  std::optional<results::CpuTimes> cpu_times() const;
  // Digest of all engines joined with every rank's finish time.
  std::uint64_t digest() const;
  // For a replay that ended incomplete: which ranks wait, for what, and what nearly matches; at most `limit`
  // ranks are described, the rest counted. One line each. REQUIRES: no events are left (the run was not
  // stopped).
  std::vector<std::string> diagnose(std::size_t limit = 10) const;

 private:
  std::size_t partition_of(std::uint32_t rank) const;
  bool do_collectives_differ() const;
  const ReplayShare& share_of(std::uint32_t rank) const { return *shares_[partition_of(rank)]; }

  std::unique_ptr<const ReplayPlan> plan_;
  std::vector<Engine*> engines_;                  // each once
  std::vector<std::uint16_t> partition_of_host_;  // empty with one partition
  std::vector<std::unique_ptr<ReplayShare>> shares_;
  std::unique_ptr<const CommunicationClasses> classes_;   // null where trails_ is
  std::unique_ptr<TrailRecords> trails_;                  // null: nothing is asked of the critical path
  std::unique_ptr<TimelineRecords> records_;              // null: nothing is recorded
  std::vector<std::unique_ptr<TimelineTap>> taps_;        // of the shares; none: nothing is recorded
  std::vector<std::unique_ptr<RailSplitter>> splitters_;  // of each share; none: no message is divided
};

}  // namespace weft::sim
