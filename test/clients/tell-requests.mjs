import { createRequire } from 'node:module';

// Loaded before a page: its requests over HTTP go to stdout, beside what it shows.
const send = globalThis.fetch;
globalThis.fetch = (url, init = {}) => {
  const headers = Object.fromEntries(new Headers(init.headers));
  console.log(JSON.stringify({ request: { headers, body: String(init.body ?? '') } }));
  return send(url, init);
};

// What comes over its sockets, too: the class is that of the example's own package.
const { WebSocket } = createRequire(`${process.cwd()}/`)('ws');
const { emit } = WebSocket.prototype;
WebSocket.prototype.emit = function (name, data, ...rest) {
  const { payload } = name === 'message' ? JSON.parse(data) : {};
  const change = payload?.data?.triggerChanges;
  if (change) console.log(JSON.stringify({ change }));
  return emit.call(this, name, data, ...rest);
};
