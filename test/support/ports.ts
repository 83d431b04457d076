import { MessageChannel } from 'node:worker_threads';
import type { MessagePort } from '../../src/store/hub/channel.js';

/** Both ends of one way, within this process. */
export interface PortPair {
  readonly ends: readonly [MessagePort, MessagePort];
  /** As when one of two processes ends. */
  close(): void;
}

/** Messages go through the event loop, as those between processes do. */
export function messagePorts(): PortPair {
  const { port1, port2 } = new MessageChannel();
  const endOf = (port: typeof port1): MessagePort => ({
    post: (message) => port.postMessage(message),
    onMessage(listener) {
      port.on('message', listener);
      // It must not keep the process alive.
      port.unref();
    },
    onClose: (listener) => void port.once('close', listener),
  });
  return { ends: [endOf(port1), endOf(port2)], close: () => port1.close() };
}

/** Messages arrive before time goes on: for tests that drive the clock. */
export function instantPorts(): PortPair {
  const listeners: [((message: unknown) => void)[], ((message: unknown) => void)[]] = [[], []];
  const closing: (() => void)[] = [];
  let isOpen = true;
  const endOf = (own: 0 | 1): MessagePort => ({
    post(message) {
      const copy = structuredClone(message);
      queueMicrotask(() => {
        if (isOpen) for (const listener of listeners[own === 0 ? 1 : 0]) listener(copy);
      });
    },
    onMessage: (listener) => void listeners[own].push(listener),
    onClose: (listener) => void closing.push(listener),
  });
  return {
    ends: [endOf(0), endOf(1)],
    close() {
      if (!isOpen) return;
      isOpen = false;
      for (const listener of closing) listener();
    },
  };
}
