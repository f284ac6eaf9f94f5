#include "goal/import/dumpi/rank_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "goal/import/dumpi/layout.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

// Bits of a record's mask.
constexpr std::uint8_t kHasStatuses = 3, kHasCpuTime = 4, kHasWallTime = 8, kHasThread = 64,
                       kHasCounters = 128;
constexpr std::uint64_t kIndexNumbers = 8, kIndexBytes = 8 * kIndexNumbers;

}  // namespace

DumpiRankFile::DumpiRankFile(const std::string& path, Rank world_size, DumpiNotes& notes)
    : path_(path), file_(path), bytes_(file_.bytes()), notes_(notes), arguments_(world_size, notes) {
  if (!bytes_.starts_with(kDumpiMagic)) {
    throw InputError({path_, 0, 0, 0}, "no DUMPI trace: it does not begin with the bytes ff aa dd 44 'UMPI'");
  }
  read_index();
}

// The last 64 bytes: the magic number, and where the parts of the file are.
void DumpiRankFile::read_index() {
  end_ = bytes_.size();
  if (bytes_.size() < kIndexBytes + kDumpiMagic.size() ||
      !bytes_.substr(bytes_.size() - kIndexBytes).starts_with(kDumpiMagic)) {
    throw InputError({path_, 0, 0, static_cast<std::int64_t>(bytes_.size())},
                     "the index at the end is missing: the file was cut, or is older than DUMPI 0.6.6");
  }
  at_ = bytes_.size() - kIndexBytes + 8;
  const std::uint64_t sizes = u64();
  at_ += 16;  // addresses of functions, names of counters
  const std::uint64_t header = u64(), body = u64(), footer = u64();
  for (const std::uint64_t place : {sizes, header, body, footer}) {
    if (place > bytes_.size() - kIndexBytes) fail(fmt::format("an index with byte {}, past the end", place));
  }
  if (header == 0 || body == 0 || footer < body) fail("an index without header, body or footer");
  at_ = header;
  for (std::uint8_t& part : version_) part = u8();
  constexpr std::array<std::uint8_t, 3> kOldest = {0, 6, 9};
  if (version_ < kOldest) {
    at_ = header;
    fail(
        fmt::format("version {}.{}.{}; files are read from 0.6.9 on", version_[0], version_[1], version_[2]));
  }
  if (sizes != 0) {
    at_ = sizes;
    std::vector<std::uint64_t> table(length(4));
    for (std::uint64_t& size : table) size = u32();
    arguments_.set_sizes(std::move(table));
  }
  at_ = body;
  end_ = footer;
  cpu_offset_ = u32();
  wall_offset_ = u32();
}

bool DumpiRankFile::next(MpiCall& call) {
  while (!ended_) {
    record_at_ = at_;
    if (at_ >= end_) fail("the end of the calls; expected the record that says so");
    const std::uint16_t number = u16();
    if (number == kDumpiEnd) break;
    const bool is_call = number < dumpi_functions().size();
    const bool of_user = number == kDumpiFunctionEnter || number == kDumpiFunctionExit;
    if (!of_user && (!is_call || dumpi_functions()[number].layout == nullptr)) {
      at_ = record_at_;
      fail(fmt::format("function {}, which no DUMPI tracer writes", number));
    }
    call.clear();
    const std::uint8_t mask = u8();
    read_times(call, mask);
    if (of_user) {
      skip_bytes(8);
      continue;
    }
    arguments_.begin(call, number);
    read_arguments(call, dumpi_functions()[number].layout, mask);
    arguments_.finish(call);
    return true;
  }
  if (!std::exchange(ended_, true)) arguments_.end();
  return false;
}

void DumpiRankFile::read_times(MpiCall& call, std::uint8_t mask) {
  if ((mask & kHasThread) != 0) {
    call.record.thread = arguments_.thread(u16());
  }
  const auto time = [&] {
    const std::uint64_t second = u16();
    return second * 1'000'000'000 + u32();
  };
  std::uint64_t start = 0, stop = 0;
  for (const std::uint8_t clock : {kHasCpuTime, kHasWallTime}) {  // the wall's counts, if there are both
    if ((mask & clock) == 0) continue;
    start = time();
    stop = time();
  }
  notes_.without_time += (mask & (kHasCpuTime | kHasWallTime)) == 0;
  // Seconds are counted in 16 bits: 18 hours.
  constexpr std::uint64_t kWrap = 65'536'000'000'000;
  for (std::uint64_t* value : {&start, &stop}) {
    *value += second_wraps_;
    if (*value + kWrap / 2 < last_second_) {
      second_wraps_ += kWrap;
      *value += kWrap;
    }
    last_second_ = std::max(last_second_, *value);
  }
  call.record.enter_ns = start;
  call.record.leave_ns = stop;
  if ((mask & kHasCounters) != 0) skip_bytes(std::uint64_t{u8()} * 16);
}

void DumpiRankFile::read_arguments(MpiCall& call, const char* layout, std::uint8_t mask) {
  for (; *layout != '\0'; ++layout) {
    if (*layout == '?') {
      ++layout;
      if (!arguments_.is_root(call)) continue;
    }
    switch (*layout) {
      case '1':
      case '2':
      case '4':
      case '8':
      case 'A':
      case 'E':
      case 'S':
      case 'Z':
      case '3':
        skip(*layout);
        break;
      case 's':
        if ((mask & kHasStatuses) != 0) read_statuses();
        break;
      case 'a':
      case 'B':
      case 'I':
      case 'L':
      case 'Q':
      case 'V':
      case 'W':
      case 'X':
      case 'Y':
        read_array(call, *layout);
        break;
      case 't':
      case 'T':
      case 'o':
      case 'u':
      case 'm':
      case 'h':
      case 'e':
      case 'p':
      case 'P':
        arguments_.take(call, *layout, u16());
        break;
      default:
        arguments_.take(call, *layout, u32());
    }
  }
}

void DumpiRankFile::read_array(MpiCall& call, char what) {
  const bool of_types = what == 'X' || what == 'Y';
  std::uint32_t count = length(of_types ? 2 : 4);
  if (what != 'B') arguments_.begin_array(what);
  for (; count > 0; --count) {
    if (what == 'B') {
      arguments_.begin_array(what);
      for (std::uint32_t n = length(4); n > 0; --n) arguments_.take(call, what, u32());
    } else {
      arguments_.take(call, what, of_types ? u16() : u32());
    }
  }
}

void DumpiRankFile::skip(char what) {
  switch (what) {
    case 'A':
      return skip_bytes(std::uint64_t{length(4)} * 4);
    case 'E':
    case 'S':
      return skip_bytes(length(1));
    case 'Z':
      for (std::uint32_t n = length(4); n > 0; --n) skip_bytes(length(1));
      return;
    case '3':
      for (std::uint32_t n = length(4); n > 0; --n) skip('Z');
      return;
    default:
      skip_bytes(static_cast<std::uint64_t>(what - '0'));
  }
}

void DumpiRankFile::read_statuses() {
  constexpr std::uint32_t kStatusBytes = 14;
  for (std::uint32_t n = length(kStatusBytes); n > 0; --n) {
    TraceMessage status{.valid = true};
    status.bytes = u32();
    status.source = static_cast<std::int32_t>(u32());
    const bool cancelled = u8() != 0;
    skip_bytes(1);
    status.tag = static_cast<std::int32_t>(u32());
    arguments_.take_status(status, cancelled);
  }
}

std::uint8_t DumpiRankFile::u8() {
  if (at_ >= bytes_.size()) fail("the end of the file, in a record");
  return static_cast<std::uint8_t>(bytes_[at_++]);
}

std::uint16_t DumpiRankFile::u16() {
  const auto high = static_cast<std::uint16_t>(u8() << 8);
  return static_cast<std::uint16_t>(high | u8());
}

std::uint32_t DumpiRankFile::u32() {
  const auto high = static_cast<std::uint32_t>(u16()) << 16;
  return high | u16();
}

std::uint64_t DumpiRankFile::u64() {
  const auto high = static_cast<std::uint64_t>(u32()) << 32;
  return high | u32();
}

std::uint32_t DumpiRankFile::length(std::uint32_t bytes) {
  const std::uint32_t count = u32();
  if (static_cast<std::int32_t>(count) < 0) return 0;  // tracers write what the program passed
  if (count > (bytes_.size() - at_) / bytes) {
    at_ -= 4;
    fail(fmt::format("an array of {}, longer than the file", count));
  }
  return count;
}

void DumpiRankFile::skip_bytes(std::uint64_t bytes) {
  if (bytes > bytes_.size() - at_) fail("the end of the file, in a record");
  at_ += bytes;
}

void DumpiRankFile::fail(const std::string& what) const {
  throw InputError({path_, 0, 0, static_cast<std::int64_t>(at_)}, "found " + what);
}

}  // namespace weft::goal
