import type { Channel } from '../operations/operations.js';
import { useTexts } from '../texts/texts.js';

export const channels: readonly Channel[] = ['HNZ', 'HNN', 'HNE'];

interface ChannelChoiceProps {
  readonly channel: Channel;
  readonly onChoose: (channel: Channel) => void;
}

export function ChannelChoice({ channel, onChoose }: ChannelChoiceProps) {
  const texts = useTexts();
  return (
    <fieldset className="choices" aria-label={texts.channel}>
      {channels.map((one) => (
        <button key={one} type="button" aria-pressed={one === channel} onClick={() => onChoose(one)}>
          {one}
        </button>
      ))}
    </fieldset>
  );
}
