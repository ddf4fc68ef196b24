/// Writes every example as an HTML page, English and Chinese: views_gallery OUT_DIR. For looking, in light and dark, wide and narrow.
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
        put("timeline", examples::relu_matmul_timeline());
        put("timeline-periodic", examples::long_timeline(1000, false));
        put("timeline-binned", examples::long_timeline(3000, true));
        const std::vector<pto::report::PlanStage> stages = examples::relu_matmul_plan().loops[0].stages;
        const std::string zh = language == pto::report::Language::zh ? "-zh" : "";
        put("panel", examples::relu_matmul_panel());
        page(argv[1], "memory" + zh, mime_bundle(examples::relu_matmul_memory(), stages, o));
        page(argv[1], "memory-bad" + zh, mime_bundle(examples::bad_memory(), stages, o));
        put("refusal", examples::slots_refusal());
        put("diff", examples::small_diff());
        page(argv[1], "hang" + zh, mime_bundle(examples::lost_set_hang(), nullptr, o));
        page(argv[1], "race" + zh, mime_bundle(examples::slot_race(), stages, o));
        put("precision", examples::matching());
        put("precision-bad", examples::different());
        put("sweep", examples::preload_sweep());
    }
}
