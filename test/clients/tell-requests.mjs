// Loaded before a page: its requests over HTTP go to stdout, beside what it shows.
const send = globalThis.fetch;
globalThis.fetch = (url, init = {}) => {
  const headers = Object.fromEntries(new Headers(init.headers));
  console.log(JSON.stringify({ request: { headers, body: String(init.body ?? '') } }));
  return send(url, init);
};
