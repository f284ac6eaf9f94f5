#include "goal/import/otf2/location_calls.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace weft::goal {

using Kind = Otf2Event::Kind;

namespace {

// Events that have no part in the graph, by the library's names.
enum class Other : std::uint8_t {
  kMetric,
  kInt,
  kUnsigned,
  kString,
  kPut,
  kGet,
  kAtomic,
  kIo,
  kIoDone,
  kSample
};
constexpr std::string_view kOthers[] = {"Metric",
                                        "ParameterInt",
                                        "ParameterUnsignedInt",
                                        "ParameterString",
                                        "RmaPut bytes",
                                        "RmaGet bytes",
                                        "RmaAtomic bytes",
                                        "IoOperationBegin bytes",
                                        "IoOperationComplete bytes",
                                        "CallingContextSample"};

}  // namespace

// The library's callbacks.
struct EventHandlers {
  static LocationCalls& of(void* user) { return *static_cast<LocationCalls*>(user); }
  static OTF2_CallbackCode add(void* user, OTF2_TimeStamp time, const OTF2_AttributeList* attributes,
                               const Otf2Event& event) {
    of(user).see(attributes);
    of(user).add(time, event);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode enter(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user,
                                 OTF2_AttributeList* attributes, OTF2_RegionRef region) {
    of(user).see(attributes);
    of(user).enter(time, region);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode leave(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user,
                                 OTF2_AttributeList* attributes, OTF2_RegionRef) {
    of(user).see(attributes);
    of(user).leave(time);
    return OTF2_CALLBACK_SUCCESS;
  }
  template <Kind kKind>
  static OTF2_CallbackCode message(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user,
                                   OTF2_AttributeList* attributes, std::uint32_t peer, OTF2_CommRef comm,
                                   std::uint32_t tag, std::uint64_t bytes) {
    return add(user, time, attributes,
               {.kind = kKind, .peer = peer, .comm = comm, .tag = tag, .bytes = bytes});
  }
  template <Kind kKind>
  static OTF2_CallbackCode message_request(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user,
                                           OTF2_AttributeList* attributes, std::uint32_t peer,
                                           OTF2_CommRef comm, std::uint32_t tag, std::uint64_t bytes,
                                           std::uint64_t request) {
    return add(user, time, attributes,
               {.kind = kKind, .peer = peer, .comm = comm, .tag = tag, .bytes = bytes, .request = request});
  }
  template <Kind kKind>
  static OTF2_CallbackCode request(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user,
                                   OTF2_AttributeList* attributes, std::uint64_t request) {
    return add(user, time, attributes, {.kind = kKind, .request = request});
  }
  static OTF2_CallbackCode collective(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user,
                                      OTF2_AttributeList* attributes, OTF2_CollectiveOp op, OTF2_CommRef comm,
                                      std::uint32_t root, std::uint64_t sent, std::uint64_t received) {
    return add(user, time, attributes,
               {.kind = Kind::kCollective,
                .op = op,
                .peer = root,
                .comm = comm,
                .bytes = sent,
                .received = received});
  }
  static OTF2_CallbackCode collective_complete(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                               void* user, OTF2_AttributeList* attributes,
                                               OTF2_CollectiveOp op, OTF2_CommRef comm, std::uint32_t root,
                                               std::uint64_t sent, std::uint64_t received,
                                               std::uint64_t request) {
    return add(user, time, attributes,
               {.kind = Kind::kCollectiveComplete,
                .op = op,
                .peer = root,
                .comm = comm,
                .bytes = sent,
                .received = received,
                .request = request});
  }

  template <Other kOther, typename... Fields>
  static OTF2_CallbackCode other(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* user,
                                 OTF2_AttributeList*, Fields...) {
    of(user).pass_over(kOthers[static_cast<std::size_t>(kOther)]);
    return OTF2_CALLBACK_SUCCESS;
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
    OTF2_EvtReaderCallbacks_SetMetricCallback(callbacks, other<Other::kMetric>);
    OTF2_EvtReaderCallbacks_SetParameterIntCallback(callbacks, other<Other::kInt>);
    OTF2_EvtReaderCallbacks_SetParameterUnsignedIntCallback(callbacks, other<Other::kUnsigned>);
    OTF2_EvtReaderCallbacks_SetParameterStringCallback(callbacks, other<Other::kString>);
    OTF2_EvtReaderCallbacks_SetRmaPutCallback(callbacks, other<Other::kPut>);
    OTF2_EvtReaderCallbacks_SetRmaGetCallback(callbacks, other<Other::kGet>);
    OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(callbacks, other<Other::kAtomic>);
    OTF2_EvtReaderCallbacks_SetIoOperationBeginCallback(callbacks, other<Other::kIo>);
    OTF2_EvtReaderCallbacks_SetIoOperationCompleteCallback(callbacks, other<Other::kIoDone>);
    OTF2_EvtReaderCallbacks_SetCallingContextSampleCallback(callbacks, other<Other::kSample>);
  }
};

LocationCalls::LocationCalls(const Otf2Archive& archive, OTF2_LocationRef location,
                             const std::map<OTF2_RegionRef, std::string>& mpi_regions, Unread* unread)
    : definitions_(archive.definitions()),
      mpi_regions_(mpi_regions),
      unread_(unread),
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

void LocationCalls::pass_over(std::string_view event) {
  if (unread_ != nullptr) count_unread(*unread_, event);
}

// What tools attach to events; none has a part in the graph.
void LocationCalls::see(const OTF2_AttributeList* attributes) {
  if (unread_ == nullptr || attributes == nullptr) return;
  const std::uint32_t size = OTF2_AttributeList_GetNumberOfElements(attributes);
  for (std::uint32_t i = 0; i < size; ++i) {
    OTF2_AttributeRef attribute = 0;
    OTF2_Type type = OTF2_TYPE_NONE;
    OTF2_AttributeValue value;
    OTF2_AttributeList_GetAttributeByIndex(attributes, i, &attribute, &type, &value);
    const auto defined = definitions_.attributes.find(attribute);
    if (defined == definitions_.attributes.end()) continue;
    const auto name = definitions_.strings.find(defined->second);
    if (name != definitions_.strings.end()) count_unread(*unread_, name->second);
  }
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
