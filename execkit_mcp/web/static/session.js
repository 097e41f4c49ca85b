// A live session: the end of the transcript stays in view for as long as the person is there.
"use strict";

(() => {
  const NEAR = 120;
  let isAtEnd = true;
  const end = () => document.documentElement.scrollHeight - innerHeight - scrollY < NEAR;
  const tails = new WeakSet(); // what the person has scrolled back in stays where it is
  const follow = () => {
    for (const output of document.querySelectorAll(".output")) {
      if (!tails.has(output)) output.scrollTop = output.scrollHeight;
      tails.add(output);
    }
    if (isAtEnd) scrollTo(0, document.documentElement.scrollHeight);
  };
  if (document.body.dataset.listen) {
    follow();
    addEventListener("scroll", () => { isAtEnd = end(); }, { passive: true });
    document.addEventListener("execkit:fresh", follow);
  }
})();
