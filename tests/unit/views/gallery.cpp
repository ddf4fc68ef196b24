/// Writes every example as an HTML page, English and Chinese: views_gallery OUT_DIR. For looking, in light and dark, wide and narrow.
#include "kernel/views/timeline_extras.hpp"
#include "kernel/views/views.hpp"
#include "tests/unit/report/examples.hpp"

#include <fstream>
#include <iostream>

using namespace xpto::views;
namespace examples = pto::report::examples;

namespace {
void page(const std::string& folder, const std::string& name, const nl::json& bundle) {
    std::ofstream(folder + "/" + name + ".html") << "<!doctype html><meta charset=\"utf-8\"><body style=\"margin:8px;font:13px system-ui;background:Canvas;color:CanvasText\">"
                                                 << bundle.at("text/html").get<std::string>() << "</body>";
    std::ofstream(folder + "/" + name + ".txt") << bundle.at("text/plain").get<std::string>();
}
} // namespace

namespace {
/// The same run as if nothing overlapped: every time stretched to the serial total.
pto::report::Timeline serial(pto::report::Timeline t) {
    const double f = double(t.serial_total) / double(t.total);
    const auto stretch = [&](pto::report::Ticks& v) { v = pto::report::Ticks(double(v) * f); };
    t.preload = "0";
    for (auto& l : t.lanes) {
        for (auto& s : l.slices) stretch(s.start), stretch(s.end), stretch(s.landed);
        for (auto& w : l.waits) stretch(w.start), stretch(w.end), stretch(w.paid);
    }
    for (auto& s : t.stages) {
        for (auto& p : s.paid) stretch(p.ticks);
        stretch(s.in_core), stretch(s.span);
    }
    t.total = t.serial_total;
    return t;
}
pto::report::Timeline with_roofline(pto::report::Timeline t) {
    t.roofline = {1.3e6, 2.0e6, 1600 * 1000.0, 5000 * 1000.0, {{"cube", 4.2e6, 16, 1.5e6, 2.2e8, 2.56e7, "memory"}, {"vector", 65536, 0.05, 22900, 3.1e6, 80000, "memory"}}};
    return t;
}
} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "views_gallery OUT_DIR\n";
        return 2;
    }
    for (auto language : {pto::report::Language::en, pto::report::Language::zh}) {
        ViewOptions o;
        o.language = language;
        const auto put = [&](const std::string& name, const auto& value) { page(argv[1], name + (language == pto::report::Language::zh ? "-zh" : ""), mime_bundle(value, o)); };
        put("plan", examples::relu_matmul_plan());
        put("plan-shared", examples::shared_id_plan());
        put("plan-forward", examples::forward_only_plan());
        put("plan-reuse", examples::address_reuse_plan());
        put("plan-8", examples::chain_plan(8));
        put("plan-1", examples::chain_plan(1, 0));
        put("timeline", with_roofline(examples::relu_matmul_timeline()));
        put("timeline-periodic", examples::long_timeline(1000, false));
        put("timeline-binned", examples::long_timeline(3000, true));
        put("timeline-levels", examples::long_timeline(40'000, true));
        page(argv[1], std::string("comparison") + (language == pto::report::Language::zh ? "-zh" : ""), mime_bundle(examples::relu_matmul_timeline(), serial(examples::relu_matmul_timeline()), o));
        const std::vector<pto::report::PlanStage> stages = examples::relu_matmul_plan().loops[0].stages;
        const std::string zh = language == pto::report::Language::zh ? "-zh" : "";
        const pto::report::SyncPlan plan = examples::relu_matmul_plan();
        pto::report::MemoryMap reused = examples::relu_matmul_memory();
        for (auto& space : reused.memories)
            if (space.name == "UB") space.overlaps.push_back({"mm1", "out", 0, 0x4000, true, "same locks"});
        page(argv[1], "memory-reused" + zh, mime_bundle(reused, stages, o));
        put("panel", examples::relu_matmul_panel());
        page(argv[1], "memory" + zh, mime_bundle(examples::relu_matmul_memory(), stages, o));
        page(argv[1], "memory-bad" + zh, mime_bundle(examples::bad_memory(), stages, o));
        put("refusal", examples::slots_refusal());
        put("diff", examples::small_diff());
        page(argv[1], "hang" + zh, mime_bundle(examples::lost_set_hang(), &plan, o));
        page(argv[1], "race" + zh, mime_bundle(examples::slot_race(), stages, o));
        put("precision", examples::matching());
        put("precision-bad", examples::different());
        put("sweep", examples::preload_sweep());
    }
}
