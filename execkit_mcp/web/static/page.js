// What every page does: remembers where this login stands, counts down, and brings live regions up to date.
// No text of others ever becomes markup here: pages are rendered by the server and parsed as documents by the browser.
"use strict";

const execkit = { base: document.body.dataset.base };

(() => {
  const KEY = "execkit-base"; // localStorage belongs to this port alone, unlike cookies
  if (execkit.base) {
    localStorage.setItem(KEY, execkit.base);
    return;
  }
  const known = localStorage.getItem(KEY);
  const goOn = document.getElementById("go-on");
  if (goOn && known && /^\/s\/[0-9a-f]{32}$/.test(known)) {
    fetch(`${known}/ping`).then((answer) => {
      if (!answer.ok) return;
      goOn.querySelector("a").href = `${known}/inbox`;
      goOn.hidden = false;
    }).catch(() => {});
  }
})();

execkit.span = (seconds) => {
  let left = Math.max(0, Math.floor(seconds));
  for (const [unit, name, below, step] of [[86400, "d", "h", 3600], [3600, "h", "min", 60], [60, "min", "s", 1]]) {
    if (left >= unit) {
      const rest = Math.floor((left % unit) / step);
      return `${Math.floor(left / unit)} ${name}${rest ? ` ${rest} ${below}` : ""}`;
    }
  }
  return `${left} s`;
};

// Elements with data-until (seconds since 1970, by the server's clock) say how much is left.
execkit.skew = 0;
execkit.tick = () => {
  const now = Date.now() / 1000 + execkit.skew;
  for (const element of document.querySelectorAll("[data-until]")) {
    const left = Number(element.dataset.until) - now;
    element.textContent = left > 0 ? execkit.span(left) : "no time";
  }
};
setInterval(execkit.tick, 1000);

// Fetch this page again and put its regions (elements with data-live and an id) in the place of ours. A region in
// which somebody types, or that did not change, stays.
execkit.isBusy = (region) => {
  const at = document.activeElement;
  return region.contains(at) && at.matches("input, textarea, select") && at.value !== "";
};
execkit.refresh = (done) => {
  const request = new XMLHttpRequest();
  request.open("GET", location.pathname + location.search);
  request.setRequestHeader("x-execkit-refresh", "1"); // what is told once is kept for the page that a person opens
  request.responseType = "document";
  request.onload = () => {
    if (request.status === 401) location.assign("/login");
    const fresh = request.responseXML;
    if (request.status !== 200 || !fresh) return;
    if (execkit.isPressed) execkit.afterPress = () => execkit.show(fresh, done);
    else execkit.show(fresh, done);
  };
  request.send();
};
// What is replaced between press and release would lose the click: it waits for the release.
execkit.isPressed = false;
execkit.afterPress = null;
document.addEventListener("pointerdown", () => { execkit.isPressed = true; }, true);
for (const end of ["pointerup", "pointercancel", "blur"]) {
  window.addEventListener(end, () => setTimeout(() => {
    execkit.isPressed = false;
    const waiting = execkit.afterPress;
    execkit.afterPress = null;
    if (waiting) waiting();
  }), end !== "blur"); // an element that loses the focus is none of our business
}
execkit.show = (fresh, done) => {
  for (const region of document.querySelectorAll("[data-live]")) execkit.swap(region, fresh.getElementById(region.id));
  for (const line of document.querySelectorAll("[data-live-text]")) {
    const text = fresh.getElementById(line.id)?.textContent ?? ""; // the same element with new words is read out
    if (line.textContent !== text) line.textContent = text;
  }
  if (fresh.title) document.title = fresh.title;
  document.dispatchEvent(new Event("execkit:fresh"));
  if (done) done();
};
execkit.swap = (region, fresh) => {
  if (!fresh || region.isEqualNode(fresh)) return;
  if (region.hasAttribute("data-each")) {
    execkit.swapEach(region, fresh);
    return;
  }
  if (!execkit.isBusy(region)) region.replaceWith(document.importNode(fresh, true));
};
// Children are matched by their ids, so what is being read or written stays where it is.
execkit.swapEach = (region, fresh) => {
  const due = new Set([...fresh.children].map((child) => child.id));
  for (const child of [...region.children]) {
    if (due.has(child.id)) continue;
    // Nothing moves under a finger that is about to press: what was answered elsewhere stays, and does nothing.
    if (region.hasAttribute("data-keep-gone") && child.matches("article")) {
      child.inert = true;
      child.classList.add("gone");
    } else child.remove();
  }
  const next = (child) => {
    let found = child ? child.nextElementSibling : region.firstElementChild;
    while (found && found.classList.contains("gone")) found = found.nextElementSibling;
    return found;
  };
  let last = null;
  for (const child of [...fresh.children]) {
    let mine = [...region.children].find((each) => each.id === child.id);
    if (!mine || (mine.dataset.stamp !== child.dataset.stamp && !execkit.isBusy(mine))) {
      const copy = document.importNode(child, true);
      if (mine) mine.replaceWith(copy);
      mine = copy;
    }
    const place = next(last);
    if (place !== mine) region.insertBefore(mine, place);
    last = mine;
  }
};

// A stream tells that something changed; how often we look is bounded, however often it says so.
execkit.listen = (path, onEvent) => {
  let source = null;
  const status = document.getElementById("live-state");
  const open = () => {
    if (source) return;
    source = new EventSource(execkit.base + path);
    source.onopen = () => {
      if (status) status.hidden = true;
      if (onEvent.change) onEvent.change(); // what changed before anybody listened
    };
    source.onerror = () => {
      if (status) status.hidden = false;
      if (source.readyState === EventSource.CLOSED) { source = null; setTimeout(open, 3000); }
    };
    for (const [name, act] of Object.entries(onEvent)) source.addEventListener(name, (event) => act(event));
  };
  open();
  return { close: () => { if (source) source.close(); source = null; }, open };
};
execkit.throttle = (work, pauseMs) => {
  let waiting = false, again = false;
  const run = () => {
    if (waiting) { again = true; return; }
    waiting = true;
    work();
    setTimeout(() => { waiting = false; if (again) { again = false; run(); } }, pauseMs);
  };
  return run;
};

if (document.body.dataset.listen) {
  const isInbox = document.body.dataset.listen === "/events";
  const look = execkit.throttle(() => execkit.refresh(), isInbox ? 300 : 700); // who watches leaves the machine alone
  const stream = execkit.listen(document.body.dataset.listen, {
    change: look,
    end: () => { stream.close(); location.reload(); },
  });
  // A page that nobody looks at asks for nothing, apart from the inbox, whose title tells how many wait.
  if (!isInbox) {
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) stream.close(); else { stream.open(); look(); }
    });
  }
}

for (const area of document.querySelectorAll("[data-submit-on-enter]")) {
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      area.form.requestSubmit();
    }
  });
}
