#include "kernel/binding/views.hpp"

#include "engine/driver/json.hpp"
#include "engine/driver/report_sync.hpp"
#include "kernel/binding/session.hpp"

#include <nlohmann/json.hpp>

#include <stdexcept>

namespace xpto {

using namespace pto;

namespace {

report::Language language_of(const std::string& lang) { return lang == "zh" ? report::Language::zh : report::Language::en; }

std::string pre(const std::string& text) {
    std::string out = "<pre>";
    for (char c : text) {
        if (c == '&') out += "&amp;";
        else if (c == '<') out += "&lt;";
        else if (c == '>') out += "&gt;";
        else out += c;
    }
    return out + "</pre>";
}

} // namespace

std::string refusal_text(const driver::Compiled& c, const std::string& lang) {
    return report::to_text(driver::report_refusal(c, Session::get().sources), language_of(lang));
}

std::string changes_since(const driver::Compiled& before, const driver::Compiled& now) {
    std::string out;
    auto add = [&](const std::string& s) { out += (out.empty() ? "" : ", ") + s; };
    if (before.preload != now.preload && !before.preload.empty() && !now.preload.empty())
        add("preload " + std::to_string(before.preload[0]) + " -> " + std::to_string(now.preload[0]));
    if (before.chip && now.chip && before.chip != now.chip) add("target " + before.chip->name + " -> " + now.chip->name);
    return out;
}

View view_of(const driver::Compiled& c, const std::string& name, const std::string& lang, const std::string& since) {
    const SourceMap& sources = Session::get().sources;
    report::Language language = language_of(lang);
    std::string text, json;
    if (name == "panel") {
        if (!c.diagnostics.empty()) text = refusal_text(c, lang);
        if (c.ok()) {
            report::SyncPlan plan = driver::report_sync_plan(c, sources);
            text += (text.empty() ? "" : "\n") + report::to_text(plan, language);
        }
        if (!since.empty()) text += "\nsince     last run of this cell: " + since;
        json = driver::json_of(c, sources).dump();
    } else if (name == "sync") {
        report::SyncPlan plan = driver::report_sync_plan(c, sources);
        text = report::to_text(plan, language);
        json = report::json_of(plan).dump();
    } else if (name == "code") {
        text = c.generated ? c.generated->text : "no pipeline loop: the kernel runs as it is written";
    } else {
        throw std::invalid_argument("no view is called " + name);
    }
    return {text, pre(text), json};
}

View view_of(const driver::Compiled&, const driver::Run& run, const std::string& name, const std::string&) {
    std::string text = run.status() + "  " + run.kernel + " on " + run.computed_by + ": " + run.outcome.message;
    for (const execute::Hazard& h : run.outcome.hazards) text += "\n" + h.message + "\n  order  " + h.order + "\n  fix    " + h.repair;
    if (!run.outcome.hang.summary.empty()) text += "\nHANG " + run.outcome.hang.summary;
    if (name != "run" && name != "timeline" && name != "trace") throw std::invalid_argument("no view is called " + name);
    return {text, pre(text), "{}"};
}

} // namespace xpto
