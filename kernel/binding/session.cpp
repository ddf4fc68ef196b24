#include "kernel/binding/session.hpp"

#include <chrono>

namespace xpto {

Session& Session::get() {
    static Session* s = new Session; // never destroyed: it holds Python objects, and the interpreter ends first
    return *s;
}

void Session::forget() { texts.forget(); }

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

} // namespace xpto
