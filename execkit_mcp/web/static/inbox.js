// Keys of the inbox. A key acts only on a card that has been in front of the person for a moment: neither a key that is
// held down, nor a second press meant for the card before, nor a click on what has just slid into place answers anything.
"use strict";

(() => {
  const SETTLE_MS = 400;
  const seen = new WeakMap(); // card → when it came into focus or onto the page
  const cards = () => [...document.querySelectorAll("article.approval:not(.gone)")];
  const current = () => document.activeElement && document.activeElement.closest("article.approval:not(.gone)");
  const settled = (card) => performance.now() - (seen.get(card) ?? Infinity) > SETTLE_MS;
  const toggle = document.getElementById("keys-on");
  const dialog = document.getElementById("keys");

  toggle.checked = localStorage.getItem("execkit-keys") !== "off";
  toggle.addEventListener("change", () => localStorage.setItem("execkit-keys", toggle.checked ? "on" : "off"));
  document.getElementById("show-keys").addEventListener("click", () => dialog.showModal());

  const meet = (card) => {
    seen.set(card, performance.now());
    card.classList.add("fresh");
    setTimeout(() => { if (settled(card)) card.classList.remove("fresh"); }, SETTLE_MS + 20);
  };
  const notice = () => { for (const card of cards()) if (!seen.has(card)) meet(card); };
  notice();
  document.addEventListener("execkit:fresh", notice);

  const go = (card) => {
    if (!card) return;
    if (current() !== card) meet(card);
    card.focus({ preventScroll: true });
    const box = card.getBoundingClientRect();
    if (box.top < 60 || box.bottom > innerHeight) card.scrollIntoView({ block: box.height > innerHeight - 80 ? "start" : "nearest" });
  };
  const move = (step) => {
    const all = cards();
    if (!all.length) return;
    const at = all.indexOf(current());
    go(at < 0 ? all[step > 0 ? 0 : all.length - 1] : all[Math.min(all.length - 1, Math.max(0, at + step))]);
  };
  const press = (card, key) => {
    const target = card.querySelector(`[data-key="${key}"]`);
    if (!target) return;
    const code = target.form && target.form.elements.code;
    if (code && !code.value) { code.focus(); return; }
    target.form.requestSubmit(target);
  };
  const act = {
    j: () => move(1),
    k: () => move(-1),
    d: (card) => card.querySelector('[data-key="d"]').focus(),
    e: (card) => {
      const edit = card.querySelector('[data-key="e"]');
      edit.open = true;
      edit.querySelector("textarea").focus();
    },
  };
  for (const key of "asu") act[key] = (card) => { if (settled(card)) press(card, key); };

  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input, textarea, select");
    if (event.key === "Escape" && typing) {
      const card = event.target.closest("article.approval");
      if (card) card.focus(); else event.target.blur();
      return;
    }
    if (typing || event.repeat || event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
    if (event.key === "?") { event.preventDefault(); dialog.showModal(); return; }
    if (!toggle.checked || !Object.hasOwn(act, event.key)) return;
    event.preventDefault();
    if (event.key === "j" || event.key === "k") { act[event.key](); return; }
    const card = current();
    if (!card) { move(1); return; } // the first press only shows what would be answered
    sessionStorage.setItem("execkit-by-key", "1");
    act[event.key](card);
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest('button[name="answer"]');
    const card = button && button.closest("article.approval");
    if (card && performance.now() - (seen.get(card) ?? 0) < SETTLE_MS && event.detail > 0) event.preventDefault();
  }, true);

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "1";
  });

  // Who answers by keys goes on with the next card.
  if (sessionStorage.getItem("execkit-by-key")) {
    sessionStorage.removeItem("execkit-by-key");
    move(1);
  }
})();
