import { useTexts } from '../texts/texts.js';

interface LegendProps {
  readonly isMasked: boolean;
  readonly withoutPosition: number;
}

export function Legend({ isMasked, withoutPosition }: LegendProps) {
  const texts = useTexts();
  return (
    <details className="legend card" open={globalThis.innerWidth > 1_600}>
      <summary>{texts.legend}</summary>
      <ul>
        <li>
          <Triangle className="online" /> {texts.online}
        </li>
        <li>
          <Triangle className="offline" /> {texts.offline}
        </li>
        <li>
          <svg viewBox="-10 -10 20 20" aria-hidden="true">
            <circle r="8" className="lit-disc" />
            <path d="M0 -5L4.5 3.5H-4.5Z" className="lit" />
          </svg>
          {texts.shakingNow}
        </li>
        <li>
          <svg viewBox="-10 -10 20 20" aria-hidden="true">
            <circle r="8" className="cluster" />
            <text y="3" textAnchor="middle" className="count">
              9
            </text>
          </svg>
          {texts.clusterLegend}
        </li>
        {isMasked && (
          <li>
            <svg viewBox="-10 -10 20 20" aria-hidden="true">
              <circle r="8" className="uncertain" />
            </svg>
            {texts.masked}
          </li>
        )}
        <li>
          <svg viewBox="-10 -10 20 20" aria-hidden="true">
            <circle r="7" className="event" />
          </svg>
          {texts.eventLegend}
        </li>
        <li>
          <svg viewBox="-10 -10 20 20" aria-hidden="true">
            <path d="M-9 -3H9" className="wave-p" />
            <path d="M-9 4H9" className="wave-s" />
          </svg>
          {texts.waves}
        </li>
      </ul>
      {withoutPosition > 0 && <p className="muted">{texts.withoutPosition(withoutPosition)}</p>}
    </details>
  );
}

const Triangle = ({ className }: { readonly className: string }) => (
  <svg viewBox="-10 -10 20 20" aria-hidden="true">
    <path d="M0 -7L7 6H-7Z" className={className} />
  </svg>
);
