import { useEffect } from 'react';

/** Names the view in the tab, the history and the list of bookmarks. */
export function useTitle(view: string): void {
  useEffect(() => {
    document.title = `${view} · seisgraph`;
  }, [view]);
}
