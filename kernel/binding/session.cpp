#include "kernel/binding/session.hpp"

#include <algorithm>
#include <chrono>

namespace xpto {

Session& Session::get() {
    static Session* s = new Session; // never destroyed: it holds Python objects, and the interpreter ends first
    return *s;
}

void Session::forget() { texts.forget(); }

const pto::driver::Prediction& CompilationHandle::predicted() const {
    std::optional<pto::driver::Prediction>& kept = *prediction;
    if (!kept) {
        pto::driver::PredictOptions options;
        bool piped = std::any_of(compiled->preload.begin(), compiled->preload.end(), [](std::int64_t p) { return p > 0; });
        if (compiled->ok() && piped && serial) {
            pto::driver::Compiled at_zero = serial();
            pto::driver::PredictOptions quiet;
            quiet.what_if = false;
            if (pto::driver::Prediction p = pto::driver::predict(at_zero, Session::get().sources, quiet); p.timeline) options.serial_total = p.timeline->total;
        }
        kept = pto::driver::predict(*compiled, Session::get().sources, options);
    }
    return *kept;
}

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

} // namespace xpto
