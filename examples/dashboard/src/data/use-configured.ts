import type { Source } from '../operations/operations.js';
import { useWorld } from './use-world.js';

/** Whether the gateway has the interface; true as long as that is not known. */
export function useConfigured(source: Source): boolean {
  const { gateway } = useWorld();
  return gateway?.interfaces.find((one) => one.source === source)?.configured ?? true;
}
