// Every task works without this script. It adds search as you type, rows that open a
// person, delete and undo without a reload, buttons to copy and print, a warning before
// leaving a changed form, saving once the service responds again, keyboard shortcuts,
// drop and paste for lists, names of countries, and sign-in by link with one press.
//
// The script is a module: strict, deferred and without globals. HTML is requested as
// documents, because Trusted Types prohibit creating it from text.

const find = (selector, root = document) => root.querySelector(selector);

// request sends a request and passes the document, or null on failure, to done.
function request(method, url, body, done) {
  const xhr = new XMLHttpRequest();
  xhr.open(method, url);
  xhr.responseType = 'document';
  xhr.onload = () => done(xhr.response, xhr);
  xhr.onerror = xhr.onabort = xhr.ontimeout = () => done(null, xhr);
  xhr.send(body);
  return xhr;
}

const isList = (page) => page && ['#results', '#tools', '#count'].every((part) => find(part, page));

// show replaces the list with the list of another document. The live region stays the
// same element, so that screen readers announce its new text.
function show(page) {
  const results = find('#results');
  const active = results.contains(document.activeElement) ? document.activeElement.getAttribute('href') : undefined;
  for (const part of ['#results', '#tools']) find(part).replaceChildren(...find(part, page).childNodes);
  results.removeAttribute('aria-busy');
  const count = find('#count', page).textContent;
  if (find('#count').textContent !== count) find('#count').textContent = count;
  if (active !== undefined) {
    const same = [...results.querySelectorAll('a')].find((a) => a.getAttribute('href') === active);
    (same || find('#search-text')).focus({ preventScroll: true });
  }
}

// Without a response, the page shows a message after lateTime and stops waiting after
// lostTime (both in ms).
const lateTime = 4000, lostTime = 20000;

// silent shows that the service does not respond.
function silent() {
  const count = find('#count');
  if (count.textContent === count.dataset.silent) return; // already shown
  count.textContent = count.dataset.silent;
  count.scrollIntoView({ block: 'nearest' });
}

// Search as you type.

const retryTime = 3000;
let searching, waiting, leaving;

function stopSearch() {
  clearTimeout(waiting);
  const old = searching;
  searching = undefined;
  if (old) old.abort();
}

// search shows the people found. With open, it opens the person if there is only one.
function search(form, open) {
  stopSearch();
  const query = new URLSearchParams(new FormData(form));
  if (!query.get('search').trim()) query.delete('search');
  const url = form.getAttribute('action') + (String(query) && '?' + query);
  find('#results').setAttribute('aria-busy', 'true');
  query.set('part', 'results'); // only the results
  const late = setTimeout(silent, lateTime);
  searching = request('GET', form.getAttribute('action') + '?' + query, null, (page, xhr) => {
    clearTimeout(late);
    if (xhr !== searching) return;
    searching = undefined;
    if (leaving) return;
    if (!xhr.status) {
      silent();
      waiting = setTimeout(search, retryTime, form, open);
      return;
    }
    if (!isList(page)) {
      form.submit();
      return;
    }
    show(page);
    find('#count').scrollIntoView({ block: 'nearest' }); // the previous list may have been longer
    history.replaceState(history.state, '', url);
    for (const field of document.querySelectorAll('#notice input[name=back]')) field.value = url;
    for (const button of document.querySelectorAll('button[formaction]')) {
      const to = new URL(button.formAction);
      to.searchParams.set('next', url);
      button.formAction = to;
    }
    for (const link of document.querySelectorAll('a[data-back]')) link.search = new URLSearchParams({ back: url });
    const people = document.querySelectorAll(rows);
    if (open && query.get('search') && people.length === 1) find(rowLink, people[0]).click();
  });
  searching.timeout = lostTime;
}

const searchForm = find('form#search');
if (searchForm) {
  const text = find('#search-text');
  let last = text.value;
  const typed = (event) => {
    if (event.isComposing || text.value === last) return;
    last = text.value;
    leaving = false;
    clearTimeout(waiting);
    waiting = setTimeout(search, 120, searchForm);
  };
  text.addEventListener('input', typed);
  text.addEventListener('compositionend', () => setTimeout(typed, 0, {}));
  searchForm.addEventListener('submit', (event) => {
    if (switches(event)) return;
    event.preventDefault();
    last = text.value;
    leaving = false;
    search(searchForm, document.activeElement === text);
  });
}

// Open a person by a click anywhere on the row, unless it selects text.

const rows = '.people tbody tr', rowLink = 'th a';
let selected; // text when the button was pressed

document.addEventListener('mousedown', () => { selected = String(getSelection()); });
document.addEventListener('click', (event) => {
  const row = event.target.closest(rows);
  if (!row || event.target.closest('a, label') || !['', selected].includes(String(getSelection()))) return;
  find(rowLink, row).dispatchEvent(new MouseEvent('click', event));
});

// Delete and undo in the list without a reload.

let changing = false;

function change(form, submitter) {
  changing = true;
  stopSearch();
  const late = setTimeout(silent, lateTime);
  request('POST', form.action, new URLSearchParams(new FormData(form, submitter)), (page, xhr) => {
    clearTimeout(late);
    changing = false;
    if (!xhr.status) {
      silent();
      return;
    }
    const notice = page && find('#notice', page);
    if (xhr.status !== 200 || !isList(page) || !notice || !notice.firstChild) {
      form.submit();
      return;
    }
    show(page);
    find('#notice').className = notice.className;
    find('#notice').replaceChildren(...notice.childNodes);
    const to = find('#notice button') || find('#results [aria-current] a') || find('#notice');
    to.focus();
    const row = find('#results tr[aria-current]'), box = row?.getBoundingClientRect();
    if (box && (box.top < 0 || box.bottom > innerHeight)) row.scrollIntoView(); // undo may have moved it
    if (find('#search-text').value.trim() !== find('#search-text', page).value.trim()) search(searchForm);
  }).timeout = lostTime;
}

// Prevent sending a form twice.

const sentForms = new WeakMap();
const sentTime = 3000;

function release(form) {
  sentForms.delete(form);
  for (const field of form.querySelectorAll('input[readonly]')) field.readOnly = false;
  for (const button of form.querySelectorAll('button[aria-disabled]')) button.removeAttribute('aria-disabled');
}

function hold(form, timer) {
  sentForms.set(form, timer);
  for (const button of form.querySelectorAll('button:not([type=button])')) button.setAttribute('aria-disabled', 'true');
}

// Save a person. If the service does not respond, the form becomes read-only and is sent
// again until it does. The form's token or entity tag ensures that it is saved once.

let sendsAgain;

function save(form, submitter) {
  clearTimeout(sendsAgain);
  clearTimeout(pause);
  hold(form);
  const late = setTimeout(unanswered, lateTime, form);
  request('POST', form.action, new URLSearchParams(new FormData(form, submitter)), (page, xhr) => {
    clearTimeout(late);
    if (!xhr.status) {
      release(form);
      unanswered(form);
      sendsAgain = setTimeout(save, retryTime, form, submitter);
    } else if (xhr.responseURL !== form.action) {
      const row = page && find('#results tr[aria-current]', page); // responseURL has no fragment
      location.assign(xhr.responseURL + (row ? '#' + row.id : ''));
    } else if (page && find('main', page)) {
      take('.top', page);
      take('#notice', page);
      take('main', page);
      document.title = page.title;
      began();
      start();
    } else {
      form.submit();
    }
  }).timeout = lostTime;
}

// take replaces an element with the same element of another document.
const take = (selector, page) => find(selector).replaceWith(find(selector, page));

// start focuses the start of the new content, so that it is announced and visible.
function start() {
  const place = find('main [autofocus]') ?? find('main h1');
  if (place.matches('h1')) place.tabIndex = -1;
  place.focus();
}

function unanswered(form) {
  for (const field of form.querySelectorAll('input[type=text]')) field.readOnly = true;
  const text = find('[data-silent]', form);
  if (text.textContent) return; // already shown
  text.textContent = text.dataset.silent;
  text.scrollIntoView({ block: 'nearest' });
}

// switches reports whether a button for another language sends the form, to show it again.
const switches = (event) => event.submitter?.name === 'language';

document.addEventListener('submit', (event) => {
  const form = event.target;
  if (event.defaultPrevented || event.submitter?.matches('[data-download]')) return; // the page stays open during a download
  if (form.matches('form.person')) return; // signing out leaves the page like a link
  if (sentForms.has(form) || (changing && form.matches('[data-inplace]'))) {
    event.preventDefault();
    return;
  }
  if (form.matches('[data-inplace]') && find('#results') && !switches(event)) {
    event.preventDefault();
    change(form, event.submitter);
    return;
  }
  if (form.matches('[data-guard]') && !switches(event)) keepTyped(form);
  if (find('[data-silent]', form) && !switches(event)) {
    event.preventDefault();
    save(form, event.submitter);
    return;
  }
  hold(form, setTimeout(release, sentTime, form));
});

addEventListener('pageshow', (event) => {
  if (event.persisted) for (const form of document.forms) release(form);
});

// Show possible duplicates of a new person when the user pauses, so that nothing moves
// while a button is pressed.

let pause, asking;

function showAlike(form) {
  asking?.abort();
  const typed = [...new FormData(form)].filter(([name, value]) => value && name !== 'token');
  asking = request('GET', form.dataset.alike + '?' + new URLSearchParams(typed), null, (page, xhr) => {
    const found = xhr === asking && xhr.status === 200 && find('#alike', page);
    const shown = find('#alike');
    if (found && shown && found.textContent.trim() !== shown.textContent.trim()) shown.replaceChildren(...found.childNodes);
  });
}

document.addEventListener('input', (event) => {
  const form = event.target.closest('form[data-alike]');
  if (!form) return;
  clearTimeout(pause);
  pause = setTimeout(showAlike, 250, form);
});

// Keep typed values in this tab until the form is answered. Browsers lose them when the
// user goes back from a page that failed to load.

const typedKey = 'firefighters-typed';

function keepTyped(form) {
  sessionStorage.setItem(typedKey, JSON.stringify([form.getAttribute('action'), ...new FormData(form)]));
}

// answered reports whether this page is the response to a form.
const answered = () => find('form[data-guard="changed"], #sign-in') || /[?&](added|saved)=/.test(location.search);

function restoreTyped() {
  const [action, ...fields] = JSON.parse(sessionStorage.getItem(typedKey) ?? '[]');
  const form = find('form[data-kept]');
  const same = form && form.getAttribute('action') === action;
  if (!action || !same && !answered()) return;
  sessionStorage.removeItem(typedKey);
  if (answered()) return;
  for (const [name, value] of fields) {
    const field = form.elements.namedItem(name);
    if (field) field.value = value;
  }
  form.dataset.guard = 'changed';
  form.classList.remove('closed');
  const text = document.createElement('p');
  text.textContent = form.dataset.kept;
  find('#notice').className = 'warn';
  find('#notice').replaceChildren(text);
}

// Warn before leaving a changed form.

const contents = (form) => new URLSearchParams(new FormData(form)).toString();
let guarded;

// began registers the forms of a new page.
function began() {
  restoreTyped();
  guarded = [...document.querySelectorAll('form[data-guard]')].map((form) => ({ form, before: contents(form) }));
}
began();

addEventListener('beforeunload', (event) => {
  leaving = true;
  const changed = ({ form, before }) => form.dataset.guard === 'changed' || contents(form) !== before;
  if (![...document.forms].some((form) => sentForms.has(form)) && guarded.some(changed)) event.preventDefault();
});

// Buttons that need a script.

function select(element) {
  if (element.select) {
    element.focus();
    element.select();
  } else {
    getSelection().selectAllChildren(element);
  }
}

async function copy(button) {
  const source = find(button.dataset.copy);
  const status = button.nextElementSibling;
  try {
    await navigator.clipboard.writeText(source.value ?? source.textContent);
  } catch { // without TLS or permission
    select(source);
    if (!document.execCommand('copy')) return;
  }
  status.textContent = '';
  setTimeout(() => { status.textContent = button.dataset.done; }, 50);
}

// statusAfter adds a status element after a button.
function statusAfter(button) {
  const status = document.createElement('span');
  status.setAttribute('role', 'status');
  button.after(status);
  return status;
}

for (const button of document.querySelectorAll('button[data-copy]')) {
  statusAfter(button);
  button.hidden = false;
  button.addEventListener('click', () => copy(button));
}
for (const button of document.querySelectorAll('button[data-print]')) {
  const wait = button.dataset.wait && statusAfter(button);
  button.hidden = false;
  button.addEventListener('click', () => {
    if (!wait) return print();
    wait.textContent = button.dataset.wait;
    requestAnimationFrame(() => setTimeout(() => { // print blocks the page, so show the message first
      print();
      wait.textContent = '';
    }));
  });
}

// Keyboard shortcuts: / for search, n to add a person, ? to list the shortcuts. They are
// links in a dialog. Users can turn them off, for example if speech input triggers them.

const keys = find('#keyboard');
const keysOff = 'firefighters-keys-off';

function press(event) {
  const typing = event.target.closest?.('input, select, textarea');
  if (typing || event.ctrlKey || event.altKey || event.metaKey || event.isComposing || keys.open || localStorage.getItem(keysOff)) return;
  const label = [...keys.querySelectorAll('kbd')].find((key) => key.textContent === event.key);
  if (!label) return;
  event.preventDefault();
  const link = find('a', label.parentElement.nextElementSibling);
  if (!link) keys.showModal();
  else if (link.hash && find(link.hash)) find(link.hash).select();
  else (find(`main a[href^="${link.getAttribute('href')}"]`) ?? link).click();
}

if (keys) {
  const use = find('input', keys);
  const open = find('button[data-keys]');
  use.checked = !localStorage.getItem(keysOff);
  use.addEventListener('change', () => use.checked ? localStorage.removeItem(keysOff) : localStorage.setItem(keysOff, '1'));
  open.hidden = false;
  open.addEventListener('click', () => keys.showModal());
  for (const closing of keys.querySelectorAll('button, a')) closing.addEventListener('click', () => keys.close());
  addEventListener('keydown', press);
  const search = location.hash === '#search-text' && find(location.hash);
  if (search) search.focus();
}

// Drop or paste a list anywhere on its page: a file fills the file field, text fills the
// text field. Nothing is sent until the user presses the button.

const dropForm = find('form[data-drop]');

// hasList reports whether there is a file other than an image. Spreadsheets also copy an
// image of the cells.
const hasList = (data) => [...data.files].some((file) => !file.type.startsWith('image/'));

function fillIn(data) {
  const text = data.getData('text/plain');
  if (hasList(data)) find('input[type=file]', dropForm).files = data.files;
  else if (text) find('textarea', dropForm).value = text;
  else return;
  find('button.primary', dropForm).focus();
}

if (dropForm) {
  const typing = (event) => event.target.closest?.('textarea'); // text goes where it is dropped or pasted
  const over = (event) => {
    if (typing(event) && !event.dataTransfer.types.includes('Files')) return;
    event.preventDefault();
    dropForm.classList.toggle('over', event.type === 'dragover');
    if (event.type === 'drop') fillIn(event.dataTransfer);
  };
  for (const type of ['dragover', 'dragleave', 'drop']) addEventListener(type, over);
  addEventListener('paste', (event) => {
    if (typing(event) && !hasList(event.clipboardData)) return;
    event.preventDefault();
    fillIn(event.clipboardData);
  });
}

// Show the settings again once a command on the page has been run, which changes this part.

const watched = find('#place[data-watch]');
const watchTime = 5000;

function watch() {
  const address = watched.dataset.watch;
  request('GET', address, null, (page) => {
    const now = page && find('#place', page);
    if (now && now.textContent !== watched.textContent) location.assign(address);
    else setTimeout(watch, watchTime);
  });
}
if (watched) setTimeout(watch, watchTime);

// Show the names of countries instead of their codes, sorted, after the empty choice.

function nameCountries(list) {
  const { lang } = document.documentElement;
  const names = new Intl.DisplayNames(lang, { type: 'region' });
  const countries = [...list.options].slice(1);
  for (const country of countries) country.text = names.of(country.value);
  list.append(...countries.sort((a, b) => a.text.localeCompare(b.text, lang)));
}
if (find('select[data-countries]')) nameCountries(find('select[data-countries]'));

// Move the code of a sign-in link from the address into the field. Nothing is sent until
// the user presses the button.

function takeCode() {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  const form = find('form#sign-in');
  if (!code || !form) return;
  history.replaceState(null, '', location.pathname + location.search);
  find('#key').value = code;
  const button = find('button[data-text]', form);
  button.textContent = button.dataset.text;
  button.focus();
}
takeCode();
addEventListener('hashchange', takeCode);

// Focus the summary of errors: not every browser applies its autofocus.
addEventListener('load', () => {
  const faults = find('#faults');
  if (faults && document.activeElement === document.body) faults.focus();
});

// If a list is scrolled to a row, show only whole rows: a row half hidden by the search or
// the table header would be hard to press.
addEventListener('load', () => {
  const place = find('#results [aria-current="true"], #results tr:target');
  if (!place) return;
  const edge = Math.max(...['#search', '.people thead th'].map((part) => find(part)?.getBoundingClientRect().bottom ?? 0));
  for (const row of document.querySelectorAll('.people tbody tr')) {
    const { top, bottom } = row.getBoundingClientRect();
    if (top >= edge - 1 || bottom <= edge + 1) continue;
    scrollBy(0, (row === place ? top : bottom) - edge);
    return;
  }
});
