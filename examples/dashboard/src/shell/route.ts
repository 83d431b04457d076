import { useSyncExternalStore } from 'react';

export type Page = 'live' | 'stations' | 'sensors' | 'earthquakes';

/** The view that the address names. It is behind the #, so that the page can lie under any path. */
export interface Route {
  /** `nowhere` for an address that names no view. */
  readonly page: Page | 'nowhere';
  readonly id: string;
  readonly parameters: URLSearchParams;
}

export function hrefOf(page: Page, id = '', parameters: Readonly<Record<string, string>> = {}): string {
  const search = new URLSearchParams(parameters).toString();
  const path = page === 'live' ? '' : id === '' ? page : `${page}/${encodeURIComponent(id)}`;
  return `#/${path}${search && `?${search}`}`;
}

/** The address of the present view with other parameters; null takes one away. */
export function addressWith(changes: Readonly<Record<string, string | null>>): string {
  const [path = ''] = globalThis.location.hash.split('?');
  const { parameters } = routeOf(globalThis.location.hash);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) parameters.delete(name);
    else parameters.set(name, value);
  }
  const search = parameters.toString();
  return `${path || '#/'}${search && `?${search}`}`;
}

export function useRoute(): Route {
  return routeOf(useSyncExternalStore(subscribe, () => globalThis.location.hash));
}

export function routeOf(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?');
  const [name = '', id = '', ...more] = path.split('/');
  return { page: pageOf(name, id, more), id: decoded(id), parameters: new URLSearchParams(search) };
}

function pageOf(name: string, id: string, more: readonly string[]): Route['page'] {
  if (more.length > 0) return 'nowhere';
  if (name === '') return id === '' ? 'live' : 'nowhere';
  // Where somebody looks for one of the stations, who has seen the address of them all.
  if (name === 'stations') return id === '' ? name : 'sensors';
  return (name === 'sensors' || name === 'earthquakes') && id !== '' ? name : 'nowhere';
}

function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

function subscribe(listener: () => void): () => void {
  globalThis.addEventListener('hashchange', listener);
  return () => globalThis.removeEventListener('hashchange', listener);
}
