// The lanes of a long timeline on a canvas: zoom, pan, follow a stage or a task. Runs as function(key, data); see timeline_canvas.cpp
// for the packing. Draws what the static picture above summarises and adds no number of its own. The build takes
// comments and the blanks around operators out: a blank of a sentence that stands beside one is written \x20.
var host = document.querySelector('[data-xpto="' + key + '"]:not([data-done])');
if (!host) return;
host.setAttribute('data-done', '1');
var max = Math.max, min = Math.min, grouped = v => v.toLocaleString('en');
var zh = data.zh, say = (en, cn) => zh ? cn : en;
var bytes = s => { return Uint8Array.from(atob(s), c => c.charCodeAt(0)); };
// Per lane typed arrays: start, end, kind (0 bar, 1 paid, 2 free, 3 in core), stage + 1, task.
var unpack = b => {
  var n = 0, i = 0, at = 0, task = 0, cap = b.length / 3 + 1 | 0;
  var s = new Float64Array(cap), e = new Float64Array(cap), k = new Uint8Array(cap), g = new Uint8Array(cap), t = new Int32Array(cap);
  var num = () => { var v = 0, m = 1, c; do { c = b[i++]; v += (c & 127) * m; m *= 128; } while (c > 127); return v; };
  while (i < b.length) {
    at += num(); s[n] = at; at += num(); e[n] = at;
    var c = b[i++]; k[n] = c >> 5; g[n] = c & 31; t[n] = -1;
    if (!k[n]) { var d = num(); task += d % 2 ? -(d + 1) / 2 : d / 2; t[n] = task; }
    n++;
  }
  return { n: n, s: s, e: e, k: k, g: g, t: t };
};
data.lanes.forEach(l => { if (l.raw) l.raw = unpack(bytes(l.raw)); else l.bins = l.bins.map(bytes); });
var W = 900, X0 = 116, X1 = 832, top = 24, y = top, core = '';
data.lanes.forEach(l => {
  if (l.core !== core) { y += 18; core = l.core; l.first = true; }
  l.name = l.core + ' ' + l.pipe; l.y = y; l.h = l.tall ? 32 : 22; y += l.h + 2;
});
var H = y + 30, scale = 1, from = 0, span = data.total, follow = 0, task = -1, dim = false, cyc = false, theme;
var el = (tag, css, text) => { var e = document.createElement(tag); e.style.cssText = css; if (text) e.textContent = text; return e; };
var box = el('div', 'max-width:900px;overflow-x:auto'), bar = el('div', 'font:12px/1.8 system-ui,sans-serif;max-width:900px');
var canvas = el('canvas', 'width:900px;height:' + H + 'px;display:block;touch-action:pan-y'), line = el('div', 'min-height:2.6em;font:12px/1.3 system-ui,sans-serif;opacity:.85;max-width:900px');
canvas.tabIndex = 0; canvas.setAttribute('role', 'img');
canvas.setAttribute('aria-label', say('lanes of ', '泳道 ') + data.kernel);
line.setAttribute('aria-live', 'polite');
var help = say('point at a slice;\x20+\x20-\x200 or Ctrl and wheel zoom,\x20arrows or dragging move,\x20click follows its task,\x20Esc ends;\x20', '悬停查看细节；+\x20-\x200 或 Ctrl+滚轮缩放，方向键或拖动平移，单击跟踪任务，Esc 结束；') + grouped(data.slices) + say(' slices', ' 个切片') + (data.lanes[0] && data.lanes[0].bins ? say(',\x20binned', '，已分箱') : '');
line.textContent = help;
box.appendChild(canvas); host.appendChild(bar); host.appendChild(box); host.appendChild(line);
var buttons = [], refresh = () => { buttons.forEach(x => x()); draw(); };
var button = (text, on, act, colour) => {
  var b = el('button', 'font:inherit;margin:0 6px 4px 0;padding:0 8px;border-radius:4px;cursor:pointer;background:none;color:inherit;border:1px solid ' + (colour || 'currentColor') + (colour ? ';border-left:8px solid ' + colour : ''), text);
  b.type = 'button';
  b.onclick = () => { act(); refresh(); };
  buttons.push(() => { b.style.fontWeight = on() ? 'bold' : ''; b.setAttribute('aria-pressed', on() ? 'true' : 'false'); });
  bar.appendChild(b);
};
data.stages.forEach((s, i) => {
  button(s[0].length > 24 ? s[0].slice(0, 12) + '…' + s[0].slice(-11) : s[0], () => follow === i + 1, () => { follow = follow === i + 1 ? 0 : i + 1; task = -1; }, s[1]);
});
button(say('whole', '全部'), () => span === data.total, () => { from = 0; span = data.total; });
button(say('cycles', '周期'), () => cyc, () => { cyc = !cyc; });
button(say('dim free waits', '淡化无代价等待'), () => dim, () => { dim = !dim; });
var isDark = () => {
  for (var e = host; e; e = e.parentElement) {
    var m = getComputedStyle(e).backgroundColor.match(/[\d.]+/g);
    if (m && (m.length < 4 || +m[3] > 0.5)) return 0.3 * m[0] + 0.59 * m[1] + 0.11 * m[2] < 110;
  }
  return false;
};
var colour = g => g ? data.stages[g - 1][theme + 1] : (theme ? data.dark : data.light)[4];
var X = t => X0 + (t - from) / span * (X1 - X0);
var seek = r => { // first interval that ends after the left edge
  var a = 0, b = r.n;
  while (a < b) { var m = a + b >> 1; if (r.e[m] <= from) a = m + 1; else b = m; }
  return a;
};
var alpha = (g, t) => (follow && g !== follow) || (task >= 0 && t !== task) ? 0.18 : 1;
var label = v => cyc ? grouped(Math.round(v)) : (v / data.rate).toFixed(span < data.rate / 2 ? 3 : span < 5 * data.rate ? 2 : span < 50 * data.rate ? 1 : 0);
var draw = () => {
  theme = isDark() ? 1 : 0;
  var c = theme ? data.dark : data.light, ctx = canvas.getContext('2d'), ratio = window.devicePixelRatio || 1;
  canvas.width = W * ratio; canvas.height = H * ratio; ctx.scale(ratio, ratio);
  ctx.fillStyle = c[0]; ctx.fillRect(0, 0, W, H);
  ctx.font = '11px system-ui,sans-serif'; ctx.textBaseline = 'middle';
  var step = Math.pow(10, Math.floor(Math.log10(span / (cyc ? 1 : data.rate)))) * (cyc ? 1 : data.rate);
  while (span / step < 4) step /= 2;
  for (var v = Math.ceil(from / step) * step; v <= from + span; v += step) {
    ctx.fillStyle = c[6]; ctx.fillRect(X(v), top + 14, 1, H - top - 40);
    ctx.fillStyle = c[3]; ctx.textAlign = 'center'; ctx.fillText(label(v), min(X(v), X1 - 10), H - 12);
  }
  ctx.textAlign = 'right'; ctx.fillStyle = c[3]; ctx.fillText(cyc ? say('cycles', '周期') : 'µs', X0 - 24, H - 12);
  data.lanes.forEach(l => {
    var mid = l.y + l.h / 2, h = l.tall ? 24 : 14;
    ctx.globalAlpha = 1;
    ctx.textAlign = 'left'; ctx.fillStyle = c[2];
    if (l.first) { ctx.font = 'bold 11.5px system-ui,sans-serif'; ctx.fillText(l.core, 20, l.y - 9); ctx.font = '11px system-ui,sans-serif'; }
    ctx.fillText(l.pipe, 28, mid);
    ctx.textAlign = 'right'; ctx.fillText(Math.round(100 * l.busy) + ' %', 880, mid);
    ctx.fillStyle = c[1]; ctx.fillRect(X0, l.y, X1 - X0, l.h);
    ctx.save(); ctx.beginPath(); ctx.rect(X0, l.y, X1 - X0, l.h); ctx.clip();
    (l.raw ? slices : levels)(ctx, l, mid, h, c);
    ctx.restore();
  });
};
var slices = (ctx, l, mid, h, c) => {
  var r = l.raw, i = seek(r), n = X1 - X0, sums = null, a, b;
  for (; i < r.n && r.s[i] < from + span; i++) {
    a = X(r.s[i]); b = X(r.e[i]);
    if (b - a < 1) { // too narrow to see: shares of a pixel
      if (r.k[i] > 1) continue;
      sums = sums || {};
      var px = max(0, min(n - 1, Math.floor(a - X0))), key2 = r.k[i] * 32 + r.g[i];
      (sums[key2] = sums[key2] || new Float32Array(n))[px] += (b - a) * alpha(r.g[i], r.t[i]);
      continue;
    }
    ctx.globalAlpha = alpha(r.g[i], r.t[i]);
    ctx.fillStyle = ctx.strokeStyle = colour(r.g[i]);
    if (r.k[i] === 0) {
      ctx.fillRect(a, mid - h / 2, max(1, b - a - (b - a > 4 ? 0.7 : 0)), h);
      if (b - a > 30 && r.t[i] >= 0) {
        var left = max(a, X0), right = min(b, X1);
        var words = (r.g[i] || '*') + ':' + r.t[i];
        ctx.fillStyle = ink(colour(r.g[i])); ctx.textAlign = 'center'; if (right - left > ctx.measureText(words).width + 4) ctx.fillText(words, (left + right) / 2, mid + 0.5);
      }
    } else if (r.k[i] === 1) {
      ctx.globalAlpha *= 0.35; ctx.fillRect(a, mid - 7, b - a, 14); ctx.globalAlpha /= 0.35;
      ctx.beginPath();
      for (var z = max(a, X0 - 14) - 14; z < min(b, X1); z += 5) { ctx.moveTo(max(a, z), mid + 7 - max(0, a - z)); ctx.lineTo(min(b, z + 14), mid - 7 + max(0, z + 14 - b)); }
      ctx.stroke();
    } else if (r.k[i] === 2) {
      if (dim) ctx.globalAlpha *= 0.25;
      ctx.setLineDash([3, 2]); ctx.strokeRect(a + 0.5, mid - 6, b - a - 1, 12); ctx.setLineDash([]);
    } else { ctx.strokeStyle = c[4]; ctx.setLineDash([1, 3]); ctx.beginPath(); ctx.moveTo(a, mid); ctx.lineTo(b, mid); ctx.stroke(); ctx.setLineDash([]); }
  }
  if (!sums) return;
  var base = new Float32Array(n);
  Object.keys(sums).map(Number).sort((x, z) => x - z).forEach(k => {
    ctx.globalAlpha = k < 32 ? 1 : 0.45; ctx.fillStyle = colour(k % 32);
    for (var p = 0; p < n; p++) if (sums[k][p] > 0.01) { var t = min(1 - base[p], sums[k][p]) * h; ctx.fillRect(X0 + p, mid + h / 2 - base[p] * h - t, 1, t); base[p] = min(1, base[p] + sums[k][p]); }
  });
};
var level = l => { // the coarsest with at least a bin for a pixel
  for (var i = 0; i < l.bins.length - 1; i++) if (l.bins[i].length / 6 * span / data.total >= X1 - X0) return l.bins[i];
  return l.bins[l.bins.length - 1];
};
var levels = (ctx, l, mid, h) => {
  var b = level(l), n = b.length / 6, per = data.total / n, i = max(0, Math.floor(from / per)), put = (v, g, f) => {
    ctx.globalAlpha = f * (g < 0 ? 1 : alpha(g, -1)); ctx.fillStyle = colour(max(0, g)); ctx.fillRect(a, y0 - v * h, w, v * h); y0 -= v * h;
  };
  for (; i < n && i * per < from + span; i++) {
    var a = Math.floor(X(i * per)), w = max(1, Math.floor(X((i + 1) * per)) - a), k = 6 * i, y0 = mid + h / 2;
    put(b[k + 1] / 255, b[k], 1); put(b[k + 3] / 255, b[k + 2], 1);
    put(max(0, b[k + 4] - b[k + 1] - b[k + 3]) / 255, -1, 1); put(min(b[k + 5], 255 - b[k + 4]) / 255, -1, 0.45);
  }
};
var ink = hex => {
  var v = [1, 3, 5].map(i => { var x = parseInt(hex.substr(i, 2), 16) / 255; return x < 0.04045 ? x / 12.92 : Math.pow((x + 0.055) / 1.055, 2.4); });
  return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2] > 0.179 ? '#14181D' : '#FFFFFF';
};
var clamp = () => { span = max(min(50, data.total), min(span, data.total)); from = max(0, min(from, data.total - span)); };
var zoom = (f, share) => { var at = from + span * share; span *= f; clamp(); from = at - span * share; clamp(); refresh(); };
var hit = ev => {
  var r = canvas.getBoundingClientRect(), px = (ev.clientX - r.left) * W / r.width, py = (ev.clientY - r.top) * H / r.height, t = from + (px - X0) / (X1 - X0) * span;
  var l = data.lanes.filter(k => py >= k.y && py < k.y + k.h)[0];
  if (!l || px < X0 || px > X1) return null;
  if (!l.raw) {
    var b = level(l), i = min(b.length / 6 - 1, max(0, Math.floor(t / data.total * b.length / 6))) * 6;
    return { text: l.name + ': ' + say('busy ', '占用 ') + Math.round(b[i + 4] / 2.55) + '\x20%,\x20' + say('paid waits ', '等待 ') + Math.round(b[i + 5] / 2.55) + ' %' + (b[i] ? ',\x20' + say('most of it ', '主要为 ') + data.stages[b[i] - 1][0] : ''), task: -1 };
  }
  var r2 = l.raw, lo = 0, hi = r2.n;
  while (lo < hi) { var m = lo + hi >> 1; if (r2.e[m] <= t) lo = m + 1; else hi = m; }
  if (lo >= r2.n || r2.s[lo] > t) return { text: l.name + ': ' + say('nothing queued', '空闲'), task: -1 };
  var name = r2.g[lo] ? data.stages[r2.g[lo] - 1][0] : say('outside the loop', '循环之外'), len = r2.e[lo] - r2.s[lo];
  var what = [name + (r2.t[lo] >= 0 ? say(' task ', ' 任务 ') + r2.t[lo] : ''), say('waits for ', '等待 ') + name + say(',\x20paid', '，拖慢自己'), say('waits for ', '等待 ') + name + say(',\x20costs nothing', '，无代价'), say('waits inside the core', '核内等待')][r2.k[lo]];
  return { text: what + ',\x20' + l.name + ',\x20' + grouped(r2.s[lo]) + '–' + grouped(r2.e[lo]) + ' (' + grouped(len) + say(' cycles)', ' 周期)'), task: r2.t[lo] };
};
var drag = null, moved = false, on = (name, f) => canvas.addEventListener(name, f, { passive: false });
on('wheel', ev => {
  if (!ev.ctrlKey) return;
  ev.preventDefault();
  var r = canvas.getBoundingClientRect();
  zoom(ev.deltaY < 0 ? 0.7 : 1 / 0.7, max(0, min(1, ((ev.clientX - r.left) * W / r.width - X0) / (X1 - X0))));
});
on('pointerdown', ev => { drag = [ev.clientX, from]; moved = false; canvas.setPointerCapture(ev.pointerId); });
on('pointermove', ev => {
  if (drag) { if (Math.abs(ev.clientX - drag[0]) > 2) moved = true; from = drag[1] - (ev.clientX - drag[0]) / (X1 - X0) * span; clamp(); draw(); return; }
  var h = hit(ev); line.textContent = h ? h.text : help;
});
on('pointerup', ev => { if (!moved) { var h = hit(ev); follow = 0; task = h && h.task !== task ? h.task : -1; refresh(); } drag = null; });
on('mouseleave', () => { line.textContent = help; });
on('keydown', ev => {
  var k = ev.key;
  if (k === '+' || k === '=') zoom(0.7, 0.5); else if (k === '-') zoom(1 / 0.7, 0.5); else if (k === '0') zoom(1e9, 0.5);
  else if (k === 'ArrowLeft' || k === 'ArrowRight') { from += (k === 'ArrowLeft' ? -0.15 : 0.15) * span; clamp(); draw(); ev.preventDefault(); }
  else if (k === 'Escape') { follow = 0; task = -1; canvas.blur(); refresh(); }
});
refresh();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
