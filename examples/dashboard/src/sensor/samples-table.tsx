import { Scroll } from '../shell/scroll.js';
import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';

interface SamplesTableProps {
  readonly samples: readonly (number | null)[];
  readonly timeOf: (index: number) => string;
}

/** What the plot shows, for those who cannot see it. */
export function SamplesTable({ samples, timeOf }: SamplesTableProps) {
  const texts = useTexts();
  const format = useFormat();
  return (
    <details>
      <summary>{texts.samplesAsTable}</summary>
      <Scroll label={texts.waveform} className="tall">
        <table>
          <thead>
            <tr>
              <th scope="col">{texts.time}</th>
              <th scope="col" className="number">
                {texts.counts}
              </th>
            </tr>
          </thead>
          <tbody>
            {samples.map((sample, i) => (
              <tr key={timeOf(i)}>
                <th scope="row">{format.precise(timeOf(i))}</th>
                <td className="number">{format.number(sample)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </details>
  );
}
