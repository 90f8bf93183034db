// SPDX-License-Identifier: Apache-2.0
/// The style of all pages. Inline styles are forbidden by the policy, so that classes are all there is.
enum PageStyle {
  static let html: HTML = #"""

    :root {
      color-scheme: light dark;
      --back: #ffffff; --front: #1b1d21; --soft: #f3f4f6; --line: #c9cdd4; --quiet: #4d545e; --link: #0b4fb8;
      --bad: #a3160c; --own: #fff3d1; --own-line: #b26a00; --bar0: #33679b; --bar1: #7a9fc4; --bar2: #9a5b00;
      --bar3: #2f7d4f; --bar4: #8a3d8f; --bar5: #6b7280;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --back: #15171b; --front: #e7e9ec; --soft: #20242a; --line: #434a54; --quiet: #b3bac4; --link: #8fbaff;
        --bad: #ff9b91; --own: #3a2f14; --own-line: #e0a63a; --bar0: #7fb0e6; --bar1: #4a6f96; --bar2: #e0a63a;
        --bar3: #74c796; --bar4: #d59adb; --bar5: #9aa3af;
      }
    }
    * { box-sizing: border-box; }
    [hidden] { display: none !important; }
    html { -webkit-text-size-adjust: 100%; scroll-padding-top: 1rem; }
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
    nav ul { display: flex; flex-wrap: wrap; gap: .15rem 1rem; margin: .6rem 0; padding: 0; list-style: none; }
    nav a { display: inline-block; padding: .2rem 0; min-height: 1.75rem; }
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
    ol.stack { list-style: none; margin: .4rem 0; padding: 0; }
    ol.stack ol.stack { margin-left: .75rem; }
    ol.stack > li { padding: .2rem .5rem .2rem 2.75rem; border-left: .3rem solid transparent; position: relative; }
    ol.stack > li > a {
      position: absolute; left: 0; width: 2.25rem; min-height: 1.5rem; font-variant-numeric: tabular-nums;
      text-align: right; color: var(--quiet);
    }
    ol.stack > li > pre, ol.stack > li > details { margin-left: -2.25rem; }
    ol.stack > li > span, ol.stack > li > small { color: var(--quiet); }
    ol.stack > li > code { font-weight: 500; }
    li.own { border-left-color: var(--own-line) !important; }
    li.own > code { font-weight: 700; }
    li.first { background: var(--own); }
    li.first > strong { font-size: .8rem; font-weight: 600; }
    li.first > span, li.first > small, li.first > a { color: var(--front) !important; }
    ul.same { margin: .3rem 0; padding-left: 1.5rem; columns: 20rem; }
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
    svg.chart { height: 13rem; margin: 0; border: solid var(--line); border-width: 1px 0; }
    .axis { display: flex; justify-content: space-between; margin: 0; font-size: .875rem; color: var(--quiet); }
    .c0 { fill: var(--bar0); } .c1 { fill: var(--bar1); } .c2 { fill: var(--bar2); }
    .c3 { fill: var(--bar3); } .c4 { fill: var(--bar4); } .c5 { fill: var(--bar5); }
    svg.key { display: inline-block; width: .8rem; height: .8rem; margin: 0 .35rem 0 0; vertical-align: baseline; }
    svg.bar { width: 12rem; max-width: 30vw; height: .8rem; margin: .3rem 0; }
    tbody th small { font-weight: 400; color: var(--quiet); }
    .legend { list-style: none; padding: 0; margin: .3rem 0; }
    .legend li { padding-left: 1.15rem; text-indent: -1.15rem; }
    @media print {
      :root {
        --back: #fff; --front: #000; --soft: #fff; --line: #999; --quiet: #333; --link: #000; --bad: #7a0000;
        --own: #fff; --own-line: #000;
      }
      body { max-width: none; padding: 0; font-size: 10pt; }
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
      #groups { break-before: page; }
      li, tr { break-inside: avoid; }
      h2, summary { break-after: avoid; }
      ul.same { columns: auto; }
      div[data-filter] > details { content-visibility: visible; }
    }

    """#
}
