/* Added to a night's page by scripts/page-probe: uses the page as a person would, and writes down what came of it. */
'use strict';
{
  const wholeText = element => element.textContent.trim();
  const all = selector => [...document.querySelectorAll(selector)];
  /* Where the middle of an element is on the chart. */
  const placeOf = element => {
    const box = element.getBoundingClientRect(), chart = document.getElementById('chart').getBoundingClientRect();
    return {x: (box.left + box.right) / 2 - chart.left, y: (box.top + box.bottom) / 2 - chart.top};
  };
  /* What is shown when the pointer is on an element, beside what is read out for it. */
  const pointAt = element => {
    const box = element.getBoundingClientRect();
    element.dispatchEvent(new MouseEvent('mousemove', {clientX: box.left, clientY: box.top, bubbles: true}));
    const hint = document.getElementById('hint');
    const shown = hint.classList.contains('on') ? hint.textContent : '';
    element.dispatchEvent(new MouseEvent('mouseleave'));
    return {label: element.getAttribute('aria-label') || '', shown, left: hint.classList.contains('on'),
      event: element.dataset.event || '', ...placeOf(element)};
  };
  const colours = () => {
    const body = getComputedStyle(document.body), soft = getComputedStyle(document.querySelector('header p'));
    return {theme: document.documentElement.dataset.theme || '', ground: body.backgroundColor, ink: body.color, soft: soft.color};
  };
  const elements = () => Object.fromEntries(['mark', 'band', 'lock', 'freeze'].map(kind => [kind, all('#chart .' + kind).map(pointAt)]));
  const lanes = () => all('#names text.lane').map(element => ({name: wholeText(element), y: placeOf(element).y}));
  const found = {lanes: lanes(), elements: elements(), themes: []};
  for (let click = 0; click < 2; click++) {
    document.getElementById('theme').click();
    found.themes.push(colours());
  }
  const bands = document.getElementById('bands'), steps = document.getElementById('steps'), zoom = document.getElementById('zoom');
  bands.click();
  found.withoutBands = all('#chart .band').length;
  bands.click();
  const stepShown = () => { const row = document.querySelector('tr.step'); return row !== null && getComputedStyle(row).display !== 'none'; };
  found.stepsBefore = stepShown();
  steps.click();
  found.stepsAfter = stepShown();
  const width = document.getElementById('chart').clientWidth;
  zoom.value = '10';
  zoom.dispatchEvent(new Event('input'));
  found.zoomed = document.getElementById('chart').clientWidth / width;
  found.afterwards = elements();
  found.errors = window.probeErrors;
  const place = document.createElement('script');
  place.id = 'probe';
  place.type = 'application/json';
  place.textContent = JSON.stringify(found).replaceAll('<', '\\u003c');
  document.body.append(place);
}
