/** As V8's profiler writes it. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** Ids of nodes, each of which was on top of the stack for the time given at the same place. */
  readonly samples: readonly number[];
  /** Microseconds since the sample before. */
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
}

const other = 'other';

// The first that matches the function's file, or its name where V8 gives no file.
const rules: readonly (readonly [layer: string, matches: RegExp])[] = [
  ['garbage collection', /^\(garbage collector\)$/],
  // The kernel and sockets; also the time for which another process had the core.
  ['outside JavaScript', /^\(program\)$/],
  [
    'AbortSignal, URL, events, DOMException',
    /^node:internal\/(abort_controller|url|event_target|per_context\/domexception|webidl)/,
  ],
  ['Node http, net, streams', /^node:/],
  ['executor', /\/node_modules\/@graphql-tools\/executor\/|\/dist\/server\/execution\/(execut|compil)/],
  ['serialising', /\/dist\/.*(json-pieces|serialis)/],
  [
    'Yoga and its fetch objects',
    /\/node_modules\/(graphql-yoga|@graphql-yoga|@whatwg-node|@envelop|@graphql-tools)\//,
  ],
  ['graph, Pothos, graphql-js', /\/dist\/graph\/|\/node_modules\/(@pothos|graphql)\//],
  ['server', /\/dist\/server\//],
  ['unify', /\/dist\/unify\//],
  ['upstream, store', /\/dist\/(upstream|store)\/|\/node_modules\/(undici|lru-cache)\//],
  [other, /^file:|\//],
  // What remains has no file: V8 itself, and built-in functions that were not inlined.
  ['native', /^/],
];

export const layers: readonly string[] = [...new Set(rules.map(([layer]) => layer))].sort(
  (a, b) => Number(a === other) - Number(b === other),
);

/** Percent of the time that was not idle, by layer. */
export function sharesOf({ nodes, samples, timeDeltas }: CpuProfile): Map<string, number> {
  const layerById = new Map(nodes.map((node) => [node.id, layerOf(node)]));
  const tookUs = new Map<string, number>();
  let busyUs = 0;
  samples.forEach((id, index) => {
    const layer = layerById.get(id);
    if (layer === undefined || layer === null) return;
    const us = timeDeltas[index] ?? 0;
    busyUs += us;
    tookUs.set(layer, (tookUs.get(layer) ?? 0) + us);
  });
  return new Map([...tookUs].map(([layer, us]) => [layer, (100 * us) / busyUs]));
}

function layerOf({ callFrame: { functionName, url } }: ProfileNode): string | null {
  if (functionName === '(idle)' || functionName === '(root)') return null;
  const place = url || functionName;
  return rules.find(([, matches]) => matches.test(place))?.[0] ?? other;
}
