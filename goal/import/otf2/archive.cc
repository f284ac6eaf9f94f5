#include "goal/import/otf2/archive.h"

#include <fmt/core.h>

#include <algorithm>

#include "sim/units/input_error.h"
#include "sim/units/input_file.h"

namespace weft::goal {
namespace {

// The library's own messages on standard error would stand beside ours.
OTF2_ErrorCode say_nothing(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code, const char*,
                           va_list) {
  return code;
}

Otf2Definitions& of(void* user) { return *static_cast<Otf2Definitions*>(user); }

OTF2_CallbackCode on_clock(void* user, std::uint64_t resolution, std::uint64_t offset, std::uint64_t,
                           std::uint64_t) {
  of(user).ticks_per_second = resolution;
  of(user).first_tick = offset;
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_string(void* user, OTF2_StringRef self, const char* text) {
  of(user).strings[self] = text;
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_region(void* user, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef,
                            OTF2_StringRef, OTF2_RegionRole, OTF2_Paradigm, OTF2_RegionFlag, OTF2_StringRef,
                            std::uint32_t, std::uint32_t) {
  of(user).regions[self] = name;
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_location(void* user, OTF2_LocationRef self, OTF2_StringRef, OTF2_LocationType type,
                              std::uint64_t events, OTF2_LocationGroupRef process) {
  if (type == OTF2_LOCATION_TYPE_CPU_THREAD) {
    of(user).locations.push_back({self, process, events});
  } else {
    of(user).other_events += events;
  }
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_group(void* user, OTF2_GroupRef self, OTF2_StringRef, OTF2_GroupType type,
                           OTF2_Paradigm paradigm, OTF2_GroupFlag, std::uint32_t count,
                           const std::uint64_t* members) {
  if (paradigm != OTF2_PARADIGM_MPI) return OTF2_CALLBACK_SUCCESS;
  Otf2Definitions& definitions = of(user);
  if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS) {
    definitions.rank_locations.assign(members, members + count);
  } else if (type == OTF2_GROUP_TYPE_COMM_GROUP) {
    std::vector<Rank>& ranks = definitions.groups[self];
    for (std::uint32_t i = 0; i < count; ++i) {
      ranks.push_back(static_cast<Rank>(std::min<std::uint64_t>(members[i], kAny)));
    }
  } else if (type == OTF2_GROUP_TYPE_COMM_SELF) {
    definitions.self_groups[self] = true;
  }
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_comm(void* user, OTF2_CommRef self, OTF2_StringRef, OTF2_GroupRef group, OTF2_CommRef,
                          OTF2_CommFlag) {
  of(user).communicators[self] = group;
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_attribute(void* user, OTF2_AttributeRef self, OTF2_StringRef name, OTF2_StringRef,
                               OTF2_Type) {
  of(user).attributes[self] = name;
  return OTF2_CALLBACK_SUCCESS;
}

}  // namespace

Otf2Archive::Otf2Archive(const std::string& path) : path_(path) {
  old_callback_ = OTF2_Error_RegisterCallback(say_nothing, nullptr);
  check_input(path);
  reader_ = OTF2_Reader_Open(path.c_str());
  try {
    if (reader_ == nullptr) throw InputError({path_}, "the OTF2 library can't open this archive");
    check(OTF2_Reader_SetSerialCollectiveCallbacks(reader_), "the archive");
    read_definitions();
    open_locations();
  } catch (...) {
    if (reader_ != nullptr) OTF2_Reader_Close(reader_);
    OTF2_Error_RegisterCallback(old_callback_, nullptr);
    throw;
  }
}

Otf2Archive::~Otf2Archive() {
  OTF2_Reader_Close(reader_);
  OTF2_Error_RegisterCallback(old_callback_, nullptr);
}

void Otf2Archive::check(OTF2_ErrorCode code, const char* what) const {
  if (code == OTF2_SUCCESS) return;
  throw InputError({path_}, fmt::format("can't read {}: {}", what, OTF2_Error_GetDescription(code)));
}

void Otf2Archive::read_definitions() {
  OTF2_GlobalDefReader* const global = OTF2_Reader_GetGlobalDefReader(reader_);
  if (global == nullptr) throw InputError({path_}, "can't read the global definitions");
  const std::unique_ptr<OTF2_GlobalDefReaderCallbacks, void (*)(OTF2_GlobalDefReaderCallbacks*)> callbacks(
      OTF2_GlobalDefReaderCallbacks_New(), OTF2_GlobalDefReaderCallbacks_Delete);
  OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(callbacks.get(), on_clock);
  OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks.get(), on_string);
  OTF2_GlobalDefReaderCallbacks_SetRegionCallback(callbacks.get(), on_region);
  OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks.get(), on_location);
  OTF2_GlobalDefReaderCallbacks_SetGroupCallback(callbacks.get(), on_group);
  OTF2_GlobalDefReaderCallbacks_SetCommCallback(callbacks.get(), on_comm);
  OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(callbacks.get(), on_attribute);
  check(OTF2_Reader_RegisterGlobalDefCallbacks(reader_, global, callbacks.get(), &definitions_),
        "the definitions");
  std::uint64_t read = 0;
  check(OTF2_Reader_ReadAllGlobalDefinitions(reader_, global, &read), "the global definitions");
  if (definitions_.ticks_per_second == 0) throw InputError({path_}, "a clock of 0 ticks a second");
}

// Local definitions are mappings of numbers, which the library then applies to events by itself.
void Otf2Archive::open_locations() {
  for (const Otf2Location& location : definitions_.locations) {
    check(OTF2_Reader_SelectLocation(reader_, location.id), "the locations");
  }
  const bool has_local = OTF2_Reader_OpenDefFiles(reader_) == OTF2_SUCCESS;
  check(OTF2_Reader_OpenEvtFiles(reader_), "the events");
  for (const Otf2Location& location : definitions_.locations) {
    OTF2_DefReader* const local = has_local ? OTF2_Reader_GetDefReader(reader_, location.id) : nullptr;
    if (local == nullptr) continue;
    std::uint64_t read = 0;
    check(OTF2_Reader_ReadAllLocalDefinitions(reader_, local, &read), "the definitions of a location");
    OTF2_Reader_CloseDefReader(reader_, local);
  }
  if (has_local) OTF2_Reader_CloseDefFiles(reader_);
}

Otf2Events::Otf2Events(const Otf2Archive& archive, OTF2_LocationRef location,
                       const OTF2_EvtReaderCallbacks* callbacks, void* user)
    : archive_(archive), location_(location), events_(OTF2_Reader_GetEvtReader(archive.reader(), location)) {
  if (events_ == nullptr) {
    throw InputError({archive.path()}, fmt::format("can't read the events of location {}", location));
  }
  archive.check(OTF2_Reader_RegisterEvtCallbacks(archive.reader(), events_, callbacks, user), "the events");
}

Otf2Events::~Otf2Events() { OTF2_Reader_CloseEvtReader(archive_.reader(), events_); }

bool Otf2Events::read() {
  constexpr std::uint64_t kBatch = 64;
  std::uint64_t read = 0;
  const OTF2_ErrorCode code = OTF2_Reader_ReadLocalEvents(archive_.reader(), events_, kBatch, &read);
  if (code != OTF2_SUCCESS) {
    throw InputError({archive_.path()}, fmt::format("can't read the events of location {}: {}", location_,
                                                    OTF2_Error_GetDescription(code)));
  }
  return read == kBatch;
}

}  // namespace weft::goal
