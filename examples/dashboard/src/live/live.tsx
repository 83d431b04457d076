import { Suspense, useMemo } from 'react';
import { useWorld } from '../data/use-world.js';
import { AsOf } from '../shell/as-of.js';
import { Boundary } from '../shell/boundary.js';
import { WorldMap } from '../shell/later.js';
import { Problem } from '../shell/problem.js';
import { useTitle } from '../shell/title.js';
import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';
import { EarthquakeList } from './earthquake-list.js';
import { TriggerList } from './trigger-list.js';

/** The present: the map, the latest earthquakes, and the triggers as they come. */
export function Live() {
  const texts = useTexts();
  const { project, sensors, problems } = useWorld();
  useTitle(texts.live);
  const [online, isMasked] = useMemo(() => {
    const all = [...sensors.values()];
    return [
      all.filter(({ status }) => status === 'ONLINE').length,
      all.some(({ location }) => location?.masked),
    ];
  }, [sensors]);
  return (
    <>
      <section className="live-map" aria-labelledby="live-title">
        <div className="title">
          <h1 id="live-title">{project?.name ?? texts.live}</h1>
          {sensors.size > 0 && (
            <span>
              <a href="#/stations">{texts.stationsOnline(online, sensors.size)}</a>
              <AsOf />
            </span>
          )}
        </div>
        {problems.sensors && <Problem faults={problems.sensors} />}
        {isMasked && <p className="note">{texts.maskedNote}</p>}
        <Boundary>
          <Suspense fallback={<div className="map" />}>
            <WorldMap />
          </Suspense>
        </Boundary>
      </section>
      <div className="live-lists">
        <EarthquakeList />
        <TriggerList />
      </div>
      <Announcement />
    </>
  );
}

/** Tells a screen reader of the latest earthquake, and not of every trigger. */
function Announcement() {
  const texts = useTexts();
  const format = useFormat();
  const [latest] = useWorld().events;
  return (
    <div className="hidden" aria-live="polite">
      {latest && texts.announce(format.number(latest.magnitude, 1), latest.place ?? texts.unknownPlace)}
    </div>
  );
}
