import type { Clock } from '../../clock.js';
import type { Feed, LoggedChange } from '../feeds/feed.js';
import type { Delivery } from '../tracking/change.js';
import { FanOut } from './fan-out.js';
import { PullSink } from './pull-sink.js';

/**
 * What one subscription asked for. It is an async iterable of its own, which ends when it is returned from; whoever
 * shares work between subscriptions takes `feed` and `filter` and makes a `Group` of those that are alike.
 */
export class ChangeStream<C extends LoggedChange> implements AsyncIterable<Delivery<C>> {
  readonly feed: Feed<C>;
  readonly clock: Clock;
  readonly filter: (change: C) => boolean;
  readonly after: string | null;

  /** @throws CursorInvalid when `after` is no cursor of this feed */
  constructor(parts: Pick<ChangeStream<C>, 'feed' | 'clock' | 'filter' | 'after'>) {
    this.feed = parts.feed;
    this.clock = parts.clock;
    this.filter = parts.filter;
    this.after = parts.after;
    if (parts.after !== null) parts.feed.check(parts.after);
  }

  [Symbol.asyncIterator](): PullSink<Delivery<C>> {
    const { feed, clock, filter, after } = this;
    const group = new FanOut<C, Delivery<C>>({ feed, clock, filter, render: (delivery) => delivery });
    const sink = new PullSink<Delivery<C>>(() => leave(), null);
    const leave = group.join(after, sink);
    return sink;
  }
}
