// An OTF2 archive: what its definitions say, and the events of its locations, read by the OTF2 library.
//
// Source: Open Trace Format Version 2 (OTF2) 3.0, the library's interface; written by Score-P and others.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "goal/graph/graph.h"

namespace weft::goal {

struct Otf2Location {
  OTF2_LocationRef id = 0;
  OTF2_LocationGroupRef process = 0;
  std::uint64_t events = 0;
};

struct Otf2Definitions {
  std::uint64_t ticks_per_second = 1, first_tick = 0;
  std::map<OTF2_StringRef, std::string> strings;
  std::map<OTF2_RegionRef, OTF2_StringRef> regions;   // names
  std::vector<Otf2Location> locations;                // threads of processes
  std::uint64_t other_events = 0;                     // of locations that are no threads: GPUs, metrics
  std::vector<std::uint64_t> rank_locations;          // by rank of MPI_COMM_WORLD; empty: none are given
  std::map<OTF2_GroupRef, std::vector<Rank>> groups;  // ranks, of communicators
  std::map<OTF2_GroupRef, bool> self_groups;
  std::map<OTF2_CommRef, OTF2_GroupRef> communicators;
  std::map<OTF2_AttributeRef, OTF2_StringRef> attributes;  // names
};

// Checks what the library returns. Throws InputError that names the archive.
class Otf2Archive {
 public:
  // `path` is the anchor file (traces.otf2). Reads the global definitions.
  explicit Otf2Archive(const std::string& path);
  ~Otf2Archive();
  Otf2Archive(const Otf2Archive&) = delete;
  Otf2Archive& operator=(const Otf2Archive&) = delete;

  const Otf2Definitions& definitions() const { return definitions_; }
  const std::string& path() const { return path_; }
  OTF2_Reader* reader() const { return reader_; }
  void check(OTF2_ErrorCode code, const char* what) const;

 private:
  void read_definitions();
  void open_locations();

  std::string path_;
  OTF2_Reader* reader_ = nullptr;
  OTF2_ErrorCallback old_callback_ = nullptr;
  Otf2Definitions definitions_;
};

// The events of one location, in order, to callbacks with `user`.
class Otf2Events {
 public:
  Otf2Events(const Otf2Archive& archive, OTF2_LocationRef location, const OTF2_EvtReaderCallbacks* callbacks,
             void* user);
  ~Otf2Events();
  Otf2Events(const Otf2Events&) = delete;
  Otf2Events& operator=(const Otf2Events&) = delete;

  // Reads some more; false at the end.
  bool read();

 private:
  const Otf2Archive& archive_;
  OTF2_LocationRef location_;
  OTF2_EvtReader* events_ = nullptr;
};

}  // namespace weft::goal
