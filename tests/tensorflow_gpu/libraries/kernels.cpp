// Kernels for the cards of the stand-in, which cannot carry out those of CUDA.
//
// Each GPU kernel of TensorFlow that also has a CPU kernel is registered a second time, one
// priority higher, so that TensorFlow takes it: with the same type constraints and the same
// arguments in the host's memory, so that operations are placed as on a real GPU. It computes with
// the CPU's kernel in the card's memory, which is the host's; outputs and scratch come from the
// card's own allocator. CPU kernels know no NCHW: there arguments and results are transposed.
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tensorflow/core/common_runtime/device.h"
#include "tensorflow/core/common_runtime/device_factory.h"
#include "tensorflow/core/framework/kernel_def.pb.h"
#include "tensorflow/core/framework/node_properties.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/public/session_options.h"

namespace tensorflow {
namespace {

// A context keeps to itself what it was made of, which a second context is to be made of. An
// explicit instantiation may name a private member.
template <auto Member>
struct Opened {
  friend OpKernelContext::Params* params_of(const OpKernelContext& context) {
    return context.*Member;
  }
};
OpKernelContext::Params* params_of(const OpKernelContext& context);
template struct Opened<&OpKernelContext::params_>;

Device* cpu() {
  static Device* device =
      DeviceFactory::NewDevice("CPU", SessionOptions(), "/job:localhost/replica:0/task:0")
          .release();
  return device;
}

// Computes as the CPU does, and allocates as a card does.
class ComputingForCard : public Device {
 public:
  explicit ComputingForCard(DeviceBase* card)
      : Device(Env::Default(), card->attributes()), card_(card) {}
  Allocator* GetAllocator(AllocatorAttributes attributes) override {
    return card_->GetAllocator(attributes);
  }
  Allocator* GetScopedAllocator(AllocatorAttributes attributes, int64_t step) override {
    return card_->GetScopedAllocator(attributes, step);
  }
  ScopedAllocatorMgr* GetScopedAllocatorMgr() const override {
    return card_->GetScopedAllocatorMgr();
  }
  const CpuWorkerThreads* tensorflow_cpu_worker_threads() const override {
    return cpu()->tensorflow_cpu_worker_threads();
  }
  bool has_eigen_cpu_device() const override { return true; }
  const Eigen::ThreadPoolDevice* eigen_cpu_device() override { return cpu()->eigen_cpu_device(); }
  absl::Status MakeTensorFromProto(const TensorProto& proto, const AllocatorAttributes attributes,
                                   Tensor* tensor) override {
    return card_->MakeTensorFromProto(proto, attributes, tensor);
  }
  absl::Status Sync() override { return absl::OkStatus(); }

 private:
  DeviceBase* card_;
};

ComputingForCard* computing_for(DeviceBase* card) {
  static mutex lock;
  static auto* devices = new std::map<std::string, ComputingForCard*>;
  mutex_lock held(lock);
  auto& device = (*devices)[card->name()];
  if (!device) device = new ComputingForCard(card->UnderlyingDevice());
  return device;
}

// ---- NCHW --------------------------------------------------------------------------------------

// Which arguments and results of an operation are in NCHW, by their numbers.
struct Layout {
  std::set<int> inputs, outputs;  // of four dimensions
  std::set<int> shapes;           // inputs that are the shape of something in NCHW
};
const Layout* layout_of(const std::string& op) {
  static const auto* layouts = new std::map<std::string, Layout>{
      {"Conv2D", {{0}, {0}, {}}},
      {"_FusedConv2D", {{0}, {0}, {}}},
      {"Conv2DBackpropInput", {{2}, {0}, {0}}},
      {"Conv2DBackpropFilter", {{0, 2}, {}, {}}},
      {"DepthwiseConv2dNative", {{0}, {0}, {}}},
      {"DepthwiseConv2dNativeBackpropInput", {{2}, {0}, {0}}},
      {"DepthwiseConv2dNativeBackpropFilter", {{0, 2}, {}, {}}},
      {"MaxPool", {{0}, {0}, {}}},
      {"MaxPoolGrad", {{0, 1, 2}, {0}, {}}},
      {"AvgPool", {{0}, {0}, {}}},
      {"AvgPoolGrad", {{1}, {0}, {0}}},
      {"FusedBatchNorm", {{0}, {0}, {}}},
      {"FusedBatchNormV2", {{0}, {0}, {}}},
      {"FusedBatchNormV3", {{0}, {0}, {}}},
      {"_FusedBatchNormEx", {{0, 5}, {0}, {}}},
      {"FusedBatchNormGrad", {{0, 1}, {0}, {}}},
      {"FusedBatchNormGradV2", {{0, 1}, {0}, {}}},
      {"FusedBatchNormGradV3", {{0, 1}, {0}, {}}},
      {"_FusedBatchNormGradEx", {{0, 1}, {0}, {}}},
  };
  auto found = layouts->find(op);
  return found == layouts->end() ? nullptr : &found->second;
}

constexpr int TO_NHWC[] = {0, 2, 3, 1}, TO_NCHW[] = {0, 3, 1, 2};

absl::Status transpose(OpKernelContext* context, const Tensor& from, const int (&order)[4],
                       AllocatorAttributes attributes, Tensor* to) {
  int64_t size[4];
  const int64_t stride[4] = {from.dim_size(1) * from.dim_size(2) * from.dim_size(3),
                             from.dim_size(2) * from.dim_size(3), from.dim_size(3), 1};
  TensorShape shape;
  for (int axis = 0; axis < 4; ++axis) shape.AddDim(size[axis] = from.dim_size(order[axis]));
  TF_RETURN_IF_ERROR(context->allocate_temp(from.dtype(), shape, to, attributes));
  const size_t bytes = DataTypeSize(from.dtype());
  const char* source = from.tensor_data().data();
  char* target = const_cast<char*>(to->tensor_data().data());
  for (int64_t a = 0; a < size[0]; ++a)
    for (int64_t b = 0; b < size[1]; ++b)
      for (int64_t c = 0; c < size[2]; ++c)
        for (int64_t d = 0; d < size[3]; ++d, target += bytes)
          memcpy(target,
                 source + bytes * (a * stride[order[0]] + b * stride[order[1]] +
                                   c * stride[order[2]] + d * stride[order[3]]),
                 bytes);
  return absl::OkStatus();
}

// The same node for arguments in NHWC.
NodeDef in_nhwc(const NodeDef& node) {
  NodeDef changed = node;
  auto& attributes = *changed.mutable_attr();
  attributes["data_format"].set_s("NHWC");
  for (const char* name : {"strides", "ksize", "dilations"}) {
    auto found = attributes.find(name);
    if (found == attributes.end() || found->second.list().i_size() != 4) continue;
    auto was = found->second.list();
    for (int axis = 0; axis < 4; ++axis)
      found->second.mutable_list()->set_i(axis, was.i(TO_NHWC[axis]));
  }
  auto found = attributes.find("explicit_paddings");
  if (found != attributes.end() && found->second.list().i_size() == 8) {
    auto was = found->second.list();
    for (int side = 0; side < 8; ++side)
      found->second.mutable_list()->set_i(side, was.i(2 * TO_NHWC[side / 2] + side % 2));
  }
  return changed;
}

// ---- The kernels -------------------------------------------------------------------------------

struct OfCpu {
  std::unique_ptr<OpKernel> kernel;
  ComputingForCard* device;
  const Layout* layout = nullptr;  // where arguments must be transposed
};

// What the CPU's kernel is given, for as long as it computes.
struct Given {
  OpKernelContext::Params params;
  std::vector<Tensor> transposed;
  std::vector<TensorValue> inputs;
  explicit Given(const OpKernelContext::Params& from) : params(from) {
    params.eigen_gpu_device = nullptr;  // belongs to the other context
  }
};

absl::Status prepare(const OfCpu& of_cpu, OpKernelContext* context, Given* given) {
  given->params.device = of_cpu.device;
  given->params.op_kernel = of_cpu.kernel.get();
  given->params.op_device_context = nullptr;
  if (!of_cpu.layout) return absl::OkStatus();
  const int count = context->num_inputs();
  given->inputs.assign(given->params.inputs.begin(), given->params.inputs.end());
  given->transposed.resize(count);
  for (int i = 0; i < count; ++i) {
    const Tensor& input = context->input(i);
    Tensor* transposed = &given->transposed[i];
    if (of_cpu.layout->inputs.count(i) && input.dims() == 4) {
      TF_RETURN_IF_ERROR(transpose(context, input, TO_NHWC, AllocatorAttributes(), transposed));
    } else if (of_cpu.layout->shapes.count(i) && input.NumElements() == 4) {
      AllocatorAttributes on_host;
      on_host.set_on_host(true);
      TF_RETURN_IF_ERROR(
          context->allocate_temp(input.dtype(), input.shape(), transposed, on_host));
      for (int axis = 0; axis < 4; ++axis)
        transposed->vec<int32_t>()(axis) = input.vec<int32_t>()(TO_NHWC[axis]);
    } else {
      continue;
    }
    given->inputs[i] = TensorValue(transposed);
  }
  given->params.inputs = given->inputs;
  return absl::OkStatus();
}

absl::Status hand_over(const OfCpu& of_cpu, OpKernelContext* from, OpKernelContext* to) {
  TF_RETURN_IF_ERROR(from->status());
  for (int i = 0; i < from->num_outputs(); ++i) {
    TensorValue value = from->release_output(i);
    if (!value.tensor) continue;
    if (value.is_ref()) {  // Of a variable that Grappler makes where memory is short.
      to->set_output_ref(i, value.mutex_if_ref, value.tensor);
      continue;
    }
    std::unique_ptr<Tensor> tensor(value.tensor);
    if (!of_cpu.layout || !of_cpu.layout->outputs.count(i) || tensor->dims() != 4) {
      to->set_output(i, *tensor);
      continue;
    }
    Tensor* output = nullptr;
    TensorShape shape;
    for (int axis : TO_NCHW) shape.AddDim(tensor->dim_size(axis));
    TF_RETURN_IF_ERROR(to->allocate_output(i, shape, &output));
    Tensor transposed;
    TF_RETURN_IF_ERROR(transpose(to, *tensor, TO_NCHW, to->output_alloc_attr(i), &transposed));
    memcpy(const_cast<char*>(output->tensor_data().data()), transposed.tensor_data().data(),
           transposed.TotalBytes());
  }
  return absl::OkStatus();
}

class CardKernel : public OpKernel {
 public:
  CardKernel(OpKernelConstruction* construction, OfCpu of_cpu)
      : OpKernel(construction), of_cpu_(std::move(of_cpu)) {}
  void Compute(OpKernelContext* context) override {
    Given given(*params_of(*context));
    OP_REQUIRES_OK(context, prepare(of_cpu_, context, &given));
    OpKernelContext own(&given.params, num_outputs());
    of_cpu_.kernel->Compute(&own);
    OP_REQUIRES_OK(context, hand_over(of_cpu_, &own, context));
  }

 private:
  OfCpu of_cpu_;
};

class AsyncCardKernel : public AsyncOpKernel {
 public:
  AsyncCardKernel(OpKernelConstruction* construction, OfCpu of_cpu)
      : AsyncOpKernel(construction), of_cpu_(std::move(of_cpu)) {}
  void ComputeAsync(OpKernelContext* context, DoneCallback done) override {
    auto* given = new Given(*params_of(*context));
    absl::Status prepared = prepare(of_cpu_, context, given);
    auto* own = new OpKernelContext(&given->params, num_outputs());
    auto finish = [this, given, own, context, done](absl::Status status) {
      if (status.ok()) status = hand_over(of_cpu_, own, context);
      if (!status.ok()) context->SetStatus(status);
      delete own;
      delete given;
      done();
    };
    if (!prepared.ok()) return finish(prepared);
    of_cpu_.kernel->AsAsync()->ComputeAsync(own, [finish] { finish(absl::OkStatus()); });
  }

 private:
  OfCpu of_cpu_;
};

class Factory : public kernel_factory::OpKernelFactory {
 public:
  OpKernel* Create(OpKernelConstruction* construction) override {
    OfCpu of_cpu;
    of_cpu.device = computing_for(construction->device());
    NodeDef node = construction->def();
    auto format = node.attr().find("data_format");
    if (format != node.attr().end() && format->second.s() == "NCHW") {
      of_cpu.layout = layout_of(node.op());
      if (of_cpu.layout) node = in_nhwc(node);
    }
    std::shared_ptr<const NodeProperties> properties;
    absl::Status status =
        NodeProperties::CreateFromNodeDef(node, OpRegistry::Global(), &properties);
    OpKernel* kernel = nullptr;
    if (status.ok())
      status = CreateOpKernel(DeviceType("CPU"), of_cpu.device, of_cpu.device->GetAllocator({}),
                              construction->function_library(), construction->resource_manager(),
                              properties, construction->graph_def_version(), &kernel);
    if (!status.ok()) {
      fprintf(stderr, "stand-in CUDA: no kernel for %s: %s\n", node.op().c_str(),
              status.ToString().c_str());
      construction->SetStatus(status);
      return nullptr;
    }
    of_cpu.kernel.reset(kernel);
    if (kernel->AsAsync()) return new AsyncCardKernel(construction, std::move(of_cpu));
    return new CardKernel(construction, std::move(of_cpu));
  }
};

// Those that launch nothing on a GPU, or that are about devices themselves, stay TensorFlow's.
bool stays(const std::string& op) {
  static const std::set<std::string> names{
      "Const", "HostConst", "_HostConst", "NoOp", "Identity", "IdentityN", "Placeholder", "_Arg",
      "_Retval", "_DeviceArg", "_DeviceRetval", "_Send", "_Recv", "_HostSend", "_HostRecv", "Send",
      "Recv", "Switch", "_SwitchN", "Merge", "RefSwitch", "RefMerge", "RefIdentity", "Enter",
      "RefEnter", "Exit", "RefExit", "NextIteration", "RefNextIteration", "LoopCond",
      "ControlTrigger", "If", "StatelessIf", "Case", "StatelessCase", "While", "StatelessWhile",
      "PartitionedCall", "StatefulPartitionedCall", "RemoteCall", "SymbolicGradient", "For",
      "ToBool", "VarHandleOp", "_VarHandlesOp", "ReadVariableOp", "_ReadVariablesOp",
      "VarIsInitializedOp", "DestroyResourceOp", "PyFunc", "EagerPyFunc", "PyFuncStateless",
      "DeviceIndex", "StopGradient", "PreventGradient", "_EagerConst", "Assert"};
  auto begins = [&op](const char* words) { return op.rfind(words, 0) == 0; };
  return names.count(op) || begins("Xla") || begins("_Xla") || begins("Nccl") ||
         begins("_Nccl") || begins("Collective") || begins("Iterator") ||
         begins("MultiDeviceIterator") || op.find("Dataset") != std::string::npos ||
         op.find("Iterator") != std::string::npos;
}

void register_kernels() {
  const KernelList kernels = GetAllRegisteredKernels();
  std::set<std::string> on_cpu;
  for (const KernelDef& kernel : kernels.kernel())
    if (kernel.device_type() == "CPU") on_cpu.insert(kernel.op());
  for (const KernelDef& kernel : kernels.kernel()) {
    if (kernel.device_type() != "GPU" || !on_cpu.count(kernel.op()) || stays(kernel.op()))
      continue;
    auto* second = new KernelDef(kernel);
    second->set_priority(kernel.priority() + 1);
    kernel_factory::OpKernelRegistrar(second, "CardKernel", std::make_unique<Factory>());
  }
}

}  // namespace
}  // namespace tensorflow

// TensorFlow calls it after it has loaded this library from the folder tensorflow-plugins.
extern "C" void TF_InitKernel() { tensorflow::register_kernels(); }
