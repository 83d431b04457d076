import { useTexts } from '../texts/texts.js';
import { hrefOf } from './route.js';
import { useTitle } from './title.js';

interface NotFoundProps {
  readonly title: string;
}

/** For a link to what is not there, or no longer. */
export function NotFound({ title }: NotFoundProps) {
  const texts = useTexts();
  useTitle(title);
  return (
    <section className="section" aria-labelledby="nowhere-title">
      <h1 id="nowhere-title">{title}</h1>
      <p>{texts.notFound}</p>
      <p>
        <a href={hrefOf('live')}>{texts.backToLive}</a> · <a href={hrefOf('stations')}>{texts.allStations}</a>
      </p>
    </section>
  );
}
