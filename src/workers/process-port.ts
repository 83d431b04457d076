import type { EventEmitter } from 'node:events';
import type { MessagePort } from '../store/hub/channel.js';

/** A process that was forked, or in that process the way to the one that has forked it. */
type ProcessEnd = Pick<EventEmitter, 'on'> & Pick<NodeJS.Process, 'connected' | 'send'>;

export function processPort(end: ProcessEnd): MessagePort {
  return {
    post(message) {
      // What cannot be sent any more is nobody's: its sender hears that the port is closed.
      if (end.connected) end.send?.(message, undefined, undefined, () => {});
    },
    onMessage: (listener) => void end.on('message', listener),
    onClose(listener) {
      end.on('disconnect', () => listener());
      // Node leaves out 'disconnect' for a child that dies while it is sent a connection; 'close' comes in any case, when all
      // that the child had sent has been read.
      end.on('close', () => listener());
    },
  };
}
