// What the attack pages share. The address's fragment says where the listener
// is and, more than a real page would know, which tokens open it.
const arg = new URLSearchParams(location.hash.slice(1));
const host = "127.0.0.1:" + arg.get("port");
const wrong = "A".repeat(43);
const me = location.pathname.split("/").pop().replace(/\..*/, "");
const query = "number=0698760011&a=" + me;
const ring = "http://" + host + "/v1/call/" + arg.get("path") + "?" + query;
const wrongRing = "http://" + host + "/v1/call/" + wrong + "?" + query;
const events = "ws://" + host + "/v1/events?" + query;
const event = JSON.stringify({event: "call", state: "ringing", number: "0698760011", id: me});
function socket(url, ...protocols) {
  const s = new WebSocket(url, protocols);
  s.onopen = () => s.send(event);
}
function put(tag, set) {
  const e = Object.assign(document.createElement(tag), set);
  (document.body || document.head).append(e);
  return e;
}
function form(method, action, target) {
  const f = put("form", {method: method, action: action, target: target || ""});
  for (const [k, v] of new URLSearchParams(query)) {
    f.append(Object.assign(document.createElement("input"), {name: k, value: v}));
  }
  f.submit();
}
