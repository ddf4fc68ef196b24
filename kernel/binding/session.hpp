#pragma once
/// What lives as long as the process: texts that were read, the parser's memory, compilations that Python holds.

#include "engine/driver/compile.hpp"
#include "kernel/pyfront/environment.hpp"

#include <pybind11/pybind11.h>

#include <memory>

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
};

/// Seconds of a steady clock.
double now_s();

} // namespace xpto
