// SPDX-License-Identifier: Apache-2.0
/// The script of all pages: folds, sorts, filters and copies. Without it everything is there, unfolded.
enum PageScript {
  static let html: HTML = #"""

    (function () {
      'use strict';
      var status = document.getElementById('status');
      var collator = new Intl.Collator('en', { numeric: true });

      function all(selector, root) { return Array.prototype.slice.call((root || document).querySelectorAll(selector)); }
      function make(tag, text, parent) {
        var element = document.createElement(tag);
        if (text) { element.textContent = text; }
        if (parent) { parent.appendChild(element); }
        return element;
      }
      function button(text, parent, action) {
        var element = make('button', text, parent);
        element.type = 'button';
        element.addEventListener('click', action);
        return element;
      }
      function report(text) { status.textContent = text; }

      // Folding
      var folds = all('details[data-fold]');
      function setAll(isOpen) {
        folds.forEach(function (fold) { fold.open = isOpen; });
        report(isOpen ? 'Everything is unfolded' : 'Everything is folded');
      }
      folds.forEach(function (fold) { fold.open = false; });
      var tools = make('p', '', document.querySelector('header'));
      tools.className = 'tools';
      if (folds.length) {
        button('Unfold all', tools, function () { setAll(true); });
        button('Fold all', tools, function () { setAll(false); });
      }

      // A link to a frame unfolds what it is in. Of threads with one stack the first has the frames.
      function reveal() {
        var id = location.hash.slice(1);
        if (!id) { return; }
        var target = document.getElementById(id);
        var parts = /^t(\d+)f(\d+)$/.exec(id);
        if (!target && parts) {
          var thread = document.getElementById('t' + parts[1]);
          var owner = thread && thread.closest('details[id]');
          target = owner && document.getElementById(owner.id + 'f' + parts[2]) || thread;
        }
        if (!target) { return; }
        for (var element = target; element; element = element.parentElement) {
          if (element.tagName === 'DETAILS') { element.open = true; }
          if (element.hidden) { element.hidden = false; }
        }
        target.scrollIntoView();
      }
      window.addEventListener('hashchange', reveal);

      // Paper can't be unfolded.
      var folded = [];
      window.addEventListener('beforeprint', function () {
        folded = folds.filter(function (fold) { return !fold.open; });
        folded.forEach(function (fold) { fold.open = true; });
      });
      window.addEventListener('afterprint', function () { folded.forEach(function (fold) { fold.open = false; }); });

      // Filters: of a table's rows, or of the threads; of groups also by version and time
      function refresh(item) { item.hidden = item.fits === false || item.isOf === false; }
      function addFilter(place, items, name) {
        var bar = make('p', '');
        bar.className = 'tools';
        var label = make('label', 'Filter ' + name + ' ', bar);
        var input = make('input', '', label);
        input.type = 'search';
        input.autocomplete = 'off';
        var texts = null;
        input.addEventListener('input', function () {
          texts = texts || items.map(function (item) { return item.textContent.toLowerCase(); });
          var words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
          var shown = 0;
          items.forEach(function (item, index) {
            item.fits = words.every(function (word) { return texts[index].indexOf(word) >= 0; });
            refresh(item);
            if (!item.hidden) { shown += 1; }
          });
          report(shown + ' of ' + items.length + ' ' + name);
        });
        place.parentNode.insertBefore(bar, place);
        return bar;
      }
      all('[data-filter]').forEach(function (list) {
        if (list.children.length > 1) {
          addFilter(list, Array.prototype.slice.call(list.children), list.getAttribute('data-filter'));
        }
      });

      // Sorting
      function key(row, column) {
        var cell = row.cells[column];
        var value = cell.getAttribute('data-value');
        return value === null ? cell.textContent : Number(value);
      }
      function sort(table, header, column) {
        var isUp = header.getAttribute('aria-sort') !== 'ascending';
        if (!header.hasAttribute('aria-sort') && header.classList.contains('number')) { isUp = false; }
        all('th[aria-sort]', table.tHead).forEach(function (other) { other.removeAttribute('aria-sort'); });
        header.setAttribute('aria-sort', isUp ? 'ascending' : 'descending');
        var body = table.tBodies[0];
        var rows = Array.prototype.map.call(body.rows, function (row, index) {
          return { row: row, key: key(row, column), index: index };
        });
        rows.sort(function (a, b) {
          var order = typeof a.key === 'number' && typeof b.key === 'number'
            ? a.key - b.key : collator.compare(String(a.key), String(b.key));
          return (isUp ? order : -order) || a.index - b.index;
        });
        var sorted = document.createDocumentFragment();
        rows.forEach(function (item) { sorted.appendChild(item.row); });
        body.appendChild(sorted);
        report('Sorted by ' + header.textContent + (isUp ? ', ascending' : ', descending'));
      }
      all('table[data-table]').forEach(function (table) {
        var rows = Array.prototype.slice.call(table.tBodies[0].rows);
        if (rows.length < 2) { return; }
        all('th', table.tHead).forEach(function (header, column) {
          var text = header.textContent;
          header.textContent = '';
          button(text, header, function () { sort(table, header, column); });
        });
        if (rows.length > 6) { addFilter(table.parentNode, rows, table.getAttribute('data-table')); }
      });

      // Counts of groups for one version and a part of the time, from the data of the page
      var element = document.getElementById('data');
      if (element) { addPeriod(JSON.parse(element.textContent)); }
      function addPeriod(data) {
        var place = document.querySelector('#groups .scroll');
        if (!place || data.days.length === 0) { return; }
        var bar = make('p', '');
        bar.className = 'tools';
        function choice(text, names, first) {
          var list = make('select', '', make('label', text + ' ', bar));
          if (first) { make('option', first, list).value = '-1'; }
          names.forEach(function (name, index) { make('option', name, list).value = String(index); });
          list.addEventListener('change', count);
          return list;
        }
        var version = choice('Version', data.versions, 'all');
        var from = choice('From', data.days);
        var to = choice('to', data.days);
        to.value = String(data.days.length - 1);
        function count() {
          var wanted = Number(version.value), first = Number(from.value), last = Number(to.value);
          var isAll = wanted < 0 && first === 0 && last === data.days.length - 1;
          var total = 0;
          data.groups.forEach(function (group) {
            var row = document.getElementById('g' + group.id);
            var sum = isAll ? group.count : group.cells.reduce(function (sum, cell) {
              return sum + (cell[0] >= first && cell[0] <= last && (wanted < 0 || cell[1] === wanted) ? cell[2] : 0);
            }, 0);
            row.isOf = sum > 0;
            refresh(row);
            row.cells[0].textContent = sum.toLocaleString('en');
            row.cells[0].setAttribute('data-value', String(sum));
            total += sum;
          });
          report(total.toLocaleString('en') + ' crashes');
        }
        place.parentNode.insertBefore(bar, place);
      }

      // Copying
      function select(element) {
        var range = document.createRange();
        range.selectNodeContents(element);
        var selection = window.getSelection();
        selection.removeAllRanges();
        selection.addRange(range);
        return document.execCommand('copy');
      }
      var plain = document.getElementById('plain');
      if (plain) {
        button('Copy as text', tools, function () {
          function fallBack() {
            plain.closest('details').open = true;
            report(select(plain) ? 'Copied' : 'The text is selected; copy it by keyboard');
          }
          if (!navigator.clipboard) { return fallBack(); }
          navigator.clipboard.writeText(plain.textContent).then(function () { report('Copied'); }, fallBack);
        });
      }

      reveal();
    }());

    """#
}
