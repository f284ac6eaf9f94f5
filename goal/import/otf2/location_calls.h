// The MPI calls of one location of an OTF2 archive, put together from its events.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "goal/import/mpi/notes.h"
#include "goal/import/mpi/trace_reader.h"
#include "goal/import/otf2/archive.h"
#include "goal/import/unread.h"

namespace weft::goal {

// A communicator of the archive, by its number in RankImporter's list.
inline constexpr std::uint32_t kNotKnown = 0xFFFFFFFFu;

struct Otf2Event {
  enum class Kind : std::uint8_t {
    kSend,
    kIsend,
    kIsendComplete,
    kIrecvRequest,
    kRecv,
    kIrecv,
    kTest,
    kCancelled,
    kCollective,
    kCollectiveRequest,
    kCollectiveComplete
  };
  Kind kind = Kind::kSend;
  std::uint8_t op = 0;     // OTF2_CollectiveOp
  std::uint32_t peer = 0;  // or the root
  std::uint32_t comm = 0, tag = 0;
  std::uint64_t bytes = 0;     // of a message; of a collective: sent
  std::uint64_t received = 0;  // of a collective
  std::uint64_t request = 0;
};

// What all locations of a rank share.
struct Otf2Rank {
  // By request: what completed it, in order; of a receive and a nonblocking collective only that says what it
  // was.
  std::map<std::uint64_t, std::deque<Otf2Event>> completions;
};

// A call: an MPI region, or an event outside of any.
struct Otf2Call {
  OTF2_RegionRef region = OTF2_UNDEFINED_REGION;
  std::uint64_t enter_ns = 0, leave_ns = 0;
  std::vector<Otf2Event> events;
};

class LocationCalls {
 public:
  // `mpi_regions`: names of MPI functions. Counts what it does not read in `unread`, unless that is null.
  LocationCalls(const Otf2Archive& archive, OTF2_LocationRef location,
                const std::map<OTF2_RegionRef, std::string>& mpi_regions, Unread* unread);

  // The next call; null after the last. Good until pop().
  const Otf2Call* front();
  void pop() { ready_.pop_front(); }

 private:
  friend struct EventHandlers;
  std::uint64_t nanoseconds(OTF2_TimeStamp time) const;
  void enter(OTF2_TimeStamp time, OTF2_RegionRef region);
  void leave(OTF2_TimeStamp time);
  void add(OTF2_TimeStamp time, const Otf2Event& event);
  void pass_over(std::string_view event);
  void see(const OTF2_AttributeList* attributes);

  const Otf2Definitions& definitions_;
  const std::map<OTF2_RegionRef, std::string>& mpi_regions_;
  Unread* const unread_;
  std::unique_ptr<OTF2_EvtReaderCallbacks, void (*)(OTF2_EvtReaderCallbacks*)> callbacks_;
  std::unique_ptr<Otf2Events> events_;
  std::deque<Otf2Call> ready_;
  Otf2Call open_;
  std::uint32_t depth_ = 0;  // of regions since the MPI one
  std::uint64_t last_ns_ = 0;
  bool ended_ = false;
};

}  // namespace weft::goal
