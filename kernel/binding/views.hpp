#pragma once
/// Report values of a compilation or a run, shown: the one list of view names.

#include "engine/driver/run.hpp"
#include "kernel/binding/session.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace xpto {

struct View {
    std::string text, html, json;
};

/// panel, sync, memory, code, diff, cpp, timeline; an unknown name throws std::invalid_argument.
View view_of(const CompilationHandle& h, const std::string& name, const std::string& lang, const std::string& since);
View view_of(const pto::driver::Compiled& c, const pto::driver::Run& run, const std::string& name, const std::string& lang);
/// A report value given as its JSON, shown: precision, sweep, race, hang, memory, sync, timeline, refusal.
View render(const std::string& kind, const std::string& json_text, const std::string& lang);
/// The JSON contract with the prediction filled in.
nlohmann::ordered_json json_with_prediction(const CompilationHandle& h);
/// The blocks of everything that refused the kernel.
std::string refusal_text(const pto::driver::Compiled& c, const std::string& lang);
/// "preload 1 -> 2, predicted 3.09 -> 2.86 us, plan redrawn"; empty when nothing changed.
std::string changes_since(const pto::driver::Compiled& before, const pto::driver::Compiled& now);

} // namespace xpto
