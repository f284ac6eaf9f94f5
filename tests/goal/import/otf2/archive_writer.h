// Writes small OTF2 archives with the OTF2 library, for tests.
#pragma once

#include <otf2/otf2.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace weft::goal {

inline OTF2_FlushType flush_always(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }

// An archive of `ranks` processes with one thread each, location 10 + rank, and a clock of nanoseconds.
class ArchiveWriter {
 public:
  ArchiveWriter(const std::filesystem::path& folder, std::uint32_t ranks) : ranks_(ranks) {
    std::filesystem::remove_all(folder);
    archive_ = OTF2_Archive_Open(folder.c_str(), "traces", OTF2_FILEMODE_WRITE, 1 << 20, 1 << 22,
                                 OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    REQUIRE(archive_ != nullptr);
    static const OTF2_FlushCallbacks kFlush = {.otf2_pre_flush = flush_always, .otf2_post_flush = nullptr};
    OTF2_Archive_SetFlushCallbacks(archive_, &kFlush, nullptr);
    OTF2_Archive_SetSerialCollectiveCallbacks(archive_);
    OTF2_Archive_OpenEvtFiles(archive_);
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      events_.push_back(OTF2_Archive_GetEvtWriter(archive_, 10 + rank));
  }

  OTF2_EvtWriter* events(std::uint32_t rank) { return events_[rank]; }
  // A call of 100 ns that begins at `now`; `inside` writes its events.
  template <typename Inside>
  void call(std::uint32_t rank, std::uint64_t now, const std::string& name, const Inside& inside) {
    const auto region =
        regions_.try_emplace(name, static_cast<OTF2_RegionRef>(regions_.size())).first->second;
    OTF2_EvtWriter_Enter(events_[rank], nullptr, now, region);
    inside(events_[rank], now + 50);
    OTF2_EvtWriter_Leave(events_[rank], nullptr, now + 100, region);
  }
  void call(std::uint32_t rank, std::uint64_t now, const std::string& name) {
    call(rank, now, name, [](OTF2_EvtWriter*, std::uint64_t) {});
  }

  // One more location, of the first process's GPU, which is said to have so many events.
  void gpu(std::uint64_t events) { gpu_events_ = events; }
  // Attribute 0, 1, … of events.
  void attribute(const std::string& name) { attributes_.push_back(name); }
  // Communicator 0 is the world; the others have the numbers 1, 2, …
  void close(const std::vector<std::vector<std::uint64_t>>& communicators = {}) {
    for (OTF2_EvtWriter* writer : events_) OTF2_Archive_CloseEvtWriter(archive_, writer);
    OTF2_Archive_CloseEvtFiles(archive_);
    OTF2_GlobalDefWriter* const global = OTF2_Archive_GetGlobalDefWriter(archive_);
    OTF2_GlobalDefWriter_WriteClockProperties(global, 1'000'000'000, 1000, 1 << 30, OTF2_UNDEFINED_TIMESTAMP);
    OTF2_StringRef next = 0;
    const auto string = [&](const std::string& text) {
      OTF2_GlobalDefWriter_WriteString(global, next, text.c_str());
      return next++;
    };
    const OTF2_StringRef none = string("");
    for (OTF2_AttributeRef i = 0; i < attributes_.size(); ++i) {
      OTF2_GlobalDefWriter_WriteAttribute(global, i, string(attributes_[i]), none, OTF2_TYPE_UINT64);
    }
    for (const auto& [name, region] : regions_) {
      const OTF2_StringRef text = string(name);
      OTF2_GlobalDefWriter_WriteRegion(global, region, text, text, none, OTF2_REGION_ROLE_FUNCTION,
                                       OTF2_PARADIGM_MPI, OTF2_REGION_FLAG_NONE, none, 0, 0);
    }
    OTF2_GlobalDefWriter_WriteSystemTreeNode(global, 0, none, none, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    std::vector<std::uint64_t> locations, all;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      OTF2_GlobalDefWriter_WriteLocationGroup(global, rank, none, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                              OTF2_UNDEFINED_LOCATION_GROUP);
      OTF2_GlobalDefWriter_WriteLocation(global, 10 + rank, none, OTF2_LOCATION_TYPE_CPU_THREAD, 0, rank);
      locations.push_back(10 + rank);
      all.push_back(rank);
    }
    if (gpu_events_ > 0) {
      OTF2_GlobalDefWriter_WriteLocation(global, 1000, none, OTF2_LOCATION_TYPE_ACCELERATOR_STREAM,
                                         gpu_events_, 0);
    }
    OTF2_GlobalDefWriter_WriteGroup(global, 0, none, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, ranks_, locations.data());
    OTF2_GlobalDefWriter_WriteGroup(global, 1, none, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, ranks_, all.data());
    OTF2_GlobalDefWriter_WriteComm(global, 0, none, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    for (std::uint32_t i = 0; i < communicators.size(); ++i) {
      OTF2_GlobalDefWriter_WriteGroup(
          global, 2 + i, none, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
          static_cast<std::uint32_t>(communicators[i].size()), communicators[i].data());
      OTF2_GlobalDefWriter_WriteComm(global, 1 + i, none, 2 + i, 0, OTF2_COMM_FLAG_NONE);
    }
    OTF2_Archive_OpenDefFiles(archive_);
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      OTF2_Archive_CloseDefWriter(archive_, OTF2_Archive_GetDefWriter(archive_, 10 + rank));
    }
    OTF2_Archive_CloseDefFiles(archive_);
    REQUIRE(OTF2_Archive_Close(archive_) == OTF2_SUCCESS);
  }

 private:
  std::uint32_t ranks_;
  OTF2_Archive* archive_ = nullptr;
  std::vector<OTF2_EvtWriter*> events_;
  std::map<std::string, OTF2_RegionRef> regions_;
  std::vector<std::string> attributes_;
  std::uint64_t gpu_events_ = 0;
};

}  // namespace weft::goal
