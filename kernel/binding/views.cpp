#include "kernel/binding/views.hpp"

#include "engine/driver/json.hpp"
#include "engine/driver/memory.hpp"
#include "engine/driver/report_sync.hpp"
#include "engine/emit/emit.hpp"
#include "kernel/views/views.hpp"

#include <nlohmann/json.hpp>

#include <stdexcept>

namespace xpto {

using namespace pto;

namespace {

views::ViewOptions options_of(const std::string& lang) {
    views::ViewOptions o;
    o.language = lang == "zh" ? report::Language::zh : report::Language::en;
    return o;
}

View from_bundle(const nlohmann::json& bundle, std::string json) {
    return {bundle.value("text/plain", ""), bundle.value("text/html", ""), std::move(json)};
}

View plain_view(const std::string& text) {
    std::string html = "<pre>";
    for (char c : text) {
        if (c == '&') html += "&amp;";
        else if (c == '<') html += "&lt;";
        else if (c == '>') html += "&gt;";
        else html += c;
    }
    return {text, html + "</pre>", "{}"};
}

void append(View& to, const View& more) {
    to.text += (to.text.empty() || more.text.empty() ? "" : "\n") + more.text;
    to.html += more.html;
}

View sync_view(const driver::Compiled& c, const std::string& lang) {
    report::SyncPlan plan = driver::report_sync_plan(c, Session::get().sources);
    return from_bundle(views::mime_bundle(plan, options_of(lang)), report::json_of(plan).dump());
}

View timeline_view(const CompilationHandle& h, const std::string& lang) {
    const driver::Prediction& p = h.predicted();
    if (!p.timeline) return plain_view("no predicted timeline: " + p.missing);
    return from_bundle(views::mime_bundle(*p.timeline, options_of(lang)), report::json_of(*p.timeline).dump());
}

View refusal_view(const driver::Compiled& c, const std::string& lang) {
    report::Refusal r = driver::report_refusal(c, Session::get().sources);
    return from_bundle(views::mime_bundle(r, options_of(lang)), report::json_of(r).dump());
}

} // namespace

std::string refusal_text(const driver::Compiled& c, const std::string& lang) {
    return report::to_text(driver::report_refusal(c, Session::get().sources), lang == "zh" ? report::Language::zh : report::Language::en);
}

nlohmann::ordered_json json_with_prediction(const CompilationHandle& h) {
    nlohmann::ordered_json j = driver::json_of(*h.compiled, Session::get().sources);
    if (h.compiled->ok()) {
        const driver::Prediction& p = h.predicted();
        j["predicted"] = driver::prediction_json(p);
        if (!p.timeline) j["not_predicted"] = p.missing;
    }
    return j;
}

std::string changes_since(const driver::Compiled& before, const driver::Compiled& now) {
    std::string out;
    auto add = [&](const std::string& s) { out += (out.empty() ? "" : ", ") + s; };
    if (before.preload != now.preload && !before.preload.empty() && !now.preload.empty())
        add("preload " + std::to_string(before.preload[0]) + " -> " + std::to_string(now.preload[0]));
    if (before.chip && now.chip && before.chip != now.chip) add("target " + before.chip->name + " -> " + now.chip->name);
    if (before.generated && now.generated && before.generated->text == now.generated->text) add("plan the same");
    else if (before.generated && now.generated) add("plan redrawn");
    return out;
}

View view_of(const CompilationHandle& h, const std::string& name, const std::string& lang, const std::string& since) {
    const driver::Compiled& c = *h.compiled;
    if (name == "panel") {
        View v;
        if (!c.diagnostics.empty()) append(v, refusal_view(c, lang));
        if (c.ok()) {
            append(v, sync_view(c, lang));
            append(v, timeline_view(h, lang));
        }
        if (!since.empty()) append(v, plain_view("since     last run of this cell: " + since));
        v.json = json_with_prediction(h).dump();
        return v;
    }
    if (name == "sync") return sync_view(c, lang);
    if (name == "timeline") return timeline_view(h, lang);
    if (name == "code") return plain_view(c.generated ? c.generated->text : "no pipeline loop: the kernel runs as it is written");
    if (name == "cpp") {
        if (!c.program) return plain_view("the kernel was refused: there is nothing to emit");
        emit::EmitOptions o;
        o.sources = &Session::get().sources;
        emit::Emitted e = emit::emit(*c.program, *c.chip, o);
        return plain_view(e.files.front().text);
    }
    throw std::invalid_argument("no view is called " + name);
}

View view_of(const driver::Compiled& c, const driver::Run& run, const std::string& name, const std::string& lang) {
    if (name == "timeline") {
        driver::PredictOptions o;
        o.block_dim = run.block_dim;
        report::Timeline t = driver::timeline_of(c, run, Session::get().sources, o);
        return from_bundle(views::mime_bundle(t, options_of(lang)), report::json_of(t).dump());
    }
    std::string text = run.status() + "  " + run.kernel + " on " + run.computed_by + ": " + run.outcome.message;
    for (const execute::Hazard& h : run.outcome.hazards) text += "\n" + h.message + "\n  order  " + h.order + "\n  fix    " + h.repair;
    if (!run.outcome.hang.summary.empty()) text += "\nHANG " + run.outcome.hang.summary;
    if (name != "run" && name != "trace") throw std::invalid_argument("no view is called " + name);
    return plain_view(text);
}

} // namespace xpto
