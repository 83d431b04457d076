import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { format } from 'node:util';

/**
 * Everything that the gateway of a test has sent: what went out by its port, whoever asked and however much of it was read,
 * lines of its log, traces. All of that is searched for the secrets that it used and that its clients sent, so that the
 * whole suite is one test of what may not be disclosed. Only what was compressed goes by unseen: GraphiQL's page, which is
 * also sent plain.
 */
export class SecretScan {
  readonly #secrets = new Set<string>();
  #leak: string | null = null;

  constructor(secrets: readonly string[]) {
    for (const secret of secrets) this.addSecret(secret);
  }

  /** What is as short as `abc` can occur by chance; project keys are known by their form. */
  addSecret(secret: string): void {
    if (secret.length >= 8 && !secret.startsWith('svc_sk_')) this.#secrets.add(secret);
  }

  add(text: string): void {
    if (this.#leak !== null) return;
    const found = keyForm.exec(text)?.[0] ?? [...this.#secrets].find((secret) => text.includes(secret));
    if (found === undefined) return;
    const at = text.indexOf(found);
    this.#leak = text.slice(Math.max(0, at - 200), at + found.length);
  }

  /** For a text that comes in pieces: a secret may lie over a join, or over that of two chunks of HTTP. */
  pieces(): (piece: string) => void {
    let before = '';
    return (piece) => {
      const text = before + piece;
      this.add(text.replace(/\r\n[0-9a-f]{1,8}\r\n/gi, ''));
      before = text.slice(-longestSecret);
    };
  }

  /** Scans what is sent by the server of this process at `port`, and which secrets its clients send. */
  scanServer(port: number): void {
    servers.set(port, this);
  }

  /** Scans what this process is sent by the one at `port`. */
  scanResponsesOf(port: number): void {
    answering.set(port, this);
  }

  /** Scans what this process sends to the one at `port`. */
  scanRequestsTo(port: number): void {
    receiving.set(port, this);
  }

  /** @throws when a secret, or anything with the form of one, was sent */
  expectNone(): void {
    if (this.#leak !== null) throw new Error(`The gateway disclosed a secret: …${this.#leak}`);
  }
}

// A project key, or a JWT.
const keyForm = /svc_sk_\w+|\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\./;
const longestSecret = 2_000;

const servers = new Map<number, SecretScan>();
const answering = new Map<number, SecretScan>();
const receiving = new Map<number, SecretScan>();

let isTapped = false;
let isConsoleTapped = false;

/** Taps every connection of this process, whichever client made it. Files that share a process share the taps. */
export function tapConnections(): void {
  if (isTapped) return;
  isTapped = true;
  subscribe('net.server.socket', (message) => {
    const { socket } = message as { socket: Socket };
    tapWrites(socket, () => servers.get(socket.localPort ?? 0));
  });
  subscribe('net.client.socket', (message) => {
    const { socket } = message as { socket: Socket };
    tapWrites(socket, () => receiving.get(socket.remotePort ?? 0));
    tapReads(socket, () => answering.get(socket.remotePort ?? 0));
  });
  subscribe('http.server.request.start', (message) => {
    const { request } = message as { request: IncomingMessage };
    const scan = servers.get(request.socket.localPort ?? 0);
    scan?.addSecret((request.headers.authorization ?? '').replace(/^Bearer +/i, ''));
    scan?.addSecret(String(request.headers['x-catalogue-key'] ?? ''));
  });
}

const onConsole = new SecretScan([]);

/** Scans what a gateway, or a package that it uses, says past its log. */
export function tapConsole(): SecretScan {
  if (isConsoleTapped) return onConsole;
  isConsoleTapped = true;
  for (const method of ['debug', 'info', 'log', 'warn', 'error'] as const) {
    const say = console[method].bind(console);
    console[method] = (...said: unknown[]) => {
      onConsole.add(format(...said));
      say(...said);
    };
  }
  return onConsole;
}

type Chunk = string | Uint8Array;

function tapWrites(socket: Socket, scanOf: () => SecretScan | undefined): void {
  const scanChunk = lazily(scanOf);
  const write = socket._write;
  const writev = socket._writev;
  socket._write = (chunk, encoding, callback) => {
    scanChunk(chunk);
    write.call(socket, chunk, encoding, callback);
  };
  socket._writev = (chunks, callback) => {
    for (const { chunk } of chunks) scanChunk(chunk);
    writev?.call(socket, chunks, callback);
  };
}

function tapReads(socket: Socket, scanOf: () => SecretScan | undefined): void {
  const scanChunk = lazily(scanOf);
  const push = socket.push;
  socket.push = (chunk, encoding) => {
    if (chunk !== null) scanChunk(chunk);
    return push.call(socket, chunk, encoding);
  };
}

// Whose connection it is, is known only when the first bytes go.
function lazily(scanOf: () => SecretScan | undefined): (chunk: Chunk) => void {
  let scanChunk: ((piece: string) => void) | undefined;
  return (chunk) => {
    scanChunk ??= scanOf()?.pieces();
    // Secrets are ASCII: what other characters are taken for does not matter.
    scanChunk?.(
      typeof chunk === 'string'
        ? chunk
        : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1'),
    );
  };
}
