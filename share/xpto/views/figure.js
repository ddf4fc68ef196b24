// Replaces a static picture by the same picture inline: hover text in a line below it, linked marks, the page's theme.
// Runs as function(key, data) with data.dark (style sheet of the dark card) and data.zh.
var done = function (host) {
  host.setAttribute('data-done', '1');
  var img = host.querySelector('img');
  if (!img) return;
  var bytes = Uint8Array.from(atob(img.src.split(',')[1]), function (c) { return c.charCodeAt(0); });
  var doc = new DOMParser().parseFromString(new TextDecoder().decode(bytes), 'image/svg+xml');
  var svg = document.importNode(doc.documentElement, true);
  if (svg.nodeName !== 'svg') return;
  // Each figure has its own style scope: a page may hold light and dark cards.
  var scope = 'xp' + key, style = svg.querySelector('style');
  svg.setAttribute('class', scope);
  var light = style.textContent;
  var dark = function () {
    for (var e = host; e; e = e.parentElement) {
      var m = getComputedStyle(e).backgroundColor.match(/[\d.]+/g);
      if (m && (m.length < 4 || +m[3] > 0.5)) return 0.3 * m[0] + 0.59 * m[1] + 0.11 * m[2] < 110;
    }
    return false;
  };
  var paint = function () { style.textContent = (dark() ? data.dark : light).split('.xp ').join('.' + scope + ' '); };
  paint();
  svg.setAttribute('style', 'max-width:900px;width:100%;min-width:720px;height:auto;display:block');
  svg.setAttribute('tabindex', '0');
  var frame = document.createElement('div');
  frame.setAttribute('style', 'overflow-x:auto;max-width:900px');
  frame.appendChild(svg);
  var line = document.createElement('div');
  line.setAttribute('style', 'min-height:2.6em;font:12px/1.3 system-ui,sans-serif;opacity:.85;max-width:900px');
  line.setAttribute('aria-live', 'polite');
  var help = data.zh ? '悬停或按方向键查看细节；+\x20-\x200 或 Ctrl+滚轮缩放；Esc 结束' : 'point at a part,\x20or use the arrow keys;\x20+\x20-\x200 or Ctrl and wheel zoom;\x20Esc ends';
  line.textContent = help;
  img.replaceWith(frame, line);
  // Hover text moves from <title> (a floating box that covers data) to the line.
  var parts = [];
  svg.querySelectorAll('title').forEach(function (t) {
    if (t.parentNode === svg) return;
    t.parentNode.__hover = t.textContent;
    parts.push(t.parentNode);
    t.remove();
  });
  var marked = [], at = -1, outline = null;
  var clear = function () {
    marked.forEach(function (e) { e.style.opacity = ''; });
    marked = [];
    if (outline) { outline.style.filter = ''; outline = null; }
  };
  var show = function (part) {
    clear();
    if (!part) { line.textContent = help; return; }
    line.textContent = part.__hover;
    outline = part;
    part.style.filter = 'drop-shadow(0 0 2px currentColor)';
    var keyed = part.closest('[data-k]'), k = keyed && keyed.getAttribute('data-k');
    if (!k) return;
    svg.querySelectorAll('[data-k]').forEach(function (e) {
      if (e.getAttribute('data-k') !== k && !e.contains(part) && !e.querySelector('[data-k="' + k + '"]')) { e.style.opacity = '.3'; marked.push(e); }
    });
  };
  svg.addEventListener('mouseover', function (ev) {
    var e = ev.target;
    while (e && e !== svg && !e.__hover) e = e.parentNode;
    show(e && e !== svg && e.__hover ? e : null);
  });
  svg.addEventListener('mouseleave', function () { show(null); });
  // Zoom changes the view box: Ctrl and wheel, + - 0, dragging. The wheel alone scrolls the page.
  var whole = svg.getAttribute('viewBox').split(' ').map(Number), view = whole.slice(), drag = null;
  var set = function () {
    view[2] = Math.min(view[2], whole[2]); view[3] = Math.min(view[3], whole[3]);
    view[0] = Math.max(0, Math.min(view[0], whole[2] - view[2]));
    view[1] = Math.max(0, Math.min(view[1], whole[3] - view[3]));
    svg.setAttribute('viewBox', view.join(' '));
    svg.style.cursor = view[2] < whole[2] ? 'grab' : '';
  };
  var zoom = function (f, px, py) {
    f = Math.max(f, whole[2] / 20 / view[2]);
    view = [view[0] + view[2] * px * (1 - f), view[1] + view[3] * py * (1 - f), view[2] * f, view[3] * f];
    set();
  };
  svg.addEventListener('wheel', function (ev) {
    if (!ev.ctrlKey) return;
    ev.preventDefault();
    var r = svg.getBoundingClientRect();
    zoom(ev.deltaY < 0 ? 0.8 : 1.25, (ev.clientX - r.left) / r.width, (ev.clientY - r.top) / r.height);
  }, { passive: false });
  svg.addEventListener('pointerdown', function (ev) { if (view[2] < whole[2]) { drag = [ev.clientX, ev.clientY, view[0], view[1]]; svg.setPointerCapture(ev.pointerId); } });
  svg.addEventListener('pointermove', function (ev) {
    if (!drag) return;
    var k = view[2] / svg.getBoundingClientRect().width;
    view[0] = drag[2] - (ev.clientX - drag[0]) * k; view[1] = drag[3] - (ev.clientY - drag[1]) * k;
    set();
  });
  svg.addEventListener('pointerup', function () { drag = null; });
  svg.addEventListener('keydown', function (ev) {
    if (ev.key === '+' || ev.key === '=') zoom(0.8, 0.5, 0.5);
    if (ev.key === '-') zoom(1.25, 0.5, 0.5);
    if (ev.key === '0') { view = whole.slice(); set(); }
    var step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[ev.key];
    if (step && parts.length) { at = (at + step + parts.length) % parts.length; show(parts[at]); ev.preventDefault(); }
    if (ev.key === 'Escape') { show(null); at = -1; svg.blur(); }
  });
  if (window.matchMedia) {
    var query = matchMedia('(prefers-color-scheme: dark)');
    if (query.addEventListener) query.addEventListener('change', paint);
  }
};
document.querySelectorAll('[data-xpto="' + key + '"]:not([data-done])').forEach(done);
