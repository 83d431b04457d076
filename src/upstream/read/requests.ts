import { detailName } from '../cache/delivered.js';
import { versionOf } from '../cache/validators.js';
import { segment } from '../http/address.js';
import type { Read } from './read.js';
import type { ReadRequest, Request } from './request.js';

/** A request without the handling of its response. */
export type Frame = Request & Pick<ReadRequest<unknown>, 'kind'>;

/** The handling of a response. */
type Handling<T> = Omit<ReadRequest<T>, keyof Frame>;

/** Makes the requests of one interface. @param names wire parameter → argument of the graph, for messages */
export function requestsOf(names: Request['arguments']) {
  /** A request below one resource; null where no resource can have this id. */
  function frame(endpoint: string, kind: Frame['kind'], id: string, rest?: Partial<Frame>): Frame | null {
    const name = segment(id);
    if (name === null) return null;
    const path = endpoint.replace(/\{\w+\}/, () => name);
    return { endpoint, path, parameters: {}, kind, list: false, arguments: names, ...rest };
  }
  return {
    frame,
    list: (path: string, kind: Frame['kind'], parameters: Frame['parameters']): Frame => {
      return { endpoint: path, path, parameters, kind, list: true, arguments: names };
    },
    single<T>(
      endpoint: string,
      kind: Frame['kind'],
      id: string,
      handling: Handling<T>,
    ): ReadRequest<T> | null {
      const request = frame(endpoint, kind, id);
      return request && { ...request, ...handling };
    },
  };
}

/** A list is never absent: the pipeline throws `Forbidden` instead. */
export function present<T>(read: Read<T> | null): Read<T> {
  if (read === null) throw new Error('A list cannot be absent');
  return read;
}

/** An event as a list shows it: another solution changes the version. */
export function listedEvent(event: { readonly id: string }): readonly [listedAs: string, version: string] {
  return [detailName('event', event.id), versionOf(event)];
}
