#include "tracer/mpi/clocks.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tracer/mpi/real.h"
#include "tracer/mpi/tracer.h"

namespace weft::trace {

std::uint64_t clock_ahead_ns = 0;

namespace {

constexpr int kRoundTrips = 16;
// For all of the others to come and answer. Ranks leave MPI_Init together, and wait for each other in
// MPI_Finalize anyway.
constexpr std::uint64_t kPatienceNs = 10'000'000'000;
constexpr int kRoot = 0;

struct Measure {
  bool done = false;
  std::int64_t offset_ns = 0;  // what rank 0's clock shows more than this one's
  std::uint64_t round_trip_ns = 0, at_ns = 0;
};

struct Clocks {
  bool several = false;  // hosts
  bool leads = false;    // first rank of its host
  MPI_Comm leaders{};    // only of those
  Measure measures[2];
};
Clocks clocks;
char test_host[64] = "";

int number_in(const char* name) {
  const char* text = getenv(name);
  return text == nullptr ? 0 : atoi(text);
}

// Gives the same answer at all ranks of a run, as far as launchers allow: a rank without the tracer would
// never answer. Open MPI's mpirun hands variables to other hosts only when told (-x), so the tracer may be on
// some.
bool is_wanted(int size) {
  const char* said = getenv("WEFT_TRACE_CLOCKS");
  if (said != nullptr && *said != '\0') return strcmp(said, "0") != 0;
  if (test_host[0] != '\0') return true;
  if (number_in("OMPI_COMM_WORLD_SIZE") > 0) return false;
  const int local = number_in("MPI_LOCALNRANKS");  // MPICH's Hydra
  if (local > 0) return local < size;
  return number_in("SLURM_STEP_NUM_NODES") > 1;
}

std::uint64_t hash_of(const char* text) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (; *text != '\0'; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 0x100000001b3u;
  return hash;
}

// Whether the request is done by then; if not it is given up.
bool wait_until(MPI_Request* request, std::uint64_t deadline_ns, MPI_Status* status) {
  for (int done = 0;;) {
    if (real.PMPI_Test(request, &done, status) != MPI_SUCCESS) return false;
    if (done != 0) return true;
    if (now_ns() > deadline_ns) break;
    sched_yield();  // ranks may share cores
  }
  real.PMPI_Cancel(request);
  real.PMPI_Request_free(request);
  return false;
}

// Buffers outlive what is given up.
std::uint64_t outgoing, incoming;

bool send_to(int peer, int tag, std::uint64_t deadline_ns) {
  MPI_Request request = request_null();
  MPI_Status status{};
  return real.PMPI_Isend(&outgoing, sizeof outgoing, datatype_byte(), peer, tag, clocks.leaders, &request) ==
             MPI_SUCCESS &&
         wait_until(&request, deadline_ns, &status);
}
bool receive_from(int peer, int tag, std::uint64_t deadline_ns, MPI_Status& status) {
  MPI_Request request = request_null();
  return real.PMPI_Irecv(&incoming, sizeof incoming, datatype_byte(), peer, tag, clocks.leaders, &request) ==
             MPI_SUCCESS &&
         wait_until(&request, deadline_ns, &status);
}

// Rank 0 answers with its clock, one host after the other as they come. Those that do not come in time leave
// the others theirs.
void answer(int leaders, int tag) {
  const std::uint64_t deadline_ns = now_ns() + kPatienceNs;
  MPI_Status status{};
  for (int host = 1; host < leaders; ++host) {
    if (!receive_from(MPI_ANY_SOURCE, tag, deadline_ns, status)) return;
    const int peer = status.MPI_SOURCE;
    const std::uint64_t soon_ns = now_ns() + kPatienceNs / 10;
    for (int i = 1;; ++i) {
      outgoing = now_ns();
      if (!send_to(peer, tag, soon_ns) || i == kRoundTrips) break;
      if (!receive_from(peer, tag, soon_ns, status)) break;
    }
  }
}

Measure ask(int tag) {
  const std::uint64_t deadline_ns = now_ns() + kPatienceNs;
  Measure best;
  MPI_Status status{};
  for (int i = 0; i < kRoundTrips; ++i) {
    const std::uint64_t sent_ns = now_ns();
    outgoing = sent_ns;
    if (!send_to(kRoot, tag, deadline_ns) || !receive_from(kRoot, tag, deadline_ns, status)) break;
    const std::uint64_t came_ns = now_ns(), round_trip_ns = came_ns - sent_ns;
    if (best.done && round_trip_ns >= best.round_trip_ns) continue;
    const std::uint64_t middle_ns = sent_ns + round_trip_ns / 2;
    best = {true, static_cast<std::int64_t>(incoming - middle_ns), round_trip_ns, middle_ns};
  }
  return best;
}

void measure(ClockMoment moment) {
  if (!clocks.several || !clocks.leads) return;
  const int tag = static_cast<int>(moment);
  int rank = 0, size = 0;
  if (real.PMPI_Comm_rank(clocks.leaders, &rank) != MPI_SUCCESS ||
      real.PMPI_Comm_size(clocks.leaders, &size) != MPI_SUCCESS) {
    return;
  }
  Measure& made = clocks.measures[static_cast<int>(moment)];
  if (rank != kRoot) {
    made = ask(tag);
  } else {
    answer(size, tag);
    made = {true, 0, 0, now_ns()};
  }
}

}  // namespace

void read_test_clock() {
  const char* text = getenv("WEFT_TRACE_TEST_CLOCK");
  const char* comma = text == nullptr ? nullptr : strchr(text, ',');
  if (comma == nullptr) return;
  snprintf(test_host, sizeof test_host, "%.*s", static_cast<int>(comma - text), text);
  clock_ahead_ns = strtoull(comma + 1, nullptr, 10);
}

void get_host(char* host, std::uint64_t bytes) {
  host[0] = '\0';
  if (test_host[0] == '\0') {
    gethostname(host, bytes - 1);
    host[bytes - 1] = '\0';
  } else {
    snprintf(host, bytes, "%s", test_host);
  }
}

void measure_clocks_at_begin(const char* host) {
  int rank = 0, size = 0;
  MPI_Comm parent = comm_null();
  real.PMPI_Comm_rank(comm_world(), &rank);
  real.PMPI_Comm_size(comm_world(), &size);
  // Those who spawn may hand other variables on.
  if (size < 2 || !is_wanted(size) || real.PMPI_Comm_get_parent(&parent) != MPI_SUCCESS ||
      parent != comm_null()) {
    return;
  }
  const std::uint64_t mine = hash_of(host);
  const auto n = static_cast<std::size_t>(size);
  auto* const hosts = static_cast<std::uint64_t*>(allocate_bytes(n * sizeof mine));
  real.PMPI_Allgather(&mine, sizeof mine, datatype_byte(), hosts, sizeof mine, datatype_byte(), comm_world());
  clocks.leads = true;
  for (std::size_t i = 0; i < n; ++i) {
    clocks.several |= hosts[i] != hosts[0];
    if (i < static_cast<std::size_t>(rank)) clocks.leads &= hosts[i] != mine;
  }
  free_bytes(hosts);
  if (!clocks.several) return;
  if (real.PMPI_Comm_split(comm_world(), clocks.leads ? 0 : MPI_UNDEFINED, rank, &clocks.leaders) !=
      MPI_SUCCESS) {
    clocks.leads = false;
  }
  measure(ClockMoment::kBegin);
}

void measure_clocks_at_end() { measure(ClockMoment::kEnd); }

void tell_clocks(ClockMoment moment, FactSink sink, void* context) {
  const Measure& made = clocks.measures[static_cast<int>(moment)];
  if (!made.done) return;
  char text[96];
  snprintf(text, sizeof text, "%" PRId64 " %" PRIu64 " %" PRIu64, made.offset_ns, made.round_trip_ns,
           made.at_ns);
  sink(context, moment == ClockMoment::kBegin ? "clock_begin" : "clock_end", text);
}

std::uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec) +
         clock_ahead_ns;
}

}  // namespace weft::trace
