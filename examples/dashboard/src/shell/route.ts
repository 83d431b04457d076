import { useSyncExternalStore } from 'react';

export type Page = 'live' | 'stations' | 'sensors' | 'earthquakes';

/** The view that the address names. It is behind the #, so that the page can lie under any path. */
export interface Route {
  readonly page: Page;
  readonly id: string;
  readonly parameters: URLSearchParams;
}

export function hrefOf(page: Page, id = '', parameters: Readonly<Record<string, string>> = {}): string {
  const search = new URLSearchParams(parameters).toString();
  const path = page === 'live' ? '' : id === '' ? page : `${page}/${encodeURIComponent(id)}`;
  return `#/${path}${search && `?${search}`}`;
}

export function useRoute(): Route {
  return routeOf(useSyncExternalStore(subscribe, () => globalThis.location.hash));
}

function routeOf(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?');
  const [page = '', id = ''] = path.split('/');
  const parameters = new URLSearchParams(search);
  const isPage = page === 'stations' || ((page === 'sensors' || page === 'earthquakes') && id !== '');
  return { page: isPage ? page : 'live', id: decoded(id), parameters };
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
