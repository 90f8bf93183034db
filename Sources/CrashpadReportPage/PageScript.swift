// SPDX-License-Identifier: Apache-2.0
/// The script of all pages: folds, sorts, filters and copies. Without it everything is there, unfolded.
enum PageScript {
  static let html: HTML = #"""

    (function () {
      'use strict';
      var status = document.getElementById('status');
      document.documentElement.className = 'js';
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

      // Choices for all stacks of a section: only the program's frames, and where each frame is
      function addSwitch(text, parent, section, name) {
        var control = button(text, parent, function () {
          var isOn = section.classList.toggle(name);
          control.setAttribute('aria-pressed', String(isOn));
          report(text + (isOn ? ': on' : ': off'));
        });
        control.setAttribute('aria-pressed', 'false');
      }
      all('#stack, #exception, #threads').forEach(function (section) {
        if (!section.querySelector('ol.stack')) { return; }
        var bar = make('p', '');
        bar.className = 'tools';
        if (section.id !== 'threads' && section.querySelector('li.own')) {
          addSwitch('Only the program\'s frames', bar, section, 'mine');
        }
        addSwitch('Addresses', bar, section, 'places');
        section.insertBefore(bar, section.children[1]);
      });

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
        if (table.closeDetails) { table.closeDetails(); }
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

      // Groups: counts for a part of the crashes from the data of the page, details below the row, and images
      var element = document.getElementById('data');
      if (element && document.querySelector('#groups table')) { addGroups(JSON.parse(element.textContent)); }
      function addGroups(data) {
        var table = document.querySelector('#groups table');
        var place = table.parentNode;
        var rows = {};
        data.groups.forEach(function (group) {
          group.row = document.getElementById('g' + group.id);
          rows[group.id] = group;
        });

        // Filters, each of which leaves out more
        var bar = make('p', '');
        bar.className = 'tools';
        function choice(text, names, first) {
          if (names.length < 2) { return null; }
          var list = make('select', '', make('label', text + ' ', bar));
          if (first) { make('option', first, list).value = '-1'; }
          names.forEach(function (name, index) { make('option', name, list).value = String(index); });
          list.addEventListener('change', count);
          return list;
        }
        function chosen(list) { return list ? Number(list.value) : -1; }
        function hasClass(name) { return table.querySelector('tbody tr.' + name) !== null; }
        var topics = [['new', 'new'], ['growing', 'growing'], ['back', 'back']].filter(function (topic) {
          return hasClass(topic[0]);
        });
        var topic = topics.length ? choice('Show', ['all groups'].concat(topics.map(function (topic) { return topic[1]; }))) : null;
        var kinds = [];
        data.groups.forEach(function (group) {
          var kind = group.row.querySelector('.kind');
          group.kind = kind ? kind.textContent : '';
          if (kinds.indexOf(group.kind) < 0) { kinds.push(group.kind); }
        });
        kinds.sort(collator.compare);
        var kind = choice('Kind', kinds, 'all');
        var version = choice('Version', data.versions, 'all');
        var device = choice('Device', data.devices, 'all');
        var system = choice('System', data.systems, 'all');
        var from = choice('From', data.days);
        var to = choice('to', data.days);
        if (to) { to.value = String(data.days.length - 1); }
        if (bar.children.length) {
          var filters = make('details', '');
          filters.className = 'filters';
          make('summary', 'More filters', filters);
          filters.appendChild(bar);
          filters.open = window.innerWidth > 1000;
          place.parentNode.insertBefore(filters, place);
        }
        var note = make('p', '');
        note.className = 'sub';
        place.parentNode.insertBefore(note, place);

        function pairs(list, wanted) {
          var found = list.filter(function (pair) { return pair[0] === wanted; })[0];
          return found ? found[1] : 0;
        }
        function count() {
          var wanted = chosen(version), first = Math.max(0, chosen(from));
          var last = to ? chosen(to) : data.days.length - 1;
          var isPart = wanted >= 0 || first > 0 || last < data.days.length - 1;
          var onDevice = chosen(device), onSystem = chosen(system);
          // Crashes are counted by day and version, by device, and by system: of several the smallest is a limit.
          var isLimit = Number(isPart) + Number(onDevice >= 0) + Number(onSystem >= 0) > 1;
          var total = 0, shown = 0;
          closeDetails();
          data.groups.forEach(function (group) {
            var sum = isPart ? group.cells.reduce(function (sum, cell) {
              return sum + (cell[0] >= first && cell[0] <= last && (wanted < 0 || cell[1] === wanted) ? cell[2] : 0);
            }, 0) : group.count;
            if (onDevice >= 0) { sum = Math.min(sum, pairs(group.devices, onDevice)); }
            if (onSystem >= 0) { sum = Math.min(sum, pairs(group.systems, onSystem)); }
            var row = group.row;
            row.isOf = sum > 0 && (!kind || chosen(kind) < 0 || group.kind === kinds[chosen(kind)])
              && (chosen(topic) <= 0 || row.classList.contains(topics[chosen(topic) - 1][0]));
            refresh(row);
            var cell = row.cells[0];
            cell.firstElementChild.textContent = (isLimit ? '\u2264\u00a0' : '') + sum.toLocaleString('en');
            cell.setAttribute('data-value', String(sum));
            if (row.isOf) {
              total += sum;
              shown += 1;
            }
          });
          note.textContent = isLimit
            ? 'Crashes are counted by day and version, by device, and by system, not by all at once: \u2264 is the most that can be.' : '';
          report((isLimit ? 'at most ' : '') + total.toLocaleString('en') + ' crashes in ' + shown + ' groups');
        }

        // Details below their row
        var opened = null;
        function closeDetails() {
          if (!opened) { return; }
          opened.home.insertBefore(opened.details, opened.next);
          opened.details.open = false;
          opened.row.remove();
          opened = null;
          draw(null);
        }
        table.closeDetails = closeDetails;
        function makeDetails(group) {
          var details = make('details', '', document.getElementById('details'));
          details.id = 'e' + group.id;
          make('summary', group.text, details);
          var uncounted = group.uncounted ? ', ' + group.uncounted : '';
          make('p', group.count.toLocaleString('en') + ' crashes' + uncounted + '; signature ' + group.id, details).className = 'sub';
          var lists = make('div', '', details);
          lists.className = 'bars';
          [['Versions', group.versions, data.versions], ['Devices', group.devices, data.devices],
            ['Systems', group.systems, data.systems]].forEach(function (part) {
            if (!part[1].length) { return; }
            var list = make('table', '', lists);
            list.className = 'bars';
            make('caption', part[0], list);
            var body = make('tbody', '', list);
            part[1].forEach(function (pair) {
              var row = make('tr', '', body);
              make('th', part[2][pair[0]], row).scope = 'row';
              make('td', pair[1].toLocaleString('en'), row).className = 'number';
            });
          });
          return details;
        }
        function openDetails(group) {
          var details = document.getElementById('e' + group.id) || makeDetails(group);
          var isOpen = opened && opened.details === details;
          closeDetails();
          if (isOpen) { return; }
          var row = document.createElement('tr');
          row.className = 'details';
          var cell = make('td', '', row);
          cell.colSpan = group.row.cells.length;
          opened = { details: details, home: details.parentNode, next: details.nextSibling, row: row };
          cell.appendChild(details);
          details.open = true;
          group.row.parentNode.insertBefore(row, group.row.nextSibling);
          details.querySelector('summary').focus({ preventScroll: true });
          draw(group);
        }
        table.addEventListener('click', function (event) {
          var link = event.target.closest('a[href^="#e"]');
          if (!link) { return; }
          event.preventDefault();
          openDetails(rows[link.getAttribute('href').slice(2)]);
        });

        // The chart: the bars of one group in front of all, and days to choose
        var chart = document.querySelector('svg.chart');
        var numbers = data.days.map(function (day) { return Date.parse(day) / 864e5; });
        function draw(group) {
          var one = chart && chart.querySelector('.one');
          if (!one) { return; }
          one.textContent = '';
          if (!group) { return; }
          var width = Number(chart.getAttribute('data-width')), most = Number(chart.getAttribute('data-most'));
          all('.all rect', chart).forEach(function (bar) {
            var start = Number(bar.getAttribute('data-day'));
            var sum = group.cells.reduce(function (sum, cell) {
              var day = numbers[cell[0]];
              return sum + (day >= start && day < start + width ? cell[2] : 0);
            }, 0);
            if (!sum) { return; }
            var copy = bar.cloneNode(true);
            var height = Math.max(1, sum * 70 / most);
            copy.setAttribute('y', (100 - height) + '%');
            copy.setAttribute('height', height + '%');
            copy.firstElementChild.textContent = data.days[0] ? bar.firstElementChild.textContent + ', of which ' + sum : '';
            one.appendChild(copy);
          });
        }
        if (chart && from && to) {
          chart.addEventListener('click', function (event) {
            var start = Number(event.target.getAttribute('data-day'));
            if (!start) { return; }
            var width = Number(chart.getAttribute('data-width'));
            var within = numbers.map(function (day, index) { return index; }).filter(function (index) {
              return numbers[index] >= start && numbers[index] < start + width;
            });
            var isChosen = from.value === String(within[0]) && to.value === String(within[within.length - 1]);
            from.value = isChosen ? '0' : String(within[0]);
            to.value = isChosen ? String(numbers.length - 1) : String(within[within.length - 1]);
            count();
          });
        }

        // Trends of groups beyond those that the page draws itself, when they are seen
        var bars = 30;
        var last = numbers[numbers.length - 1], days = Math.floor((last - numbers[0] + bars) / bars);
        function trend(group) {
          var name = group.row.querySelector('th > b');
          if (name) {
            name.replaceWith(button(name.textContent, null, function () { openDetails(group); }));
            group.row.querySelector('th > button').className = 'opener';
          }
          var cell = group.row.cells[3];
          if (cell.firstElementChild || numbers.length < 2) { return; }
          var counts = [];
          for (var index = 0; index < bars; index += 1) { counts.push(0); }
          group.cells.forEach(function (cell) {
            counts[Math.floor((numbers[cell[0]] - (last - days * bars + 1)) / days)] += cell[2];
          });
          var most = Math.max.apply(null, counts);
          if (!most) { return; }
          var path = 'M0 10';
          counts.forEach(function (count) { path += 'V' + (10 - (count && Math.max(1, count * 10 / most))).toFixed(1) + 'h1'; });
          var svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
          svg.setAttribute('class', 'spark');
          svg.setAttribute('viewBox', '0 0 30 10');
          svg.setAttribute('preserveAspectRatio', 'none');
          svg.setAttribute('aria-hidden', 'true');
          var shape = document.createElementNS('http://www.w3.org/2000/svg', 'path');
          shape.setAttribute('d', path + 'V10');
          svg.appendChild(shape);
          cell.appendChild(svg);
        }
        if (window.IntersectionObserver) {
          var observer = new IntersectionObserver(function (entries) {
            entries.forEach(function (entry) {
              if (!entry.isIntersecting) { return; }
              trend(rows[entry.target.id.slice(1)]);
              observer.unobserve(entry.target);
            });
          }, { rootMargin: '400px' });
          data.groups.forEach(function (group) { if (group.row.querySelector('th > b')) { observer.observe(group.row); } });
        }
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

      // The part of the page that is read, in the list of parts
      var nav = document.querySelector('body > nav');
      var links = all('a', nav), sections = links.map(function (link) { return document.getElementById(link.hash.slice(1)); });
      var current = null;
      function mark() {
        // Beside the page the list takes none of its height.
        var line = (nav.offsetWidth * 2 > window.innerWidth ? nav.offsetHeight : 0) + 40, found = -1;
        sections.forEach(function (section, index) { if (section.getBoundingClientRect().top <= line) { found = index; } });
        if (window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 2) {
          // The last parts can't reach the top: the one that was asked for, or else the last.
          var asked = links.findIndex(function (link) { return link.hash === location.hash; });
          found = asked > found ? asked : links.length - 1;
        }
        var link = links[Math.max(found, 0)];
        if (link === current) { return; }
        if (current) { current.removeAttribute('aria-current'); }
        current = link;
        link.setAttribute('aria-current', 'true');
        var list = link.closest('ul');
        list.scrollLeft = link.offsetLeft - (list.clientWidth - link.offsetWidth) / 2;
      }
      if (links.length) {
        var isAsked = false;
        window.addEventListener('hashchange', mark);
        window.addEventListener('scroll', function () {
          if (isAsked) { return; }
          isAsked = true;
          window.requestAnimationFrame(function () { isAsked = false; mark(); });
        }, { passive: true });
        mark();
      }

      reveal();
    }());

    """#
}
