#include <fmt/core.h>
#include <glpk.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
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
  const std::unique_ptr<glp_prob, decltype(&glp_delete_prob)> problem(glp_create_prob(), glp_delete_prob);
  glp_term_out(GLP_OFF);
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
