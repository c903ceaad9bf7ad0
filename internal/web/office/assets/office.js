// Everything works without this script. It adds search as you type, deleting and
// undo without a reload, the buttons for copying and printing, a warning before
// changed forms are left, saving what was typed once the service answers again,
// keys for search and Add, lists that are dropped or pasted anywhere on their page,
// and one press for a link to sign in.
//
// It is a module: strict, deferred and without globals. HTML comes as documents
// (XMLHttpRequest), because Trusted Types forbid making it from text.

const find = (selector, root = document) => root.querySelector(selector);

// request asks for a page. done gets its document, null if there is none.
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

// show takes over the list of another document. A live region stays the element
// that it is, so that screen readers announce the new text.
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

// After lateTime (ms) the page says that no answer has come, and after lostTime none is
// waited for.
const lateTime = 4000, lostTime = 20000;

// silent says that no answer has come. The page stays as it is.
function silent() {
  const count = find('#count');
  if (count.textContent === count.dataset.silent) return; // it has been said
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

function search(form) {
  stopSearch();
  const query = new URLSearchParams(new FormData(form));
  if (!query.get('search').trim()) query.delete('search');
  const url = form.getAttribute('action') + (String(query) && '?' + query);
  find('#results').setAttribute('aria-busy', 'true');
  query.set('part', 'results'); // without the frame of the page
  const late = setTimeout(silent, lateTime);
  searching = request('GET', form.getAttribute('action') + '?' + query, null, (page, xhr) => {
    clearTimeout(late);
    if (xhr !== searching) return;
    searching = undefined;
    if (leaving) return;
    if (!xhr.status) {
      silent();
      waiting = setTimeout(search, retryTime, form);
      return;
    }
    if (!isList(page)) {
      form.submit();
      return;
    }
    show(page);
    find('#count').scrollIntoView({ block: 'nearest' }); // from far down in a longer list
    history.replaceState(history.state, '', url);
    for (const field of document.querySelectorAll('footer input[name=next], #notice input[name=back]')) field.value = url;
    for (const link of document.querySelectorAll('a[data-back]')) link.search = new URLSearchParams({ back: url });
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
    event.preventDefault();
    last = text.value;
    leaving = false;
    search(searchForm);
  });
}

// Deleting and undo in the list, without a reload.

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
    if (box && (box.top < 0 || box.bottom > innerHeight)) row.scrollIntoView(); // undo has moved it
    if (find('#search-text').value.trim() !== find('#search-text', page).value.trim()) search(searchForm);
  }).timeout = lostTime;
}

// A form that is sent twice.

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

// Saving a person. While no answer comes, the page says so and sends the same once more,
// which saves it once: the form's token or its entity tag tells. So nobody types meanwhile.

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
      const row = page && find('#results tr[aria-current]', page); // its place is not in responseURL
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

// take takes an element over from another document.
const take = (selector, page) => find(selector).replaceWith(find(selector, page));

// start gives the focus to where a page that was taken over begins, which a screen reader
// then says and which comes into sight.
function start() {
  const place = find('main [autofocus]') ?? find('main h1');
  if (place.matches('h1')) place.tabIndex = -1;
  place.focus();
}

function unanswered(form) {
  for (const field of form.querySelectorAll('input[type=text]')) field.readOnly = true;
  const text = find('[data-silent]', form);
  if (text.textContent) return; // it has been said
  text.textContent = text.dataset.silent;
  text.scrollIntoView({ block: 'nearest' });
}

document.addEventListener('submit', (event) => {
  const form = event.target;
  if (event.defaultPrevented || event.submitter?.matches('[data-download]')) return; // after a download the page stays
  if (form.matches('form.person')) return; // signing out leaves a changed form as a link does
  if (sentForms.has(form) || (changing && form.matches('[data-inplace]'))) {
    event.preventDefault();
    return;
  }
  if (form.matches('[data-inplace]') && find('#results')) {
    event.preventDefault();
    change(form, event.submitter);
    return;
  }
  if (form.matches('[data-guard]')) keepTyped(form);
  if (find('[data-silent]', form)) {
    event.preventDefault();
    save(form, event.submitter);
    return;
  }
  hold(form, setTimeout(release, sentTime, form));
});

addEventListener('pageshow', (event) => {
  if (event.persisted) for (const form of document.forms) release(form);
});

// Who is there already and could be the new person: asked when somebody pauses, so that
// nothing moves later, while a button is pressed.

let pause, asking;

function askWhoIsThere(form) {
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
  pause = setTimeout(askWhoIsThere, 250, form);
});

// What was typed stays in this tab until an answer to the form has come. A browser
// forgets it on the way back from a page that did not come.

const typedKey = 'firefighters-typed';

function keepTyped(form) {
  sessionStorage.setItem(typedKey, JSON.stringify([form.getAttribute('action'), ...new FormData(form)]));
}

// answered reports whether this page is an answer to a form that somebody has typed.
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
  const text = document.createElement('p');
  text.textContent = form.dataset.kept;
  find('#notice').className = 'warn';
  find('#notice').replaceChildren(text);
}

// A changed form that is left.

const contents = (form) => new URLSearchParams(new FormData(form)).toString();
let guarded;

// began is called when there are new forms on the page.
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
  } catch { // not over TLS, or not allowed
    select(source);
    if (!document.execCommand('copy')) return;
  }
  status.textContent = '';
  setTimeout(() => { status.textContent = button.dataset.done; }, 50);
}

// beside returns a new place for messages beside a button.
function beside(button) {
  const status = document.createElement('span');
  status.setAttribute('role', 'status');
  button.after(status);
  return status;
}

for (const button of document.querySelectorAll('button[data-copy]')) {
  beside(button);
  button.hidden = false;
  button.addEventListener('click', () => copy(button));
}
for (const button of document.querySelectorAll('button[data-print]')) {
  const wait = button.dataset.wait && beside(button);
  button.hidden = false;
  button.addEventListener('click', () => {
    if (!wait) return print();
    wait.textContent = button.dataset.wait;
    requestAnimationFrame(() => setTimeout(() => { // print stops the page: the message must be in sight before
      print();
      wait.textContent = '';
    }));
  });
}

// Keys: / goes to the search, n to the form for somebody new, and ? shows the keys. They
// are links in a dialog. Somebody who presses them by mistake, as by voice, can switch them
// off.

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

// A list that is dropped on its page, or pasted: a file goes into the field for
// files, a text into that for texts. Nothing is sent before the button is pressed.

const dropForm = find('form[data-drop]');

// hasList reports whether there is a file to take. A spreadsheet copies a picture
// of its cells beside them.
const hasList = (data) => [...data.files].some((file) => !file.type.startsWith('image/'));

function fillIn(data) {
  const text = data.getData('text/plain');
  if (hasList(data)) find('input[type=file]', dropForm).files = data.files;
  else if (text) find('textarea', dropForm).value = text;
  else return;
  find('button.primary', dropForm).focus();
}

if (dropForm) {
  const typing = (event) => event.target.closest?.('textarea'); // a text goes where it is dropped or pasted
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

// A link to sign in: its code goes into the field and out of the address. Nothing
// is sent before the button is pressed.

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

// The summary of faults has autofocus, which not every browser heeds for it.
addEventListener('load', () => {
  const faults = find('#faults');
  if (faults && document.activeElement === document.body) faults.focus();
});

// A list that begins at a row in its middle shows whole rows only: one that is half behind
// the search or the head of the table would be hard to press.
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
