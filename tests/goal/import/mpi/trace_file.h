// Writes the trace file of one rank with the format's own encoders: enough kinds of records to make whole
// runs.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tracer/format/format.h"

namespace weft::goal {

class TraceFile {
 public:
  TraceFile(std::uint32_t rank, std::uint32_t size, const char* library = "Open MPI v4.1.4, package: test",
            const char* program = "app", std::uint64_t epoch_ns = 0, const char* host = "node1")
      : rank_(rank) {
    number(header_, rank);
    number(header_, size);
    for (const char* text : {library, host, program, "CLOCK_MONOTONIC"}) put_text(header_, text);
    number(header_, 0);
    number(header_, epoch_ns);
    begin_chunk();
    communicator(7, size);
  }

  // Times must not go back.
  TraceFile& init(std::uint64_t leave_ns) { return call(trace::Function::kInit, 0, leave_ns); }
  TraceFile& finalize(std::uint64_t enter_ns) { return call(trace::Function::kFinalize, enter_ns, enter_ns); }
  TraceFile& send(std::uint64_t enter_ns, std::uint64_t leave_ns, std::int32_t to, std::int32_t tag,
                  std::uint64_t bytes) {
    return message(trace::Function::kSend, enter_ns, leave_ns, to, tag, bytes);
  }
  TraceFile& recv(std::uint64_t enter_ns, std::uint64_t leave_ns, std::int32_t from, std::int32_t tag,
                  std::uint64_t bytes) {
    message(trace::Function::kRecv, enter_ns, leave_ns, trace::kAnySource, tag, 2 * bytes);
    payload_.push_back(trace::kHasMessage);
    signed_number(from);
    signed_number(tag);
    number(payload_, bytes);
    return *this;
  }
  TraceFile& counter(const std::string& name, trace::CallClass call_class, std::uint64_t calls,
                     std::uint64_t ns) {
    meta(trace::Meta::kName);
    number(payload_, static_cast<std::uint64_t>(call_class));
    put_text(payload_, name);
    meta(trace::Meta::kCounter);
    number(payload_, names_++);
    number(payload_, calls);
    number(payload_, ns);
    return *this;
  }
  TraceFile& fact(const std::string& name, const std::string& value) {
    meta(trace::Meta::kFact);
    put_text(payload_, name);
    put_text(payload_, value);
    return *this;
  }
  // The next call's thread did not run for so many microseconds before it and in it.
  TraceFile& off_core(std::uint64_t waiting_before, std::uint64_t asleep_before,
                      std::uint64_t waiting_inside) {
    meta(trace::Meta::kOffCore);
    payload_.push_back(1 | 2 | 4);
    for (const std::uint64_t us : {waiting_before, asleep_before, waiting_inside}) number(payload_, us);
    return *this;
  }
  // Whose the following calls are.
  TraceFile& thread(std::uint32_t thread) {
    meta(trace::Meta::kThread);
    number(payload_, thread);
    return *this;
  }
  TraceFile& thread_end(std::uint32_t thread, std::uint64_t at_ns) {
    meta(trace::Meta::kThreadEnd);
    number(payload_, thread);
    signed_number(static_cast<std::int64_t>(at_ns - last_leave_));
    number(payload_, 0);
    return *this;
  }
  // What was recorded so far is in the file, whatever happens later.
  TraceFile& flush() {
    end_chunk();
    begin_chunk();
    return *this;
  }
  TraceFile& end(trace::End why) {
    meta(trace::Meta::kEnd);
    payload_.push_back(static_cast<std::uint8_t>(why));
    end_chunk();
    return *this;
  }

  // Without its last `cut` bytes.
  void write(const std::filesystem::path& directory, std::size_t cut = 0, const char* name = nullptr) const {
    std::filesystem::create_directories(directory);
    char standard[32];
    std::snprintf(standard, sizeof standard, "rank-%06u.wtrc", rank_);
    std::string bytes(trace::kMagic, sizeof trace::kMagic);
    const auto u32 = [&](std::uint32_t value) {
      std::uint8_t raw[4];
      trace::put_u32(raw, value);
      bytes.append(reinterpret_cast<const char*>(raw), 4);
    };
    u32(1);  // every chunk finished, no live block
    u32(static_cast<std::uint32_t>(header_.size()));
    bytes.append(header_.begin(), header_.end());
    u32(trace::checksum(header_.data(), header_.size()));
    bytes.append(chunks_.begin(), chunks_.end());
    bytes.resize(bytes.size() - cut);
    std::ofstream(directory / (name == nullptr ? standard : name), std::ios::binary) << bytes;
  }

 private:
  using Bytes = std::vector<std::uint8_t>;
  static void number(Bytes& out, std::uint64_t value) {
    std::uint8_t raw[trace::kMaxVarintBytes];
    out.insert(out.end(), raw, trace::put_varint(raw, value));
  }
  static void put_text(Bytes& out, const std::string& text) {
    number(out, text.size());
    out.insert(out.end(), text.begin(), text.end());
  }
  void signed_number(std::int64_t value) { number(payload_, trace::zigzag(value)); }
  void meta(trace::Meta kind) { payload_.push_back(static_cast<std::uint8_t>(kind)); }

  TraceFile& call(trace::Function function, std::uint64_t enter_ns, std::uint64_t leave_ns) {
    payload_.push_back(static_cast<std::uint8_t>(function));
    signed_number(static_cast<std::int64_t>(enter_ns - last_leave_));
    number(payload_, leave_ns - enter_ns);
    last_leave_ = leave_ns;
    return *this;
  }
  TraceFile& message(trace::Function function, std::uint64_t enter_ns, std::uint64_t leave_ns,
                     std::int32_t peer, std::int32_t tag, std::uint64_t bytes) {
    call(function, enter_ns, leave_ns);
    number(payload_, trace::kCommWorld + 1);
    signed_number(peer);
    signed_number(tag);
    number(payload_, bytes);
    number(payload_, 1);
    return *this;
  }
  void communicator(std::uint64_t key, std::uint32_t size) {
    meta(trace::Meta::kCommunicator);
    number(payload_, 0);
    number(payload_, key);
    number(payload_, 0);  // no parent
    number(payload_, 0);  // one group
    number(payload_, size);
    number(payload_, size);  // one run
    signed_number(0);
    signed_number(1);
  }
  void begin_chunk() {
    number(payload_, last_leave_);
    number(payload_, 0);  // thread
    number(payload_, 1);  // next request
  }
  void end_chunk() {
    std::uint8_t head[trace::kChunkHeaderBytes] = {};
    trace::put_u32(head, trace::kChunkMagic);
    trace::put_u32(head + 4, static_cast<std::uint32_t>(payload_.size()));
    trace::put_u32(head + 8, trace::checksum(payload_.data(), payload_.size()));
    chunks_.insert(chunks_.end(), head, head + sizeof head);
    chunks_.insert(chunks_.end(), payload_.begin(), payload_.end());
    payload_.clear();
  }

  std::uint32_t rank_;
  std::uint64_t last_leave_ = 0, names_ = 0;
  Bytes header_, payload_, chunks_;
};

}  // namespace weft::goal
