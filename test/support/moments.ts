import { asMoment, type ForwardMs, type UnixMs } from '../../src/clock.js';

/** Moments that a test names by a number: of the forward clock, and of the calendar. */
export const forward = (ms: number): ForwardMs => asMoment(ms);
export const date = (ms: number): UnixMs => asMoment(ms);
