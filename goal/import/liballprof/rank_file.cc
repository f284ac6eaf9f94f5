#include "goal/import/liballprof/rank_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

using trace::Function;
using trace::Shape;

constexpr std::uint64_t kMostRequests = 1u << 24;  // in one array

// MPICH's handles are 32 bits, of which the highest eight say that it is a communicator.
bool is_mpich_communicator(std::uint64_t handle) {
  const std::uint64_t kind = handle >> 24;
  return kind == 0x44 || kind == 0x84 || kind == 0xC4;
}

// MPI_IN_PLACE as an address: 1 in Open MPI, -1 in MPICH.
bool is_in_place(std::string_view address) {
  return address == "1" || address == "18446744073709551615" || address == "-1";
}

}  // namespace

bool looks_like_allprof(std::string_view head) {
  while (!head.empty() && (head.front() == '#' || head.front() == '\n' || head.front() == '\r')) {
    head.remove_prefix(std::min(head.find('\n'), head.size() - 1) + 1);
  }
  const std::string_view line = head.substr(0, head.find('\n'));
  return line.starts_with("MPI_Init:") || line.starts_with("MPI_Init_thread:");
}

AllprofRankFile::AllprofRankFile(const std::string& path, std::uint32_t request_bytes, AllprofNotes& notes)
    : path_(path), file_(path), rest_(file_.bytes()), notes_(notes), request_bytes_(request_bytes) {}

// The next line that is a call; false at the end.
bool AllprofRankFile::next_line() {
  while (!rest_.empty()) {
    const std::size_t end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
    ++line_number_;
    if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
    if (line_.empty() || line_.front() == '#') continue;
    if (end == rest_.npos && rest_.empty() && file_.bytes().back() != '\n') {
      ++notes_.cut_lines;  // the program was killed while it was written
      return false;
    }
    return true;
  }
  return false;
}

bool AllprofRankFile::next(MpiCall& call) {
  if (std::exchange(held_, false)) {
    call = std::move(held_call_);
    return true;
  }
  call.clear();
  if (!next_line()) {
    if (!std::exchange(ended_, true)) notes_.without_finalize += !finalized_;
    return false;
  }
  read_call(call);
  return true;
}

void AllprofRankFile::read_call(MpiCall& call) {
  fields_.clear();
  for (std::string_view left = line_;;) {
    const std::size_t end = left.find(':');
    fields_.push_back(left.substr(0, end));
    if (end == left.npos) break;
    left.remove_prefix(end + 1);
  }
  if (!fields_[0].starts_with("MPI_") || fields_.size() < 3) {
    fail(line_, "a call, MPI_Name:BEGIN:arguments:END");
  }
  read_times(call);
  const AllprofSignature* signature = allprof_signature(fields_[0]);
  call.name = fields_[0];
  if (signature == nullptr) {
    call.record.function = Function::kUndecoded;
    return;
  }
  call.record.function = signature->function;
  call.creation.how = signature->how;
  request_count_ = 0;
  read_arguments(call, *signature);
  finish_call(call);
}

void AllprofRankFile::read_times(MpiCall& call) {
  const std::string_view begin = fields_[1], end = fields_.back();
  // MPI_Init has no clock at its begin, MPI_Finalize none at its end.
  call.record.leave_ns = nanoseconds(end == "-" ? begin : end);
  call.record.enter_ns = begin == "-" ? call.record.leave_ns : nanoseconds(begin);
}

void AllprofRankFile::read_arguments(MpiCall& call, const AllprofSignature& signature) {
  const std::string_view wanted = signature.arguments;
  std::size_t field = 2;
  const std::size_t given = fields_.size() - 3;
  if (wanted.back() != '*') {
    const auto count = [&](char what) {
      return static_cast<std::size_t>(std::count(wanted.begin(), wanted.end(), what));
    };
    const std::size_t least = wanted.size() + count('V') + count('W');
    const bool numbers_behind = count('A') > 0 && given == least + count('A');
    if (given != least && !numbers_behind) {
      fail(line_, fmt::format("{} with {} arguments", signature.name, least).c_str());
    }
    for (const char what : wanted) {
      if (what == 'A')
        field += numbers_behind ? 2 : 1;
      else
        read_argument(call, what, field);
    }
    return;
  }
  for (const char what : wanted.substr(0, wanted.size() - 1)) {
    if (field - 2 >= given) fail(line_, "more arguments");
    read_argument(call, what, field);
  }
}

void AllprofRankFile::read_argument(MpiCall& call, char what, std::size_t& field) {
  TraceRecord& record = call.record;
  const std::string_view text = fields_[field++];
  // Peers and tags below zero have meanings that the library chooses.
  const auto number = [&] { return signed_whole(text, "a number"); };
  switch (what) {
    case 'I':
      record.in_place = is_in_place(text);
      break;
    case 'n':
    case 'N':
      (what == 'n' ? record.count : record.recv_count) =
          static_cast<std::uint64_t>(std::max<std::int64_t>(number(), 0));
      break;
    case 't':
    case 'T':
      (what == 't' ? record.type_size : record.recv_type_size) = type_size(text);
      break;
    case 'd':
    case 'D':
      (what == 'd' ? record.peer : record.recv_peer) = static_cast<std::int32_t>(number());
      break;
    case 'g':
    case 'G':
      (what == 'g' ? record.tag : record.recv_tag) =
          static_cast<std::int32_t>(std::max<std::int64_t>(number(), -1));
      break;
    case 'm':
      read_communicator(call, text);
      break;
    case 'r':
      record.root = static_cast<std::int32_t>(number());
      break;
    case 'V':
    case 'W':
      (what == 'V' ? record.send_bytes : record.recv_bytes) = numbers(fields_[field++]);
      break;
    case 'q':
      request_address_ = whole(text, "the address of a request");
      request_count_ = 1;
      break;
    case 'c':
      request_count_ = whole(text, "a number of requests");
      if (request_count_ > kMostRequests) fail(text, "at most 2^24 requests");
      break;
    case 'Q':
      request_address_ = whole(text, "the address of requests");
      break;
    case 'k':
      call.creation.color = number();
      break;
    case 'y':
      call.creation.key = number();
      break;
    default:
      break;
  }
}

// "handle,rank,size"
void AllprofRankFile::read_communicator(MpiCall& call, std::string_view text) {
  const std::vector<std::uint64_t> parts = numbers(text);
  if (parts.size() != 3 || parts[2] == 0 || parts[2] > UINT32_MAX || parts[1] >= parts[2]) {
    fail(text, "a communicator: handle, rank and size");
  }
  call.comm = parts[0];
  call.comm_rank = static_cast<std::uint32_t>(parts[1]);
  call.comm_size = static_cast<std::uint32_t>(parts[2]);
  mpich_ = is_mpich_communicator(parts[0]);
  if (request_bytes_ == 0) request_bytes_ = mpich_ ? 4 : 8;
}

// "id,size,extent"
std::uint64_t AllprofRankFile::type_size(std::string_view text) {
  const std::size_t first = text.find(','), second = text.find(',', first + 1);
  if (first == text.npos || second == text.npos) {
    fail(text, "a datatype: number, size and extent (files of liballprof 2 lack the size and can't be read)");
  }
  return whole(text.substr(first + 1, second - first - 1), "the size of a datatype");
}

std::vector<std::uint64_t> AllprofRankFile::numbers(std::string_view text) {
  std::vector<std::uint64_t> all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    all.push_back(whole(text.substr(0, end), "a number"));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

void AllprofRankFile::finish_call(MpiCall& call) {
  TraceRecord& record = call.record;
  for (std::int32_t* peer : {&record.peer, &record.recv_peer}) {
    const bool any = *peer == (mpich_ ? -2 : -1), null = *peer == (mpich_ ? -1 : -2);
    if (any) *peer = trace::kAnySource;
    if (null) *peer = trace::kProcNull;
  }
  for (std::uint64_t& count : record.send_bytes) count *= record.type_size;
  const bool one_type = record.function == Function::kReduce_scatter ||
                        record.function == Function::kIreduce_scatter ||
                        record.function == Function::kReduce_scatter_block ||
                        record.function == Function::kIreduce_scatter_block;
  if (one_type) record.recv_type_size = record.type_size;
  for (std::uint64_t& count : record.recv_bytes) count *= record.recv_type_size;
  if (record.function == Function::kSendrecv_replace) {
    record.recv_count = record.count;
    record.recv_type_size = record.type_size;
  }
  finalized_ = finalized_ || record.function == Function::kFinalize;
  const Shape shape = trace::function_info(record.function).shape;
  const bool sends = shape == Shape::kSend || shape == Shape::kSendRequest || shape == Shape::kSendrecv;
  if (sends && record.peer == trace::kAnySource) fail(line_, "a rank to send to, not any");
  const auto address = [&](std::uint64_t i) { return request_address_ + i * request_bytes_; };
  switch (shape) {
    case Shape::kSendRequest:
    case Shape::kRecvRequest:
    case Shape::kCollectiveRequest:
    case Shape::kCommCreateRequest: {
      record.request = request_address_;
      const auto [at, is_new] = active_.try_emplace(request_address_, makes_persistent(record.function));
      if (is_new) break;
      // It had completed, though no call that we know of said so.
      const bool was_persistent = std::exchange(at->second, makes_persistent(record.function));
      if (was_persistent) break;
      ++notes_.implied_completions;
      held_ = true;
      held_call_ = call;
      const std::uint64_t enter_ns = record.enter_ns;
      call.clear();
      call.name = "MPI_Wait";
      record.function = Function::kWait;
      record.enter_ns = record.leave_ns = enter_ns;
      record.requests_given = 1;
      record.completions.push_back({.request = request_address_});
      break;
    }
    case Shape::kRequest:
      record.request = request_address_;
      if (record.function == Function::kRequest_free) active_.erase(request_address_);
      break;
    case Shape::kStart:
      for (std::uint64_t i = 0; i < request_count_; ++i) record.started.push_back(address(i));
      break;
    case Shape::kProbe:
      record.flag = record.function != Function::kIprobe;
      notes_.unknown_outcomes += !record.flag;
      break;
    case Shape::kComplete:
      finish_completions(call);
      break;
    default:
      break;
  }
}

void AllprofRankFile::finish_completions(MpiCall& call) {
  TraceRecord& record = call.record;
  record.requests_given = static_cast<std::uint32_t>(request_count_);
  if (record.function != Function::kWait && record.function != Function::kWaitall) {
    ++notes_.unknown_outcomes;
    record.flag = record.function == Function::kWaitany || record.function == Function::kWaitsome;
    return;
  }
  for (std::uint64_t i = 0; i < request_count_; ++i) {
    const auto found = active_.find(request_address_ + i * request_bytes_);
    if (found == active_.end()) continue;  // MPI_REQUEST_NULL, or completed before
    record.completions.push_back({.request = found->first});
    if (!found->second) active_.erase(found);
  }
}

std::uint64_t AllprofRankFile::whole(std::string_view text, const char* expected) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) fail(text, expected);
  return value;
}

std::int64_t AllprofRankFile::signed_whole(std::string_view text, const char* expected) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) fail(text, expected);
  return value;
}

std::uint64_t AllprofRankFile::nanoseconds(std::string_view text) {
  constexpr std::uint64_t kMost = UINT64_MAX / 1000 - 1;
  std::uint64_t value = 0;
  const char* const last = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || value > kMost) fail(text, "a time in microseconds");
  value *= 1000;
  if (at != last && *at == '.') {
    std::uint64_t unit = 100;
    for (++at; at != last && *at >= '0' && *at <= '9'; ++at, unit /= 10) {
      value += static_cast<std::uint64_t>(*at - '0') * unit;
    }
  }
  if (at != last) fail(text, "a time in microseconds");
  return value;
}

void AllprofRankFile::fail(std::string_view found, const char* expected) {
  const auto column = static_cast<std::int64_t>(found.data() - line_.data()) + 1;
  throw InputError({path_, line_number_, column}, fmt::format("found '{}'; expected {}", found, expected));
}

}  // namespace weft::goal
