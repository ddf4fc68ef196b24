"""Chinese for sentences that are composed in Python. JSON keeps the English ones: programs compare those.

A row is a pattern of the English sentence and its Chinese form; parts that are sentences themselves are translated in turn.
"""
from __future__ import annotations

import os
import re
from typing import Any

from xpto import config

_ROWS: list[tuple[str, str]] = [
    # kinds of a difference
    (r"(overtaken|stale) slot: the tile of task (\d+) equals the right value of task (\d+)(?: \(distance (-?\d+)(?: = slots of ([^)]+))?\))?",
     "{1}槽位：任务 {2} 的 tile 等于任务 {3} 的正确值（距离 {4}{5:，等于 {} 的槽位数}）"),
    (r"padding joined a maximum: 0\.0 where every expected value is negative(?: in the tail tile, columns (\d+) to (\d+) of (\d+) \(tiles of (\d+)\))?; "
     r"fill with min padding \(pl\.fillpad into a tile with pad=pl\.TilePad\.min\) or set the valid shape before the reduction",
     "填充值参与了求最大值：期望值全为负，结果却是 0.0{1:，位于尾部 tile 的第 {} }{2:至 {} 列}{3:（共 {} 列}{4:，tile 宽 {}）}；"
     "请用最小值填充（pl.fillpad 到 pad=pl.TilePad.min 的 tile），或在归约前设置有效形状"),
    (r"(rows|columns) from (\d+) on \((\d+) of (\d+)\)(?:, all (\S+))?: the tail's valid shape or padding", "从第 {2} {1}起（{4} 中的 {3} {1}）{5:，全为 {}}：尾部的有效形状或填充值"),
    (r"sign: the values are the negated reference", "符号：结果是参考值取负"),
    (r"constant factor: the values are (\S+) times the reference", "固定倍数：结果是参考值的 {1} 倍"),
    (r"permuted: (.+)", "位置错乱：{1:t}"),
    (r"upper and lower half of the rows are exchanged \(split between the vector cores\)", "上半行与下半行对调（在两个 vector 核之间的切分）"),
    (r"left and right half of the columns are exchanged", "左半列与右半列对调"),
    (r"rows and columns are exchanged \(transposed\)", "行列互换（转置）"),
    (r"fractals of (\S+): NZ data stored as ND \(layout\)", "{1} 分形：NZ 数据按 ND 存放（排布）"),
    (r"fractals of (\S+): ND data read as NZ \(layout\)", "{1} 分形：ND 数据按 NZ 读取（排布）"),
    (r"halves of each (\d+)-row tile are exchanged \(split between the vector cores\)", "每个 {1} 行 tile 的两半对调（在两个 vector 核之间的切分）"),
    (r"the same values in other places \(layout, split or index\)", "数值相同而位置不同（排布、切分或下标）"),
    (r"uniform rows where NaN is due \((\d+) rows of (\S+)\): the mask constant is finite, so a fully masked row becomes uniform instead of NaN",
     "应为 NaN 的行取值相同（{1} 行，值为 {2}）：掩码常数是有限值，全被屏蔽的行因此变成均匀值而不是 NaN"),
    (r"cast ties: (\d+) elements lie halfway between two (\S+) numbers and went away from zero; the reference's cast goes to even \(rounding mode: CAST_ROUND against CAST_RINT\)",
     "转换平局：{1} 个元素恰在两个 {2} 数正中，结果远离零取整，参考值取偶（舍入模式 CAST_ROUND 与 CAST_RINT）"),
    (r"cast ties: (\d+) elements lie halfway between two (\S+) numbers and did not go to even \(rounding mode\)", "转换平局：{1} 个元素恰在两个 {2} 数正中，没有取偶（舍入模式）"),
    (r"cast: every value went (.+), the reference's cast goes to nearest even \(rounding mode\)", "转换：所有值都{1:t}取整，参考值取最近偶数（舍入模式）"),
    (r"toward zero \(trunc\)", "向零（trunc）"),
    (r"down \(floor\)", "向下（floor）"),
    (r"up \(ceil\)", "向上（ceil）"),
    (r"cast ties: (\d+) elements differ by one (\S+) unit, each where the reference is even; the output went (away from zero|otherwise) \(rounding mode: CAST_ROUND against CAST_RINT\)",
     "转换平局：{1} 个元素相差一个 {2} 单位，且参考值均为偶；结果{3:t}（舍入模式 CAST_ROUND 与 CAST_RINT）"),
    (r"away from zero", "远离零取整"),
    (r"otherwise", "取了另一侧"),
    (r"accumulation dtype: errors fit sums of (\d+) terms kept in (\S+) \(they grow with the square root of K\), not a wrong value",
     "累加精度：误差符合以 {2} 保存的 {1} 项求和（按 √K 增长），不是错误的值"),
    (r"accumulation dtype: errors grow with K=(\d+), as sums kept in (\S+) with one-sided rounding do", "累加精度：误差随 K={1} 增长，与以 {2} 保存且单向舍入的求和一致"),
    (r"scattered, at cancelled sums: (\d+) elements whose terms cancel to (\S+) of their size or less; the error is small against the terms \(lawful\)",
     "零散，位于相消的求和处：{1} 个元素的各项相消到其大小的 {2} 以下；误差相对各项很小（合法）"),
    (r"order-dependent, within bound: cores add atomically in no fixed order, so bits differ from run to run", "顺序相关，在上限内：各核以不固定的次序原子累加，因此每次运行的位可能不同"),
    (r"none of the known kinds", "不属于任何已知类型"),
    # where to look, and how far it reaches
    (r"%pto_run with hostile=all shows the race", "用 %pto_run hostile=all 可看到竞争"),
    (r"the last run: (\S+)", "上一次运行：{1}"),
    (r"nothing is right", "没有一处正确"),
    (r"the other (\d+) of (\d+) tasks are within (\S+) sigma", "其余 {1} 个任务（共 {2} 个）在 {3} σ 以内"),
    (r"all others are within (\S+) sigma", "其余全部在 {1} σ 以内"),
    (r"(\S+?)(\[[^\]]*\])(?: holds them, ([\d,]+) of ([\d,]+))?( = one whole task tile)?(?:, tasks? ([\d, ]+))?(?:; NaN out of place ([\d,]+) times)?(?:; infinity out of place ([\d,]+) times)?",
     "{1}{2}{3:，其中 {} 个}{4:（共 {} 个）}{5:，恰为一个任务的整个 tile}{6:，任务 {}}{7:；NaN 位置不符 {} 处}{8:；无穷大位置不符 {} 处}"),
    # the user's own tolerance
    (r"(.+) also holds", "{1} 也成立"),
    (r"(.+) fails at ([\d,]+) of ([\d,]+); atol=(\S+) would hold", "{1} 在 {3} 个元素中有 {2} 个不成立；atol={4} 则成立"),
    # where thresholds come from
    (r"(.+), the fp32 reference's as well", "{1:t}，并计入 fp32 参考值自身的误差"),
    (r"(.+), cast to (\S+)", "{1:t}，再转换为 {2}"),
    (r"(.+), (\S+) sums, sizes estimated from the reference", "{1:t}，以 {2} 求和，大小由参考值估计"),
    (r"(.+) of the last run's arguments: (.+)", "上一次运行参数的 {1}：{2:t}"),
    (r"integers: no rounding", "整数：没有舍入"),
    (r"K=(\d+) as given", "按给定的 K={1}"),
    (r"(.+) from the kernel's matmuls", "来自内核矩阵乘的 {1:t}"),
    (r"(\d+) operations of the kernel, one rounding each", "内核的 {1} 个运算，各舍入一次"),
    (r"no sums in the kernel, one rounding", "内核没有求和，一次舍入"),
    (r"one rounding \(nothing is known of the sums: pass k=\)", "一次舍入（对求和一无所知：请传入 k=）"),
    (r"(.+), (fp\d+|bf16) sums(?:, (.+))?", "{1:t}，{2} 求和{3:，{t}}"),
    (r"(fp\d+|bf16) operations(?:, (.+))?", "{1} 运算{2:，{t}}"),
    (r"(.+) between", "其间有 {1}"),
    (r"(K=\d+)(?: (twice|\d+ times))?(?:, (.+))?", "{1}{2:（{t}）}{3:、{t}}"),
    (r"sum of (\d+)(?: (twice|\d+ times))?(?:, (.+))?", "{1} 项求和{2:（{t}）}{3:、{t}}"),
    (r"twice", "两次"),
    (r"(\d+) times", "{1} 次"),
    (r"numpy (\S+)", "numpy 的 {1}"),
    (r"torch (\S+)", "torch 的 {1}"),
    (r"values as given, no run", "给定的值，没有运行"),
    (r"function in float64", "以 float64 计算的函数"),
    (r"(\S+) in float64", "以 float64 计算的 {1}"),
    # growth with K
    (r"error grows as K\*\*(\S+): accumulation dtype: sums were kept in (\S+), the threshold is for (\S+); not a bug",
     "误差按 K**{1} 增长：累加精度：求和以 {2} 保存，阈值按 {3} 推导；不是错误"),
    (r"error grows as K\*\*(\S+): as sums in (\S+) do", "误差按 K**{1} 增长：与 {2} 求和一致"),
]
_WORDS = {"overtaken": "被覆写的", "stale": "过期的", "rows": "行", "columns": "列", "once": "一次"}
_COMPILED = [(re.compile(pattern), chinese) for pattern, chinese in _ROWS]
_SLOT = re.compile(r"\{(\d+)(?::((?:[^{}]|\{[a-z]?\})*))?\}")


def chosen() -> bool:
    """Do users of this session read Chinese?"""
    lang = config.values["lang"]
    return lang == "zh" or (lang in ("auto", "") and os.environ.get("LANG", "").startswith("zh"))


def translated(sentence: str) -> str:
    """The sentence in Chinese; as it is when no row knows it. Semicolons part sentences that rows do not hold together."""
    for pattern, chinese in _COMPILED:
        found = pattern.fullmatch(sentence)
        if found:
            return _SLOT.sub(lambda slot: _part(found.group(int(slot.group(1))), slot.group(2)), chinese)
    if "; " in sentence:
        return "；".join(translated(s) for s in sentence.split("; "))
    return sentence


def _part(text: str | None, form: str | None) -> str:
    """One group of a pattern: as it is, translated (`t`), or inside words that are left out with it."""
    if text is None:
        return ""
    text = _WORDS.get(text, text)
    if form is None:
        return text
    if form == "t":
        return translated(text)
    return form.replace("{t}", translated(text)).replace("{}", text)


def precision(data: dict[str, Any]) -> dict[str, Any]:
    """A precision verdict with its sentences in Chinese."""
    words = {key: translated(data[key]) for key in ("kind", "see", "where", "scope", "derivation", "tolerance", "reference", "computed_by") if data.get(key)}
    stages = [{**s, "what": re.sub(r"read of (.+), task (\d+)", r"读取 \1，任务 \2", s["what"]), "note": s["note"].replace("a race of the run", "运行中的竞争")}
              for s in data.get("stages", [])]
    return {**data, **words, "stages": stages}
