import type { Source } from '../operations/operations.js';

/** Why something could not be read: a code of docs/frontends.md#errors, and the interface that it is of. */
export interface Fault {
  readonly code: string;
  readonly source?: Source;
}
