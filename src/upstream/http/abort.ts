import { setMaxListeners } from 'node:events';

/**
 * Runs `run` when the signal is aborted, at once if it is already; call the result to stop listening. A hundred reads
 * of one operation listen to one signal, which Node would otherwise report as a leak at the eleventh.
 */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  if (signal.aborted) {
    run();
    return () => {};
  }
  setMaxListeners(0, signal);
  signal.addEventListener('abort', run, { once: true });
  return () => signal.removeEventListener('abort', run);
}
