
(function () {
  "use strict";
  // The number stands behind "#", which browsers keep to themselves.
  var raw = location.hash.slice(1);
  try { raw = decodeURIComponent(raw); } catch (e) { raw = ""; }
  var number = raw.replace(/[ .()\-]/g, "");
  var say = document.getElementById("say"), open = document.getElementById("open");
  if (!/^\+?[0-9]{3,20}$/.test(number)) {
    say.textContent = document.documentElement.lang === "en"
      ? "No telephone number came along with this address."
      : "Bij dit adres zat geen telefoonnummer.";
    return;
  }
  // Nothing of the call stays in the address bar or the history.
  history.replaceState(null, "", location.pathname);
  open.href = "wiebelt:call?number=" + encodeURIComponent(number) + "&state=answered";
  open.hidden = false;
  location.href = open.href;
})();
