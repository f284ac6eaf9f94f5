#include <fmt/core.h>
#include <glpk.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "topologies/analysis/throughput.h"

namespace weft::topologies {
namespace {

// One coefficient after the other; GLPK counts from 1.
struct Entries {
  std::vector<int> row = {0}, column = {0};
  std::vector<double> value = {0};

  void add(int r, int c, double v) {
    row.push_back(r);
    column.push_back(c);
    value.push_back(v);
  }
};

std::vector<std::uint32_t> sources(const Demands& demands) {
  std::vector<std::uint32_t> list;
  std::vector<Demands::Entry> entries;
  for (std::uint32_t s = 0; s < demands.terminals(); ++s) {
    demands.from(s, entries);
    if (!entries.empty()) list.push_back(s);
  }
  return list;
}

// A problem of GLPK, which at an error tells of it on the terminal and aborts: here it throws. std::bad_alloc
// if it gets no memory.
class Problem {
 public:
  // The delegate has made this an object that is destroyed if the rest fails.
  Problem() : Problem(glp_init_env()) { problem_ = glp_create_prob(); }
  ~Problem() {
    if (failed_) {
      glp_free_env();  // after an error nothing else may be called
      return;
    }
    if (problem_ != nullptr) glp_delete_prob(problem_);
    glp_error_hook(nullptr, nullptr);
    glp_term_hook(nullptr, nullptr);
  }
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  glp_prob* get() const { return problem_; }

 private:
  explicit Problem(int environment) {
    if (environment > 1) throw std::bad_alloc();
    glp_term_out(GLP_OFF);
    glp_term_hook(&Problem::hear, this);
    glp_error_hook(&Problem::fail, this);
  }
  // What would go to the terminal. The first line of an error names it.
  static int hear(void* info, const char* text) {
    auto* self = static_cast<Problem*>(info);
    if (self->heard_[0] == '\0') std::strncpy(self->heard_, text, sizeof self->heard_ - 1);
    return 1;
  }
  [[noreturn]] static void fail(void* info) {
    auto* self = static_cast<Problem*>(info);
    self->failed_ = true;
    if (std::strstr(self->heard_, "memory") != nullptr) throw std::bad_alloc();
    throw std::runtime_error(std::string("GLPK: ") + self->heard_);
  }

  glp_prob* problem_ = nullptr;
  bool failed_ = false;
  char heard_[256] = {};
};

}  // namespace

std::uint64_t exact_size(const FlowNetwork& network, const Demands& demands) {
  return sources(demands).size() * (std::uint64_t{network.vertices()} + network.arcs());
}

// Variables: θ, and the flow of each source on each arc it may use. Rows: at each vertex but the source, what
// comes in less what goes out is θ times the demand; on each arc, all flows fit. Rates count in units of the
// fastest arc.
Throughput exact_throughput(const FlowNetwork& network, const Demands& demands) {
  Throughput result;
  result.demands = demands.name();
  result.exact = true;
  const std::vector<std::uint32_t> all = sources(demands);
  if (all.empty()) {
    result.theta = result.theta_upper = 1;
    return result;
  }
  if (network.arcs() == 0) return result;
  const double unit = *std::max_element(network.rate.begin(), network.rate.end());
  const Problem problem;
  glp_prob* lp = problem.get();
  glp_set_obj_dir(lp, GLP_MAX);
  const int first_capacity = 1;
  glp_add_rows(lp, static_cast<int>(network.arcs()));
  for (std::uint32_t a = 0; a < network.arcs(); ++a) {
    glp_set_row_bnds(lp, first_capacity + static_cast<int>(a), GLP_UP, 0, network.rate[a] / unit);
  }
  const int theta = glp_add_cols(lp, 1);
  glp_set_col_bnds(lp, theta, GLP_LO, 0, 0);
  glp_set_obj_coef(lp, theta, 1);
  Entries entries;
  std::vector<Demands::Entry> row;
  for (const std::uint32_t s : all) {
    const std::uint32_t source = network.vertex_of[s];
    const int balance = glp_add_rows(lp, static_cast<int>(network.vertices()));
    for (std::uint32_t v = 0; v < network.vertices(); ++v) {
      const int r = balance + static_cast<int>(v);
      glp_set_row_bnds(lp, r, v == source ? GLP_FR : GLP_FX, 0, 0);
    }
    for (std::uint32_t v = 0; v < network.vertices(); ++v) {
      if (v >= network.routers && v != source) continue;  // forwards nothing
      for (std::uint32_t a = network.begin[v]; a < network.begin[v + 1]; ++a) {
        if (network.to[a] == source) continue;
        const int column = glp_add_cols(lp, 1);
        glp_set_col_bnds(lp, column, GLP_LO, 0, 0);
        entries.add(first_capacity + static_cast<int>(a), column, 1);
        entries.add(balance + static_cast<int>(v), column, -1);
        entries.add(balance + static_cast<int>(network.to[a]), column, 1);
      }
    }
    demands.from(s, row);
    for (const Demands::Entry& entry : row) {
      entries.add(balance + static_cast<int>(network.vertex_of[entry.terminal]), theta, -entry.rate / unit);
    }
  }
  glp_load_matrix(lp, static_cast<int>(entries.row.size()) - 1, entries.row.data(), entries.column.data(),
                  entries.value.data());
  glp_smcp options;
  glp_init_smcp(&options);
  options.msg_lev = GLP_MSG_OFF;
  options.presolve = GLP_ON;
  const int status = glp_simplex(lp, &options);
  if (status != 0 || glp_get_status(lp) != GLP_OPT) {
    throw std::runtime_error(fmt::format("GLPK did not solve the throughput of {} (status {}, {})",
                                         demands.name(), status, glp_get_status(lp)));
  }
  result.fabric = result.fabric_upper = glp_get_obj_val(lp);
  result.theta = result.theta_upper = std::min(1.0, result.fabric);
  return result;
}

}  // namespace weft::topologies
