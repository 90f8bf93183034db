// SPDX-License-Identifier: Apache-2.0
/// The style of all pages. Inline styles are forbidden by the policy, so that classes are all there is.
enum PageStyle {
  static let html: HTML = #"""

    :root {
      color-scheme: light dark;
      --back: #ffffff; --front: #1b1d21; --soft: #f3f4f6; --line: #c9cdd4; --quiet: #4d545e; --link: #0b4fb8;
      --bad: #a3160c; --own: #fff3d1; --own-line: #b26a00; --bar0: #33679b; --bar1: #7a9fc4;
      --bar4: #8a3d8f; --bar5: #6b7280;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --back: #15171b; --front: #e7e9ec; --soft: #20242a; --line: #434a54; --quiet: #b3bac4; --link: #8fbaff;
        --bad: #ff9b91; --own: #3a2f14; --own-line: #e0a63a; --bar0: #7fb0e6; --bar1: #4a6f96;
        --bar4: #d59adb; --bar5: #9aa3af;
      }
    }
    * { box-sizing: border-box; }
    [hidden] { display: none !important; }
    html { -webkit-text-size-adjust: 100%; scroll-padding-top: 3.25rem; }
    body {
      margin: 0 auto; max-width: 76rem; padding: 0 1rem 3rem; background: var(--back); color: var(--front);
      font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; overflow-wrap: anywhere;
    }
    h1 { font-size: 1.5rem; line-height: 1.25; margin: 1.25rem 0 .25rem; }
    h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; padding-bottom: .2rem; border-bottom: 1px solid var(--line); }
    h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
    p { margin: .4rem 0; }
    a { color: var(--link); }
    code, pre, .hex { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .875rem; }
    code, td, th, dd, q, small, summary, h1, li > span { unicode-bidi: isolate; }
    pre {
      margin: .5rem 0; padding: .6rem .75rem; background: var(--soft); border: 1px solid var(--line); border-radius: .3rem;
      overflow: auto; max-height: 32rem; line-height: 1.4; tab-size: 4; overflow-wrap: normal;
    }
    pre.wrap { white-space: pre-wrap; overflow-wrap: anywhere; }
    mark { background: var(--own); color: inherit; display: inline-block; min-width: 100%; }
    :focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
    main:focus { outline: none; }
    :target { background: var(--own); }
    section:target, details:target { background: none; }
    .skip { position: absolute; left: -100rem; }
    .skip:focus { left: 1rem; top: .5rem; padding: .4rem .75rem; background: var(--back); z-index: 1; }
    .unseen {
      position: absolute; width: 1px; height: 1px; margin: -1px; padding: 0; overflow: hidden; clip-path: inset(50%);
      white-space: nowrap; border: 0;
    }
    .sub, footer { color: var(--quiet); }
    .note { border-left: .3rem solid var(--bad); padding-left: .6rem; }
    .summary { font-size: 1.125rem; font-weight: 600; }
    .crash, .error { color: var(--bad); }
    header { display: flex; flex-wrap: wrap; align-items: center; gap: 0 1.5rem; }
    header > * { flex: 1 0 100%; }
    nav {
      position: sticky; top: 0; z-index: 1; margin: .25rem -1rem 0; padding: 0 1rem; background: var(--back);
      border-bottom: 1px solid var(--line);
    }
    nav ul { position: relative; display: flex; gap: 0 1rem; margin: 0; padding: 0; list-style: none; overflow-x: auto; }
    nav a { display: block; padding: .4rem 0; white-space: nowrap; border-bottom: .2rem solid transparent; }
    nav a[aria-current] { color: var(--front); border-bottom-color: var(--own-line); text-decoration: none; }
    @media (min-width: 88rem) {
      body, body.groups { display: grid; grid-template-columns: 10rem minmax(0, 1fr); gap: 0 1.5rem; max-width: 108rem; }
      body:not(.groups) { max-width: 88rem; }
      body > * { grid-column: 1 / -1; } body > main, body > footer { grid-column: 2; }
      nav { grid-column: 1; align-self: start; top: 1rem; max-height: calc(100vh - 2rem); overflow-y: auto; margin: 1.5rem 0 0; padding: 0; border: 0; }
      nav ul { display: block; }
      nav a { padding: .2rem .5rem; white-space: normal; border-bottom: 0; border-left: .2rem solid var(--line); }
      nav a[aria-current] { border-left-color: var(--own-line); background: var(--soft); }
      html { scroll-padding-top: 1rem; }
      main > section:first-child > h2 { margin-top: .75rem; }
    }
    dl { margin: .5rem 0; }
    dt { font-weight: 600; color: var(--quiet); }
    dd { margin: 0 0 .35rem; }
    dd p, dd ul { margin-top: 0; }
    dd ul { padding-left: 1.2rem; }
    @media (min-width: 40rem) {
      dl.facts, dl.parts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .15rem 1.25rem; }
      dl dt { grid-column: 1; }
      dl dd { grid-column: 2; margin: 0; }
    }
    .fault { font-size: 1.125rem; font-weight: 600; }
    dl.head { display: flex; flex-wrap: wrap; gap: .4rem 1.5rem; margin: .6rem 0; }
    dl.head dt { font-size: .8125rem; font-weight: 400; }
    dl.head dd { margin: 0; font-weight: 600; }
    .missing { border-left: .3rem solid var(--own-line); padding-left: .6rem; }
    .missing ul { margin: .2rem 0; padding-left: 1.2rem; }
    ol.stack { list-style: none; margin: .4rem 0; padding: 0; }
    ol.stack > li {
      display: grid; grid-template-columns: 2.5rem minmax(0, 1fr); gap: 0 .75rem; padding: .2rem .5rem .2rem 0;
      border-left: .3rem solid transparent;
    }
    ol.stack > li > a { min-height: 1.5rem; font-variant-numeric: tabular-nums; text-align: right; color: var(--quiet); }
    ol.stack > li > * { grid-column: 2; min-width: 0; }
    ol.stack > li > a { grid-column: 1; }
    ol.stack > li > .in, ol.stack > li > .src, ol.stack > li > .where, ol.stack i { color: var(--quiet); font-style: normal; }
    ol.stack > li > .in { font-size: .875rem; }
    ol.stack > li > .in:empty, ol.stack > li > .where:empty { display: none; }
    ol.stack > li.system, ol.stack > li.again { display: block; padding-left: .75rem; }
    ol.stack em, summary em {
      font-style: normal; font-size: .8125rem; padding: 0 .35rem; border: 1px solid var(--line); border-radius: .3rem;
      color: var(--quiet); white-space: nowrap;
    }
    li.own { border-left-color: var(--own-line) !important; }
    li.own > .at code { font-weight: 700; }
    li.own > .at i { font-weight: 400; }
    li.first { background: var(--own); }
    li.first strong { font-size: .8125rem; font-weight: 600; }
    li.first > *, li.first i, li.first em { color: var(--front) !important; }
    .js .where { display: none; }
    .js .places .where { display: block; }
    .mine > ol > li:not(.own, .first, .again) { display: none !important; }
    @media print, (min-width: 48rem) {
      ol.stack > li { grid-template-columns: 2.5rem 11rem minmax(0, 1fr) minmax(0, max-content); }
      ol.stack > li > .in { grid-column: 2; line-height: 1.7; }
      ol.stack > li > .at { grid-column: 3; }
      ol.stack > li > .src { grid-column: 4; max-width: 18rem; text-align: right; }
      ol.stack > li > .where, ol.stack > li > pre, ol.stack > li > details { grid-column: 3 / -1; }
      ol.stack > li.system > details, ol.stack > li.again > details { grid-column: 1 / -1; }
    }
    ul.same { margin: .3rem 0; padding-left: 1.5rem; columns: 14rem; }
    details { margin: .35rem 0; }
    summary { cursor: pointer; padding: .2rem 0; min-height: 1.75rem; }
    summary small { color: var(--quiet); }
    section > details > summary { font-weight: 500; }
    div[data-filter] > details { content-visibility: auto; contain-intrinsic-size: auto 2.4rem; border-top: 1px solid var(--line); margin: 0; padding: .2rem 0; }
    .scroll { overflow-x: auto; max-width: 100%; position: relative; }
    table { border-collapse: collapse; min-width: 100%; font-size: .9375rem; }
    th, td { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); overflow-wrap: break-word; }
    td { max-width: 34rem; }
    thead th { white-space: nowrap; color: var(--quiet); }
    thead th.long { white-space: normal; min-width: 7rem; }
    tbody th { font-weight: 600; max-width: 24rem; }
    .whole { white-space: nowrap; max-width: none; }
    @media (max-width: 40rem) { td { max-width: 18rem; } tbody th { max-width: 14rem; } }
    tr.own > th { box-shadow: inset .3rem 0 0 var(--own-line); padding-left: .6rem; }
    .number { text-align: right; font-variant-numeric: tabular-nums; }
    button, input, select {
      font: inherit; color: inherit; background: var(--soft); border: 1px solid var(--quiet); border-radius: .3rem;
      padding: .25rem .6rem; min-height: 2rem; max-width: 100%;
    }
    button { cursor: pointer; }
    thead button { border: 0; background: none; padding: 0; font-weight: 600; color: inherit; text-decoration: underline dotted; }
    th[aria-sort="ascending"] button::after { content: " \25B2"; }
    th[aria-sort="descending"] button::after { content: " \25BC"; }
    .tools { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin: .5rem 0; }
    .tools label { display: flex; flex-wrap: wrap; gap: .35rem; align-items: center; }
    svg { display: block; width: 100%; height: auto; margin: .5rem 0; }
    svg.map { height: 1.5rem; background: var(--soft); }
    svg.chart { height: 5.5rem; margin: 0; border-bottom: 1px solid var(--line); overflow: visible; }
    .chart .all rect { fill: var(--bar1); cursor: pointer; } .chart .one rect { fill: var(--own-line); pointer-events: none; }
    .chart line { stroke: var(--line); } .chart line.grid { stroke-dasharray: 2 4; } .chart line.mark { stroke: var(--quiet); }
    .chart text {
      fill: var(--front); font-size: .75rem; transform: translateX(.25rem);
      paint-order: stroke; stroke: var(--back); stroke-width: .25rem;
    }
    .chart text.end { text-anchor: end; transform: translateX(-.25rem); }
    @media (max-width: 48rem) { .chart text.wide { display: none; } }
    .axis { display: flex; justify-content: space-between; margin: 0; font-size: .875rem; color: var(--quiet); }
    .c0 { fill: var(--bar0); } .c1 { fill: var(--bar1); }
    svg.bar { width: 12rem; max-width: 30vw; height: .8rem; margin: .3rem 0; }
    svg.spark { width: 7rem; height: 1.6rem; margin: .1rem 0; fill: var(--bar0); border-bottom: 1px solid var(--line); }
    body.groups { max-width: 96rem; }
    .news { display: grid; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); gap: .75rem; }
    .news > div { border: 1px solid var(--line); border-top: .25rem solid var(--bar5); border-radius: .3rem; padding: .4rem .75rem; }
    .news > .new { border-top-color: var(--bar0); } .news > .growing, .news > .loop { border-top-color: var(--bad); }
    .news > .back { border-top-color: var(--bar4); }
    .news h3 { margin: 0 0 .25rem; }
    .news ol { margin: 0; padding-left: 1.1rem; }
    .news li { margin: .25rem 0; } .news li > span { display: block; color: var(--quiet); font-size: .875rem; }
    .news small { color: var(--quiet); }
    .kind { font-size: .8125rem; font-weight: 400; color: var(--quiet); white-space: nowrap; }
    .kind + a, .kind + a + small { display: inline; }
    th em {
      font-style: normal; font-size: .8125rem; font-weight: 600; padding: 0 .35rem; border-radius: .3rem; white-space: nowrap;
      border: 1px solid currentColor; color: var(--quiet);
    }
    th em.new { color: var(--link); } th em.growing, th em.loop { color: var(--bad); } th em.back { color: var(--bar4); }
    .number small, .number b { white-space: nowrap; } .number small { color: var(--quiet); }
    td.seen { white-space: nowrap; }
    td.high { background: var(--own); font-weight: 600; } td.low { color: var(--quiet); }
    td.high small { color: var(--front); font-weight: 400; }
    .opener { border: 0; background: none; padding: 0; min-height: 0; font-weight: 600; color: var(--link); text-decoration: underline; text-align: left; }
    tbody th b { font-weight: 600; }
    .filters { margin: .5rem 0; }
    .filters select { max-width: 9rem; } .filters .tools { gap: .35rem .75rem; }
    .groups h2 { margin-top: 1.25rem; }
    small.id { font-family: ui-monospace, "DejaVu Sans Mono", monospace; }
    tr.details > td { background: var(--soft); max-width: none; padding: .5rem .75rem; }
    div.bars { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(16rem, 100%), 1fr)); gap: .5rem 1.5rem; align-items: start; }
    table.bars { min-width: 0; } div.bars > * { min-width: 0; } table.bars th { overflow-wrap: anywhere; } table.bars caption { text-align: left; font-weight: 600; color: var(--quiet); }
    table.bars th { font-weight: 400; } table.bars svg.bar { width: 6rem; }
    @media screen and (max-width: 62rem) {
      table.cards, .cards tbody, .cards tr, .cards td, .cards th[scope="row"] {
        display: block; max-width: none; min-width: 0; border: 0; padding: 0; overflow-wrap: anywhere;
      }
      .cards thead { display: block; border-bottom: 1px solid var(--line); }
      .cards thead tr { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline; }
      .cards thead tr:has(button)::before { content: "Sort by"; color: var(--quiet); font-size: .875rem; }
      .cards thead th { border: 0; padding: .2rem 0; }
      .cards tbody tr { content-visibility: auto; contain-intrinsic-size: auto 11rem; border: 1px solid var(--line); border-radius: .3rem; padding: .4rem .6rem; margin: .5rem 0; display: flex; flex-wrap: wrap; gap: .1rem 1rem; align-items: center; }
      .cards td > br { display: none; }
      .cards tbody th { order: -1; flex-basis: 100%; } .cards td.number { text-align: left; }
      .cards td:nth-child(n+6) { flex-basis: 100%; }
      .cards td:nth-child(1)::after { content: " crashes"; } .cards td:nth-child(1)[data-value="1"]::after { content: " crash"; }
      .cards td:nth-child(2)::after { content: " installations"; }
      .cards td:nth-child(2)[data-value="1"]::after { content: " installation"; }
      .cards td.seen::before { content: "First and last: "; }
      .cards td:nth-child(6)::before { content: "Versions: "; } .cards td:nth-child(7)::before { content: "Devices: "; }
      .cards td:nth-child(8)::before { content: "Systems: "; } .cards td:nth-child(9)::before { content: "Example: "; }
      .cards td::before, .cards td::after { color: var(--quiet); font-size: .875rem; }
      .cards tr.details > td { flex-basis: 100%; }
      .cards tr.details > td::before, .cards tr.details > td::after { content: none; }
    }
    tbody th small { font-weight: 400; color: var(--quiet); }
    @media print {
      :root {
        --back: #fff; --front: #000; --soft: #fff; --line: #999; --quiet: #333; --link: #000; --bad: #7a0000;
        --own: #fff; --own-line: #000;
      }
      body, body.groups { display: block; max-width: none; padding: 0; font-size: 10pt; }
      nav, .skip, .tools, [data-screen] { display: none !important; }
      pre { max-height: none; white-space: pre-wrap; overflow-wrap: anywhere; }
      code, pre { font-size: 8pt; }
      .scroll { overflow: visible; }
      table { font-size: 8pt; }
      td code { font-size: 7.5pt; }
      th, td { padding-right: .4rem; }
      tbody th, td { overflow-wrap: anywhere; }
      td.whole, td.number { overflow-wrap: normal; }
      thead th { white-space: normal; }
      thead th.long { overflow-wrap: anywhere; }
      .news { grid-template-columns: repeat(3, 1fr); }
      li, tr { break-inside: avoid; }
      li.again, li.system { break-inside: auto; } li.again > details > :not(summary) { display: none; }
      thead button { text-decoration: none; }
      h2, summary { break-after: avoid; }
      ul.same { columns: auto; }
      div[data-filter] > details, .cards tbody tr { content-visibility: visible; }
    }

    """#
}
