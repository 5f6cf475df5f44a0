// In the main world of pages and workers, before their first instruction: reports how each WebSocket was closed, which
// the browser tells nobody else. The protocol reports the sockets in the order in which they are made.
((bindingName) => {
  "use strict";
  const report = globalThis[bindingName];
  delete globalThis[bindingName];
  if (typeof report !== "function" || typeof WebSocket !== "function") return;
  const { apply, construct } = Reflect, { stringify } = JSON;
  const listen = EventTarget.prototype.addEventListener;
  const own = (name) => Object.getOwnPropertyDescriptor(CloseEvent.prototype, name).get;
  const code = own("code"), reason = own("reason");
  const closedByPage = new WeakSet(), { add, has } = WeakSet.prototype;
  let count = 0;
  const Wrapped = new Proxy(WebSocket, {
    construct(target, supplied, made) {
      const socket = construct(target, supplied, made), number = ++count;
      report(stringify([number]));
      apply(listen, socket, ["close", (event) => {
        report(stringify([number, apply(code, event, []), apply(reason, event, []), apply(has, closedByPage, [socket])]));
      }]);
      return socket;
    },
  });
  WebSocket.prototype.close = new Proxy(WebSocket.prototype.close, {
    apply(target, socket, supplied) {
      apply(target, socket, supplied); // which refuses what it should
      apply(add, closedByPage, [socket]);
    },
  });
  WebSocket.prototype.constructor = Wrapped;
  globalThis.WebSocket = Wrapped;
})("NAME");
