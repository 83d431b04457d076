import {
  Environment,
  type FetchFunction,
  Network,
  Observable,
  RecordSource,
  Store,
  type SubscribeFunction,
} from 'relay-runtime';
import { createSocket } from '../socket.js';
import { payloadsOf } from './parts.js';

const acceptParts = 'multipart/mixed;deferSpec=20220824, application/graphql-response+json';

/** Operations are named by the ids that the compiler wrote to its manifest; their texts are not in the page. */
export function createEnvironment(gateway: string): Environment {
  const socket = createSocket(gateway);

  const fetchQuery: FetchFunction = ({ id }, variables) =>
    Observable.create((sink) => {
      const leaving = new AbortController();
      const send = async () => {
        const response = await fetch(`${gateway}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept: acceptParts },
          body: JSON.stringify({ documentId: id, variables }),
          signal: leaving.signal,
        });
        for await (const payload of payloadsOf(response)) sink.next(payload);
      };
      send().then(sink.complete, sink.error);
      return () => leaving.abort();
    });

  const subscribe: SubscribeFunction = ({ id }, variables) =>
    Observable.create((sink) => {
      // The protocol wants a text; the gateway takes an empty one with an id.
      const payload = { query: '', documentId: id, variables };
      return socket.subscribe(payload, {
        // A subscription that ends with an error, such as an expired cursor, has it in a last result without data.
        next: (result) =>
          result.data
            ? sink.next(result as Parameters<typeof sink.next>[0])
            : sink.error(new LiveError(result.errors)),
        error: (problem) => sink.error(problem instanceof Error ? problem : new LiveError(problem)),
        complete: () => sink.complete(),
      });
    });

  return new Environment({
    network: Network.create(fetchQuery, subscribe),
    store: new Store(new RecordSource()),
    // What a list has read is there for `node(id:)` too, without a request.
    missingFieldHandlers: [
      {
        kind: 'linked',
        handle: (field, _record, { id }) =>
          field.name === 'node' || field.name === 'trigger' ? id : undefined,
      },
    ],
  });
}

/** The errors with which the gateway ended a subscription, as Relay passes nothing but an Error on. */
export class LiveError extends Error {
  readonly problems: readonly unknown[];

  constructor(problems: unknown) {
    super('The subscription has ended');
    this.problems = Array.isArray(problems) ? problems : [];
  }
}
