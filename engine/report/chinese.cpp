#include "engine/report/chinese.hpp"

#include "engine/base/usual_fix.hpp"

#include <string_view>
#include <vector>

namespace pto::report {
namespace {

struct Pair {
    std::string_view english, chinese; // {} a part of the English sentence; {0} {1} the parts, in any order
};

// The first that fits counts: special ones stand before general ones.
constexpr Pair pairs[] = {
    // races and what to do about them
    {"found by order, not by timing", "由次序推出，与时序无关"},
    {"{}: {} may overwrite what {} is still writing; both write the same values", "{0}：{1} 可能覆写 {2} 仍在写入的数据；两者写入的值相同"},
    {"{}: {} may overwrite what {} is still writing", "{0}：{1} 可能覆写 {2} 仍在写入的数据"},
    {"{}: {} may overwrite what {} still reads; the dump may show a stale value", "{0}：{1} 可能覆写 {2} 仍在读取的数据；打印可能显示过期的值"},
    {"{}: {} may overwrite what {} still reads", "{0}：{1} 可能覆写 {2} 仍在读取的数据"},
    {"{}: {} may read before {} has written; the dump may show a stale value", "{0}：{1} 可能在 {2} 写入之前读取；打印可能显示过期的值"},
    {"{}: {} may read before {} has written", "{0}：{1} 可能在 {2} 写入之前读取"},
    {"both run on {}, where the second may start before the first is complete", "两者都在 {0} 上，后一个可能在前一个完成之前开始"},
    {"put a barrier of pipe {} between them", "在两者之间加一个 {0} 流水的 barrier"},
    {"nothing makes {} wait for {} after this write", "在这次写入之后，没有任何同步让 {0} 等待 {1}"},
    {"nothing makes {} wait for {} after this read", "在这次读取之后，没有任何同步让 {0} 等待 {1}"},
    {"set a flag {} to {} after the first and wait for it before the second, or give both tiles the same mutex id",
     "在前一个之后 set 一个 {0} 到 {1} 的 flag，在后一个之前等待它；或者给两个 tile 相同的 mutex id"},
    {"set a flag {} to {} after the first and wait for it before the second", "在前一个之后 set 一个 {0} 到 {1} 的 flag，在后一个之前等待它"},
    {"no cross-core flag leads from {} to {}", "没有跨核 flag 从 {0} 通向 {1}"},
    {"set a cross-core flag on {} after the first and wait for it on {} before the second", "在前一个之后于 {0} set 一个跨核 flag，在后一个之前于 {1} 等待它"},
    {"blocks run in any order, and no grid-wide synchronisation lies between the two", "各 block 的运行次序任意，两者之间没有全网格同步"},
    {"let each block own its rows, or add atomically", "让每个 block 只处理自己的行，或使用原子加"},
    {"put sync_all between the two, or let each block own its rows", "在两者之间加 sync_all，或让每个 block 只处理自己的行"},
    {"none of the {} orders tried for it turns the two round", "为此尝试的 {0} 种次序都没有让两者颠倒"},
    {"{} turns the two round: the run hangs", "{0} 使两者颠倒：运行挂死"},
    {"{} turns the two round: no value of this launch changes", "{0} 使两者颠倒：本次启动的值没有变化"},
    {"{} turns the two round: {} differ in {} bytes", "{0} 使两者颠倒：{1} 有 {2} 个字节不同"},
    {"{} turns the two round: {} differs in {} bytes", "{0} 使两者颠倒：{1} 有 {2} 个字节不同"},
    {"{} pieces of {} bytes every {}", "{0} 段，每段 {1} 字节，间隔 {2}"},
    {"{} pairs ({}), reported once", "共 {0} 对（{1}），只报告一次"},
    {"{} pairs, reported once", "共 {0} 对，只报告一次"},
    {"rows {}-{}", "第 {0}-{1} 行"},
    // flags, counters, locks
    {"flag {} to {} id {} is set again and no wait stands between: a flag is one bit", "{0} 到 {1} 的 flag id {2} 又被 set，其间没有 wait：flag 只有一位"},
    {"flag {} to {} id {} may be set again before the wait has cleared it: a flag is one bit", "{0} 到 {1} 的 flag id {2} 可能在 wait 清除之前又被 set：flag 只有一位"},
    {"cross-core id {} may have {} sets that nobody has awaited; the counter holds {}", "跨核 id {0} 可能有 {1} 次 set 尚无人等待；计数器上限为 {2}"},
    {"let the setter wait for the other side, so that it stays at most {} ahead", "让 set 的一方等待另一侧，使其最多领先 {0} 次"},
    {"nothing makes {} wait for the waits of the other side; {} runs ahead", "没有任何同步让 {0} 等待另一侧的 wait；{1} 会跑在前面"},
    {"lock {} is released by {}, which does not hold it", "锁 {0} 由 {1} 释放，但它并未持有该锁"},
    {"lock and unlock on the same pipe", "在同一条流水上加锁和解锁"},
    {"release it on the pipe that took it", "在取得它的流水上释放"},
    {"await it before the end: the next launch would find it raised", "在结束之前等待它：否则下一次启动时它仍处于置位状态"},
    {"in every order; the wait of iteration {} falls through: the set of iteration {} is still there", "在任何次序下都会发生；第 {0} 次迭代的 wait 直接通过：第 {1} 次迭代的 set 还在"},
    {"in every order; from the first wait on the cube goes on with one vector core's set: 2 sets for 1 wait",
     "在任何次序下都会发生；从第一个 wait 起，cube 只凭一个 vector 核的 set 就继续：每次 wait 对应 2 次 set"},
    {"in every order", "在任何次序下都会发生"},
    {"flag {} to {} id {} is still raised at the end: set {} times, awaited {}", "{0} 到 {1} 的 flag id {2} 在结束时仍为置位：set {3} 次，wait {4} 次"},
    {"the unit flag of the accumulator from {} on is still raised at the end: no store with phase=Final took it", "从 {0} 起的累加器的 unit flag 在结束时仍为置位：没有 phase=Final 的 store 取走它"},
    {"lock {} is still held by {} at the end", "结束时锁 {0} 仍由 {1} 持有"},
    {"cross-core id {} from {} is {} at the end: set {} times, awaited {}", "来自 {1} 的跨核 id {0} 在结束时为 {2}：set {3} 次，wait {4} 次"},
    {"cross-core id {} towards {} is {} at the end: set {} times, awaited {}", "发往 {1} 的跨核 id {0} 在结束时为 {2}：set {3} 次，wait {4} 次"},
    {"cross-core id {} is {} at the end: set {} times, awaited {}", "跨核 id {0} 在结束时为 {1}：set {2} 次，wait {3} 次"},
    {"{} begins on an accumulator whose Final product no store with phase=Final has taken", "{0} 开始使用的累加器，其 Final 结果尚未被 phase=Final 的 store 取走"},
    {"store with phase=Final first, or make the earlier product Partial", "先用 phase=Final 的 store 取走，或把前一个乘积改为 Partial"},
    {"{} has no phase=, and the accumulator holds what {} with a phase left there: the unit flag stays raised and nothing makes this wait for it",
     "{0} 没有 phase=，而累加器中是带 phase 的 {1} 留下的数据：unit flag 保持置位，没有任何同步让此处等待"},
    {"give a phase to both sides (Final on the last product and on the last store), or to neither", "两侧都写 phase（最后一个乘积和最后一个 store 用 Final），或都不写"},
    // what nobody wrote, what lies outside
    {"{} uses {}[{}, {}], which nobody has written ({} address {}; valid shape {} x {})", "{0} 使用了 {1}[{2}, {3}]，但没有任何操作写过它（{4} 地址 {5}；有效形状 {6} x {7}）"},
    {"write the whole valid region first, or set the valid shape to what was written", "先写满有效区域，或把有效形状设为已写入的部分"},
    {"found in this order; where nothing orders a write of another pipe before it, a race says so", "在本次序下发现；若另一条流水的写入与它没有先后，会另报竞争"},
    {"word {} of the shared scalar buffer is read and nobody has written it", "读取了共享标量缓冲区的第 {0} 个字，但没有任何核写过它"},
    {"store the struct on the other core first and signal it", "先在另一个核上存入该结构，并发出信号"},
    {"{}: a load reads bytes that an earlier store of the same call wrote; nothing orders the two", "{0}：一次 load 读取了同一次调用中较早 store 写入的字节，两者之间没有次序"},
    {"put vf.mem_bar() between the store and the load", "在 store 与 load 之间加 vf.mem_bar()"},
    {"{}: a thread reads an element that nobody has written", "{0}：一个线程读取了没有写过的元素"},
    {"write the whole tile first", "先写满整个 tile"},
    {"{}: {} reads a register that nothing has written", "{0}：{1} 读取了没有写过的寄存器"},
    {"assign the register first", "先给寄存器赋值"},
    {"{} writes bytes {} to {} through `{}`, which has {} to {}: no tile lies there", "{0} 经 `{3}` 写到字节 {1} 至 {2}，而它只有 {4} 至 {5}：那里没有 tile"},
    {"{} reads bytes {} to {} through `{}`, which has {} to {}: no tile lies there", "{0} 经 `{3}` 读到字节 {1} 至 {2}，而它只有 {4} 至 {5}：那里没有 tile"},
    {"{} writes bytes {} to {} through `{}`, which has {} to {}: `{}` lies at {} to {}", "{0} 经 `{3}` 写到字节 {1} 至 {2}，而它只有 {4} 至 {5}：那里是 `{6}`（{7} 至 {8}）"},
    {"{} reads bytes {} to {} through `{}`, which has {} to {}: `{}` lies at {} to {}", "{0} 经 `{3}` 读到字节 {1} 至 {2}，而它只有 {4} 至 {5}：那里是 `{6}`（{7} 至 {8}）"},
    {"make the tile as large as what is indexed, or bound the index by its valid shape", "让 tile 与被索引的范围一样大，或用有效形状限制下标"},
    // hangs
    {"{} blocks wait for a free core while {} blocks wait for all of them: the chip runs at most {} at a time", "{0} 个 block 等待空闲的核，而 {1} 个 block 在等待全部 block：芯片一次最多运行 {2} 个"},
    {"{} pipes wait, nothing can run: every set still exists, but each waits for another", "{0} 条流水等待，无法继续：每个 set 都还在，但彼此等待"},
    {"{} pipes wait, nothing can run", "{0} 条流水等待，无法继续"},
    // pipelines
    {"`{}` runs {} task behind `{}` at preload {}: `{}` needs {} slots and has {}", "preload {3} 时 `{0}` 落后 `{2}` {1} 个任务：`{4}` 需要 {5} 个槽位，只有 {6} 个"},
    {"`{}` runs {} tasks behind `{}` at preload {}: `{}` needs {} slots and has {}", "preload {3} 时 `{0}` 落后 `{2}` {1} 个任务：`{4}` 需要 {5} 个槽位，只有 {6} 个"},
    {"`{}` writes it, delay {}", "`{0}` 写入，延迟 {1}"},
    {"`{}` reads it, delay {}", "`{0}` 读取，延迟 {1}"},
    {"give `{}` {} slots (mutex_ids, fwd_ids and bwd_ids grow with it, and {} more bytes behind it)", "给 `{0}` {1} 个槽位（mutex_ids、fwd_ids、bwd_ids 随之增加，其后另需 {2} 字节）"},
    {"give `{}` {} slots", "给 `{0}` {1} 个槽位"},
    {"lower the preload to {}", "把 preload 降到 {0}"},
    {"lower the preload, or stop sharing the address", "降低 preload，或不再共用地址"},
    {"lower the preload", "降低 preload"},
    {"stop sharing the address, or reorder the stages", "不再共用地址，或调整 stage 的次序"},
    {"declare fwd_ids and bwd_ids for `{}`", "为 `{0}` 声明 fwd_ids 和 bwd_ids"},
    {"declare {}=[...] for `{}`, one id for each slot or one for all", "为 `{1}` 声明 {0}=[...]，每个槽位一个 id，或共用一个"},
    {"give one id for all slots, or one for each", "所有槽位共用一个 id，或每个槽位一个"},
    {"give one id for each slot", "每个槽位给一个 id"},
    {"give every list of one direction ids of its own", "同一方向的每个列表使用各自的 id"},
    {"a mutex locks an address: give both the same mutex_ids", "mutex 锁住的是地址：给两者相同的 mutex_ids"},
    {"set auto_mutex=True, or order the pipes of each core by hand", "设置 auto_mutex=True，或手工安排每个核内各流水的次序"},
    {"hand the data over through a cross-core buffer with fwd_ids and bwd_ids", "通过带 fwd_ids 和 bwd_ids 的跨核 buffer 交接数据"},
    {"take the slot with next() inside the stage", "在 stage 内用 next() 取槽位"},
    {"take the slot with next()", "用 next() 取槽位"},
    {"move the statement into a stage, or use preload=0", "把该语句移入 stage，或使用 preload=0"},
    {"preload=0 keeps the serial order; or keep the state inside one stage", "preload=0 保持串行次序；或把状态留在一个 stage 内"},
    {"use ids 0 to 15, each once in a direction", "使用 0 到 15 的 id，同一方向每个只用一次"},
    {"rename it", "改名"},
    {"auto_mutex keeps the order inside each core", "auto_mutex 保持每个核内的次序"},
    {"explicit flags inside each core", "每个核内由显式 flag 定序"},
    // what a change would bring
    {"20 % faster {}", "{0} 快 20 %"},
    {"{} slots of {}", "{1} 用 {0} 个槽位"},
    {"AIV1 the same", "AIV1 相同"},
};

/// The parts of the sentence that stand at the {} of the pattern; false when it does not fit.
bool fits(std::string_view sentence, std::string_view pattern, std::vector<std::string_view>& parts) {
    parts.clear();
    std::size_t hole = pattern.find("{}");
    if (hole == std::string_view::npos) return sentence == pattern;
    if (sentence.substr(0, hole) != pattern.substr(0, hole)) return false;
    sentence.remove_prefix(hole);
    pattern.remove_prefix(hole + 2);
    for (;;) {
        hole = pattern.find("{}");
        const std::string_view between = pattern.substr(0, hole);
        // The last piece stands at the end, those before it where they are found first.
        const std::size_t at = hole == std::string_view::npos ? (sentence.size() >= between.size() ? sentence.size() - between.size() : std::string_view::npos) : sentence.find(between);
        if (at == std::string_view::npos || at == 0 || sentence.substr(at, between.size()) != between) return false;
        parts.push_back(sentence.substr(0, at));
        sentence.remove_prefix(at + between.size());
        if (hole == std::string_view::npos) return sentence.empty();
        pattern.remove_prefix(hole + 2);
    }
}

void replace_all(std::string& text, std::string_view head, std::string_view with_head, std::string_view with_tail) {
    for (std::size_t at = text.find(head); at != std::string::npos; at = text.find(head, at + 1)) {
        const std::size_t end = text.find(')', at);
        if (end == std::string::npos) return;
        text.replace(end, end + 1 < text.size() && text[end + 1] == ' ' ? 2 : 1, with_tail);
        text.replace(at, head.size(), with_head);
    }
}

} // namespace

std::string said(const std::string& sentence, Language language) {
    if (language != Language::zh) return sentence;
    if (const std::string_view fix = chinese_fix(sentence); !fix.empty()) return std::string(fix);
    // Iterations stand anywhere in a sentence: they are taken out and put at its end.
    std::string plain = sentence, tail;
    if (std::size_t at = plain.find(" (iteration "); at != std::string::npos)
        if (std::size_t end = plain.find(')', at); end != std::string::npos) {
            tail = "（第 " + plain.substr(at + 12, end - at - 12) + " 次迭代）";
            plain.erase(at, end + 1 - at);
        }
    std::vector<std::string_view> parts;
    for (int attempt = 0; attempt < 2; ++attempt) {
        const std::string& text = attempt == 0 ? sentence : plain;
        for (const Pair& p : pairs) {
            if (!fits(text, p.english, parts)) continue;
            std::string out;
            for (std::size_t i = 0; i < p.chinese.size(); ++i) {
                if (p.chinese[i] == '{' && i + 2 < p.chinese.size() && p.chinese[i + 2] == '}') {
                    out += parts[std::size_t(p.chinese[i + 1] - '0')];
                    i += 2;
                } else {
                    out += p.chinese[i];
                }
            }
            if (attempt == 1) out += tail;
            replace_all(out, " (task ", "（任务 ", "）");
            replace_all(out, " (iteration ", "（第 ", " 次迭代）");
            return out;
        }
        if (tail.empty()) break;
    }
    return sentence;
}

} // namespace pto::report
