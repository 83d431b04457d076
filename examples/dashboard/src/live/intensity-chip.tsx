import type { TriggerOfListFragment } from '../operations/operations.js';
import { useTexts } from '../texts/texts.js';

/** The numeral says what the colour says, for those who do not see it. */
export function IntensityChip({
  intensity,
}: {
  readonly intensity: TriggerOfListFragment['estimatedIntensity'];
}) {
  const texts = useTexts();
  if (!intensity) return <span className="chip empty">–</span>;
  return (
    <span
      className="chip"
      style={{ background: intensity.color, color: intensity.mmi < 8.5 ? '#10151a' : '#ffffff' }}
      title={`${texts.intensity} ${intensity.roman}`}
    >
      {intensity.roman}
    </span>
  );
}
