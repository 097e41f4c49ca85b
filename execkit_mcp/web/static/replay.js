// The player. Frames come drawn from the server as rows of text; they are put into the page as text and nothing else.
"use strict";

(() => {
  const player = document.getElementById("player");
  const film = document.getElementById("film");
  const button = document.getElementById("play");
  const seek = document.getElementById("seek");
  const played = document.getElementById("played");
  const clock = document.getElementById("clock");
  const speed = document.getElementById("speed");
  const length = Number(player.dataset.length);
  const marks = [...document.querySelectorAll("#marks li")];
  const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\ue000-\uf8ff]/g;
  const visible = (text) => text.replace(HIDDEN, (c) => `⟨U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);

  let now = 0, isPlaying = false, last = 0, token = 0;
  let stretch = null; // {from, until, next, frames}
  let coming = null; // the stretch behind it
  let rows = [], shown = -1;

  const draw = () => {
    if (!stretch) return;
    const frames = stretch.frames;
    if (shown >= 0 && frames[shown].t > now) { shown = -1; }
    let changed = false;
    while (shown + 1 < frames.length && (shown < 0 || frames[shown + 1].t <= now)) {
      shown += 1;
      const frame = frames[shown];
      if (shown === 0) rows = [];
      rows.length = frame.size[1];
      for (const [number, text] of Object.entries(frame.rows)) rows[Number(number)] = text;
      changed = true;
    }
    if (changed) film.textContent = Array.from(rows, (row) => visible(row ?? "")).join("\n");
  };
  const tell = () => {
    seek.value = now;
    seek.setAttribute("aria-valuetext", `${execkit.span(now)} of ${execkit.span(length)}`);
    played.setAttribute("width", length > 0 ? (now / length) * 1000 : 0);
    clock.textContent = `${execkit.span(now)} of ${execkit.span(length)}`;
    let at = -1;
    marks.forEach((mark, n) => { if (Number(mark.dataset.at) <= now + 0.001) at = n; });
    marks.forEach((mark, n) => mark.classList.toggle("now", n === at));
  };
  const fetchFrom = async (from) => {
    const answer = await fetch(`${player.dataset.frames}?from=${from}`);
    if (!answer.ok) throw new Error(`frames: ${answer.status}`);
    return answer.json();
  };
  const load = async (from) => {
    const mine = ++token;
    coming = null;
    try {
      const found = await fetchFrom(from);
      if (mine !== token) return;
      stretch = found;
      shown = -1;
      draw();
      tell();
      player.dataset.ready = String(mine);
    } catch {
      pause();
      clock.textContent = "The recording cannot be read.";
    }
  };
  const go = (to) => {
    now = Math.min(length, Math.max(0, to));
    if (stretch && now >= stretch.from && now <= stretch.until) { draw(); tell(); } else load(now);
  };
  const step = (time) => {
    if (!isPlaying) return;
    if (stretch && now <= stretch.until) {
      now = Math.min(length, now + ((time - last) / 1000) * Number(speed.value));
      if (stretch.next !== null && !coming && stretch.until - now < 5) coming = fetchFrom(stretch.next).catch(() => null);
    }
    last = time;
    draw();
    tell();
    if (stretch && now >= stretch.until && stretch.next !== null && coming) {
      const mine = token, next = coming;
      coming = null;
      stretch = { ...stretch, until: -1 };
      next.then((found) => {
        if (mine !== token || !found) return;
        stretch = found;
        shown = -1;
      });
    }
    if (now >= length) pause(); else requestAnimationFrame(step);
  };
  const play = () => {
    if (now >= length) { now = 0; load(0); }
    isPlaying = true;
    button.textContent = "Pause";
    last = performance.now();
    requestAnimationFrame(step);
  };
  const pause = () => { isPlaying = false; button.textContent = "Play"; };
  const toMark = (direction) => {
    const times = marks.map((mark) => Number(mark.dataset.at));
    const found = direction > 0 ? times.find((at) => at > now + 0.01) : times.findLast((at) => at < now - 0.25);
    if (found !== undefined) go(found);
    else if (direction < 0) go(0);
  };

  button.addEventListener("click", () => (isPlaying ? pause() : play()));
  document.getElementById("back").addEventListener("click", () => toMark(-1));
  document.getElementById("forth").addEventListener("click", () => toMark(1));
  seek.addEventListener("input", () => go(Number(seek.value)));
  document.addEventListener("click", (event) => {
    const at = event.target.closest("button[data-at]");
    if (at) { go(Number(at.dataset.at) + 0.05); film.scrollIntoView({ block: "nearest" }); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, input:not([type=range])")) return;
    const onButton = event.target.matches("button, a, summary");
    if (event.key === " " && !onButton) { event.preventDefault(); if (isPlaying) pause(); else play(); }
    else if (event.key === "[") toMark(-1);
    else if (event.key === "]") toMark(1);
    else if (event.key === "ArrowLeft" && event.target !== seek) go(now - 5);
    else if (event.key === "ArrowRight" && event.target !== seek) go(now + 5);
  });

  const wanted = location.hash && document.getElementById(location.hash.slice(1));
  const first = wanted && wanted.dataset.at ? wanted : marks[0];
  go(first ? Number(first.dataset.at) + 0.05 : 0);
})();
