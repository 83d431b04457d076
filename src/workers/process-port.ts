import type { EventEmitter } from 'node:events';
import type { MessagePort } from '../store/hub/channel.js';

/** A forked child process, or `process` within the child. */
type ProcessEnd = Pick<EventEmitter, 'on'> & Pick<NodeJS.Process, 'connected' | 'send'>;

export function processPort(end: ProcessEnd): MessagePort {
  return {
    post(message) {
      // A message that cannot be sent is dropped: the sender is notified of the close.
      if (end.connected) end.send?.(message, undefined, undefined, () => {});
    },
    onMessage: (listener) => void end.on('message', listener),
    onClose(listener) {
      end.on('disconnect', () => listener());
      // Node emits no 'disconnect' for a child that dies while a connection is being sent to it; 'close' always
      // follows, after all messages of the child have been read.
      end.on('close', () => listener());
    },
  };
}
