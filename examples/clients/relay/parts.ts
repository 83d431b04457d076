import { meros } from 'meros/browser';
import type { GraphQLResponse } from 'relay-runtime';

/** Payload of an answer in parts, as the gateway sends it. */
interface Payload {
  readonly hasNext?: boolean;
  readonly incremental?: readonly Part[];
}

interface Part {
  readonly path: readonly (string | number)[];
  readonly errors?: readonly { readonly path?: readonly (string | number)[] }[];
}

/** An answer whole or in parts, as Relay takes it: a deferred fragment for itself, and the paths of its errors within it. */
export async function* payloadsOf(response: Response): AsyncGenerator<GraphQLResponse> {
  const parts = await meros<Payload>(response);
  if (parts instanceof Response) {
    yield { ...(await parts.json()), extensions: { is_final: true } };
    return;
  }
  for await (const part of parts) {
    if (!part.json) throw new Error('A part of the answer is no JSON');
    const { incremental, hasNext, ...first }: Payload = part.body;
    const extensions = { is_final: !hasNext };
    if (!incremental) yield { ...first, extensions } as unknown as GraphQLResponse;
    else yield incremental.map((one) => ({ ...withinPath(one), extensions })) as never;
  }
}

function withinPath({ errors, ...part }: Part) {
  const within = errors?.map((error) => ({ ...error, path: error.path?.slice(part.path.length) }));
  return within ? { ...part, errors: within } : part;
}
