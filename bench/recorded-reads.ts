import type { CatalogueClient } from '../src/upstream/catalogue/client.js';
import type { ProjectClient } from '../src/upstream/project/client.js';
import type { Read, ReadScope } from '../src/upstream/read/read.js';

/** One read as the graph made it. */
export interface RecordedRead {
  readonly name: string;
  readonly again: (scope: ReadScope) => Promise<Read<unknown> | null>;
}

const notReads: ReadonlySet<string | symbol> = new Set<keyof ProjectClient | keyof CatalogueClient>([
  'status',
  'mayServeCached',
  'delivering',
  'discardCache',
  'close',
  'servesDelivered',
  'hasTriggersAtHand',
  'largestEventPage',
  'waveformStream',
]);

/** The same client, whose reads are noted where `note` says. */
export function recording<Client extends ProjectClient | CatalogueClient>(
  client: Client,
  note: (read: RecordedRead) => void,
): Client {
  return new Proxy(client, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function' || notReads.has(name)) return method;
      return (...args: readonly unknown[]) => {
        const own = args.at(-1) as ReadScope;
        const { maxAgeMs } = own;
        note({
          name: String(name),
          again: (scope) => method.call(target, ...args.slice(0, -1), { ...scope, maxAgeMs }),
        });
        return method.call(target, ...args);
      };
    },
  });
}
