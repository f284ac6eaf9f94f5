#include "goal/workload/data_parallel/resnet.h"

#include <fmt/core.h>

#include <utility>

#include "goal/workload/compute/device_choice.h"
#include "goal/workload/compute/efficiency.h"
#include "goal/workload/compute/overlap.h"
#include "goal/workload/data_parallel/replica.h"
#include "goal/workload/message_graph.h"
#include "goal/workload/phases.h"

namespace weft::goal {
namespace {

constexpr std::uint32_t kClasses = 1000, kStemWidth = 64, kExpansion = 4;

struct ResnetShape {
  const char* name;
  std::uint32_t blocks[4];
  bool bottleneck;
  std::uint32_t widening = 1;  // of the bottlenecks' inner convolutions
};
constexpr ResnetShape kShapes[] = {
    {"resnet18", {2, 2, 2, 2}, false},  {"resnet34", {3, 4, 6, 3}, false},
    {"resnet50", {3, 4, 6, 3}, true},   {"resnet101", {3, 4, 23, 3}, true},
    {"resnet152", {3, 8, 36, 3}, true}, {"wide_resnet50_2", {3, 4, 6, 3}, true, 2},
};

const ResnetShape& shape_of(const std::string& name) {
  std::vector<std::string> known;
  for (const ResnetShape& shape : kShapes) {
    if (name == shape.name) return shape;
    known.emplace_back(shape.name);
  }
  fail_unknown_name("model", name, known);
}

// Layers are padded so that a stride of 2 halves a side, rounded up.
std::uint32_t halved(std::uint32_t side) { return (side + 1) / 2; }

class ResnetLayers {
 public:
  ResnetLayers(const ResnetShape& shape, std::uint32_t image) : shape_(shape), side_(image) {
    conv(kStemWidth, 7, true, true);
    side_ = halved(side_);  // max pooling
    for (std::uint32_t group = 0; group < 4; ++group) {
      for (std::uint32_t i = 0; i < shape.blocks[group]; ++i) block(kStemWidth << group, group > 0 && i == 0);
    }
    layers_.push_back({.in = channels_, .out = kClasses, .classifier = true, .rectified = false});
  }
  std::vector<CnnLayer> take() { return std::move(layers_); }

 private:
  void conv(std::uint32_t out, std::uint32_t kernel, bool strided, bool rectified) {
    const std::uint32_t out_side = strided ? halved(side_) : side_;
    layers_.push_back({channels_, out, kernel, side_, out_side, false, rectified});
    channels_ = out;
    side_ = out_side;
  }
  void block(std::uint32_t width, bool strided) {
    const std::uint32_t in = channels_, in_side = side_;
    const std::uint32_t out = shape_.bottleneck ? kExpansion * width : width;
    if (shape_.bottleneck) {
      const std::uint32_t inner = width * shape_.widening;
      conv(inner, 1, false, true);
      conv(inner, 3, strided, true);
      conv(out, 1, false, false);
    } else {
      conv(width, 3, strided, true);
      conv(width, 3, false, false);
    }
    layers_.back().added = true;
    if (in != out || strided) layers_.push_back({in, out, 1, in_side, side_, false, false});
  }

  const ResnetShape& shape_;
  std::uint32_t side_, channels_ = 3;
  std::vector<CnnLayer> layers_;
};

// Passes over a layer's outputs: normalization reads them twice, for the mean and to normalize, and writes
// them; ReLU reads and writes; the shortcut's sum reads both. Backward reads outputs and gradients alike.
double forward_passes(const CnnLayer& layer) {
  if (layer.classifier) return 0;
  return 3 + (layer.rectified ? 2 : 0) + (layer.added ? 3 + 2 : 0);
}
double backward_passes(const CnnLayer& layer) {
  if (layer.classifier) return 0;
  return 5 + (layer.rectified ? 3 : 0) + (layer.added ? 3 + 3 : 0);
}

// A convolution as a matrix product: pixels by output channels, over the inputs of a pixel.
struct LayerTimes {
  double forward = 0, backward = 0;
};
LayerTimes times_of(const CnnLayer& layer, const Processor& processor, std::uint64_t batch, bool first) {
  const std::uint64_t pixels = batch * layer.pixels();
  const double outputs = static_cast<double>(pixels * layer.out);
  return {processor.product_ns(pixels, layer.out, layer.products()) +
              processor.activations_ns(forward_passes(layer) * outputs),
          processor.product_backward_ns(pixels, layer.out, layer.products(), first) +
              processor.activations_ns(backward_passes(layer) * outputs)};
}

std::vector<CnnLayer> layers_of(const Parameters& parameters) {
  return resnet_layers(parameters.text("model"), parameters.whole("image"));
}

// Running means and variances, which the first rank sends to all before a step.
std::uint64_t buffer_bytes(const std::vector<CnnLayer>& layers) {
  std::uint64_t channels = 0;
  for (const CnnLayer& layer : layers) channels += layer.classifier ? 0 : layer.out;
  return 2 * sizeof(float) * channels;
}

class ResnetProgram {
 public:
  ResnetProgram(const Parameters& parameters, std::uint32_t ranks)
      : layers_(layers_of(parameters)),
        processor_(parameters),
        gradients_(parameters, ranks),
        iterations_(parameters.whole("iterations")),
        buffers_(parameters.boolean("buffers") ? buffer_bytes(layers_) : 0),
        optimizer_ns_(processor_.memory_ns(kMomentumBytes * static_cast<double>(goal::parameters(layers_)))) {
    const std::uint32_t batch = parameters.whole("batch");
    for (const CnnLayer& layer : layers_)
      times_.push_back(times_of(layer, processor_, batch, times_.empty()));
  }
  void operator()(Rank, llm::Emitter& emitter) const {
    for (std::uint32_t i = 0; i < iterations_; ++i) step(emitter);
  }

 private:
  void step(llm::Emitter& emitter) const {
    if (gradients_.ranks > 1 && buffers_ > 0) {
      const Collective bcast{.kind = CollectiveKind::kBcast,
                             .comm = kReplicas,
                             .bytes = buffers_,
                             .element_bytes = sizeof(float)};
      emitter.wait(emitter.collective(llm::Chain::kStep, bcast, emitter.computed()));
    }
    for (const LayerTimes& times : times_) emitter.compute(times.forward);
    Reducer reducer(emitter, gradients_);
    for (std::size_t i = layers_.size(); i-- > 0;) {
      emitter.compute(times_[i].backward);
      const std::vector<std::uint64_t> tensors = layers_[i].tensors();
      for (std::size_t t = tensors.size(); t-- > 0;) reducer.gradient(tensors[t]);
    }
    reducer.finish();
    emitter.compute(optimizer_ns_);
    emitter.computed();
  }

  const std::vector<CnnLayer> layers_;
  const Processor processor_;
  const Buckets gradients_;
  const std::uint32_t iterations_;
  const std::uint64_t buffers_;
  const double optimizer_ns_;
  std::vector<LayerTimes> times_;
};

Graph generate_resnet(const Parameters& parameters, std::uint32_t ranks, std::uint64_t) {
  require_ranks(parameters, ranks, 1);
  static constexpr const char* kCommunicators[] = {"dp 0"};
  return replica_graph(ranks, kCommunicators, ResnetProgram(parameters, ranks));
}

// Backward has twice the FLOPs of forward.
WorkloadFacts resnet_facts(const Parameters& parameters, std::uint32_t ranks) {
  const std::vector<CnnLayer> layers = layers_of(parameters);
  const double images = static_cast<double>(parameters.integer("batch")) * ranks;
  const auto iterations = static_cast<double>(parameters.integer("iterations"));
  const double flops = 3 * 2 * static_cast<double>(multiply_adds(layers));
  WorkloadFacts facts = {{"parameters", fmt::format("{}", goal::parameters(layers))},
                         overlap_slowdown_fact(overlap_slowdown(parameters)),
                         {"global_batch", fmt::format("{:.0f}", images)},
                         {"model_flops", fmt::format("{:.6e}", flops * images * iterations)}};
  const Processor processor(parameters);
  for (auto& fact : device_facts(processor.device(), processor.precision())) facts.push_back(std::move(fact));
  return facts;
}

std::vector<std::string> resnet_remarks(const Parameters& parameters, std::uint32_t) {
  std::vector<std::string> sentences;
  remark_usual_device(parameters, sentences);
  return sentences;
}

std::vector<ParameterSpec> parameters_of_resnet() {
  return with_replica_parameters(
      {
          {"model", ParameterType::kText, "resnet50",
           "Layers: resnet18, resnet34, resnet50, resnet101, resnet152 or wide_resnet50_2."},
          {"batch", ParameterType::kInteger, "256", "Images of each rank and step.", from_to("1", "1048576")},
          {"image", ParameterType::kInteger, "224", "Pixels of an image's side.", from_to("32", "4096")},
          {"buffers", ParameterType::kBoolean, "true",
           "Rank 0 sends the running means and variances to all before each step."},
      },
      efficiency_parameter("1", ""));
}

}  // namespace

std::vector<std::uint64_t> CnnLayer::tensors() const {
  const std::uint64_t weights = products() * out;
  if (classifier) return {weights, out};
  return {weights, out, out};
}

std::vector<CnnLayer> resnet_layers(const std::string& model, std::uint32_t image_side) {
  return ResnetLayers(shape_of(model), image_side).take();
}

std::uint64_t parameters(const std::vector<CnnLayer>& layers) {
  std::uint64_t sum = 0;
  for (const CnnLayer& layer : layers) {
    for (const std::uint64_t tensor : layer.tensors()) sum += tensor;
  }
  return sum;
}

std::uint64_t multiply_adds(const std::vector<CnnLayer>& layers) {
  std::uint64_t sum = 0;
  for (const CnnLayer& layer : layers) sum += layer.multiply_adds();
  return sum;
}

Workload resnet_workload() {
  Workload workload;
  workload.info = {"resnet",
                   "Steps of training a residual network on images, data parallel, gradients all-reduced in "
                   "buckets beside backward.",
                   "K. He et al., CVPR 2016; S. Li et al., PyTorch Distributed, VLDB 2020",
                   parameters_of_resnet()};
  workload.generate = generate_resnet;
  workload.remarks = resnet_remarks;
  workload.facts = resnet_facts;
  workload.device = kDeviceParameter;
  workload.calls_nccl = true;
  return workload;
}

}  // namespace weft::goal
