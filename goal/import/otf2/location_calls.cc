#include "goal/import/otf2/location_calls.h"

#include <algorithm>
#include <utility>

namespace weft::goal {

using Kind = Otf2Event::Kind;

// The library's callbacks.
struct EventHandlers {
  static LocationCalls& of(void* user) { return *static_cast<LocationCalls*>(user); }
  static OTF2_CallbackCode add(void* user, OTF2_TimeStamp time, const Otf2Event& event) {
    of(user).add(time, event);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode enter(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user,
                                 OTF2_AttributeList*, OTF2_RegionRef region) {
    of(user).enter(time, region);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode leave(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user,
                                 OTF2_AttributeList*, OTF2_RegionRef) {
    of(user).leave(time);
    return OTF2_CALLBACK_SUCCESS;
  }
  template <Kind kKind>
  static OTF2_CallbackCode message(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user,
                                   OTF2_AttributeList*, std::uint32_t peer, OTF2_CommRef comm,
                                   std::uint32_t tag, std::uint64_t bytes) {
    return add(user, time, {.kind = kKind, .peer = peer, .comm = comm, .tag = tag, .bytes = bytes});
  }
  template <Kind kKind>
  static OTF2_CallbackCode message_request(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user,
                                           OTF2_AttributeList*, std::uint32_t peer, OTF2_CommRef comm,
                                           std::uint32_t tag, std::uint64_t bytes, std::uint64_t request) {
    return add(user, time,
               {.kind = kKind, .peer = peer, .comm = comm, .tag = tag, .bytes = bytes, .request = request});
  }
  template <Kind kKind>
  static OTF2_CallbackCode request(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user,
                                   OTF2_AttributeList*, std::uint64_t request) {
    return add(user, time, {.kind = kKind, .request = request});
  }
  static OTF2_CallbackCode collective(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user,
                                      OTF2_AttributeList*, OTF2_CollectiveOp op, OTF2_CommRef comm,
                                      std::uint32_t root, std::uint64_t sent, std::uint64_t received) {
    return add(user, time,
               {.kind = Kind::kCollective,
                .op = op,
                .peer = root,
                .comm = comm,
                .bytes = sent,
                .received = received});
  }
  static OTF2_CallbackCode collective_complete(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                               void* user, OTF2_AttributeList*, OTF2_CollectiveOp op,
                                               OTF2_CommRef comm, std::uint32_t root, std::uint64_t sent,
                                               std::uint64_t received, std::uint64_t request) {
    return add(user, time,
               {.kind = Kind::kCollectiveComplete,
                .op = op,
                .peer = root,
                .comm = comm,
                .bytes = sent,
                .received = received,
                .request = request});
  }

  static void set(OTF2_EvtReaderCallbacks* callbacks) {
    OTF2_EvtReaderCallbacks_SetEnterCallback(callbacks, enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(callbacks, leave);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(callbacks, message<Kind::kSend>);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(callbacks, message<Kind::kRecv>);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(callbacks, message_request<Kind::kIsend>);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(callbacks, message_request<Kind::kIrecv>);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(callbacks, request<Kind::kIsendComplete>);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(callbacks, request<Kind::kIrecvRequest>);
    OTF2_EvtReaderCallbacks_SetMpiRequestTestCallback(callbacks, request<Kind::kTest>);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(callbacks, request<Kind::kCancelled>);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(callbacks, collective);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(callbacks,
                                                                    request<Kind::kCollectiveRequest>);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(callbacks, collective_complete);
  }
};

LocationCalls::LocationCalls(const Otf2Archive& archive, OTF2_LocationRef location,
                             const std::map<OTF2_RegionRef, std::string>& mpi_regions)
    : definitions_(archive.definitions()),
      mpi_regions_(mpi_regions),
      callbacks_(OTF2_EvtReaderCallbacks_New(), OTF2_EvtReaderCallbacks_Delete) {
  EventHandlers::set(callbacks_.get());
  events_ = std::make_unique<Otf2Events>(archive, location, callbacks_.get(), this);
}

const Otf2Call* LocationCalls::front() {
  while (ready_.empty() && !ended_) ended_ = !events_->read();
  return ready_.empty() ? nullptr : &ready_.front();
}

std::uint64_t LocationCalls::nanoseconds(OTF2_TimeStamp time) const {
  const std::uint64_t ticks = time - std::min(time, definitions_.first_tick);
  const auto ns = static_cast<unsigned __int128>(ticks) * 1'000'000'000 / definitions_.ticks_per_second;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  return ns > kMost ? kMost : static_cast<std::uint64_t>(ns);
}

void LocationCalls::enter(OTF2_TimeStamp time, OTF2_RegionRef region) {
  if (depth_ > 0) {
    ++depth_;
  } else if (mpi_regions_.contains(region)) {
    depth_ = 1;
    last_ns_ = std::max(last_ns_, nanoseconds(time));
    open_ = {.region = region, .enter_ns = last_ns_};
  }
}

void LocationCalls::leave(OTF2_TimeStamp time) {
  if (depth_ == 0 || --depth_ > 0) return;
  last_ns_ = std::max(last_ns_, nanoseconds(time));
  open_.leave_ns = last_ns_;
  ready_.push_back(std::move(open_));
}

void LocationCalls::add(OTF2_TimeStamp time, const Otf2Event& event) {
  if (depth_ > 0) {
    open_.events.push_back(event);
    return;
  }
  last_ns_ = std::max(last_ns_, nanoseconds(time));
  ready_.push_back({.enter_ns = last_ns_, .leave_ns = last_ns_, .events = {event}});
}

}  // namespace weft::goal
