/**
 * Script of the GraphiQL page that sends its operations: queries by POST, which takes answers in parts, subscriptions over
 * WebSocket, both with the headers of the headers editor. GraphiQL's own fetcher does not put them into `connection_init`,
 * so that subscriptions would fail under every AUTH_MODE but `none` (docs/behaviour.md 7).
 */
export const graphiqlFetcher = String.raw`
function gatewayFetcher({ query, variables, operationName }, { headers = {} } = {}) {
  const operations = operationsIn(query);
  // For a moment after a change of tab GraphiQL gives the operation name of the tab before, and its syntax tree.
  const name = operations.length > 1 ? operationName : operations[0] && operations[0].name;
  const chosen = operations.length > 1 ? operations.find((operation) => operation.name === name) : operations[0];
  const payload = { query, variables, operationName: name };
  return chosen && chosen.type === 'subscription' ? subscribe(payload, headers) : post(payload, headers);
}

// Enough of a parser to find the operations: without strings, comments and all that is in brackets, definitions are left.
function operationsIn(query) {
  let text = query.replace(/"""(?:\\"""|[^])*?"""|"(?:\\.|[^"\\\n])*"|#.*/g, '');
  for (let outer; (outer = text.replace(/{[^{}()]*}|[(][^{}()]*[)]/g, ';')) !== text; ) text = outer;
  const definitions = text.matchAll(/(?<![@\w])(fragment|query|mutation|subscription)\b\s*(\w*)/g);
  return [...definitions]
    .map(([, type, name]) => ({ type, name: name || undefined }))
    .filter(({ type }) => type !== 'fragment');
}

async function post(payload, headers) {
  const leaving = new AbortController();
  const response = await fetch(location.pathname, {
    method: 'POST',
    headers: {
      accept: 'multipart/mixed;deferSpec=20220824, application/graphql-response+json, application/json',
      ...headers,
      'content-type': 'application/json',
    },
    body: JSON.stringify(payload),
    signal: leaving.signal,
  });
  if (!(response.headers.get('content-type') ?? '').startsWith('multipart/')) return response.json();
  return {
    subscribe(observer) {
      readParts(response, (part) => observer.next(part)).then(
        () => observer.complete(),
        (error) => leaving.signal.aborted || observer.error(error),
      );
      return { unsubscribe: () => leaving.abort() };
    },
  };
}

// The parts of an answer with @defer or @stream, which GraphiQL puts together. JSON has no line breaks within its texts.
async function readParts(response, tell) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let step; !(step = await reader.read()).done; ) {
    const parts = (text + step.value).split('\r\n---');
    text = parts.pop();
    for (const part of parts.filter(Boolean)) tell(JSON.parse(part.slice(part.indexOf('{'))));
  }
  if (text !== '--\r\n') throw new Error('The answer broke off before its last part');
}

function subscribe(payload, headers) {
  const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const credentials = { authorization: given['authorization'], catalogueKey: given['x-catalogue-key'] };
  return {
    subscribe(observer) {
      const socket = new WebSocket(location.origin.replace(/^http/, 'ws') + location.pathname, 'graphql-transport-ws');
      const send = (message) => socket.send(JSON.stringify(message));
      let isOver = false;
      const end = (tell) => {
        if (isOver) return;
        isOver = true;
        tell();
        socket.close(1000);
      };
      socket.onopen = () => send({ type: 'connection_init', payload: credentials });
      socket.onclose = ({ code, reason }) =>
        end(() => observer.error({ message: 'The socket was closed: ' + code + ' ' + reason }));
      socket.onmessage = ({ data }) => {
        const message = JSON.parse(data);
        if (message.type === 'connection_ack') send({ id: '1', type: 'subscribe', payload });
        if (message.type === 'ping') send({ type: 'pong' });
        if (message.type === 'next') observer.next(message.payload);
        if (message.type === 'error') end(() => observer.error({ errors: message.payload }));
        if (message.type === 'complete') end(() => observer.complete());
      };
      return { unsubscribe: () => end(() => {}) };
    },
  };
}
`;
