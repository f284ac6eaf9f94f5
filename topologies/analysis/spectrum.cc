#include "topologies/analysis/spectrum.h"

#include <Spectra/SymEigsSolver.h>

#include <Eigen/Eigenvalues>
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

namespace weft::topologies {
namespace {

using Matrix = Eigen::SparseMatrix<double>;
using Vector = Eigen::VectorXd;

constexpr int kDense = 200;       // rows up to which the full decomposition is cheap
constexpr double kExact = 1e-10;  // relative
constexpr int kMostSteps = 2000;

Matrix adjacency(const ArcGraph& graph, const std::vector<double>& weight) {
  std::vector<Eigen::Triplet<double>> entries;
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
    for (std::uint32_t a = graph.begin[v]; a < graph.begin[v + 1]; ++a) {
      entries.emplace_back(static_cast<int>(v), static_cast<int>(graph.to[a]), weight[a]);
    }
  }
  const auto n = static_cast<Eigen::Index>(graph.vertices());
  Matrix matrix(n, n);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

Matrix laplacian(const Matrix& a) {
  Matrix diagonal(a.rows(), a.cols());
  diagonal.setIdentity();
  const Vector sums = a * Vector::Ones(a.cols());
  for (Eigen::Index v = 0; v < a.rows(); ++v) diagonal.coeffRef(v, v) = sums[v];
  return diagonal - a;
}

// x -> Mx for Spectra, of whatever M: one type, as each costs seconds to compile.
struct Operator {
  using Scalar = double;

  Eigen::Index size = 0;
  std::function<Vector(const Vector&)> apply;

  Eigen::Index rows() const { return size; }
  Eigen::Index cols() const { return size; }
  void perform_op(const double* in, double* out) const {
    Eigen::Map<Vector>(out, size) = apply(Eigen::Map<const Vector>(in, size));
  }
};

// The `count` largest eigenvalues, descending.
Vector largest_eigenvalues(const Operator& op, Eigen::Index count, Spectra::SortRule rule) {
  Operator given = op;
  Spectra::SymEigsSolver<Operator> solver(
      given, count, std::min<Eigen::Index>(op.size, std::max<Eigen::Index>(40, 4 * count)));
  solver.init();
  solver.compute(rule, kMostSteps, kExact);
  if (solver.info() != Spectra::CompInfo::Successful) {
    throw std::runtime_error("the eigenvalues of the network's matrix did not converge");
  }
  return solver.eigenvalues();
}

// All eigenvalues, ascending.
Vector dense_eigenvalues(const Operator& op) {
  Eigen::MatrixXd matrix(op.size, op.size);
  for (Eigen::Index i = 0; i < op.size; ++i) matrix.col(i) = op.apply(Vector::Unit(op.size, i));
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(matrix, Eigen::EigenvaluesOnly).eigenvalues();
}

// x -> P·W^½·L⁺·W^½·P·x, with P the projection that takes the trivial solution out. Its largest eigenvalue is
// 1/μ, well apart from the next ones, so that a few applications suffice.
class Inverse {
 public:
  Inverse(const Matrix& laplacian, const Vector& vertex_weight)
      : root_(vertex_weight.cwiseSqrt()), trivial_(root_.normalized()) {
    solver_.setTolerance(1e-13);
    solver_.setMaxIterations(20 * static_cast<int>(laplacian.rows()) + 1000);
    solver_.compute(laplacian);
  }

  Vector operator()(const Vector& in) const {
    const Vector x = in - trivial_ * trivial_.dot(in);
    Vector right = root_.cwiseProduct(x);
    right.array() -= right.mean();  // what rounding left: L has no inverse there
    const Vector y = root_.cwiseProduct(Vector(solver_.solve(right)));
    return y - trivial_ * trivial_.dot(y);
  }

 private:
  Vector root_, trivial_;
  Eigen::ConjugateGradient<Matrix, Eigen::Lower | Eigen::Upper> solver_;
};

// The vertices that can reach the first one with weight; false for all if there is none.
std::vector<bool> reachable(const ArcGraph& graph, const std::vector<double>& vertex_weight) {
  std::vector<bool> seen(graph.vertices(), false);
  std::vector<std::uint32_t> queue;
  for (std::uint32_t v = 0; v < graph.vertices() && queue.empty(); ++v) {
    if (vertex_weight[v] > 0) queue.push_back(v);
  }
  if (!queue.empty()) seen[queue[0]] = true;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (std::uint32_t a = graph.begin[queue[at]]; a < graph.begin[queue[at] + 1]; ++a) {
      if (seen[graph.to[a]]) continue;
      seen[graph.to[a]] = true;
      queue.push_back(graph.to[a]);
    }
  }
  return seen;
}

}  // namespace

double weighted_connectivity(const ArcGraph& graph, const std::vector<double>& edge_weight,
                             const std::vector<double>& vertex_weight) {
  const std::vector<bool> seen = reachable(graph, vertex_weight);
  std::vector<std::uint32_t> number(graph.vertices(), 0), members;
  std::uint32_t weighty = 0;
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
    if (vertex_weight[v] > 0) {
      if (!seen[v]) return 0;
      ++weighty;
    }
    if (!seen[v]) continue;
    number[v] = static_cast<std::uint32_t>(members.size());
    members.push_back(v);
  }
  if (weighty < 2) return 0;
  // Only the part that is connected, so that L has one vector without an inverse, not several.
  ArcGraph part;
  std::vector<double> weight;
  Vector of_vertex(static_cast<Eigen::Index>(members.size()));
  for (const std::uint32_t v : members) {
    of_vertex[static_cast<Eigen::Index>(number[v])] = vertex_weight[v];
    for (std::uint32_t a = graph.begin[v]; a < graph.begin[v + 1]; ++a) {
      part.to.push_back(number[graph.to[a]]);
      weight.push_back(edge_weight[a]);
    }
    part.begin.push_back(part.arcs());
  }
  const Matrix matrix = laplacian(adjacency(part, weight));
  const Inverse inverse(matrix, of_vertex);
  const Operator op{matrix.rows(), [&inverse](const Vector& x) { return inverse(x); }};
  if (op.size > kDense) return 1 / largest_eigenvalues(op, 1, Spectra::SortRule::LargestAlge)[0];
  return 1 / dense_eigenvalues(op)[op.size - 1];
}

Spectrum spectrum(const RouterGraph& graph) {
  Spectrum result;
  const auto n = static_cast<Eigen::Index>(graph.routers());
  if (n < 2 || graph.arcs() == 0) return result;
  const std::vector<double> weight(graph.links.begin(), graph.links.end());
  const std::vector<double> ones(graph.routers(), 1.0);
  result.algebraic_connectivity = weighted_connectivity(graph, weight, ones);
  const Matrix a = adjacency(graph, weight);
  const Operator op{n, [&a](const Vector& x) { return Vector(a * x); }};
  if (n <= kDense) {
    const Vector values = dense_eigenvalues(op);
    result.largest = values[n - 1];
    result.second = values[n - 2];
    result.smallest = values[0];
  } else {
    const Vector top = largest_eigenvalues(op, 2, Spectra::SortRule::LargestAlge);
    result.largest = top[0];
    result.second = top[1];
    result.smallest = largest_eigenvalues(op, 1, Spectra::SortRule::SmallestAlge)[0];
  }
  result.gap = result.largest - result.second;
  const std::uint32_t degree = graph.degree(0);
  result.regular = true;
  for (std::uint32_t v = 1; v < graph.routers(); ++v)
    result.regular = result.regular && graph.degree(v) == degree;
  // The spectrum of a bipartite graph is symmetric: its least eigenvalue is -degree, the next one -second.
  const bool bipartite = result.smallest < -result.largest * (1 - 1e-6);
  const double second = bipartite ? result.second : std::max(result.second, -result.smallest);
  result.ramanujan = result.regular && result.algebraic_connectivity > 0 &&
                     second <= 2 * std::sqrt(degree - 1.0) * (1 + 1e-6);
  return result;
}

}  // namespace weft::topologies
