#pragma once
/// What lives as long as the process: texts that were read, the parser's memory, compilations that Python holds.

#include "engine/driver/predict.hpp"
#include "kernel/pyfront/environment.hpp"

#include <pybind11/pybind11.h>

#include <functional>
#include <memory>
#include <optional>

namespace xpto {

namespace py = pybind11;

class Session {
  public:
    static Session& get();
    pto::SourceMap sources;
    pyfront::Sources texts{sources};
    void forget(); // parsed trees and code objects; texts stay, places in old results must still be found
};

/// One compilation as Python holds it.
struct CompilationHandle {
    std::shared_ptr<const pto::driver::Compiled> compiled;
    std::shared_ptr<pyfront::LiveEnvironment> environment; // to ask again what constants are now
    std::function<pto::driver::Compiled()> serial;         // the same variant at preload 0; empty without a pipeline
    std::shared_ptr<std::optional<pto::driver::Prediction>> prediction = std::make_shared<std::optional<pto::driver::Prediction>>();

    /// Predicted time, computed when first asked for: compiling must not wait for it.
    const pto::driver::Prediction& predicted() const;
};

/// Seconds of a steady clock.
double now_s();

} // namespace xpto
