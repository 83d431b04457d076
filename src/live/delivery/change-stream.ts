import type { Clock } from '../../clock.js';
import type { Feed, LoggedChange } from '../feeds/feed.js';
import type { Delivery } from '../tracking/change.js';
import { FanOut } from './fan-out.js';
import type { Preparation } from './preparation.js';
import { PullSink } from './pull-sink.js';

/**
 * The changes that one subscription asked for, as an async iterable that ends on `return`. To share work between equal
 * subscriptions, pass `feed` and `filter` to one `FanOut` instead.
 */
export class ChangeStream<C extends LoggedChange> implements AsyncIterable<Delivery<C>> {
  readonly feed: Feed<C>;
  readonly clock: Clock;
  readonly filter: (change: C) => boolean;
  readonly preparation: Preparation | null;
  readonly after: string | null;

  /** @throws CursorInvalid when `after` is not a cursor of this feed */
  constructor(
    parts: Pick<ChangeStream<C>, 'feed' | 'clock' | 'filter' | 'after'> & {
      readonly preparation?: Preparation | null;
    },
  ) {
    this.feed = parts.feed;
    this.clock = parts.clock;
    this.filter = parts.filter;
    this.preparation = parts.preparation ?? null;
    this.after = parts.after;
    if (parts.after !== null) parts.feed.check(parts.after);
  }

  [Symbol.asyncIterator](): PullSink<Delivery<C>> {
    const { feed, clock, filter, preparation, after } = this;
    const render = (delivery: Delivery<C>) => delivery;
    const fanOut = new FanOut<C, Delivery<C>>({ feed, clock, filter, preparation, render });
    const sink = new PullSink<Delivery<C>>(() => leave(), null);
    const leave = fanOut.join(after, sink);
    return sink;
  }
}
