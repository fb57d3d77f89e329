importScripts("attack.js");
fetch(ring.replace("a=shared", "a=worker"), {mode: "no-cors"});
