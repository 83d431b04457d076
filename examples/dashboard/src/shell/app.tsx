import { Suspense, useEffect, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { type Credentials, openSession } from '../data/session.js';
import { WorldContext } from '../data/use-world.js';
import { openWorld, type World } from '../data/world.js';
import { Live } from '../live/live.js';
import { LanguageContext, languageOfBrowser, useTexts } from '../texts/texts.js';
import { Boundary } from './boundary.js';
import { CredentialForm } from './credential-form.js';
import { Earthquake, Fleet, readAhead, Sensor } from './later.js';
import { NotFound } from './not-found.js';
import { hrefOf, type Route, useRoute } from './route.js';
import { StatusBar } from './status-bar.js';

const noCredentials: Credentials = { authorization: '', catalogueKey: '' };

export function App() {
  const [language, setLanguage] = useState(languageOfBrowser);
  const [credentials, setCredentials] = useState(noCredentials);
  const [world, setWorld] = useState<World | null>(null);
  const session = useMemo(() => openSession(credentials), [credentials]);
  // Before the browser paints: without a world there is nothing to be seen, not even what the page came with.
  useLayoutEffect(() => {
    const opened = openWorld(session);
    setWorld(opened);
    return () => opened.close();
  }, [session]);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  useEffect(readAhead, []);
  const context = useMemo(() => world && { session, world }, [session, world]);
  if (!context) return null;
  return (
    <LanguageContext value={language}>
      <WorldContext value={context}>
        <Shell
          world={context.world}
          hasCredentials={credentials !== noCredentials}
          onLanguage={setLanguage}
          onCredentials={setCredentials}
        />
      </WorldContext>
    </LanguageContext>
  );
}

interface ShellProps {
  readonly world: World;
  readonly hasCredentials: boolean;
  readonly onLanguage: (language: string) => void;
  readonly onCredentials: (credentials: Credentials) => void;
}

function Shell({ world, hasCredentials, onLanguage, onCredentials }: ShellProps) {
  const texts = useTexts();
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const isRefused = useSyncExternalStore(world.subscribe, () => world.state().connection === 'refused');
  const shown = `${route.page}/${route.id}`;
  const before = useRef(shown);
  useEffect(() => {
    // After a link the keyboard and the screen reader go on in the new view.
    if (before.current !== shown) main.current?.focus({ preventScroll: true });
    before.current = shown;
    globalThis.scrollTo(0, 0);
  }, [shown]);
  const here = (page: Route['page']) => (route.page === page ? 'page' : undefined);
  return (
    <>
      {/* A button, since the part of the address behind # is the route. */}
      <button type="button" className="skip" onClick={() => main.current?.focus()}>
        {texts.skip}
      </button>
      <header>
        <a className="brand" href={hrefOf('live')}>
          <img src="./icon.svg" alt="" width="26" height="26" /> seisgraph
        </a>
        <nav aria-label={texts.navigation}>
          <a href={hrefOf('live')} aria-current={here('live')}>
            {texts.live}
          </a>
          <a href={hrefOf('stations')} aria-current={here('stations')}>
            {texts.fleet}
          </a>
          <a href="../graphql">{texts.graph}</a>
        </nav>
        <button
          type="button"
          className="plain"
          lang={texts.languageCode}
          onClick={() => onLanguage(texts.languageCode)}
        >
          {texts.language}
        </button>
        <StatusBar />
      </header>
      <main id="content" ref={main} tabIndex={-1} className={`view-${route.page}`}>
        {isRefused ? (
          <CredentialForm isRefused={hasCredentials} onSend={onCredentials} />
        ) : (
          <Boundary key={shown}>
            <Suspense fallback={<p className="muted">{texts.loading}</p>}>
              <View route={route} />
            </Suspense>
          </Boundary>
        )}
      </main>
    </>
  );
}

function View({ route: { page, id, parameters } }: { readonly route: Route }) {
  const texts = useTexts();
  if (page === 'stations') return <Fleet parameters={parameters} />;
  if (page === 'sensors') return <Sensor key={id} id={id} parameters={parameters} />;
  if (page === 'earthquakes') return <Earthquake key={id} id={id} />;
  return page === 'live' ? <Live /> : <NotFound title={texts.nowhere} />;
}
