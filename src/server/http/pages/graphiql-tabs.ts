/**
 * Script of the GraphiQL page that says which tabs it opens with. GraphiQL selects the stored tab that has the initial
 * query and variables, and opens one more where none has, which after a reload was an empty one.
 */
export const graphiqlTabs = `
function openingTabs(readyTabs) {
  const linked = new URLSearchParams(location.search).get('query');
  const storage = ownStorage();
  const [tabs, activeTabIndex] = storedTabs(storage);
  if (tabs.length === 0) {
    const ready = readyTabs.map(ofThePresent);
    return { storage, defaultTabs: linked ? [{ query: linked }, ...ready] : ready, initialQuery: linked ?? undefined };
  }
  const isShown = ({ query }) => !linked || query === linked;
  const shown = [tabs[activeTabIndex] ?? tabs[0], ...tabs].find(isShown) ?? { query: linked };
  return { storage, initialQuery: shown.query ?? '', initialVariables: shown.variables ?? '' };
}

// A minute that the service has by now: at a fixed one it may have had no station yet, and the tab would show nothing.
function ofThePresent(tab) {
  if (!tab.query.includes('$start')) return tab;
  const minutesAgo = (count) => new Date((Math.floor(Date.now() / 60000) - count) * 60000).toISOString();
  return { ...tab, variables: JSON.stringify({ start: minutesAgo(10), end: minutesAgo(9) }, null, 2) };
}

const tabTexts = ['id', 'title', 'query', 'variables', 'headers', 'operationName', 'response'];

// Removes an entry that cannot be read: GraphiQL would leave the ready tabs out.
function storedTabs(storage) {
  const isText = (value) => value === null || typeof value === 'string';
  try {
    const { tabs, activeTabIndex } = JSON.parse(storage.getItem('graphiql:tabState'));
    const isReadable = tabs.length > 0 && tabs.every((tab) => tabTexts.every((text) => isText(tab[text])));
    if (isReadable && typeof activeTabIndex === 'number') return [tabs, activeTabIndex];
  } catch {
    // It is no JSON, or has no tabs.
  }
  storage.removeItem('graphiql:tabState');
  return [[], 0];
}

// Names of its own: another GraphiQL of this origin, or an earlier version, keeps tabs and headers under 'graphiql:'.
function ownStorage() {
  const prefix = 'seisgraph:' + location.pathname + ':';
  const names = () => Object.keys(localStorage).filter((name) => name.startsWith(prefix));
  return {
    getItem: (name) => localStorage.getItem(prefix + name),
    setItem: (name, value) => localStorage.setItem(prefix + name, value),
    removeItem: (name) => localStorage.removeItem(prefix + name),
    clear: () => names().forEach((name) => localStorage.removeItem(name)),
    get length() {
      return names().length;
    },
  };
}
`;

/**
 * GraphiQL leaves a transform on each tab, from its first layout, and hides it until the tab is focused: a tab that is
 * pressed would jump away before it is released, and the click be lost. The tabs wrap, since its own row hides those
 * that have no room, and the scroll bar with them. The line numbers of a long text reach out of their editor, and only
 * a positioned container clips them: the page itself would scroll.
 */
export const graphiqlStyle = `
.graphiql-container { position: relative; }
.graphiql-container .graphiql-tab { transform: none !important; }
.graphiql-container .graphiql-session-header { height: auto; min-height: var(--session-header-height); }
.graphiql-container .graphiql-tabs { flex-wrap: wrap; gap: var(--px-4); overflow: visible; }
.graphiql-container #graphiql-session { min-height: 0; }
`;
