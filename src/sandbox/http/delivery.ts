import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../clock.js';
import type { Fault } from './faults.js';
import type { Reply, ReplyBody } from './reply.js';
import type { Visit } from './request-log.js';

/** Writes an answer to its client, after whatever trouble the fault makes of it. Ends early when the client leaves. */
export async function deliver(
  reply: Reply,
  fault: Partial<Fault>,
  response: ServerResponse,
  visit: Visit,
  clock: Clock,
): Promise<void> {
  const left = new AbortController();
  response.once('close', () => {
    left.abort();
    visit.abandoned();
  });
  if (fault.latencyMs) await clock.sleep(fault.latencyMs, left.signal).catch(() => {});
  if (left.signal.aborted || fault.hang) return;
  if (fault.drop) {
    visit.answering(null);
    visit.finished();
    response.socket?.resetAndDestroy();
    return;
  }
  const status = fault.status ?? (fault.body === undefined && !fault.wrongBody ? reply.status : 200);
  const body = troubledBody(reply.body, fault);
  visit.answering(status);
  if (body.kind === 'stream' && !fault.truncate) {
    response.writeHead(status, { 'content-type': body.type, ...reply.headers, ...fault.headers });
    await stream(body.chunks, response, left.signal);
    if (left.signal.aborted) return;
    visit.finished();
    response.end();
    return;
  }
  const [type, bytes] = wholeOf(body);
  response.writeHead(status, {
    'content-type': type,
    'content-length': String(bytes.length),
    ...reply.headers,
    ...fault.headers,
  });
  if (fault.truncate) {
    response.write(bytes.subarray(0, bytes.length >> 1), () => response.socket?.destroySoon());
    visit.finished();
    return;
  }
  visit.finished();
  response.end(bytes);
}

/** Chunk by chunk, no faster than the client reads. */
async function stream(
  chunks: Iterable<Uint8Array>,
  response: ServerResponse,
  left: AbortSignal,
): Promise<void> {
  for (const chunk of chunks) {
    if (left.aborted) return;
    if (!response.write(chunk)) await once(response, 'drain', { signal: left }).catch(() => {});
  }
}

function wholeOf(body: ReplyBody): [type: string, bytes: Buffer] {
  switch (body.kind) {
    case 'json':
      return ['application/json; charset=utf-8', Buffer.from(JSON.stringify(body.value))];
    case 'text':
      return [body.type, Buffer.from(body.text)];
    case 'stream':
      return [body.type, Buffer.concat([...body.chunks])];
  }
}

function troubledBody(body: ReplyBody, fault: Partial<Fault>): ReplyBody {
  if (fault.wrongBody) return { kind: 'text', type: 'text/html', text: proxyPage };
  if (fault.body !== undefined)
    return { kind: 'text', type: 'application/json; charset=utf-8', text: fault.body };
  if (fault.rewrite && body.kind === 'json')
    return { kind: 'json', value: fault.rewrite(structuredClone(body.value)) };
  return body;
}

const proxyPage =
  '<!doctype html><html><head><title>Gateway</title></head><body><h1>Please wait</h1></body></html>';
