// Drives a profiler plugin as NCCL does: loads it by NCCL_PROFILER_PLUGIN, takes the interface of the version
// that WEFT_STANDIN_PROFILER says (4 if unset), and starts and stops an event for each collective and
// message. The binary interfaces are NCCL's (plugins/profiler of its source), written down here a second time
// on purpose.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace standin {

struct Chosen {
  const char* function;  // "AllReduce"
  int function_number;   // ncclFunc_t
  std::uint64_t sequence;
  std::size_t count;
  int root_or_peer;
  const char *algorithm, *protocol;
  int algorithm_number, protocol_number, channels;
  bool message;
};

class Profiler {
 public:
  void start(std::uint64_t hash, int ranks, int rank) {
    hash_ = hash;
    rank_ = rank;
    const char* path = std::getenv("NCCL_PROFILER_PLUGIN");
    if (path == nullptr) return;
    const char* wanted = std::getenv("WEFT_STANDIN_PROFILER");
    version_ = wanted != nullptr ? std::atoi(wanted) : 4;
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void* symbol =
        library == nullptr ? nullptr : dlsym(library, ("ncclProfiler_v" + std::to_string(version_)).c_str());
    if (symbol == nullptr) {
      std::fprintf(stderr, "stand-in: no profiler %d in %s\n", version_, path);
      std::exit(1);
    }
    functions_ = static_cast<Functions*>(symbol);
    int mask = 0, error = 0;
    if (version_ <= 3) {
      error = reinterpret_cast<int (*)(void**, int*)>(functions_->init)(&context_, &mask);
    } else if (version_ == 4) {
      error = reinterpret_cast<int (*)(void**, int*, const char*, std::uint64_t, int, int, int, void*)>(
          functions_->init)(&context_, &mask, "", hash, 1, ranks, rank, nullptr);
    } else {
      error = reinterpret_cast<int (*)(void**, std::uint64_t, int*, const char*, int, int, int, void*)>(
          functions_->init)(&context_, hash, &mask, "", 1, ranks, rank, nullptr);
    }
    if (error != 0) std::exit(1);
    mask_ = mask;
  }

  // What is launched together, between these.
  void begin_group() {
    if (functions_ == nullptr || (mask_ & 1) == 0) return;
    unsigned char event[256] = {1};
    put<std::int32_t>(event, 16, rank_);
    functions_->start(context_, &group_, event);
  }
  void end_group() {
    if (group_ != nullptr) functions_->stop(group_);
    group_ = nullptr;
  }

  void operation(const Chosen& c) {
    if (functions_ == nullptr || (mask_ & (c.message ? 4 : 2)) == 0) return;
    // Words and bytes at the places the interface of each version has them.
    unsigned char event[256] = {};
    if (version_ >= 5) {
      put<std::uint64_t>(event, 0, c.message ? 4 : 2);
    } else {
      put<std::uint8_t>(event, 0, c.message ? 4 : 2);
    }
    put<std::int32_t>(event, 16, rank_);
    if (version_ <= 4) put(event, 8, group_);
    if (c.message) {
      message(event, c);
    } else {
      collective(event, c);
    }
    void* handle = nullptr;
    functions_->start(context_, &handle, event);
    functions_->stop(handle);
  }

  void end() {
    if (functions_ != nullptr) functions_->finalize(context_);
    functions_ = nullptr;
  }

 private:
  struct Functions {
    const char* name;
    void* init;
    int (*start)(void*, void**, void*);
    int (*stop)(void*);
    int (*state)(void*, int, void*);
    int (*finalize)(void*);
  };
  template <typename T>
  static void put(unsigned char* event, std::size_t at, T value) {
    *reinterpret_cast<T*>(event + at) = value;
  }

  void collective(unsigned char* e, const Chosen& c) {
    std::size_t at = 24;
    if (version_ <= 3) {  // name, commHash
      put(e, at, "");
      put(e, at + 8, hash_);
      at += 16;
    }
    put(e, at, c.sequence);
    if (version_ == 1) {
      put(e, at + 8, static_cast<std::uint8_t>(c.function_number));
    } else {
      put(e, at + 8, c.function);
    }
    put(e, at + 32, c.count);
    put<std::int32_t>(e, at + 40, c.root_or_peer);
    if (version_ == 1) {
      put<std::uint8_t>(e, at + 44, 7);
      put<std::uint8_t>(e, at + 64, static_cast<std::uint8_t>(c.channels));
      put<std::uint8_t>(e, at + 65, 16);
      put<std::uint8_t>(e, at + 66, static_cast<std::uint8_t>(c.algorithm_number));
      put<std::uint8_t>(e, at + 67, static_cast<std::uint8_t>(c.protocol_number));
      return;
    }
    put(e, at + 48, "ncclFloat32");
    at += version_ == 2 ? 64 : 56;  // trafficBytes
    put<std::uint8_t>(e, at, static_cast<std::uint8_t>(c.channels));
    put<std::uint8_t>(e, at + 1, 16);
    put(e, at + 8, c.algorithm);
    put(e, at + 16, c.protocol);
    if (version_ >= 5) put(e, at + 24, group_);
  }

  void message(unsigned char* e, const Chosen& c) {
    std::size_t at = 24;
    if (version_ <= 3) {
      put(e, at, "");
      put(e, at + 8, hash_);
      at += 16;
    }
    if (version_ == 1) {
      put(e, at, static_cast<std::uint8_t>(c.function_number));
      put<std::uint8_t>(e, at + 16, 7);
    } else {
      put(e, at, c.function);
    }
    put(e, at + 24, c.count);
    put<std::int32_t>(e, at + 32, c.root_or_peer);
    if (version_ >= 2) put(e, at + 16, "ncclFloat32");
    if (version_ >= 5) put(e, at + 40, group_);
    if (version_ >= 4) put<std::uint8_t>(e, at + 36, static_cast<std::uint8_t>(c.channels));
  }

  int version_ = 0, mask_ = 0, rank_ = 0;
  std::uint64_t hash_ = 0;
  Functions* functions_ = nullptr;
  void *context_ = nullptr, *group_ = nullptr;
};

}  // namespace standin
