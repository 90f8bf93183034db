// SPDX-License-Identifier: Apache-2.0
/// The faults that make a page hard to use, found by a script in it: the most important checks of accessibility tools.
enum Audit {
  /// A list of sentences; empty of a good page. Contrast is that of WCAG 2, level AA.
  static let script = #"""
    (function () {
      var faults = [];
      var all = Array.prototype.slice.call(document.querySelectorAll('body *'));
      function fault(element, text) { faults.push(text + ': ' + element.outerHTML.slice(0, 120)); }
      var ids = {};
      all.forEach(function (e) {
        if (e.id) { if (ids[e.id]) { fault(e, 'an id is there twice'); } ids[e.id] = true; }
        if (e.tagName === 'A' && (e.getAttribute('href') || '').charAt(0) === '#'
            && !document.getElementById(e.getAttribute('href').slice(1))) { fault(e, 'a link leads nowhere'); }
        if (/^(A|BUTTON|INPUT|SELECT)$/.test(e.tagName) && e.closest('summary')) { fault(e, 'a control is in a summary'); }
        var label = e.getAttribute('aria-labelledby');
        if (label && !document.getElementById(label)) { fault(e, 'a label is not there'); }
      });
      if (document.documentElement.lang !== 'en' || !document.title) { faults.push('no language, or no title'); }
      if (document.querySelectorAll('main').length !== 1 || document.querySelectorAll('h1').length !== 1) {
        faults.push('not one main part and one first heading');
      }
      var level = 0;
      document.querySelectorAll('h1, h2, h3, h4').forEach(function (e) {
        var own = Number(e.tagName.charAt(1));
        if (own > level + 1) { fault(e, 'a heading skips a level'); }
        level = own;
      });
      function channel(v) { v /= 255; return v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); }
      function parse(text) { return text.match(/[\d.]+/g).map(Number); }
      function luminance(c) { return 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]); }
      function behind(e) {
        for (; e; e = e.parentElement) {
          var color = parse(getComputedStyle(e).backgroundColor);
          if (color.length < 4 || color[3] > 0) { return color; }
        }
        return [255, 255, 255];
      }
      var checked = 0;
      var walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (walker.nextNode() && checked < 5000) {
        var e = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || !e.checkVisibility() || e.closest('script, svg, .unseen, .skip')) { continue; }
        checked += 1;
        var a = luminance(parse(getComputedStyle(e).color)), b = luminance(behind(e));
        var ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) { fault(e, 'contrast ' + ratio.toFixed(2)); }
      }
      all.forEach(function (e) {
        if (!/^(A|BUTTON|INPUT|SELECT|SUMMARY)$/.test(e.tagName) || !e.checkVisibility()) { return; }
        var box = e.getBoundingClientRect();
        if (e.className !== 'skip' && box.height > 0 && box.height < 16) { fault(e, 'too small to hit'); }
      });
      // A part that is drawn only when it is seen cuts off what is wider, and the page does not grow by it.
      var width = document.documentElement.clientWidth;
      all.forEach(function (e) {
        if (!e.checkVisibility() || e.closest('svg, .unseen, .skip')) { return; }
        if (e.getBoundingClientRect().right <= width + 1) { return; }
        for (var x = e.parentElement; x; x = x.parentElement) {
          if (/auto|scroll/.test(getComputedStyle(x).overflowX)) { return; }
        }
        fault(e, 'cut off at the edge of the window');
      });
      if (document.documentElement.scrollWidth > document.documentElement.clientWidth) { faults.push('the page is wider than its window'); }
      return faults;
    }())
    """#
}
